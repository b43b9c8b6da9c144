//! What several sections say of cases: their names, their counts, and why some have
//! no numbers.

use hopcost_model::group::{distinct, grouped};
use hopcost_model::{Axis, Kind, Role, axis};
use hopcost_read::results::{CaseResult, CounterResult, Estimate, Results, Statistic, Status};

use super::model::{Block, Cell, Unit, notes};
use crate::chart::Unit as ChartUnit;
use crate::names::headline;

/// The index of a case.
pub(super) fn index_of(results: &Results, id: &str) -> Option<usize> {
    results.results.iter().position(|case| case.id == id)
}

/// One of a case's estimates.
pub(super) fn estimated(case: &CaseResult, statistic: Statistic) -> Option<&Estimate> {
    case.estimates.as_ref().and_then(|estimates| estimates.get(statistic))
}

/// What the values of an axis are.
pub(super) fn unit(axis: &str) -> ChartUnit {
    match Axis::of_key(axis).map(|axis| axis.kind) {
        Some(Kind::Number(axis::Unit::Bytes, ..)) => ChartUnit::Bytes,
        Some(Kind::Number(axis::Unit::Time, ..)) => ChartUnit::Ns,
        _ => ChartUnit::Count,
    }
}

/// The keys of a case, each with its value.
pub(super) fn keys(id: &str) -> impl Iterator<Item = &str> {
    let keys = id.split_once('?').map_or("", |(_, keys)| keys);
    keys.split('&').filter(|one| !one.is_empty())
}

/// A case's number for a key.
pub(super) fn value(id: &str, key: &str) -> Option<f64> {
    keys(id).find_map(|one| one.strip_prefix(key)?.strip_prefix('=')?.parse().ok())
}

/// What each case is called among several that differ in a key: its mechanism, and the other keys that
/// not all have.
pub(super) fn labels(cases: &[&CaseResult], key: &str) -> Vec<String> {
    let is_in_all = |one: &str| cases.iter().all(|of| keys(&of.id).any(|other| other == one));
    let label = |case: &&CaseResult| {
        let is_own = |one: &&str| {
            let of = one.split('=').next().unwrap_or(one);
            of != key && !case.case.parameters.contains_key(of) && !is_in_all(one)
        };
        let stream = case.stream.as_ref().map(|stream| stream.label.clone());
        let name = stream.unwrap_or_else(|| mechanism(case));
        let own = keys(&case.id).filter(is_own).map(|one| one.replace('=', " "));
        std::iter::once(name).chain(own).collect::<Vec<_>>().join(", ")
    };
    cases.iter().map(label).collect()
}

/// A rate at the two levels of its case's time, the lower first.
pub(super) fn rates_at_levels(case: &CaseResult, rate: &Estimate) -> Option<(f64, f64)> {
    let (low, high) = case.levels?;
    let times = rate.point? * headline(case)?.1.point?;
    Some((times / high, times / low))
}

/// A case without its value for a key.
pub(super) fn without(id: &str, key: &str) -> String {
    let path = id.split('?').next().unwrap_or(id);
    let others = keys(id).filter(|one| one.split('=').next() != Some(key));
    format!("{path}?{}", others.collect::<Vec<_>>().join("&"))
}

/// The mechanism with its parameters.
pub(super) fn mechanism(case: &CaseResult) -> String {
    let parts = &case.case;
    let parameters = parts.parameters.iter().map(|(key, value)| format!(" {key}={value}"));
    std::iter::once(parts.mechanism.clone()).chain(parameters).collect()
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
    let unit = if event.ends_with("-ns") { Unit::Time(2) } else { Unit::Plain(3) };
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
