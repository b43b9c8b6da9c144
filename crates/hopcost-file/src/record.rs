//! Rows of a file that may hold anything: each cell is checked as it is read.

use std::path::Path;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row};

use crate::error::{Cell, Error, Problem, Result};
use crate::samples;

/// What is being done, for messages.
pub(crate) const DOING: &str = "read it";

/// A row whose cells are checked as they are read.
pub(crate) struct Record<'r, 's>(pub(crate) &'r Row<'s>);

impl<'r> Record<'r, '_> {
    pub(crate) fn wrong<T>(&self, name: &str, what: &str) -> Cell<T> {
        Err(Problem::Value(format!("{name} is {what}")))
    }
    fn value(&self, name: &str) -> Cell<ValueRef<'r>> {
        Ok(self.0.get_ref(name)?)
    }
    pub(crate) fn maybe<T>(
        &self,
        name: &str,
        read: impl FnOnce(&Self) -> Cell<T>,
    ) -> Cell<Option<T>> {
        match self.value(name)? {
            ValueRef::Null => Ok(None),
            _ => read(self).map(Some),
        }
    }
    pub(crate) fn whole<T: TryFrom<i64>>(&self, name: &str) -> Cell<T> {
        match self.value(name)? {
            ValueRef::Integer(value) => T::try_from(value)
                .or_else(|_| self.wrong(name, &format!("{value}, which is out of range"))),
            other => self.wrong(name, &format!("{}, not a whole number", other.data_type())),
        }
    }
    pub(crate) fn flag(&self, name: &str) -> Cell<bool> {
        match self.whole::<i64>(name)? {
            0 => Ok(false),
            1 => Ok(true),
            other => self.wrong(name, &format!("{other}, not 0 or 1")),
        }
    }
    pub(crate) fn real(&self, name: &str) -> Cell<f64> {
        match self.value(name)? {
            ValueRef::Real(value) if value.is_finite() => Ok(value),
            ValueRef::Real(_) => self.wrong(name, "infinite"),
            other => self.wrong(name, &format!("{}, not a number", other.data_type())),
        }
    }
    pub(crate) fn str(&self, name: &str) -> Cell<&'r str> {
        match self.value(name)? {
            ValueRef::Text(bytes) => {
                std::str::from_utf8(bytes).or_else(|_| self.wrong(name, "text that is not UTF-8"))
            }
            other => self.wrong(name, &format!("{}, not text", other.data_type())),
        }
    }
    pub(crate) fn text(&self, name: &str) -> Cell<String> {
        self.str(name).map(str::to_owned)
    }
    pub(crate) fn maybe_text(&self, name: &str) -> Cell<Option<String>> {
        self.maybe(name, |r| r.text(name))
    }
    pub(crate) fn json<T: serde::de::DeserializeOwned>(&self, name: &str) -> Cell<T> {
        serde_json::from_str(self.str(name)?)
            .or_else(|error| self.wrong(name, &format!("not the JSON it should be ({error})")))
    }
    pub(crate) fn samples(&self) -> Cell<Vec<u32>> {
        let count: usize = self.whole("samples_kept")?;
        match self.value("samples")? {
            ValueRef::Blob(blob) => samples::unpack(blob, count).map_err(Problem::Value),
            other => self.wrong("samples", &format!("{}, not a blob", other.data_type())),
        }
    }
}

/// Reads every row of a query. `place` names a row by its number, from 1.
pub(crate) fn rows<T>(
    conn: &Connection,
    path: &Path,
    query: &str,
    place: impl Fn(usize) -> String,
    mut read: impl FnMut(&Record<'_, '_>) -> Cell<T>,
) -> Result<Vec<T>> {
    let sqlite = |error| Error::sqlite(path, DOING, error);
    let mut query = conn.prepare(query).map_err(sqlite)?;
    let mut cursor = query.query([]).map_err(sqlite)?;
    let mut out = Vec::new();
    while let Some(row) = cursor.next().map_err(sqlite)? {
        let read = read(&Record(row));
        out.push(read.map_err(|problem| problem.reading(path, DOING, place(out.len() + 1)))?);
    }
    Ok(out)
}
