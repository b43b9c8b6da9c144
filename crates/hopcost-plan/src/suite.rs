//! Suite files: TOML that expands to cases. docs/suites.md describes the format.

pub(crate) mod value;

use hopcost_model::case::Workload;
use hopcost_model::group::distinct;
use hopcost_model::plan::TrialShape;
use toml::de::{DeTable, DeValue};

use crate::asked::{Asked, axis_keys};
use crate::error::{Origin, PlanError, plain, quote, unknown};
use crate::select::{Pattern, Selector, parse_workloads};
use crate::shipped::{CLAIMS, SHIPPED, shown};
use crate::shown::Shown;
use crate::time::{
    COUNTED_MAX, MEASURE_MAX_NS, MEASURE_MIN_NS, OPERATIONS_MAX, ROUNDS_MAX, TRIAL_DEFAULT, Time,
    deadline_ms,
};
use value::{Source, Value, walk};

/// Most mechanisms named in a suite: one for each case that a plan may have.
const NAMES_MAX: usize = 10_000;
/// Most globs in a suite; each takes a while to compile.
const GLOBS_MAX: usize = 1_000;
/// Most values of a suite, counted once for every selector that they are said of.
const VALUES_MAX: usize = 1_000_000;

/// A parsed suite; its mechanisms and parameters are not looked up yet.
#[derive(Debug, Clone)]
pub struct Suite {
    pub name: String,
    /// What it is for, in a sentence.
    pub about: String,
    pub(crate) time: Time,
    pub(crate) baseline: Option<(Selector, Origin)>,
    pub(crate) entries: Vec<Entry>,
    /// The cases that reports would show something of, in a suite that is not shipped.
    pub(crate) shown: Vec<(Selector, Origin)>,
}

/// One `[[cases]]` of a suite, or one selector of the command line.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    /// What it selects, with the entry's own keys laid under the selector's.
    pub selector: Selector,
    /// Where that stands.
    pub origin: Origin,
    /// Entries of one `[[cases]]` share a number: a key must mean something to
    /// at least one of them.
    pub group: usize,
}

/// The entries so far, kept to what a plan can hold: a megabyte of nested lists
/// could otherwise stand for gigabytes.
#[derive(Default)]
struct Entries {
    all: Vec<Entry>,
    names: usize,
    globs: usize,
    values: usize,
}

impl Entries {
    fn push(&mut self, entry: Entry) -> Result<(), PlanError> {
        let patterns = &entry.selector.mechanisms;
        let globs = patterns.iter().filter(|pattern| matches!(pattern, Pattern::Glob(..))).count();
        self.globs += globs;
        self.names += patterns.len() - globs;
        self.values += entry.selector.asked.size();
        for (count, most, what) in [
            (self.names, NAMES_MAX, "names"),
            (self.globs, GLOBS_MAX, "globs"),
            (self.values, VALUES_MAX, "values"),
        ] {
            if count > most {
                let message =
                    format!("up to here the suite has {count} {what}, {most} at most; shorten it");
                return Err(entry.origin.error(message));
            }
        }
        self.all.push(entry);
        Ok(())
    }
}

/// Parses a suite. `file` only names it in errors.
pub fn parse_suite(file: &str, text: &str) -> Result<Suite, PlanError> {
    let (source, document) = Source::parsed("suite", file, text)?;
    source.suite(document.get_ref())
}

impl Source {
    fn suite(&self, table: &DeTable) -> Result<Suite, PlanError> {
        let measures = ["name", "about", "rounds", "budget", "baseline", "trial", "cases"];
        self.only(
            table,
            "",
            &[
                &measures[..],
                &["unit", "claims", "published", "label", "variance", "export", "case", "claim"],
            ]
            .concat(),
        )?;
        let name = self.required_name(table)?;
        let shown = self.shown(table)?;
        let about = self.text_or_empty(table, "about")?;
        let rounds = self.whole(table, "", "rounds", 1..=u64::from(ROUNDS_MAX))?;
        let budget_ns = self.duration(table, "", "budget", 1_000_000..=MONTH_NS)?;
        let baseline = match table.get("baseline") {
            None => None,
            Some(value) => {
                let origin = self.of(value, "baseline");
                let text = self.string(value, "baseline")?;
                let selector = Selector::parse(&text).map_err(|message| origin.error(message))?;
                Some((selector, origin))
            }
        };
        let (trial, measure_said) = match table.get("trial") {
            None => (TRIAL_DEFAULT, false),
            Some(value) => self.trial(value)?,
        };
        Ok(Suite {
            name,
            about,
            time: Time {
                rounds: rounds.and_then(|n| u32::try_from(n).ok()),
                budget_ns,
                trial,
                until: None,
                measure_said,
            },
            baseline,
            entries: self.entries(table)?,
            shown,
        })
    }

