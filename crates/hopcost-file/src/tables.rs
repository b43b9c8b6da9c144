//! The tables of a run file: one list of columns each, by which it is created, written and read.
//! FORMAT.md explains every table and column. A change of any is a further format.

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
    pub(crate) rows_max: usize,
}

const INT: &str = "INTEGER NOT NULL";
const MAYBE_INT: &str = "INTEGER";
const REAL: &str = "REAL NOT NULL";
/// A real number without a type, so that its bits stay as they are.
const BITS: &str = "";
const MAYBE_REAL: &str = "REAL";
const TEXT: &str = "TEXT NOT NULL";
const MAYBE_TEXT: &str = "TEXT";
const KEY: &str = "INTEGER PRIMARY KEY";

const fn column(name: &'static str, sql: &'static str) -> Column {
    Column { name, sql }
}

macro_rules! list {
    ($($name:ident $sql:ident),+ $(,)?) => {
        &[$(column(stringify!($name), $sql)),+]
    };
}

/// Fields and the columns that hold them, in the order of the columns; `rest` is where the
/// fields that other tables hold come from.
macro_rules! fields {
    ($list:ident of $type:ty { $($field:ident: $($name:ident $sql:ident)/+,)+ } $($rest:tt)*) => {
        const $list: &[Column] = list![$($($name $sql),+),+];
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
    id: run_id TEXT,
    version: version TEXT,
    commit: revision TEXT,
    build: build TEXT,
    argv: argv TEXT,
    started: started TEXT,
    ended: ended MAYBE_TEXT,
    resumed: resumed INT,
    group: run_group MAYBE_TEXT,
});

fields!(HOST_READING of HostReading {
    section: section TEXT,
    key: key TEXT,
    value: value MAYBE_TEXT,
    reason: reason MAYBE_TEXT,
});

fields!(CLOCK_READING of ClockReading {
    cpu: cpu INT,
    source: source TEXT,
    ticks_per_second: ticks_per_second REAL,
    rate_spread_ppm: rate_spread_ppm REAL,
    resolution_ticks: resolution_ticks INT,
    stamp_min_ns: stamp_min_ns REAL,
    stamp_p50_ns: stamp_p50_ns REAL,
    stamp_p99_ns: stamp_p99_ns REAL,
    clock_gettime_p50_ns: clock_gettime_p50_ns REAL,
    runtime: runtime TEXT,
});

fields!(CPU_ACCOUNTING of CpuAccounting {
    round: round INT,
    cpu: cpu INT,
    wall_ns: wall_ns INT,
    steal_ns: steal_ns INT,
});

const BLOB: &str = "BLOB NOT NULL";
const MAYBE_BLOB: &str = "BLOB";

fields!(RAW_TRIAL of RawTrial {
    case: case_index INT,
    round: round INT,
    position: position INT,
    started_ns: started_ns INT,
    took_ns: took_ns INT,
    phases_ns: phases_ns INT,
    error: error MAYBE_TEXT,
    stamp: stamp MAYBE_TEXT / stamp_n MAYBE_INT,
    wall_ns: wall_ns INT,
    cpu_ns: cpu_ns INT,
    cpus_asked: cpus_asked TEXT,
    pin_errors: pin_errors TEXT,
    operations: operations INT,
    samples_taken: samples_taken INT,
    samples_max_ticks: samples_max_ticks INT,
    samples: samples_kept INT / samples BLOB,
    negative_samples: negative_samples INT,
    counted_operations: counted_operations INT,
    watched_ns: watched_ns INT,
    throttling: throttled_times MAYBE_INT / throttled_ns MAYBE_INT,
} ..RawTrial::empty());

fields!(END_COUNTERS of EndCounters {
    role: role TEXT,
    count: count INT,
    samples: samples INT,
    max_ticks: max_ticks INT,
    elapsed_ticks: elapsed_ticks INT,
    thread_cpu_ns: thread_cpu_ns INT,
    voluntary: voluntary INT,
    involuntary: involuntary INT,
    minor_faults: minor_faults INT,
    major_faults: major_faults INT,
    run_delay_ns: run_delay_ns MAYBE_INT,
    cpu_before: cpu_before INT,
    cpu_after: cpu_after INT,
    cpu_changes: cpu_changes INT,
    pinned: pinned INT,
    flow: flow INT,
    first_tick: first_tick INT,
    bytes: bytes INT,
    lost: lost INT,
    overruns: overruns INT,
    zero_copy: zero_copy_completed MAYBE_INT / zero_copy_copied MAYBE_INT,
    fill_ns: fill_ns MAYBE_REAL,
    verify_ns: verify_ns MAYBE_REAL,
} events: Vec::new());

fields!(GATE_READING of GateReading {
    offset_ticks: offset_ticks INT,
    bound_ticks: bound_ticks INT,
    exchanges: exchanges INT,
    steps: steps INT,
    backward_steps: backward_steps INT,
});

