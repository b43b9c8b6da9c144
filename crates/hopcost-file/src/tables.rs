//! The tables of a run file: one list of columns each, by which it is created, brought up to
//! date, written and read. FORMAT.md explains every table and column.
//!
//! A released column is never edited. A change is a further format: columns at the end of
//! their table, or a table, with the number of that format.

use hopcost_model::columns::{self, CaseParts};
use hopcost_model::finding::{Finding, Severity, Validity};
use hopcost_model::host::Reading as HostReading;
use hopcost_model::plan::PlannedCase;
use hopcost_model::protocol::{ClockReading, EndCounters, EventReading, GateReading};
use hopcost_model::raw::{CpuAccounting, RawTrial, RunAbout, StampCheck, ThreadUse};
use hopcost_model::raw::{CpuUse, RawLoad, Reference, Yardstick, YardstickReading};
use hopcost_model::results::Estimate;
use hopcost_model::trace::Trace;

use crate::cell::{Column, Get, Json, Put, Reading, Writing};
use crate::error::Cell;

/// A table: its columns, and what a file of 100 MB may hold of its rows.
pub(crate) struct Table {
    pub(crate) name: &'static str,
    pub(crate) columns: &'static [&'static [Column]],
    /// What stands behind the columns in its declaration.
    pub(crate) end: &'static str,
    pub(crate) since: i64,
    pub(crate) rows_max: usize,
}

const INT: &str = "INTEGER NOT NULL";
const MAYBE_INT: &str = "INTEGER";
/// A count that older formats did not have.
const NO_INT: &str = "INTEGER NOT NULL DEFAULT 0";
const REAL: &str = "REAL NOT NULL";
/// A real number without a type, so that its bits stay as they are.
const BITS: &str = "";
const MAYBE_REAL: &str = "REAL";
const TEXT: &str = "TEXT NOT NULL";
const MAYBE_TEXT: &str = "TEXT";
const KEY: &str = "INTEGER PRIMARY KEY";

const fn column(name: &'static str, sql: &'static str, since: i64) -> Column {
    Column { name, sql, since }
}

macro_rules! list {
    ($($name:ident $sql:ident $since:literal),+ $(,)?) => {
        &[$(column(stringify!($name), $sql, $since)),+]
    };
}

/// Fields and the columns that hold them, in the order of the columns; `rest` is where the
/// fields that other tables hold come from.
macro_rules! fields {
    ($list:ident of $type:ty { $($field:ident: $($name:ident $sql:ident $since:literal)/+,)+ } $($rest:tt)*) => {
        const $list: &[Column] = list![$($($name $sql $since),+),+];
        impl Put for $type {
            fn put(&self, row: &mut Writing<'_>) -> Cell<()> {
                $(self.$field.put(row)?;)+
                Ok(())
            }
        }
        impl Get for $type {
            fn get(row: &mut Reading<'_>) -> Cell<Self> {
                Ok(Self { $($field: Get::get(row)?,)+ $($rest)* })
            }
        }
    };
}

fields!(ABOUT of RunAbout {
    id: run_id TEXT 1,
    version: version TEXT 1,
    commit: revision TEXT 1,
    build: build TEXT 1,
    argv: argv TEXT 1,
    started: started TEXT 1,
    ended: ended MAYBE_TEXT 1,
    resumed: resumed INT 1,
} group: None);

fields!(HOST_READING of HostReading {
    section: section TEXT 1,
    key: key TEXT 1,
    value: value MAYBE_TEXT 1,
    reason: reason MAYBE_TEXT 1,
});

/// `clock.runtime`: older formats have Rust's clocks alone.
const OF_RUST: &str = "TEXT NOT NULL DEFAULT 'rust'";

fields!(CLOCK_READING of ClockReading {
    cpu: cpu INT 1,
    source: source TEXT 1,
    ticks_per_second: ticks_per_second REAL 1,
    rate_spread_ppm: rate_spread_ppm REAL 1,
    resolution_ticks: resolution_ticks INT 1,
    stamp_min_ns: stamp_min_ns REAL 1,
    stamp_p50_ns: stamp_p50_ns REAL 1,
    stamp_p99_ns: stamp_p99_ns REAL 1,
    clock_gettime_p50_ns: clock_gettime_p50_ns REAL 1,
    runtime: runtime OF_RUST 3,
});

