//! Findings about loads: whether the generator, the rate and the messages are what the case says.

use hopcost_model::case::{Case, Workload};
use hopcost_model::finding::{Code, Finding, Severity};
use hopcost_model::raw::{RawLoad, RawTrial};
use hopcost_stats::sample::rank;

use super::make::{finding, of_trials};
use crate::case::Reading;
use crate::format;
use crate::load::achieved;

/// Share of the response's p99 that the generator may be late by itself.
const LAG_MAX: f64 = 0.10;
/// Share of the offered rate that has to get through.
pub const ACHIEVED_MIN: f64 = 0.99;
/// Share of trials from which on a case is suspect, and from which on its typical trial is wrong.
const SUSPECT: f64 = 0.25;
const INVALID: f64 = 0.5;

/// All of them for one case.
pub fn findings(case: &Case, reading: &Reading) -> Vec<Finding> {
    if case.workload != Workload::Load {
        return Vec::new();
    }
    [generator_late(reading), rate_missed(reading)].into_iter().flatten().collect()
}

/// In how many trials something is wrong, the worst of it, and how grave that is.
fn worst(
    reading: &Reading,
    of: impl Fn(&RawTrial, &RawLoad) -> Option<f64>,
) -> Option<(usize, f64, Severity)> {
    let loads = reading.trials.iter().filter_map(|trial| Some((trial, trial.load.as_ref()?)));
    let wrong: Vec<f64> = loads.filter_map(|(trial, load)| of(trial, load)).collect();
    let share = wrong.len() as f64 / reading.trials.len().max(1) as f64;
    let severity = match () {
        () if share >= INVALID => Severity::Invalid,
        () if share >= SUSPECT => Severity::Suspect,
        () => Severity::Note,
    };
    Some((wrong.len(), wrong.into_iter().max_by(f64::total_cmp)?, severity))
}

fn generator_late(reading: &Reading) -> Option<Finding> {
    let late = |trial: &RawTrial, load: &RawLoad| {
        let mut responses = trial.samples.clone();
        responses.sort_unstable();
        let p99 = responses.get(rank(responses.len(), 0.99).checked_sub(1)?)?;
        let share = load.generator_lag_p99_ticks as f64 / f64::from((*p99).max(1));
        (share > LAG_MAX).then_some(share)
    };
    let (trials, share, severity) = worst(reading, late)?;
    let evidence = format!(
        "In {}, the sender by itself was late by up to {} of the response's p99.",
        of_trials(trials, reading.trials.len()),
        format::percent(share)
    );
    let values = [("trials", trials as f64), ("lag_share", share)];
    Some(finding(Code::GeneratorLate, severity, evidence, &values))
}

fn rate_missed(reading: &Reading) -> Option<Finding> {
    let missed = |_: &RawTrial, load: &RawLoad| {
        let missing = 1.0 - achieved(load);
        (missing > 1.0 - ACHIEVED_MIN).then_some(missing)
    };
    let (trials, missing, severity) = worst(reading, missed)?;
    let evidence = format!(
        "In {}, down to {} of the offered rate got through.",
        of_trials(trials, reading.trials.len()),
        format::percent(1.0 - missing)
    );
    let values = [("trials", trials as f64), ("achieved", 1.0 - missing)];
    Some(finding(Code::RateMissed, severity, evidence, &values))
}
