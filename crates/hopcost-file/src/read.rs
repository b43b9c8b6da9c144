//! Reading a run, trusting nothing that the file says.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use hopcost_model::host::{Host, Reading};
use hopcost_model::protocol::{ClockReading, EndCounters, Stamp};
use hopcost_model::raw::{CpuAccounting, CpuSentinel, RawRun, RawTrial, RunAbout};
use rusqlite::{Connection, OpenFlags};

use crate::connect;
use crate::error::{Cell, Error, Result};
use crate::record::{DOING, Record, rows};
use crate::samples;
use crate::schema::{self, STEPS, VERSION};

/// Reads a whole run. The file may lie in a directory that cannot be written to,
/// may still be being written, or may have been left by a killed process.
///
/// # Errors
/// [`Error::NotFound`], [`Error::Directory`], [`Error::Denied`],
/// [`Error::NotARun`], [`Error::Newer`], [`Error::Empty`]; [`Error::Damaged`]
/// with the number of trials that can still be read; [`Error::Content`] for what
/// hopcost would never have written.
pub fn open(path: &Path) -> Result<RawRun> {
    let path = connect::check_file(path)?;
    read_checked(&path).map_err(|error| count_readable(error, &path))
}

fn read_checked(path: &Path) -> Result<RawRun> {
    let reading = connect::reading(path)?;
    let conn = &reading.conn;
    let sqlite = |error| Error::sqlite(path, DOING, error);
    let schema_objects: i64 = conn
        .query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))
        .map_err(sqlite)?;
    if schema_objects == 0 {
        // Killed while creating; the journal has just undone the rest.
        return Err(Error::Empty(path.to_owned()));
    }
    // The header is not the last word: a journal may have changed it since.
    let version = schema::version(conn).map_err(sqlite)?;
    if version > VERSION {
        return Err(Error::Newer { path: path.to_owned(), found: version, known: VERSION });
    }
    schema::check(conn, path, STEPS)?;
    if version < VERSION {
        let copy = connect::upgraded_copy(conn, version, STEPS).map_err(sqlite)?;
        return run(&copy, path);
    }
    run(conn, path)
}

/// `(case, round)` of every trial of a run, failed ones included.
pub fn finished(run: &RawRun) -> BTreeSet<(u32, u32)> {
    run.trials.iter().map(|trial| (trial.case, trial.round)).collect()
}

/// Adds to a damage report how many trials can still be read.
pub(crate) fn count_readable(error: Error, path: &Path) -> Error {
    let Error::Damaged { path: told, why, .. } = error else { return error };
    let count = || -> rusqlite::Result<u64> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let conn = Connection::open_with_flags(path, flags)?;
        conn.pragma_update(None, "trusted_schema", false)?;
        // Without this SQLite refuses a file that is shorter than its header says.
        conn.pragma_update(None, "writable_schema", true)?;
        let mut query =
            conn.prepare("SELECT samples_kept, samples FROM trial NOT INDEXED ORDER BY trial")?;
        let mut rows = query.query([])?;
        let mut count = 0;
        while let Ok(Some(row)) = rows.next() {
            let record = Record(row);
            if record.samples().is_err() {
                break;
            }
            count += 1;
        }
        Ok(count)
    };
    Error::Damaged { path: told, why, readable_trials: count().unwrap_or(0) }
}

