//! Writing a run: creating, appending, resuming, finishing.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use hopcost_model::describe::Description;
use hopcost_model::finding::Finding;
use hopcost_model::host::{Host, Reading};
use hopcost_model::plan::Plan;
use hopcost_model::protocol::{ClockReading, EventReading};
use hopcost_model::raw::{CpuAccounting, RawRun, RawTrial, RunAbout, Yardstick};
use rusqlite::{Connection, Transaction, TransactionBehavior};

use crate::connect;
use crate::error::{Cell, Error, Problem, Result, beside};
use crate::read::BOTH_ENDS;
use crate::schema::{self, APPLICATION_ID};
use crate::tables::{self as t, EstimateRow};

/// A run being written. Its lock keeps every other hopcost from appending to
/// the file, and goes with the process however that ends.
#[derive(Debug)]
pub struct RunFile {
    // Closed before the lock: closing any descriptor of a file drops the
    // process's POSIX locks on it, SQLite's among them.
    conn: Connection,
    lock: File,
    path: PathBuf,
    cases: usize,
    finished: BTreeSet<(u32, u32)>,
    next_trial: i64,
}

/// Takes the lock that keeps a second hopcost from appending.
fn lock(path: &Path, file: &File) -> Result<()> {
    match file.try_lock() {
        Ok(()) => Ok(()),
        Err(TryLockError::WouldBlock) => Err(Error::Writing(path.to_owned())),
        Err(TryLockError::Error(error)) => Err(Error::io(path, "lock it", error)),
    }
}

/// Opens an unfinished run to append to it, and reads what it holds. Call
/// [`RunFile::set_resumed`] before the first trial: until then the file stays as it is, and in
/// its format.
///
/// # Errors
/// Those of [`crate::open`]; [`Error::Writing`] while another hopcost appends;
/// [`Error::Denied`] if the file may not be written.
pub fn open_for_resume(path: &Path) -> Result<(RunFile, RawRun)> {
    const DOING: &str = "resume it";
    let path = connect::check_file(path)?;
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .open(&path)
        .map_err(|error| Error::io(&path, DOING, error))?;
    lock(&path, &file)?;
    let sqlite = |error| Error::sqlite(&path, DOING, error);
    let opened = (|| {
        let conn = connect::resuming(&path)?;
        let run = crate::read::run(&conn, &path)?;
        let last: i64 = conn
            .query_row("SELECT coalesce(max(trial), 0) FROM trial", [], |row| row.get(0))
            .map_err(sqlite)?;
        Ok((conn, run, last))
    })();
    let (conn, run, last) = opened.map_err(|error| {
        connect::leave(&path);
        crate::read::count_readable(error, &path)
    })?;
    let next_trial = last.checked_add(1).ok_or_else(|| Error::Content {
        path: path.clone(),
        place: format!("trial {last}"),
        why: "no number is left for a further trial".to_owned(),
    })?;
    let finished = crate::read::finished(&run);
    let cases = run.plan.cases.len();
    Ok((RunFile { conn, lock: file, path, cases, finished, next_trial }, run))
}

fn begin(conn: &mut Connection) -> rusqlite::Result<Transaction<'_>> {
    conn.transaction_with_behavior(TransactionBehavior::Immediate)
}

impl RunFile {
    /// Creates the file with everything that is known before the first trial.
    ///
    /// # Errors
    /// [`Error::Exists`]: nothing is ever overwritten. [`Error::NotFound`]: no
    /// such directory. [`Error::Denied`], [`Error::Full`], … if the file cannot
    /// be written; no half-made file is left behind then.
    pub fn create(path: &Path, about: &RunAbout, plan: &Plan, before: &Host) -> Result<Self> {
        const DOING: &str = "create it";
        let path = std::path::absolute(path).map_err(|error| Error::io(path, DOING, error))?;
        let directory = path.parent().unwrap_or(&path);
        fs::metadata(directory).map_err(|error| Error::io(directory, "look into it", error))?;
        let file = OpenOptions::new().read(true).write(true).create_new(true).open(&path);
        let file = file.map_err(|error| match error.kind() {
            std::io::ErrorKind::AlreadyExists => Error::Exists(path.clone()),
            std::io::ErrorKind::PermissionDenied | std::io::ErrorKind::ReadOnlyFilesystem => {
                Error::Denied { path: directory.to_owned(), doing: "create a file in it" }
            }
            _ => Error::io(&path, DOING, error),
        })?;
        let stored = lock(&path, &file).and_then(|()| connect::own_journal(&path)).and_then(|()| {
            let mut conn = connect::append(&path).map_err(|e| Error::sqlite(&path, DOING, e))?;
            fill(&mut conn, about, plan, before)
                .map_err(|problem| problem.storing(&path, DOING, "the run"))?;
            Ok(conn)
        });
        match stored {
            Ok(conn) => {
                let cases = plan.cases.len();
                let finished = BTreeSet::new();
                Ok(Self { conn, lock: file, path, cases, finished, next_trial: 1 })
            }
            Err(error) => {
                let _ = fs::remove_file(&path);
                let _ = fs::remove_file(beside(&path, "-journal"));
                Err(error)
            }
        }
    }