fields!(CPU_ACCOUNTING of CpuAccounting {
    round: round INT 1,
    cpu: cpu INT 1,
    wall_ns: wall_ns INT 1,
    steal_ns: steal_ns INT 1,
});

const BLOB: &str = "BLOB NOT NULL";
const MAYBE_BLOB: &str = "BLOB";

fields!(RAW_TRIAL of RawTrial {
    case: case_index INT 1,
    round: round INT 1,
    position: position INT 1,
    started_ns: started_ns INT 1,
    took_ns: took_ns INT 1,
    phases_ns: phases_ns INT 1,
    error: error MAYBE_TEXT 1,
    stamp: stamp MAYBE_TEXT 1 / stamp_n MAYBE_INT 1,
    wall_ns: wall_ns INT 1,
    cpu_ns: cpu_ns INT 1,
    cpus_asked: cpus_asked TEXT 1,
    pin_errors: pin_errors TEXT 1,
    operations: operations INT 1,
    samples_taken: samples_taken INT 1,
    samples_max_ticks: samples_max_ticks INT 1,
    samples: samples_kept INT 1 / samples BLOB 1,
    negative_samples: negative_samples NO_INT 2,
    counted_operations: counted_operations NO_INT 2,
    watched_ns: watched_ns NO_INT 5,
    throttling: throttled_times MAYBE_INT 5 / throttled_ns MAYBE_INT 5,
} ..RawTrial::empty());

fields!(END_COUNTERS of EndCounters {
    role: role TEXT 1,
    count: count INT 1,
    samples: samples INT 1,
    max_ticks: max_ticks INT 1,
    elapsed_ticks: elapsed_ticks INT 1,
    thread_cpu_ns: thread_cpu_ns INT 1,
    voluntary: voluntary INT 1,
    involuntary: involuntary INT 1,
    minor_faults: minor_faults INT 1,
    major_faults: major_faults INT 1,
    run_delay_ns: run_delay_ns MAYBE_INT 1,
    cpu_before: cpu_before INT 1,
    cpu_after: cpu_after INT 1,
    cpu_changes: cpu_changes INT 1,
    pinned: pinned INT 1,
    flow: flow NO_INT 2,
    first_tick: first_tick NO_INT 2,
    bytes: bytes NO_INT 2,
    lost: lost NO_INT 2,
    overruns: overruns NO_INT 2,
    zero_copy: zero_copy_completed MAYBE_INT 2 / zero_copy_copied MAYBE_INT 2,
    fill_ns: fill_ns MAYBE_REAL 4,
    verify_ns: verify_ns MAYBE_REAL 4,
} events: Vec::new());

fields!(GATE_READING of GateReading {
    offset_ticks: offset_ticks INT 2,
    bound_ticks: bound_ticks INT 2,
    exchanges: exchanges INT 2,
    steps: steps INT 2,
    backward_steps: backward_steps INT 2,
});

fields!(EVENT_READING of EventReading {
    event: event TEXT 2,
    value: value MAYBE_INT 2,
    enabled_ns: enabled_ns INT 2,
    running_ns: running_ns INT 2,
    unavailable: unavailable MAYBE_TEXT 2,
});

fields!(THREAD of ThreadUse {
    process: process TEXT 3,
    seat: seat MAYBE_TEXT 3,
    name: name TEXT 3,
    cpu_ns: cpu_ns INT 3,
    voluntary: voluntary INT 3,
    involuntary: involuntary INT 3,
});

fields!(CHECKED_STAMP of StampCheck {
    exchanges: exchanges INT 3,
    stamped_ns: stamped_ns BITS 3,
    stamped_by_caller_ns: stamped_by_caller_ns BITS 3,
    bare_before_ns: bare_before_ns BITS 3,
    bare_after_ns: bare_after_ns BITS 3,
});

const YARDSTICK_PLAYED: &[Column] = list![
    class TEXT 5, case_id TEXT 5, cpu_caller INT 5, cpu_callee MAYBE_INT 5, operations INT 5,
    reference_ns BITS 5, reference_log_error BITS 5, reference_readings MAYBE_INT 5,
    reference_learnt_from MAYBE_TEXT 5, gone MAYBE_TEXT 5,
];

