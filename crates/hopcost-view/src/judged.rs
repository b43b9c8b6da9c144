//! The table of verdicts for programs.

use hopcost_model::results::{Judged, JudgedClaim, JudgedPart, JudgedUnit, NotCheckable, Ruling};

use crate::csv::{self, number, push_row};

/// A row: a part of a claim, or what of it no measurement can tell.
struct Row<'a> {
    claim: &'a JudgedClaim,
    part: Option<&'a JudgedPart>,
    refused: Option<&'a NotCheckable>,
}

type Field = fn(&Row) -> String;

const COLUMNS: &[(&str, Field)] = &[
    ("docket", |row| row.claim.docket.clone()),
    ("claim", |row| row.claim.id.clone()),
    ("sentence", |row| row.claim.sentence.clone()),
    ("at", |row| csv::text(row.claim.at.as_ref())),
    ("claim_verdict", |row| word(row.claim.verdict).to_owned()),
    ("part", |row| {
        let refused = row.refused.map(|of| &of.part);
        csv::text(row.part.and_then(|part| part.says.as_ref()).or(refused))
    }),
    ("test", |row| csv::text(row.part.map(|part| &part.test))),
    ("meaning", |row| csv::text(row.part.and_then(|part| part.meaning.as_ref()))),
    ("level", |row| csv::text(row.part.and_then(|part| part.level.as_ref()))),
    ("verdict", |row| {
        row.part.map_or(word(None), |part| part.verdict.map_or("", Ruling::word)).to_owned()
    }),
    ("unit", |row| {
        let value = row.part.and_then(|part| part.value.as_ref());
        csv::text(value.map(|value| unit(value.unit)))
    }),
    ("value", |row| number(row.estimate().and_then(|estimate| estimate.point))),
    ("low", |row| number(row.estimate().and_then(|estimate| estimate.low))),
    ("high", |row| number(row.estimate().and_then(|estimate| estimate.high))),
    ("coverage", |row| number(row.estimate().and_then(|estimate| estimate.level))),
    ("n_rounds", |row| csv::text(row.estimate().map(|estimate| estimate.n_trials))),
    ("n_to_decide", |row| csv::text(row.part.and_then(|part| part.rounds_to_decide))),
    ("claimed_low", |row| number(row.part.and_then(|part| part.region?.low))),
    ("claimed_high", |row| number(row.part.and_then(|part| part.region?.high))),
    ("because", |row| {
        let refused = row.refused.map(|of| &of.reason);
        csv::text(row.part.map(|part| &part.because).or(refused))
    }),
    ("cases", |row| row.part.map_or(String::new(), |part| part.cases.join(";"))),
];

impl Row<'_> {
    fn estimate(&self) -> Option<&hopcost_model::results::Estimate> {
        self.part?.value.as_ref().map(|value| &value.estimate)
    }
}

fn word(verdict: Option<Ruling>) -> &'static str {
    verdict.map_or("not-checkable", Ruling::word)
}

fn unit(unit: JudgedUnit) -> &'static str {
    match unit {
        JudgedUnit::Times => "times",
        JudgedUnit::Number => "count",
        JudgedUnit::Share => "share",
        JudgedUnit::Ns => "ns",
        JudgedUnit::Bytes => "bytes",
        JudgedUnit::Gbps => "Gbit/s",
    }
}

/// As CSV: one row a part of a claim.
pub fn csv(judged: &Judged) -> String {
    let mut out = String::new();
    push_row(&mut out, COLUMNS.iter().map(|(name, _)| (*name).to_owned()));
    for claim in &judged.claims {
        let parts = claim.parts.iter().map(|part| Row { claim, part: Some(part), refused: None });
        let refused = claim.not_checkable.iter();
        let refused = refused.map(|of| Row { claim, part: None, refused: Some(of) });
        for row in parts.chain(refused) {
            push_row(&mut out, COLUMNS.iter().map(|(_, field)| field(&row)));
        }
    }
    out
}
