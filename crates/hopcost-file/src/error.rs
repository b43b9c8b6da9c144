//! What can go wrong with a run file, each as one line: what, where, what to do.

use std::fmt::{self, Display};
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

/// Why a run file could not be written, read or found, in one line.
#[derive(Debug)]
pub struct Error(String);

/// Zero bytes, or a run whose creation was cut off.
pub(crate) const EMPTY: &str =
    "the file is empty: its run was cut off before anything was stored; delete it";
/// A new run never overwrites.
pub(crate) const EXISTS: &str =
    "the file exists already and is never overwritten; choose another name or delete it";
/// Another process appends to it.
pub(crate) const WRITING: &str = "another hopcost is writing this run; wait until it has ended";
/// Others can write the file, or have put a journal beside it.
pub(crate) const SHARED: &str = "other users may write this; use a folder of your own (a run goes \
                                 there with its -journal)";
const BUSY: &str = "another program keeps the file locked; close it and try again";
const FULL: &str = "the disk is full; trials stored before are safe: free some space and resume";

impl Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Error {}

/// One line of text from a file that may hold anything: no control characters
/// (a terminal obeys some), no novel.
fn plain(text: &str) -> String {
    const LONGEST: usize = 200;
    let clean = |c: char| if is_plain(c) { c } else { ' ' };
    let mut line: String = text.chars().take(LONGEST).map(clean).collect();
    if text.chars().nth(LONGEST).is_some() {
        line.push('…');
    }
    line
}

impl Error {
    /// A line without a path.
    pub(crate) fn line(line: impl Into<String>) -> Self {
        Self(line.into())
    }

    /// Trouble with a file.
    pub(crate) fn because(path: &Path, why: impl Display) -> Self {
        Self::line(format!("{}: {why}", path.display()))
    }

    pub(crate) fn denied(path: &Path, doing: &str) -> Self {
        Self::because(path, format!("no permission to {doing}"))
    }

    pub(crate) fn damaged(path: &Path, why: impl Display) -> Self {
        let why = plain(&why.to_string());
        let remedy = "restore it from a copy; `sqlite3 FILE .recover` shows what is left";
        Self::because(path, format!("the file is damaged ({why}); {remedy}"))
    }

    /// Sound as a database, impossible as a run; `place` is a table and row (`trial 3`).
    pub(crate) fn content(path: &Path, place: &str, why: &str) -> Self {
        let made = "the file was made or changed by something else than hopcost";
        Self::because(path, format!("{place}: {}; {made}", plain(why)))
    }

    /// The line for what the operating system said about `path`.
    pub(crate) fn io(path: &Path, doing: &str, source: std::io::Error) -> Self {
        use std::io::ErrorKind;
        match source.kind() {
            ErrorKind::NotFound => Self::because(path, "no such file or directory"),
            ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
                Self::denied(path, doing)
            }
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => Self::because(path, FULL),
            ErrorKind::IsADirectory => Self::because(path, IS_DIRECTORY),
            _ => Self::because(path, format!("cannot {doing}: {source}")),
        }
    }

    /// The line for what SQLite said about `path`.
    pub(crate) fn sqlite(path: &Path, doing: &str, source: rusqlite::Error) -> Self {
        use rusqlite::{ErrorCode, ffi};
        let extended = source.sqlite_error().map_or(0, |error| error.extended_code);
        match source.sqlite_error_code() {
            _ if extended == ffi::SQLITE_IOERR_SHORT_READ => Self::damaged(path, source),
            _ if extended == ffi::SQLITE_READONLY_DBMOVED => {
                Self::because(path, "the file is no longer there: somebody moved or deleted it")
            }
            Some(ErrorCode::DiskFull) => Self::because(path, FULL),
            Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => Self::denied(path, doing),
            Some(ErrorCode::CannotOpen) => Self::unopened(path, doing),
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::because(path, BUSY),
            // Foreign files never get as far as SQLite: this was a run once.
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
                Self::damaged(path, source)
            }
            Some(ErrorCode::OperationInterrupted) => {
                Self::content(path, "the file", "reading it takes longer than reading a run")
            }
            _ => Self::because(path, format!("cannot {doing}: {}", plain(&source.to_string()))),
        }
    }

    /// The line for a file that SQLite cannot open, or whose journal it cannot: it does
    /// not say why, so the system is asked once more.
    fn unopened(path: &Path, doing: &str) -> Self {
        use std::fs::{File, remove_file};
        let journal = beside(path, "-journal");
        let tried = match doing {
            DOING_READ => File::open(path).map(drop),
            _ => File::create_new(&journal).and_then(|_| remove_file(&journal)),
        };
        match tried {
            Err(cause) if cause.kind() != std::io::ErrorKind::AlreadyExists => {
                Self::io(path, doing, cause)
            }
            _ => Self::denied(path, doing),
        }
    }
}

pub(crate) const IS_DIRECTORY: &str = "this is a directory; name a run file in it";

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
    pub(crate) fn storing(self, path: &Path, doing: &str, place: &str) -> Error {
        match self {
            Problem::Sqlite(error) => Error::sqlite(path, doing, error),
            Problem::Value(why) => Error::because(path, format!("cannot store {place}: {why}")),
        }
    }

    /// The line for a value of `path` that cannot be taken for what it should be.
    pub(crate) fn reading(self, path: &Path, place: &str) -> Error {
        match self {
            Problem::Sqlite(error) => Error::sqlite(path, DOING_READ, error),
            Problem::Value(why) => Error::content(path, place, &why),
        }
    }
}
