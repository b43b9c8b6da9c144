//! Costs split into a fixed and a per-byte part.

use hopcost_model::results::{CostModel, Estimate, Results};

use super::{Cell, Column, Part, Row, Section, time};
use crate::number::{self, Shown};

pub(super) fn section(results: &Results) -> Option<Section> {
    if results.cost_models.is_empty() {
        return None;
    }
    let columns = vec![
        Column::words("what was swept"),
        Column::number("fixed [interval]"),
        Column::number("per byte [interval]"),
        Column::number("sizes").fold(1),
        Column::number("farthest from the line").fold(2),
    ];
    let mut notes = Vec::new();
    let mut row = |model: &CostModel| Row {
        cells: vec![
            Cell::Text(label(model, &mut notes)),
            Cell::estimate(model.fixed_ns.as_ref().or(model.smallest_ns.as_ref()), time),
            Cell::estimate(
                model.per_byte_ns.as_ref().or(model.mean_per_byte_ns.as_ref()),
                per_byte,
            ),
            Cell::Number(model.cases.len().to_string(), model.cases.len() as f64),
            Cell::maybe(model.residual_max, number::share),
        ],
        case: None,
    };
    let rows = results.cost_models.iter().map(&mut row).collect();
    Some(Section {
        id: "models",
        title: "Fixed and per-byte cost",
        lead: "A line through the sizes that were measured (Hockney): a cost at size 0 and a cost \
               of each further byte, with their intervals. It says nothing beyond these sizes."
            .to_owned(),
        parts: vec![Part { title: String::new(), columns, rows, notes, ..Part::default() }],
    })
}

/// What was swept, with the number of the note that says why there is no line.
fn label(model: &CostModel, notes: &mut Vec<String>) -> String {
    let Some(reason) = &model.refused else { return model.label.clone() };
    let number = notes.len() + 1;
    let instead = if model.mean_per_byte_ns.is_some() {
        ". Shown instead: the cost at the smallest size as measured, and what a byte costs on \
         average from there to the largest"
    } else {
        ""
    };
    notes.push(format!("({number}) no line: {reason}{instead}."));
    format!("{} ({number})", model.label)
}

/// `0.031 ns/B`
fn per_byte(estimate: &Estimate) -> Shown {
    let mut shown = time(estimate);
    if estimate.point.is_some() {
        shown.unit.push_str("/B");
    }
    shown
}
