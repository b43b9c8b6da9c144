//! Reading a run, trusting nothing that the file says.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use hopcost_model::{EndCounters, PlannedCase, RawRun, RawTrial, YardstickReading, parallel};
use rusqlite::types::Value;
use rusqlite::{Connection, Transaction};
use serde::de::DeserializeOwned;

use crate::connect::{self, MakeFolder};
use crate::document;
use crate::error::{Cell, DOING_READ, EMPTY, Error, Problem, Result};
use crate::limits::{
    ELEMENTS_MAX, LIST_MAX, OPERATIONS_MAX, SAMPLES_MAX, TICKS_MAX, TRIALS_MAX, TRIALS_OF_CASE_MAX,
    in_file,
};
use crate::{samples, schema, trace};

/// Reads a whole run. The file may lie in a directory that cannot be written to,
/// may still be being written, or may have been left by a killed process: then it is
/// settled where nobody else can write to it, or on a copy in what `folder` makes.
///
/// # Errors
/// In one line, for what is not there, cannot be read, is damaged, or is nothing that hopcost
/// would have written.
pub fn open(path: &Path, folder: &MakeFolder) -> Result<RawRun> {
    let path = connect::check_file(path)?;
    run(&connect::reading(&path, folder)?, &path)
}

/// A file that is read, as of one moment.
pub(crate) struct Source<'a> {
    snapshot: Transaction<'a>,
    path: &'a Path,
    bytes: u64,
    left: Left,
}

/// What it may still hold.
struct Left {
    /// Bytes in its cells: no more than the file.
    bytes: Limit,
    /// Elements in the lists of its documents.
    elements: Limit,
    /// Numbers in its blobs.
    samples: Limit,
}

/// The most of something, and how much of it is left.
struct Limit(usize, AtomicUsize);

impl Limit {
    /// Takes `n` from what is left.
    fn take(&self, n: usize, why: impl FnOnce(usize) -> Problem) -> Cell<()> {
        let less = |left: usize| left.checked_sub(n);
        let taken = self.1.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less);
        taken.map(drop).map_err(|_| why(self.0))
    }
}

/// Reads a run, as of one moment.
pub(crate) fn run(conn: &Connection, path: &Path) -> Result<RawRun> {
    let sqlite = |error| Error::sqlite(path, DOING_READ, error);
    let source = Source::of(conn, path)?;
    let objects: i64 = conn
        .query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))
        .map_err(sqlite)?;
    if objects == 0 {
        // Killed while creating; the journal has just undone the rest.
        return Err(Error::because(path, EMPTY));
    }
    // The header is not the last word: a journal may have changed it since.
    let version = schema::version(conn).map_err(sqlite)?;
    schema::check_version(path, version)?;
    schema::check(conn, path)?;
    source.run()
}

impl<'a> Source<'a> {
    /// A file of which nothing was read yet.
    pub(crate) fn of(conn: &'a Connection, path: &'a Path) -> Result<Self> {
        let sqlite = |error| Error::sqlite(path, DOING_READ, error);
        let snapshot = conn.unchecked_transaction().map_err(sqlite)?;
        let pages = |name| snapshot.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
        let bytes = pages("page_count").and_then(|count| Ok(count * pages("page_size")?));
        let of_pages = usize::try_from(bytes.map_err(sqlite)?).unwrap_or(0);
        let on_disk = fs::metadata(path).map_or(0, |found| found.len());
        let bytes = on_disk.min(of_pages as u64);
        let limit = |most: usize| Limit(most, most.into());
        let left = Left {
            bytes: limit(of_pages),
            elements: limit(in_file(ELEMENTS_MAX, bytes)),
            samples: limit(in_file(SAMPLES_MAX, bytes).min(samples::MAX_PER_RUN)),
        };
        Ok(Self { snapshot, path, bytes, left })
    }

    /// A line for what hopcost would never have written.
    fn wrong<T>(&self, place: &str, why: &str) -> Result<T> {
        Err(Error::content(self.path, place, why))
    }

