//! Trials, and the rows of other tables that belong to them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use hopcost_model::case::Role;
use hopcost_model::protocol::{EndCounters, EventReading, GateReading, Stamp, ZeroCopySends};
use hopcost_model::raw::{CpuSentinel, RawTrial, StampCheck, ThreadUse};
use rusqlite::Connection;

use crate::error::{Cell, Error, Result};
use crate::record::{Record, rows};
use crate::rows::BOTH_ENDS;
use crate::samples;

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
        (table, &query),
        |n| format!("{table} row {n}"),
        |r| Ok((r.whole("trial")?, read(r)?)),
    )? {
        out.entry(trial).or_default().push(value);
    }
    Ok(out)
}

/// What the kernel counted, by trial and end.
type Events = BTreeMap<(i64, i64), Vec<EventReading>>;

fn events(conn: &Connection, path: &Path) -> Result<Events> {
    let query = "SELECT * FROM event ORDER BY trial, end_position, position";
    let mut out = Events::new();
    for (key, event) in rows(
        conn,
        path,
        ("event", query),
        |n| format!("event row {n}"),
        |r| {
            let event = EventReading {
                event: r.text("event")?,
                value: r.maybe("value", |r| r.whole("value"))?,
                enabled_ns: r.whole("enabled_ns")?,
                running_ns: r.whole("running_ns")?,
                unavailable: r.maybe_text("unavailable")?,
            };
            Ok(((r.whole("trial")?, r.whole("end_position")?), event))
        },
    )? {
        out.entry(key).or_default().push(event);
    }
    Ok(out)
}

fn gates(conn: &Connection, path: &Path) -> Result<ByTrial<GateReading>> {
    by_trial(conn, path, "clock_gate", "", |r| {
        Ok(GateReading {
            offset_ticks: r.whole("offset_ticks")?,
            bound_ticks: r.whole("bound_ticks")?,
            exchanges: r.whole("exchanges")?,
            steps: r.whole("steps")?,
            backward_steps: r.whole("backward_steps")?,
        })
    })
}

fn role(r: &Record<'_, '_>, name: &str) -> Cell<Role> {
    let word = r.str(name)?;
    word.parse().or_else(|_| r.wrong(name, &format!("`{word}`")))
}

/// Both counts or neither.
fn zero_copy(r: &Record<'_, '_>) -> Cell<Option<ZeroCopySends>> {
    let completed = r.maybe("zero_copy_completed", |r| r.whole("zero_copy_completed"))?;
    let copied = r.maybe("zero_copy_copied", |r| r.whole("zero_copy_copied"))?;
    match (completed, copied) {
        (None, None) => Ok(None),
        (Some(completed), Some(copied)) => Ok(Some(ZeroCopySends { completed, copied })),
        (None, _) => r.wrong("zero_copy_completed", "Null beside a zero_copy_copied"),
        (_, None) => r.wrong("zero_copy_copied", "Null beside a zero_copy_completed"),
    }
}

fn ends(conn: &Connection, path: &Path, events: &mut Events) -> Result<ByTrial<EndCounters>> {
    by_trial(conn, path, "trial_end", "", |r| {
        let key = (r.whole("trial")?, r.whole("position")?);
        if key.1 < 0 {
            return r.wrong("position", &format!("{}, which is out of range", key.1));
        }
        Ok(EndCounters {
            role: role(r, "role")?,
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
            flow: r.whole("flow")?,
            first_tick: r.whole("first_tick")?,
            bytes: r.whole("bytes")?,
            lost: r.whole("lost")?,
            overruns: r.whole("overruns")?,
            zero_copy: zero_copy(r)?,
            events: events.remove(&key).unwrap_or_default(),
        })
    })
}

fn sentinels(conn: &Connection, path: &Path, moment: &str) -> Result<ByTrial<CpuSentinel>> {
    let filter = format!("WHERE moment = '{moment}'");
    by_trial(conn, path, "sentinel", &filter, |r| {
        Ok(CpuSentinel { cpu: r.whole("cpu")?, call_ns: r.real("call_ns")? })
    })
}