fields!(EVENT_READING of EventReading {
    event: event TEXT,
    value: value MAYBE_INT,
    enabled_ns: enabled_ns INT,
    running_ns: running_ns INT,
    unavailable: unavailable MAYBE_TEXT,
});

fields!(THREAD of ThreadUse {
    process: process TEXT,
    seat: seat MAYBE_TEXT,
    name: name TEXT,
    cpu_ns: cpu_ns INT,
    voluntary: voluntary INT,
    involuntary: involuntary INT,
});

fields!(CHECKED_STAMP of StampCheck {
    exchanges: exchanges INT,
    stamped_ns: stamped_ns BITS,
    stamped_by_caller_ns: stamped_by_caller_ns BITS,
    bare_before_ns: bare_before_ns BITS,
    bare_after_ns: bare_after_ns BITS,
});

const YARDSTICK_PLAYED: &[Column] = list![
    class TEXT, case_id TEXT, cpu_caller INT, cpu_callee MAYBE_INT, operations INT,
    reference_ns BITS, reference_log_error BITS, reference_trials MAYBE_INT,
    reference_runs MAYBE_INT, reference_learnt_from MAYBE_TEXT,
    reference_learnt_on MAYBE_TEXT, reference_distance_ns BITS, gone MAYBE_TEXT,
];

impl Put for Yardstick {
    fn put(&self, row: &mut Writing<'_>) -> Cell<()> {
        (self.class, &self.case).put(row)?;
        (self.cpus.first().copied().unwrap_or(0), self.cpus.get(1).copied()).put(row)?;
        self.operations.put(row)?;
        let known = self.reference.as_ref();
        (known.map(|one| one.operation_ns), known.map(|one| one.log_error)).put(row)?;
        (known.map(|one| one.trials), known.map(|one| one.runs)).put(row)?;
        known.map(|one| one.learnt_from.as_str()).put(row)?;
        known.map(|one| one.learnt_on.as_str()).put(row)?;
        known.and_then(|one| one.distance_ns).put(row)?;
        self.gone.put(row)
    }
}

impl Get for Yardstick {
    fn get(row: &mut Reading<'_>) -> Cell<Self> {
        let (class, case) = Get::get(row)?;
        let (caller, callee) = <(u32, Option<u32>)>::get(row)?;
        let operations = Get::get(row)?;
        let (operation_ns, log_error) = <(Option<f64>, Option<f64>)>::get(row)?;
        let (trials, runs) = <(Option<u64>, Option<u64>)>::get(row)?;
        let (learnt_from, learnt_on) = <(Option<String>, Option<String>)>::get(row)?;
        let distance_ns = Get::get(row)?;
        let time = operation_ns.zip(log_error);
        let reference = match (time, trials.zip(runs), learnt_from.zip(learnt_on)) {
            (None, None, None) => None,
            (Some((operation_ns, log_error)), Some((trials, runs)), Some((from, on))) => {
                if operation_ns <= 0.0 || log_error < 0.0 {
                    return row.wrong("of a reference that is no time with an error");
                }
                let (learnt_from, learnt_on) = (from, on);
                Some(Reference {
                    operation_ns,
                    log_error,
                    trials,
                    runs,
                    learnt_from,
                    learnt_on,
                    distance_ns,
                })
            }
            _ => return row.wrong("of a reference of which a part is missing"),
        };
        let cpus = std::iter::once(caller).chain(callee).collect();
        Ok(Self { class, case, cpus, operations, reference, gone: Get::get(row)? })
    }
}

fields!(CPU_USED of CpuUse {
    cpu: cpu INT,
    idle_ns: idle_ns MAYBE_INT,
    steal_ns: steal_ns MAYBE_INT,
    interrupt_ns: interrupt_ns MAYBE_INT,
    interrupts: interrupts MAYBE_INT,
    softirqs: softirqs MAYBE_INT,
    network_softirqs: network_softirqs MAYBE_INT,
});

fields!(YARDSTICK_READ of YardstickReading {
    yardstick: yardstick INT,
    moment: moment TEXT,
    operation_ns: operation_ns BITS,
});

fields!(LOADED of RawLoad {
    offered: offered INT,
    delivered: delivered INT,
    intended_ticks: intended_ticks INT,
    sent_ticks: sent_ticks INT,
    received_ticks: received_ticks INT,
    generator_messages: generator_messages INT,
    generator_lag_p99_ticks: generator_lag_p99_ticks INT,
    generator_lag_last_ticks: generator_lag_last_ticks INT,
    lags: lags_kept INT / lags BLOB,
    gaps: gaps_kept INT / gaps BLOB,
    own_lags: own_lags_kept MAYBE_INT / own_lags MAYBE_BLOB,
});

fields!(TRACED of Trace {
    operations: operations INT,
    lost: lost INT,
    clock_bound_ns: clock_bound_ns INT,
    event_cost_ns: event_cost_ns BITS,
    missing: missing TEXT,
    untraced_ns: untraced_kept INT / untraced_ns BLOB,
    events: events_kept INT / events BLOB,
});

