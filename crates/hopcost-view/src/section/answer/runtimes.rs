//! Runtimes: what each makes of the same mechanism, as a multiple of Rust.

use hopcost_model::text::count;
use hopcost_read::results::{Results, RuntimeCell, RuntimeMatrix, RuntimeRow};

use super::know::{Doubts, Part, Weight};
use crate::names::{capitalised, case_at};
use crate::number;
use crate::section::model::{
    Block, Cell, Interval, Scale, Value, facts, note, numbers, says, words as texts,
};
use crate::section::pivot::pivot;

/// The runtime that multiples are of.
const BASE: &str = "rust";

/// What each runtime takes beside Rust, by the mechanisms of the first table that both have.
pub(super) fn conclusion(results: &Results) -> Vec<Block> {
    let runtimes = results.runtimes.iter();
    let Some(matrix) = runtimes.flat_map(|of| &of.matrices).next() else { return Vec::new() };
    let said = |at: usize| {
        let cells = matrix.rows.iter().filter_map(|row| row.cells.get(at));
        let ratios: Vec<f64> = cells
            .filter_map(|cell| cell.ratio.as_ref().filter(|of| of.low.is_some()))
            .map(|of| of.point)
            .collect();
        let times = number::span(&ratios, |times| number::plain(times, 2))?;
        let said =
            format!("takes {times} × as long as rust ({})", count(ratios.len(), "mechanism"));
        Some(Cell::text(said))
    };
    let all = matrix.runtimes.iter().enumerate().filter(|(_, runtime)| *runtime != BASE);
    let lines: Vec<(&str, Cell)> =
        all.filter_map(|(at, runtime)| Some((runtime.as_str(), said(at)?))).collect();
    if lines.is_empty() {
        return Vec::new();
    }
    vec![says(format!("{}:", capitalised(&matrix.title))), facts(lines)]
}

/// A table for each matrix, and in a line what one runtime alone has.
pub(super) fn tables(results: &Results, doubts: &Doubts) -> Vec<Part> {
    let Some(runtimes) = &results.runtimes else { return Vec::new() };
    let several = |row: &&RuntimeRow| row.cells.iter().filter(|cell| has_point(cell)).count() > 1;
    let mut parts: Vec<Part> = Vec::new();
    for matrix in &runtimes.matrices {
        let (rows, alone): (Vec<&RuntimeRow>, Vec<&RuntimeRow>) =
            matrix.rows.iter().partition(several);
        if !rows.is_empty() {
            let weight = if parts.is_empty() { Weight::Must } else { Weight::Table };
            let heading = Block::Heading(capitalised(&matrix.title));
            parts.push((weight, vec![heading, table(matrix, &rows, results, doubts)]));
        }
        parts.extend(only(matrix, &alone).map(|only| (Weight::Aside, vec![only])));
    }
    parts
}

fn has_point(cell: &RuntimeCell) -> bool {
    cell.value.as_ref().is_some_and(|value| value.point.is_some())
}

fn table(
    matrix: &RuntimeMatrix,
    rows: &[&RuntimeRow],
    results: &Results,
    doubts: &Doubts,
) -> Block {
    let columns: Vec<usize> = (0..matrix.runtimes.len()).collect();
    let value = |row: &&RuntimeRow, at: &usize| {
        let (runtime, cell) = (&matrix.runtimes[*at], row.cells.get(*at));
        let Some(cell) = cell else { return Vec::new() };
        let case = cell.result.and_then(|index| case_at(results, index));
        let shown = match cell.ratio.as_ref().filter(|ratio| ratio.low.is_some()) {
            Some(ratio) if runtime != BASE => {
                Value::Ratio(ratio.clone(), Interval::Relative).into()
            }
            _ => {
                let mark = case.map_or("", |(_, case)| doubts.mark(case));
                Cell::brief(cell.value.as_ref(), Scale::Time, mark)
            }
        };
        vec![(numbers(runtime), shown.of(case.map(|(index, _)| index)))]
    };
    let name = |row: &&RuntimeRow| vec![(texts(""), Cell::text(row.label.as_str()))];
    Block::Table(pivot(rows, name, &columns, value))
}

/// `In one runtime only: mp-pipe (python) 14 µs, …`
fn only(matrix: &RuntimeMatrix, rows: &[&RuntimeRow]) -> Option<Block> {
    let one = |row: &&RuntimeRow| {
        let (runtime, cell) =
            matrix.runtimes.iter().zip(&row.cells).find(|(_, cell)| has_point(cell))?;
        let value = Cell::point(cell.value.as_ref(), Scale::Time).value.shown()?;
        Some(format!("{} ({runtime}) {}", row.label, value.amount()))
    };
    let list: Vec<String> = rows.iter().filter_map(one).collect();
    let title = matrix.title.split(':').next().unwrap_or(&matrix.title);
    let text = format!("In one runtime only, {title}: {}", list.join(", "));
    (!list.is_empty()).then(|| note(text))
}
