//! The tables beside the ladder: wake-ups, streams, counts, cost models, published
//! numbers. Each is made once here, as texts in columns, and drawn by the
//! terminal's, the Markdown and the HTML view alike.
//!
//! A section is there only where a run has something to put into it.

mod counted;
pub(crate) mod counters;
mod idling;
mod models;
mod published;
mod stream;
mod wake;

use hopcost_model::case::Workload;
use hopcost_model::finding::Validity;
use hopcost_model::results::{
    CaseResult, Estimate, LadderGroup, Pinning, PlanBrief, Ratio, Results, Status,
};

use crate::number::{self, DIGITS_MAX, Shown};
use crate::style::{Align, Charset};

/// How much of a long section is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Detail {
    /// Everything.
    Whole,
    /// What a terminal has room for: where published tables are many, one number a row
    /// of the source.
    Brief,
}

/// A heading with its tables.
#[derive(Debug, Clone)]
pub(crate) struct Section {
    /// Unique within a document.
    pub id: &'static str,
    /// Heading.
    pub title: &'static str,
    /// What the numbers mean.
    pub lead: String,
    /// The tables.
    pub parts: Vec<Part>,
}

/// A table with what is said above and below it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Part {
    /// What the rows have in common.
    pub title: String,
    /// Columns.
    pub columns: Vec<Column>,
    /// Rows.
    pub rows: Vec<Row>,
    /// Sentences below it.
    pub notes: Vec<String>,
}

/// A column.
#[derive(Debug, Clone)]
pub(crate) struct Column {
    /// Heading.
    pub head: String,
    /// Unit of cells that carry none, as the table's title says too.
    pub unit: &'static str,
    /// Alignment.
    pub align: Align,
    /// Where all columns do not fit side by side, the one with the greatest number
    /// goes below its row first; 0 never does.
    pub fold: u8,
}

impl Column {
    /// A column of words.
    pub fn words(head: &str) -> Self {
        Self { head: head.to_owned(), unit: "", align: Align::Left, fold: 0 }
    }
    /// A column of numbers.
    pub fn number(head: &str) -> Self {
        Self { head: head.to_owned(), unit: "", align: Align::Right, fold: 0 }
    }
    /// A column of numbers that carry no unit, because the table's title names it.
    pub fn of(head: &str, unit: &'static str) -> Self {
        Self { unit, ..Self::number(head) }
    }
    /// The same, folded early or late.
    pub fn fold(self, fold: u8) -> Self {
        Self { fold, ..self }
    }
}

/// A row.
#[derive(Debug, Clone)]
pub(crate) struct Row {
    /// One cell a column.
    pub cells: Vec<Cell>,
    /// Index of its case among the results.
    pub case: Option<usize>,
}

/// What a cell holds. Texts may use any character; a view that cannot show it
/// finds another spelling.
#[derive(Debug, Clone)]
pub(crate) enum Cell {
    /// Words; empty where there is nothing to say.
    Text(String),
    /// A number as text, and what it is sorted by.
    Number(String, f64),
    /// An estimate.
    Estimate(Valued),
    /// A verdict.
    Validity(Validity),
}

/// An estimate as a cell shows it.
#[derive(Debug, Clone)]
pub(crate) struct Valued {
    /// Value and interval.
    pub shown: Shown,
    /// What it is sorted by.
    pub point: Option<f64>,
    /// Computed from the samples of all trials.
    pub pooled: bool,
    /// Its interval spans more than a factor of 2.
    pub wide: bool,
    /// Why there is no value or no interval.
    pub why: Option<String>,
}

impl Cell {
    /// No value.
    pub fn none() -> Self {
        Cell::Text(String::new())
    }

    /// An estimate with its interval; `show` writes both.
    pub fn estimate(estimate: Option<&Estimate>, show: impl Fn(&Estimate) -> Shown) -> Self {
        let Some(estimate) = estimate else { return Self::none() };
        let mut shown = show(estimate);
        if estimate.point.is_some() && shown.interval.is_none() && !estimate.at_most {
            shown.interval = Some("[–]".to_owned());
        }
        Cell::Estimate(Valued {
            shown,
            point: estimate.point,
            pooled: estimate.pooled && estimate.point.is_some(),
            wide: number::is_wide(estimate),
            why: estimate.insufficient.clone(),
        })
    }

    /// An estimate without its interval, for columns that have no room for one.
    pub fn point(estimate: Option<&Estimate>, show: impl Fn(&Estimate) -> Shown) -> Self {
        let Some(estimate) = estimate else { return Self::none() };
        Cell::Estimate(Valued {
            shown: Shown { interval: None, ..show(estimate) },
            point: estimate.point,
            pooled: estimate.pooled && estimate.point.is_some(),
            wide: false,
            why: estimate.insufficient.clone(),
        })
    }

    /// A multiple with its interval; the baseline itself is named so.
    pub fn ratio(ratio: Option<&Ratio>, own: Option<&str>) -> Self {
        match ratio {
            Some(ratio) if own == Some(ratio.baseline.as_str()) => Cell::Text("base".to_owned()),
            Some(ratio) => {
                let interval = number::ratio_interval(ratio).unwrap_or_else(|| "[–]".to_owned());
                let text = number::ratio(ratio, Charset::Unicode);
                Cell::Number(format!("{text} {interval}"), ratio.point)
            }
            None => Self::none(),
        }
    }

