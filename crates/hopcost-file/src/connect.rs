//! Opening: telling a run from everything else before SQLite sees it, and
//! settling what a killed process left beside it.

use std::fs::{self, File};
use std::io::Read;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::{Connection, OpenFlags};

use crate::error::{DOING_READ, EMPTY, Error, IS_DIRECTORY, Result, SHARED, beside};
use crate::limits::{SCHEMA_STEPS, STEPS, VALUE_MAX_BYTES, in_file};
use crate::schema::{APPLICATION_ID, check_version};

/// How long to wait for another program's lock: a reader's is short.
const PATIENCE: Duration = Duration::from_secs(10);

const NOT_REGULAR: &str = "this is not a regular file";
const NO_LOG: &str = "no hopcost keeps a write-ahead log; `sqlite3 FILE 'PRAGMA journal_mode = DELETE'` takes it \
                      into the file";
/// How the names of files end that SQLite looks for beside a file.
const JOURNAL: &str = "-journal";
const LOG: &str = "-wal";
const DOING_COPY: &str = "copy it to read it";

/// What lies where SQLite looks for a file beside a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Beside {
    Nothing,
    /// The run's own, with its length in bytes.
    Own(u64),
    /// What a user has put there who is neither the run's owner nor this user nor root.
    Strangers,
}

/// What lies beside a run. To be asked before SQLite sees the file, because as root it gives
/// a journal that it opens to the owner of the database. A link, which SQLite would follow,
/// and a FIFO, at which it would wait, are errors.
fn look_beside(path: &Path, suffix: &str) -> Result<Beside> {
    let beside = beside(path, suffix);
    let owner = fs::metadata(path).map_err(|error| Error::io(path, DOING_READ, error))?.uid();
    match fs::symlink_metadata(&beside) {
        Ok(found) if found.uid() != owner && !is_trusted(&found) => Ok(Beside::Strangers),
        Ok(found) if found.is_file() => Ok(Beside::Own(found.len())),
        Ok(_) => Err(Error::because(&beside, NOT_REGULAR)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Beside::Nothing),
        Err(error) => Err(Error::io(&beside, DOING_READ, error)),
    }
}

/// Whether nobody but this user, root and those in the files' groups can put another file in the
/// place of a run or of what lies beside it.
fn is_ours_alone(path: &Path) -> bool {
    let ours = |at: &Path| match fs::symlink_metadata(at) {
        Ok(found) => {
            let sticky = found.is_dir() && found.mode() & 0o1000 != 0;
            is_trusted(&found) && (found.mode() & 0o002 == 0 || sticky)
        }
        Err(_) => false,
    };
    path.ancestors().all(ours) && ours(&beside(path, JOURNAL))
}

/// Refuses what another user has put, or may have put, beside a file that is to be written.
fn ensure_ours_beside(path: &Path) -> Result<()> {
    ensure_no_log(path)?;
    match look_beside(path, JOURNAL)? {
        Beside::Nothing | Beside::Own(0) => Ok(()),
        Beside::Own(_) if is_ours_alone(path) => Ok(()),
        Beside::Own(_) | Beside::Strangers => Err(Error::because(&beside(path, JOURNAL), SHARED)),
    }
}

/// Refuses a file with a write-ahead log, in which SQLite would believe what it holds.
fn ensure_no_log(path: &Path) -> Result<()> {
    match look_beside(path, LOG)? {
        Beside::Nothing => Ok(()),
        _ => Err(Error::because(&beside(path, LOG), NO_LOG)),
    }
}

/// Checks by type and header that `path` is a run file of a known format, and
/// returns its absolute path, free of names that SQLite reads as commands.
pub(crate) fn check_file(path: &Path) -> Result<PathBuf> {
    checked(path, check_header)
}

/// The same of the index of a fleet.
pub(crate) fn check_index(path: &Path) -> Result<PathBuf> {
    checked(path, |path, header| match header.starts_with(MAGIC) {
        true => check_writing(path, header),
        false => Err(Error::because(path, format!("is not the index of a fleet: {NO_DATABASE}"))),
    })
}

fn checked(path: &Path, header_of: impl Fn(&Path, &[u8]) -> Result<()>) -> Result<PathBuf> {
    let io = |error| Error::io(path, DOING_READ, error);
    // Before opening: opening a named pipe would wait for its writer.
    let meta = fs::metadata(path).map_err(io)?;
    if meta.is_dir() {
        return Err(Error::because(path, IS_DIRECTORY));
    }
    if !meta.is_file() {
        return Err(Error::because(path, NOT_REGULAR));
    }
    let mut header = Vec::with_capacity(HEADER_BYTES);
    let file = File::options().read(true).custom_flags(libc::O_NONBLOCK).open(path);
    file.and_then(|file| file.take(HEADER_BYTES as u64).read_to_end(&mut header)).map_err(io)?;
    header_of(path, &header)?;
    fs::canonicalize(path).map_err(io)
}

