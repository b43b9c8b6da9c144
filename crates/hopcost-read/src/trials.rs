//! The per-trial table of a case: each of its trials reduced to its own statistics.

use std::collections::BTreeMap;

use hopcost_model::{Ack, Case, RawTrial, Statistic, document};

use crate::run::Run;
use crate::sums::lost;
use crate::trial::{Family, Rates, Trial, rates};

document! {
    /// One trial as a point.
    pub struct TrialPoint {
        /// Round, from 0.
        pub round: u32,
        /// Seconds from the start of the run.
        pub at_s: f64,
        /// The trial's p50, or cost in batches; `null` if it failed.
        pub value_ns: Option<f64>,
        /// The trial's p99, where its samples support one.
        pub p99_ns: Option<f64>,
        /// Samples.
        pub samples: u64,
        /// How much slower than at the run's own speed the machine was beside it, by which it is
        /// adjusted where cases are compared; `null` where its case is not adjusted.
        pub factor: Option<f64>,
        /// Why it failed.
        pub error: Option<String>,
    }
}

/// The table of a case.
pub struct Trials<'a> {
    /// One row a trial, failed ones included, in time order.
    pub rows: Vec<Row<'a>>,
    /// What kind of number they left; `None` if none was measured.
    pub family: Option<Family>,
}

/// A trial of a case.
pub struct Row<'a> {
    pub raw: &'a RawTrial,
    /// Seconds from the start of the run.
    pub at_s: f64,
    /// How much slower than at the run's own speed the machine was beside it.
    pub factor: Option<f64>,
    /// Its samples, or why there are none.
    pub trial: Result<Trial, String>,
    /// Whether its two CPUs were another distance apart than in most trials.
    is_aside: bool,
}

/// Reduces the trials of a case. The first that was measured says which family
/// of stamps the case has; a trial of the other family cannot stand in its column.
pub fn trials<'a>(run: &Run<'a>, case: &Case, index: usize) -> Trials<'a> {
    let mut family = None;
    let mut rows = Vec::new();
    for &i in &run.trials_of[index] {
        let raw = &run.raw.trials[i];
        let trial = reduce(run, case, raw).and_then(|trial| match family {
            Some(first) if trial.family != first => {
                Err("stamped in another way than the case's first trial, so not comparable with it"
                    .to_owned())
            }
            _ => Ok(trial),
        });
        family = family.or(trial.as_ref().ok().map(|trial| trial.family));
        let is_aside = run.yardsticks.aside.contains(&(raw.case, raw.round));
        rows.push(Row { raw, at_s: run.at_s[i], factor: run.factor(raw), trial, is_aside });
    }
    Trials { rows, family }
}

fn reduce(run: &Run, case: &Case, raw: &RawTrial) -> Result<Trial, String> {
    let trial = match &raw.error {
        Some(error) => Err(error.clone()),
        None if case.ack != Some(Ack::None) && raw.samples.is_empty() && lost(raw) > 0 => {
            Err(format!("every exchange was lost ({})", lost(raw)))
        }
        None => Trial::new(case, raw, run.raw.clock(raw)),
    };
    let per_trip_ns = per_trip_ns(run, case, raw);
    trial.map(|trial| Trial { factor: run.factor(raw), per_trip_ns, ..trial })
}

/// Time of the phase over its round trips, where several are in flight.
fn per_trip_ns(run: &Run, case: &Case, raw: &RawTrial) -> Option<f64> {
    let caller = raw.ends.first().filter(|caller| case.window > 1 && caller.count > 0)?;
    let ticks_per_ns = run.raw.ticks_per_second(raw)? / 1e9;
    Some(caller.elapsed_ticks as f64 / ticks_per_ns / caller.count as f64)
}

impl<'a> Trials<'a> {
    /// The rows that were measured while the CPUs were as far apart as in most trials, in time order.
    pub fn measured(&self) -> impl Iterator<Item = (&Row<'a>, &Trial)> {
        let kept = self.rows.iter().filter(|row| !row.is_aside);
        kept.filter_map(|row| Some((row, row.trial.as_ref().ok()?)))
    }

    /// Each measured trial's own statistics.
    pub fn statistics(&self, run: &Run) -> Vec<PerTrial> {
        let of = |(row, trial): (&Row, &Trial)| {
            let rates = run.raw.clock(row.raw).and_then(|c| rates(row.raw, c.ticks_per_second));
            PerTrial::new(row.raw.round, trial, rates)
        };
        self.measured().map(of).collect()
    }
}

impl Row<'_> {
    pub fn point(&self) -> TrialPoint {
        let trial = self.trial.as_ref().ok();
        TrialPoint {
            round: self.raw.round,
            at_s: self.at_s,
            value_ns: trial.map(Trial::value_ns),
            p99_ns: trial.and_then(|trial| trial.statistic(Statistic::P99)),
            samples: self.raw.samples_taken,
            factor: self.factor,
            error: self.trial.as_ref().err().cloned(),
        }
    }
}

/// The statistics of one measured trial by which it is compared with others: adjusted to the
/// run's own speed. A quantile only where its samples support it.
#[derive(Debug, Clone, PartialEq)]
pub struct PerTrial {
    /// Round, from 0.
    pub round: u32,
    /// p50 of its operations, or its cost in batches.
    pub value_ns: f64,
    /// Throughput, of a stream only: raw.
    pub rates: Option<Rates>,
    /// How much slower than at the run's own speed the machine was beside it.
    pub slower: f64,
    own: BTreeMap<Statistic, f64>,
}

impl PerTrial {
    fn new(round: u32, trial: &Trial, rates: Option<Rates>) -> Self {
        let all = Statistic::ALL.iter();
        let slower = trial.slower();
        let of = |&statistic| Some((statistic, trial.statistic(statistic)? / slower));
        let own = all.filter_map(of).collect();
        PerTrial { round, value_ns: trial.value_ns() / slower, rates, slower, own }
    }

    /// A statistic of the trial's own samples.
    pub fn get(&self, statistic: Statistic) -> Option<f64> {
        self.own.get(&statistic).copied()
    }
}
