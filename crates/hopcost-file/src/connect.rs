//! Opening: telling a run from everything else before SQLite sees it, and
//! settling what a killed process left beside it.

use std::fs::{self, File};
use std::io::Read;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::{Connection, OpenFlags};

use crate::error::{Error, Result};
use crate::limits::VALUE_MAX_BYTES;
use crate::schema::{APPLICATION_ID, VERSION};

/// How long to wait for another program's lock: a reader's is short.
const PATIENCE: Duration = Duration::from_secs(10);

pub(crate) const DOING_READ: &str = "read it";

/// The file beside `path` with `suffix` (`-journal`) added to its name.
pub(crate) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

fn has_content(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|meta| meta.len() > 0)
}

/// Checks by type and header that `path` is a run file of a known format, and
/// returns its absolute path, free of names that SQLite reads as commands.
pub(crate) fn check_file(path: &Path) -> Result<PathBuf> {
    let io = |error| Error::io(path, DOING_READ, error);
    // Before opening: opening a named pipe would wait for its writer.
    let meta = fs::metadata(path).map_err(io)?;
    if meta.is_dir() {
        return Err(Error::Directory(path.to_owned()));
    }
    if !meta.is_file() {
        return Err(Error::NotRegular(path.to_owned()));
    }
    let mut header = Vec::with_capacity(100);
    File::open(path).and_then(|file| file.take(100).read_to_end(&mut header)).map_err(io)?;
    check_header(path, &header)?;
    fs::canonicalize(path).map_err(io)
}

fn big_endian(header: &[u8], at: usize) -> Option<i32> {
    Some(i32::from_be_bytes(header.get(at..at + 4)?.try_into().ok()?))
}

/// The first 100 bytes, <https://www.sqlite.org/fileformat.html> section 1.3.
fn check_header(path: &Path, header: &[u8]) -> Result<()> {
    let not_a_run = |why: &str| Err(Error::NotARun { path: path.to_owned(), why: why.to_owned() });
    if header.is_empty() {
        return Err(Error::Empty(path.to_owned()));
    }
    if !header.starts_with(b"SQLite format 3\0") {
        return not_a_run("it is not an SQLite database");
    }
    let (Some(version), Some(application)) = (big_endian(header, 60), big_endian(header, 68))
    else {
        return Err(Error::Damaged {
            path: path.to_owned(),
            why: "it ends within its header".to_owned(),
            readable_trials: 0,
        });
    };
    if application != APPLICATION_ID {
        return not_a_run("it is the SQLite database of something else");
    }
    if i64::from(version) > VERSION {
        let path = path.to_owned();
        return Err(Error::Newer { path, found: version.into(), known: VERSION });
    }
    if version < 1 {
        return not_a_run("it has no format version");
    }
    Ok(())
}

/// What every connection gets, whoever made the file.
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

/// The journal while a run is being written. `examples/store_cost.rs`, two busy
/// virtual CPUs, virtio disk, ext4, 31 KB of packed samples a trial, median of a
/// transaction in two passes: DELETE 1.71 and 1.76 ms, TRUNCATE 1.72 and 1.59 ms,
/// PERSIST 1.64 and 1.73 ms (pages of 16 KiB: 1.5 to 1.9 ms). So cost does not
/// decide. TRUNCATE alone is both durable over a power loss (at FULL, SQLite
/// synchronises the emptied journal, but not the directory that DELETE changes)
/// and plain to look at (a journal with content means an unfinished commit).
const JOURNAL_MODE: &str = "truncate";

/// A directory of one's own that goes away again.
#[derive(Debug)]
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> std::io::Result<Self> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("hopcost-{}-{number}", std::process::id()));
        // Fails if it exists, so nobody can have put anything there.
        fs::create_dir(&path)?;
        Ok(Self(path))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A connection to read from.
#[derive(Debug)]
pub(crate) struct Reading {
    // Before the directory it may lie in: fields are dropped in order.
    pub(crate) conn: Connection,
    _scratch: Option<Scratch>,
}

fn try_reading(path: &Path, flags: OpenFlags) -> rusqlite::Result<Connection> {
    let conn = Connection::open_with_flags(path, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    harden(&conn)?;
    conn.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))?;
    Ok(conn)
}

fn read_only(path: &Path) -> rusqlite::Result<Connection> {
    try_reading(path, OpenFlags::SQLITE_OPEN_READ_ONLY)
}

/// Takes the file as it is, without locks and without looking beside it: for
/// file systems that have no locks or that cannot be written to.
fn immutable(path: &Path) -> rusqlite::Result<Connection> {
    let mut uri = b"file:".to_vec();
    for &byte in path.as_os_str().as_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'_' | b'-' => uri.push(byte),
            _ => uri.extend_from_slice(format!("%{byte:02X}").as_bytes()),
        }
    }
    uri.extend_from_slice(b"?immutable=1");
    let uri = PathBuf::from(std::ffi::OsString::from_vec(uri));
    try_reading(&uri, OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI)
}

/// Copies what a file holds and not, as `fs::copy` would, that it is read-only.
fn copy_writable(from: &Path, to: &Path) -> std::io::Result<()> {
    std::io::copy(&mut File::open(from)?, &mut File::create_new(to)?).map(drop)
}

/// Opens a checked file for reading, wherever it lies.
///
/// A process killed inside a commit leaves a journal that undoes the unfinished
/// trial; SQLite applies it when the file is next opened for writing. So that is
/// done here, on the file where it may be written and on a copy where not.
pub(crate) fn reading(path: &Path) -> Result<Reading> {
    let plain = |conn| Reading { conn, _scratch: None };
    let first = match read_only(path) {
        Ok(conn) => return Ok(plain(conn)),
        Err(error) => error,
    };
    let journal = beside(path, "-journal");
    if has_content(&journal) {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE;
        if try_reading(path, flags).is_ok()
            && let Ok(conn) = read_only(path)
        {
            return Ok(plain(conn));
        }
        let io = |error| Error::io(&journal, "copy it to settle a killed run", error);
        let scratch = Scratch::new().map_err(io)?;
        let copy = scratch.0.join("run");
        copy_writable(path, &copy).map_err(io)?;
        copy_writable(&journal, &beside(&copy, "-journal")).map_err(io)?;
        let conn = try_reading(&copy, flags).map_err(|e| Error::sqlite(path, DOING_READ, e))?;
        return Ok(Reading { conn, _scratch: Some(scratch) });
    }
    if !has_content(&beside(path, "-wal"))
        && let Ok(conn) = immutable(path)
    {
        return Ok(plain(conn));
    }
    Err(Error::sqlite(path, DOING_READ, first))
}

/// Brings an older format up to date in memory, leaving the file as it is.
pub(crate) fn upgraded_copy(
    conn: &Connection,
    from: i64,
    steps: &[&str],
) -> rusqlite::Result<Connection> {
    let mut copy = Connection::open_in_memory()?;
    harden(&copy)?;
    let all_pages = -1;
    rusqlite::backup::Backup::new(conn, &mut copy)?.step(all_pages)?;
    crate::schema::apply(&copy, steps, from)?;
    Ok(copy)
}
