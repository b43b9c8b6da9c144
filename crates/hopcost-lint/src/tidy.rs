//! Tables with one number a line: turned into rows with a column for each name of a number.

use std::collections::BTreeMap;

use crate::read::{CELLS_MAX, Form, Named, Table};
use crate::role::is_in;
use crate::unit::Unit;

/// Headings of the names of numbers, of the numbers, of their units, and of the ends of intervals.
const NAMES: &str = "statistic metric measure measurement quantity stat";
const VALUES: &str = "value estimate sample_measured_value";
const UNITS: &str = "unit units";
const LOWS: &str = "low lower";
const HIGHS: &str = "high upper";

fn place(table: &Table, names: &str) -> Option<usize> {
    table.head.iter().rposition(|cell| is_in(names, &cell.text))
}

/// The table with the units of a column of units behind its values.
pub fn with_units(mut table: Table) -> Table {
    let Some((unit, value)) = place(&table, UNITS).zip(place(&table, VALUES)) else { return table };
    let places = [Some(value), place(&table, LOWS), place(&table, HIGHS)];
    for row in &mut table.rows {
        let said = row[unit].text.clone();
        for place in places.into_iter().flatten() {
            if Unit::of(&said).is_some() && !row[place].text.is_empty() {
                row[place].text += &format!(" {said}");
            }
        }
    }
    table
}

/// A row for each combination of what stands ahead of the names, or of all other columns where
/// these do not tell the lines of one name apart; `None` of a table that has no such form.
pub fn widened(table: &Table) -> Option<Table> {
    let (name, value) = (place(table, NAMES)?, place(table, VALUES)?);
    let ends = [place(table, LOWS), place(table, HIGHS)];
    let others = |at: &usize| {
        ![name, value].contains(at)
            && Some(*at) != place(table, UNITS)
            && !ends.contains(&Some(*at))
    };
    let ahead: Vec<usize> = (0..name).filter(others).collect();
    let all: Vec<usize> = (0..table.head.len()).filter(others).collect();
    let numbers = [(Some(value), ""), (ends[0], " low"), (ends[1], " high")];
    [ahead, all].into_iter().find_map(|keys| with_keys(table, &keys, name, &numbers))
}

/// A column of numbers, and what its heading has behind the name.
type Numbers = (Option<usize>, &'static str);

fn with_keys(table: &Table, keys: &[usize], name: usize, numbers: &[Numbers]) -> Option<Table> {
    let mut rows: BTreeMap<Vec<&str>, Named> = BTreeMap::new();
    for row in table.rows.iter().filter(|row| !row[name].text.is_empty()) {
        let key = keys.iter().map(|at| row[*at].text.as_str()).collect();
        let of_keys = || keys.iter().map(|at| row[*at].clone()).collect();
        let of_row = &mut rows.entry(key).or_insert_with(|| (of_keys(), Vec::new())).1;
        for (at, behind) in numbers {
            let cell = at.map(|at| &row[at]).filter(|cell| !cell.text.is_empty());
            of_row.extend(cell.map(|cell| (format!("{}{behind}", row[name].text), cell.clone())));
        }
    }
    let form = if numbers[1].0.is_some() { Form::Estimates } else { table.form };
    let heads = keys.iter().map(|at| table.head[*at].clone()).collect();
    let found = Table::of_named(heads, form, rows.into_values().collect(), CELLS_MAX)?;
    Some(Table { title: table.title.clone(), ..found })
}
