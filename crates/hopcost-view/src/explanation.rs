//! Where the time of a round trip goes, as a table for programs: one row a segment of a case, or a part.

use hopcost_model::results::{
    AblatedCase, AblatedPart, AblatedTerm, ExplainedCase, ExplainedSegment, Explanation,
};
use hopcost_model::system_call::SystemCall;

use crate::csv::{self, number, push_row};

type Field = fn(&ExplainedCase, &ExplainedSegment) -> String;

const COLUMNS: &[(&str, Field)] = &[
    ("case", |case, _| case.case.clone()),
    ("leg", |_, of| of.segment.leg.word().to_owned()),
    ("end", |_, of| of.segment.end.to_string()),
    ("segment", |_, of| of.segment.kind.words().to_owned()),
    ("begins_ns", |_, of| number(Some(of.begins_ns))),
    ("typical_ns", |_, of| number(of.typical_ns.point)),
    ("low", |_, of| number(of.typical_ns.low)),
    ("high", |_, of| number(of.typical_ns.high)),
    ("coverage", |_, of| number(of.typical_ns.level)),
    ("n_trials", |_, of| csv::text(Some(of.typical_ns.n_trials))),
    ("share", |_, of| number(Some(of.share))),
    ("p50_ns", |case, of| number(case.ends.is_empty().then_some(of.p50_ns))),
    ("p99_ns", |case, of| number(case.ends.is_empty().then_some(of.p99_ns))),
    ("events", |_, of| number(Some(of.events))),
    ("event_cost_ns", |case, _| number(case.event_cost_ns)),
    ("without_events_ns", |_, of| number(of.without_events_ns)),
    ("call", |_, of| csv::text(of.segment.call.map(SystemCall::word))),
];

type PartField = fn(&AblatedCase, &AblatedPart) -> String;

const PART_COLUMNS: &[(&str, PartField)] = &[
    ("case", |case, _| case.case.clone()),
    ("part", |_, of| of.what.clone()),
    ("is", |_, of| arithmetic(&of.sum, |times, id| format!("{times} × {id}"))),
    ("ns", |_, of| number(of.ns.point)),
    ("low", |_, of| number(of.ns.low)),
    ("high", |_, of| number(of.ns.high)),
    ("coverage", |_, of| number(of.ns.level)),
    ("n_rounds", |_, of| csv::text(Some(of.ns.n_trials))),
    ("share", |_, of| number(Some(of.share))),
];

/// A sum in words: `2 × a − 4 × b`, of how `named` writes so many times a case.
pub(crate) fn arithmetic(sum: &[AblatedTerm], named: impl Fn(u32, &str) -> String) -> String {
    let term = |(at, term): (usize, &AblatedTerm)| {
        let sign = match (at, term.times < 0) {
            (0, false) => "",
            (0, true) => "−",
            (_, false) => " + ",
            (_, true) => " − ",
        };
        format!("{sign}{}", named(term.times.unsigned_abs(), &term.case))
    };
    sum.iter().enumerate().map(term).collect()
}

/// As CSV: one row a segment of a case, or a part.
pub fn csv(found: &Explanation) -> String {
    let mut out = String::new();
    if let Some(ablation) = &found.ablation {
        push_row(&mut out, PART_COLUMNS.iter().map(|(name, _)| (*name).to_owned()));
        for case in &ablation.cases {
            for of in &case.parts {
                push_row(&mut out, PART_COLUMNS.iter().map(|(_, field)| field(case, of)));
            }
        }
        return out;
    }
    push_row(&mut out, COLUMNS.iter().map(|(name, _)| (*name).to_owned()));
    for case in &found.cases {
        for of in &case.segments {
            push_row(&mut out, COLUMNS.iter().map(|(_, field)| field(case, of)));
        }
    }
    out
}
