//! The index of a fleet (`fleet.sqlite`): hosts and tasks are written by who drives the fleet; what the run
//! files hold is written here, each file once and again if it changed. Nothing in it is believed.

mod read;

use std::collections::BTreeMap;
use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};

use rusqlite::{Connection, Transaction, params};

use crate::connect::{self, MakeFolder};
use crate::error::{Error, Result};

/// Its name in the fleet's directory.
const NAME: &str = "fleet.sqlite";
const DOING_INDEX: &str = "index it";

/// What is written here.
const TABLES: &str = "
CREATE TABLE IF NOT EXISTS run_file (file TEXT PRIMARY KEY, bytes INTEGER, modified_ns INTEGER, run_id TEXT,
    kind TEXT, a TEXT, b TEXT, started TEXT, error TEXT);
CREATE TABLE IF NOT EXISTS fact (file TEXT, key TEXT, value TEXT, PRIMARY KEY (file, key));
CREATE TABLE IF NOT EXISTS estimate (file TEXT, case_id TEXT, statistic TEXT, unit TEXT, point REAL, low REAL,
    high REAL, trials INTEGER, validity TEXT, skip TEXT, PRIMARY KEY (file, case_id, statistic));";

/// Whether a directory is that of a fleet.
pub fn is_fleet(directory: &Path) -> bool {
    directory.join(NAME).is_file()
}

/// The index of a fleet, opened.
pub struct Fleet {
    conn: Connection,
    path: PathBuf,
    directory: PathBuf,
}

/// A run file that is not in the index as it is now.
#[derive(Debug, Clone, PartialEq)]
pub struct Unread {
    /// Its path in the fleet's directory, as the index spells it.
    pub file: String,
    /// Where it lies, or why it is not looked at.
    pub path: std::result::Result<PathBuf, String>,
    bytes: i64,
    modified_ns: i64,
    kind: String,
    a: String,
    b: Option<String>,
}

/// What a run file holds.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Indexed {
    /// The run's id.
    pub run_id: String,
    /// When it began.
    pub started: String,
    /// The fingerprint: key and value.
    pub facts: Vec<(String, String)>,
    /// What was estimated.
    pub estimates: Vec<IndexedRow>,
}

/// A row of the table `estimate` that is to be written.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct IndexedRow {
    /// Canonical spelling of the case.
    pub case_id: String,
    /// Name of the statistic; empty where the case has no value.
    pub statistic: String,
    /// Unit of the numbers.
    pub unit: &'static str,
    /// Value and interval.
    pub numbers: [Option<f64>; 3],
    /// Trials behind it.
    pub trials: u32,
    /// Validity of the case's result.
    pub validity: Option<&'static str>,
    /// Why there is no value.
    pub skip: Option<String>,
}

/// What a run file is seen by to have changed: bytes, and when it was written.
type State = (i64, i64);

impl Fleet {
    /// Opens the index of a fleet to write into it too.
    ///
    /// # Errors
    /// Also where it can be read but not written.
    pub fn open(directory: &Path) -> Result<Self> {
        Self::by(directory, connect::indexing)
    }

    /// Opens it to be read, wherever it lies.
    ///
    /// # Errors
    /// Likewise.
    pub fn open_to_read(directory: &Path, folder: &MakeFolder) -> Result<Self> {
        Self::by(directory, |path| connect::reading_tables(path, folder))
    }

    fn by(directory: &Path, open: impl Fn(&Path) -> Result<Connection>) -> Result<Self> {
        let path = directory.join(NAME);
        if directory.is_dir() && fs::symlink_metadata(&path).is_err() {
            let why = "the directory has no fleet.sqlite, which `hopcost fleet run` makes";
            return Err(Error::not_a_fleet(directory, why));
        }
        let path = connect::check_index(&path)?;
        let io = |error| Error::io(directory, "read it", error);
        let directory = fs::canonicalize(directory).map_err(io)?;
        Ok(Self { conn: open(&path)?, path, directory })
    }

    /// The run files of tasks that have ended which are not in the index as they are now.
    ///
    /// # Errors
    /// Where the index cannot be read.
    pub fn unread(&self) -> Result<Vec<Unread>> {
        let known = self.known().map_err(|error| self.sqlite(error))?;
        let tasks = self.files_of_tasks().map_err(|error| self.sqlite(error))?;
        let mut folders = BTreeMap::new();
        let mut unread = Vec::new();
        for (file, [kind, a, b]) in tasks {
            let found = self.place(&file, &mut folders);
            let (bytes, modified_ns) = found.as_ref().map_or((-1, 0), |(_, found)| state(found));
            if known.get(&file) != Some(&(bytes, modified_ns)) {
                let path = found.map(|(path, _)| path);
                let (kind, a) = (kind.unwrap_or_default(), a.unwrap_or_default());
                unread.push(Unread { file, path, bytes, modified_ns, kind, a, b });
            }
        }
        Ok(unread)
    }

    /// The files in the index, by what they were then.
    fn known(&self) -> rusqlite::Result<BTreeMap<String, State>> {
        if !self.has("run_file")? {
            return Ok(BTreeMap::new());
        }
        let mut query =
            self.conn.prepare("SELECT file, bytes, modified_ns FROM run_file NOT INDEXED")?;
        let mut rows = query.query([])?;
        let mut known = BTreeMap::new();
        while let Some(row) = rows.next()? {
            let cells = (row.get::<_, String>(0), row.get::<_, i64>(1), row.get::<_, i64>(2));
            if let (Ok(file), Ok(bytes), Ok(modified_ns)) = cells {
                known.insert(file, (bytes, modified_ns));
            }
        }
        Ok(known)
    }

