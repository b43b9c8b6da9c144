//! The tables beside the ladder: runtimes, wake-ups, streams, counts, cost models,
//! published numbers. Each is made once here, as texts in columns, and drawn by the
//! terminal's, the Markdown and the HTML view alike.
//!
//! A section is there only where a run has something to put into it.

mod cell;
mod counted;
pub(crate) mod counters;
mod idling;
mod models;
mod published;
pub(crate) mod runtimes;
mod stream;
mod wake;

use hopcost_model::results::{CaseResult, Estimate, Results, Status};

pub(crate) use crate::names::{covers, cpus, foreign};
use crate::number::{self, DIGITS_MAX, Shown};
use crate::style::{Align, Charset};
pub(crate) use cell::{Cell, Compared, Valued};

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
    /// What it says, above it.
    pub says: Vec<String>,
    /// Columns.
    pub columns: Vec<Column>,
    /// Rows.
    pub rows: Vec<Row>,
    /// Sentences below it.
    pub notes: Vec<String>,
    /// How it is laid out.
    pub form: Form,
    /// Index of the heat map that is drawn above it.
    pub heat_map: Option<usize>,
    /// Commands below the notes.
    pub replays: Vec<Replay>,
}

/// How a table is laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Form {
    /// Rows with columns that each mean something else.
    #[default]
    Table,
    /// Columns that all mean the same: cells are stacked where lines are short, and the
    /// columns go on below where not all fit side by side.
    Matrix,
}

/// A command that replays a trial that failed.
#[derive(Debug, Clone)]
pub(crate) struct Replay {
    /// The number of the note that it belongs to.
    pub mark: String,
    /// The command.
    pub command: String,
}

/// A column.
#[derive(Debug, Clone)]
pub(crate) struct Column {
    /// Heading.
    pub head: String,
    /// Unit of cells that carry none, as the table's title says too.
    pub unit: &'static str,
    /// Whether the heading is a name, which is written as it is.
    pub is_name: bool,
    /// Alignment.
    pub align: Align,
    /// Where all columns do not fit side by side, the one with the greatest number
    /// goes below its row first; 0 never does.
    pub fold: u8,
}

impl Column {
    /// A column of words.
    pub fn words(head: &str) -> Self {
        Self { head: head.to_owned(), unit: "", is_name: false, align: Align::Left, fold: 0 }
    }
    /// A column of numbers.
    pub fn number(head: &str) -> Self {
        Self { align: Align::Right, ..Self::words(head) }
    }
    /// A column of numbers under a name (a runtime's).
    pub fn name(head: &str) -> Self {
        Self { is_name: true, ..Self::number(head) }
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

/// Every section after the ladder that has something in it, in the order of the
/// report; those on runtimes stand before the ladder ([`runtimes::all`]).
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

/// A duration with its unit.
fn time(estimate: &Estimate) -> Shown {
    number::estimate(estimate, DIGITS_MAX, Charset::Unicode)
}

/// A difference of durations with its unit.
fn difference(estimate: &Estimate) -> Shown {
    number::difference(estimate, DIGITS_MAX, Charset::Unicode)
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
    // A call has but one end.
    let boundary = parts.placement.is_some().then(|| parts.boundary.word().to_owned());
    let mut words: Vec<String> = boundary.into_iter().collect();
    words.extend(parts.placement.map(|placement| placement.word().to_owned()));
    words.extend(parts.wait.clone());
    words.extend(parts.spin_budget_ns.map(|ns| format!("spin {}", number::exact(ns))));
    if parts.sched != "other" {
        words.push(format!("sched {}", parts.sched));
    }
    words.extend(foreign(case));
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
