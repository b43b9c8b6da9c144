//! The stored estimates beside those that are computed of the same file now.

use std::collections::BTreeMap;
use std::path::Path;

use rusqlite::types::{Value, ValueRef};

use crate::cell::{Get, Reading};
use crate::connect::{self, MakeFolder};
use crate::error::{Cell, Problem, Result};
use crate::read;
use crate::tables::{self as t, EstimateRow};

/// What came of comparing stored estimates with computed ones.
#[derive(Debug, Clone, PartialEq)]
pub struct Recomputed {
    /// Estimates that the file holds.
    pub stored: usize,
    /// A line for each estimate that is not the same in every column.
    pub differing: Vec<String>,
}

/// The cells of a row as they are, whatever they hold.
struct Cells(Vec<Value>);

impl Get for Cells {
    fn get(row: &mut Reading<'_>) -> Cell<Self> {
        let mut cells = Vec::with_capacity(row.columns.len());
        while row.at < row.columns.len() {
            cells.push(match row.next()? {
                ValueRef::Null => Value::Null,
                ValueRef::Integer(value) => value.into(),
                ValueRef::Real(value) => value.into(),
                ValueRef::Text(bytes) => String::from_utf8_lossy(bytes).into_owned().into(),
                ValueRef::Blob(_) => return row.wrong("a blob, which no estimate has"),
            });
        }
        Ok(Self(cells))
    }
}

/// Case and statistic, by which the table is keyed.
fn key(cells: &[Value]) -> (String, String) {
    let text = |at: usize| match cells.get(at) {
        Some(Value::Text(text)) => text.clone(),
        other => format!("{other:?}"),
    };
    (text(0), text(1))
}

/// Compares the estimates that a file holds with `computed`, cell by cell, to the last bit.
///
/// # Errors
/// Those of [`crate::open`]; [`crate::Error::Unstorable`] for a computed number that is not finite.
pub fn recomputed(
    path: &Path,
    folder: &MakeFolder,
    computed: &[EstimateRow],
) -> Result<Recomputed> {
    let path = connect::check_file(path)?;
    let conn = connect::reading(&path, folder)?;
    let stored: Vec<Cells> =
        read::of_file(&conn, &path, |source| source.read(&t::ESTIMATE, |_| ()))?;
    let mut left: BTreeMap<_, _> = stored.into_iter().map(|row| (key(&row.0), row.0)).collect();
    let n = left.len();
    let mut differing = Vec::new();
    for row in computed {
        let now = t::ESTIMATE.cells(row);
        let now =
            now.map_err(|problem: Problem| problem.storing(&path, "compare", "an estimate"))?;
        let (case, statistic) = key(&now);
        let Some(then) = left.remove(&(case.clone(), statistic.clone())) else {
            differing.push(format!("{case} {statistic}: not stored"));
            continue;
        };
        let columns = t::ESTIMATE.columns.iter().copied().flatten().map(|column| column.name);
        let cells = columns.zip(then.iter().zip(&now)).filter(|(_, (then, now))| then != now);
        let cells = cells.map(|(name, (then, now))| {
            format!("{name} is stored as {}, computed as {}", shown(then), shown(now))
        });
        let cells: Vec<String> = cells.collect();
        if !cells.is_empty() {
            differing.push(format!("{case} {statistic}: {}", cells.join("; ")));
        }
    }
    let gone = left.into_keys();
    differing.extend(gone.map(|(case, statistic)| format!("{case} {statistic}: not computed")));
    Ok(Recomputed { stored: n, differing })
}

fn shown(cell: &Value) -> String {
    match cell {
        Value::Null => "nothing".to_owned(),
        Value::Integer(value) => value.to_string(),
        // Every digit that it takes to tell it from its neighbours.
        Value::Real(value) => format!("{value:?}"),
        Value::Text(text) => format!("`{text}`"),
        Value::Blob(_) => "a blob".to_owned(),
    }
}
