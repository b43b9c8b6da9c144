//! What stands in a cell: values as they are written, and read from a file that may hold
//! anything. A row is its cells in the order of its table's columns.

use hopcost_model::case::Role;
use hopcost_model::describe::Description;
use hopcost_model::plan::Plan;
use hopcost_model::protocol::{Stamp, ZeroCopySends};
use hopcost_model::raw::{Build, Moment, Throttling, YardstickClass};
use hopcost_model::text::escaped;
use hopcost_model::trace::TraceEvent;
use rusqlite::Row;
use rusqlite::types::{Value, ValueRef};

use crate::error::{Cell, Problem};
use crate::limits::{JSON_MAX_BYTES, TEXT_MAX_BYTES};
use crate::{samples, trace};

#[derive(Debug, Clone, Copy)]
pub(crate) struct Column {
    pub(crate) name: &'static str,
    pub(crate) sql: &'static str,
}

/// Cells being written.
pub(crate) struct Writing<'t> {
    pub(crate) columns: &'t [&'static Column],
    pub(crate) cells: Vec<Value>,
}

impl Writing<'_> {
    fn wrong(&self, what: &str) -> Cell<()> {
        let name = self.columns.get(self.cells.len()).map_or("a value", |column| column.name);
        Err(Problem::Value(format!("{name} is {what}")))
    }
    fn push(&mut self, value: impl Into<Value>) -> Cell<()> {
        self.cells.push(value.into());
        Ok(())
    }
    fn text(&mut self, text: &str, max_bytes: usize) -> Cell<()> {
        match text.len() > max_bytes {
            true => self.wrong(&format!("{} bytes long, more than {max_bytes}", text.len())),
            false => self.push(text.to_owned()),
        }
    }
}

/// Cells being read.
pub(crate) struct Reading<'r> {
    pub(crate) row: &'r Row<'r>,
    pub(crate) columns: &'r [&'static Column],
    /// Cells read so far.
    pub(crate) at: usize,
    /// Bytes that the file can still hold.
    pub(crate) bytes_left: &'r std::cell::Cell<u64>,
}

impl<'r> Reading<'r> {
    /// Refuses the cell that was read last.
    pub(crate) fn wrong<T>(&self, what: &str) -> Cell<T> {
        let column = self.columns.get(self.at.wrapping_sub(1));
        Err(Problem::Value(format!("{} is {what}", column.map_or("a value", |c| c.name))))
    }
    fn is_next_null(&self) -> Cell<bool> {
        Ok(self.row.get_ref(self.at)? == ValueRef::Null)
    }
    pub(crate) fn next(&mut self) -> Cell<ValueRef<'r>> {
        let value = self.row.get_ref(self.at)?;
        self.at += 1;
        if let ValueRef::Text(bytes) | ValueRef::Blob(bytes) = value {
            // Cells of a made-up file can share their pages.
            let Some(left) = self.bytes_left.get().checked_sub(bytes.len() as u64) else {
                return self.wrong("too long: the file is smaller than what it holds");
            };
            self.bytes_left.set(left);
        }
        Ok(value)
    }
    fn text(&mut self, max_bytes: usize) -> Cell<&'r str> {
        match self.next()? {
            ValueRef::Text(bytes) if bytes.len() > max_bytes => {
                self.wrong(&format!("{} bytes long, more than {max_bytes}", bytes.len()))
            }
            ValueRef::Text(bytes) => {
                std::str::from_utf8(bytes).or_else(|_| self.wrong("text that is not UTF-8"))
            }
            other => self.wrong(&format!("{}, not text", other.data_type())),
        }
    }
    /// So many of something, packed in a blob.
    fn packed<T>(&mut self, unpack: impl FnOnce(&[u8], usize) -> Result<T, String>) -> Cell<T> {
        let count = u64::get(self)?;
        match self.next()? {
            ValueRef::Blob(blob) => {
                unpack(blob, usize::try_from(count).unwrap_or(usize::MAX)).map_err(Problem::Value)
            }
            other => self.wrong(&format!("{}, not a blob", other.data_type())),
        }
    }
    /// A word that is compared and never shown.
    fn word(&mut self) -> Cell<&'r str> {
        self.text(TEXT_MAX_BYTES)
    }
}