fn big_endian(header: &[u8], at: usize) -> Option<i32> {
    Some(i32::from_be_bytes(header.get(at..at + 4)?.try_into().ok()?))
}

const NO_DATABASE: &str = "it is not an SQLite database";
/// How an SQLite database begins.
const MAGIC: &[u8] = b"SQLite format 3\0";
/// Bytes of an SQLite database's header.
const HEADER_BYTES: usize = 100;

/// The header, <https://www.sqlite.org/fileformat.html> section 1.3.
fn check_header(path: &Path, header: &[u8]) -> Result<()> {
    let not_a_run =
        |why: &str| Err(Error::because(path, format!("is not a hopcost run file: {why}")));
    if header.is_empty() {
        return Err(Error::because(path, EMPTY));
    }
    if !header.starts_with(MAGIC) {
        return not_a_run(NO_DATABASE);
    }
    let (Some(version), Some(application)) = (big_endian(header, 60), big_endian(header, 68))
    else {
        return Err(Error::damaged(path, "it ends within its header"));
    };
    if application != APPLICATION_ID {
        return not_a_run("it is the SQLite database of something else");
    }
    check_writing(path, header)?;
    check_version(path, version.into())
}

/// Whether a database is written with a rollback journal.
fn check_writing(path: &Path, header: &[u8]) -> Result<()> {
    match header.get(18..20) {
        Some([1, 1]) => Ok(()),
        Some([1 | 2, 1 | 2]) => Err(Error::because(path, NO_LOG)),
        _ => Err(Error::damaged(path, "its header says no way of writing that SQLite has")),
    }
}

/// The settings of every connection, for any file.
fn harden(conn: &Connection) -> rusqlite::Result<()> {
    conn.busy_timeout(PATIENCE)?;
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    conn.set_limit(Limit::SQLITE_LIMIT_LENGTH, VALUE_MAX_BYTES)?;
    conn.pragma_update(None, "cell_size_check", true)
}

/// Opens for writing a file that exists (as nothing yet, or checked). Every
/// commit is on the disk before it returns: see FORMAT.md, "Durability".
pub(crate) fn append(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let conn = Connection::open_with_flags(path, flags)?;
    harden(&conn)?;
    conn.pragma_update(None, "page_size", PAGE_BYTES)?;
    conn.pragma_update(None, "synchronous", "FULL")?;
    // Any journal but a WAL, in which a kill leaves the run in a second file.
    let mode: String =
        conn.pragma_update_and_check(None, "journal_mode", JOURNAL_MODE, |row| row.get(0))?;
    debug_assert_eq!(mode, JOURNAL_MODE);
    Ok(conn)
}

/// Bytes of a database page of a new file. 16,384 is no faster: see
/// [`JOURNAL_MODE`].
const PAGE_BYTES: i64 = 4096;

/// The journal while a run is being written. Measured on two busy
/// virtual CPUs, virtio disk, ext4, 31 KB of packed samples a trial, median of a
/// transaction in two passes: DELETE 1.71 and 1.76 ms, TRUNCATE 1.72 and 1.59 ms,
/// PERSIST 1.64 and 1.73 ms (pages of 16 KiB: 1.5 to 1.9 ms). So cost does not
/// decide. TRUNCATE alone is both durable over a power loss (at FULL, SQLite
/// synchronises the emptied journal, but not the directory that DELETE changes)
/// and plain to look at (a journal with content means an unfinished commit).
const JOURNAL_MODE: &str = "truncate";

/// A hardened connection that has been read from.
fn try_reading(path: &Path, flags: OpenFlags) -> rusqlite::Result<Connection> {
    let mut conn = Connection::open_with_flags(path, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    harden(&conn)?;
    bound(&mut conn, SCHEMA_STEPS)?;
    conn.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))?;
    let bytes = fs::metadata(path).map_or(0, |found| found.len());
    bound(&mut conn, in_file(STEPS, bytes))?;
    Ok(conn)
}

/// Ends what takes more steps of SQLite's virtual machine.
fn bound(conn: &mut Connection, steps: usize) -> rusqlite::Result<()> {
    const AT_ONCE: i32 = 1000;
    let mut left = steps / AT_ONCE as usize;
    let step = move || {
        left = left.saturating_sub(1);
        left == 0
    };
    conn.progress_handler(AT_ONCE, Some(step))
}

/// The most that is copied to read it.
const COPY_MAX_BYTES: u64 = 1 << 30;

/// Copies what a file holds and not, as `fs::copy` would, its mode; nothing if it is not
/// there.
fn copy_of_ours(from: &Path, to: &Path) -> std::io::Result<()> {
    // O_NONBLOCK: a FIFO would wait for its writer.
    let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK;
    let from = match File::options().read(true).custom_flags(flags).open(from) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        opened => opened?,
    };
    let found = from.metadata()?;
    if !found.is_file() || found.len() > COPY_MAX_BYTES {
        return Err(std::io::Error::other("it is too large or no regular file"));
    }
    let mut to = File::options().write(true).create_new(true).mode(0o600).open(to)?;
    std::io::copy(&mut from.take(COPY_MAX_BYTES), &mut to).map(drop)
}

