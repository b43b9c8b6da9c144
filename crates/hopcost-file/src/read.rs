//! Reading a run, trusting nothing that the file says.

use std::cell::Cell as Counter;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use hopcost_model::plan::PlannedCase;
use hopcost_model::protocol::EndCounters;
use hopcost_model::raw::{RawRun, RawTrial, YardstickReading};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row, Transaction};
use serde::de::DeserializeOwned;

use crate::connect::{self, MakeFolder};
use crate::document;
use crate::error::{Cell, DOING_READ, EMPTY, Error, Problem, Result};
use crate::limits::{
    CASES_MAX, ELEMENTS_MAX, LIST_MAX, OPERATIONS_MAX, SAMPLES_MAX, TICKS_MAX, TRIALS_MAX,
    TRIALS_OF_CASE_MAX, WORKERS_MAX, in_file,
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
    /// Bytes that its cells may still have: no more than the file.
    bytes_left: Counter<usize>,
    /// Elements that the lists of its documents may still have.
    elements_left: Counter<usize>,
    /// Numbers that its blobs may still hold.
    samples_left: Counter<usize>,
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
        Ok(Self {
            snapshot,
            path,
            bytes,
            bytes_left: of_pages.into(),
            elements_left: in_file(ELEMENTS_MAX, bytes).into(),
            samples_left: in_file(SAMPLES_MAX, bytes).min(samples::MAX_PER_RUN).into(),
        })
    }

    /// A line for what hopcost would never have written.
    fn wrong<T>(&self, place: &str, why: &str) -> Result<T> {
        Err(Error::content(self.path, place, why))
    }

    /// Every row of a table, by the number in its first column.
    pub(crate) fn rows<T>(
        &self,
        (table, columns): (&str, &str),
        rows_max: usize,
        get: impl Fn(&Row<'_>) -> Cell<T>,
    ) -> Result<Vec<T>> {
        let sqlite = |error| Error::sqlite(self.path, DOING_READ, error);
        // No index and no sorting by SQLite, which a made-up file can make long.
        let query = format!("SELECT {columns} FROM {table} NOT INDEXED");
        let mut query = self.snapshot.prepare(&query).map_err(sqlite)?;
        let mut cursor = query.query([]).map_err(sqlite)?;
        let most = in_file(rows_max, self.bytes);
        let mut out: Vec<(i64, T)> = Vec::new();
        while let Some(row) = cursor.next().map_err(sqlite)? {
            if out.len() == most {
                return self.wrong(table, &format!("it has more than {most} rows"));
            }
            let of_row = || Ok((row.get::<_, i64>(0)?, get(row)?));
            let place = || match table {
                "run" => table.to_owned(),
                _ => format!("{table} {}", out.len() + 1),
            };
            let read: Cell<(i64, T)> = of_row();
            let read = read.map_err(|problem| problem.reading(self.path, &place()));
            out.push(read?);
        }
        out.sort_by_key(|row| row.0);
        Ok(out.into_iter().map(|row| row.1).collect())
    }

    /// Takes `n` from what is left.
    fn take(left: &Counter<usize>, n: usize, why: impl FnOnce() -> String) -> Cell<()> {
        let rest = left.get().checked_sub(n);
        left.set(rest.ok_or_else(|| Problem::Value(why()))?);
        Ok(())
    }

    /// A cell whose bytes are counted, because those of a made-up file can share their pages.
    fn cell<'r>(&self, row: &'r Row<'_>, at: usize) -> Cell<ValueRef<'r>> {
        let value = row.get_ref(at)?;
        if let ValueRef::Text(bytes) | ValueRef::Blob(bytes) = value {
            let why = || format!("{} is too long: the file is smaller", name(row, at));
            Self::take(&self.bytes_left, bytes.len(), why)?;
        }
        Ok(value)
    }

    /// The text of a document.
    pub(crate) fn text<'r>(&self, row: &'r Row<'_>, at: usize) -> Cell<&'r str> {
        let wrong = |what: &str| Problem::Value(format!("{} is {what}", name(row, at)));
        match self.cell(row, at)? {
            ValueRef::Text(bytes) => {
                std::str::from_utf8(bytes).map_err(|_| wrong("text that is not UTF-8"))
            }
            other => Err(wrong(&format!("{}, not text", other.data_type()))),
        }
    }

    pub(crate) fn document<T: DeserializeOwned>(&self, row: &Row<'_>, at: usize) -> Cell<T> {
        let (value, elements) = document::parse(self.text(row, at)?).map_err(Problem::Value)?;
        let most = in_file(ELEMENTS_MAX, self.bytes);
        let why = || format!("the lists so far have more than {most} elements");
        Self::take(&self.elements_left, elements, why)?;
        Ok(value)
    }

    /// What a blob holds; `None` where there is none.
    fn unpacked<T>(
        &self,
        row: &Row<'_>,
        at: usize,
        unpack: impl Fn(&[u8]) -> std::result::Result<T, String>,
    ) -> Cell<Option<T>> {
        let wrong = |why: String| Problem::Value(format!("{} {why}", name(row, at)));
        match self.cell(row, at)? {
            ValueRef::Null => Ok(None),
            ValueRef::Blob(blob) => unpack(blob).map(Some).map_err(wrong),
            other => Err(wrong(format!("is {}, not a blob", other.data_type()))),
        }
    }

    fn trial(&self, row: &Row<'_>) -> Cell<RawTrial> {
        let mut trial: RawTrial = self.document(row, 1)?;
        let kept: i64 = row.get(2)?;
        let known = usize::try_from(kept).ok().filter(|kept| *kept <= samples::MAX_PER_TRIAL);
        let most = samples::MAX_PER_TRIAL;
        let why = || Problem::Value(format!("samples_kept is {kept}, not 0 to {most}"));
        let kept = known.ok_or_else(why)?;
        let ticks = |blob: &[u8]| samples::unpack(blob, kept);
        trial.samples = self.unpacked(row, 3, ticks)?.unwrap_or_default();
        if let Some(load) = &mut trial.load {
            load.lags = self.unpacked(row, 4, ticks)?.unwrap_or_default();
            load.gaps = self.unpacked(row, 5, ticks)?.unwrap_or_default();
            load.own_lags = self.unpacked(row, 6, ticks)?;
        }
        if let Some(traced) = &mut trial.trace {
            let words = |blob: &[u8]| samples::unpack_words(blob, samples::MAX_PER_TRIAL);
            traced.untraced_ns = self.unpacked(row, 7, words)?.unwrap_or_default();
            if let Some(json) = self.unpacked(row, 8, trace::json)? {
                self.take_numbers(json.len() / 8)?;
                let wrong = |why| Problem::Value(format!("events {why}"));
                traced.events = trace::read(&json).map_err(wrong)?;
            }
        }
        self.take_numbers(numbers(&trial))?;
        Ok(trial)
    }

    /// Takes `n` numbers of a blob from what is left; eight bytes of JSON count as one.
    fn take_numbers(&self, n: usize) -> Cell<()> {
        let most = in_file(SAMPLES_MAX, self.bytes).min(samples::MAX_PER_RUN);
        let why = || format!("the number of samples so far is more than {most}");
        Self::take(&self.samples_left, n, why)
    }

    /// The run, whose trials come last: much of them follows from the rest.
    fn run(&self) -> Result<RawRun> {
        let runs = self.rows(("run", "position, document"), 1, |row| self.document(row, 1))?;
        let Ok([mut run]) = <[RawRun; 1]>::try_from(runs) else {
            return self.wrong("run", "it should have one row");
        };
        let after = run.host_after.as_ref().map_or(0, |host| host.readings.len());
        for (what, found, most) in [
            ("cases", run.plan.cases.len(), CASES_MAX),
            ("clocks", run.clocks.len().max(run.clocks_after.len()), LIST_MAX),
            ("readings of the host", run.host_before.readings.len().max(after), LIST_MAX),
            ("yardsticks", run.yardsticks.len(), LIST_MAX),
            ("workers", run.workers.len(), WORKERS_MAX),
        ] {
            if found > most {
                return self.wrong("run", &format!("it has {found} {what}, more than {most}"));
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
        let trials = self.rows(("trial", TRIAL), TRIALS_MAX, |row| self.trial(row))?;
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

/// Numbers that the blobs of a trial hold, its events aside.
fn numbers(trial: &RawTrial) -> usize {
    let of_load = trial.load.as_ref().map_or(0, |load| {
        load.lags.len() + load.gaps.len() + load.own_lags.as_ref().map_or(0, Vec::len)
    });
    let untraced = trial.trace.as_ref().map_or(0, |trace| trace.untraced_ns.len());
    trial.samples.len() + of_load + untraced
}

fn name(row: &Row<'_>, at: usize) -> String {
    row.as_ref().column_name(at).unwrap_or("a value").to_owned()
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
