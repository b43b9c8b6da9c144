//! The pairs of a fleet as a square of cells, each with its number.

use hopcost_model::results::PairedCase;

use super::cells;
use super::heat::step;
use super::model::{Cell, Cells, Chart};
use crate::number;

/// The square of a case; `None` where nothing in it was measured.
pub(crate) fn chart(case: &PairedCase, at: usize) -> Option<Chart> {
    let matrix = &case.matrix;
    // The darker, the slower: of a rate, the less.
    let slow = |value: f64| if case.is_rate { 1.0 / value } else { value };
    let values = || matrix.cells.iter().flatten().flatten().map(|value| slow(*value));
    let ends = (values().reduce(f64::min)?, values().reduce(f64::max)?);
    let shown = |value: f64| match case.is_rate {
        true => format!("{} {}", number::plain(value, 3), case.unit),
        false => number::time(value, 3),
    };
    let short = |value: f64| match case.is_rate {
        true => number::plain(value, 2),
        false => number::plain(value / 1000.0, 3),
    };
    let cell = |row: &str, column: &str, value: &Option<f64>| match value {
        None => Cell { text: String::new(), ..Cell::default() },
        Some(value) => Cell {
            tip: format!("{row} to {column}\n{}", shown(*value)),
            text: short(*value),
            small: String::new(),
            step: Some(step(slow(*value), ends)),
        },
    };
    let row = |(name, row): (&String, &Vec<Option<f64>>)| {
        let cells = matrix.names.iter().zip(row).map(|(column, value)| cell(name, column, value));
        (name.clone(), cells.collect())
    };
    let end = |of: f64| shown(slow(of));
    let grid = Cells {
        rows_label: format!("from {}", matrix.by),
        columns_label: format!("to {}", matrix.by),
        columns: matrix.names.clone(),
        rows: matrix.names.iter().zip(&matrix.cells).map(row).collect(),
        ends: (ends.1 > ends.0).then(|| (end(ends.0), end(ends.1))),
        fit: cells::fit_of(matrix.names.len()),
    };
    let unit = if case.is_rate { case.unit.as_str() } else { "µs" };
    Some(cells::square(
        format!("plot-pairs-{at}"),
        format!("{}, {unit}", case.case),
        format!(
            "{} between every two of {} in {unit}: the near end in the rows, the far end in the columns. The table below \
             holds the slowest.",
            case.statistic, matrix.by
        ),
        grid,
    ))
}
