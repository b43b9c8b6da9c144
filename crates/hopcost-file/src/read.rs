//! Reading a run, trusting nothing that the file says.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use hopcost_model::describe::Description;
use hopcost_model::host::{Host, Reading as HostReading};
use hopcost_model::plan::{Plan, PlannedCase};
use hopcost_model::protocol::{EndCounters, EventReading, GateReading};
use hopcost_model::raw::{CpuAccounting, RawLoad, RawRun, RawTrial, RunAbout};
use hopcost_model::raw::{CpuUse, StampCheck, ThreadUse, Yardstick, YardstickReading};
use hopcost_model::trace::Trace;
use rusqlite::Connection;

use crate::cell::{Get, Reading};
use crate::connect::{self, MakeFolder};
use crate::error::{Cell, DOING_READ, Error, Result};
use crate::limits::{CASES_MAX, Limits, OPERATIONS_MAX, TICKS_MAX, TRIALS_OF_CASE_MAX};
use crate::rows::Source;
use crate::samples;
use crate::schema;
use crate::tables::{self as t, Table};

/// Reads a whole run. The file may lie in a directory that cannot be written to,
/// may still be being written, or may have been left by a killed process: then it is
/// settled where nobody else can write to it, or on a copy in what `folder` makes.
///
/// # Errors
/// [`Error::NotFound`], [`Error::Directory`], [`Error::Denied`],
/// [`Error::NotARun`], [`Error::Format`], [`Error::Empty`]; [`Error::Damaged`]
/// with the number of trials that can still be read; [`Error::Content`] for what
/// hopcost would never have written.
pub fn open(path: &Path, folder: &MakeFolder) -> Result<RawRun> {
    let path = connect::check_file(path)?;
    let read = || run(&connect::reading(&path, folder)?, &path);
    read().map_err(|error| count_readable(error, &path))
}

/// `(case, round)` of every trial of a run, failed ones included.
pub fn finished(run: &RawRun) -> BTreeSet<(u32, u32)> {
    run.trials.iter().map(|trial| (trial.case, trial.round)).collect()
}

/// Adds to a damage report how many trials can still be read.
pub(crate) fn count_readable(error: Error, path: &Path) -> Error {
    let Error::Damaged { path: told, why, .. } = error else { return error };
    let count = || -> rusqlite::Result<u64> {
        let conn = connect::immutable(path)?;
        conn.pragma_update(None, "trusted_schema", false)?;
        // Without this SQLite refuses a file that is shorter than its header says.
        conn.pragma_update(None, "writable_schema", true)?;
        let mut query =
            conn.prepare("SELECT samples_kept, samples FROM trial NOT INDEXED ORDER BY trial")?;
        let mut rows = query.query([])?;
        let mut count = 0;
        while let Ok(Some(row)) = rows.next() {
            let (kept, blob) = (row.get::<_, i64>(0), row.get_ref(1)?.as_blob());
            let (Ok(kept), Ok(blob)) = (kept, blob) else { break };
            if samples::unpack(blob, usize::try_from(kept).unwrap_or(usize::MAX)).is_err() {
                break;
            }
            count += 1;
        }
        Ok(count)
    };
    Error::Damaged { path: told, why, readable_trials: count().unwrap_or(0) }
}

/// Reads a run, as of one moment.
pub(crate) fn run(conn: &Connection, path: &Path) -> Result<RawRun> {
    of_file(conn, path, of_source)
}

/// Reads some of a run, as of one moment.
pub(crate) fn of_file<T>(
    conn: &Connection,
    path: &Path,
    read: impl FnOnce(&Source<'_>) -> Result<T>,
) -> Result<T> {
    let sqlite = |error| Error::sqlite(path, DOING_READ, error);
    let snapshot = conn.unchecked_transaction().map_err(sqlite)?;
    let objects: i64 = conn
        .query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))
        .map_err(sqlite)?;
    if objects == 0 {
        // Killed while creating; the journal has just undone the rest.
        return Err(Error::Empty(path.to_owned()));
    }
    // The header is not the last word: a journal may have changed it since.
    let version = schema::version(conn).map_err(sqlite)?;
    schema::check_version(path, version)?;
    schema::check(conn, path)?;
    let pages = |name| conn.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    let bytes = pages("page_count").and_then(|count| Ok(count * pages("page_size")?));
    let bytes = u64::try_from(bytes.map_err(sqlite)?).unwrap_or(0);
    let on_disk = fs::metadata(path).map_or(0, |found| found.len());
    let limits = Limits::of(bytes.min(on_disk));
    let source = Source { conn, path, limits, bytes_left: bytes.into() };
    let found = read(&source)?;
    drop(snapshot);
    Ok(found)
}

