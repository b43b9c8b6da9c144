//! Writing a run: creating, appending, resuming, finishing.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use hopcost_model::{
    CaseParts, Estimate, Finding, Host, Plan, PlannedCase, RawRun, RawTrial, RunAbout, Validity,
};
use rusqlite::types::Value;
use rusqlite::{Connection, Transaction, TransactionBehavior, params_from_iter};
use serde::{Deserialize, Serialize};

use crate::document::{computed, measured};
use crate::error::{Cell, EXISTS, Error, Problem, Result, WRITING, beside};
use crate::read::TRIAL;
use crate::schema::{self, APPLICATION_ID};
use crate::{connect, samples, trace};

/// A run being written. Its lock keeps every other hopcost from appending to
/// the file, and goes with the process however that ends.
#[derive(Debug)]
pub struct RunFile {
    // Closed before the lock: closing any descriptor of a file drops the
    // process's POSIX locks on it, SQLite's among them.
    conn: Connection,
    lock: File,
    path: PathBuf,
    /// What is stored.
    run: RawRun,
}

/// An estimate as it is stored beside a run: a statistic of a case. Times are nanoseconds, as the
/// statistic's name says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EstimateRow {
    /// Canonical spelling of the case.
    pub case_id: String,
    /// Name with its unit: `p50_ns`, `cost_ns`, `max_ns`, …
    pub statistic: String,
    /// The value and its interval.
    #[serde(flatten)]
    pub estimate: Estimate,
    /// Validity of the case's result.
    pub validity: Validity,
}

/// Takes the lock that keeps a second hopcost from appending.
fn lock(path: &Path, file: &File) -> Result<()> {
    match file.try_lock() {
        Ok(()) => Ok(()),
        Err(TryLockError::WouldBlock) => Err(Error::because(path, WRITING)),
        Err(TryLockError::Error(error)) => Err(Error::io(path, "lock it", error)),
    }
}

/// Opens an unfinished run to append to it. Call
/// [`RunFile::set_resumed`] before the first trial: until then the file stays as it is, and in
/// its format.
///
/// # Errors
/// As of [`crate::open`], and where it may not be written or another hopcost appends to it.
pub fn open_for_resume(path: &Path) -> Result<RunFile> {
    const DOING: &str = "resume it";
    let path = connect::check_file(path)?;
    let file = OpenOptions::new().read(true).write(true).open(&path);
    let file = file.map_err(|error| Error::io(&path, DOING, error))?;
    lock(&path, &file)?;
    let opened = connect::resuming(&path).and_then(|conn| {
        let run = crate::read::run(&conn, &path)?;
        Ok((conn, run))
    });
    let (conn, run) = opened.inspect_err(|_| connect::leave(&path))?;
    Ok(RunFile { conn, lock: file, path, run })
}

fn begin(conn: &mut Connection) -> rusqlite::Result<Transaction<'_>> {
    conn.transaction_with_behavior(TransactionBehavior::Immediate)
}