impl Put for Yardstick {
    fn put(&self, row: &mut Writing<'_>) -> Cell<()> {
        (self.class, &self.case).put(row)?;
        (self.cpus.first().copied().unwrap_or(0), self.cpus.get(1).copied()).put(row)?;
        self.operations.put(row)?;
        let known = self.reference.as_ref();
        (known.map(|one| one.operation_ns), known.map(|one| one.log_error)).put(row)?;
        (known.map(|one| one.readings), known.map(|one| one.learnt_from.as_str())).put(row)?;
        self.gone.put(row)
    }
}

impl Get for Yardstick {
    fn get(row: &mut Reading<'_>) -> Cell<Self> {
        let (class, case) = Get::get(row)?;
        let (caller, callee) = <(u32, Option<u32>)>::get(row)?;
        let operations = Get::get(row)?;
        let (operation_ns, log_error) = <(Option<f64>, Option<f64>)>::get(row)?;
        let (readings, learnt_from) = <(Option<u64>, Option<String>)>::get(row)?;
        let reference = match (operation_ns, log_error, readings, learnt_from) {
            (None, None, None, None) => None,
            (Some(operation_ns), Some(log_error), Some(readings), Some(learnt_from)) => {
                if operation_ns <= 0.0 || log_error < 0.0 {
                    return row.wrong("of a reference that is no time with an error");
                }
                Some(Reference { operation_ns, log_error, readings, learnt_from })
            }
            _ => return row.wrong("of a reference of which a part is missing"),
        };
        let cpus = std::iter::once(caller).chain(callee).collect();
        Ok(Self { class, case, cpus, operations, reference, gone: Get::get(row)? })
    }
}

fields!(CPU_USED of CpuUse {
    cpu: cpu INT 5,
    steal_ns: steal_ns MAYBE_INT 5,
    interrupt_ns: interrupt_ns MAYBE_INT 5,
    interrupts: interrupts MAYBE_INT 5,
    softirqs: softirqs MAYBE_INT 5,
    network_softirqs: network_softirqs MAYBE_INT 5,
});

fields!(YARDSTICK_READ of YardstickReading {
    yardstick: yardstick INT 5,
    moment: moment TEXT 5,
    operation_ns: operation_ns BITS 5,
});

fields!(LOADED of RawLoad {
    offered: offered INT 6,
    delivered: delivered INT 6,
    intended_ticks: intended_ticks INT 6,
    sent_ticks: sent_ticks INT 6,
    received_ticks: received_ticks INT 6,
    generator_messages: generator_messages INT 6,
    generator_lag_p99_ticks: generator_lag_p99_ticks INT 6,
    generator_lag_last_ticks: generator_lag_last_ticks INT 6,
    lags: lags_kept INT 6 / lags BLOB 6,
    gaps: gaps_kept INT 6 / gaps BLOB 6,
    own_lags: own_lags_kept MAYBE_INT 8 / own_lags MAYBE_BLOB 8,
});

fields!(TRACED of Trace {
    operations: operations INT 7,
    lost: lost INT 7,
    clock_bound_ns: clock_bound_ns INT 7,
    event_cost_ns: event_cost_ns BITS 7,
    missing: missing TEXT 7,
    untraced_ns: untraced_kept INT 7 / untraced_ns BLOB 7,
    events: events_kept INT 7 / events BLOB 7,
});

/// The last format whose columns of cases are listed here. Those of later formats say
/// themselves what they are, in the table of a case's parts.
const LISTED: i64 = 3;

/// `plan.cases` taken apart, for SQL alone: hopcost reads the plan.
const PLANNED: &[Column] = list![
    case_id TEXT 1, skip MAYBE_TEXT 1, workload MAYBE_TEXT 1, mechanism MAYBE_TEXT 1,
    payload_bytes MAYBE_INT 1, boundary MAYBE_TEXT 1, placement MAYBE_TEXT 1, wait MAYBE_TEXT 1,
    wait_caller MAYBE_TEXT 1, wait_callee MAYBE_TEXT 1, spin_budget_ns MAYBE_INT 1,
    parameters MAYBE_TEXT 1, sched MAYBE_TEXT 1, fields MAYBE_INT 2, flows MAYBE_INT 2,
    ack MAYBE_TEXT 2, gap_ns MAYBE_INT 2, idle_knob MAYBE_TEXT 2, runtime_caller MAYBE_TEXT 3,
    runtime_callee MAYBE_TEXT 3,
];

