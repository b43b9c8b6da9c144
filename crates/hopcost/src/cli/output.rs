//! Where documents go: stdout or a file, all of it or nothing.

use std::fs;
use std::io::{self, IsTerminal, Read, Write};
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow};
use clap::ValueEnum;
use hopcost_model::text::escaped;
use hopcost_view::text::{Charset, Color, TextStyle};

use hopcost_probe::{interrupt, sys};

use super::exit::{self, usage};
use crate::about;

/// How a document is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For the terminal
    Text,
    /// Every table of the answer (schema hopcost/2)
    Json,
    /// One table of the answer
    Csv,
    /// Markdown
    Md,
    /// One self-contained offline page
    Html,
}

/// Writes a document to a file or to stdout.
pub fn write(document: &[u8], file: Option<&Path>) -> anyhow::Result<()> {
    let Some(path) = file else {
        if sys::stdout_was_closed() {
            return Err(anyhow!("writing to stdout: it is closed"));
        }
        return interrupt::write_all(&io::stdout(), document).context("writing to stdout");
    };
    let written = match replaced(path)? {
        Some(path) => replace(path, document),
        None => fs::write(path, document),
    };
    written.with_context(|| format!("cannot write {}", path.display()))
}

/// Prints a text; the exit code of what has nothing else to do.
pub fn print(text: &str) -> anyhow::Result<u8> {
    write(text.as_bytes(), None).map(|()| exit::OK)
}

/// Refuses a file that a document could not be written to, without touching it.
pub fn ensure_writable(path: &Path) -> anyhow::Result<()> {
    let Some(end) = replaced(path).map_err(|error| usage(format!("{error:#}")))? else {
        return Ok(());
    };
    let part = part_of(end);
    let made = fs::File::options().write(true).create_new(true).open(&part);
    made.and_then(|_| fs::remove_file(&part))
        .map_err(|error| usage(format!("cannot write {}: {error}", path.display())))
}

/// The file that is replaced or made; none where a device or one of the kernel's links to open
/// descriptors (`/dev/stdout`) is written to as it is. Refuses runs, other links, because somebody else
/// may have made one, directories, and pipes with a name, because to open one waits for a reader.
fn replaced(path: &Path) -> anyhow::Result<Option<&Path>> {
    let refused = |what: &str| Err(usage(format!("cannot write {}: {what}", path.display())));
    if ["/dev", "/proc/self/fd"].iter().any(|folder| path.starts_with(folder)) {
        return Ok(None);
    }
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Some(path)),
        Err(error) => refused(&error.to_string()),
        Ok(found) if found.is_symlink() => refused("it is a link; name the file itself"),
        Ok(found) if found.is_dir() => refused("it is a directory"),
        Ok(found) if found.file_type().is_fifo() => {
            refused("it is a pipe; print to stdout instead")
        }
        Ok(found) if found.is_file() && is_run(path) => refused("it is a run"),
        Ok(found) if found.is_file() => Ok(Some(path)),
        Ok(_) => Ok(None),
    }
}

/// A name beside a file under which it is written before it has its own.
fn part_of(path: &Path) -> PathBuf {
    path.with_file_name(format!(".hopcost-{:016x}", about::random()))
}

/// Whether a file is a run: SQLite's files begin so (fileformat2.html).
fn is_run(path: &Path) -> bool {
    let mut start = [0; 15];
    let read = fs::File::open(path).and_then(|mut file| file.read_exact(&mut start));
    read.is_ok() && start == *b"SQLite format 3"
}

/// Puts a new file in the place of an old one, so that a reader sees the old one or the
/// new one, which is open to nobody else than the old one was.
fn replace(path: &Path, document: &[u8]) -> io::Result<()> {
    let part = part_of(path);
    let mode = fs::metadata(path).map_or(0o666, |old| old.mode() & 0o777);
    // O_EXCL: follows no link and takes no file that was there before.
    let mut file = fs::File::options().write(true).create_new(true).mode(mode).open(&part)?;
    let result = file
        .write_all(document)
        .and_then(|()| file.sync_all())
        .and_then(|()| fs::rename(&part, path));
    if result.is_err() {
        let _ = fs::remove_file(&part);
    }
    result
}

/// The longest line of our own on stderr: a hostile argument is quoted in part.
const LINE_MAX: usize = 700;

/// Says something on stderr, on one line and without control characters. That
/// nobody can read it changes nothing.
pub fn say(text: &str) {
    let kept: String = text.chars().take(LINE_MAX).collect();
    let mut line = escaped(&kept.replace('\n', " "));
    if text.chars().nth(LINE_MAX).is_some() {
        line.push('…');
    }
    line.push('\n');
    interrupt::say(&line);
}

/// Whether an error is that nobody reads our output any more, which is no
/// failure of ours (`hopcost list | head -1`).
pub fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|e| e.kind() == io::ErrorKind::BrokenPipe)
}

/// The style for what goes to stdout: colour and width of the terminal, if it
/// is one; 100 columns without colour if it is not.
pub fn style() -> TextStyle {
    let terminal = io::stdout().is_terminal();
    let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    let columns = std::env::var("COLUMNS").ok().and_then(|c| c.parse::<usize>().ok());
    let seen = terminal.then(terminal_size::terminal_size).flatten();
    let seen = seen.map(|(width, _)| usize::from(width.0));
    TextStyle {
        width: columns.or(seen).unwrap_or(100).clamp(80, 100),
        color: if terminal && !set("NO_COLOR") && !dumb { Color::Ansi } else { Color::Plain },
        charset: if utf8() { Charset::Unicode } else { Charset::Ascii },
    }
}

/// Whether the locale says UTF-8 (locale(7): LC_ALL, LC_CTYPE, LANG).
fn utf8() -> bool {
    let names = ["LC_ALL", "LC_CTYPE", "LANG"];
    let mut set = names.iter().filter_map(|name| std::env::var(name).ok());
    let locale = set.find(|value| !value.is_empty()).unwrap_or_default().to_ascii_lowercase();
    locale.contains("utf-8") || locale.contains("utf8")
}
