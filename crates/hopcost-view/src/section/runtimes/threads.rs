//! Which threads did the work, where some of it was done by threads that play no end.

use hopcost_model::results::{CaseResult, Results, ThreadResult};

use super::super::{Cell, Column, Detail, Part, Row, Section, mechanism, setting};
use crate::number;

const LEAD: &str = "Threads that a runtime or a library has besides those that play the ends, in \
    cases in which they took a tenth of the CPU time or more: a library with a thread of its own \
    hands each message over once more.";

/// Share of the CPU time from which on the hidden threads of a case are told.
const SHARE_TOLD: f64 = 0.10;
/// Threads with less than this share are left out of what is told.
const SHARE_LEAST: f64 = 0.01;
/// Rows that a terminal has room for.
const ROWS_MAX: usize = 16;

pub(super) fn section(results: &Results, detail: Detail) -> Option<Section> {
    let cases = results.results.iter().enumerate().filter(|(_, case)| is_told(case));
    let mut rows: Vec<Row> = cases.flat_map(|(index, case)| rows(index, case)).collect();
    if rows.is_empty() {
        return None;
    }
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
    if let Some(more) = rows.len().checked_sub(ROWS_MAX).filter(|more| *more > 0)
        && detail == Detail::Brief
    {
        rows.truncate(ROWS_MAX);
        notes.push(format!("{more} more rows are in the HTML, Markdown and JSON reports."));
    }
    Some(Section {
        id: "threads",
        title: "Which threads did the work",
        lead: LEAD.to_owned(),
        parts: vec![Part { columns, rows, notes, ..Part::default() }],
    })
}

fn hidden(case: &CaseResult) -> impl Iterator<Item = &ThreadResult> {
    case.threads.iter().filter(|thread| thread.seat.is_none())
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

fn rows(index: usize, case: &CaseResult) -> impl Iterator<Item = Row> {
    let bytes = case.case.payload_bytes.filter(|bytes| *bytes > 0).map(number::bytes);
    let words = std::iter::once(mechanism(case)).chain(bytes).chain(setting(case));
    let words = words.collect::<Vec<_>>().join(", ");
    let told = hidden(case).filter(|thread| thread.cpu_share >= SHARE_LEAST);
    told.map(move |thread| Row {
        cells: vec![
            Cell::Text(words.clone()),
            Cell::Text(name(thread)),
            Cell::Text(thread.process.word().to_owned()),
            Cell::Number(number::share(thread.cpu_share), thread.cpu_share),
            Cell::Number(
                number::rough(thread.cpu_ns_per_operation, number::UNICODE),
                thread.cpu_ns_per_operation,
            ),
            Cell::Number(
                super::super::counters::count(thread.switches_per_operation),
                thread.switches_per_operation,
            ),
        ],
        case: Some(index),
    })
}
