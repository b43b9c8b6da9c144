//! Values by the key of an axis or of a mechanism's own parameter: what a selector, a suite or an
//! option gives.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::str::FromStr;

use hopcost_model::axis::{AXES, Axis, Kind, Unit, Value};
use hopcost_model::case::{Case, CaseError, Placement};
use hopcost_model::units::{Rate, parse_duration_ns, parse_size};

use crate::error::{plain, quote, unknown};

/// The placement that stands for the nearest two CPUs of a machine, and is in no case.
pub(crate) const CROSS: Value = Value::word("cross");

/// A list of values for each key that was given.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Values(BTreeMap<String, Vec<Value>>);

impl Values {
    /// Takes a comma list for a key. Any key that is not of an axis is a parameter, which is judged
    /// when the mechanism is known. A value that is written twice is meant once.
    pub fn set(&mut self, key: &str, list: &str) -> Result<(), String> {
        let (mut seen, mut values) = (BTreeSet::new(), Vec::new());
        for text in list.split(',').map(str::trim) {
            let read = match Axis::of_key(key) {
                _ if text.is_empty() => {
                    return Err("a value is empty; separate values by single commas".to_owned());
                }
                Some(axis) => read_all(axis, text)?,
                None => vec![Value::Word(text.to_owned().into())],
            };
            values.extend(read.into_iter().filter(|value| seen.insert(value.clone())));
        }
        self.0.insert(key.to_owned(), values);
        if self.has("payload") && self.has("field") {
            return Err("`payload` and `field` both say how large a message is; \
                        give the bytes of a message or of one field"
                .to_owned());
        }
        Ok(())
    }

    /// The values of a key, if any were given.
    pub fn get(&self, key: &str) -> Option<&[Value]> {
        self.0.get(key).map(Vec::as_slice)
    }

    pub fn has(&self, key: &str) -> bool {
        self.0.contains_key(key)
    }

    /// What the values of a key stand for.
    pub fn parsed<T: FromStr>(&self, key: &str) -> Option<Vec<T>> {
        Some(self.get(key)?.iter().filter_map(Value::parsed).collect())
    }

    /// Lays these over `below`: a key that is given here replaces the one there. A payload
    /// given here replaces the field below; a field given here leaves the payload below to
    /// those cases that have no fields.
    pub fn over(&self, below: &Values) -> Values {
        let mut both = below.clone();
        if self.has("payload") {
            both.0.remove("field");
        }
        both.0.extend(self.0.clone());
        both
    }

    /// The keys that were given.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// The keys that were given and are of no axis.
    pub fn parameters(&self) -> impl Iterator<Item = &str> {
        self.keys().filter(|key| Axis::of_key(key).is_none())
    }

    /// The keys that were given several values.
    pub fn swept(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter(|(_, all)| all.len() > 1).map(|(key, _)| key.as_str())
    }

    /// Whether a case has one of the values given, for every key that was; `is_cross` says
    /// whether a placement is what `cross` stands for.
    pub fn admit(&self, case: &Case, is_cross: &dyn Fn(Placement) -> bool) -> bool {
        self.0.iter().all(|(key, asked)| match Axis::of_key(key) {
            None => case.parameters.get(key).is_some_and(|has| {
                asked.iter().any(|value| matches!(value, Value::Word(word) if word == has))
            }),
            Some(axis) => axis.get(case).is_some_and(|has| {
                asked.contains(&has)
                    || asked.contains(&CROSS) && case.placement.is_some_and(is_cross)
            }),
        })
    }

    /// How many values were given, of all keys together.
    pub fn size(&self) -> usize {
        self.0.values().map(Vec::len).sum()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// The keys of all axes.
pub(crate) fn axis_keys() -> impl Iterator<Item = &'static str> {
    AXES.iter().map(|axis| axis.key)
}

fn line(error: impl fmt::Display) -> String {
    plain(&error.to_string())
}

/// An error of the model, with a suggestion where a word is not one of those known.
pub(crate) fn suggest(error: CaseError) -> String {
    match error {
        CaseError::Word { what, got, mut known } => {
            if what == "place" {
                known.insert(0, "cross");
            }
            unknown(what, &got, &known)
        }
        other => line(other),
    }
}

/// The values of a text: its own, or those of a range `64..64KiB`: both ends, and the powers
/// between them; of rates, which are round in the decimal system, the first times those powers.
pub(crate) fn read_all(axis: &Axis, text: &str) -> Result<Vec<Value>, String> {
    let (Some((first, last)), Kind::Number(unit, ..)) = (text.split_once(".."), axis.kind) else {
        return Ok(vec![read(axis, text)?]);
    };
    let factor = match unit {
        Unit::Bytes => 4,
        Unit::Count | Unit::Rate => 2,
        Unit::Time => 10,
    };
    let wrong = |why: &str| {
        format!(
            "the range {} {why}; write SMALLEST..LARGEST, as in 64..4KiB or 1us..1ms",
            quote(text)
        )
    };
    let (first, last) = (first.trim(), last.trim());
    if first.is_empty() || last.is_empty() {
        return Err(wrong("has one end"));
    }
    let (first, last) = (read(axis, first)?, read(axis, last)?);
    if first >= last {
        return Err(wrong("does not rise"));
    }
    let from = first.rate().map_or(1, Rate::in_thousandths);
    let powers = std::iter::successors(Some(from), |power| power.checked_mul(factor));
    let value = |number| match unit {
        Unit::Rate => Value::Rate(Rate::thousandths(number)),
        Unit::Bytes | Unit::Count | Unit::Time => Value::Number(number),
    };
    let between = powers.map(value).skip_while(|value| *value <= first);
    let between = between.take_while(|value| *value < last);
    Ok([first.clone()].into_iter().chain(between).chain([last.clone()]).collect())
}

/// A value as people write it: with units, and with words that are misspelt a little.
fn read(axis: &Axis, text: &str) -> Result<Value, String> {
    let (unit, least, most) = match axis.kind {
        Kind::Word(_) if axis.key == "place" && text == "cross" => return Ok(CROSS),
        Kind::Word(read) => return read(text).map_err(suggest),
        Kind::Number(unit, least, most) => (unit, least, most),
    };
    let (number, range) = match unit {
        Unit::Bytes => (parse_size(text).map(Some), format!("{least} to {most} bytes")),
        Unit::Count => (Ok(text.parse().ok()), format!("a whole number from {least} to {most}")),
        Unit::Rate => {
            let ends = [least, most].map(Rate::thousandths);
            let rate = text.parse().map(|rate: Rate| Some(rate.in_thousandths()));
            (rate, format!("{} to {} messages a second", ends[0], ends[1]))
        }
        Unit::Time => {
            (parse_duration_ns(text).map(Some), format!("up to {} s", most / 1_000_000_000))
        }
    };
    let number = number.map_err(line)?.filter(|number| (least..=most).contains(number));
    let refused = || format!("{} is not a value for `{}`: want {range}", quote(text), axis.key);
    let number = number.ok_or_else(refused)?;
    Ok(match unit {
        Unit::Rate => Value::Rate(Rate::thousandths(number)),
        Unit::Bytes | Unit::Count | Unit::Time => Value::Number(number),
    })
}
