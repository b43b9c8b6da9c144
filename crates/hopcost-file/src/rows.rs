//! Rows of the tables: written by their columns, read with every cell checked.

use std::cell;
use std::path::Path;

use rusqlite::types::Value;
use rusqlite::{Connection, Transaction, params_from_iter};

use crate::cell::{Column, Get, Put, Reading, Writing};
use crate::error::{Cell, DOING_READ, Error, Problem, Result};
use crate::limits::Limits;
use crate::tables::Table;

impl Table {
    /// Its columns, in order.
    pub(crate) fn all_columns(&self) -> Vec<&'static Column> {
        self.columns.iter().copied().flatten().collect()
    }

    /// The cells of a row.
    pub(crate) fn cells(&self, row: &impl Put) -> Cell<Vec<Value>> {
        let columns = self.all_columns();
        let mut writing = Writing { columns: &columns, cells: Vec::with_capacity(columns.len()) };
        row.put(&mut writing)?;
        Ok(writing.cells)
    }

    /// Writes a row whose cells are known.
    pub(crate) fn insert_cells(&self, tx: &Transaction<'_>, cells: Vec<Value>) -> Cell<()> {
        let names: Vec<&str> = self.all_columns().iter().map(|column| column.name).collect();
        let places = vec!["?"; names.len()].join(",");
        let (name, names) = (self.name, names.join(","));
        tx.prepare_cached(&format!("INSERT INTO {name} ({names}) VALUES ({places})"))?
            .execute(params_from_iter(cells))?;
        Ok(())
    }

    /// Writes rows.
    pub(crate) fn insert<T: Put>(
        &self,
        tx: &Transaction<'_>,
        rows: impl IntoIterator<Item = T>,
    ) -> Cell<()> {
        rows.into_iter().try_for_each(|row| self.insert_cells(tx, self.cells(&row)?))
    }

    /// Writes rows in place of those that are there.
    pub(crate) fn replace<T: Put>(
        &self,
        tx: &Transaction<'_>,
        rows: impl IntoIterator<Item = T>,
    ) -> Cell<()> {
        tx.execute(&format!("DELETE FROM {}", self.name), [])?;
        self.insert(tx, rows)
    }
}

/// A file that is read.
pub(crate) struct Source<'a> {
    pub(crate) conn: &'a Connection,
    pub(crate) path: &'a Path,
    pub(crate) limits: Limits,
    /// Bytes that its cells may still have: no more than the file.
    pub(crate) bytes_left: cell::Cell<u64>,
}

impl Source<'_> {
    /// A line for what hopcost would never have written.
    pub(crate) fn wrong<T>(&self, place: impl Into<String>, why: impl Into<String>) -> Result<T> {
        Err(Error::Content { path: self.path.to_owned(), place: place.into(), why: why.into() })
    }

    /// Every row of a table, by its first column and, where `key` says so, by more.
    pub(crate) fn read<T: Get, K: Ord>(
        &self,
        table: &Table,
        key: impl Fn(&T) -> K,
    ) -> Result<Vec<T>> {
        let columns = table.all_columns();
        let sqlite = |error| Error::sqlite(self.path, DOING_READ, error);
        // No index and no sorting by SQLite, which a made-up file can make long.
        let names: Vec<&str> = columns.iter().map(|column| column.name).collect();
        let query = format!("SELECT {} FROM {} NOT INDEXED", names.join(","), table.name);
        let mut query = self.conn.prepare(&query).map_err(sqlite)?;
        let mut cursor = query.query([]).map_err(sqlite)?;
        let most = self.limits.rows(table.rows_max);
        let mut out: Vec<T> = Vec::new();
        while let Some(row) = cursor.next().map_err(sqlite)? {
            if out.len() == most {
                return self.wrong(table.name, format!("it has more than {most} rows"));
            }
            let bytes_left = &self.bytes_left;
            let read = T::get(&mut Reading { row, columns: &columns, at: 0, bytes_left });
            let place = || match table.name {
                "run" => table.name.to_owned(),
                name if columns[0].name == "trial" && name != "trial" => {
                    format!("{name} row {}", out.len() + 1)
                }
                name => format!("{name} {}", out.len() + 1),
            };
            out.push(
                read.map_err(|problem: Problem| problem.reading(self.path, DOING_READ, place()))?,
            );
        }
        if !out.is_sorted_by_key(&key) {
            out.sort_by_key(key);
        }
        Ok(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema;
    use crate::tables::CLOCK;
    use hopcost_model::protocol::ClockReading;

    /// The clocks of a file that holds one, as far as so many bytes reach.
    fn read(bytes: u64) -> Result<Vec<(i64, ClockReading)>> {
        let mut conn = Connection::open_in_memory().unwrap();
        schema::create(&conn).unwrap();
        let tx = conn.transaction().unwrap();
        CLOCK.insert(&tx, [(0i64, ClockReading::of_rate("rust", "tsc", 2e9))]).unwrap();
        tx.commit().unwrap();
        let (path, limits) = (Path::new("f"), Limits::of(0));
        let bytes_left = bytes.into();
        let source = Source { conn: &conn, path, limits, bytes_left };
        source.read(&CLOCK, |row: &(i64, ClockReading)| row.0)
    }

    #[test]
    fn a_file_holds_no_more_than_its_size() {
        assert_eq!(read(7).unwrap()[0].1.runtime, "rust");
        let line = read(6).unwrap_err().to_string();
        assert!(line.contains("clock 1: runtime is too long: the file is smaller"), "{line}");
    }
}
