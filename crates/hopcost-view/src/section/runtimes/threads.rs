//! Which threads did the work, where some of it was done by threads that play no end.

use hopcost_model::case::Role;
use hopcost_model::results::{CaseResult, Results, ThreadResult};

use crate::section::model::{Block, Cell, Medium, Rows, Section, Unit, numbers, words};
use crate::section::words::{Of, mechanism, payload, setting};

/// Share of the CPU time from which on the hidden threads of a case are told.
const SHARE_TOLD: f64 = 0.10;
/// Threads with less than this share are left out of what is told.
const SHARE_LEAST: f64 = 0.01;
type Thread<'a> = Of<'a, &'a ThreadResult>;

pub(crate) fn section(results: &Results, _: Medium) -> Option<Section> {
    let mut threads: Vec<Thread<'_>> = Vec::new();
    for (index, case) in results.results.iter().enumerate() {
        let is_hidden = |thread: &&ThreadResult| Plays::of(thread, case) == Plays::Nothing;
        let told: Vec<&ThreadResult> = case.threads.iter().filter(is_hidden).collect();
        if told.iter().map(|thread| thread.cpu_share).sum::<f64>() >= SHARE_TOLD {
            let weighs = told.into_iter().filter(|thread| thread.cpu_share >= SHARE_LEAST);
            threads.extend(weighs.map(|with| Of { index, case, with }));
        }
    }
    // Stable: equal shares keep the order of the plan.
    threads.sort_by(|a, b| b.with.cpu_share.total_cmp(&a.with.cpu_share));
    let named = |case: &CaseResult| {
        let words = std::iter::once(mechanism(case)).chain(payload(case)).chain(setting(case));
        words.collect::<Vec<_>>().join(", ")
    };
    let table = Rows::of(&threads)
        .column(words("case"), |r| Cell::text(named(r.case)).of(r.index))
        .column(words("hidden thread"), |r| name(r.with))
        .column(words("process"), |r| Cell::text(r.with.process.word()))
        .column(numbers("CPU share"), |r| share(r.with))
        .column(numbers("CPU time").fold(2), |r| cpu_time(r.with))
        .column(numbers("switches").fold(1), |r| switches(r.with));
    Section::of("threads", [table.table()])
}

/// All threads of a case, for its details.
pub(crate) fn of_case(case: &CaseResult) -> Block {
    let plays = |thread: &ThreadResult| match Plays::of(thread, case) {
        Plays::End(end) => format!("the {end}"),
        Plays::Any => "any end: the runtime moves them".to_owned(),
        Plays::Nothing => "hidden".to_owned(),
    };
    Rows::of(&case.threads)
        .column(words("thread"), name)
        .column(words("process of the"), |thread| Cell::text(thread.process.word()))
        .column(words("plays"), |thread| Cell::text(plays(thread)))
        .column(numbers("share of CPU time"), share)
        .column(numbers("CPU time per operation"), cpu_time)
        .column(numbers("switches per operation"), switches)
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

    pub fn word(self) -> &'static str {
        match self {
            Plays::End(end) => end.word(),
            Plays::Any => "any",
            Plays::Nothing => "hidden",
        }
    }
}