/// The same, of later formats.
pub(crate) const PLANNED_LATER: &[Column] = &{
    let mut later = [column("", "", 0); later_parts()];
    let (mut at, mut found) = (0, 0);
    while found < later.len() {
        let part = &columns::COLUMNS[at];
        at += 1;
        if part.since > LISTED {
            let sql = match part.holds {
                columns::Holds::Numbers => MAYBE_INT,
                columns::Holds::Text => MAYBE_TEXT,
            };
            later[found] = column(part.name, sql, part.since);
            found += 1;
        }
    }
    later
};

const fn later_parts() -> usize {
    let (mut at, mut found) = (0, 0);
    while at < columns::COLUMNS.len() {
        found += (columns::COLUMNS[at].since > LISTED) as usize;
        at += 1;
    }
    found
}

impl Put for PlannedCase {
    fn put(&self, row: &mut Writing<'_>) -> Cell<()> {
        (self.id(), &self.skip).put(row)?;
        // A spelling this version cannot take apart keeps its columns empty.
        let parts = self.known().map(CaseParts::of);
        while let Some(column) = row.columns.get(row.cells.len()) {
            let mut parts_of = columns::Column::of(columns::Table::RunFile);
            let part = parts_of.find(|part| part.name == column.name);
            match part.zip(parts.as_ref()).and_then(|(part, parts)| (part.cell)(parts)) {
                None => None::<u64>.put(row)?,
                Some(columns::Cell::Number(number)) => number.put(row)?,
                Some(columns::Cell::Text(text)) => text.put(row)?,
                Some(columns::Cell::Parameters(all)) => Json(&all).put(row)?,
            }
        }
        Ok(())
    }
}

/// Derived, for SQL alone.
const ESTIMATED: &[Column] = list![
    case_id TEXT 1, statistic TEXT 1, point MAYBE_REAL 1, low MAYBE_REAL 1, high MAYBE_REAL 1,
    level MAYBE_REAL 1, n_trials INT 1, pooled INT 1, at_most INT 1, digits INT 1,
    detectable MAYBE_REAL 1, insufficient MAYBE_TEXT 1, estimand TEXT 1, validity TEXT 1,
];

/// One row of the table `estimate`: a statistic of a case for people who never
/// read our code. Times are nanoseconds, as the statistic's name says.
#[derive(Debug, Clone, PartialEq)]
pub struct EstimateRow {
    /// Canonical spelling of the case.
    pub case_id: String,
    /// Name with its unit: `p50_ns`, `cost_ns`, `max_ns`, …
    pub statistic: String,
    /// The value and its interval.
    pub estimate: Estimate,
    /// Validity of the case's result.
    pub validity: Validity,
}

impl Put for EstimateRow {
    fn put(&self, row: &mut Writing<'_>) -> Cell<()> {
        let e = &self.estimate;
        (&self.case_id, &self.statistic).put(row)?;
        (e.point, e.low, e.high, e.level).put(row)?;
        (e.n_trials, e.pooled, e.at_most, e.digits).put(row)?;
        (e.detectable, &e.insufficient, &e.estimand, self.validity.word()).put(row)
    }
}

/// Derived, for SQL alone.
const FOUND: &[Column] = &[
    column("code", TEXT, 1),
    column("severity", TEXT, 1),
    column("case_id", MAYBE_TEXT, 1),
    column("evidence", TEXT, 1),
    column("\"values\"", TEXT, 1),
    column("remedy", TEXT, 1),
];

impl Put for Finding {
    fn put(&self, row: &mut Writing<'_>) -> Cell<()> {
        let severity = match self.severity {
            Severity::Note => "note",
            Severity::Suspect => "suspect",
            Severity::Invalid => "invalid",
        };
        (self.code.word(), severity, &self.case).put(row)?;
        (&self.evidence, Json(&self.values), &self.remedy).put(row)
    }
}