    /// A number that may be missing.
    pub fn maybe(value: Option<f64>, show: impl Fn(f64) -> String) -> Self {
        value.map_or(Self::none(), |value| Cell::Number(show(value), value))
    }

    /// Whether it says nothing.
    pub fn is_empty(&self) -> bool {
        matches!(self, Cell::Text(text) if text.is_empty())
    }

    /// As plain text; `wide` stands behind an interval that spans more than a
    /// factor of 2.
    pub fn text(&self, wide: &str) -> String {
        match self {
            Cell::Text(text) | Cell::Number(text, _) => text.clone(),
            Cell::Validity(validity) => validity.word().to_owned(),
            Cell::Estimate(valued) => {
                let pooled = if valued.pooled { "*" } else { "" };
                let wide = if valued.wide { wide } else { "" };
                format!("{}{pooled}{wide}", valued.shown)
            }
        }
    }
}

/// Every section of a run that has something in it, in the order of the report.
pub(crate) fn all(results: &Results, detail: Detail) -> Vec<Section> {
    let sections = [
        wake::section(results),
        idling::knobs(results),
        idling::variance(results),
        stream::section(results),
        counted::section(results),
        models::section(results),
        published::section(results, detail),
    ];
    sections.into_iter().flatten().collect()
}

/// `CPUs 0 and 1 (same-llc)`, and whether the ends were pinned to them.
pub(crate) fn cpus(plan: &PlanBrief) -> String {
    let list: Vec<String> = plan.cpus.iter().map(u32::to_string).collect();
    let relation = plan.relation.map_or(String::new(), |relation| format!(" ({relation})"));
    let named = match list.as_slice() {
        [one] => format!("CPU {one}"),
        all => format!("CPUs {}{relation}", all.join(" and ")),
    };
    match plan.pinning {
        Pinning::All => named,
        Pinning::Some => format!("{named}, some cases not pinned"),
        Pinning::None => "not pinned to any CPU".to_owned(),
    }
}

/// Whether a group of the ladder stands in a section instead: wake-ups by gap,
/// streams by size.
pub(crate) fn covers(group: &LadderGroup, results: &Results) -> bool {
    let cases = group.rows.iter().flat_map(|row| [row.one_cpu, row.two_cpus, row.free]);
    let mut cases = cases.flatten().filter_map(|at| results.results.get(at as usize)).peekable();
    cases.peek().is_some()
        && cases.all(|case| matches!(case.case.workload, Workload::Wake | Workload::Stream))
}

/// A duration with its unit.
fn time(estimate: &Estimate) -> Shown {
    number::estimate(estimate, DIGITS_MAX, Charset::Unicode)
}

/// How many trials are behind a case.
fn trials(case: &CaseResult) -> Cell {
    Cell::Number(crate::text::trials(case), f64::from(case.n_trials))
}

/// The cases of a workload that were not measured, or not in every trial: one
/// sentence a reason.
fn missing(cases: &[(usize, &CaseResult)]) -> Vec<String> {
    let mut reasons: Vec<(String, &str, Vec<&str>)> = Vec::new();
    for (_, case) in cases {
        let what = match case.status {
            Status::Measured if case.n_failed == 0 => continue,
            Status::Measured => {
                format!("{} of {} trials failed", case.n_failed, case.n_failed + case.n_trials)
            }
            status => status.word().to_owned(),
        };
        let reason = case.reason.as_deref().unwrap_or("no reason was given");
        match reasons.iter_mut().find(|(w, r, _)| *w == what && *r == reason) {
            Some((_, _, ids)) => ids.push(&case.id),
            None => reasons.push((what, reason, vec![&case.id])),
        }
    }
    let sentence = |(what, reason, ids): (String, &str, Vec<&str>)| match ids.as_slice() {
        [first, rest @ ..] if rest.len() > 2 => {
            format!("{what}: {reason}: {first} and {} more cases", rest.len())
        }
        ids => format!("{what}: {reason}: {}", ids.join(", ")),
    };
    reasons.into_iter().map(sentence).collect()
}

/// What cases of one table have in common: the settings that are not columns.
fn setting(case: &CaseResult) -> Vec<String> {
    let parts = &case.case;
    let mut words = vec![parts.boundary.word().to_owned()];
    words.extend(parts.placement.map(|placement| placement.word().to_owned()));
    words.extend(parts.wait.clone());
    words.extend(parts.spin_budget_ns.map(|ns| format!("spin {}", number::exact(ns))));
    if parts.sched != "other" {
        words.push(format!("sched {}", parts.sched));
    }
    words
}

/// The mechanism with its parameters.
fn mechanism(case: &CaseResult) -> String {
    let parts = &case.case;
    let parameters = parts.parameters.iter().map(|(key, value)| format!(" {key}={value}"));
    std::iter::once(parts.mechanism.clone()).chain(parameters).collect()
}

/// With a full stop.
fn sentence(text: &str) -> String {
    let text = text.trim();
    if text.ends_with(['.', '!', '?']) { text.to_owned() } else { format!("{text}.") }
}

/// Items that belong together, in the order in which the first of each occurs.
fn grouped<T, K: PartialEq>(items: Vec<T>, key: impl Fn(&T) -> K) -> Vec<(K, Vec<T>)> {
    let mut groups: Vec<(K, Vec<T>)> = Vec::new();
    for item in items {
        let key = key(&item);
        match groups.iter_mut().find(|(known, _)| *known == key) {
            Some((_, members)) => members.push(item),
            None => groups.push((key, vec![item])),
        }
    }
    groups
}