    /// Checks what reports would show of the cases; the reader has it from the shipped suites.
    fn shown(&self, table: &DeTable) -> Result<Vec<(Selector, Origin)>, PlanError> {
        toml::from_str::<Shown>(&self.0.text).map_err(|error| {
            let start = error.span().map_or(0, |span| span.start);
            let mut last = (0, String::new());
            walk(table, "", &mut |at, path, _| {
                if (last.0..=start).contains(&at) {
                    last = (at, path.to_owned());
                }
            });
            self.at(start, &last.1).error(plain(error.message()))
        })?;
        if SHIPPED.iter().any(|(_, text)| *text == self.0.text) {
            return Ok(Vec::new());
        }
        let mut found = Ok(Vec::new());
        walk(table, "", &mut |_, path, value| {
            let (DeValue::String(text), Ok(all)) = (value.get_ref(), &mut found) else { return };
            let origin = self.of(value, path);
            match self.shown_value(path, text) {
                Ok(selector) => all.extend(selector.map(|selector| (selector, origin))),
                Err(message) => found = Err(origin.error(message)),
            }
        });
        let mut found = found?;
        for (selector, origin) in self.claims()?.selectors(self) {
            let selector = Selector::parse(&selector).map_err(|message| origin.error(message))?;
            found.push((selector, origin));
        }
        Ok(found)
    }