fn of_source(source: &Source<'_>) -> Result<RawRun> {
    let runs = source.read::<(i64, RunAbout, Plan), _>(&t::RUN, |row| row.0)?;
    let Ok([(_, about, plan)]) = <[_; 1]>::try_from(runs) else {
        return source.wrong("run", "it should have one row");
    };
    if plan.cases.len() > CASES_MAX {
        return source.wrong("run", format!("plan has more than {CASES_MAX} cases"));
    }
    let mut ids = BTreeSet::new();
    let twice = plan.cases.iter().map(PlannedCase::id).find(|id| !ids.insert(id.clone()));
    // The baseline of a comparison is compared with itself.
    if let Some(twice) = twice.filter(|_| plan.comparison.is_none()) {
        return source.wrong("run", format!("plan has the case {twice} twice"));
    }
    let (before, after) = hosts(source)?;
    // A host that could not be read at all is still a host that was looked at.
    let host_after =
        (about.ended.is_some() || !after.is_empty()).then_some(Host { readings: after });
    let yardsticks = by_position::<Yardstick>(source, &t::YARDSTICK)?;
    let trials = trials(source, plan.cases.len())?;
    let known = |read: &YardstickReading| (read.yardstick as usize) < yardsticks.len();
    let unknown = trials.iter().flat_map(|trial| &trial.yardsticks).find(|read| !known(read));
    if let Some(YardstickReading { yardstick, .. }) = unknown {
        let why = format!("a reading is of yardstick {yardstick}, which does not exist");
        return source.wrong(t::YARDSTICK_READING.name, why);
    }
    Ok(RawRun {
        about,
        plan,
        host_before: Host { readings: before },
        host_after,
        clocks: by_position(source, &t::CLOCK)?,
        clocks_after: by_position(source, &t::CLOCK_AFTER)?,
        yardsticks,
        workers: workers(source)?,
        accounting: by_position::<CpuAccounting>(source, &t::ACCOUNTING)?,
        trials,
    })
}

fn by_position<T: Get>(source: &Source<'_>, table: &Table) -> Result<Vec<T>> {
    let rows = source.read::<(i64, T), _>(table, |row| row.0)?;
    Ok(rows.into_iter().map(|row| row.1).collect())
}

/// What was read of the host before the run and after it.
fn hosts(source: &Source<'_>) -> Result<(Vec<HostReading>, Vec<HostReading>)> {
    type Row = (String, i64, HostReading);
    let rows = source.read::<Row, _>(&t::HOST, |row| (row.0.clone(), row.1))?;
    let of = |moment: &'static str| {
        let rows = rows.iter().filter(move |row| row.0 == moment);
        rows.map(|row| row.2.clone()).collect()
    };
    Ok((of("before"), of("after")))
}

/// A description with two of its fields beside it, for SQL.
struct Worker(Description);

impl Get for Worker {
    fn get(row: &mut Reading<'_>) -> Cell<Self> {
        let (runtime, version, description) = <(String, String, Description)>::get(row)?;
        for (back, told, said) in
            [(2, runtime, &description.runtime), (1, version, &description.version)]
        {
            if told != *said {
                row.at -= back;
                return row.wrong("not that of its description");
            }
        }
        Ok(Self(description))
    }
}

fn workers(source: &Source<'_>) -> Result<Vec<Description>> {
    let workers = by_position::<Worker>(source, &t::WORKER)?;
    Ok(workers.into_iter().map(|worker| worker.0).collect())
}

/// The rows of a table that belong to trials, taken trial by trial.
struct Belonging<K, T> {
    table: &'static str,
    rows: std::iter::Peekable<std::vec::IntoIter<(K, T)>>,
}

impl<K: Ord, T> Belonging<K, T> {
    fn take(&mut self, key: &K) -> Vec<T> {
        std::iter::from_fn(|| self.rows.next_if(|row| row.0 == *key)).map(|row| row.1).collect()
    }
}

fn belonging<R: Get, S: Ord, K: Ord, T>(
    source: &Source<'_>,
    table: &'static Table,
    sorted_by: impl Fn(&R) -> S,
    split: impl Fn(R) -> (K, T),
) -> Result<Belonging<K, T>> {
    let rows: Vec<(K, T)> = source.read(table, sorted_by)?.into_iter().map(split).collect();
    Ok(Belonging { table: table.name, rows: rows.into_iter().peekable() })
}

fn by_trial<T: Get>(source: &Source<'_>, table: &'static Table) -> Result<Belonging<i64, T>> {
    belonging(source, table, |row: &(i64, u32, T)| (row.0, row.1), |row| (row.0, row.2))
}

/// `end_position` of what was counted for both ends together.
pub(crate) const BOTH_ENDS: i64 = -1;

