//! The axes of a case as they were asked for: a list of values for each key that
//! was given, nothing for those that were not.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use hopcost_model::axis::{AXES, Axis, Kind, Value};
use hopcost_model::case::{Case, CaseError, Placement, Runtimes};
use hopcost_model::units::{parse_duration_ns, parse_number, parse_size};

use crate::error::{plain, quote, unknown};

/// What was asked for on each axis.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Asked {
    /// By the axis's place in [`AXES`].
    axes: BTreeMap<usize, Vec<Value>>,
    /// Values of the mechanism's own parameters.
    pub(crate) parameters: BTreeMap<String, Vec<String>>,
}

impl Asked {
    /// Takes a comma list for a key; any key that is not of an axis is kept as a
    /// parameter, to be judged when the mechanism is known.
    pub(crate) fn set(&mut self, key: &str, list: &str) -> Result<(), String> {
        match AXES.iter().position(|axis| axis.key == key) {
            Some(at) => {
                self.axes.insert(at, each(list, |text| read_all(&AXES[at], text))?);
            }
            None => {
                let values = each(list, |text| Ok(vec![text.to_owned()]))?;
                self.parameters.insert(key.to_owned(), values);
            }
        }
        Ok(())
    }

    /// The values of an axis, if any were given.
    pub(crate) fn get(&self, key: &str) -> Option<&[Value]> {
        let at = AXES.iter().position(|axis| axis.key == key)?;
        self.axes.get(&at).map(Vec::as_slice)
    }

    /// Those of an axis of numbers of bytes, or of things.
    pub(crate) fn numbers(&self, key: &str) -> Option<Vec<u32>> {
        Some(self.get(key)?.iter().filter_map(Value::number).collect())
    }

    /// What the ends are to be written in.
    pub(crate) fn runtimes(&self) -> Option<Vec<Runtimes>> {
        Some(self.get("runtime")?.iter().filter_map(Value::runtimes).cloned().collect())
    }

    /// Refuses two ways of saying the same in one place.
    pub(crate) fn check(&self) -> Result<(), String> {
        match (self.get("payload"), self.get("field")) {
            (Some(_), Some(_)) => Err("`payload` and `field` both say how large a message is; \
                                       give the bytes of a message or of one field"
                .to_owned()),
            _ => Ok(()),
        }
    }

    /// Lays these over `below`: a key that is given here replaces the one there. A payload
    /// given here replaces the field below; a field given here leaves the payload below to
    /// those cases that have no fields.
    pub(crate) fn over(&self, below: &Asked) -> Asked {
        let mut both = below.clone();
        if self.get("payload").is_some() {
            both.axes.retain(|at, _| AXES[*at].key != "field");
        }
        both.axes.extend(self.axes.clone());
        both.parameters.extend(self.parameters.clone());
        both
    }

    /// The keys that were given.
    pub(crate) fn keys(&self) -> Vec<&str> {
        let axes = self.axes.keys().map(|at| AXES[*at].key);
        axes.chain(self.parameters.keys().map(String::as_str)).collect()
    }

    /// The keys that were given several values.
    pub(crate) fn swept(&self) -> Vec<&str> {
        let axes = self.axes.iter().filter(|(_, all)| all.len() > 1).map(|(at, _)| AXES[*at].key);
        let parameters = self.parameters.iter().filter(|(_, all)| all.len() > 1);
        axes.chain(parameters.map(|(key, _)| key.as_str())).collect()
    }

    /// Whether a case has one of the values given, on every axis that was; `is_cross` says
    /// whether a placement is what `cross` stands for.
    pub(crate) fn admit(&self, case: &Case, is_cross: &dyn Fn(Placement) -> bool) -> bool {
        let axes = self.axes.iter().all(|(at, asked)| {
            let Some(has) = (AXES[*at].get)(case) else { return false };
            asked.iter().any(|value| match value {
                Value::Cross => has.place().is_some_and(is_cross),
                value => *value == has,
            })
        });
        let mut parameters = self.parameters.iter();
        axes && parameters
            .all(|(key, all)| case.parameters.get(key).is_some_and(|value| all.contains(value)))
    }

    /// How many values were given, on all axes together.
    pub(crate) fn size(&self) -> usize {
        let axes: usize = self.axes.values().map(Vec::len).sum();
        axes + self.parameters.values().map(Vec::len).sum::<usize>()
    }

