//! What can go wrong with a run file, each as one line: what, where, what to do.

use std::path::{Path, PathBuf};

use hopcost_model::text::is_plain;

pub type Result<T> = std::result::Result<T, Error>;

/// What is being done when a file is read.
pub(crate) const DOING_READ: &str = "read it";

/// The file beside `path` with `suffix` (`-journal`) added to its name.
pub(crate) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// Why a run file could not be written, read or found.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Nothing at that path.
    #[error("{}: no such file or directory", .0.display())]
    NotFound(PathBuf),
    /// A directory, where a file was wanted.
    #[error("{}: this is a directory; name a run file in it", .0.display())]
    Directory(PathBuf),
    /// A device, pipe or socket.
    #[error("{}: this is not a regular file", .0.display())]
    NotRegular(PathBuf),
    /// The permissions do not allow it.
    #[error("{}: no permission to {doing}", path.display())]
    Denied {
        /// The file or directory.
        path: PathBuf,
        /// What was tried, as a verb phrase.
        doing: &'static str,
    },
    /// Zero bytes, or a run whose creation was cut off.
    #[error("{}: the file is empty: its run was cut off before anything was stored; delete it", .0.display())]
    Empty(PathBuf),
    /// Something else than a run.
    #[error("{}: is not a hopcost run file: {why}", path.display())]
    NotARun {
        path: PathBuf,
        /// How that shows.
        why: String,
    },
    /// No index of a fleet, or one that cannot be used.
    #[error("{}: is not the index of a fleet: {}", path.display(), plain(.why))]
    NotAFleet {
        path: PathBuf,
        /// How that shows.
        why: String,
    },
    /// A run of another format.
    #[error("{}: a run file of format {found}; this hopcost reads format {known} alone: use the one that wrote it", path.display())]
    Format {
        path: PathBuf,
        found: i64,
        /// The format that is read.
        known: i64,
    },
    /// Cut short or overwritten in places.
    #[error("{}: the file is damaged ({}); {}", path.display(), plain(.why), readable(.readable_trials))]
    Damaged {
        path: PathBuf,
        /// What SQLite said.
        why: String,
        /// Trials, counted from the first, whose samples can still be read.
        readable_trials: u64,
    },
    /// Sound as a database, impossible as a run.
    #[error("{}: {place}: {}; the file was made or changed by something else than hopcost", path.display(), plain(.why))]
    Content {
        path: PathBuf,
        /// Table and row (`trial 3`).
        place: String,
        /// What is wrong there.
        why: String,
    },
    /// [`crate::RunFile::create`] never overwrites.
    #[error("{}: the file exists already and is never overwritten; choose another name or delete it", .0.display())]
    Exists(PathBuf),
    /// Another process appends to it.
    #[error("{}: another hopcost is writing this run; wait until it has ended", .0.display())]
    Writing(PathBuf),
    /// Another program keeps a lock on the database.
    #[error("{}: another program keeps the file locked; close it and try again", .0.display())]
    Busy(PathBuf),
    /// A journal of others, or an unfinished commit where others can write.
    #[error("{}: other users may write this; use a folder of your own (a run goes there with its -journal)", .0.display())]
    Shared(PathBuf),
    /// Moved or deleted by somebody while it was being written.
    #[error("{}: the file is no longer there: somebody moved or deleted it", .0.display())]
    Moved(PathBuf),
    /// Deleted by somebody while it was being written.
    #[error("{}: the file was deleted while it was being written; its trials are lost", .0.display())]
    Deleted(PathBuf),
    /// No space left. What was stored before is intact.
    #[error("{}: the disk is full; trials stored before are safe: free some space and resume", .0.display())]
    Full(PathBuf),
    /// A value that the format does not take.
    #[error("{}: cannot store {place}: {why}", path.display())]
    Unstorable {
        path: PathBuf,
        /// What it belongs to (`the trial of case 3 in round 1`).
        place: String,
        /// What is wrong with it.
        why: String,
    },
    /// The operating system refused.
    #[error("{}: cannot {doing}: {cause}", path.display())]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// What was tried, as a verb phrase.
        doing: &'static str,
        cause: std::io::Error,
    },
    /// SQLite refused for a reason without a line of its own.
    #[error("{}: cannot {doing}: {}", path.display(), plain(.cause))]
    Sqlite {
        path: PathBuf,
        /// What was tried, as a verb phrase.
        doing: &'static str,
        cause: rusqlite::Error,
    },
    /// No place for runs.
    #[error(
        "nowhere to keep runs: neither XDG_DATA_HOME nor HOME is an absolute path; set one or give the run file's path"
    )]
    NoHome,
    /// The runs directory is missing or holds no run (so far back).
    #[error("`{spec}`: {} holds {held}; do a run first or give a path", dir.display())]
    NoSuchLast {
        /// What was asked for.
        spec: String,
        /// The runs directory.
        dir: PathBuf,
        /// How many runs there are, in words.
        held: String,
    },
    /// Neither a file nor the beginning of an id.
    #[error("`{spec}` is neither a file nor the beginning of a run's id in {}", dir.display())]
    NoSuchRun {
        /// What was asked for.
        spec: String,
        /// The runs directory.
        dir: PathBuf,
    },
    /// The beginning of several ids.
    #[error("`{spec}` is the beginning of several runs' ids ({}); write more of it", some(.candidates))]
    Ambiguous {
        /// What was asked for.
        spec: String,
        /// The ids, in time order.
        candidates: Vec<String>,
    },
}