fn threads(conn: &Connection, path: &Path) -> Result<ByTrial<ThreadUse>> {
    by_trial(conn, path, "thread_use", "", |r| {
        Ok(ThreadUse {
            process: role(r, "process")?,
            seat: r.maybe("seat", |r| role(r, "seat"))?,
            name: r.text("name")?,
            cpu_ns: r.whole("cpu_ns")?,
            voluntary: r.whole("voluntary")?,
            involuntary: r.whole("involuntary")?,
        })
    })
}

fn warm_ups(conn: &Connection, path: &Path) -> Result<ByTrial<f64>> {
    by_trial(conn, path, "warm_up", "", |r| r.real("operation_ns"))
}

fn stamp_checks(conn: &Connection, path: &Path) -> Result<BTreeMap<i64, StampCheck>> {
    let query = "SELECT * FROM stamp_check ORDER BY trial";
    let checks = rows(
        conn,
        path,
        ("stamp_check", query),
        |n| format!("stamp_check row {n}"),
        |r| {
            let check = StampCheck {
                exchanges: r.whole("exchanges")?,
                stamped_ns: r.real("stamped_ns")?,
                stamped_by_caller_ns: r.real("stamped_by_caller_ns")?,
                bare_before_ns: r.real("bare_before_ns")?,
                bare_after_ns: r.real("bare_after_ns")?,
            };
            Ok((r.whole("trial")?, check))
        },
    )?;
    Ok(checks.into_iter().collect())
}

fn stamp(r: &Record<'_, '_>) -> Cell<Option<Stamp>> {
    r.maybe("stamp", |r| match r.str("stamp")? {
        "each" => Ok(Stamp::Each),
        "batch" => Ok(Stamp::Batch { n: r.whole("stamp_n")? }),
        "two-lengths" => Ok(Stamp::TwoLengths { n: r.whole("stamp_n")? }),
        other => r.wrong("stamp", &format!("`{other}`")),
    })
}

/// Every trial in time order, of a plan with so many cases.
pub(super) fn trials(conn: &Connection, path: &Path, cases: usize) -> Result<Vec<RawTrial>> {
    let mut events = events(conn, path)?;
    let mut ends = ends(conn, path, &mut events)?;
    let mut gates = gates(conn, path)?;
    let mut before = sentinels(conn, path, "before")?;
    let mut after = sentinels(conn, path, "after")?;
    let mut threads = threads(conn, path)?;
    let mut warm_ups = warm_ups(conn, path)?;
    let mut stamp_checks = stamp_checks(conn, path)?;
    let mut seen = BTreeSet::new();
    let mut samples_in_all = 0;
    let query = "SELECT * FROM trial NOT INDEXED ORDER BY trial";
    let trials = rows(
        conn,
        path,
        ("trial", query),
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
                gates: gates.remove(&number).unwrap_or_default(),
                negative_samples: r.whole("negative_samples")?,
                counted: events.remove(&(number, BOTH_ENDS)).unwrap_or_default(),
                counted_operations: r.whole("counted_operations")?,
                threads: threads.remove(&number).unwrap_or_default(),
                warm_up_ns: warm_ups.remove(&number).unwrap_or_default(),
                stamp_check: stamp_checks.remove(&number),
            };
            if trial.case as usize >= cases {
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
    let orphans = [
        ("trial_end", ends.keys().next()),
        ("sentinel", before.keys().chain(after.keys()).next()),
        ("clock_gate", gates.keys().next()),
        ("thread_use", threads.keys().next()),
        ("warm_up", warm_ups.keys().next()),
        ("stamp_check", stamp_checks.keys().next()),
    ];
    for (table, orphan) in orphans {
        if let Some(number) = orphan {
            return Err(Error::Content {
                path: path.to_owned(),
                place: table.to_owned(),
                why: format!("a row belongs to trial {number}, which does not exist"),
            });
        }
    }
    if let Some((number, end)) = events.keys().next() {
        return Err(Error::Content {
            path: path.to_owned(),
            place: "event".to_owned(),
            why: format!("a row belongs to end {end} of trial {number}, which does not exist"),
        });
    }
    Ok(trials)
}
