//! Which threads did the work, where some of it was done by threads that play no end.

use hopcost_model::case::Role;
use hopcost_model::results::{CaseResult, Results, ThreadResult};

use crate::section::model::{Block, Cell, Column, Medium, Rows, Section, Unit, notes};
use crate::section::words::{mechanism, more, payload, setting};

const LEAD: &str = "Threads that a runtime or a library has besides those that play the ends, in \
    cases in which they took a tenth of the CPU time or more, the greatest share first. A library \
    with a thread of its own hands each message over once more; a compiler's thread takes CPU time \
    until the loops are steady. A runtime that moves its ends from thread to thread has no hidden \
    one.";

const NOTE: &str = "Process: whose end it plays. Share: of the CPU time of all threads of the \
    case. CPU time and context switches are per operation.";

/// Share of the CPU time from which on the hidden threads of a case are told.
const SHARE_TOLD: f64 = 0.10;
/// Threads with less than this share are left out of what is told.
const SHARE_LEAST: f64 = 0.01;
/// Rows that a terminal has room for.
const ROWS_MAX: usize = 10;

type Thread<'a> = (usize, &'a CaseResult, &'a ThreadResult);

pub(super) fn section(results: &Results, medium: Medium) -> Option<Section> {
    let mut threads: Vec<Thread<'_>> = Vec::new();
    for (index, case) in results.results.iter().enumerate() {
        let is_hidden = |thread: &&ThreadResult| Plays::of(thread, case) == Plays::Nothing;
        let told: Vec<&ThreadResult> = case.threads.iter().filter(is_hidden).collect();
        if told.iter().map(|thread| thread.cpu_share).sum::<f64>() >= SHARE_TOLD {
            let weighs = told.into_iter().filter(|thread| thread.cpu_share >= SHARE_LEAST);
            threads.extend(weighs.map(|thread| (index, case, thread)));
        }
    }
    // Stable: equal shares keep the order of the plan.
    threads.sort_by(|(.., a), (.., b)| b.cpu_share.total_cmp(&a.cpu_share));
    let all = threads.len();
    threads.truncate(medium.room(ROWS_MAX));
    let table = Rows::of(&threads)
        .column(Column::words("case"), |(index, case, _)| {
            let words = std::iter::once(mechanism(case)).chain(payload(case)).chain(setting(case));
            Cell::text(words.collect::<Vec<_>>().join(", ")).of(*index)
        })
        .column(Column::words("hidden thread"), |(.., thread)| name(thread))
        .column(Column::words("process"), |(.., thread)| Cell::text(thread.process.word()))
        .column(Column::number("CPU share"), |(.., thread)| share(thread))
        .column(Column::number("CPU time").fold(2), |(.., thread)| cpu_time(thread))
        .column(Column::number("switches").fold(1), |(.., thread)| switches(thread));
    let more = notes([NOTE.to_owned()].into_iter().chain(more(medium, all, ROWS_MAX, "rows are")));
    let section = Section::new("threads", "Which threads did the work", LEAD);
    (all > 0).then(|| section.with([table.table()]).with(more))
}

/// All threads of a case, for its details.
pub(crate) fn of_case(case: &CaseResult) -> Block {
    let plays = |thread: &ThreadResult| match Plays::of(thread, case) {
        Plays::End(end) => format!("the {end}"),
        Plays::Any => "any end: the runtime moves them".to_owned(),
        Plays::Nothing => "hidden".to_owned(),
    };
    Rows::of(&case.threads)
        .column(Column::words("thread"), name)
        .column(Column::words("process of the"), |thread| Cell::text(thread.process.word()))
        .column(Column::words("plays"), |thread| Cell::text(plays(thread)))
        .column(Column::number("share of CPU time"), share)
        .column(Column::number("CPU time per operation"), cpu_time)
        .column(Column::number("switches per operation"), switches)
        .table()
}

/// `recv_events`, or `python3 (3 threads)`.
fn name(thread: &ThreadResult) -> Cell {
    match thread.threads {
        0 | 1 => Cell::text(thread.name.clone()),
        n => Cell::text(format!("{} ({n} threads)", thread.name)),
    }
}

fn share(thread: &ThreadResult) -> Cell {
    Cell::number(thread.cpu_share, Unit::Share)
}

fn cpu_time(thread: &ThreadResult) -> Cell {
    Cell::number(thread.cpu_ns_per_operation, Unit::Time(2))
}

fn switches(thread: &ThreadResult) -> Cell {
    Cell::number(thread.switches_per_operation, Unit::Count)
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
