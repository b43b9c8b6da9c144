//! Findings about loads: whether the generator, the rate and the messages are what the case says.

use hopcost_model::finding::{Code, Finding, Severity};
use hopcost_model::raw::{RawLoad, RawTrial};

use super::make::{Seen, finding, of_trials};
use crate::lateness::{LAG_MAX, LEFT_OUT_MAX, in_time, late_alone};
use crate::load::achieved;

/// Share of the messages that may be left out without a word, because the sender sent them late by itself.
const OWN_LATE_MAX: f64 = 0.01;
/// Share of the offered rate that has to get through.
const ACHIEVED_MIN: f64 = 0.99;
/// Share of trials from which on a case is suspect, and from which on its typical trial is wrong.
const SUSPECT: f64 = 0.25;
const INVALID: f64 = 0.5;

/// What is so in some of the trials of a load.
fn in_trials<T>(
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
    let Some(sent) = in_trials(trials, late) else { return untold(trials) };
    let over = |least: f64| sent.iter().filter(|of| of.late_share > least).count();
    let (severity, late, answer) = match over(LEFT_OUT_MAX) {
        0 if over(OWN_LATE_MAX) == 0 => return None,
        0 => (Severity::Note, over(OWN_LATE_MAX), "these are left out"),
        late => (by_share(late, trials).max(Severity::Suspect), late, "too many to leave out"),
    };
    let says = format!(
        "In {}, the sender by itself was late for up to <late_share %> of the messages: {answer}.",
        of_trials(late, trials.len()),
    );
    let most = sent.iter().map(|of| of.late_share).fold(0.0, f64::max);
    let values = [("trials", late as f64), ("late_share", most)];
    Some(finding(Code::GeneratorLate, severity, says, &values))
}

/// The same of a sender that does not report when it left its waits.
fn untold(trials: &[&RawTrial]) -> Option<Finding> {
    let is_late = |late: &f64| *late > LAG_MAX;
    let late = in_trials(trials, |trial, load| late_alone(trial, load).filter(is_late))?;
    let says = format!(
        "In {}, the sender without a channel was late by up to <lag_share %> of the response's p99; whether \
         that changes the response is not known.",
        of_trials(late.len(), trials.len()),
    );
    let most = late.iter().copied().fold(0.0, f64::max);
    let values = [("trials", late.len() as f64), ("lag_share", most)];
    Some(finding(Code::GeneratorLate, Severity::Suspect, says, &values))
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
    let (missed, all) = (in_trials(&of.reading.trials, missed)?, of.reading.trials.len());
    let severity = by_share(missed.len(), &of.reading.trials);
    let says = format!(
        "In {}, down to <achieved %> of the offered rate was kept, lost messages aside.",
        of_trials(missed.len(), all)
    );
    let least = 1.0 - missed.iter().copied().fold(0.0, f64::max);
    let values = [("trials", missed.len() as f64), ("achieved", least)];
    Some(finding(Code::RateMissed, severity, says, &values))
}