    /// What every row of a table says, by the number in its first column.
    pub(crate) fn rows<T: Send>(
        &self,
        (table, columns): (&str, &str),
        rows_max: usize,
        get: impl Fn(&Row<'_>) -> Cell<T> + Sync,
    ) -> Result<Vec<T>> {
        let path = self.path;
        let sqlite = |error| Error::sqlite(path, DOING_READ, error);
        // No index and no sorting by SQLite, which a made-up file can make long.
        let query = format!("SELECT {columns} FROM {table} NOT INDEXED");
        let mut query = self.snapshot.prepare(&query).map_err(sqlite)?;
        let mut cursor = query.query([]).map_err(sqlite)?;
        let most = in_file(rows_max, self.bytes);
        let wrong = |at: usize, problem: Problem| match table {
            "run" => problem.reading(path, table),
            _ => problem.reading(path, &format!("{table} {}", at + 1)),
        };
        let mut rows: Vec<Row> = Vec::new();
        while let Some(row) = cursor.next().map_err(sqlite)? {
            if rows.len() == most {
                return self.wrong(table, &format!("it has more than {most} rows"));
            }
            let row = Row::of(row, columns, &self.left);
            rows.push(row.map_err(|problem| wrong(rows.len(), problem))?);
        }
        rows.sort_by_key(|row| row.number);
        let all = parallel::each(rows.len(), |at| get(&rows[at]).map_err(|why| wrong(at, why)));
        all.into_iter().collect()
    }

    /// The run, whose trials come last: much of them follows from the rest.
    fn run(&self) -> Result<RawRun> {
        let runs = self.rows(("run", "position, document"), 1, |row| row.document(1))?;
        let Ok([mut run]) = <[RawRun; 1]>::try_from(runs) else {
            return self.wrong("run", "it should have one row");
        };
        let after = run.host_after.as_ref().map_or(0, |host| host.readings.len());
        for (what, found) in [
            ("cases", run.plan.cases.len()),
            ("clocks", run.clocks.len().max(run.clocks_after.len())),
            ("readings of the host", run.host_before.readings.len().max(after)),
            ("yardsticks", run.yardsticks.len()),
            ("workers", run.workers.len()),
        ] {
            if found > LIST_MAX {
                return self.wrong("run", &format!("it has {found} {what}, more than {LIST_MAX}"));
            }
        }
        let mut ids = BTreeSet::new();
        let twice = run.plan.cases.iter().map(PlannedCase::id).find(|id| !ids.insert(id.clone()));
        // The baseline of a comparison is compared with itself.
        if let Some(twice) = twice.filter(|_| run.plan.comparison.is_none()) {
            return self.wrong("run", &format!("plan has the case {twice} twice"));
        }
        let mut known = run.yardsticks.iter().filter_map(|one| one.reference.as_ref());
        if known.any(|known| known.operation_ns <= 0.0) {
            return self.wrong("run", "the reference of a yardstick is not a time");
        }
        let trials = self.rows(("trial", TRIAL), TRIALS_MAX, |row| row.trial())?;
        let mut trials_of = BTreeMap::<u32, BTreeSet<u32>>::new();
        for (at, trial) in trials.iter().enumerate() {
            let of_case = trials_of.entry(trial.case).or_default();
            let wrong = if !of_case.insert(trial.round) {
                Some(format!("case {} is measured twice in round {}", trial.case, trial.round))
            } else if of_case.len() > TRIALS_OF_CASE_MAX as usize {
                Some(format!("case {} has more than {TRIALS_OF_CASE_MAX} trials", trial.case))
            } else {
                implausible(trial, &run)
            };
            if let Some(why) = wrong {
                return self.wrong(&format!("trial {}", at + 1), &why);
            }
        }
        run.trials = trials;
        Ok(run)
    }
}

/// A row as stored.
pub(crate) struct Row<'a> {
    number: i64,
    columns: &'a str,
    cells: Vec<Value>,
    left: &'a Left,
}

impl<'a> Row<'a> {
    /// Takes the cells, whose bytes are counted, because those of a made-up file can share their pages.
    fn of(row: &rusqlite::Row<'_>, columns: &'a str, left: &'a Left) -> Cell<Self> {
        let mut all = Self { number: row.get(0)?, columns, cells: Vec::new(), left };
        for at in 0..row.as_ref().column_count() {
            let cell = row.get_ref(at)?;
            let bytes = cell.as_bytes_or_null().ok().flatten().map_or(0, <[u8]>::len);
            left.bytes.take(bytes, |_| all.wrong(at, "is too long: the file is smaller"))?;
            let cell = cell.try_into();
            all.cells.push(cell.map_err(|_| all.wrong(at, "is text that is not UTF-8"))?);
        }
        Ok(all)
    }

    fn wrong(&self, at: usize, what: impl Display) -> Problem {
        let name = self.columns.split(", ").nth(at).unwrap_or("a value");
        Problem::Value(format!("{name} {what}"))
    }

    fn is_not(&self, at: usize, wanted: &str) -> Problem {
        self.wrong(at, format!("is {}, not {wanted}", self.cells[at].data_type()))
    }