/// One line of text from a file that may hold anything: no control characters
/// (a terminal obeys some), no novel.
fn plain(text: &impl ToString) -> String {
    const LONGEST: usize = 200;
    let text = text.to_string();
    let clean = |c: char| if is_plain(c) { c } else { ' ' };
    let mut line: String = text.chars().take(LONGEST).map(clean).collect();
    if text.chars().nth(LONGEST).is_some() {
        line.push('…');
    }
    line
}

fn readable(trials: &u64) -> String {
    match trials {
        0 => "no trial in it can be read; restore it from a copy".to_owned(),
        1 => "its first trial can still be read, with `sqlite3 FILE .recover`".to_owned(),
        n => format!("its first {n} trials can still be read, with `sqlite3 FILE .recover`"),
    }
}

fn some(candidates: &[String]) -> String {
    const SHOWN: usize = 8;
    let mut text = candidates.iter().take(SHOWN).cloned().collect::<Vec<_>>().join(", ");
    if candidates.len() > SHOWN {
        text.push_str(&format!(" and {} more", candidates.len() - SHOWN));
    }
    text
}

impl Error {
    /// The line for what the operating system said about `path`.
    pub(crate) fn io(path: &Path, doing: &'static str, source: std::io::Error) -> Self {
        use std::io::ErrorKind;
        let path = path.to_owned();
        match source.kind() {
            ErrorKind::NotFound => Error::NotFound(path),
            ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
                Error::Denied { path, doing }
            }
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => Error::Full(path),
            ErrorKind::IsADirectory => Error::Directory(path),
            _ => Error::Io { path, doing, cause: source },
        }
    }

    /// The line for what SQLite said about `path`. Damage is told apart by the
    /// reader, which alone can count what is left.
    pub(crate) fn sqlite(path: &Path, doing: &'static str, source: rusqlite::Error) -> Self {
        use rusqlite::ErrorCode;
        let path = path.to_owned();
        match source.sqlite_error().map(|error| error.extended_code) {
            Some(rusqlite::ffi::SQLITE_IOERR_SHORT_READ) => {
                return Error::Damaged { path, why: source.to_string(), readable_trials: 0 };
            }
            Some(rusqlite::ffi::SQLITE_READONLY_DBMOVED) => return Error::Moved(path),
            _ => {}
        }
        match source.sqlite_error_code() {
            Some(ErrorCode::DiskFull) => Error::Full(path),
            Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => {
                Error::Denied { path, doing }
            }
            Some(ErrorCode::CannotOpen) => Error::unopened(path, doing),
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Error::Busy(path),
            // Foreign files never get as far as SQLite: this was a run once.
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
                Error::Damaged { path, why: source.to_string(), readable_trials: 0 }
            }
            Some(ErrorCode::OperationInterrupted) => Error::Content {
                path,
                place: "the file".to_owned(),
                why: "reading it takes longer than reading a run".to_owned(),
            },
            _ => Error::Sqlite { path, doing, cause: source },
        }
    }

    /// The line for a file that SQLite cannot open, or whose journal it cannot: it does
    /// not say why, so the system is asked once more.
    fn unopened(path: PathBuf, doing: &'static str) -> Self {
        use std::fs::{File, remove_file};
        let journal = beside(&path, "-journal");
        let tried = match doing {
            DOING_READ => File::open(&path).map(drop),
            _ => File::create_new(&journal).and_then(|_| remove_file(&journal)),
        };
        match tried {
            Err(cause) if cause.kind() != std::io::ErrorKind::AlreadyExists => {
                Self::io(&path, doing, cause)
            }
            _ => Self::Denied { path, doing },
        }
    }
}

/// Why a cell cannot be written or read: SQLite's word, or ours.
#[derive(Debug)]
pub(crate) enum Problem {
    Sqlite(rusqlite::Error),
    Value(String),
}

/// A cell, or why it cannot be written or read.
pub(crate) type Cell<T> = std::result::Result<T, Problem>;

impl From<rusqlite::Error> for Problem {
    fn from(error: rusqlite::Error) -> Self {
        Problem::Sqlite(error)
    }
}

impl Problem {
    /// The line for a value that could not be stored in `path`.
    pub(crate) fn storing(self, path: &Path, doing: &'static str, place: &str) -> Error {
        match self {
            Problem::Sqlite(error) => Error::sqlite(path, doing, error),
            Problem::Value(why) => {
                Error::Unstorable { path: path.to_owned(), place: place.to_owned(), why }
            }
        }
    }

    /// The line for a value of `path` that cannot be taken for what it should be.
    pub(crate) fn reading(self, path: &Path, doing: &'static str, place: String) -> Error {
        match self {
            Problem::Sqlite(error) => Error::sqlite(path, doing, error),
            Problem::Value(why) => Error::Content { path: path.to_owned(), place, why },
        }
    }
}
