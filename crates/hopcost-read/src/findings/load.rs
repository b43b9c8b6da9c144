//! Findings about loads: whether the generator, the rate and the messages are what the case says.

use hopcost_model::finding::{Code, Finding, Severity};
use hopcost_model::raw::{RawLoad, RawTrial};

use super::make::{Seen, finding, of_trials};
use crate::format;
use crate::load::{LAG_MAX, Lateness, achieved, changed_by_lateness, lateness};

/// Share of the messages that the sender may be late for by itself while it is measured. Where it is
/// more, the p99, by which rates are judged, may be of such messages alone.
const OWN_LATE_MAX: f64 = 0.01;
/// Share of the offered rate that has to get through.
const ACHIEVED_MIN: f64 = 0.99;
/// How far a quantile of the responses may differ from the same without the late messages.
const CHANGED_MAX: f64 = 0.05;
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

/// Whether the sender of these trials of a load was late by itself, with the channel or without,
/// and whether that changes the answer.
pub fn generator_late(of: &Seen) -> Option<Finding> {
    let trials = &of.reading.trials;
    let is_late_alone = |late: &&Lateness| late.alone > LAG_MAX;
    let own_share = |late: &Lateness| late.measured.filter(|share| *share > OWN_LATE_MAX);
    let is_late = |late: &Lateness| is_late_alone(&late) || own_share(late).is_some();
    let late = in_trials(trials, |trial, load| lateness(trial, load).filter(is_late));
    let changed = changed_by_lateness(of.run, trials);
    let changes = changed.is_some_and(|share| share > CHANGED_MAX);
    let late = late.or_else(|| changes.then(Vec::new))?;
    let alone = late.iter().filter(is_late_alone).map(|late| late.alone).reduce(f64::max);
    let own = late.iter().filter_map(own_share).reduce(f64::max);
    let tolerated = format::percent(LAG_MAX);
    let own_says = format!(
        "for up to <own_late_share %> of the messages by more than {tolerated} of the response's p99"
    );
    let says = [
        alone.map(|_| "by up to <lag_share %> of the response's p99"),
        own.map(|_| own_says.as_str()),
    ];
    let (severity, answer) = match changed {
        Some(share) if changes && share.is_finite() => {
            (Severity::Invalid, "a quantile differs by <changed_by %> without these messages")
        }
        Some(_) if changes => (Severity::Invalid, "every message is one of these"),
        Some(_) => (Severity::Note, "the quantiles stay the same without these messages"),
        None => (Severity::Suspect, "whether that changes the response is not known"),
    };
    let says = format!(
        "In {}, the sender by itself was late {}; {answer}.",
        of_trials(late.len(), trials.len()),
        says.into_iter().flatten().collect::<Vec<_>>().join(", and ")
    );
    let of = |share: Option<f64>| share.unwrap_or(f64::NAN);
    let values = [
        ("trials", late.len() as f64),
        ("lag_share", of(alone)),
        ("own_late_share", of(own)),
        ("changed_by", of(changed)),
    ];
    Some(finding(Code::GeneratorLate, severity, says, &values))
}

pub fn rate_missed(of: &Seen) -> Option<Finding> {
    let missed = |_: &RawTrial, load: &RawLoad| {
        let missing = 1.0 - achieved(load);
        (missing > 1.0 - ACHIEVED_MIN).then_some(missing)
    };
    let (missed, all) = (in_trials(&of.reading.trials, missed)?, of.reading.trials.len());
    let severity = match missed.len() as f64 / all.max(1) as f64 {
        share if share >= INVALID => Severity::Invalid,
        share if share >= SUSPECT => Severity::Suspect,
        _ => Severity::Note,
    };
    let says = format!(
        "In {}, down to <achieved %> of the offered rate was kept, lost messages aside.",
        of_trials(missed.len(), all)
    );
    let least = 1.0 - missed.iter().copied().fold(0.0, f64::max);
    let values = [("trials", missed.len() as f64), ("achieved", least)];
    Some(finding(Code::RateMissed, severity, says, &values))
}
