//! Which threads did the work, where some of it was done by threads that play no end.

use hopcost_model::case::Role;
use hopcost_model::results::{CaseResult, Results, ThreadResult};

use super::super::{Cell, Column, Detail, Part, Row, Section, counters, mechanism, setting};
use crate::number;

const LEAD: &str = "Threads that a runtime or a library has besides those that play the ends, in \
    cases in which they took a tenth of the CPU time or more, the greatest share first. A library \
    with a thread of its own hands each message over once more; a compiler's thread takes CPU time \
    until the loops are steady. A runtime that moves its ends from thread to thread has no hidden \
    one.";

/// Share of the CPU time from which on the hidden threads of a case are told.
const SHARE_TOLD: f64 = 0.10;
/// Threads with less than this share are left out of what is told.
const SHARE_LEAST: f64 = 0.01;
/// Rows that a terminal has room for.
const ROWS_MAX: usize = 10;
/// Rows that a document has, whose cases have details of their own.
const ROWS_WHOLE: usize = 40;

pub(super) fn section(results: &Results, detail: Detail) -> Option<Section> {
    let cases = results.results.iter().enumerate().filter(|(_, case)| is_told(case));
    let threads = cases.flat_map(|(index, case)| {
        let told = hidden(case).filter(|thread| thread.cpu_share >= SHARE_LEAST);
        told.map(move |thread| (index, case, thread))
    });
    let mut threads: Vec<(usize, &CaseResult, &ThreadResult)> = threads.collect();
    if threads.is_empty() {
        return None;
    }
    // Stable: equal shares keep the order of the plan.
    threads.sort_by(|(.., a), (.., b)| b.cpu_share.total_cmp(&a.cpu_share));
    let mut rows: Vec<Row> = threads.into_iter().map(row).collect();
    let columns = vec![
        Column::words("case"),
        Column::words("hidden thread"),
        Column::words("process"),
        Column::number("CPU share"),
        Column::number("CPU time").fold(2),
        Column::number("switches").fold(1),
    ];
    let mut notes = vec!["Process: whose end it plays. Share: of the CPU time of all threads of the case. CPU time and \
         context switches are per operation.".to_owned()];
    let (most, elsewhere) = match detail {
        Detail::Brief => (ROWS_MAX, "in the HTML, Markdown and JSON reports"),
        Detail::Whole => (ROWS_WHOLE, "in the JSON report and, in HTML, in the cases' details"),
    };
    if let Some(more) = rows.len().checked_sub(most).filter(|more| *more > 0) {
        rows.truncate(most);
        notes.push(format!("{more} more rows are {elsewhere}."));
    }
    Some(Section {
        id: "threads",
        title: "Which threads did the work",
        lead: LEAD.to_owned(),
        parts: vec![Part { columns, rows, notes, ..Part::default() }],
    })
}

/// What a thread does in its process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Plays {
    /// It plays an end.
    End(Role),
    /// The runtime moves its ends from thread to thread, and this is one of these.
    Any,
    /// Others play the ends.
    Nothing,
}

impl Plays {
    /// What a thread of a case does: where no thread of its process is tied to an end,
    /// all of them may play.
    pub fn of(thread: &ThreadResult, case: &CaseResult) -> Self {
        let tied = |other: &&ThreadResult| other.process == thread.process && other.seat.is_some();
        match thread.seat {
            Some(end) => Plays::End(end),
            None if case.threads.iter().any(|other| tied(&other)) => Plays::Nothing,
            None => Plays::Any,
        }
    }

    /// In a word.
    pub fn word(self) -> &'static str {
        match self {
            Plays::End(end) => end.word(),
            Plays::Any => "any",
            Plays::Nothing => "hidden",
        }
    }
}

fn hidden(case: &CaseResult) -> impl Iterator<Item = &ThreadResult> {
    case.threads.iter().filter(|thread| Plays::of(thread, case) == Plays::Nothing)
}

fn is_told(case: &CaseResult) -> bool {
    hidden(case).map(|thread| thread.cpu_share).sum::<f64>() >= SHARE_TOLD
}

/// `recv_events`, or `python3 (3 threads)`.
pub(crate) fn name(thread: &ThreadResult) -> String {
    match thread.threads {
        0 | 1 => thread.name.clone(),
        n => format!("{} ({n} threads)", thread.name),
    }
}

fn row((index, case, thread): (usize, &CaseResult, &ThreadResult)) -> Row {
    let bytes = case.case.payload_bytes.filter(|bytes| *bytes > 0).map(number::bytes);
    let words = std::iter::once(mechanism(case)).chain(bytes).chain(setting(case));
    let (cpu_ns, switches) = (thread.cpu_ns_per_operation, thread.switches_per_operation);
    Row {
        cells: vec![
            Cell::Text(words.collect::<Vec<_>>().join(", ")),
            Cell::Text(name(thread)),
            Cell::Text(thread.process.word().to_owned()),
            Cell::Number(number::share(thread.cpu_share), thread.cpu_share),
            Cell::Number(number::rough(cpu_ns, number::UNICODE), cpu_ns),
            Cell::Number(counters::count(switches), switches),
        ],
        case: Some(index),
    }
}
