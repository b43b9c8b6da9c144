//! Runtimes compared: what stands before the ladder where ends were written in several languages.
//! Mechanisms by runtimes, and caller by callee.

use std::collections::BTreeSet;

use hopcost_model::results::{Results, RuntimeCell, RuntimeMatrix};

use super::model::{Block, Cell, Medium, Rows, Scale, Section, numbers, repeated, words};
use super::pivot::pivot;
use super::shapes::{self, About};
use crate::chart::model::Chart;
use crate::names::plain_id;

/// Indices of the cases whose number stands in a table of runtimes.
pub(super) fn told(results: &Results) -> BTreeSet<u32> {
    let all = results.runtimes.iter().flat_map(|of| of.matrices.iter().chain(&of.pairs));
    let cells = all.flat_map(|matrix| &matrix.rows).flat_map(|row| &row.cells);
    cells.filter_map(|cell| cell.result).collect()
}

pub(super) fn mechanisms(results: &Results, _: Medium) -> Option<Section> {
    let blocks = results.runtimes.as_ref()?.matrices.iter().flat_map(|matrix| {
        [Block::Heading(matrix.title.clone()), listed(["mechanism", "runtime"], matrix)]
    });
    Section::of("runtimes", blocks)
}

/// Caller by callee, under its heat map where one can be drawn.
pub(super) fn pairs(results: &Results, _: Medium) -> Option<Section> {
    let maps = results.runtimes.as_ref()?.pairs.iter().enumerate();
    let blocks = maps.flat_map(|(at, map)| {
        let chart = chart(at, map).map(|chart| Block::Charts(vec![chart]));
        let table = listed(["caller", "callee"], map);
        [Some(Block::Heading(map.title.clone())), chart, Some(table)].into_iter().flatten()
    });
    Section::of("pairs", blocks)
}

/// A row for each number.
fn listed(heads: [&str; 2], matrix: &RuntimeMatrix) -> Block {
    let cells = matrix.rows.iter().flat_map(|row| {
        let cells = matrix.runtimes.iter().zip(&row.cells);
        cells.map(|(column, cell)| (row.label.as_str(), column.as_str(), cell))
    });
    let cells: Vec<(&str, &str, &RuntimeCell)> = cells.collect();
    Rows::of(&cells)
        .column(repeated(heads[0]), |(row, ..)| Cell::text(*row))
        .column(words(heads[1]), |(_, column, cell)| {
            Cell::text(*column).of(cell.result.map(|index| index as usize))
        })
        .fields(&["result"], |(.., cell)| Some(*cell))
        .table()
}

/// The heat maps of a run.
pub(super) fn charts(results: &Results) -> Vec<Chart> {
    let maps = results.runtimes.iter().flat_map(|runtimes| &runtimes.pairs).enumerate();
    maps.filter_map(|(at, map)| chart(at, map)).collect()
}

fn chart(at: usize, map: &RuntimeMatrix) -> Option<Chart> {
    let about = About {
        id: format!("plot-runtime-heat-{at}-{}", plain_id(&map.title)),
        title: map.title.clone(),
        says:
            "p50 of a round trip: the caller's runtime in the rows, the callee's in the columns. \
               The caller takes the stamps."
                .to_owned(),
    };
    let columns: Vec<usize> = (0..map.runtimes.len()).collect();
    let table = pivot(
        &map.rows,
        |row| vec![(words("caller"), Cell::text(&row.label))],
        &columns,
        |row, at| {
            let value = row.cells.get(*at).and_then(|cell| cell.value.as_ref());
            vec![(numbers(&map.runtimes[*at]), Cell::estimate(value, Scale::Time))]
        },
    );
    shapes::grid(about, &table, "callee")
}
