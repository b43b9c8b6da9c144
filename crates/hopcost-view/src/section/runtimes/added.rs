//! What a runtime adds to a mechanism: a constant part and a part for each byte.

use hopcost_model::results::{AddedCost, Estimate, Results, RuntimeComparison};

use super::super::{Cell, Column, Detail, Part, Row, Section, difference, grouped};
use crate::number::{self, Shown};

const LEAD: &str = "The round trip in the runtime less the one in Rust, paired by round, as a \
    constant and a part for each further byte of a message (sent each way). An interval that holds \
    0 tells no difference.";

/// Sentences that a terminal is told.
const SENTENCES_MAX: usize = 8;

pub(super) fn section(
    _: &Results,
    runtimes: &RuntimeComparison,
    detail: Detail,
) -> Option<Section> {
    let all: Vec<&AddedCost> = runtimes.added.iter().collect();
    let mut refused = Vec::new();
    let groups = grouped(all, |added| added.label.clone());
    let mut parts: Vec<Part> = groups
        .into_iter()
        .map(|(label, added)| part(label, &added, detail, &mut refused))
        .collect();
    if detail == Detail::Brief {
        shorten(&mut parts);
    }
    parts.last_mut()?.notes.extend(refused);
    Some(Section {
        id: "added",
        title: "What a runtime adds to Rust's time",
        lead: LEAD.to_owned(),
        parts,
    })
}

fn part(label: String, all: &[&AddedCost], detail: Detail, refused: &mut Vec<String>) -> Part {
    let mut columns = vec![
        Column::words("runtime"),
        Column::number("constant [interval]"),
        Column::number("per byte [interval]"),
    ];
    let mut sizes: Vec<u32> = all.iter().flat_map(|added| added.sizes.clone()).collect();
    sizes.sort_unstable();
    sizes.dedup();
    if detail == Detail::Whole {
        columns.push(Column::number("farthest from the line"));
        let at = |bytes: &u32| Column::number(&format!("at {} [interval]", number::bytes(*bytes)));
        columns.extend(sizes.iter().map(at));
    } else {
        columns.push(Column::words("sizes").fold(1));
    }
    let rows = all.iter().map(|added| {
        let mut cells = vec![
            Cell::Text(runtime(added, refused)),
            Cell::difference(added.constant_ns.as_ref(), difference),
            Cell::difference(added.per_byte_ns.as_ref(), per_byte),
        ];
        if detail == Detail::Whole {
            cells.push(Cell::maybe(added.residual_max, number::share));
            cells.extend(sizes.iter().map(|bytes| Cell::difference(at(added, *bytes), difference)));
        } else {
            let words: Vec<String> = added.sizes.iter().map(|b| number::bytes(*b)).collect();
            cells.push(Cell::Text(words.join(", ")));
        }
        Row { cells, case: None }
    });
    let rows = rows.collect();
    let sentences = all.iter().map(|added| added.sentence.clone());
    let says = sentences.filter(|sentence| !sentence.is_empty()).collect();
    Part { title: label, says, columns, rows, ..Part::default() }
}

/// The difference at a size.
fn at(added: &AddedCost, bytes: u32) -> Option<&Estimate> {
    let index = added.sizes.iter().position(|size| *size == bytes)?;
    added.differences_ns.get(index)
}

/// `0.031 ns/B`
fn per_byte(estimate: &Estimate) -> Shown {
    let mut shown = difference(estimate);
    if estimate.point.is_some() {
        shown.value.push_str("/B");
    }
    shown
}

/// The runtime, with the number of the note that says why there is no line.
fn runtime(added: &AddedCost, refused: &mut Vec<String>) -> String {
    let Some(reason) = &added.refused else { return added.runtime.clone() };
    let note = |number: usize| format!("({number}) no line: {reason}.");
    let known = (1..=refused.len()).find(|number| refused[number - 1] == note(*number));
    let number = known.unwrap_or_else(|| {
        refused.push(note(refused.len() + 1));
        refused.len()
    });
    format!("{} ({number})", added.runtime)
}

/// Leaves out sentences that a terminal has no room for, and says so.
fn shorten(parts: &mut [Part]) {
    let mut room = SENTENCES_MAX;
    let mut left_out = 0;
    for part in parts.iter_mut() {
        let kept = part.says.len().min(room);
        left_out += part.says.len() - kept;
        part.says.truncate(kept);
        room -= kept;
    }
    if let Some(last) = parts.last_mut().filter(|_| left_out > 0) {
        last.notes.push(format!(
            "{left_out} more sentences like these are in the HTML, Markdown and JSON reports."
        ));
    }
}
