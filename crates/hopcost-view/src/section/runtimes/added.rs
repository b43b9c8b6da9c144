//! What a runtime adds to a mechanism: a constant part and a part for each byte.

use hopcost_model::results::{AddedCost, Estimate, Results, RuntimeComparison};

use super::super::{Cell, Column, Detail, Part, Row, Section, difference, grouped};
use crate::names::capitalised;
use crate::number::{self, Shown};

const LEAD: &str = "The round trip in the runtime less the one in Rust, paired by round, as a \
    constant and a part for each further byte of a message (sent each way). An interval that holds \
    0 tells no difference.";

pub(super) fn section(
    _: &Results,
    runtimes: &RuntimeComparison,
    detail: Detail,
) -> Option<Section> {
    let all: Vec<&AddedCost> = runtimes.added.iter().collect();
    let mut refused = Vec::new();
    let groups = grouped(all, |added| added.label.clone());
    let mut told = Told::new(detail);
    let parts = groups.into_iter().map(|(label, of)| part(label, &of, &mut told, &mut refused));
    let mut parts: Vec<Part> = parts.collect();
    let last = parts.last_mut()?;
    last.notes.extend(refused);
    last.notes.extend(told.left_out());
    Some(Section {
        id: "added",
        title: "What a runtime adds to Rust's time",
        lead: LEAD.to_owned(),
        parts,
    })
}

/// Which sentences are told: all, or for a terminal the first of each runtime that has
/// a line.
struct Told<'a> {
    detail: Detail,
    runtimes: Vec<&'a str>,
    left_out: usize,
}

impl<'a> Told<'a> {
    fn new(detail: Detail) -> Self {
        Self { detail, runtimes: Vec::new(), left_out: 0 }
    }

    fn sentence(&mut self, added: &'a AddedCost) -> Option<String> {
        if added.sentence.is_empty() {
            return None;
        }
        if self.detail == Detail::Brief {
            let has_line = added.constant_ns.is_some();
            if !has_line || self.runtimes.contains(&added.runtime.as_str()) {
                self.left_out += 1;
                return None;
            }
            self.runtimes.push(&added.runtime);
        }
        // A runtime's name stays as it is.
        let named = added.sentence.starts_with(&added.runtime);
        Some(if named { added.sentence.clone() } else { capitalised(&added.sentence) })
    }

    fn left_out(&self) -> Option<String> {
        (self.left_out > 0).then(|| {
            format!(
                "{} more sentences like these are in the HTML, Markdown and JSON reports.",
                self.left_out
            )
        })
    }
}

fn part<'a>(
    label: String,
    all: &[&'a AddedCost],
    told: &mut Told<'a>,
    refused: &mut Vec<String>,
) -> Part {
    let mut columns = vec![
        Column::words("runtime"),
        Column::number("constant [interval]"),
        Column::number("per byte [interval]"),
        Column::number("farthest from the line").fold(3),
    ];
    // Where there is no line, the differences themselves are all there is.
    let whole = told.detail == Detail::Whole || all.iter().any(|added| added.refused.is_some());
    let mut sizes: Vec<u32> = all.iter().flat_map(|added| added.sizes.clone()).collect();
    sizes.sort_unstable();
    sizes.dedup();
    if whole {
        let at = |bytes: &u32| Column::number(&format!("at {} [interval]", number::bytes(*bytes)));
        columns.extend(sizes.iter().map(|bytes| at(bytes).fold(1)));
    } else {
        columns.push(Column::words("sizes").fold(2));
    }
    let rows = all.iter().map(|added| {
        let mut cells = vec![
            Cell::Text(runtime(added, refused)),
            Cell::difference(added.constant_ns.as_ref(), difference),
            Cell::difference(added.per_byte_ns.as_ref(), per_byte),
            Cell::maybe(added.residual_max.filter(|_| added.refused.is_none()), number::share),
        ];
        if whole {
            cells.extend(sizes.iter().map(|b| Cell::difference(at(added, *b), difference)));
        } else {
            let words: Vec<String> = added.sizes.iter().map(|b| number::bytes(*b)).collect();
            cells.push(Cell::Text(words.join(", ")));
        }
        Row { cells, case: None }
    });
    let rows = rows.collect();
    let says = all.iter().filter_map(|added| told.sentence(added)).collect();
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
        shown.unit.push_str("/B");
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
