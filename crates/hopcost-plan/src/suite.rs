//! Suite files: TOML that expands to cases. docs/suites.md describes the format.

use std::collections::BTreeMap;

use hopcost_model::{Axis, TrialShape, Unit};
use serde::Deserialize;
use toml::{Spanned, Value};

use crate::ask::{Range, Selector, Values, axis_keys};
use crate::error::{Result, Source, plain, quote, unknown};
use crate::shipped::{SHIPPED, Shown};
use crate::time::{
    BUDGET, COUNTED_MAX, MEASURE, OPERATIONS, OPERATIONS_MAX, ROUNDS, TRIAL_DEFAULT, Time,
    deadline_ms, measure_for,
};

/// Most names and values in a suite, counted once for every selector that they are said of: a
/// megabyte of nested lists could otherwise stand for gigabytes.
const SIZE_MAX: usize = 200_000;

/// A parsed suite; its mechanisms and parameters are not looked up yet.
#[derive(Debug, Clone)]
pub struct Suite {
    pub name: String,
    /// What it is for, in a sentence.
    pub about: String,
    pub(crate) time: Time,
    pub(crate) baseline: Option<Selector>,
    /// The selectors of each `[[cases]]`, the keys beside `select` laid under their own: a key must
    /// mean something to at least one of them.
    pub(crate) cases: Vec<Vec<Selector>>,
}

/// Keys of what is measured.
const MEASURED: [&str; 7] = ["name", "about", "rounds", "budget", "baseline", "trial", "cases"];
/// Keys of what reports show of it, which are read from shipped suites alone.
const SHOWN: [&str; 3] = ["published", "label", "export"];

/// What is measured, as a file has it.
#[derive(Deserialize)]
struct File {
    name: Spanned<String>,
    #[serde(default)]
    about: String,
    rounds: Option<Spanned<Value>>,
    budget: Option<Spanned<Value>>,
    baseline: Option<Spanned<String>>,
    #[serde(default)]
    trial: Table,
    #[serde(default)]
    cases: Vec<Spanned<Table>>,
}

/// Values by their keys, both with their places.
type Table = BTreeMap<Spanned<String>, Spanned<Value>>;