/// Makes a folder that this user alone can reach and that goes when dropped.
pub type MakeFolder<'a> = dyn Fn() -> std::io::Result<Box<dyn AsRef<Path>>> + 'a;

/// Opens a copy of a run and of what these suffixes name beside it. It has no name any more when this
/// returns.
fn copied(path: &Path, suffixes: &[&str], folder: &MakeFolder) -> Result<Connection> {
    let folder = folder().map_err(|error| Error::io(path, DOING_COPY, error))?;
    let copy = (*folder).as_ref().join("run");
    for suffix in suffixes {
        let from = beside(path, suffix);
        copy_of_ours(&from, &beside(&copy, suffix)).map_err(|e| Error::io(&from, DOING_COPY, e))?;
    }
    try_reading(&copy, OpenFlags::SQLITE_OPEN_READ_WRITE)
        .map_err(|error| Error::sqlite(path, DOING_READ, error))
}

/// Opens a checked file for reading, wherever it lies.
///
/// A process killed inside a commit leaves a journal that undoes the unfinished
/// trial; SQLite applies it when the file is next opened for writing. So that is
/// done here, on a copy: reading changes no file.
/// What a stranger has put beside it is not the run's, and not looked at: a copy of the file alone is
/// read then, and where a file system has no locks.
pub(crate) fn reading(path: &Path, folder: &MakeFolder) -> Result<Connection> {
    let found = (look_beside(path, JOURNAL)?, look_beside(path, LOG)?);
    if matches!(found, (Beside::Strangers, _) | (_, Beside::Strangers)) {
        return copied(path, &[""], folder);
    }
    ensure_no_log(path)?;
    let has_journal = matches!(found.0, Beside::Own(1..));
    match try_reading(path, OpenFlags::SQLITE_OPEN_READ_ONLY) {
        Ok(conn) => Ok(conn),
        Err(_) if has_journal => copied(path, &["", JOURNAL], folder),
        Err(first) => {
            copied(path, &[""], folder).map_err(|_| Error::sqlite(path, DOING_READ, first))
        }
    }
}

/// Takes an empty journal away again.
pub(crate) fn leave(path: &Path) {
    if matches!(look_beside(path, JOURNAL), Ok(Beside::Own(0))) {
        let _ = fs::remove_file(beside(path, JOURNAL));
    }
}

/// Sees to it that the journal is this user's: an empty one keeps others from putting theirs
/// there, and one of theirs is an error.
pub(crate) fn own_journal(path: &Path) -> Result<()> {
    let journal = beside(path, JOURNAL);
    let made = File::options().write(true).create_new(true).mode(0o600).open(&journal);
    match made {
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
            match fs::symlink_metadata(&journal) {
                Ok(found) if found.is_file() && is_trusted(&found) => Ok(()),
                _ => Err(Error::because(&journal, SHARED)),
            }
        }
        // Then SQLite says so, where that is what stands in the way.
        _ => Ok(()),
    }
}

/// Whether a file is this user's or root's.
fn is_trusted(found: &fs::Metadata) -> bool {
    fs::metadata("/proc/self").is_ok_and(|own| [0, own.uid()].contains(&found.uid()))
}

/// Opens a checked file to append to it.
pub(crate) fn resuming(path: &Path) -> Result<Connection> {
    const DOING: &str = "resume it";
    ensure_ours_beside(path)?;
    own_journal(path)?;
    let sqlite = |error| Error::sqlite(path, DOING, error);
    let conn = append(path).map_err(sqlite)?;
    // Reading looks at a part of the file only, and what is damaged elsewhere would show
    // once trials have been measured for it.
    let sound: String =
        conn.query_row("PRAGMA quick_check(1)", [], |row| row.get(0)).map_err(sqlite)?;
    if sound != "ok" {
        return Err(Error::damaged(path, sound));
    }
    let count = |name| conn.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    let (free, pages) = (count("freelist_count"), count("page_count"));
    let (free, pages) = (free.map_err(sqlite)?, pages.map_err(sqlite)?);
    if !(0..pages).contains(&free) {
        let why = format!("its header says {free} free pages of {pages}");
        return Err(Error::damaged(path, why));
    }
    Ok(conn)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_never_ends_is_ended() {
        let mut conn = Connection::open_in_memory().unwrap();
        bound(&mut conn, 100_000).unwrap();
        let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)
                       SELECT count(*) FROM n";
        let ended = conn.query_row(endless, [], |_| Ok(())).unwrap_err();
        let line = Error::sqlite(Path::new("f"), DOING_READ, ended).to_string();
        assert!(line.contains("takes longer than reading a run"), "{line}");
    }
}
