//! Errors of asking: each is one line that says what is wrong, where, and what
//! to do. All of them are usage errors. The text of a suite or a claims file knows the places of its mistakes.

use std::fmt;

use hopcost_model::text::is_plain;
use serde::de::DeserializeOwned;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Why an [`Ask`](crate::Ask) is not a plan.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {message}")]
pub struct PlanError {
    /// The selector or the option as written, or the file with line and column, both from 1, the column in
    /// bytes.
    place: String,
    /// What is wrong and what to do.
    pub(crate) message: String,
}

/// What was asked for, or why there is none.
pub type Result<T, E = PlanError> = std::result::Result<T, E>;

impl PlanError {
    /// Nothing that was asked for can be measured here.
    pub(crate) fn nothing_left(message: String) -> Self {
        Self { place: "nothing is left to measure".to_owned(), message }
    }
}

/// Where something was asked for; turns a message into an error.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Origin {
    place: String,
    /// The key in a file, or nothing.
    key: String,
}

impl Origin {
    /// An option by its name (`--payload`).
    pub fn option(name: &str) -> Self {
        Self { place: name.to_owned(), key: String::new() }
    }
    /// A selector as written.
    pub fn selector(text: &str) -> Self {
        Self::option(&format!("selector {}", quote(text)))
    }
    /// The error with this message at this place.
    pub fn error(&self, message: impl Into<String>) -> PlanError {
        let key = if self.key.is_empty() { String::new() } else { format!("{}: ", self.key) };
        PlanError { place: self.place.clone(), message: key + &message.into() }
    }
}

/// What was written, in backquotes: cut short and without control characters,
/// so that an error stays one readable line whatever the input was.
pub(crate) fn quote(text: &str) -> String {
    const KEPT: usize = 60;
    let mut out = String::from("`");
    for (i, c) in text.chars().enumerate() {
        if i == KEPT {
            out.push('…');
            break;
        }
        if is_plain(c) { out.push(c) } else { out.extend(c.escape_unicode()) }
    }
    out.push('`');
    out
}

/// Without control characters and marks that turn the direction of writing.
pub(crate) fn plain(text: &str) -> String {
    text.chars().map(|c| if is_plain(c) { c } else { ' ' }).collect()
}

/// A list as messages have it.
pub(crate) fn words<T: fmt::Display>(all: &[T]) -> String {
    match all {
        [] => "none".to_owned(),
        _ => all.iter().map(T::to_string).collect::<Vec<_>>().join(", "),
    }
}

/// `unknown WHAT `got`; did you mean `near`?`, or the list if nothing is near.
pub fn unknown(what: &str, got: &str, known: &[&str]) -> String {
    match nearest(got, known) {
        Some(near) => format!("unknown {what} {}; did you mean `{near}`?", quote(got)),
        None if known.is_empty() => format!("unknown {what} {}", quote(got)),
        None => format!("unknown {what} {}; known: {}", quote(got), known.join(", ")),
    }
}

/// The known word that is a plausible slip away from what was written: a few
/// letters, or a beginning (`placement` for `place`).
pub fn nearest<'a>(got: &str, known: &[&'a str]) -> Option<&'a str> {
    if got.len() > 100 {
        return None;
    }
    let length = got.chars().count();
    let begins = |word: &str| length >= 2 && (word.starts_with(got) || got.starts_with(word));
    known
        .iter()
        .map(|word| (strsim::damerau_levenshtein(got, word), *word))
        .filter(|(distance, word)| {
            let shorter = length.min(word.chars().count());
            let slip = *distance <= 1.max(shorter / 3) && *distance < shorter;
            slip || begins(word)
        })
        .min_by_key(|(distance, word)| (*distance, !begins(word)))
        .map(|(_, word)| word)
}

/// The text of a suite or a claims file, which gives the places of errors.
pub(crate) struct Source {
    /// Name, without control characters.
    file: String,
    pub text: String,
    /// Bytes at which lines begin.
    lines: Vec<usize>,
}

/// Longest file, in bytes.
const LENGTH_MAX: usize = 1 << 20;

impl Source {
    /// A text; `file` names it in errors.
    pub fn new(file: &str, text: &str) -> Self {
        let after = text.match_indices('\n').map(|(at, _)| at + 1);
        let lines = std::iter::once(0).chain(after).collect();
        Self { file: plain(file), text: text.to_owned(), lines }
    }

    /// Refuses what is not TOML, hides characters or has another key than these; `kind` names
    /// what it is when it is too long.
    pub fn checked(self, kind: &str, keys: &[&str]) -> Result<Self> {
        let text = &self.text;
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
        toml::from_str(&self.text).map_err(|error| {
            let start = error.span().map_or(0, |span| span.start);
            self.at(start, "").error(plain(error.message()))
        })
    }

    /// The place of a byte of the file.
    pub fn at(&self, byte: usize, key: &str) -> Origin {
        let line = self.lines.partition_point(|start| *start <= byte);
        let column = byte + 1 - self.lines[line - 1];
        Origin { place: format!("{}:{line}:{column}", self.file), key: key.to_owned() }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_recognised_and_strangers_are_not() {
        assert_eq!(nearest("pip", &["fifo", "pipe"]), Some("pipe"));
        assert_eq!(nearest("unix-steam", &["unix-stream", "unix-dgram"]), Some("unix-stream"));
        assert_eq!(nearest("rountrip", &["call", "roundtrip"]), Some("roundtrip"));
        assert_eq!(nearest("placement", &["boundary", "place"]), Some("place"));
        assert_eq!(nearest("of", &["on", "off"]), Some("off"));
        assert_eq!(nearest("zeromq", &["pipe", "tcp", "futex"]), None);
        assert_eq!(nearest("x", &["tcp", "udp"]), None);
        assert_eq!(nearest("", &["a"]), None);
        assert!(unknown("wait", "foo", &["block", "spin"]).contains("known: block, spin"));
    }

    #[test]
    fn a_quotation_is_one_short_line() {
        let quoted = quote(&"a\n\u{1b}[31m".repeat(1000));
        assert!(quoted.len() < 1000 && !quoted.contains(['\n', '\u{1b}']), "{quoted}");
        assert_eq!(plain("a\nb\u{202e}c"), "a b c");
    }
}