/// `plan.cases` taken apart, for SQL alone: hopcost reads the plan.
const PLANNED: &[Column] = &{
    let mut planned = [column("", ""); 2 + PARTS];
    planned[0] = column("case_id", TEXT);
    planned[1] = column("skip", MAYBE_TEXT);
    let (mut at, mut found) = (0, 2);
    while at < columns::COLUMNS.len() {
        let part = &columns::COLUMNS[at];
        if part.is_in_run_files() {
            let sql = match part.holds {
                columns::Holds::Numbers => MAYBE_INT,
                columns::Holds::Text => MAYBE_TEXT,
            };
            planned[found] = column(part.name, sql);
            found += 1;
        }
        at += 1;
    }
    planned
};

/// The number of columns that a case has in run files.
const PARTS: usize = {
    let (mut at, mut found) = (0, 0);
    while at < columns::COLUMNS.len() {
        found += columns::COLUMNS[at].is_in_run_files() as usize;
        at += 1;
    }
    found
};

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
    case_id TEXT, statistic TEXT, point MAYBE_REAL, low MAYBE_REAL, high MAYBE_REAL,
    level MAYBE_REAL, n_trials INT, pooled INT, at_most INT, digits INT,
    detectable MAYBE_REAL, insufficient MAYBE_TEXT, estimand TEXT, validity TEXT,
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
    column("code", TEXT),
    column("severity", TEXT),
    column("case_id", MAYBE_TEXT),
    column("evidence", TEXT),
    column("\"values\"", TEXT),
    column("remedy", TEXT),
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

const OF_TRIAL: &[Column] = list![trial INT, position INT];
const BY_TRIAL: &str = ",\n    PRIMARY KEY (trial, position)\n) WITHOUT ROWID";
const POSITION: &[Column] = list![position KEY];
const ROWS: usize = 2_000_000;

macro_rules! tables {
    ($($table:ident: $name:literal $columns:expr, $end:expr, $rows_max:expr;)+) => {
        $(pub(crate) const $table: Table = Table {
            name: $name, columns: $columns, end: $end, rows_max: $rows_max,
        };)+
        /// Every table, in the order in which they are created.
        pub(crate) const TABLES: &[&Table] = &[$(&$table),+];
    };
}

tables! {
    RUN: "run" &[&[column("one", "INTEGER PRIMARY KEY CHECK (one = 1)")], ABOUT, list![plan TEXT]], "\n)", 1;
    PLANNED_CASE: "planned_case" &[list![case_index KEY], PLANNED], "\n)", ROWS;
    HOST: "host_reading" &[list![moment TEXT, position INT], HOST_READING],
        ",\n    PRIMARY KEY (moment, position)\n) WITHOUT ROWID", 10_000;
    CLOCK: "clock" &[POSITION, CLOCK_READING], "\n)", 10_000;
    ACCOUNTING: "cpu_accounting" &[POSITION, CPU_ACCOUNTING], "\n)", ROWS;
    TRIAL: "trial" &[list![trial KEY], RAW_TRIAL], ",\n    UNIQUE (case_index, round)\n)", 200_000;
    END: "trial_end" &[OF_TRIAL, END_COUNTERS], BY_TRIAL, ROWS;
    ESTIMATE: "estimate" &[ESTIMATED], ",\n    PRIMARY KEY (case_id, statistic)\n) WITHOUT ROWID", ROWS;
    FINDING: "finding" &[POSITION, FOUND], "\n)", ROWS;
    GATE: "clock_gate" &[OF_TRIAL, GATE_READING], BY_TRIAL, ROWS;
    EVENT: "event" &[list![trial INT, end_position INT, position INT], EVENT_READING],
        ",\n    PRIMARY KEY (trial, end_position, position)\n) WITHOUT ROWID", ROWS;
    WORKER: "worker" &[POSITION, list![runtime TEXT, version TEXT, description TEXT]],
        "\n)", 100;
    THREAD_USE: "thread_use" &[OF_TRIAL, THREAD], BY_TRIAL, ROWS;
    WARM_UP: "warm_up" &[OF_TRIAL, list![operation_ns BITS]], BY_TRIAL, ROWS;
    STAMP_CHECK: "stamp_check" &[list![trial KEY], CHECKED_STAMP], "\n)", 200_000;
    CPU_USE: "cpu_use" &[OF_TRIAL, CPU_USED], BY_TRIAL, ROWS;
    CLOCK_AFTER: "clock_after" &[POSITION, CLOCK_READING], "\n)", 10_000;
    YARDSTICK: "yardstick" &[POSITION, YARDSTICK_PLAYED], "\n)", 10_000;
    YARDSTICK_READING: "yardstick_reading" &[OF_TRIAL, YARDSTICK_READ], BY_TRIAL, ROWS;
    LOAD: "load" &[list![trial KEY], LOADED], "\n)", 200_000;
    TRACE: "trace" &[list![trial KEY], TRACED], "\n)", 200_000;
}
