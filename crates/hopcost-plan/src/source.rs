//! Values of a TOML file, each refused with its place if it is of another kind.

use std::sync::Arc;

use hopcost_model::units::parse_duration_ns;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::error::{Origin, PlanError, SourceText, plain, unknown};
use crate::time::{Range, Unit};

pub(crate) type Value<'a> = Spanned<DeValue<'a>>;

/// The text of a suite or a claims file, which gives the places of errors.
pub(crate) struct Source(pub Arc<SourceText>);

/// Longest file, in bytes.
const LENGTH_MAX: usize = 1 << 20;

impl Source {
    /// Parses a file; `kind` names what it is when it is too long, `file` names it in errors.
    pub fn parsed<'t>(
        kind: &str,
        file: &str,
        text: &'t str,
    ) -> Result<(Self, Spanned<DeTable<'t>>), PlanError> {
        let too_long = text.len() > LENGTH_MAX;
        let kept = if too_long { String::new() } else { text.to_owned() };
        let source = Source(Arc::new(SourceText { file: plain(file), text: kept }));
        if too_long {
            let message = format!("longer than the {LENGTH_MAX} bytes that a {kind} may have");
            return Err(source.at(0, "").error(message));
        }
        let strange = |c: char| c.is_control() && !matches!(c, '\t' | '\n' | '\r');
        if let Some((byte, c)) = text.char_indices().find(|(_, c)| strange(*c)) {
            let message = format!("control character U+{:04X}; remove it", u32::from(c));
            return Err(source.at(byte, "").error(message));
        }
        let document = DeTable::parse(text).map_err(|error| {
            let start = error.span().map_or(0, |span| span.start);
            source.at(start, "").error(format!("not TOML: {}", plain(error.message())))
        })?;
        Ok((source, document))
    }

    /// The place of a byte of the file.
    pub fn at(&self, byte: usize, key: &str) -> Origin {
        Origin::File { source: Arc::clone(&self.0), byte, key: key.to_owned() }
    }

    pub fn of(&self, value: &Value, key: &str) -> Origin {
        self.at(value.span().start, key)
    }

    /// Refuses every key that is not known, the first in the file first.
    pub fn only(&self, table: &DeTable, path: &str, known: &[&str]) -> Result<(), PlanError> {
        let strange = table.keys().filter(|key| !known.contains(&key.get_ref().as_ref()));
        match strange.min_by_key(|key| key.span().start) {
            None => Ok(()),
            Some(key) => {
                let mut message = unknown("key", key.get_ref(), known);
                if path == "cases." && !message.contains("did you mean") {
                    message.push_str("; a mechanism's own go into `select`");
                }
                Err(self.at(key.span().start, path.trim_end_matches('.')).error(message))
            }
        }
    }

    pub fn table<'v, 'i>(
        &self,
        value: &'v Value<'i>,
        key: &str,
    ) -> Result<&'v DeTable<'i>, PlanError> {
        match value.get_ref() {
            DeValue::Table(table) => Ok(table),
            other => Err(self.of(value, key).error(wrong("a table", other))),
        }
    }

    pub fn string(&self, value: &Value, key: &str) -> Result<String, PlanError> {
        match value.get_ref() {
            DeValue::String(text) => Ok(text.as_ref().to_owned()),
            other => Err(self.of(value, key).error(wrong("a text in quotes", other))),
        }
    }

    /// A text or a list of texts, each with its place.
    pub fn strings(&self, value: &Value, key: &str) -> Result<Vec<(String, Origin)>, PlanError> {
        let DeValue::Array(array) = value.get_ref() else {
            return Ok(vec![(self.string(value, key)?, self.of(value, key))]);
        };
        if array.is_empty() {
            return Err(self.of(value, key).error("is an empty list; leave it out or fill it"));
        }
        array.iter().map(|item| Ok((self.string(item, key)?, self.of(item, key)))).collect()
    }

    /// A text, a number or a list of them, as one comma list.
    pub fn list(&self, value: &Value, key: &str) -> Result<String, PlanError> {
        let scalar = |value: &Value| match value.get_ref() {
            DeValue::String(text) => Ok(text.as_ref().to_owned()),
            DeValue::Integer(number) if number.radix() == 10 => Ok(number.as_str().to_owned()),
            other => {
                Err(self.of(value, key).error(wrong("a text, a number or a list of them", other)))
            }
        };
        match value.get_ref() {
            DeValue::Array(array) if array.is_empty() => {
                Err(self.of(value, key).error("is an empty list; leave it out or fill it"))
            }
            DeValue::Array(array) => {
                Ok(array.iter().map(scalar).collect::<Result<Vec<_>, _>>()?.join(","))
            }
            _ => scalar(value),
        }
    }

    /// A number in a table, if it is there.
    pub fn number(
        &self,
        table: &DeTable,
        path: &str,
        key: &str,
        range: Range,
    ) -> Result<Option<u64>, PlanError> {
        let Some(value) = table.get(key) else { return Ok(None) };
        let number = match (range.0, value.get_ref()) {
            (Unit::Time, DeValue::String(text)) => {
                parse_duration_ns(text).map_err(|error| plain(&error.to_string()))
            }
            (Unit::Time, other) => Err(wrong("a duration in quotes (\"50ms\")", other)),
            (Unit::Count, DeValue::Integer(n)) => {
                Ok(u64::from_str_radix(n.as_str(), n.radix()).unwrap_or(u64::MAX))
            }
            (Unit::Count, other) => Err(wrong("a whole number without quotes", other)),
        };
        let number = number.and_then(|number| range.check(number));
        let origin = || self.of(value, &format!("{path}{key}"));
        number.map(Some).map_err(|message| origin().error(message))
    }
}

/// Every key and every item of a list below a table, with the path of its key, in the order of
/// the file's tables.
pub(crate) fn walk<'v, 'i>(
    table: &'v DeTable<'i>,
    path: &str,
    each: &mut impl FnMut(usize, &str, &'v Value<'i>),
) {
    for (key, value) in table {
        let path = format!("{path}{}", plain(key.get_ref()));
        each(key.span().start, &path, value);
        walk_value(value, &path, each);
    }
}

fn walk_value<'v, 'i>(
    value: &'v Value<'i>,
    path: &str,
    each: &mut impl FnMut(usize, &str, &'v Value<'i>),
) {
    match value.get_ref() {
        DeValue::Table(table) => walk(table, &format!("{path}."), each),
        DeValue::Array(items) => {
            for item in items {
                each(item.span().start, path, item);
                walk_value(item, path, each);
            }
        }
        _ => {}
    }
}

fn wrong(want: &str, got: &DeValue) -> String {
    format!("is of type {}; want {want}", got.type_str())
}