    /// Whether nothing was given.
    pub(crate) fn is_empty(&self) -> bool {
        *self == Asked::default()
    }
}

/// The keys of all axes.
pub(crate) fn axis_keys() -> impl Iterator<Item = &'static str> {
    AXES.iter().map(|axis| axis.key)
}

/// The values of a comma list, each once: what is written twice is meant once,
/// and the lists of words stay as short as the words are few.
fn each<T: Ord + Clone>(
    list: &str,
    parse: impl Fn(&str) -> Result<Vec<T>, String>,
) -> Result<Vec<T>, String> {
    let (mut seen, mut values) = (BTreeSet::new(), Vec::new());
    for text in list.split(',') {
        let read = match text.trim() {
            "" => Err("a value is empty; separate values by single commas".to_owned()),
            text => parse(text),
        }?;
        values.extend(read.into_iter().filter(|value| seen.insert(value.clone())));
    }
    Ok(values)
}

fn line(error: impl fmt::Display) -> String {
    plain(&error.to_string())
}

/// An error of the model, with a suggestion where a word is not one of those known.
pub(crate) fn suggest(error: CaseError, known: &[&str]) -> String {
    match error {
        CaseError::Word { what, got, .. } => unknown(what, &got, known),
        other => line(other),
    }
}

/// What the values of a range are powers of.
fn factor(kind: Kind) -> Option<u64> {
    match kind {
        Kind::Bytes { .. } => Some(4),
        Kind::Count { .. } | Kind::Rate { .. } => Some(2),
        Kind::Time { .. } => Some(10),
        _ => None,
    }
}

/// The values of a text: its own, or those of a range `64..64KiB`: both ends, and the powers
/// between them; of rates, which are round in the decimal system, the first times those powers.
pub(crate) fn read_all(axis: &Axis, text: &str) -> Result<Vec<Value>, String> {
    let (Some((first, last)), Some(factor)) = (text.split_once(".."), factor(axis.kind)) else {
        return Ok(vec![read(axis, text)?]);
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
    let from = first.number().filter(|_| matches!(axis.kind, Kind::Rate { .. })).unwrap_or(1u64);
    let powers = std::iter::successors(Some(from), |power| power.checked_mul(factor));
    let between = powers.map(Value::Number).skip_while(|value| *value <= first);
    let between = between.take_while(|value| *value < last);
    Ok([first.clone()].into_iter().chain(between).chain([last.clone()]).collect())
}

/// A value as people write it: with units, and with words that are misspelt a little.
pub(crate) fn read(axis: &Axis, text: &str) -> Result<Value, String> {
    let key = axis.key;
    match axis.kind {
        Kind::Bytes { least } => {
            let bytes = parse_size(text).map_err(line)?;
            match u32::try_from(bytes) {
                Ok(bytes) if bytes < least => Err(format!(
                    "a {key} of {bytes} bytes carries nothing; want {least} byte or more"
                )),
                Ok(bytes) => Ok(Value::Number(bytes.into())),
                Err(_) => Err(format!(
                    "{key} {} is over the {} bytes that any message may have",
                    quote(text),
                    u32::MAX
                )),
            }
        }
        Kind::Count { most } => {
            let number = text.parse().ok().filter(|n| (1..=most.into()).contains(n));
            number.map(Value::Number).ok_or_else(|| {
                let want = format!("want a whole number from 1 to {most}");
                format!("{} is not a value for `{key}`: {want}", quote(text))
            })
        }
        Kind::Rate { least, most } => {
            let rate = parse_number(text).map_err(line)?;
            match (least.into()..=most.into()).contains(&rate) {
                true => Ok(Value::Number(rate)),
                false => Err(format!(
                    "{} is not a value for `{key}`: want {least} to {most} messages a second",
                    quote(text)
                )),
            }
        }
        Kind::Time { most_ns } => {
            let ns = parse_duration_ns(text).map_err(line)?;
            match ns > most_ns {
                true => Err(format!(
                    "{key} {} is over the {}s at most",
                    quote(text),
                    most_ns / 1_000_000_000
                )),
                false => Ok(Value::Number(ns)),
            }
        }
        Kind::Place if text == "cross" => Ok(Value::Cross),
        kind => kind.read(key, text).map_err(|error| suggest(error, &kind.words())),
    }
}