    /// A text.
    pub(crate) fn text(&self, at: usize) -> Cell<&str> {
        match &self.cells[at] {
            Value::Text(text) => Ok(text),
            _ => Err(self.is_not(at, "text")),
        }
    }

    /// What a document says; an empty cell is `null`.
    pub(crate) fn document<T: DeserializeOwned>(&self, at: usize) -> Cell<T> {
        let text = if self.cells[at] == Value::Null { "null" } else { self.text(at)? };
        let (value, elements) = document::parse(text).map_err(Problem::Value)?;
        let why = |most| format!("the lists so far have more than {most} elements");
        self.left.elements.take(elements, |most| Problem::Value(why(most)))?;
        Ok(value)
    }

    /// What a blob holds, of which eight bytes count as a sample; `None` where there is none.
    fn unpacked<T>(
        &self,
        at: usize,
        unpack: impl Fn(&[u8]) -> std::result::Result<Vec<T>, String>,
    ) -> Cell<Option<Vec<T>>> {
        let blob = match &self.cells[at] {
            Value::Null => return Ok(None),
            Value::Blob(blob) => blob,
            _ => return Err(self.is_not(at, "a blob")),
        };
        let all = unpack(blob).map_err(|why| self.wrong(at, why))?;
        let why = |most| format!("the number of samples so far is more than {most}");
        let n = size_of_val(&*all).div_ceil(8);
        self.left.samples.take(n, |most| Problem::Value(why(most)))?;
        Ok(Some(all))
    }

    fn trial(&self) -> Cell<RawTrial> {
        let mut trial: RawTrial = self.document(1)?;
        let Value::Integer(kept) = self.cells[2] else { return Err(self.is_not(2, "a number")) };
        let most = samples::MAX_PER_TRIAL;
        let known = usize::try_from(kept).ok().filter(|kept| *kept <= most);
        let kept = known.ok_or_else(|| self.wrong(2, format!("is {kept}, not 0 to {most}")))?;
        let ticks = |blob: &[u8]| samples::unpack(blob, kept);
        trial.samples = self.unpacked(3, ticks)?.unwrap_or_default();
        if let Some(load) = &mut trial.load {
            load.lags = self.unpacked(4, ticks)?.unwrap_or_default();
            load.gaps = self.unpacked(5, ticks)?.unwrap_or_default();
            load.own_lags = self.unpacked(6, ticks)?;
        }
        if let Some(traced) = &mut trial.trace {
            let operations = usize::try_from(traced.operations).unwrap_or(usize::MAX);
            if operations > most {
                let why =
                    format!("it has {operations} operations, more than {most} that are traced");
                return Err(Problem::Value(why));
            }
            let of_each = |blob: &[u8]| samples::unpack(blob, operations);
            traced.untraced_ns = self.unpacked(7, of_each)?.unwrap_or_default();
            if let Some(json) = self.unpacked(8, trace::json)? {
                traced.events = trace::read(&json).map_err(|why| self.wrong(8, why))?;
            }
        }
        Ok(trial)
    }
}

/// What stands in a row of the table `trial`.
pub(crate) const TRIAL: &str =
    "trial, document, samples_kept, samples, lags, gaps, own_lags, untraced_ns, events";

/// What of a trial cannot be, in a run of which everything else is known.
fn implausible(trial: &RawTrial, run: &RawRun) -> Option<String> {
    let cases = run.plan.cases.len();
    let of_end = |end: &EndCounters| end.first_tick.max(end.elapsed_ticks).max(end.max_ticks);
    let ticks = trial.ends.iter().map(of_end).fold(trial.samples_max_ticks, u64::max);
    let traced = trial.trace.as_ref().map_or(0, |trace| trace.operations);
    let counts = trial.ends.iter().map(|end| end.count).chain([traced]);
    let done = counts.fold(trial.operations, u64::max);
    let unknown = |read: &&YardstickReading| read.yardstick as usize >= run.yardsticks.len();
    if ticks >= TICKS_MAX {
        Some(format!("a clock shows {ticks} ticks, which cannot be"))
    } else if done > OPERATIONS_MAX {
        Some(format!("it has {done} operations, more than {OPERATIONS_MAX}"))
    } else if trial.case as usize >= cases {
        Some(format!("case is {}, of {cases} cases", trial.case))
    } else {
        let unknown = trial.yardsticks.iter().find(unknown)?;
        Some(format!("a reading is of yardstick {}, which does not exist", unknown.yardstick))
    }
}
