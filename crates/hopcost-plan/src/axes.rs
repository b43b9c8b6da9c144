//! The axes of a case as they were asked for: a list of values for each key that
//! was given, nothing for those that were not.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::str::FromStr;

use hopcost_model::case::{
    Ack, Boundary, Case, CaseError, IdleKnob, Placement, Runtimes, Sched, WaitKind, Waits, Workload,
};
use hopcost_model::units::{parse_duration_ns, parse_size};

use crate::error::{quote, unknown};

/// The keys that every mechanism understands, in the order of a case's spelling.
/// `field` is the other way to give the payload of a stream.
pub const KEYS: &[&str] = &[
    "payload",
    "field",
    "fields",
    "flows",
    "ack",
    "gap",
    "boundary",
    "place",
    "wait",
    "spin",
    "idle-knob",
    "sched",
    "runtime",
];

/// Fields of a message at most: what one `sendmsg` takes (IOV_MAX, limits.h).
const FIELDS_MAX: u32 = 1024;
/// Flows of a stream at most: each has a thread at either end.
const FLOWS_MAX: u32 = 64;
/// The longest gap between two wake-ups.
const GAP_MAX_NS: u64 = 10_000_000_000;

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
    /// Bytes of a message.
    pub payload: Option<Vec<u32>>,
    /// Bytes of one field of a stream's message. Where it is given, a payload
    /// comes from a layer below and is not meant for streams.
    pub field: Option<Vec<u32>>,
    /// Fields of a message.
    pub fields: Option<Vec<u32>>,
    /// Connections of a stream.
    pub flows: Option<Vec<u32>>,
    /// When a stream's receiver acknowledges.
    pub ack: Option<Vec<Ack>>,
    /// Gaps before a wake-up, ns.
    pub gap: Option<Vec<u64>>,
    /// Boundaries.
    pub boundary: Option<Vec<Boundary>>,
    /// Placements.
    pub place: Option<Vec<Place>>,
    /// Waits of both ends.
    pub wait: Option<Vec<Waits>>,
    /// Budgets of spin-then-block, ns.
    pub spin: Option<Vec<u64>>,
    /// What keeps the CPU of a wake-up's receiver from idling deeply.
    pub idle_knob: Option<Vec<IdleKnob>>,
    /// Scheduling policies.
    pub sched: Option<Vec<Sched>>,
    /// What the ends are written in.
    pub runtime: Option<Vec<Runtimes>>,
    /// Values of the mechanism's own parameters.
    pub parameters: BTreeMap<String, Vec<String>>,
}

impl Axes {
    /// Takes a comma list for a key; any key that is not one of [`KEYS`] is kept
    /// as a parameter, to be judged when the mechanism is known.
    pub fn set(&mut self, key: &str, list: &str) -> Result<(), String> {
        match key {
            "payload" => self.payload = Some(each(list, |v| size(v, "payload"))?),
            "field" => self.field = Some(each(list, field)?),
            "fields" => self.fields = Some(each(list, |v| whole(v, "fields", FIELDS_MAX))?),
            "flows" => self.flows = Some(each(list, |v| whole(v, "flows", FLOWS_MAX))?),
            "ack" => self.ack = Some(each(list, |v| Ack::from_str(v).map_err(line))?),
            "gap" => self.gap = Some(each(list, gap)?),
            "boundary" => self.boundary = Some(each(list, |v| word(v, Boundary::ALL))?),
            "place" => self.place = Some(each(list, place)?),
            "wait" => self.wait = Some(each(list, waits)?),
            "spin" => self.spin = Some(each(list, nanoseconds)?),
            "idle-knob" => self.idle_knob = Some(each(list, |v| word(v, IdleKnob::ALL))?),
            "sched" => self.sched = Some(each(list, |v| Sched::from_str(v).map_err(line))?),
            "runtime" => {
                self.runtime = Some(each(list, |v| Runtimes::from_str(v).map_err(line))?);
            }
            _ => {
                let values = each(list, |v| Ok(v.to_owned()))?;
                self.parameters.insert(key.to_owned(), values);
            }
        }
        Ok(())
    }

    /// Refuses two ways of saying the same in one place.
    pub fn check(&self) -> Result<(), String> {
        match (&self.payload, &self.field) {
            (Some(_), Some(_)) => Err("`payload` and `field` both say how large a message is; \
                                       give the bytes of a message or of one field"
                .to_owned()),
            _ => Ok(()),
        }
    }

