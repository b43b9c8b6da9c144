//! The measured number that a published statistic is lined up with.

use std::collections::BTreeMap;

use hopcost_model::results::{Estimate, Statistic};

use crate::case::Reading;
use crate::ratio;
use crate::trials::PerTrial;

/// What a number is of: so many operations, a multiple or a difference.
pub const TOTAL: &str = "total";
pub const RELATIVE: &str = "relative";
pub const DIFFERENCE: &str = "difference";

/// One of the two ways of a round trip.
pub const HALF: &str = "half";
pub const HALF_DIFFERENCE: &str = "half-difference";

/// The statistic that totals, multiples and differences are of.
const MEAN: &str = "mean";
/// The one that halves are of.
const P50: &str = "p50";

/// The estimate of a published statistic in its unit; a total is of `operations`. `None` where it is not
/// measured.
pub fn estimate(
    (statistic, unit): (&str, &str),
    operations: Option<u64>,
    of: &Reading,
    base: Option<&Reading>,
) -> Option<Estimate> {
    if unit == "Gbit/s" {
        let stream = of.result.stream.as_ref().filter(|_| statistic == "throughput-per-flow")?;
        return stream.per_flow_gbps.clone();
    }
    let unit = per_ns(of, unit)?;
    let (estimate, factor) = match statistic {
        // Of the median: in a mean are the turns of other tasks on the CPU too.
        HALF => (of_time(of, P50)?, unit / 2.0),
        HALF_DIFFERENCE => (difference(of, base?, P50)?, unit / 2.0),
        TOTAL => (of_time(of, MEAN)?, unit * operations? as f64),
        DIFFERENCE => (difference(of, base?, MEAN)?, unit),
        statistic => (of_time(of, statistic)?, unit),
    };
    Some(estimate.times(factor))
}

/// How much of a unit a nanosecond is.
fn per_ns(of: &Reading, unit: &str) -> Option<f64> {
    match unit {
        "ns" => Some(1.0),
        "µs" => Some(1e-3),
        "s" => Some(1e-9),
        "ticks" => ticks_per_ns(of),
        _ => None,
    }
}

/// Ticks of the clock that stamped a case in a nanosecond.
fn ticks_per_ns(of: &Reading) -> Option<f64> {
    let ticks = of.result.cost_ticks.or(of.result.p50_ticks)?;
    Some(ticks / of.headline()?.point.filter(|ns| *ns > 0.0)?)
}

/// How much longer an operation takes than the baseline's, paired by round.
fn difference(of: &Reading, base: &Reading, statistic: &str) -> Option<Estimate> {
    let longer = ratio::difference(&by_round(of, statistic), &by_round(base, statistic));
    // As with a multiple: without an interval it is nobody's number.
    longer.filter(|longer| longer.low.is_some())
}

fn of_time(reading: &Reading, statistic: &str) -> Option<Estimate> {
    let estimates = reading.result.estimates.as_ref()?;
    let statistic = Statistic::of_label(statistic)?;
    match statistic {
        // What a published minimum is of; it has no interval, and no multiple.
        Statistic::Min => {
            let least_ns = estimates.exact(Statistic::Least)?;
            Some(Estimate::exact(least_ns, reading.result.n_trials))
        }
        // A batch has nothing but its mean.
        Statistic::Mean => estimates.get(statistic).or(estimates.get(Statistic::Cost)).cloned(),
        // One table is of one set of samples: all, where its mean is of all.
        _ => reading.pooled_quantiles.get(statistic).or(estimates.get(statistic)).cloned(),
    }
}

/// The statistic of each measured trial by its round, for a multiple; empty where a trial alone
/// has none.
pub fn by_round(reading: &Reading, statistic: &str) -> BTreeMap<u32, f64> {
    let of = |trial: &PerTrial| match statistic {
        "throughput-per-flow" => trial.rates.map(|rates| rates.per_flow_gbps * trial.slower),
        MEAN | TOTAL | RELATIVE => Some(trial.get(Statistic::Mean).unwrap_or(trial.value_ns)),
        P50 => Some(trial.value_ns),
        // A least of all trials has no value a trial.
        "min" => None,
        _ => trial.get(Statistic::of_label(statistic)?),
    };
    reading.by_round(of)
}
