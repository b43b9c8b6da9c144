//! What is asked for: the command line as it was written, and selectors, the one language for saying
//! which cases are meant, on the command line, in suites and in published tables.
//!
//! ```text
//! [workload/]mechanisms[?key=v1,v2&key=…]
//! roundtrip/pipe,tcp?payload=64,4KiB&place=same-cpu,cross&wait=block
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::str::FromStr;

use hopcost_model::units::{parse_duration_ns, parse_size};
use hopcost_model::{AXES, Axis, Case, CaseError, Kind, Placement, Rate, Unit, Value, Workload};
use serde::Deserialize;

use crate::error::{Origin, Result, plain, quote, unknown};

/// What the user asked for. An empty list means the default.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Ask {
    pub suite: Option<SuiteSource>,
    /// Selectors: `[workload/]mechanism[?key=v1,v2&key=…]`.
    pub selectors: Vec<String>,
    /// The options that give values on an axis, by its key; comma lists.
    pub axes: BTreeMap<&'static str, Vec<String>>,
    /// `--rounds`.
    pub rounds: Option<u32>,
    /// `--budget`, in nanoseconds.
    pub budget_ns: Option<u64>,
    /// `--measure`: aimed length of a trial's measured phase, in nanoseconds.
    pub measure_ns: Option<u64>,
    /// `--operations`: exact operations of a trial with two ends; of a stream,
    /// messages of a flow at most.
    pub operations: Option<u64>,
    /// `--seed`, or a fresh one.
    pub seed: u64,
    /// `--cpus`: the caller's, then the callee's; one alone is for `same-cpu`.
    pub cpus: Vec<u32>,
}

/// A suite's or a claims file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SuiteSource {
    /// Its name, for errors.
    pub file: String,
    pub text: String,
}

impl Ask {
    /// Its selectors. Whether their mechanisms exist is seen later.
    pub(crate) fn parsed_selectors(&self) -> Result<Vec<Selector>> {
        let parse = |text: &String| Selector::parse_at(text, Origin::selector(text));
        self.selectors.iter().map(parse).collect()
    }

    /// Its options.
    pub(crate) fn options(&self) -> Result<Values> {
        let mut options = Values::default();
        for (key, lists) in self.axes.iter().filter(|(_, lists)| !lists.is_empty()) {
            let set = options.set(key, &lists.join(","));
            set.map_err(|message| Origin::option(&format!("--{key}")).error(message))?;
        }
        Ok(options)
    }
}

/// Cases that a plan may have: enough for any sweep, and a limit for a slip.
pub const CASES_MAX: usize = 10_000;

/// The error of a plan with more cases than that.
pub(crate) fn too_many(cases: usize) -> String {
    format!("this makes {cases} cases or more; a plan has at most {CASES_MAX}, so shorten a list")
}

/// Longest selector, in bytes.
const LENGTH_MAX: usize = 64 * 1024;
/// A parsed selector.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(try_from = "String")]
pub struct Selector {
    /// None: the first that each mechanism has.
    pub(crate) workloads: Vec<Workload>,
    pub(crate) mechanisms: Vec<Pattern>,
    pub(crate) values: Values,
    /// Where it stands.
    pub(crate) origin: Origin,
}

