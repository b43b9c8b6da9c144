//! Which threads did the work of a case.

use hopcost_model::case::Role;
use hopcost_model::results::{CaseResult, ThreadResult};

use super::model::{Block, Cell, Rows, Unit, numbers, words};

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
}