/// What one cell or several neighbours hold, as it is written.
pub(crate) trait Put {
    fn put(&self, row: &mut Writing<'_>) -> Cell<()>;
}

/// The same, as it is read.
pub(crate) trait Get: Sized {
    fn get(row: &mut Reading<'_>) -> Cell<Self>;
}

/// One cell, so that there may be none.
pub(crate) trait Single {}

impl<T: Put + ?Sized> Put for &T {
    fn put(&self, row: &mut Writing<'_>) -> Cell<()> {
        (**self).put(row)
    }
}

impl<T: Put + Single> Put for Option<T> {
    fn put(&self, row: &mut Writing<'_>) -> Cell<()> {
        match self {
            Some(value) => value.put(row),
            None => row.push(Value::Null),
        }
    }
}

impl<T: Get + Single> Get for Option<T> {
    fn get(row: &mut Reading<'_>) -> Cell<Self> {
        if row.is_next_null()? {
            return row.next().map(|_| None);
        }
        T::get(row).map(Some)
    }
}

macro_rules! whole_numbers {
    ($($type:ty)*) => {$(
        impl Single for $type {}
        impl Put for $type {
            // SQLite's integers are signed. No count or duration of a real run reaches 2^63
            // (292 years of nanoseconds), so what does is a fault to be reported.
            #[allow(clippy::unnecessary_fallible_conversions)]
            fn put(&self, row: &mut Writing<'_>) -> Cell<()> {
                match i64::try_from(*self) {
                    Ok(value) => row.push(value),
                    Err(_) => row.wrong(&format!("{self}, more than 2^63 - 1")),
                }
            }
        }
        impl Get for $type {
            fn get(row: &mut Reading<'_>) -> Cell<Self> {
                match row.next()? {
                    ValueRef::Integer(value) => Self::try_from(value)
                        .or_else(|_| row.wrong(&format!("{value}, which is out of range"))),
                    other => row.wrong(&format!("{}, not a whole number", other.data_type())),
                }
            }
        }
    )*};
}
whole_numbers!(u8 u32 i64 u64);

impl Put for bool {
    fn put(&self, row: &mut Writing<'_>) -> Cell<()> {
        row.push(*self)
    }
}

impl Get for bool {
    fn get(row: &mut Reading<'_>) -> Cell<Self> {
        match i64::get(row)? {
            0 => Ok(false),
            1 => Ok(true),
            other => row.wrong(&format!("{other}, not 0 or 1")),
        }
    }
}

impl Single for f64 {}

impl Put for f64 {
    fn put(&self, row: &mut Writing<'_>) -> Cell<()> {
        match self.is_finite() {
            true => row.push(*self),
            false => row.wrong(&format!("{self}, not a finite number")),
        }
    }
}

impl Get for f64 {
    fn get(row: &mut Reading<'_>) -> Cell<Self> {
        match row.next()? {
            ValueRef::Real(value) if value.is_infinite() => row.wrong("infinite"),
            // Every fraction in a file that is read is a time or a rate; the limit is that of
            // whole numbers.
            ValueRef::Real(value) if (0.0..i64::MAX as f64).contains(&value) => Ok(value),
            ValueRef::Real(value) => row.wrong(&format!("{value:?}, which is out of range")),
            other => row.wrong(&format!("{}, not a number", other.data_type())),
        }
    }
}

impl Single for &str {}
impl Single for String {}

impl Put for str {
    fn put(&self, row: &mut Writing<'_>) -> Cell<()> {
        row.text(self, TEXT_MAX_BYTES)
    }
}

impl Put for String {
    fn put(&self, row: &mut Writing<'_>) -> Cell<()> {
        self.as_str().put(row)
    }
}

impl Get for String {
    /// A text to be shown: what does not show as itself is written out.
    fn get(row: &mut Reading<'_>) -> Cell<Self> {
        row.word().map(escaped)
    }
}

impl Single for Role {}

impl Put for Role {
    fn put(&self, row: &mut Writing<'_>) -> Cell<()> {
        self.word().put(row)
    }
}

impl Get for Role {
    fn get(row: &mut Reading<'_>) -> Cell<Self> {
        let word = row.word()?;
        word.parse().or_else(|_| row.wrong(&format!("`{word}`")))
    }
}

/// Words of which there are few.
macro_rules! few_words {
    ($($type:ty: $all:expr;)*) => {$(
        impl Put for $type {
            fn put(&self, row: &mut Writing<'_>) -> Cell<()> {
                self.word().put(row)
            }
        }
        impl Get for $type {
            fn get(row: &mut Reading<'_>) -> Cell<Self> {
                let word = row.word()?;
                let found = $all.into_iter().find(|one: &Self| one.word() == word);
                found.map_or_else(|| row.wrong(&format!("`{}`", escaped(word))), Ok)
            }
        }
    )*};
}
few_words! {
    YardstickClass: YardstickClass::ALL;
    Moment: [Moment::Before, Moment::After];
}

/// A value that is stored as JSON.
pub(crate) struct Json<'a, T>(pub(crate) &'a T);

impl<T> Single for Json<'_, T> {}

impl<T: serde::Serialize> Put for Json<'_, T> {
    fn put(&self, row: &mut Writing<'_>) -> Cell<()> {
        match serde_json::to_string(self.0) {
            Ok(text) => row.text(&text, JSON_MAX_BYTES),
            Err(error) => row.wrong(&error.to_string()),
        }
    }
}