/// A number of `[trial]`: its key, its range, and where it goes.
type TrialKey = (&'static str, Range, fn(&mut TrialShape, u64));
/// Those of `[trial]`.
const TRIAL: [TrialKey; 6] = [
    ("measure", MEASURE, measure_for),
    ("operations", OPERATIONS, |shape, n| shape.operations = Some(n)),
    ("warm-up", Range(Unit::Time, 0, 10_000_000_000), |shape, ns| shape.warm_up_ns = ns),
    ("warm-up-operations", Range(Unit::Count, 0, OPERATIONS_MAX), |shape, n| {
        shape.warm_up_operations = Some(n);
    }),
    ("count-system-calls", Range(Unit::Count, 0, COUNTED_MAX), |shape, n| {
        shape.counted_operations = n;
    }),
    ("deadline", Range(Unit::Time, 100_000_000, 600_000_000_000), |shape, ns| {
        shape.deadline_ms = ns / 1_000_000;
    }),
];

/// Parses a suite. `file` only names it in errors.
pub fn parse_suite(file: &str, text: &str) -> Result<Suite> {
    let source = Source::new(file, text).checked("suite", &[&MEASURED[..], &SHOWN].concat())?;
    let file: File = source.read()?;
    source.check_name(&file.name)?;
    // The form of what reports would show of the cases.
    source.read::<Shown>()?;
    let number = |value: &Option<Spanned<Value>>, key: &str, range: Range| {
        value.as_ref().map(|value| source.number(value, key, range)).transpose()
    };
    let rounds = number(&file.rounds, "rounds", ROUNDS)?;
    let baseline = file.baseline.map(|text| {
        let origin = source.of(&text, "baseline");
        Selector::parse_at(text.get_ref(), origin)
    });
    Ok(Suite {
        name: file.name.into_inner(),
        about: plain(&file.about),
        time: Time {
            rounds: rounds.and_then(|n| u32::try_from(n).ok()),
            budget_ns: number(&file.budget, "budget", BUDGET)?,
            trial: source.trial(&file.trial)?,
            measure_said: file.trial.contains_key("measure"),
        },
        baseline: baseline.transpose()?,
        cases: source.cases(&file.cases)?,
    })
}

impl Source {
    fn number(&self, value: &Spanned<Value>, key: &str, range: Range) -> Result<u64> {
        let number = scalar(value.get_ref()).and_then(|text| range.parse(&text));
        let number = number.and_then(|number| range.check(number));
        number.map_err(|message| self.of(value, key).error(message))
    }

    fn check_name(&self, name: &Spanned<String>) -> Result<()> {
        let refuse = |message: &str| {
            let message = format!("{} is {message}", quote(name.get_ref()));
            Err(self.of(name, "name").error(message))
        };
        if !is_name(name.get_ref()) {
            return refuse("not a name: use up to 100 of a-z 0-9 - _ .");
        }
        // Reports know a shipped suite by its name, and would give its labels to another's cases.
        let is_shipped =
            |(shipped, text): &(&str, &str)| shipped == name.get_ref() && *text != self.text;
        if SHIPPED.iter().any(is_shipped) {
            return refuse("a suite of hopcost's own, and this is another; give it another name");
        }
        Ok(())
    }

    /// The trial's shape.
    fn trial(&self, table: &Table) -> Result<TrialShape> {
        let mut shape = TRIAL_DEFAULT;
        for (key, value) in table {
            let Some((key, range, set)) = TRIAL.iter().find(|(known, ..)| known == key.get_ref())
            else {
                let known = TRIAL.map(|(known, ..)| known);
                let message = unknown("key", key.get_ref(), &known);
                return Err(self.of(key, "trial").error(message));
            };
            set(&mut shape, self.number(value, &format!("trial.{key}"), *range)?);
        }
        if !table.contains_key("deadline") {
            shape.deadline_ms = deadline_ms(&shape);
        }
        Ok(shape)
    }

    fn cases(&self, groups: &[Spanned<Table>]) -> Result<Vec<Vec<Selector>>> {
        let (mut all, mut size) = (Vec::new(), 0);
        for group in groups {
            all.push(self.selectors(group, &mut size)?);
        }
        if all.is_empty() {
            let message = "no cases; add a [[cases]] with select = \"roundtrip/pipe\"";
            return Err(self.at(self.text.len(), "").error(message));
        }
        Ok(all)
    }

    /// A `[[cases]]` has `select`; the other keys are common to all that it selects. `size` is that of
    /// the suite so far.
    fn selectors(&self, group: &Spanned<Table>, size: &mut usize) -> Result<Vec<Selector>> {
        let (mut common, mut select) = (Values::default(), None);
        for (key, value) in group.get_ref() {
            let origin = self.of(value, &format!("cases.{}", plain(key.get_ref())));
            let list = list(value.get_ref());
            match key.get_ref().as_str() {
                "select" => select = Some((list.map_err(|message| origin.error(message))?, origin)),
                name if Axis::of_key(name).is_some() => {
                    let set = list.and_then(|list| common.set(name, &list.join(",")));
                    set.map_err(|message| origin.error(message))?;
                }
                name => {
                    let known: Vec<&str> = ["select"].into_iter().chain(axis_keys()).collect();
                    let mut message = unknown("key", name, &known);
                    if !message.contains("did you mean") {
                        message.push_str("; a mechanism's own go into `select`");
                    }
                    return Err(self.of(key, "cases").error(message));
                }
            }
        }
        let Some((select, origin)) = select else {
            return Err(self.of(group, "cases").error("has no `select`; add one"));
        };
        let mut selectors = Vec::new();
        for text in select {
            let own = Selector::parse_at(&text, origin.clone())?;
            let selector = Selector { values: own.values.over(&common), ..own };
            *size += selector.mechanisms.len() + selector.values.size();
            if *size > SIZE_MAX {
                let message = format!(
                    "up to here the suite has {size} names and values, {SIZE_MAX} at most; shorten it"
                );
                return Err(selector.origin.error(message));
            }
            selectors.push(selector);
        }
        Ok(selectors)
    }
}

fn scalar(value: &Value) -> Result<String, String> {
    match value {
        Value::String(text) => Ok(text.clone()),
        Value::Integer(number) => Ok(number.to_string()),
        other => {
            Err(format!("is of type {}; want a text, a number or a list of them", other.type_str()))
        }
    }
}

/// A text, a number or a list of them, as texts.
fn list(value: &Value) -> Result<Vec<String>, String> {
    match value {
        Value::Array(items) if items.is_empty() => {
            Err("is an empty list; leave it out or fill it".to_owned())
        }
        Value::Array(items) => items.iter().map(scalar).collect(),
        one => Ok(vec![scalar(one)?]),
    }
}

/// Whether it may name a suite or a file.
pub(crate) fn is_name(text: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    !text.is_empty() && text.len() <= 100 && text.chars().all(fits)
}
