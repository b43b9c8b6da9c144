//! What a stamp costs in each runtime.

use hopcost_model::results::{Results, RuntimeComparison, StampCost};

use super::super::{Cell, Column, Detail, Part, Row, Section, difference};
use crate::number;

const LEAD: &str = "A stamp is part of every stamped sample and is never subtracted. “By Rust's \
    clock”: exchanges with a stamp less exchanges without, each timed by the end in Rust. “Two \
    readings”: the runtime's own clock, read twice in a row, median. “Share”: the stamp's part of \
    the p50 of the case it was found with. “Clocks differ”: the same exchanges by the clock of \
    either end.";

pub(super) fn section(
    results: &Results,
    runtimes: &RuntimeComparison,
    _: Detail,
) -> Option<Section> {
    if runtimes.stamp_costs.is_empty() {
        return None;
    }
    let columns = vec![
        Column::words("runtime"),
        Column::number("by Rust's clock [interval]"),
        Column::number("two readings"),
        Column::number("share"),
        Column::number("clocks differ"),
        Column::words("found with").fold(1),
    ];
    let rows = runtimes.stamp_costs.iter().map(|cost| row(results, cost)).collect();
    Some(Section {
        id: "stamps",
        title: "What a stamp costs",
        lead: LEAD.to_owned(),
        parts: vec![Part { columns, rows, ..Part::default() }],
    })
}

fn row(results: &Results, cost: &StampCost) -> Row {
    Row {
        cells: vec![
            Cell::Text(cost.runtime.clone()),
            Cell::difference(cost.by_rust_clock_ns.as_ref(), difference),
            Cell::maybe(cost.own_reading_ns, |ns| number::rough(ns, number::UNICODE)),
            Cell::maybe(cost.share, number::share),
            Cell::maybe(cost.clock_disagreement_ppm, |ppm| {
                format!("{} ppm", number::plain(ppm, 2))
            }),
            Cell::Text(cost.case.clone()),
        ],
        case: results.results.iter().position(|case| case.id == cost.case),
    }
}
