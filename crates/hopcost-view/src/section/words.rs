//! What several sections say of cases: their settings, their counts, and why some have
//! no numbers.

use hopcost_model::group::{distinct, grouped};
use hopcost_model::{Axis, Role};
use hopcost_read::results::{CaseResult, CounterResult, Estimate, Results, Statistic, Status};

use super::model::{Block, Cell, Unit, notes};
use crate::chart::Unit as ChartUnit;
use crate::names::{foreign, headline};
use crate::number;

/// The index of a case.
pub(super) fn index_of(results: &Results, id: &str) -> Option<usize> {
    results.results.iter().position(|case| case.id == id)
}

/// One of a case's estimates.
pub(super) fn estimated(case: &CaseResult, statistic: Statistic) -> Option<&Estimate> {
    case.estimates.as_ref().and_then(|estimates| estimates.get(statistic))
}

/// An axis: its key, its unit, and what it is called.
pub(super) const AXES: [(&str, ChartUnit, &str); 4] = [
    ("payload", ChartUnit::Bytes, "message size"),
    ("flows", ChartUnit::Count, "flows"),
    ("gap", ChartUnit::Ns, "gap before the notification"),
    ("rate", ChartUnit::Count, "messages a second"),
];

/// A case's number for a key.
pub(super) fn value(id: &str, key: &str) -> Option<f64> {
    let (_, keys) = id.split_once('?')?;
    keys.split('&').find_map(|one| one.strip_prefix(key)?.strip_prefix('=')?.parse().ok())
}

/// What each case is called among several: its mechanism, and its settings that not all have.
pub(super) fn labels(cases: &[&CaseResult], key: &str) -> Vec<String> {
    let swept = |case: &CaseResult| {
        let other = |(of, unit, _): (&str, ChartUnit, &str)| {
            let at = value(&case.id, of).filter(|_| of != key)?;
            Some(format!("{of} {}", unit.text(at)))
        };
        AXES.into_iter().filter_map(other).collect::<Vec<_>>()
    };
    let words = |case: &&CaseResult| setting(case).into_iter().chain(swept(case)).collect();
    let settings: Vec<Vec<String>> = cases.iter().map(words).collect();
    let is_own = |word: &&String| {
        let is_swept = word.starts_with(key);
        !is_swept && settings.iter().any(|others| !others.contains(*word))
    };
    let label = |(case, words): (&&CaseResult, &Vec<String>)| {
        let stream = case.stream.as_ref().map(|stream| stream.label.clone());
        let name = stream.unwrap_or_else(|| mechanism(case));
        let words = words.iter().filter(is_own).cloned();
        std::iter::once(name).chain(words).collect::<Vec<_>>().join(", ")
    };
    cases.iter().zip(&settings).map(label).collect()
}

/// A rate at the two levels of its case's time, the lower first.
pub(super) fn rates_at_levels(case: &CaseResult, rate: &Estimate) -> Option<(f64, f64)> {
    let (low, high) = case.levels?;
    let times = rate.point? * headline(case)?.1.point?;
    Some((times / high, times / low))
}

/// A case without its value for a key.
pub(super) fn without(id: &str, key: &str) -> String {
    let (path, keys) = id.split_once('?').unwrap_or((id, ""));
    let is_other = |one: &&str| one.split('=').next() != Some(key);
    format!("{path}?{}", keys.split('&').filter(is_other).collect::<Vec<_>>().join("&"))
}

/// What cases of one table have in common: the settings that are not columns.
pub(super) fn setting(case: &CaseResult) -> Vec<String> {
    let parts = &case.case;
    // A call has but one end.
    let boundary = parts.placement.is_some().then(|| parts.boundary.word().to_owned());
    let mut words: Vec<String> = boundary.into_iter().collect();
    words.extend(parts.placement.map(|placement| placement.word().to_owned()));
    words.extend(parts.wait.clone());
    words.extend(parts.spin_budget_ns.map(|ns| format!("spin {}", number::exact(ns))));
    if let Ok(case) = case.id.parse() {
        // These two stand in a column and in a title.
        let said = |key| matches!(key, "idle-knob" | "ack-size");
        let unusual = Axis::unusual(&case).filter(|(axis, _)| !said(axis.key));
        words.extend(unusual.map(|(axis, value)| format!("{} {value}", axis.key)));
    }
    words.extend(foreign(case));
    words
}

/// The mechanism with its parameters.
pub(super) fn mechanism(case: &CaseResult) -> String {
    let parts = &case.case;
    let parameters = parts.parameters.iter().map(|(key, value)| format!(" {key}={value}"));
    std::iter::once(parts.mechanism.clone()).chain(parameters).collect()
}

/// The bytes of a message, if it has any.
pub(super) fn payload(case: &CaseResult) -> Option<String> {
    case.case.payload_bytes.filter(|bytes| *bytes > 0).map(number::bytes)
}

/// What went wrong with a case and why; `None` if all went well.
pub(super) fn fate(case: &CaseResult) -> Option<(String, &str)> {
    let what = match case.status {
        Status::Measured if case.n_failed == 0 => return None,
        Status::Measured => {
            format!("{} of {} trials failed", case.n_failed, case.n_failed + case.n_trials)
        }
        status => status.word().to_owned(),
    };
    Some((what, case.reason.as_deref().unwrap_or("no reason was given")))
}

/// With a full stop.
pub(super) fn sentence(text: &str) -> String {
    let text = text.trim();
    if text.ends_with(['.', '!', '?']) { text.to_owned() } else { format!("{text}.") }
}

/// The count of an event at one end, or of both together (`None`).
fn counter<'a>(case: &'a CaseResult, event: &str, role: Option<Role>) -> Option<&'a CounterResult> {
    case.counters.iter().find(|counter| counter.event == event && counter.role == role)
}

/// Counts per operation of the two ends, `sender + receiver`, or of both together; nothing where
/// neither was counted, or both are 0.
pub(super) fn both(case: &CaseResult, event: &str) -> Cell {
    let unit = if event.ends_with("-ns") { Unit::Time(2) } else { Unit::Count };
    let value = |role| counter(case, event, role).and_then(|counter| counter.per_operation);
    let text =
        |value: Option<f64>| value.map_or("–".to_owned(), |value| unit.shown(value).to_string());
    match (value(Some(Role::Caller)), value(Some(Role::Callee))) {
        (caller, None) => Cell::maybe(caller.or(value(None)).filter(|of| *of > 0.0), unit),
        (caller, callee) => {
            let sum = caller.unwrap_or(0.0) + callee.unwrap_or(0.0);
            let both = Some(sum).filter(|sum| *sum > 0.0);
            Cell::sorted(both, |_| format!("{} + {}", text(caller), text(callee)))
        }
    }
}

/// The events that were to be counted and could not be, one sentence a reason.
pub(super) fn uncounted<'a>(cases: impl IntoIterator<Item = &'a CaseResult>) -> Vec<Block> {
    let uncounted = |counter: &'a CounterResult| {
        let reason = counter.unavailable.as_deref().filter(|_| counter.per_operation.is_none());
        Some((reason?, counter.event.as_str()))
    };
    let all = cases.into_iter().flat_map(|case| &case.counters).filter_map(uncounted);
    let sentence = |(reason, pairs): (&str, Vec<(&str, &str)>)| {
        let events = distinct(pairs.into_iter().map(|(_, event)| event));
        format!("Not counted: {}: {reason}", events.join(", "))
    };
    notes(grouped(all, |(reason, _)| *reason).into_iter().map(sentence)).collect()
}
