//! Suite files: TOML that expands to cases. docs/suites.md describes the format.

use hopcost_model::plan::TrialShape;
use toml::de::{DeTable, DeValue};

use crate::ask::Selector;
use crate::error::{PlanError, plain, quote};
use crate::shipped::{SHIPPED, Shown};
use crate::source::{Source, Value, walk};
use crate::time::{
    BUDGET, COUNTED_MAX, MEASURE, OPERATIONS, OPERATIONS_MAX, ROUNDS, Range, TRIAL_DEFAULT, Time,
    Unit, deadline_ms, measure_for,
};
use crate::values::{Values, axis_keys};

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
const SHOWN: [&str; 7] = ["unit", "claims", "published", "label", "export", "case", "claim"];

/// A number of `[trial]`: its key, its range, and where it goes.
type TrialKey = (&'static str, Range, fn(&mut TrialShape, u64));
/// Those of `[trial]`.
const TRIAL: [TrialKey; 8] = [
    ("measure", MEASURE, measure_for),
    ("measure-max", MEASURE, |shape, ns| shape.measure_max_ns = ns),
    ("operations-min", Range(Unit::Count, 1, 1_000_000_000), |shape, n| shape.operations_min = n),
    ("operations", OPERATIONS, |shape, n| shape.operations = Some(n)),
    ("warm-up", Range(Unit::Time, 0, 10_000_000_000), |shape, ns| shape.warm_up_ns = ns),
    ("warm-up-operations", Range(Unit::Count, 0, OPERATIONS_MAX), |shape, n| {
        shape.warm_up_operations = Some(n);
    }),
    ("count-system-calls", Range(Unit::Count, 0, COUNTED_MAX), |shape, n| {
        shape.counted_operations = n;
    }),
    ("samples-max", Range(Unit::Count, 100, 65_536), |shape, n| shape.samples_max = n as u32),
];
const DEADLINE: Range = Range(Unit::Time, 100_000_000, 600_000_000_000);

/// Parses a suite. `file` only names it in errors.
pub fn parse_suite(file: &str, text: &str) -> Result<Suite, PlanError> {
    let (source, document) = Source::parsed("suite", file, text)?;
    source.suite(document.get_ref())
}

impl Source {
    fn suite(&self, table: &DeTable) -> Result<Suite, PlanError> {
        self.only(table, "", &[&MEASURED[..], &SHOWN[..]].concat())?;
        let name = self.required_name(table)?;
        self.check_shown(table)?;
        let about = table.get("about").map(|value| self.string(value, "about")).transpose()?;
        let rounds = self.number(table, "", "rounds", ROUNDS)?;
        let budget_ns = self.number(table, "", "budget", BUDGET)?;
        let baseline = table.get("baseline").map(|value| {
            Selector::parse_at(&self.string(value, "baseline")?, self.of(value, "baseline"))
        });
        let (trial, measure_said) = match table.get("trial") {
            None => (TRIAL_DEFAULT, false),
            Some(value) => self.trial(value)?,
        };
        Ok(Suite {
            name,
            about: plain(&about.unwrap_or_default()),
            time: Time {
                rounds: rounds.and_then(|n| u32::try_from(n).ok()),
                budget_ns,
                trial,
                measure_said,
            },
            baseline: baseline.transpose()?,
            cases: self.cases(table)?,
        })
    }

    /// Checks the form of what reports would show of the cases.
    fn check_shown(&self, table: &DeTable) -> Result<(), PlanError> {
        toml::from_str::<Shown>(&self.0.text).map(drop).map_err(|error| {
            let start = error.span().map_or(0, |span| span.start);
            let mut last = (0, String::new());
            walk(table, "", &mut |at, path, _| {
                if (last.0..=start).contains(&at) {
                    last = (at, path.to_owned());
                }
            });
            self.at(start, &last.1).error(plain(error.message()))
        })
    }

    fn required_name(&self, table: &DeTable) -> Result<String, PlanError> {
        let Some(value) = table.get("name") else {
            let message = "`name` is missing; write name = \"…\" in the first line";
            return Err(self.at(0, "").error(message));
        };
        let name = self.string(value, "name")?;
        let refuse = |message: &str| {
            Err(self.of(value, "name").error(format!("{} is {message}", quote(&name))))
        };
        if !is_name(&name) {
            return refuse("not a name: use up to 100 of a-z 0-9 - _ .");
        }
        // Reports know a shipped suite by its name, and would give its labels to another's cases.
        if SHIPPED.iter().any(|(shipped, text)| *shipped == name && *text != self.0.text) {
            return refuse("a suite of hopcost's own, and this is another; give it another name");
        }
        Ok(name)
    }

    /// The trial's shape, and whether it says how long to measure.
    fn trial(&self, value: &Value) -> Result<(TrialShape, bool), PlanError> {
        let table = self.table(value, "trial")?;
        let keys = TRIAL.iter().map(|(key, ..)| *key).chain(["deadline"]);
        self.only(table, "trial.", &keys.collect::<Vec<_>>())?;
        let mut shape = TRIAL_DEFAULT;
        for (key, range, set) in TRIAL {
            if let Some(number) = self.number(table, "trial.", key, range)? {
                set(&mut shape, number);
            }
        }
        if let (true, Some(max)) =
            (shape.measure_max_ns < shape.measure_ns, table.get("measure-max"))
        {
            let message = "is shorter than `measure`; make it at least as long";
            return Err(self.of(max, "trial.measure-max").error(message));
        }
        shape.deadline_ms =
            deadline_ms(&shape, self.number(table, "trial.", "deadline", DEADLINE)?);
        Ok((shape, table.contains_key("measure")))
    }

    fn cases(&self, table: &DeTable) -> Result<Vec<Vec<Selector>>, PlanError> {
        let Some(value) = table.get("cases") else {
            let message = "no cases; add a [[cases]] with select = \"roundtrip/pipe\"";
            return Err(self.at(self.0.text.len(), "").error(message));
        };
        let DeValue::Array(array) = value.get_ref() else {
            return Err(self.of(value, "cases").error("write [[cases]], with two brackets"));
        };
        let (mut all, mut size) = (Vec::new(), 0);
        for value in array.iter() {
            all.push(self.selectors(value, &mut size)?);
        }
        if all.is_empty() {
            return Err(self.of(value, "cases").error("is empty; add a [[cases]]"));
        }
        Ok(all)
    }

    /// A `[[cases]]` has `select`; the other keys are common to all that it selects. `size` is that of
    /// the suite so far.
    fn selectors(&self, whole: &Value, size: &mut usize) -> Result<Vec<Selector>, PlanError> {
        let table = self.table(whole, "cases")?;
        let known: Vec<&str> = ["select"].into_iter().chain(axis_keys()).collect();
        self.only(table, "cases.", &known)?;
        let mut common = Values::default();
        for (key, value) in axis_keys().filter_map(|key| Some((key, table.get(key)?))) {
            let path = format!("cases.{key}");
            let list = self.list(value, &path)?;
            common.set(key, &list).map_err(|message| self.of(value, &path).error(message))?;
        }
        let Some(select) = table.get("select") else {
            return Err(self.of(whole, "cases").error("has no `select`; add one"));
        };
        let mut selectors = Vec::new();
        for (text, origin) in self.strings(select, "cases.select")? {
            let own = Selector::parse_at(&text, origin)?;
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

/// Whether it may name a suite or a file.
pub(crate) fn is_name(text: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    !text.is_empty() && text.len() <= 100 && text.chars().all(fits)
}
