//! Runtimes compared: what stands before the ladder where ends were written in
//! several languages.

mod added;
mod contrast;
mod footnotes;
mod matrix;
mod search;
mod stamp;
pub(crate) mod threads;

use std::collections::BTreeSet;

use hopcost_model::results::{Results, RuntimeCell, RuntimeComparison};

use super::model::{Medium, Section};

/// Every section on runtimes that has something in it, in the order of the report.
pub(super) fn all(results: &Results, medium: Medium) -> impl Iterator<Item = Section> {
    let compared = results.runtimes.as_ref();
    let of = |section: fn(&Results, &RuntimeComparison, Medium) -> Option<Section>| {
        compared.and_then(|runtimes| section(results, runtimes, medium))
    };
    let sections = [
        of(matrix::mechanisms),
        compared.and_then(|runtimes| contrast::section(results, runtimes, &told(results))),
        of(added::section),
        of(matrix::pairs),
        of(search::section),
        threads::section(results, medium),
        of(stamp::section),
        stamp::workers(results, medium),
    ];
    sections.into_iter().flatten()
}

/// Indices of the cases whose number stands in a table of runtimes.
pub(super) fn told(results: &Results) -> BTreeSet<u32> {
    let Some(runtimes) = &results.runtimes else { return BTreeSet::new() };
    let matrices = runtimes.matrices.iter().flat_map(|matrix| &matrix.rows);
    let heat_maps = runtimes.heat_maps.iter().flat_map(|map| &map.cells).flatten();
    let cells = matrices.flat_map(|row| &row.cells).chain(heat_maps);
    cells.filter_map(|cell: &RuntimeCell| cell.result).collect()
}
