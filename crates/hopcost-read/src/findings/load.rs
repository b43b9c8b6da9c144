//! Findings about loads: whether the generator, the rate and the messages are what the case says.

use hopcost_model::finding::{Code, Finding, Severity};
use hopcost_model::raw::{RawLoad, RawTrial};

use super::make::{Seen, in_trials};
use crate::load::achieved;
use crate::trial::{LAG_MAX, LEFT_OUT_MAX, in_time, late_alone};

/// Share of the messages that may be left out without a word, because the sender sent them late by itself.
const OWN_LATE_MAX: f64 = 0.01;
/// Share of the offered rate that has to get through.
const ACHIEVED_MIN: f64 = 0.99;
/// Share of trials from which on a case is suspect, and from which on its typical trial is wrong.
const SUSPECT: f64 = 0.25;
const INVALID: f64 = 0.5;

/// What is so in some of the trials of a load.
fn found_in<T>(
    trials: &[&RawTrial],
    of: impl Fn(&RawTrial, &RawLoad) -> Option<T>,
) -> Option<Vec<T>> {
    let loads = trials.iter().filter_map(|trial| Some((trial, trial.load.as_ref()?)));
    let found: Vec<T> = loads.filter_map(|(trial, load)| of(trial, load)).collect();
    (!found.is_empty()).then_some(found)
}

/// Whether the sender of these trials of a load was late by itself for more messages than can be left out.
pub fn generator_late(of: &Seen) -> Option<Finding> {
    let trials = &of.reading.trials;
    let late = |trial: &RawTrial, _: &RawLoad| in_time(trial, of.run.raw.clock(trial)?);
    let Some(sent) = found_in(trials, late) else { return untold(trials) };
    let over = |least: f64| sent.iter().filter(|of| of.late_share > least).count();
    let (severity, late, answer) = match over(LEFT_OUT_MAX) {
        0 if over(OWN_LATE_MAX) == 0 => return None,
        0 => (Severity::Note, over(OWN_LATE_MAX), "these are left out"),
        late => (by_share(late, trials).max(Severity::Suspect), late, "too many to leave out"),
    };
    let what = format!(
        "the sender by itself was late for up to <late_share %> of the messages: {answer}."
    );
    let values = [("late_share", sent.iter().map(|of| of.late_share).fold(0.0, f64::max))];
    Some(in_trials(Code::GeneratorLate, severity, (late, trials.len()), what, &values))
}

/// The same of a sender that does not report when it left its waits.
fn untold(trials: &[&RawTrial]) -> Option<Finding> {
    let is_late = |late: &f64| *late > LAG_MAX;
    let late = found_in(trials, |trial, load| late_alone(trial, load).filter(is_late))?;
    let what = "the sender without a channel was late by up to <lag_share %> of the response's p99; \
                whether that changes the response is not known.";
    let (of, most) = ((late.len(), trials.len()), late.iter().copied().fold(0.0, f64::max));
    Some(in_trials(Code::GeneratorLate, Severity::Suspect, of, what, &[("lag_share", most)]))
}

/// How grave wrong trials are, by their share of all.
fn by_share(wrong: usize, trials: &[&RawTrial]) -> Severity {
    match wrong as f64 / trials.len().max(1) as f64 {
        share if share >= INVALID => Severity::Invalid,
        share if share >= SUSPECT => Severity::Suspect,
        _ => Severity::Note,
    }
}

pub fn rate_missed(of: &Seen) -> Option<Finding> {
    let missed = |_: &RawTrial, load: &RawLoad| {
        let missing = 1.0 - achieved(load);
        (missing > 1.0 - ACHIEVED_MIN).then_some(missing)
    };
    let trials = &of.reading.trials;
    let missed = found_in(trials, missed)?;
    let severity = by_share(missed.len(), trials);
    let what = "down to <achieved %> of the offered rate was kept, lost messages aside.";
    let values = [("achieved", 1.0 - missed.iter().copied().fold(0.0, f64::max))];
    Some(in_trials(Code::RateMissed, severity, (missed.len(), trials.len()), what, &values))
}