const OF_TRIAL: &[Column] = list![trial INT 1, position INT 1];
const BY_TRIAL: &str = ",\n    PRIMARY KEY (trial, position)\n) WITHOUT ROWID";
const POSITION: &[Column] = list![position KEY 1];
const ROWS: usize = 2_000_000;

macro_rules! tables {
    ($($table:ident: $name:literal $columns:expr, $end:expr, $since:literal, $rows_max:expr;)+) => {
        $(pub(crate) const $table: Table = Table {
            name: $name, columns: $columns, end: $end, since: $since, rows_max: $rows_max,
        };)+
        /// Every table, in the order in which they are created.
        pub(crate) const TABLES: &[&Table] = &[$(&$table),+];
    };
}

tables! {
    RUN: "run" &[&[column("one", "INTEGER PRIMARY KEY CHECK (one = 1)", 1)], ABOUT, list![plan TEXT 1],
        list![run_group MAYBE_TEXT 5]],
        "\n)", 1, 1;
    PLANNED_CASE: "planned_case" &[list![case_index KEY 1], PLANNED, PLANNED_LATER], "\n)", 1, ROWS;
    HOST: "host_reading" &[list![moment TEXT 1, position INT 1], HOST_READING],
        ",\n    PRIMARY KEY (moment, position)\n) WITHOUT ROWID", 1, 10_000;
    CLOCK: "clock" &[POSITION, CLOCK_READING], "\n)", 1, 10_000;
    ACCOUNTING: "cpu_accounting" &[POSITION, CPU_ACCOUNTING], "\n)", 1, ROWS;
    TRIAL: "trial" &[list![trial KEY 1], RAW_TRIAL], ",\n    UNIQUE (case_index, round)\n)", 1, 200_000;
    END: "trial_end" &[OF_TRIAL, END_COUNTERS], BY_TRIAL, 1, ROWS;
    ESTIMATE: "estimate" &[ESTIMATED], ",\n    PRIMARY KEY (case_id, statistic)\n) WITHOUT ROWID", 1, ROWS;
    FINDING: "finding" &[POSITION, FOUND], "\n)", 1, ROWS;
    GATE: "clock_gate" &[OF_TRIAL, GATE_READING], BY_TRIAL, 2, ROWS;
    EVENT: "event" &[list![trial INT 2, end_position INT 2, position INT 2], EVENT_READING],
        ",\n    PRIMARY KEY (trial, end_position, position)\n) WITHOUT ROWID", 2, ROWS;
    WORKER: "worker" &[POSITION, list![runtime TEXT 3, version TEXT 3, description TEXT 3]],
        "\n)", 3, 100;
    THREAD_USE: "thread_use" &[OF_TRIAL, THREAD], BY_TRIAL, 3, ROWS;
    WARM_UP: "warm_up" &[OF_TRIAL, list![operation_ns BITS 3]], BY_TRIAL, 3, ROWS;
    STAMP_CHECK: "stamp_check" &[list![trial KEY 3], CHECKED_STAMP], "\n)", 3, 200_000;
    CPU_USE: "cpu_use" &[OF_TRIAL, CPU_USED], BY_TRIAL, 5, ROWS;
    CLOCK_AFTER: "clock_after" &[POSITION, CLOCK_READING], "\n)", 5, 10_000;
    YARDSTICK: "yardstick" &[POSITION, YARDSTICK_PLAYED], "\n)", 5, 10_000;
    YARDSTICK_READING: "yardstick_reading" &[OF_TRIAL, YARDSTICK_READ], BY_TRIAL, 5, ROWS;
    LOAD: "load" &[list![trial KEY 6], LOADED], "\n)", 6, 200_000;
    TRACE: "trace" &[list![trial KEY 7], TRACED], "\n)", 7, 200_000;
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_part_of_a_case_that_files_hold_has_its_column() {
        let parts = columns::Column::of(columns::Table::RunFile);
        let parts = parts.map(|part| (part.name, part.since));
        let own = [("case_id", 1), ("skip", 1)];
        let stored = PLANNED.iter().chain(PLANNED_LATER);
        let stored: BTreeSet<(&str, i64)> = stored.map(|c| (c.name, c.since)).collect();
        assert_eq!(stored, own.into_iter().chain(parts).collect());
    }
}
