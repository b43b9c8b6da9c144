//! Where the time of a round trip goes, as a table for programs: one row a segment of a case.

use hopcost_model::results::{ExplainedCase, ExplainedSegment, Explanation};

use crate::csv::{self, number, push_row};

type Field = fn(&ExplainedCase, &ExplainedSegment) -> String;

const COLUMNS: &[(&str, Field)] = &[
    ("case", |case, _| case.case.clone()),
    ("leg", |_, of| of.segment.leg.word().to_owned()),
    ("end", |_, of| of.segment.end.to_string()),
    ("segment", |_, of| of.segment.kind.words().to_owned()),
    ("typical_ns", |_, of| number(of.typical_ns.point)),
    ("low", |_, of| number(of.typical_ns.low)),
    ("high", |_, of| number(of.typical_ns.high)),
    ("coverage", |_, of| number(of.typical_ns.level)),
    ("n_trials", |_, of| csv::text(Some(of.typical_ns.n_trials))),
    ("share", |_, of| number(Some(of.share))),
    ("p50_ns", |_, of| number(Some(of.p50_ns))),
    ("p99_ns", |_, of| number(Some(of.p99_ns))),
    ("slow_ns", |_, of| number(of.slow_ns)),
    ("events", |_, of| number(Some(of.events))),
    ("event_cost_ns", |case, _| number(case.event_cost_ns)),
    ("without_events_ns", |_, of| number(of.without_events_ns)),
];

/// As CSV: one row a segment of a case.
pub fn csv(found: &Explanation) -> String {
    let mut out = String::new();
    push_row(&mut out, COLUMNS.iter().map(|(name, _)| (*name).to_owned()));
    for case in &found.cases {
        for of in &case.segments {
            push_row(&mut out, COLUMNS.iter().map(|(_, field)| field(case, of)));
        }
    }
    out
}
