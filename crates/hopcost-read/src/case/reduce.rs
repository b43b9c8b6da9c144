//! The trials of a case, reduced one by one.

use hopcost_model::case::Ack;
use hopcost_model::results::{Statistic, TrialPoint};

use crate::case::lost;
use crate::per_trial::PerTrial;
use crate::run::Run;
use crate::stream;
use crate::trial::{Family, Trial};

/// The trials of a case, reduced.
pub struct Reduced {
    /// Those that were measured, in time order.
    pub trials: Vec<Trial>,
    /// Their indexes in the run.
    pub measured: Vec<usize>,
    /// One a trial, failed ones included.
    pub points: Vec<TrialPoint>,
    /// What kind of number they left; `None` if none was measured.
    pub family: Option<Family>,
    /// Each measured trial's own statistics.
    pub per_trial: Vec<PerTrial>,
}

/// Reduces the trials of a case. The first that was measured says which family
/// of stamps the case has; a trial of the other family cannot stand in its column.
pub fn reduce(run: &Run, index: usize) -> Reduced {
    let mut reduced = Reduced {
        trials: Vec::new(),
        measured: Vec::new(),
        points: Vec::new(),
        family: None,
        per_trial: Vec::new(),
    };
    let unacknowledged = run.cases[index].as_ref().is_ok_and(|case| case.ack == Some(Ack::None));
    for &i in &run.trials_of[index] {
        let raw = &run.raw.trials[i];
        let trial = match &raw.error {
            Some(error) => Err(error.clone()),
            None if unacknowledged => Trial::of_whole_stream(raw, run.clock(raw)),
            None if raw.samples.is_empty() && lost(raw) > 0 => {
                Err(format!("every exchange was lost ({})", lost(raw)))
            }
            None => Trial::new(raw, run.clock(raw)),
        };
        let trial = trial.and_then(|trial| match reduced.family {
            Some(first) if trial.family != first => {
                Err("stamped in another way than the case's first trial, so not comparable with it"
                    .to_owned())
            }
            _ => Ok(trial),
        });
        reduced.points.push(TrialPoint {
            round: raw.round,
            at_s: run.at_s[i],
            value_ns: trial.as_ref().ok().map(Trial::value_ns),
            p99_ns: trial.as_ref().ok().and_then(|trial| trial.statistic(Statistic::P99)),
            samples: raw.samples_taken,
            sentinel_ns: run.sentinels[i],
            state: None,
            error: trial.as_ref().err().cloned(),
        });
        if let Ok(trial) = trial {
            reduced.family = Some(trial.family);
            let rates = run.clock(raw).and_then(|clock| stream::rates(raw, clock.ticks_per_second));
            reduced.per_trial.push(PerTrial::new(raw.round, &trial, rates));
            reduced.measured.push(i);
            reduced.trials.push(trial);
        }
    }
    reduced
}