impl Selector {
    /// Parses a selector. Whether its mechanisms and parameters exist is seen
    /// when it is expanded.
    ///
    /// # Errors
    /// In one line, what is wrong with it.
    pub fn parse(text: &str) -> Result<Selector, String> {
        if text.len() > LENGTH_MAX {
            return Err(format!("longer than {LENGTH_MAX} bytes; write a suite file instead"));
        }
        let (path, query) = match text.split_once('?') {
            Some((path, query)) => (path, Some(query)),
            None => (text, None),
        };
        // A slash may also belong to a test engine's argument (`fault:a/b`).
        let (workloads, mechanisms) = match path.split_once('/') {
            Some((list, mechanisms)) if !list.contains(':') => (workloads(list)?, mechanisms),
            _ => (Vec::new(), path),
        };
        let mechanisms = Pattern::parse(mechanisms)?;
        // The spelling of a case has times in nanoseconds, without their unit.
        let is_case = text.parse::<Case>().is_ok_and(|case| case.id() == text);
        let mut values = Values::default();
        for pair in query.into_iter().flat_map(|query| query.split('&')) {
            let Some((key, list)) = pair.split_once('=').filter(|(key, _)| !key.is_empty()) else {
                return Err(format!("{} is not key=value", quote(pair)));
            };
            if values.has(key) {
                let key = quote(key);
                return Err(format!("{key} is given twice; separate its values by commas"));
            }
            let is_time = Axis::of_key(key)
                .is_some_and(|axis| matches!(axis.kind, Kind::Number(Unit::Time, ..)));
            match is_time && is_case {
                true => values.set(key, &format!("{list}ns"))?,
                false => values.set(key, list)?,
            }
        }
        Ok(Selector { workloads, mechanisms, values, origin: Origin::selector(text) })
    }

    /// The same with where it stands.
    pub(crate) fn parse_at(text: &str, origin: Origin) -> Result<Selector> {
        match Self::parse(text) {
            Ok(selector) => Ok(Selector { origin, ..selector }),
            Err(message) => Err(origin.error(message)),
        }
    }

    /// Whether it means a mechanism, given with a test engine's argument, and a workload,
    /// whatever its keys.
    pub(crate) fn chooses(&self, workload: Workload, mechanism: &str, hidden: bool) -> bool {
        let has = self.workloads.is_empty() || self.workloads.contains(&workload);
        has && self.mechanisms.iter().any(|pattern| pattern.matches(mechanism, hidden))
    }

    /// Whether a case is one that it means, `cross` being any two CPUs.
    pub fn fits(&self, case: &Case) -> bool {
        self.selects(case, false, &|placement| placement.is_two_cpu())
    }

    /// The same where `cross` is what `is_cross` says, and where the mechanism may be a test
    /// engine.
    pub(crate) fn selects(
        &self,
        case: &Case,
        hidden: bool,
        is_cross: &dyn Fn(Placement) -> bool,
    ) -> bool {
        self.chooses(case.workload, &case.mechanism, hidden) && self.values.admit(case, is_cross)
    }

    /// Whether it says what is to be done with the mechanism.
    pub fn says_workload(&self) -> bool {
        !self.workloads.is_empty()
    }

    /// Whether it says what the ends are to be written in.
    pub fn says_runtime(&self) -> bool {
        self.values.has("runtime")
    }
}

impl TryFrom<String> for Selector {
    type Error = String;
    fn try_from(text: String) -> Result<Self, String> {
        Self::parse(&text)
    }
}

fn workloads(list: &str) -> Result<Vec<Workload>, String> {
    list.split(',').map(|text| text.trim().parse().map_err(suggest)).collect()
}

/// One name or glob of mechanisms.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Pattern {
    /// Exactly this mechanism, argument included; an unknown one is an error.
    Name(String),
    /// Every listed mechanism that matches, `*` standing for any characters.
    Glob(String),
}

impl Pattern {
    /// Those of a comma list of names and globs.
    fn parse(text: &str) -> Result<Vec<Pattern>, String> {
        let patterns = text.split(',').map(|one| match one.contains('*') && !one.contains(':') {
            true => Ok(Pattern::Glob(one.to_owned())),
            false if one.is_empty() => {
                Err("a mechanism's name is empty; write for instance roundtrip/pipe".to_owned())
            }
            // A test engine's argument may hold any character.
            false => Ok(Pattern::Name(one.to_owned())),
        });
        let patterns = patterns.collect::<Result<Vec<_>, String>>()?;
        if patterns.len() > CASES_MAX {
            return Err(too_many(patterns.len()));
        }
        Ok(patterns)
    }

    /// Whether it means a mechanism, given with its argument: test engines answer only to
    /// their name.
    pub fn matches(&self, mechanism: &str, hidden: bool) -> bool {
        match self {
            Pattern::Name(text) => *text == mechanism,
            Pattern::Glob(glob) => !hidden && is_match(glob, mechanism),
        }
    }
}

