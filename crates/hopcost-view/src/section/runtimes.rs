//! Runtimes compared: what stands before the ladder where ends were written in several languages.

use std::collections::BTreeSet;

use hopcost_read::results::{Results, RuntimeCell, RuntimeMatrix};

use super::model::{Block, Cell, Medium, Rows, Section, repeated, words};

/// Indices of the cases whose number stands in a table of runtimes.
pub(super) fn told(results: &Results) -> BTreeSet<u32> {
    let all = results.runtimes.iter().flat_map(|of| &of.matrices);
    let cells = all.flat_map(|matrix| &matrix.rows).flat_map(|row| &row.cells);
    cells.filter_map(|cell| cell.result).collect()
}

pub(super) fn mechanisms(results: &Results, _: Medium) -> Option<Section> {
    let blocks = results
        .runtimes
        .as_ref()?
        .matrices
        .iter()
        .flat_map(|matrix| [Block::Heading(matrix.title.clone()), listed(matrix)]);
    Section::of("runtimes", blocks)
}

/// A row for each number.
fn listed(matrix: &RuntimeMatrix) -> Block {
    let cells = matrix.rows.iter().flat_map(|row| {
        let cells = matrix.runtimes.iter().zip(&row.cells);
        cells.map(|(column, cell)| (row.label.as_str(), column.as_str(), cell))
    });
    let cells: Vec<(&str, &str, &RuntimeCell)> = cells.collect();
    Rows::of(&cells)
        .column(repeated("mechanism"), |(row, ..)| Cell::text(*row))
        .column(words("runtime"), |(_, column, cell)| {
            Cell::text(*column).of(cell.result.map(|index| index as usize))
        })
        .fields(&["result"], |(.., cell)| Some(*cell))
        .table()
}