impl RunFile {
    /// Creates the file with everything that is known before the first trial.
    ///
    /// # Errors
    /// Where the file is there already, which is never overwritten, or cannot be written; no
    /// half-made file is left behind then.
    pub fn create(path: &Path, about: &RunAbout, plan: &Plan, before: &Host) -> Result<Self> {
        const DOING: &str = "create it";
        let path = std::path::absolute(path).map_err(|error| Error::io(path, DOING, error))?;
        let directory = path.parent().unwrap_or(&path);
        fs::metadata(directory).map_err(|error| Error::io(directory, "look into it", error))?;
        let file = OpenOptions::new().read(true).write(true).create_new(true).open(&path);
        let file = file.map_err(|error| match error.kind() {
            std::io::ErrorKind::AlreadyExists => Error::because(&path, EXISTS),
            _ => Error::io(&path, DOING, error),
        })?;
        let run = RawRun {
            about: about.clone(),
            plan: plan.clone(),
            host_before: before.clone(),
            ..RawRun::default()
        };
        let stored = lock(&path, &file).and_then(|()| connect::own_journal(&path)).and_then(|()| {
            let mut conn = connect::append(&path).map_err(|e| Error::sqlite(&path, DOING, e))?;
            fill(&mut conn, &run).map_err(|problem| problem.storing(&path, DOING, "the run"))?;
            Ok(conn)
        });
        match stored {
            Ok(conn) => Ok(Self { conn, lock: file, path, run }),
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

    /// What is stored, as it would be read.
    pub fn run(&self) -> &RawRun {
        &self.run
    }

    /// Where the file is now, which may have been moved, and how many trials it
    /// holds.
    ///
    /// # Errors
    /// Where others have deleted or changed it.
    pub fn kept(&self) -> Result<(PathBuf, i64)> {
        const DOING: &str = "count its trials";
        let io = |error| Error::io(&self.path, DOING, error);
        if self.lock.metadata().map_err(io)?.nlink() == 0 {
            let why = "the file was deleted while it was being written; its trials are lost";
            return Err(Error::because(&self.path, why));
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

    /// Stores what is known of the run besides its trials, changed: its clocks, its workers, …
    ///
    /// # Errors
    /// For a number that is not finite or beyond 2^63 - 1; others from below.
    pub fn change(&mut self, doing: &'static str, change: impl FnOnce(&mut RawRun)) -> Result<()> {
        // The trials have rows of their own.
        let trials = std::mem::take(&mut self.run.trials);
        let mut run = self.run.clone();
        change(&mut run);
        let document = measured(&run);
        let stored = self.transaction(doing, "the run", |tx| replace(tx, "run", [document]));
        if stored.is_ok() {
            self.run = run;
        }
        self.run.trials = trials;
        stored
    }

    /// Stores a finished trial. When this returns `Ok`, the trial is on the disk;
    /// when it returns an error, nothing of it is, and it may be tried again.
    ///
    /// # Errors
    /// Where the case is not in the plan, its trial of this round is stored already, a count exceeds
    /// 2^63 - 1, a time is not finite or more than [`crate::samples::MAX_PER_TRIAL`] samples are
    /// kept; others from below.
    pub fn append_trial(&mut self, trial: RawTrial) -> Result<()> {
        const DOING: &str = "store a trial";
        let place = format!("the trial of case {} in round {}", trial.case, trial.round);
        let is_same = |other: &RawTrial| (other.case, other.round) == (trial.case, trial.round);
        let refuse = |why: String| Problem::Value(why).storing(&self.path, DOING, &place);
        if trial.case as usize >= self.run.plan.cases.len() {
            return Err(refuse(format!("the plan has {} cases", self.run.plan.cases.len())));
        }
        if self.run.trials.iter().any(is_same) {
            return Err(refuse("it is stored already".to_owned()));
        }
        // Outside the transaction, which then is as short as can be.
        let cells = cells(&trial).map_err(|problem| problem.storing(&self.path, DOING, &place))?;
        self.transaction(DOING, &place, |tx| {
            let insert = format!("INSERT INTO trial ({TRIAL}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)");
            tx.prepare_cached(&insert)?.execute(params_from_iter(cells))?;
            Ok(())
        })?;
        self.run.trials.push(trial);
        Ok(())
    }

    /// Marks the run as resumed `times` in all. It has no end again, and what was
    /// derived from its trials is dropped.
    ///
    /// # Errors
    /// Only from below.
    pub fn set_resumed(&mut self, times: u32) -> Result<()> {
        const DOING: &str = "resume it";
        self.transaction(DOING, "the run", |tx| {
            tx.execute_batch("DELETE FROM estimate; DELETE FROM finding")?;
            Ok(())
        })?;
        self.change(DOING, |run| {
            run.about.resumed = times;
            run.about.ended = None;
            run.host_after = None;
        })
    }

    /// Stores what was computed from the run, in place of what was stored before,
    /// for people who never read our code. hopcost itself only ever compares with it.
    ///
    /// # Errors
    /// For a number that is not finite; others from below.
    pub fn put_derived(&mut self, estimates: &[EstimateRow], findings: &[Finding]) -> Result<()> {
        self.transaction("store results", "the results", |tx| {
            replace(tx, "estimate", estimates.iter().map(computed))?;
            replace(tx, "finding", findings.iter().map(computed))
        })
    }
}

/// Writes documents in place of those of a table.
fn replace(
    tx: &Transaction<'_>,
    table: &str,
    documents: impl IntoIterator<Item = Cell<String>>,
) -> Cell<()> {
    tx.execute(&format!("DELETE FROM {table}"), [])?;
    let insert = format!("INSERT INTO {table} VALUES (?1, ?2)");
    for (at, document) in (0i64..).zip(documents) {
        tx.prepare_cached(&insert)?.execute((at, document?))?;
    }
    Ok(())
}

/// A row of the table `trial`, whose number SQLite gives: its document, and long values in columns of
/// their own.
fn cells(trial: &RawTrial) -> Cell<Vec<Value>> {
    let mut trial = trial.clone();
    let samples = std::mem::take(&mut trial.samples);
    let mut cells = vec![Value::from(samples.len() as i64), packed(&samples)?];
    let mut load = trial.load.as_mut();
    let lags = load.as_mut().map(|load| std::mem::take(&mut load.lags));
    let gaps = load.as_mut().map(|load| std::mem::take(&mut load.gaps));
    let own_lags = load.and_then(|load| load.own_lags.take());
    let mut traced = trial.trace.as_mut();
    let untraced = traced.as_mut().map(|trace| std::mem::take(&mut trace.untraced_ns));
    for ticks in [lags, gaps, own_lags] {
        cells.push(ticks.map_or(Ok(Value::Null), |ticks| packed(&ticks))?);
    }
    cells.push(untraced.map_or(Ok(Value::Null), |ns| packed(&ns))?);
    let events = traced.map(|traced| trace::pack(&std::mem::take(&mut traced.events)));
    cells.push(events.transpose().map_err(Problem::Value)?.into());
    let document = measured(&trial)?;
    Ok([Value::Null, document.into()].into_iter().chain(cells).collect())
}

fn packed(ticks: &[u64]) -> Cell<Value> {
    match ticks.len() {
        0..=samples::MAX_PER_TRIAL => Ok(samples::pack(ticks).into()),
        n => Err(Problem::Value(format!("{n} samples, more than {}", samples::MAX_PER_TRIAL))),
    }
}

impl Drop for RunFile {
    fn drop(&mut self) {
        // Takes the empty journal away; if it cannot, an empty file stays.
        let _ = self.conn.pragma_update_and_check(None, "journal_mode", "delete", |_| Ok(()));
    }
}

/// A case taken apart, for SQL alone: hopcost reads the plan.
fn case_document(planned: &PlannedCase) -> Cell<String> {
    let mut document = serde_json::json!(CaseParts::of(&planned.case));
    document["case_id"] = planned.id().into();
    document["skip"] = serde_json::json!(planned.skip);
    computed(&document)
}

fn fill(conn: &mut Connection, run: &RawRun) -> Cell<()> {
    let tx = begin(conn)?;
    tx.pragma_update(None, "application_id", APPLICATION_ID)?;
    schema::create(&tx)?;
    replace(&tx, "run", [measured(run)])?;
    replace(&tx, "planned_case", run.plan.cases.iter().map(case_document))?;
    tx.commit()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn empty_trial(round: u32, samples: Vec<u64>) -> RawTrial {
        RawTrial { round, samples, ..RawTrial::default() }
    }

    fn create(path: &Path) -> RunFile {
        let case = PlannedCase::live("call/syscall".parse().unwrap());
        let plan = Plan { rounds: 2, cases: vec![case], ..Plan::default() };
        RunFile::create(path, &RunAbout::default(), &plan, &Host::default()).unwrap()
    }

    #[test]
    fn a_full_disk_loses_nothing_and_can_be_got_over() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("r");
        let mut file = create(&path);
        file.append_trial(empty_trial(0, vec![])).unwrap();
        // What SQLite meets on a full disk: a file that cannot grow.
        let pages: i64 = file.conn.pragma_query_value(None, "page_count", |r| r.get(0)).unwrap();
        file.conn.pragma_update_and_check(None, "max_page_count", pages, |_| Ok(())).unwrap();
        let large: Vec<u64> = (0..9_000u32).map(|i| i.wrapping_mul(2_654_435_761).into()).collect();
        let refused = file.append_trial(empty_trial(1, large.clone())).unwrap_err();
        assert!(refused.to_string().contains("the disk is full"), "{refused}");
        assert_eq!(trials(&path), 1);
        file.conn.pragma_update_and_check(None, "max_page_count", 1 << 30, |_| Ok(())).unwrap();
        file.append_trial(empty_trial(1, large)).unwrap();
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
