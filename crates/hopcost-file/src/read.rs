//! Reading a run, trusting nothing that the file says.

mod trials;

use std::collections::BTreeSet;
use std::path::Path;

use hopcost_model::describe::Description;
use hopcost_model::host::{Host, Reading};
use hopcost_model::plan::Plan;
use hopcost_model::protocol::ClockReading;
use hopcost_model::raw::{CpuAccounting, RawRun, RunAbout};
use rusqlite::Connection;

use crate::connect;
use crate::error::{Error, Result};
use crate::limits::CASES_MAX;
use crate::record::{DOING, Record, rows};
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
    let conn = &connect::reading(path)?;
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
        let conn = connect::immutable(path)?;
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
        ("run", "SELECT * FROM run"),
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
            Ok((about, r.json::<Plan>("plan")?))
        },
    )?;
    let Ok([(about, plan)]) = <[_; 1]>::try_from(about) else {
        return Err(Error::Content {
            path: path.to_owned(),
            place: "run".to_owned(),
            why: "it should have one row".to_owned(),
        });
    };
    if plan.cases.len() > CASES_MAX {
        return Err(Error::Content {
            path: path.to_owned(),
            place: "run".to_owned(),
            why: format!("plan has more than {CASES_MAX} cases"),
        });
    }
    let host_before = Host { readings: host(conn, path, "before")? };
    let after = host(conn, path, "after")?;
    // A host that could not be read at all is still a host that was looked at.
    let host_after =
        (about.ended.is_some() || !after.is_empty()).then_some(Host { readings: after });
    let clocks = clocks(conn, path)?;
    let workers = workers(conn, path)?;
    let accounting = accounting(conn, path)?;
    let trials = trials::trials(conn, path, plan.cases.len())?;
    drop(snapshot);
    Ok(RawRun { about, plan, host_before, host_after, clocks, workers, trials, accounting })
}

fn host(conn: &Connection, path: &Path, moment: &'static str) -> Result<Vec<Reading>> {
    let query = format!("SELECT * FROM host_reading WHERE moment = '{moment}' ORDER BY position");
    rows(
        conn,
        path,
        ("host_reading", &query),
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
        ("clock", "SELECT * FROM clock ORDER BY position"),
        |n| format!("clock {n}"),
        |r| {
            Ok(ClockReading {
                cpu: r.whole("cpu")?,
                runtime: r.text("runtime")?,
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

fn workers(conn: &Connection, path: &Path) -> Result<Vec<Description>> {
    rows(
        conn,
        path,
        ("worker", "SELECT * FROM worker ORDER BY position"),
        |n| format!("worker {n}"),
        |r| {
            let worker: Description = r.json("description")?;
            for (name, said) in [("runtime", &worker.runtime), ("version", &worker.version)] {
                if r.str(name)? != said {
                    return r.wrong(name, "not that of its description");
                }
            }
            Ok(worker)
        },
    )
}

fn accounting(conn: &Connection, path: &Path) -> Result<Vec<CpuAccounting>> {
    let query = "SELECT * FROM cpu_accounting ORDER BY position";
    rows(
        conn,
        path,
        ("cpu_accounting", query),
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
