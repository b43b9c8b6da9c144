//! Runtimes compared: what stands before the ladder where ends were written in several languages.
//! Mechanisms by runtimes, and caller by callee.

use std::collections::BTreeSet;

use hopcost_model::results::{Results, RuntimeCell, RuntimeMatrix};

use super::model::{Block, Cell, Medium, Rows, Section, repeated, words};

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

/// Caller by callee.
pub(super) fn pairs(results: &Results, _: Medium) -> Option<Section> {
    let blocks = results
        .runtimes
        .as_ref()?
        .pairs
        .iter()
        .flat_map(|map| [Block::Heading(map.title.clone()), listed(["caller", "callee"], map)]);
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