/// Reads a run of the current format, as of one moment.
pub(crate) fn run(conn: &Connection, path: &Path) -> Result<RawRun> {
    let snapshot = conn.unchecked_transaction().map_err(|e| Error::sqlite(path, DOING, e))?;
    let about = rows(
        conn,
        path,
        "SELECT * FROM run",
        |_| "run".to_owned(),
        |r| {
            let about = RunAbout {
                id: r.text("run_id")?,
                version: r.text("version")?,
                commit: r.text("revision")?,
                build: r.json("build")?,
                argv: r.json("argv")?,
                started: r.text("started")?,
                ended: r.maybe_text("ended")?,
                resumed: r.whole("resumed")?,
            };
            Ok((about, r.json("plan")?))
        },
    )?;
    let Ok([(about, plan)]) = <[_; 1]>::try_from(about) else {
        return Err(Error::Content {
            path: path.to_owned(),
            place: "run".to_owned(),
            why: "it should have one row".to_owned(),
        });
    };
    let host_before = Host { readings: host(conn, path, "before")? };
    let after = host(conn, path, "after")?;
    // A host that could not be read at all is still a host that was looked at.
    let host_after =
        (about.ended.is_some() || !after.is_empty()).then_some(Host { readings: after });
    let clocks = clocks(conn, path)?;
    let accounting = accounting(conn, path)?;
    let trials = trials(conn, path, &plan)?;
    drop(snapshot);
    Ok(RawRun { about, plan, host_before, host_after, clocks, trials, accounting })
}

fn host(conn: &Connection, path: &Path, moment: &'static str) -> Result<Vec<Reading>> {
    let query = format!("SELECT * FROM host_reading WHERE moment = '{moment}' ORDER BY position");
    rows(
        conn,
        path,
        &query,
        |n| format!("host_reading {moment} {n}"),
        |r| {
            Ok(Reading {
                section: r.text("section")?,
                key: r.text("key")?,
                value: r.maybe_text("value")?,
                reason: r.maybe_text("reason")?,
            })
        },
    )
}

fn clocks(conn: &Connection, path: &Path) -> Result<Vec<ClockReading>> {
    rows(
        conn,
        path,
        "SELECT * FROM clock ORDER BY position",
        |n| format!("clock {n}"),
        |r| {
            Ok(ClockReading {
                cpu: r.whole("cpu")?,
                source: r.text("source")?,
                ticks_per_second: r.real("ticks_per_second")?,
                rate_spread_ppm: r.real("rate_spread_ppm")?,
                resolution_ticks: r.whole("resolution_ticks")?,
                stamp_min_ns: r.real("stamp_min_ns")?,
                stamp_p50_ns: r.real("stamp_p50_ns")?,
                stamp_p99_ns: r.real("stamp_p99_ns")?,
                clock_gettime_p50_ns: r.real("clock_gettime_p50_ns")?,
            })
        },
    )
}

fn accounting(conn: &Connection, path: &Path) -> Result<Vec<CpuAccounting>> {
    let query = "SELECT * FROM cpu_accounting ORDER BY position";
    rows(
        conn,
        path,
        query,
        |n| format!("cpu_accounting {n}"),
        |r| {
            Ok(CpuAccounting {
                round: r.whole("round")?,
                cpu: r.whole("cpu")?,
                wall_ns: r.whole("wall_ns")?,
                steal_ns: r.whole("steal_ns")?,
            })
        },
    )
}

/// Rows that belong to trials, by trial.
type ByTrial<T> = BTreeMap<i64, Vec<T>>;

fn by_trial<T>(
    conn: &Connection,
    path: &Path,
    table: &'static str,
    filter: &str,
    mut read: impl FnMut(&Record<'_, '_>) -> Cell<T>,
) -> Result<ByTrial<T>> {
    let query = format!("SELECT * FROM {table} {filter} ORDER BY trial, position");
    let mut out = ByTrial::new();
    for (trial, value) in rows(
        conn,
        path,
        &query,
        |n| format!("{table} row {n}"),
        |r| Ok((r.whole("trial")?, read(r)?)),
    )? {
        out.entry(trial).or_default().push(value);
    }
    Ok(out)
}

fn ends(conn: &Connection, path: &Path) -> Result<ByTrial<EndCounters>> {
    by_trial(conn, path, "trial_end", "", |r| {
        let role = r.str("role")?;
        Ok(EndCounters {
            role: role.parse().or_else(|_| r.wrong("role", &format!("`{role}`")))?,
            count: r.whole("count")?,
            samples: r.whole("samples")?,
            max_ticks: r.whole("max_ticks")?,
            elapsed_ticks: r.whole("elapsed_ticks")?,
            thread_cpu_ns: r.whole("thread_cpu_ns")?,
            voluntary: r.whole("voluntary")?,
            involuntary: r.whole("involuntary")?,
            minor_faults: r.whole("minor_faults")?,
            major_faults: r.whole("major_faults")?,
            run_delay_ns: r.maybe("run_delay_ns", |r| r.whole("run_delay_ns"))?,
            cpu_before: r.whole("cpu_before")?,
            cpu_after: r.whole("cpu_after")?,
            cpu_changes: r.whole("cpu_changes")?,
            pinned: r.flag("pinned")?,
            ..EndCounters::empty(hopcost_model::case::Role::Caller)
        })
    })
}

