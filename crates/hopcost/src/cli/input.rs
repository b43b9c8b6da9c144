//! What a user names: files, read whole, and shares.

use std::fs::File;
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use anyhow::{Context, ensure};
use hopcost_plan::{PlanError, SuiteSource};

use super::exit::usage;

/// O_NONBLOCK of Linux (asm-generic/fcntl.h).
const NONBLOCK: i32 = 0o4000;
/// The most a suite's or a claims file may hold.
const BYTES_MAX: u64 = 1 << 20;

/// A suite's or a claims file, where a name looks like a path; else one of those that are shipped.
pub fn source(
    name: &str,
    shipped: impl Fn(&str) -> Result<SuiteSource, PlanError>,
) -> anyhow::Result<SuiteSource> {
    if !name.contains('/') && !name.ends_with(".toml") {
        return shipped(name).map_err(usage);
    }
    let text = read(Path::new(name)).map_err(|error| usage(format!("{name}: {error}")))?;
    Ok(SuiteSource { file: name.to_owned(), text })
}

/// The text of a regular file.
fn read(path: &Path) -> anyhow::Result<String> {
    // Non-blocking, because opening a FIFO would otherwise wait for a writer.
    let file = File::options().read(true).custom_flags(NONBLOCK).open(path)?;
    let found = file.metadata()?;
    ensure!(!found.is_dir(), "it is a directory");
    ensure!(found.is_file(), "not a regular file");
    let mut bytes = Vec::new();
    file.take(BYTES_MAX + 1).read_to_end(&mut bytes)?;
    let is_short = bytes.len() as u64 <= BYTES_MAX;
    ensure!(is_short, "larger than 1 MiB, which no such file needs");
    String::from_utf8(bytes).context("not UTF-8 text")
}

/// A share from `2%` or `0.5%`.
pub fn percent(text: &str) -> Result<f64, String> {
    let number = text.strip_suffix('%').and_then(|number| number.trim_end().parse::<f64>().ok());
    let share = number.map(|percent| percent / 100.0).filter(|share| (0.001..=1.0).contains(share));
    share.ok_or_else(|| "want a percentage from 0.1% to 100%, such as 2%".to_owned())
}
