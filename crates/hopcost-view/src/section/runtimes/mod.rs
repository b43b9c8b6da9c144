//! Runtimes compared: what stands before the ladder where ends were written in
//! several languages.

mod footnotes;
pub(super) mod matrix;
pub(super) mod stamp;
pub(crate) mod threads;

use std::collections::BTreeSet;

use hopcost_model::results::{Results, RuntimeCell};

/// Indices of the cases whose number stands in a table of runtimes.
pub(super) fn told(results: &Results) -> BTreeSet<u32> {
    let Some(runtimes) = &results.runtimes else { return BTreeSet::new() };
    let matrices = runtimes.matrices.iter().flat_map(|matrix| &matrix.rows);
    let heat_maps = runtimes.heat_maps.iter().flat_map(|map| &map.cells).flatten();
    let cells = matrices.flat_map(|row| &row.cells).chain(heat_maps);
    cells.filter_map(|cell: &RuntimeCell| cell.result).collect()
}