/// Every trial in time order, of a plan with so many cases.
fn trials(source: &Source<'_>, cases: usize) -> Result<Vec<RawTrial>> {
    let mut ends = belonging(
        source,
        &t::END,
        |row: &(i64, u32, EndCounters)| (row.0, row.1),
        |(trial, position, end)| (trial, (position, end)),
    )?;
    let mut events = belonging(
        source,
        &t::EVENT,
        |row: &(i64, i64, u32, EventReading)| (row.0, row.1, row.2),
        |row| ((row.0, row.1), row.3),
    )?;
    let mut gates = by_trial::<GateReading>(source, &t::GATE)?;
    let mut threads = by_trial::<ThreadUse>(source, &t::THREAD_USE)?;
    let mut warm_ups = by_trial::<f64>(source, &t::WARM_UP)?;
    let mut checks =
        belonging(source, &t::STAMP_CHECK, |row: &(i64, StampCheck)| row.0, |row| row)?;
    let mut loads = belonging(source, &t::LOAD, |row: &(i64, RawLoad)| row.0, |row| row)?;
    let mut traces = belonging(source, &t::TRACE, |row: &(i64, Trace)| row.0, |row| row)?;
    let mut cpu_uses = by_trial::<CpuUse>(source, &t::CPU_USE)?;
    let mut yardsticks = by_trial::<YardstickReading>(source, &t::YARDSTICK_READING)?;
    let trials = source.read::<(i64, RawTrial), _>(&t::TRIAL, |row| row.0)?;
    let mut trials_of = BTreeMap::<u32, BTreeSet<u32>>::new();
    let mut samples = 0;
    let mut out = Vec::with_capacity(trials.len());
    for (at, (number, mut trial)) in trials.into_iter().enumerate() {
        let counted = events.take(&(number, BOTH_ENDS));
        let with_events = |(position, end)| EndCounters {
            events: events.take(&(number, i64::from(position))),
            ..end
        };
        trial.ends = ends.take(&number).into_iter().map(with_events).collect();
        trial.counted = counted;
        trial.gates = gates.take(&number);
        trial.threads = threads.take(&number);
        trial.warm_up_ns = warm_ups.take(&number);
        trial.stamp_check = checks.take(&number).pop();
        trial.yardsticks = yardsticks.take(&number);
        trial.load = loads.take(&number).pop();
        trial.trace = traces.take(&number).pop();
        trial.cpu_uses = cpu_uses.take(&number);
        samples += trial.samples.len();
        samples += trial.load.as_ref().map_or(0, |load| {
            load.lags.len() + load.gaps.len() + load.own_lags.as_ref().map_or(0, Vec::len)
        });
        // An event is seven numbers.
        let numbers = |trace: &Trace| trace.untraced_ns.len() + 7 * trace.events.len();
        samples += trial.trace.as_ref().map_or(0, numbers);
        let of_case = trials_of.entry(trial.case).or_default();
        let of_end = |end: &EndCounters| end.first_tick.max(end.elapsed_ticks).max(end.max_ticks);
        let ticks = trial.ends.iter().map(of_end).fold(trial.samples_max_ticks, u64::max);
        let traced = trial.trace.as_ref().map_or(0, |trace| trace.operations);
        let done = trial.ends.iter().map(|end| end.count).fold(trial.operations, u64::max);
        let done = done.max(traced);
        let why = if ticks >= TICKS_MAX {
            format!("a clock shows {ticks} ticks, which cannot be")
        } else if done > OPERATIONS_MAX {
            format!("it has {done} operations, more than {OPERATIONS_MAX}")
        } else if trial.case as usize >= cases {
            format!("case_index is {}, of {cases} cases", trial.case)
        } else if !of_case.insert(trial.round) {
            format!("case {} is measured twice in round {}", trial.case, trial.round)
        } else if of_case.len() > TRIALS_OF_CASE_MAX as usize {
            format!("case {} has more than {TRIALS_OF_CASE_MAX} trials", trial.case)
        } else if samples > source.limits.samples() {
            format!("the number of samples so far is more than {}", source.limits.samples())
        } else {
            out.push(trial);
            continue;
        };
        return source.wrong(format!("trial {}", at + 1), why);
    }
    let orphan = |table: &str, number: Option<&i64>| match number {
        Some(number) => {
            source.wrong(table, format!("a row belongs to trial {number}, which does not exist"))
        }
        None => Ok(()),
    };
    orphan(ends.table, ends.rows.peek().map(|row| &row.0))?;
    orphan(gates.table, gates.rows.peek().map(|row| &row.0))?;
    orphan(threads.table, threads.rows.peek().map(|row| &row.0))?;
    orphan(warm_ups.table, warm_ups.rows.peek().map(|row| &row.0))?;
    orphan(checks.table, checks.rows.peek().map(|row| &row.0))?;
    orphan(loads.table, loads.rows.peek().map(|row| &row.0))?;
    orphan(traces.table, traces.rows.peek().map(|row| &row.0))?;
    orphan(cpu_uses.table, cpu_uses.rows.peek().map(|row| &row.0))?;
    orphan(yardsticks.table, yardsticks.rows.peek().map(|row| &row.0))?;
    if let Some(((number, end), _)) = events.rows.peek() {
        let why = format!("a row belongs to end {end} of trial {number}, which does not exist");
        return source.wrong(events.table, why);
    }
    Ok(out)
}
