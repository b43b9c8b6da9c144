//! The text of a suite or a claims file: what serde makes of it, and the places of mistakes.

use std::sync::Arc;

use hopcost_model::text::is_plain;
use serde::de::DeserializeOwned;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::error::{Origin, Result, SourceText, plain, unknown};

/// The text of a suite or a claims file, which gives the places of errors.
pub(crate) struct Source(pub Arc<SourceText>);

/// Longest file, in bytes.
const LENGTH_MAX: usize = 1 << 20;

impl Source {
    /// A text; `file` names it in errors.
    pub fn new(file: &str, text: &str) -> Self {
        Self(Arc::new(SourceText { file: plain(file), text: text.to_owned() }))
    }

    /// Refuses what is not TOML, hides characters or has another key than these; `kind` names
    /// what it is when it is too long.
    pub fn checked(self, kind: &str, keys: &[&str]) -> Result<Self> {
        let text = &self.0.text;
        if text.len() > LENGTH_MAX {
            let message = format!("longer than the {LENGTH_MAX} bytes that a {kind} may have");
            return Err(self.at(0, "").error(message));
        }
        let strange = |c: char| c.is_control() && !matches!(c, '\t' | '\n' | '\r');
        if let Some((byte, c)) = text.char_indices().find(|(_, c)| strange(*c)) {
            let message = format!("control character U+{:04X}; remove it", u32::from(c));
            return Err(self.at(byte, "").error(message));
        }
        let table = DeTable::parse(text).map_err(|error| {
            let start = error.span().map_or(0, |span| span.start);
            self.at(start, "").error(format!("not TOML: {}", plain(error.message())))
        })?;
        let strange = table.get_ref().keys().filter(|key| !keys.contains(&key.get_ref().as_ref()));
        if let Some(key) = strange.min_by_key(|key| key.span().start) {
            let message = unknown("key", key.get_ref(), keys);
            return Err(self.at(key.span().start, "").error(message));
        }
        if let Some(byte) = table.get_ref().values().find_map(hidden) {
            let message = "has a line break or a character that does not show; remove it";
            return Err(self.at(byte, "").error(message));
        }
        Ok(self)
    }

    /// What serde makes of it.
    pub fn read<T: DeserializeOwned>(&self) -> Result<T> {
        toml::from_str(&self.0.text).map_err(|error| {
            let start = error.span().map_or(0, |span| span.start);
            self.at(start, "").error(plain(error.message()))
        })
    }

    /// The place of a byte of the file.
    pub fn at(&self, byte: usize, key: &str) -> Origin {
        Origin::File { source: Arc::clone(&self.0), byte, key: key.to_owned() }
    }

    /// The place of a value.
    pub fn of<T>(&self, value: &Spanned<T>, key: &str) -> Origin {
        self.at(value.span().start, key)
    }
}

/// The place of a text that does not show as it is.
fn hidden(value: &Spanned<DeValue>) -> Option<usize> {
    match value.get_ref() {
        DeValue::String(text) => {
            let is_shown = text.chars().all(is_plain);
            (!is_shown).then_some(value.span().start)
        }
        DeValue::Array(items) => items.iter().find_map(hidden),
        DeValue::Table(table) => table.values().find_map(hidden),
        _ => None,
    }
}
