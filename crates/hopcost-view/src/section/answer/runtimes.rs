//! Runtimes: what each makes of the same mechanism, as a multiple of Rust.

use std::collections::BTreeSet;

use hopcost_model::group::grouped;
use hopcost_model::text::{count, span};
use hopcost_read::results::{CaseResult, Ratio, Results, RuntimeCell, RuntimeMatrix, RuntimeRow};

use super::know::{Doubts, Part, Weight};
use crate::names::{capitalised, case_at, foreign};
use crate::number;
use crate::section::headline::{Headline, titled};
use crate::section::model::{Block, Cell, Interval, Rows, Scale, numbers, words as texts};

/// The runtime that multiples are of.
const BASE: &str = "rust";

/// What each runtime takes beside Rust at each place, by the mechanisms of the first table that both
/// have.
pub(super) fn headline(results: &Results) -> Headline {
    let matrices = || results.runtimes.iter();
    let Some(first) = matrices().next() else { return Headline::default() };
    let (group, _) = parted(first);
    let all: Vec<&RuntimeMatrix> = matrices().filter(|of| parted(of).0 == group).collect();
    let said = |runtime: &String| {
        let each = all.iter().filter_map(|matrix| beside_rust(matrix, runtime));
        let each: Vec<String> = each.collect();
        (!each.is_empty()).then(|| (runtime.clone(), each.join("; ")))
    };
    let others = first.runtimes.iter().filter(|runtime| *runtime != BASE);
    let about = format!("{}: time beside {BASE} (median", capitalised(group));
    let facts = others.filter_map(said).collect();
    Headline { title: titled(&about, results), facts, ..Headline::default() }
}

/// The runtimes of which nothing was measured, and why.
pub(super) fn absent(results: &Results) -> impl Iterator<Item = (String, String)> {
    let own = results.results.iter().filter_map(|case| Some((foreign(case)?, case)));
    let absent = |(runtime, cases): (String, Vec<(String, &CaseResult)>)| {
        let reason = cases.iter().find_map(|(_, case)| case.reason.as_deref())?;
        let why = match reason.contains(" is absent: ") {
            true => "`hopcost worker list` says why and how to install it",
            false => reason,
        };
        let is_measured = cases.iter().any(|(_, case)| case.estimates.is_some());
        (!is_measured).then(|| (runtime, format!("not measured: {why}")))
    };
    grouped(own, |(runtime, _)| runtime.clone()).into_iter().filter_map(absent)
}

/// What a table is of, and where that was measured.
fn parted(matrix: &RuntimeMatrix) -> (&str, &str) {
    let title = matrix.title.split(" (").next().unwrap_or_default();
    title.rsplit_once(", ").unwrap_or((title, ""))
}

/// `one CPU 1.3 to 1.5 × (95 %: 1.2 to 1.6; 4 mechanisms)`
fn beside_rust(matrix: &RuntimeMatrix, runtime: &String) -> Option<String> {
    let at = matrix.runtimes.iter().position(|of| of == runtime)?;
    let cells = matrix.rows.iter().filter_map(|row| row.cells.get(at)?.ratio.as_ref());
    let ratios: Vec<&Ratio> = cells.filter(|of| of.low.is_some()).collect();
    let written = |all: Vec<f64>| span(&all, |times| number::plain(times, 2));
    let times = written(ratios.iter().map(|of| of.point).collect())?;
    let ends = written(ratios.iter().flat_map(|of| [of.low, of.high]).flatten().collect())?;
    let n = count(ratios.len(), "mechanism");
    Some(format!("{} {times} × (95 %: {ends}; {n})", parted(matrix).1))
}

/// Indices of the cases whose number stands in these tables.
pub(super) fn told(results: &Results) -> BTreeSet<u32> {
    let cells = results.runtimes.iter().flat_map(|matrix| &matrix.rows).flat_map(|row| &row.cells);
    cells.filter_map(|cell| cell.result).collect()
}

/// A table for each matrix: of what several runtimes have, if there is any.
pub(super) fn tables(results: &Results, doubts: &Doubts) -> Vec<Part> {
    let has_point = |cell: &&RuntimeCell| cell.value.as_ref().is_some_and(|of| of.point.is_some());
    let several = |row: &RuntimeRow| row.cells.iter().filter(has_point).count() > 1;
    let is_any = results.runtimes.iter().flat_map(|of| &of.rows).any(several);
    let mut parts: Vec<Part> = Vec::new();
    for matrix in &results.runtimes {
        let rows = matrix.rows.iter().filter(|row| !is_any || several(row)).collect::<Vec<_>>();
        if !rows.is_empty() {
            let weight = if parts.is_empty() { Weight::Must } else { Weight::Table };
            let heading = Block::Heading(capitalised(&matrix.title));
            parts.push((weight, vec![heading, table(matrix, &rows, results, doubts)]));
        }
    }
    parts
}

fn table(
    matrix: &RuntimeMatrix,
    rows: &[&RuntimeRow],
    results: &Results,
    doubts: &Doubts,
) -> Block {
    let value = |row: &RuntimeRow, at: usize, runtime: &str| {
        let Some(cell) = row.cells.get(at) else { return Cell::none() };
        let case = cell.result.and_then(|index| case_at(results, index));
        let shown = match cell.ratio.as_ref().filter(|ratio| ratio.low.is_some()) {
            Some(ratio) if runtime != BASE => Cell::multiple(ratio, Interval::Relative),
            _ => {
                let mark = case.map_or("", |(_, case)| doubts.mark(case));
                let levels = case.and_then(|(_, case)| case.levels);
                let value = cell.value.as_ref();
                Cell::at_levels(levels, value, Scale::Time, Interval::Relative).marked(mark)
            }
        };
        shown.of(case.map(|(index, _)| index))
    };
    let named = Rows::of(rows).column(texts(""), |row| Cell::text(row.label.as_str()));
    let all = matrix.runtimes.iter().enumerate().fold(named, |table, (at, runtime)| {
        table.column(numbers(runtime), |row| value(row, at, runtime))
    });
    all.brief()
}
