//! Runtimes: what each makes of the same mechanism, as a multiple of Rust.

use hopcost_model::results::{Results, RuntimeCell, RuntimeMatrix, RuntimeRow};

use super::doubt::Doubts;
use super::group::value;
use super::order::words;
use crate::names::{capitalised, case_at};
use crate::section::model::{
    Block, Cell, Form, Interval, Scale, Table, Value, note, numbers, words as texts,
};

/// The runtime that multiples are of.
const BASE: &str = "rust";

/// A table for each matrix, and in a line what one runtime alone has.
pub(super) fn tables(results: &Results, doubts: &Doubts) -> Vec<Block> {
    let Some(runtimes) = &results.runtimes else { return Vec::new() };
    let several = |row: &&RuntimeRow| row.cells.iter().filter(|cell| has_point(cell)).count() > 1;
    let mut blocks = Vec::new();
    for matrix in &runtimes.matrices {
        let (rows, alone): (Vec<&RuntimeRow>, Vec<&RuntimeRow>) =
            matrix.rows.iter().partition(several);
        if !rows.is_empty() {
            blocks.push(Block::Heading(capitalised(&matrix.title)));
            blocks.push(table(matrix, &rows, results, doubts));
            blocks.extend(rows.iter().filter_map(|row| ranking(matrix, row)));
        }
        blocks.extend(only(matrix, &alone));
    }
    blocks
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
    let line = |row: &&RuntimeRow| {
        let cells =
            matrix.runtimes.iter().zip(&row.cells).map(|(runtime, cell)| match &cell.ratio {
                Some(ratio) if runtime != BASE && ratio.low.is_some() => {
                    Cell::from(Value::Ratio(ratio.clone(), Interval::Relative))
                        .of(cell.result.map(|index| index as usize))
                }
                _ => value(
                    cell.result.and_then(|index| case_at(results, index)),
                    Scale::Time,
                    doubts,
                ),
            });
        let mut line: Vec<Cell> = vec![Cell::text(row.label.as_str())];
        line.extend(cells);
        line.resize(matrix.runtimes.len() + 1, Cell::none());
        line
    };
    let columns =
        std::iter::once(texts("")).chain(matrix.runtimes.iter().map(|name| numbers(name)));
    let rows = rows.iter().map(line).collect();
    Block::Table(Table { columns: columns.collect(), rows, form: Form::Columns })
}

/// The runtimes of a row, fastest first.
fn ranking(matrix: &RuntimeMatrix, row: &RuntimeRow) -> Option<Block> {
    let name = |case: &hopcost_model::results::RankedCase| {
        matrix.runtimes.get(case.row as usize).cloned().unwrap_or_default()
    };
    let order = words(&row.ranking, name)?;
    Some(note(format!("{}: {order}", row.label)))
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
