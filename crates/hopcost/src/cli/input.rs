//! What a user names: files, read whole, and shares.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use hopcost_plan::SuiteSource;

use super::exit::usage;

/// O_NONBLOCK of Linux (asm-generic/fcntl.h).
const NONBLOCK: i32 = 0o4000;
/// The most a suite's or a claims file may hold.
const BYTES_MAX: u64 = 1 << 20;

/// A suite's or a claims file, where a name looks like a path.
pub fn source(name: &str) -> anyhow::Result<Option<SuiteSource>> {
    if !name.contains('/') && !name.ends_with(".toml") {
        return Ok(None);
    }
    let text = read(Path::new(name))
        .and_then(|bytes| String::from_utf8(bytes).map_err(|_| io::Error::other("not UTF-8 text")));
    let text = text.map_err(|error| usage(format!("{name}: {error}")))?;
    Ok(Some(SuiteSource { file: name.to_owned(), text }))
}

/// The bytes of a regular file.
fn read(path: &Path) -> io::Result<Vec<u8>> {
    // Non-blocking, because opening a FIFO would otherwise wait for a writer.
    let file = File::options().read(true).custom_flags(NONBLOCK).open(path)?;
    let found = file.metadata()?;
    if found.is_dir() {
        return Err(io::Error::other("it is a directory"));
    }
    if !found.is_file() {
        return Err(io::Error::other("not a regular file"));
    }
    let mut bytes = Vec::new();
    file.take(BYTES_MAX + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > BYTES_MAX {
        return Err(io::Error::other("larger than 1 MiB, which no such file needs"));
    }
    Ok(bytes)
}

/// A share from `2%` or `0.5%`.
pub fn percent(text: &str) -> Result<f64, String> {
    let number = text.strip_suffix('%').and_then(|number| number.trim_end().parse::<f64>().ok());
    let share = number.map(|percent| percent / 100.0).filter(|share| (0.001..=1.0).contains(share));
    share.ok_or_else(|| "want a percentage from 0.1% to 100%, such as 2%".to_owned())
}
