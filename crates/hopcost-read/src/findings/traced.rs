//! Whether the kernel's events have changed what they were to show.

use hopcost_model::finding::{Code, Finding, Severity};
use hopcost_model::results::ExplainedCase;

use super::make;
use crate::format;

/// A traced hop may be off by this share of an untraced one, once its events are allowed for.
const ERROR: f64 = 0.1;

/// Of the traced phase alone: the case's own numbers are of phases without events, and stand.
pub fn finding(explained: &ExplainedCase) -> Option<Finding> {
    let traced_ns = explained.traced_p50_ns.point?;
    let untraced_ns = explained.untraced_p50_ns.point.filter(|ns| *ns > 0.0)?;
    let cost_ns = explained.event_cost_ns;
    let events_ns = explained.events * cost_ns.unwrap_or(0.0);
    let unexplained_ns = traced_ns - untraced_ns - events_ns;
    if unexplained_ns.abs() <= ERROR * untraced_ns {
        return None;
    }
    let (traced, untraced) = (format::ns(traced_ns), format::ns(untraced_ns));
    let events = match cost_ns {
        Some(cost_ns) => format!(
            "its {} events of {} make {}",
            format::three(explained.events),
            format::ns(cost_ns),
            format::ns(events_ns)
        ),
        None => "what an event costs is not known".to_owned(),
    };
    let found = make::finding(
        Code::TracingChanged,
        Severity::Note,
        format!("A hop takes {traced} with the kernel's events and {untraced} without; {events}."),
        &[
            ("traced_ns", traced_ns),
            ("untraced_ns", untraced_ns),
            ("events_ns", events_ns),
            ("unexplained_ns", unexplained_ns),
        ],
    );
    Some(Finding { case: Some(explained.case.clone()), ..found })
}