    /// Lays these over `below`: a key that is given here replaces the one there.
    pub fn over(&self, below: &Axes) -> Axes {
        let mut parameters = below.parameters.clone();
        parameters.extend(self.parameters.iter().map(|(k, v)| (k.clone(), v.clone())));
        Axes {
            payload: self.payload.clone().or_else(|| below.payload.clone()),
            // A payload given here replaces the field below; a field given here
            // leaves the payload below to those cases that have no fields.
            field: match &self.payload {
                Some(_) => self.field.clone(),
                None => self.field.clone().or_else(|| below.field.clone()),
            },
            fields: self.fields.clone().or_else(|| below.fields.clone()),
            flows: self.flows.clone().or_else(|| below.flows.clone()),
            ack: self.ack.clone().or_else(|| below.ack.clone()),
            gap: self.gap.clone().or_else(|| below.gap.clone()),
            boundary: self.boundary.clone().or_else(|| below.boundary.clone()),
            place: self.place.clone().or_else(|| below.place.clone()),
            wait: self.wait.clone().or_else(|| below.wait.clone()),
            spin: self.spin.clone().or_else(|| below.spin.clone()),
            idle_knob: self.idle_knob.clone().or_else(|| below.idle_knob.clone()),
            sched: self.sched.clone().or_else(|| below.sched.clone()),
            runtime: self.runtime.clone().or_else(|| below.runtime.clone()),
            parameters,
        }
    }

    /// The keys that were given.
    pub fn keys(&self) -> Vec<&str> {
        let given = [
            self.payload.is_some(),
            self.field.is_some(),
            self.fields.is_some(),
            self.flows.is_some(),
            self.ack.is_some(),
            self.gap.is_some(),
            self.boundary.is_some(),
            self.place.is_some(),
            self.wait.is_some(),
            self.spin.is_some(),
            self.idle_knob.is_some(),
            self.sched.is_some(),
            self.runtime.is_some(),
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
        let field = case.payload_bytes.zip(case.fields).map(|(bytes, n)| bytes / n.max(1));
        let knob = (case.workload == Workload::Wake).then_some(case.idle_knob);
        has(&self.payload, case.payload_bytes)
            && has(&self.field, field)
            && has(&self.fields, case.fields)
            && has(&self.flows, case.flows)
            && has(&self.ack, case.ack)
            && has(&self.gap, case.gap_ns)
            && has(&self.idle_knob, knob)
            && has(&self.boundary, case.waits.map(|_| case.boundary))
            && has(&places, case.placement)
            && has(&self.wait, case.waits)
            && has(&self.spin, case.spin_budget_ns)
            && has(&self.sched, Some(case.sched))
            && has(&self.runtime, Some(case.runtimes.clone()))
            && parameters.all(|(k, all)| case.parameters.get(k).is_some_and(|v| all.contains(v)))
    }

    /// How many values were given, on all axes together.
    pub fn size(&self) -> usize {
        fn length<T>(list: &Option<Vec<T>>) -> usize {
            list.as_ref().map_or(0, Vec::len)
        }
        length(&self.payload)
            + length(&self.field)
            + length(&self.fields)
            + length(&self.flows)
            + length(&self.ack)
            + length(&self.gap)
            + length(&self.idle_knob)
            + length(&self.boundary)
            + length(&self.place)
            + length(&self.wait)
            + length(&self.spin)
            + length(&self.sched)
            + length(&self.runtime)
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

fn size(text: &str, what: &str) -> Result<u32, String> {
    let bytes = parse_size(text).map_err(line)?;
    u32::try_from(bytes).map_err(|_| {
        format!("{what} {} is over the {} bytes that any message may have", quote(text), u32::MAX)
    })
}

fn field(text: &str) -> Result<u32, String> {
    match size(text, "field")? {
        0 => Err("a field of 0 bytes carries nothing; want 1 byte or more".to_owned()),
        bytes => Ok(bytes),
    }
}

/// A whole number from 1 on.
fn whole(text: &str, key: &str, most: u32) -> Result<u32, String> {
    let number = text.parse().ok().filter(|n| (1..=most).contains(n));
    number.ok_or_else(|| {
        format!("{} is not a value for `{key}`: want a whole number from 1 to {most}", quote(text))
    })
}

fn gap(text: &str) -> Result<u64, String> {
    match nanoseconds(text)? {
        ns if ns > GAP_MAX_NS => Err(format!("gap {} is over the 10s at most", quote(text))),
        ns => Ok(ns),
    }
}

/// Nanoseconds where no unit is given, since that is how a case is spelled.
fn nanoseconds(text: &str) -> Result<u64, String> {
    match text.parse() {
        Ok(ns) => Ok(ns),
        Err(_) => parse_duration_ns(text).map_err(line),
    }
}
