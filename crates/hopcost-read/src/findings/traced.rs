//! Whether the kernel's events have changed what they were to show.

use hopcost_model::finding::{Code, Finding, Severity};

use super::make;
use crate::explain::{ExplainedCase, adds_up};
use crate::format;

/// Of the traced phase alone: the case's own numbers are of phases without events, and stand.
pub fn finding(explained: &ExplainedCase) -> Option<Finding> {
    let traced_ns = explained.traced_p50_ns.point?;
    let untraced_ns = explained.untraced_p50_ns.point?;
    if adds_up(explained) {
        return None;
    }
    let events_ns = explained.event_cost_ns.map(|cost_ns| explained.events * cost_ns);
    let events = match explained.event_cost_ns.zip(explained.without_events_ns.point) {
        Some((cost_ns, without_ns)) => format!(
            "less its {} events of {} it would be {}",
            format::three(explained.events),
            format::ns(cost_ns),
            format::ns(without_ns)
        ),
        None => "what an event costs is not known".to_owned(),
    };
    let (traced, untraced) = (format::ns(traced_ns), format::ns(untraced_ns));
    let mut numbers = vec![("traced_ns", traced_ns), ("untraced_ns", untraced_ns)];
    numbers.extend(events_ns.map(|ns| ("events_ns", ns)));
    let found = make::finding(
        Code::TracingChanged,
        Severity::Note,
        format!("A hop takes {traced} with the kernel's events and {untraced} without; {events}."),
        &numbers,
    );
    Some(Finding { case: Some(explained.case.clone()), ..found })
}