    /// Where the file is, absolutely.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// `(case, round)` of every stored trial, failed ones included.
    pub fn finished(&self) -> &BTreeSet<(u32, u32)> {
        &self.finished
    }

    /// Where the file is now, which may have been moved, and how many trials it
    /// holds.
    ///
    /// # Errors
    /// [`Error::Deleted`]; [`Error::Damaged`] and the like if others have changed it.
    pub fn kept(&self) -> Result<(PathBuf, i64)> {
        const DOING: &str = "count its trials";
        let io = |error| Error::io(&self.path, DOING, error);
        if self.lock.metadata().map_err(io)?.nlink() == 0 {
            return Err(Error::Deleted(self.path.clone()));
        }
        let link = format!("/proc/self/fd/{}", self.lock.as_raw_fd());
        let place = fs::read_link(link).unwrap_or_else(|_| self.path.clone());
        let count =
            self.conn.query_row("SELECT count(*) FROM trial", [], |row| row.get::<_, i64>(0));
        count.map(|count| (place.clone(), count)).map_err(|e| Error::sqlite(&place, DOING, e))
    }

    /// Runs `work` in one transaction: all of it is on the disk, or none.
    fn transaction(
        &mut self,
        doing: &'static str,
        place: &str,
        work: impl FnOnce(&Transaction<'_>) -> Cell<()>,
    ) -> Result<()> {
        let path = &self.path;
        let done = begin(&mut self.conn).map_err(Problem::from).and_then(|tx| {
            work(&tx)?;
            tx.commit()?;
            Ok(())
        });
        done.map_err(|problem| problem.storing(path, doing, place))
    }

    /// Stores a finished trial. When this returns `Ok`, the trial is on the disk;
    /// when it returns an error, nothing of it is, and it may be tried again.
    ///
    /// # Errors
    /// [`Error::Unstorable`]: the case is not in the plan, its trial of this round
    /// is stored already, a count exceeds 2^63 - 1, a time is not finite or
    /// more than [`crate::samples::MAX_PER_TRIAL`] samples are kept. [`Error::Full`] and
    /// others from below.
    pub fn append_trial(&mut self, trial: &RawTrial) -> Result<()> {
        let place = format!("the trial of case {} in round {}", trial.case, trial.round);
        let key = (trial.case, trial.round);
        let refuse = |why: String| Problem::Value(why).storing(&self.path, "store it", &place);
        if trial.case as usize >= self.cases {
            return Err(refuse(format!("the plan has {} cases", self.cases)));
        }
        if self.finished.contains(&key) {
            return Err(refuse("it is stored already".to_owned()));
        }
        // Outside the transaction, which then is as short as can be.
        let number = self.next_trial;
        let cells = t::TRIAL.cells(&(number, trial));
        let cells = cells.map_err(|problem| problem.storing(&self.path, "store it", &place))?;
        self.transaction("store a trial", &place, |tx| {
            t::TRIAL.insert_cells(tx, cells)?;
            t::END.insert(tx, numbered(number, &trial.ends))?;
            for (position, end) in (0..).zip(&trial.ends) {
                t::EVENT.insert(tx, counted(number, position, &end.events))?;
            }
            t::EVENT.insert(tx, counted(number, BOTH_ENDS, &trial.counted))?;
            t::GATE.insert(tx, numbered(number, &trial.gates))?;
            t::THREAD_USE.insert(tx, numbered(number, &trial.threads))?;
            t::WARM_UP.insert(tx, numbered(number, &trial.warm_up_ns))?;
            t::STAMP_CHECK.insert(tx, trial.stamp_check.iter().map(|check| (number, check)))?;
            t::YARDSTICK_READING.insert(tx, numbered(number, &trial.yardsticks))?;
            t::LOAD.insert(tx, trial.load.iter().map(|load| (number, load)))?;
            t::TRACE.insert(tx, trial.trace.iter().map(|trace| (number, trace)))?;
            t::CPU_USE.insert(tx, numbered(number, &trial.cpu_uses))
        })?;
        self.next_trial += 1;
        self.finished.insert(key);
        Ok(())
    }

    /// Stores the calibrated clocks, in place of those stored before.
    ///
    /// # Errors
    /// [`Error::Unstorable`] for a reading that is not finite; others from below.
    pub fn put_clocks(&mut self, clocks: &[ClockReading]) -> Result<()> {
        self.transaction("store the clocks", "the clocks", |tx| {
            t::CLOCK.replace(tx, (0i64..).zip(clocks))
        })
    }

    /// Stores the clocks as calibrated after the last trial, in place of those stored before.
    ///
    /// # Errors
    /// As [`RunFile::put_clocks`].
    pub fn put_clocks_after(&mut self, clocks: &[ClockReading]) -> Result<()> {
        self.transaction("store the clocks", "the clocks", |tx| {
            t::CLOCK_AFTER.replace(tx, (0i64..).zip(clocks))
        })
    }

    /// Stores the yardsticks, in place of those stored before.
    ///
    /// # Errors
    /// [`Error::Unstorable`] for a reference that is not finite; others from below.
    pub fn put_yardsticks(&mut self, yardsticks: &[Yardstick]) -> Result<()> {
        self.transaction("store the yardsticks", "the yardsticks", |tx| {
            t::YARDSTICK.replace(tx, (0i64..).zip(yardsticks))
        })
    }

    /// Stores what the workers of other runtimes said of themselves, in place of what
    /// was stored before.
    ///
    /// # Errors
    /// [`Error::Unstorable`] for a number that is not finite; others from below.
    pub fn put_workers(&mut self, workers: &[Description]) -> Result<()> {
        self.transaction("store the workers", "the workers", |tx| {
            let rows = (0i64..).zip(workers).map(|(at, w)| (at, &w.runtime, &w.version, w));
            t::WORKER.replace(tx, rows)
        })
    }

    /// Adds the CPU accounting of a round to that stored before.
    ///
    /// # Errors
    /// [`Error::Unstorable`] for a time beyond 2^63 - 1; others from below.
    pub fn put_accounting(&mut self, accounting: &[CpuAccounting]) -> Result<()> {
        self.transaction("store CPU accounting", "CPU accounting", |tx| {
            let next = "SELECT coalesce(max(position) + 1, 0) FROM cpu_accounting";
            let next: i64 = tx.query_row(next, [], |row| row.get(0))?;
            t::ACCOUNTING.insert(tx, (next..).zip(accounting))
        })
    }

    /// Marks the run as ended at `ended` (RFC 3339, UTC) on the host as it is now.
    ///
    /// # Errors
    /// Only from below.
    pub fn finish(&mut self, after: &Host, ended: &str) -> Result<()> {
        self.transaction("finish it", "the end of the run", |tx| {
            tx.execute("DELETE FROM host_reading WHERE moment = 'after'", [])?;
            t::HOST.insert(tx, host("after", after))?;
            tx.execute("UPDATE run SET ended = ?1", [ended])?;
            Ok(())
        })
    }

    /// Marks the run as resumed `times` in all. It has no end again, and what was
    /// derived from its trials is dropped.
    ///
    /// # Errors
    /// Only from below.
    pub fn set_resumed(&mut self, times: u32) -> Result<()> {
        self.transaction("resume it", "the run", |tx| {
            tx.execute("UPDATE run SET resumed = ?1, ended = NULL", [times])?;
            tx.execute("DELETE FROM host_reading WHERE moment = 'after'", [])?;
            tx.execute("DELETE FROM estimate", [])?;
            tx.execute("DELETE FROM finding", [])?;
            Ok(())
        })
    }

    /// Stores what was computed from the run, in place of what was stored before,
    /// for people who never read our code. hopcost itself only ever compares with it.
    ///
    /// # Errors
    /// [`Error::Unstorable`] for a number that is not finite; others from below.
    pub fn put_derived(&mut self, estimates: &[EstimateRow], findings: &[Finding]) -> Result<()> {
        self.transaction("store results", "the results", |tx| {
            t::ESTIMATE.replace(tx, estimates)?;
            t::FINDING.replace(tx, (0i64..).zip(findings))
        })
    }
}

impl Drop for RunFile {
    fn drop(&mut self) {
        // Takes the empty journal away; if it cannot, an empty file stays.
        let _ = self.conn.pragma_update_and_check(None, "journal_mode", "delete", |_| Ok(()));
    }
}

/// Rows of a trial in their order.
fn numbered<T>(trial: i64, rows: &[T]) -> impl Iterator<Item = (i64, i64, &T)> {
    (0..).zip(rows).map(move |(position, row)| (trial, position, row))
}

/// What was counted for an end of a trial.
fn counted(
    trial: i64,
    end: i64,
    rows: &[EventReading],
) -> impl Iterator<Item = (i64, i64, i64, &EventReading)> {
    (0..).zip(rows).map(move |(position, row)| (trial, end, position, row))
}

fn host<'a>(moment: &'a str, host: &'a Host) -> impl Iterator<Item = (&'a str, i64, &'a Reading)> {
    (0..).zip(&host.readings).map(move |(position, row)| (moment, position, row))
}

