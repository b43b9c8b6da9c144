//! The axes of a case as they were asked for: a list of values for each key that
//! was given, nothing for those that were not.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::str::FromStr;

use hopcost_model::case::{Boundary, Case, CaseError, Placement, Sched, WaitKind, Waits};
use hopcost_model::units::{parse_duration_ns, parse_size};

use crate::error::{quote, unknown};

/// The keys that every mechanism understands, in the order of a case's spelling.
pub(crate) const KEYS: &[&str] = &["payload", "boundary", "place", "wait", "spin", "sched"];

/// A placement as asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Place {
    /// By its precise name.
    Named(Placement),
    /// The nearest relation of two CPUs that this machine has.
    Cross,
}

/// What was asked for on each axis.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Axes {
    /// Bytes.
    pub payload: Option<Vec<u32>>,
    /// Boundaries.
    pub boundary: Option<Vec<Boundary>>,
    /// Placements.
    pub place: Option<Vec<Place>>,
    /// Waits of both ends.
    pub wait: Option<Vec<Waits>>,
    /// Budgets of spin-then-block, ns.
    pub spin: Option<Vec<u64>>,
    /// Scheduling policies.
    pub sched: Option<Vec<Sched>>,
    /// Values of the mechanism's own parameters.
    pub parameters: BTreeMap<String, Vec<String>>,
}

impl Axes {
    /// Takes a comma list for a key; any key that is not one of [`KEYS`] is kept
    /// as a parameter, to be judged when the mechanism is known.
    pub fn set(&mut self, key: &str, list: &str) -> Result<(), String> {
        match key {
            "payload" => self.payload = Some(each(list, payload)?),
            "boundary" => self.boundary = Some(each(list, |v| word(v, Boundary::ALL))?),
            "place" => self.place = Some(each(list, place)?),
            "wait" => self.wait = Some(each(list, waits)?),
            "spin" => self.spin = Some(each(list, spin)?),
            "sched" => self.sched = Some(each(list, |v| Sched::from_str(v).map_err(line))?),
            _ => {
                let values = each(list, |v| Ok(v.to_owned()))?;
                self.parameters.insert(key.to_owned(), values);
            }
        }
        Ok(())
    }

    /// Lays these over `below`: a key that is given here replaces the one there.
    pub fn over(&self, below: &Axes) -> Axes {
        let mut parameters = below.parameters.clone();
        parameters.extend(self.parameters.iter().map(|(k, v)| (k.clone(), v.clone())));
        Axes {
            payload: self.payload.clone().or_else(|| below.payload.clone()),
            boundary: self.boundary.clone().or_else(|| below.boundary.clone()),
            place: self.place.clone().or_else(|| below.place.clone()),
            wait: self.wait.clone().or_else(|| below.wait.clone()),
            spin: self.spin.clone().or_else(|| below.spin.clone()),
            sched: self.sched.clone().or_else(|| below.sched.clone()),
            parameters,
        }
    }

    /// The keys that were given.
    pub fn keys(&self) -> Vec<&str> {
        let given = [
            self.payload.is_some(),
            self.boundary.is_some(),
            self.place.is_some(),
            self.wait.is_some(),
            self.spin.is_some(),
            self.sched.is_some(),
        ];
        let fixed = KEYS.iter().zip(given).filter(|(_, given)| *given).map(|(key, _)| *key);
        fixed.chain(self.parameters.keys().map(String::as_str)).collect()
    }

    /// Whether a case has one of the values given, on every axis that was.
    pub fn admit(&self, case: &Case, precise: impl Fn(Place) -> Placement) -> bool {
        fn has<T: PartialEq>(said: &Option<Vec<T>>, value: Option<T>) -> bool {
            said.as_ref().is_none_or(|all| value.is_some_and(|value| all.contains(&value)))
        }
        let places = self.place.as_ref();
        let places = places.map(|all| all.iter().map(|place| precise(*place)).collect());
        let mut parameters = self.parameters.iter();
        has(&self.payload, case.payload_bytes)
            && has(&self.boundary, case.waits.map(|_| case.boundary))
            && has(&places, case.placement)
            && has(&self.wait, case.waits)
            && has(&self.spin, case.spin_budget_ns)
            && has(&self.sched, Some(case.sched))
            && parameters.all(|(k, all)| case.parameters.get(k).is_some_and(|v| all.contains(v)))
    }

    /// How many values were given, on all axes together.
    pub fn size(&self) -> usize {
        fn length<T>(list: &Option<Vec<T>>) -> usize {
            list.as_ref().map_or(0, Vec::len)
        }
        length(&self.payload)
            + length(&self.boundary)
            + length(&self.place)
            + length(&self.wait)
            + length(&self.spin)
            + length(&self.sched)
            + self.parameters.values().map(Vec::len).sum::<usize>()
    }

    /// Whether nothing was given.
    pub fn is_empty(&self) -> bool {
        *self == Axes::default()
    }
}

/// The values of a comma list, each once: what is written twice is meant once,
/// and the lists of words stay as short as the words are few.
fn each<T: Ord + Clone>(
    list: &str,
    parse: impl Fn(&str) -> Result<T, String>,
) -> Result<Vec<T>, String> {
    let (mut seen, mut values) = (BTreeSet::new(), Vec::new());
    for text in list.split(',') {
        let value = match text.trim() {
            "" => Err("a value is empty; separate values by single commas".to_owned()),
            text => parse(text),
        }?;
        if seen.insert(value.clone()) {
            values.push(value);
        }
    }
    Ok(values)
}

fn line(error: impl fmt::Display) -> String {
    crate::error::plain(&error.to_string())
}

/// A word of one of the model's lists, with a suggestion where it is not in it.
pub(crate) fn word<T>(text: &str, all: &[T]) -> Result<T, String>
where
    T: FromStr<Err = CaseError> + fmt::Display,
{
    text.parse().map_err(|error| match error {
        CaseError::Word { what, .. } => {
            let known: Vec<String> = all.iter().map(T::to_string).collect();
            unknown(what, text, &known.iter().map(String::as_str).collect::<Vec<_>>())
        }
        other => line(other),
    })
}

fn place(text: &str) -> Result<Place, String> {
    if text == "cross" {
        return Ok(Place::Cross);
    }
    let known: Vec<&str> =
        ["cross"].into_iter().chain(Placement::ALL.iter().map(|p| p.word())).collect();
    text.parse().map(Place::Named).map_err(|_| unknown("place", text, &known))
}

fn waits(text: &str) -> Result<Waits, String> {
    match text.split_once(':') {
        None => Ok(Waits::both(word(text, WaitKind::ALL)?)),
        Some((caller, callee)) => {
            Ok(Waits { caller: word(caller, WaitKind::ALL)?, callee: word(callee, WaitKind::ALL)? })
        }
    }
}

fn payload(text: &str) -> Result<u32, String> {
    let bytes = parse_size(text).map_err(line)?;
    u32::try_from(bytes).map_err(|_| {
        format!("payload {} is over the {} bytes that any message may have", quote(text), u32::MAX)
    })
}

/// Nanoseconds where no unit is given, since that is how a case is spelled.
fn spin(text: &str) -> Result<u64, String> {
    match text.parse() {
        Ok(ns) => Ok(ns),
        Err(_) => parse_duration_ns(text).map_err(line),
    }
}
