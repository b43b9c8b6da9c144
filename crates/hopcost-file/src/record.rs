//! Rows of a file that may hold anything: each cell is checked as it is read.

use std::path::Path;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row};

use hopcost_model::text::escaped;

use crate::error::{Cell, Error, Problem, Result};
use crate::limits::{JSON_MAX_BYTES, TEXT_MAX_BYTES, rows_max};
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
    fn utf8(&self, name: &str, max_bytes: usize) -> Cell<&'r str> {
        match self.value(name)? {
            ValueRef::Text(bytes) if bytes.len() > max_bytes => {
                self.wrong(name, &format!("{} bytes long, more than {max_bytes}", bytes.len()))
            }
            ValueRef::Text(bytes) => {
                std::str::from_utf8(bytes).or_else(|_| self.wrong(name, "text that is not UTF-8"))
            }
            other => self.wrong(name, &format!("{}, not text", other.data_type())),
        }
    }
    /// A word that is compared and never shown.
    pub(crate) fn str(&self, name: &str) -> Cell<&'r str> {
        self.utf8(name, TEXT_MAX_BYTES)
    }
    /// A text to be shown: what does not show as itself is written out.
    pub(crate) fn text(&self, name: &str) -> Cell<String> {
        self.str(name).map(escaped)
    }
    pub(crate) fn maybe_text(&self, name: &str) -> Cell<Option<String>> {
        self.maybe(name, |r| r.text(name))
    }
    pub(crate) fn json<T: serde::de::DeserializeOwned>(&self, name: &str) -> Cell<T> {
        let mut value = serde_json::from_str(self.utf8(name, JSON_MAX_BYTES)?);
        if let Ok(value) = &mut value
            && let Err(length) = escape(value)
        {
            let what = format!("JSON with a text of {length} bytes, more than {TEXT_MAX_BYTES}");
            return self.wrong(name, &what);
        }
        value
            .and_then(serde_json::from_value)
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

/// Treats every text of a JSON value as [`Record::text`] does; an error is the length of
/// one that is too long.
fn escape(value: &mut serde_json::Value) -> std::result::Result<(), usize> {
    use serde_json::Value;
    let plain = |text: &str| match text.len() {
        0..=TEXT_MAX_BYTES => Ok(escaped(text)),
        length => Err(length),
    };
    match value {
        Value::String(text) => *text = plain(text)?,
        Value::Array(values) => values.iter_mut().try_for_each(escape)?,
        Value::Object(fields) => {
            for (key, mut value) in std::mem::take(fields) {
                escape(&mut value)?;
                fields.insert(plain(&key)?, value);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
    Ok(())
}

/// What a value that is stored as JSON is when it is read back, to compare it with what
/// a file holds; `None` where it would be refused.
pub fn as_read<T: serde::Serialize + serde::de::DeserializeOwned>(value: &T) -> Option<T> {
    let mut value = serde_json::to_value(value).ok()?;
    escape(&mut value).ok()?;
    serde_json::from_value(value).ok()
}

/// Reads every row of a query of `table`. `place` names a row by its number, from 1.
pub(crate) fn rows<T>(
    conn: &Connection,
    path: &Path,
    (table, query): (&str, &str),
    place: impl Fn(usize) -> String,
    mut read: impl FnMut(&Record<'_, '_>) -> Cell<T>,
) -> Result<Vec<T>> {
    let sqlite = |error| Error::sqlite(path, DOING, error);
    let mut query = conn.prepare(query).map_err(sqlite)?;
    let mut cursor = query.query([]).map_err(sqlite)?;
    let mut out = Vec::new();
    let most = rows_max(table);
    while let Some(row) = cursor.next().map_err(sqlite)? {
        if out.len() == most {
            let why = format!("it has more than {most} rows");
            return Err(Error::Content { path: path.to_owned(), place: table.to_owned(), why });
        }
        let read = read(&Record(row));
        out.push(read.map_err(|problem| problem.reading(path, DOING, place(out.len() + 1)))?);
    }
    Ok(out)
}
