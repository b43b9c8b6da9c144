//! Two keys crossed into a table: a row for each value of one, columns for each value of the other.

use super::model::{Cell, Column, Form, Table};

/// A column's head and what a row has there.
pub(crate) type Part = (Column, Cell);

/// A table of `rows` and `columns` in their order. `name` gives the first columns of a row, `value`
/// those of a row under one of `columns`: each time as many, or none where there is no value. A
/// column without any value is left out.
pub(crate) fn pivot<R, C>(
    rows: &[R],
    name: impl Fn(&R) -> Vec<Part>,
    columns: &[C],
    value: impl Fn(&R, &C) -> Vec<Part>,
) -> Table {
    let of_rows = rows.iter().map(|_| Vec::new()).collect();
    let mut table = Table { rows: of_rows, form: Form::Brief, ..Table::default() };
    add(&mut table, &rows.iter().map(&name).collect::<Vec<_>>());
    for column in columns {
        add(&mut table, &rows.iter().map(|row| value(row, column)).collect::<Vec<_>>());
    }
    table
}

fn add(table: &mut Table, of_rows: &[Vec<Part>]) {
    let width = of_rows.iter().map(Vec::len).max().unwrap_or(0);
    for at in 0..width {
        let mut parts = of_rows.iter().filter_map(|row| row.get(at));
        let Some((head, _)) = parts.find(|(_, cell)| !cell.is_empty()) else { continue };
        let cell = |row: &Vec<Part>| row.get(at).map_or(Cell::none(), |(_, cell)| cell.clone());
        table.push(head.clone(), of_rows.iter().map(cell).collect());
    }
}