    /// The files that tasks have left, each with kind and hosts.
    fn files_of_tasks(&self) -> rusqlite::Result<BTreeMap<String, [Option<String>; 3]>> {
        let ended =
            "SELECT file, kind, a, b FROM task NOT INDEXED WHERE state IN ('done', 'failed')";
        let mut query = self.conn.prepare(ended)?;
        let mut rows = query.query([])?;
        let mut tasks = BTreeMap::new();
        while let Some(row) = rows.next()? {
            let text = |at: usize| row.get::<_, Option<String>>(at).ok().flatten();
            if let Some(file) = text(0) {
                tasks.insert(file, [text(1), text(2), text(3)]);
            }
        }
        Ok(tasks)
    }

    /// Where a file lies, if that is in the fleet's directory without a link on the way.
    fn place(
        &self,
        file: &str,
        folders: &mut BTreeMap<PathBuf, bool>,
    ) -> std::result::Result<(PathBuf, Metadata), String> {
        let is_plain = |part: Component<'_>| matches!(part, Component::Normal(_));
        let named = Path::new(file);
        if file.is_empty() || file.contains('\0') || !named.components().all(is_plain) {
            return Err("its path leads out of the fleet's directory".to_owned());
        }
        let path = self.directory.join(named);
        let folder = path.parent().unwrap_or(&self.directory).to_owned();
        let is_inside = folders.entry(folder).or_insert_with_key(|folder| {
            fs::canonicalize(folder).is_ok_and(|real| real.starts_with(&self.directory))
        });
        let found = fs::symlink_metadata(&path).map_err(|_| "there is no such file".to_owned())?;
        match (*is_inside, found.is_file()) {
            (false, _) => Err("its path leads out of the fleet's directory".to_owned()),
            (true, false) => Err("it is no regular file".to_owned()),
            (true, true) => Ok((path, found)),
        }
    }

    /// Writes what files hold, or why they cannot be read, in place of what was there.
    ///
    /// # Errors
    /// Where the index cannot be written.
    pub fn put(&mut self, files: &[(Unread, std::result::Result<Indexed, String>)]) -> Result<()> {
        // What is written grows the file, by whose size reading it is bounded.
        let write = |conn: &mut Connection| -> rusqlite::Result<()> {
            conn.progress_handler(0, None::<fn() -> bool>)?;
            let tx = conn.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
            tx.execute_batch(TABLES)?;
            files.iter().try_for_each(|(file, found)| put(&tx, file, found))?;
            tx.commit()
        };
        write(&mut self.conn).map_err(|error| Error::sqlite(&self.path, DOING_INDEX, error))
    }

    /// Whether there is such a table.
    fn has(&self, table: &str) -> rusqlite::Result<bool> {
        let known = "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = ?1";
        self.conn.query_row(known, [table], |row| Ok(row.get::<_, i64>(0)? > 0))
    }

    fn sqlite(&self, error: rusqlite::Error) -> Error {
        match error.sqlite_error_code() {
            // A table or a column that is not there.
            Some(rusqlite::ErrorCode::Unknown) | None => Error::not_a_fleet(&self.path, error),
            _ => Error::sqlite(&self.path, "read it", error),
        }
    }
}

fn state(found: &Metadata) -> State {
    let ns = found.mtime().saturating_mul(1_000_000_000).saturating_add(found.mtime_nsec());
    (i64::try_from(found.len()).unwrap_or(i64::MAX), ns)
}

fn put(
    tx: &Transaction<'_>,
    of: &Unread,
    found: &std::result::Result<Indexed, String>,
) -> rusqlite::Result<()> {
    for table in ["run_file", "fact", "estimate"] {
        tx.prepare_cached(&format!("DELETE FROM {table} WHERE file = ?1"))?.execute([&of.file])?;
    }
    let (indexed, error) = match found {
        Ok(indexed) => (Some(indexed), None),
        Err(error) => (None, Some(error)),
    };
    tx.prepare_cached("INSERT INTO run_file VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)")?
        .execute(params![
            of.file,
            of.bytes,
            of.modified_ns,
            indexed.map(|of| &of.run_id),
            of.kind,
            of.a,
            of.b,
            indexed.map(|of| &of.started),
            error
        ])?;
    let Some(indexed) = indexed else { return Ok(()) };
    let mut fact = tx.prepare_cached("INSERT OR REPLACE INTO fact VALUES (?1, ?2, ?3)")?;
    for (key, value) in &indexed.facts {
        fact.execute(params![of.file, key, value])?;
    }
    let mut estimate = tx.prepare_cached(
        "INSERT OR REPLACE INTO estimate VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
    )?;
    for row in &indexed.estimates {
        let [point, low, high] = row.numbers;
        estimate.execute(params![
            of.file,
            row.case_id,
            row.statistic,
            row.unit,
            point,
            low,
            high,
            row.trials,
            row.validity,
            row.skip
        ])?;
    }
    Ok(())
}