fn sentinels(conn: &Connection, path: &Path, moment: &str) -> Result<ByTrial<CpuSentinel>> {
    let filter = format!("WHERE moment = '{moment}'");
    by_trial(conn, path, "sentinel", &filter, |r| {
        Ok(CpuSentinel { cpu: r.whole("cpu")?, call_ns: r.real("call_ns")? })
    })
}

fn stamp(r: &Record<'_, '_>) -> Cell<Option<Stamp>> {
    r.maybe("stamp", |r| match r.str("stamp")? {
        "each" => Ok(Stamp::Each),
        "batch" => Ok(Stamp::Batch { n: r.whole("stamp_n")? }),
        "two-lengths" => Ok(Stamp::TwoLengths { n: r.whole("stamp_n")? }),
        other => r.wrong("stamp", &format!("`{other}`")),
    })
}

fn trials(
    conn: &Connection,
    path: &Path,
    plan: &hopcost_model::plan::Plan,
) -> Result<Vec<RawTrial>> {
    let mut ends = ends(conn, path)?;
    let mut before = sentinels(conn, path, "before")?;
    let mut after = sentinels(conn, path, "after")?;
    let mut seen = BTreeSet::new();
    let mut samples_in_all = 0;
    let query = "SELECT * FROM trial NOT INDEXED ORDER BY trial";
    let trials = rows(
        conn,
        path,
        query,
        |n| format!("trial {n}"),
        |r| {
            let number: i64 = r.whole("trial")?;
            let trial = RawTrial {
                case: r.whole("case_index")?,
                round: r.whole("round")?,
                position: r.whole("position")?,
                started_ns: r.whole("started_ns")?,
                took_ns: r.whole("took_ns")?,
                phases_ns: r.whole("phases_ns")?,
                error: r.maybe_text("error")?,
                stamp: stamp(r)?,
                wall_ns: r.whole("wall_ns")?,
                cpu_ns: r.whole("cpu_ns")?,
                ends: ends.remove(&number).unwrap_or_default(),
                cpus_asked: r.json("cpus_asked")?,
                pin_errors: r.json("pin_errors")?,
                sentinel_before_ns: before.remove(&number).unwrap_or_default(),
                sentinel_after_ns: after.remove(&number).unwrap_or_default(),
                operations: r.whole("operations")?,
                samples_taken: r.whole("samples_taken")?,
                samples_max_ticks: r.whole("samples_max_ticks")?,
                samples: r.samples()?,
                ..RawTrial::empty()
            };
            if trial.case as usize >= plan.cases.len() {
                let cases = plan.cases.len();
                return r.wrong("case_index", &format!("{}, of {cases} cases", trial.case));
            }
            if !seen.insert((trial.case, trial.round)) {
                let what = format!("measured twice in round {}", trial.round);
                return r.wrong(&format!("case {}", trial.case), &what);
            }
            samples_in_all += trial.samples.len();
            if samples_in_all > samples::MAX_PER_RUN {
                let most = samples::MAX_PER_RUN;
                return r.wrong("the number of samples so far", &format!("more than {most}"));
            }
            Ok(trial)
        },
    )?;
    let orphans =
        [("trial_end", ends.keys().next()), ("sentinel", before.keys().chain(after.keys()).next())];
    for (table, orphan) in orphans {
        if let Some(number) = orphan {
            return Err(Error::Content {
                path: path.to_owned(),
                place: table.to_owned(),
                why: format!("a row belongs to trial {number}, which does not exist"),
            });
        }
    }
    Ok(trials)
}