fn fill(conn: &mut Connection, about: &RunAbout, plan: &Plan, before: &Host) -> Cell<()> {
    let tx = begin(conn)?;
    tx.pragma_update(None, "application_id", APPLICATION_ID)?;
    schema::create(&tx)?;
    t::RUN.insert(&tx, [(1i64, about, plan)])?;
    t::PLANNED_CASE.insert(&tx, (0i64..).zip(&plan.cases))?;
    t::HOST.insert(&tx, host("before", before))?;
    tx.commit()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use hopcost_model::plan::{PlannedCase, TrialShape};
    use hopcost_model::raw::Build;

    fn empty_trial(round: u32, samples: Vec<u32>) -> RawTrial {
        RawTrial { round, samples, ..RawTrial::empty() }
    }

    fn create(path: &Path) -> RunFile {
        let text = String::new;
        let build = Build {
            profile: text(),
            compiler: text(),
            target: text(),
            slow: vec![],
            checksum: None,
        };
        let about = RunAbout {
            id: text(),
            version: text(),
            commit: text(),
            build,
            argv: vec![],
            started: text(),
            ended: None,
            resumed: 0,
            group: None,
        };
        let trial = TrialShape {
            measure_ns: 1,
            measure_max_ns: 1,
            operations_min: 1,
            warm_up_ns: 1,
            deadline_ms: 1,
            samples_max: 1,
            operations: None,
            warm_up_operations: None,
            counted_operations: 0,
            traced_operations: None,
        };
        let plan = Plan {
            suite: text(),
            seed: 0,
            rounds: 1,
            budget_ns: None,
            comparison: None,
            question: None,
            until: None,
            trial,
            baseline: None,
            cpus: vec![],
            relation: None,
            pairs: Default::default(),
            cases: vec![PlannedCase::spelled("call/syscall", None)],
        };
        RunFile::create(path, &about, &plan, &Host::default()).unwrap()
    }

    #[test]
    fn a_full_disk_loses_nothing_and_can_be_got_over() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("r");
        let mut file = create(&path);
        file.append_trial(&empty_trial(0, vec![])).unwrap();
        // What SQLite meets on a full disk: a file that cannot grow.
        let pages: i64 = file.conn.pragma_query_value(None, "page_count", |r| r.get(0)).unwrap();
        file.conn.pragma_update_and_check(None, "max_page_count", pages, |_| Ok(())).unwrap();
        let large: Vec<u32> = (0..9_000u32).map(|i| i.wrapping_mul(2_654_435_761)).collect();
        let refused = file.append_trial(&empty_trial(1, large.clone())).unwrap_err();
        assert!(matches!(refused, Error::Full(_)), "{refused}");
        assert!(refused.to_string().contains("disk is full"));
        assert_eq!(trials(&path), 1);
        file.conn.pragma_update_and_check(None, "max_page_count", 1 << 30, |_| Ok(())).unwrap();
        file.append_trial(&empty_trial(1, large)).unwrap();
        drop(file);
        assert_eq!(trials(&path), 2);
    }

    fn trials(path: &Path) -> usize {
        crate::open(path, &|| Ok(Box::new(tempfile::tempdir()?))).unwrap().trials.len()
    }

    #[test]
    fn commits_are_synchronous_and_in_no_second_file() {
        let dir = tempfile::tempdir().unwrap();
        let file = create(&dir.path().join("r"));
        let mode: String =
            file.conn.pragma_query_value(None, "journal_mode", |r| r.get(0)).unwrap();
        let synchronous: i64 =
            file.conn.pragma_query_value(None, "synchronous", |r| r.get(0)).unwrap();
        assert_eq!((mode.as_str(), synchronous), ("truncate", 2));
    }
}