/// Whether a glob stands for a whole name.
fn is_match(glob: &str, name: &str) -> bool {
    let (start, rest) = glob.split_once('*').unwrap_or((glob, ""));
    let (middle, end) = rest.rsplit_once('*').unwrap_or(("", rest));
    let Some(mut left) = name.strip_prefix(start) else { return false };
    for part in middle.split('*') {
        match left.find(part) {
            Some(at) => left = &left[at + part.len()..],
            None => return false,
        }
    }
    left.ends_with(end)
}

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
    let from = if let Value::Rate(rate) = first { rate.in_thousandths() } else { 1 };
    let powers = std::iter::successors(Some(from), |power| power.checked_mul(factor));
    let value = |number| match unit {
        Unit::Rate => Value::Rate(Rate::thousandths(number)),
        Unit::Bytes | Unit::Count | Unit::Time => Value::Number(number),
    };
    let between = powers.map(value).skip_while(|value| *value <= first);
    let between = between.take_while(|value| *value < last);
    Ok([first.clone()].into_iter().chain(between).chain([last.clone()]).collect())
}

/// Which numbers are taken: what they are of, the least and the most.
#[derive(Clone, Copy)]
pub(crate) struct Range(pub Unit, pub u64, pub u64);

impl Range {
    /// A number as people write it, of any size.
    pub fn parse(self, text: &str) -> Result<u64, String> {
        let number = match self.0 {
            Unit::Bytes => parse_size(text),
            Unit::Count => Ok(text.parse().unwrap_or(u64::MAX)),
            Unit::Rate => text.parse().map(Rate::in_thousandths),
            Unit::Time => parse_duration_ns(text),
        };
        number.map_err(line)
    }

    /// Refuses a number beyond it.
    pub fn check(self, number: u64) -> Result<u64, String> {
        let Range(unit, least, most) = self;
        let (rates, seconds) = ([least, most].map(Rate::thousandths), |ns: u64| ns as f64 / 1e9);
        match unit {
            _ if (least..=most).contains(&number) => Ok(number),
            Unit::Bytes => Err(format!("want {least} to {most} bytes")),
            Unit::Count => Err(format!("want a whole number from {least} to {most}")),
            Unit::Rate => Err(format!("want {} to {} messages a second", rates[0], rates[1])),
            Unit::Time => {
                Err(format!("want a duration from {} to {} s", seconds(least), seconds(most)))
            }
        }
    }
}

/// A value as people write it: with units, and with words that are misspelt a little.
fn read(axis: &Axis, text: &str) -> Result<Value, String> {
    let (unit, least, most) = match axis.kind {
        Kind::Word(_) if axis.key == "place" && text == "cross" => return Ok(CROSS),
        Kind::Word(read) => return read(text).map_err(suggest),
        Kind::Number(unit, least, most) => (unit, least, most),
    };
    let range = Range(unit, least, most);
    let refused = |why| format!("{} is not a value for `{}`: {why}", quote(text), axis.key);
    let number = range.check(range.parse(text)?).map_err(refused)?;
    Ok(match unit {
        Unit::Rate => Value::Rate(Rate::thousandths(number)),
        Unit::Bytes | Unit::Count | Unit::Time => Value::Number(number),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_glob_stands_for_whole_names() {
        for (glob, names, others) in [
            ("*", &["", "pipe"][..], &[][..]),
            ("unix-*", &["unix-stream", "unix-"], &["unix", "a-unix-stream"]),
            ("*-stream", &["unix-stream"], &["unix-streams"]),
            ("*i*e*", &["pipe"], &["epi"]),
            ("*ab*abc", &["ababdabc", "ababc"], &["ababdab", "abc"]),
            ("a*a", &["aa", "aba"], &["a", "ab"]),
        ] {
            assert!(names.iter().all(|name| is_match(glob, name)), "{glob}");
            assert!(!others.iter().any(|name| is_match(glob, name)), "{glob}");
        }
        let many = "*a".repeat(100);
        assert!(!is_match(&many, &"a".repeat(99)) && is_match(&many, &"a".repeat(10_000)));
    }
}
