//! The measured number that a published statistic is lined up with.

use std::collections::BTreeMap;

use hopcost_model::results::Estimate;

use crate::case::Reading;
use crate::per_trial::PerTrial;

/// The estimate of a statistic in a unit; `None` where it is not measured.
pub fn estimate(reading: &Reading, statistic: &str, unit: &str) -> Option<Estimate> {
    let result = &reading.result;
    let estimates = result.estimates.as_ref()?;
    let (estimate, factor) = match (statistic, unit) {
        ("throughput-per-flow", "Gbit/s") => (result.stream.as_ref()?.per_flow_gbps.clone()?, 1.0),
        (_, "µs") => (of_time(reading, statistic)?, 1e-3),
        ("cost", "ticks") => {
            let cost = estimates.cost_ns.clone()?;
            let ticks = result.cost_ticks? / cost.point.filter(|ns| *ns > 0.0)?;
            (cost, ticks)
        }
        _ => return None,
    };
    Some(scaled(estimate, factor))
}

fn of_time(reading: &Reading, statistic: &str) -> Option<Estimate> {
    let estimates = reading.result.estimates.as_ref()?;
    match statistic {
        // A batch has nothing but its mean.
        "mean" => estimates.mean_ns.clone().or_else(|| estimates.cost_ns.clone()),
        "p50" => estimates.p50_ns.clone(),
        "p95" => estimates.p95_ns.clone(),
        "p99" => estimates.p99_ns.clone(),
        "min" => Some(least(estimates.least_ns?, reading.result.n_trials)),
        "stdev" => estimates.stdev_ns.clone(),
        "cost" => estimates.cost_ns.clone(),
        _ => None,
    }
}

/// The least of all trials, which is what a published minimum is of; it has no
/// interval, and no multiple.
fn least(ns: f64, n_trials: u32) -> Estimate {
    Estimate {
        point: Some(ns),
        low: None,
        high: None,
        level: None,
        n_trials,
        pooled: false,
        estimand: "least of all trials".to_owned(),
        insufficient: None,
        detectable: None,
        digits: 3,
        at_most: false,
    }
}

fn scaled(mut estimate: Estimate, factor: f64) -> Estimate {
    for value in [&mut estimate.point, &mut estimate.low, &mut estimate.high] {
        *value = value.map(|ns| ns * factor);
    }
    estimate
}

/// The statistic of each measured trial by its round; empty where a trial alone has
/// none.
pub fn by_round(reading: &Reading, statistic: &str) -> BTreeMap<u32, f64> {
    let of = |trial: &PerTrial| match statistic {
        "mean" => Some(trial.mean_ns.unwrap_or(trial.value_ns)),
        "p50" | "cost" => Some(trial.value_ns),
        "p95" => trial.p95_ns,
        "p99" => trial.p99_ns,
        "stdev" => trial.stdev_ns,
        "throughput-per-flow" => trial.rates.map(|rates| rates.per_flow_gbps),
        _ => None,
    };
    reading.per_trial.iter().filter_map(|trial| Some((trial.round, of(trial)?))).collect()
}
