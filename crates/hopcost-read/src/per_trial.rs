//! A trial's own statistics, kept for what is paired by round.

use std::collections::BTreeMap;

use hopcost_model::results::Statistic;

use crate::stream::Rates;
use crate::trial::Trial;

/// The statistics of one measured trial; a quantile only where its samples support it.
#[derive(Debug, Clone, PartialEq)]
pub struct PerTrial {
    /// Round, from 0.
    pub round: u32,
    /// p50 of its operations, or its cost in batches.
    pub value_ns: f64,
    /// Throughput, of a stream only.
    pub rates: Option<Rates>,
    own: BTreeMap<Statistic, f64>,
}

impl PerTrial {
    /// Keeps what is needed of a trial.
    pub fn new(round: u32, trial: &Trial, rates: Option<Rates>) -> Self {
        let all = Statistic::ALL.iter();
        let own = all.filter_map(|&statistic| Some((statistic, trial.statistic(statistic)?)));
        PerTrial { round, value_ns: trial.value_ns(), rates, own: own.collect() }
    }

    /// A statistic of the trial's own samples.
    pub fn get(&self, statistic: Statistic) -> Option<f64> {
        self.own.get(&statistic).copied()
    }
}
