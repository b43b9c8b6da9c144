//! The measured number that a published statistic is lined up with.

use std::collections::BTreeMap;

use hopcost_model::results::{Estimate, Statistic};

use crate::case::Reading;
use crate::trials::PerTrial;

/// The estimate of a statistic in a unit; `None` where it is not measured.
pub fn estimate(reading: &Reading, statistic: &str, unit: &str) -> Option<Estimate> {
    let result = &reading.result;
    let estimates = result.estimates.as_ref()?;
    let (estimate, factor) = match (statistic, unit) {
        ("throughput-per-flow", "Gbit/s") => (result.stream.as_ref()?.per_flow_gbps.clone()?, 1.0),
        (_, "µs") => (of_time(reading, statistic)?, 1e-3),
        ("cost", "ticks") => {
            let cost = estimates.get(Statistic::Cost)?.clone();
            let ticks = result.cost_ticks? / cost.point.filter(|ns| *ns > 0.0)?;
            (cost, ticks)
        }
        _ => return None,
    };
    Some(estimate.times(factor))
}

fn of_time(reading: &Reading, statistic: &str) -> Option<Estimate> {
    let estimates = reading.result.estimates.as_ref()?;
    let statistic = Statistic::of_label(statistic)?;
    match statistic {
        // What a published minimum is of; it has no interval, and no multiple.
        Statistic::Min => {
            let least_ns = estimates.exact(Statistic::Least)?;
            Some(Estimate::exact(least_ns, reading.result.n_trials, "least of all trials".into()))
        }
        // A batch has nothing but its mean.
        Statistic::Mean => estimates.get(statistic).or(estimates.get(Statistic::Cost)).cloned(),
        // One table is of one set of samples: all, where its mean is of all.
        _ => reading.pooled_quantiles.get(statistic).or(estimates.get(statistic)).cloned(),
    }
}

/// The statistic of each measured trial by its round; empty where a trial alone has
/// none.
pub fn by_round(reading: &Reading, statistic: &str) -> BTreeMap<u32, f64> {
    let of = |trial: &PerTrial| match statistic {
        "throughput-per-flow" => trial.rates.map(|rates| rates.per_flow_gbps),
        "mean" => Some(trial.get(Statistic::Mean).unwrap_or(trial.value_ns)),
        "p50" | "cost" => Some(trial.value_ns),
        // A least of all trials has no value a trial.
        "min" => None,
        _ => trial.get(Statistic::of_label(statistic)?),
    };
    reading.by_round(of)
}
