//! A trial's own statistics, kept for what is paired by round.

use crate::stream::Rates;
use crate::trial::{Family, Trial};

/// The statistics of one measured trial; a quantile only where its samples support it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PerTrial {
    /// Round, from 0.
    pub round: u32,
    /// p50 of its operations, or its cost in batches.
    pub value_ns: f64,
    /// Mean of its operations; absent for batches.
    pub mean_ns: Option<f64>,
    /// Standard deviation of its operations.
    pub stdev_ns: Option<f64>,
    /// Least.
    pub min_ns: Option<f64>,
    /// 95th percentile.
    pub p95_ns: Option<f64>,
    /// 99th percentile.
    pub p99_ns: Option<f64>,
    /// Throughput, of a stream only.
    pub rates: Option<Rates>,
}

impl PerTrial {
    /// Keeps what is needed of a trial.
    pub fn new(round: u32, trial: &Trial, rates: Option<Rates>) -> Self {
        let each = trial.family == Family::Each;
        PerTrial {
            round,
            value_ns: trial.value_ns(),
            mean_ns: each.then(|| trial.sample.mean()),
            stdev_ns: trial.sample.stdev().filter(|_| each),
            min_ns: each.then(|| trial.sample.min()),
            p95_ns: trial.quantile(0.95),
            p99_ns: trial.quantile(0.99),
            rates,
        }
    }
}
