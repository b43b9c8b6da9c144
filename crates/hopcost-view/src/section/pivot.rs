//! Items crossed into a table: rows by one key, columns by another, a cell from what meets there.

use hopcost_model::group::grouped;

use super::model::{Cell, Column, Form, Table, Value};

/// What a cell holds where there is an item and no number.
pub(crate) const NO_NUMBER: &str = "–";

/// A cell made of items.
pub(crate) type Make<'a, T> = Box<dyn Fn(&[&T]) -> Cell + 'a>;

/// How items are crossed.
pub(crate) struct Pivot<'a, T, C> {
    /// The heading that an item's row stands under, and what tells its row from others.
    pub row: &'a dyn Fn(&T) -> (String, Vec<String>),
    /// What names a row, from the items of it.
    pub names: Vec<(Column, Make<'a, T>)>,
    /// The columns in their order, by their keys.
    pub columns: Vec<(C, Column)>,
    /// The column of an item.
    pub column: &'a dyn Fn(&T) -> C,
    /// What stands where a row and a column meet.
    pub cell: Make<'a, T>,
}

/// Rows in the order of the items, those under one heading together; columns with a number alone.
pub(crate) fn pivot<T, C: PartialEq>(items: &[T], of: Pivot<'_, T, C>) -> Table {
    let rows = grouped(items, |item| (of.row)(item));
    let rows = grouped(&rows, |((heading, _), _)| heading);
    let rows: Vec<(&String, &Vec<&T>)> = rows
        .iter()
        .flat_map(|(heading, rows)| rows.iter().map(move |(_, items)| (*heading, items)))
        .collect();
    let named = of.names.into_iter().map(|(column, name)| {
        let cells: Vec<Cell> = rows.iter().map(|(_, items)| name(items)).collect();
        (column, cells)
    });
    let crossed = of.columns.into_iter().map(|(key, column)| {
        let met = |items: &[&T]| -> Cell {
            let here = items.iter().copied().filter(|item| (of.column)(item) == key);
            (of.cell)(&here.collect::<Vec<_>>())
        };
        (column, rows.iter().map(|(_, items)| met(items)).collect())
    });
    let is_number = |cell: &Cell| match &cell.value {
        Value::Words(text) => text != NO_NUMBER,
        value => !matches!(value, Value::Empty),
    };
    let crossed = crossed.filter(|(_, cells): &(Column, Vec<Cell>)| cells.iter().any(is_number));
    let columns: Vec<(Column, Vec<Cell>)> = named.chain(crossed).collect();
    let mut table = Table { form: Form::Columns, ..Table::default() };
    for (at, (heading, _)) in rows.iter().enumerate() {
        if at == 0 && !heading.is_empty() || at > 0 && rows[at - 1].0 != *heading {
            table.rows.push(vec![Cell::text(heading.as_str())]);
        }
        table.rows.push(columns.iter().map(|(_, cells)| cells[at].clone()).collect());
    }
    table.columns = columns.into_iter().map(|(column, _)| column).collect();
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::section::model::{numbers, words};

    #[test]
    fn items_stand_where_their_keys_meet() {
        let items = [("b", "x", 1), ("a", "x", 2), ("b", "y", 3), ("c", "z", 0)];
        let number = |items: &[&(&str, &str, u64)]| match items {
            [] => Cell::none(),
            [(.., 0)] => Cell::text(NO_NUMBER),
            [(.., n), ..] => Cell::whole(*n),
        };
        let heading = |name: &str| if name == "a" { "second" } else { "first" }.to_owned();
        let table = pivot(
            &items,
            Pivot {
                row: &|(name, ..)| (heading(name), vec![(*name).to_owned()]),
                names: vec![(words("name"), Box::new(|items| Cell::text(items[0].0)))],
                columns: ["y", "x", "z"].map(|key| (key, numbers(key))).to_vec(),
                column: &|(_, column, _)| *column,
                cell: Box::new(number),
            },
        );
        let heads: Vec<&str> = table.columns.iter().map(|column| column.head.as_str()).collect();
        assert_eq!(heads, ["name", "y", "x"], "a column without a number says nothing");
        let text = |cell: &Cell| match &cell.value {
            Value::Words(text) => text.clone(),
            value => value.key().map_or(String::new(), |key| key.to_string()),
        };
        let rows: Vec<Vec<String>> =
            table.rows.iter().map(|row| row.iter().map(text).collect()).collect();
        assert_eq!(
            rows,
            [
                vec!["first"],
                vec!["b", "3", "1"],
                vec!["c", "", ""],
                vec!["second"],
                vec!["a", "", "2"]
            ]
        );
    }
}
