//! What a gate decided: a line a case, the worst first.

use hopcost_model::results::{Decision, Gate, GatedCase, Outcome};
use hopcost_model::text::count;

use super::comparison::{difference, out_of_reach};
use super::model::{Block, Cell, Document, Rows, Tone, notes, numbers, words};
use crate::number;

/// The gate.
pub(crate) fn document(gate: &Gate) -> Document {
    let mut cases: Vec<&GatedCase> = gate.cases.iter().collect();
    cases.sort_by_key(|of| of.decision(gate.margin));
    let invalid =
        gate.invalid.iter().map(|why| Block::Text(Tone::Alert, format!("Invalid: {why}")));
    let table = Rows::of(&cases)
        .column(words("decision"), |of| Cell::text(of.decision(gate.margin).word()))
        .column(numbers("difference [interval]"), |of| difference(&of.first))
        .column(numbers("measured again"), |of| of.again.as_ref().map_or(Cell::none(), difference))
        .column(words("of"), |of| Cell::code(of.first.case.clone()));
    let head = invalid.chain([table.table()]).chain(notes(said(gate))).collect();
    Document { title: title(gate), head, ..Document::default() }
}

/// `hopcost · gate · failed: 1 regression in 3 cases`
fn title(gate: &Gate) -> String {
    let of = |one: Decision| gate.cases.iter().filter(|of| of.decision(gate.margin) == one).count();
    let ended = match gate.outcome() {
        Outcome::Passed => "passed".to_owned(),
        Outcome::Unmeasured => format!("failed: {} not measured", of(Decision::Unmeasured)),
        Outcome::Invalid => "invalid".to_owned(),
        Outcome::Regression => format!("failed: {}", count(of(Decision::Regression), "regression")),
        Outcome::Inconclusive => {
            let open = of(Decision::Inconclusive) + of(Decision::Unconfirmed);
            format!("failed: {open} not decided")
        }
    };
    format!("hopcost · gate · {ended} · {}", count(gate.cases.len(), "case"))
}

fn said(gate: &Gate) -> Vec<String> {
    let margin = number::plain(gate.margin * 100.0, 2);
    let mut said = vec![format!("{} Margin {margin} %.", gate.sides)];
    said.extend(gate.cases.iter().filter_map(|of| {
        let why = why(of, gate.margin)?;
        Some(format!("{}: {why}.", of.first.case))
    }));
    said
}

/// What a decision that is no good news rests on.
fn why(of: &GatedCase, margin: f64) -> Option<String> {
    let shown = |of| difference(of).value.shown().map_or("no value".to_owned(), |s| s.to_string());
    let first = shown(&of.first);
    let again = of.again.as_ref().map_or("nothing".to_owned(), shown);
    Some(match of.decision(margin) {
        Decision::Unmeasured => "it was not measured; hopcost run of it says why".to_owned(),
        Decision::Regression => format!("slower by {first}, measured again by {again}"),
        Decision::Unconfirmed => format!("slower by {first}, but measured again {again}"),
        Decision::Inconclusive => match needed(of) {
            Some(needed) => format!("{first} decides nothing; {needed} probably would"),
            None => format!("{first} decides nothing, and {}", out_of_reach(margin)),
        },
        Decision::NotSlower | Decision::Improvement | Decision::Unchanged => return None,
    })
}

fn needed(of: &GatedCase) -> Option<String> {
    let runs = of.first.runs.as_ref()?.runs_to_decide?;
    Some(format!("{} a side", count(runs as usize, "run")))
}
