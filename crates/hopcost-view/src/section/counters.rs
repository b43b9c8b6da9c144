//! What was counted, and why the rest was not.

use hopcost_model::case::Role;
use hopcost_model::results::{CaseResult, CounterResult};

use super::{Cell, grouped};
use crate::number;

/// The count of an event at one end, or of both together (`None`).
fn of<'a>(case: &'a CaseResult, event: &str, role: Option<Role>) -> Option<&'a CounterResult> {
    case.counters.iter().find(|counter| counter.event == event && counter.role == role)
}

/// Counts per operation of the two ends, `sender + receiver`, or of both together;
/// nothing where neither was counted.
pub(super) fn both(case: &CaseResult, event: &str, show: impl Fn(f64) -> String) -> Cell {
    let value = |role| of(case, event, role).and_then(|counter| counter.per_operation);
    let (caller, callee) = (value(Some(Role::Caller)), value(Some(Role::Callee)));
    let text = |value: Option<f64>| value.map_or("–".to_owned(), &show);
    match (caller, callee) {
        (None, None) => Cell::maybe(value(None), show),
        _ => Cell::Number(
            format!("{} + {}", text(caller), text(callee)),
            caller.unwrap_or(0.0) + callee.unwrap_or(0.0),
        ),
    }
}

/// What was counted of an event, of both ends together: `pick` says per what.
/// Nothing unless every end that has the event was counted.
pub(crate) fn sum(
    case: &CaseResult,
    event: &str,
    pick: impl Fn(&CounterResult) -> Option<f64>,
) -> Option<f64> {
    if let Some(together) = of(case, event, None) {
        return pick(together);
    }
    let mut counts = case.counters.iter().filter(|counter| counter.event == event).peekable();
    counts.peek()?;
    counts.try_fold(0.0, |sum, counter| Some(sum + pick(counter)?))
}

/// A count per operation: whole numbers as such, others with what tells them apart.
pub(super) fn count(value: f64) -> String {
    match value {
        v if v >= 99.5 || !v.is_finite() => number::plain(v, 3),
        v => format!("{v:.2}"),
    }
}

/// The events that were to be counted and could not be, one sentence a reason.
pub(crate) fn unavailable<'a>(cases: impl Iterator<Item = &'a CaseResult>) -> Vec<String> {
    let mut seen: Vec<(&str, &str)> = Vec::new();
    for counter in cases.flat_map(|case| &case.counters) {
        if let (Some(reason), None) = (&counter.unavailable, counter.per_operation) {
            let pair = (counter.event.as_str(), reason.as_str());
            if !seen.contains(&pair) {
                seen.push(pair);
            }
        }
    }
    let by_reason = grouped(seen, |(_, reason)| *reason);
    let sentence = |(reason, events): (&str, Vec<(&str, &str)>)| {
        let events: Vec<&str> = events.into_iter().map(|(event, _)| event).collect();
        format!("Not counted: {}: {reason}", events.join(", "))
    };
    by_reason.into_iter().map(sentence).collect()
}