fn from_json<T: serde::de::DeserializeOwned>(row: &mut Reading<'_>) -> Cell<T> {
    let mut value = serde_json::from_str(row.text(JSON_MAX_BYTES)?);
    if let Ok(value) = &mut value
        && let Err(length) = escape(value)
    {
        return row
            .wrong(&format!("JSON with a text of {length} bytes, more than {TEXT_MAX_BYTES}"));
    }
    value
        .and_then(serde_json::from_value)
        .or_else(|error| row.wrong(&format!("not the JSON it should be ({error})")))
}

macro_rules! as_json {
    ($($type:ty)*) => {$(
        impl Put for $type {
            fn put(&self, row: &mut Writing<'_>) -> Cell<()> {
                Json(self).put(row)
            }
        }
        impl Get for $type {
            fn get(row: &mut Reading<'_>) -> Cell<Self> {
                from_json(row)
            }
        }
    )*};
}
as_json!(Build Plan Description Vec<String> Vec<Option<u32>>);

/// Treats every text of a JSON value as a text of its own; an error is the length of one
/// that is too long.
fn escape(value: &mut serde_json::Value) -> Result<(), usize> {
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

/// `stamp` and `stamp_n`.
impl Put for Option<Stamp> {
    fn put(&self, row: &mut Writing<'_>) -> Cell<()> {
        let (word, n) = match self {
            None => (None, None),
            Some(Stamp::Each) => (Some("each"), None),
            Some(Stamp::Batch { n }) => (Some("batch"), Some(*n)),
            Some(Stamp::TwoLengths { n }) => (Some("two-lengths"), Some(*n)),
        };
        (word, n).put(row)
    }
}

impl Get for Option<Stamp> {
    fn get(row: &mut Reading<'_>) -> Cell<Self> {
        let word = if row.is_next_null()? { row.next().map(|_| None)? } else { Some(row.word()?) };
        Ok(match word {
            None | Some("each") => {
                row.next()?;
                word.map(|_| Stamp::Each)
            }
            Some("batch") => Some(Stamp::Batch { n: u64::get(row)? }),
            Some("two-lengths") => Some(Stamp::TwoLengths { n: u64::get(row)? }),
            Some(other) => row.wrong(&format!("`{other}`"))?,
        })
    }
}

/// `zero_copy_completed` and `zero_copy_copied`: both or neither.
impl Put for Option<ZeroCopySends> {
    fn put(&self, row: &mut Writing<'_>) -> Cell<()> {
        (self.map(|sends| sends.completed), self.map(|sends| sends.copied)).put(row)
    }
}

impl Get for Option<ZeroCopySends> {
    fn get(row: &mut Reading<'_>) -> Cell<Self> {
        match <(Option<u64>, Option<u64>)>::get(row)? {
            (None, None) => Ok(None),
            (Some(completed), Some(copied)) => Ok(Some(ZeroCopySends { completed, copied })),
            (Some(_), None) => row.wrong("Null beside a zero_copy_completed"),
            (None, Some(_)) => {
                row.at -= 1;
                row.wrong("Null beside a zero_copy_copied")
            }
        }
    }
}

/// `throttled_times` and `throttled_ns`: both or neither.
impl Put for Option<Throttling> {
    fn put(&self, row: &mut Writing<'_>) -> Cell<()> {
        (self.map(|seen| seen.times), self.map(|seen| seen.ns)).put(row)
    }
}

impl Get for Option<Throttling> {
    fn get(row: &mut Reading<'_>) -> Cell<Self> {
        match <(Option<u64>, Option<u64>)>::get(row)? {
            (None, None) => Ok(None),
            (Some(times), Some(ns)) => Ok(Some(Throttling { times, ns })),
            (None, Some(_)) => row.wrong("there without a throttled_times"),
            (Some(_), None) => row.wrong("Null beside a throttled_times"),
        }
    }
}

/// `samples_kept` and `samples`.
impl Put for Vec<u32> {
    fn put(&self, row: &mut Writing<'_>) -> Cell<()> {
        if self.len() > samples::MAX_PER_TRIAL {
            return row.wrong(&format!("{}, more than {}", self.len(), samples::MAX_PER_TRIAL));
        }
        row.push(self.len() as i64)?;
        row.push(samples::pack(self))
    }
}

impl Get for Vec<u32> {
    fn get(row: &mut Reading<'_>) -> Cell<Self> {
        row.packed(samples::unpack)
    }
}

/// `events_kept` and `events`.
impl Put for Vec<TraceEvent> {
    fn put(&self, row: &mut Writing<'_>) -> Cell<()> {
        let packed = trace::pack(self).or_else(|why| row.wrong(&why).map(|()| Vec::new()))?;
        row.push(self.len() as i64)?;
        row.push(packed)
    }
}

impl Get for Vec<TraceEvent> {
    fn get(row: &mut Reading<'_>) -> Cell<Self> {
        row.packed(trace::unpack)
    }
}

/// Both or neither.
impl Put for Option<Vec<u32>> {
    fn put(&self, row: &mut Writing<'_>) -> Cell<()> {
        match self {
            Some(samples) => samples.put(row),
            None => (None::<u64>, None::<u64>).put(row),
        }
    }
}

impl Get for Option<Vec<u32>> {
    fn get(row: &mut Reading<'_>) -> Cell<Self> {
        if !row.is_next_null()? {
            return <Vec<u32> as Get>::get(row).map(Some);
        }
        row.next()?;
        match row.next()? {
            ValueRef::Null => Ok(None),
            _ => row.wrong("there without its number"),
        }
    }
}

macro_rules! tuples {
    ($(($($type:ident $at:tt),+))*) => {$(
        impl<$($type: Put),+> Put for ($($type,)+) {
            fn put(&self, row: &mut Writing<'_>) -> Cell<()> {
                $(self.$at.put(row)?;)+
                Ok(())
            }
        }
        impl<$($type: Get),+> Get for ($($type,)+) {
            fn get(row: &mut Reading<'_>) -> Cell<Self> {
                Ok(($($type::get(row)?,)+))
            }
        }
    )*};
}
tuples!((A 0, B 1) (A 0, B 1, C 2) (A 0, B 1, C 2, D 3));