    /// Checks a text of a table that says what reports show, and gives the cases that it means.
    fn shown_value(&self, path: &str, text: &str) -> Result<Option<Selector>, String> {
        match path {
            "published.file" => {
                let tables = shown().iter().flat_map(|(_, shown)| &shown.published);
                let known: Vec<&str> = tables.map(|table| table.file.as_str()).collect();
                let message = || unknown("table", text, &distinct(known.iter().copied()));
                if known.contains(&text) { Ok(None) } else { Err(message()) }
            }
            "claims" => {
                let known: Vec<&str> = CLAIMS.iter().map(|(name, _)| *name).collect();
                let message = || unknown("claims file", text, &known);
                if known.contains(&text) { Ok(None) } else { Err(message()) }
            }
            "label.cases" | "variance.cases" => Selector::parse(text).map(Some),
            _ if path.starts_with("export.rows.") => Selector::parse(text).map(Some),
            _ => Ok(None),
        }
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

    fn text_or_empty(&self, table: &DeTable, key: &str) -> Result<String, PlanError> {
        table.get(key).map_or(Ok(String::new()), |value| Ok(plain(&self.string(value, key)?)))
    }

    /// The trial's shape, and whether it says how long to measure.
    fn trial(&self, value: &Value) -> Result<(TrialShape, bool), PlanError> {
        let table = self.table(value, "trial")?;
        let keys = [
            "measure",
            "measure-max",
            "operations-min",
            "operations",
            "warm-up",
            "warm-up-operations",
            "count-system-calls",
            "deadline",
            "samples-max",
        ];
        self.only(table, "trial.", &keys)?;
        let mut shape = TRIAL_DEFAULT;
        let length = MEASURE_MIN_NS..=MEASURE_MAX_NS;
        let measure = self.duration(table, "trial.", "measure", length.clone())?;
        shape.measure_ns = measure.unwrap_or(shape.measure_ns);
        shape.measure_max_ns = self
            .duration(table, "trial.", "measure-max", length)?
            .unwrap_or(shape.measure_max_ns.max(shape.measure_ns.saturating_mul(2)));
        if let (true, Some(max)) =
            (shape.measure_max_ns < shape.measure_ns, table.get("measure-max"))
        {
            let message = "is shorter than `measure`; make it at least as long";
            return Err(self.of(max, "trial.measure-max").error(message));
        }
        if let Some(n) = self.whole(table, "trial.", "operations-min", 1..=1_000_000_000)? {
            shape.operations_min = n;
        }
        if let Some(ns) = self.duration(table, "trial.", "warm-up", 0..=10_000_000_000)? {
            shape.warm_up_ns = ns;
        }
        shape.operations = self.whole(table, "trial.", "operations", 1..=OPERATIONS_MAX)?;
        shape.warm_up_operations =
            self.whole(table, "trial.", "warm-up-operations", 0..=OPERATIONS_MAX)?;
        let counted = self.whole(table, "trial.", "count-system-calls", 0..=COUNTED_MAX)?;
        shape.counted_operations = counted.unwrap_or(0);
        let deadline = self.duration(table, "trial.", "deadline", 100_000_000..=600_000_000_000)?;
        shape.deadline_ms = deadline_ms(&shape, deadline);
        if let Some(n) = self.whole(table, "trial.", "samples-max", 100..=65_536)? {
            shape.samples_max = u32::try_from(n).unwrap_or(shape.samples_max);
        }
        Ok((shape, measure.is_some()))
    }

    fn entries(&self, table: &DeTable) -> Result<Vec<Entry>, PlanError> {
        let Some(value) = table.get("cases") else {
            let message = "no cases; add a [[cases]] with select = \"roundtrip/pipe\"";
            return Err(self.at(self.0.text.len(), "").error(message));
        };
        let DeValue::Array(array) = value.get_ref() else {
            return Err(self.of(value, "cases").error("write [[cases]], with two brackets"));
        };
        let mut entries = Entries::default();
        for (group, value) in array.iter().enumerate() {
            self.entry(self.table(value, "cases")?, value, group, &mut entries)?;
        }
        if entries.all.is_empty() {
            return Err(self.of(value, "cases").error("is empty; add a [[cases]]"));
        }
        Ok(entries.all)
    }

    /// A `[[cases]]` has `select`, or `mechanism` with `workload` beside it; the
    /// other keys are common to all that it selects.
    fn entry(
        &self,
        table: &DeTable,
        whole: &Value,
        group: usize,
        entries: &mut Entries,
    ) -> Result<(), PlanError> {
        let own = ["select", "mechanism", "workload", "parameters"];
        let known: Vec<&str> = own.into_iter().chain(axis_keys()).collect();
        self.only(table, "cases.", &known)?;
        let asked = self.asked(table)?;
        match (table.get("select"), table.get("mechanism")) {
            (Some(select), None) => {
                if let Some(workload) = table.get("workload") {
                    let message = "write the workload into `select`, as in roundtrip/pipe";
                    return Err(self.of(workload, "cases.workload").error(message));
                }
                for (text, origin) in self.strings(select, "cases.select")? {
                    let mut selector = Selector::parse(&text).map_err(|m| origin.error(m))?;
                    selector.asked = selector.asked.over(&asked);
                    entries.push(Entry { selector, origin, group })?;
                }
                Ok(())
            }
            (None, Some(mechanism)) => {
                let workloads = self.workloads(table)?;
                for (text, origin) in self.strings(mechanism, "cases.mechanism")? {
                    let mechanisms = Pattern::parse(&text).map_err(|m| origin.error(m))?;
                    let workloads = workloads.clone();
                    let selector = Selector::of(workloads, mechanisms, asked.clone());
                    entries.push(Entry { selector, origin, group })?;
                }
                Ok(())
            }
            (Some(_), Some(second)) => Err(self
                .of(second, "cases.mechanism")
                .error("stands beside `select`; use one of the two")),
            (None, None) => {
                Err(self.of(whole, "cases").error("has neither `select` nor `mechanism`; add one"))
            }
        }
    }

    fn workloads(&self, table: &DeTable) -> Result<Option<Vec<Workload>>, PlanError> {
        let Some(value) = table.get("workload") else { return Ok(None) };
        let list = self.list(value, "cases.workload")?;
        let origin = self.of(value, "cases.workload");
        parse_workloads(&list).map(Some).map_err(|message| origin.error(message))
    }

    fn asked(&self, table: &DeTable) -> Result<Asked, PlanError> {
        let mut asked = Asked::default();
        for key in axis_keys() {
            if let Some(value) = table.get(key) {
                let path = format!("cases.{key}");
                let list = self.list(value, &path)?;
                asked.set(key, &list).map_err(|message| self.of(value, &path).error(message))?;
            }
        }
        if let (Err(message), Some(field)) = (asked.check(), table.get("field")) {
            return Err(self.of(field, "cases.field").error(message));
        }
        let Some(parameters) = table.get("parameters") else { return Ok(asked) };
        for (name, value) in self.table(parameters, "cases.parameters")? {
            let path = format!("cases.parameters.{}", plain(name.get_ref()));
            let origin = self.at(name.span().start, &path);
            if axis_keys().any(|key| key == name.get_ref().as_ref()) {
                return Err(origin.error("is not a parameter; write it outside `parameters`"));
            }
            let list = self.list(value, &path)?;
            asked.set(name.get_ref(), &list).map_err(|message| origin.error(message))?;
        }
        Ok(asked)
    }
}

/// Whether it may name a suite or a file.
pub(crate) fn is_name(text: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    !text.is_empty() && text.len() <= 100 && text.chars().all(fits)
}

const MONTH_NS: u64 = 31 * 24 * 3_600 * 1_000_000_000;
