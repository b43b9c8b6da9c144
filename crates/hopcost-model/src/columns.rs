//! A case taken apart: one table of columns, which JSON documents, CSV and the tables of a
//! run file share.

use std::collections::BTreeMap;

use crate::case::{
    AckSize, Arrivals, Boundary, Case, IdleKnob, Placement, Touch, WaitKind, Workload,
};
use crate::document;

/// A column of the tables that have a case's parts beside its spelling.
pub struct Column {
    /// Its name.
    pub name: &'static str,
    /// The tables that have it; JSON has every one.
    pub tables: &'static [Table],
    /// What it holds of a case; nothing where a case has no such thing.
    pub cell: fn(&CaseParts) -> Option<Cell>,
}

/// A table with columns of a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Table {
    /// The CSV report.
    Csv,
    /// The cases of a run file.
    RunFile,
}

/// What a column holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cell {
    /// A number.
    Number(u64),
    /// A word or a text.
    Text(String),
    /// Parameters of a mechanism.
    Parameters(BTreeMap<String, String>),
}

impl Column {
    /// The columns of a table.
    pub fn of(table: Table) -> impl Iterator<Item = &'static Column> {
        COLUMNS.iter().filter(move |column| column.tables.contains(&table))
    }
}

trait IntoCell {
    fn cell(self) -> Option<Cell>;
}
impl<T: IntoCell> IntoCell for Option<T> {
    fn cell(self) -> Option<Cell> {
        self.and_then(IntoCell::cell)
    }
}
impl IntoCell for String {
    fn cell(self) -> Option<Cell> {
        Some(Cell::Text(self))
    }
}
impl IntoCell for BTreeMap<String, String> {
    fn cell(self) -> Option<Cell> {
        Some(Cell::Parameters(self))
    }
}
macro_rules! numbers {
    ($($number:ty),+) => { $(impl IntoCell for $number {
        fn cell(self) -> Option<Cell> { Some(Cell::Number(self.into())) }
    })+ };
}
macro_rules! words {
    ($($word:ty),+) => { $(impl IntoCell for $word {
        fn cell(self) -> Option<Cell> { Some(Cell::Text(self.word().to_owned())) }
    })+ };
}
numbers!(u32, u64);
words!(Workload, Boundary, Placement, WaitKind, IdleKnob, AckSize, Arrivals, Touch);

/// Declares the columns: name, type, value, the tables that have it besides JSON, and where only
/// some cases have it in those tables, which.
macro_rules! columns {
    ($($(#[$doc:meta])* $name:ident: $type:ty = $value:expr,
        in $tables:expr $(, of $has:expr)?;)+) => {
        document! {
            /// A case taken apart, for programs.
            pub struct CaseParts { $($(#[$doc])* pub $name: $type,)+ }
        }
        impl CaseParts {
            /// Takes a case apart.
            pub fn of(case: &Case) -> Self {
                fn value<T>(case: &Case, of: fn(&Case) -> T) -> T { of(case) }
                CaseParts { $($name: value(case, $value),)+ }
            }
        }
        /// Every column, in the order of the documents.
        pub const COLUMNS: &[Column] = &[$(Column {
            name: stringify!($name),
            tables: $tables,
            cell: |case| {
                $(let has: fn(&CaseParts) -> bool = $has;
                if !has(case) { return None; })?
                case.$name.clone().cell()
            },
        },)+];
    };
}

const ALL: &[Table] = &[Table::Csv, Table::RunFile];

columns! {
    /// What was done.
    workload: Workload = |case| case.workload, in ALL;
    /// With what.
    mechanism: String = |case| case.mechanism.clone(), in ALL;
    /// Bytes a message; `null` where the mechanism carries none.
    payload_bytes: Option<u32> = |case| case.payload_bytes, in ALL;
    /// Fields of a message of a stream.
    fields: Option<u32> = |case| case.fields, in ALL;
    /// Bytes of one of them.
    field_bytes: Option<u32> = |case| case.field_bytes(), in &[Table::Csv];
    /// Flows of a stream.
    flows: Option<u32> = |case| case.flows, in ALL;
    /// When a stream is acknowledged.
    ack: Option<String> = |case| Some(case.ack?.to_string()), in ALL;
    /// How long the acknowledgement of a stream's message is.
    ack_size: Option<AckSize> = |case| case.ack?.window().map(|_| case.ack_size),
        in &[Table::Csv];
    /// How long the sender of a wake-up sleeps before it.
    gap_ns: Option<u64> = |case| case.gap_ns, in ALL;
    /// What keeps the receiver's CPU from idling deeply.
    idle_knob: IdleKnob = |case| case.idle_knob, in ALL,
        of |case| case.workload == Workload::Wake;
    /// What separates the ends.
    boundary: Boundary = |case| case.boundary, in ALL;
    /// Where they run; `null` for `call`.
    placement: Option<Placement> = |case| case.placement, in ALL;
    /// How the caller waits; `null` for `call`.
    wait_caller: Option<WaitKind> = |case| Some(case.waits?.caller), in ALL;
    /// How the callee waits; `null` for `call`.
    wait_callee: Option<WaitKind> = |case| Some(case.waits?.callee), in ALL;
    /// Both waits in one word (`block`, `block:spin`); `null` for `call`.
    wait: Option<String> = |case| Some(case.waits?.to_string()), in &[Table::RunFile];
    /// Budget of `spin-then-block`.
    spin_budget_ns: Option<u64> = |case| case.spin_budget_ns, in ALL;
    /// What the ends are written in, in one word (`python`, `python:rust`).
    runtime: String = |case| case.runtimes.to_string(), in &[Table::Csv];
    /// What the caller is written in.
    runtime_caller: String = |case| case.runtimes.caller.to_string(), in ALL;
    /// What the callee is written in; the caller's for `call`.
    runtime_callee: String = |case| case.runtimes.callee.to_string(), in ALL;
    /// Scheduling policy.
    sched: String = |case| case.sched.to_string(), in ALL;
    /// The mechanism's own parameters.
    parameters: BTreeMap<String, String> = |case| case.parameters.clone(), in ALL;
    /// How much of a message is written and compared; `null` for `call`.
    touch: Option<Touch> = |case| (case.workload != Workload::Call).then_some(case.touch), in ALL;
    /// Messages a second that a load offers.
    rate: Option<u32> = |case| case.rate, in ALL;
    /// When they are to be sent; `null` for all but `load`.
    arrivals: Option<Arrivals> = |case| case.rate.map(|_| case.arrivals), in ALL;
    /// What becomes of messages when many are in flight; `null` for all but `load`.
    queue: Option<String> = |case| case.rate.map(|_| case.queue.to_string()), in &[Table::Csv];
    /// What else the machine does on purpose; `null` for all but `load`.
    background: Option<String> = |case| case.rate.map(|_| case.background.to_string()),
        in &[Table::Csv];
    /// Ends that send to the one receiver; `null` for all but `load`.
    senders: Option<u32> = |case| case.rate.map(|_| case.senders), in &[Table::Csv];
}
