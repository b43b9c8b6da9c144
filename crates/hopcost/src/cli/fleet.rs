//! `hopcost fleet`: becomes the program beside this one, which drives fleets and reports what they
//! measured, and reads run files for it.

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use hopcost_file::EstimateRow;
use hopcost_model::{Estimate, HEADLINE, IndexedEstimate, IndexedRun, parallel};
use hopcost_read::results::Results;
use hopcost_read::stored;

use super::exit::{self, usage};
use super::{output, runs};
use crate::run::scratch::Scratch;
use crate::run::trust;

/// The program that drives fleets.
const DRIVER: &str = "hopcost-fleet";
/// Run files that are read at once at most, for each is held whole.
const AT_ONCE_MAX: usize = 8;

/// Measure many hosts, and report which are outliers
#[derive(clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: What,
}

#[derive(clap::Subcommand)]
enum What {
    /// Measure many hosts, and pairs of them, by Dask, Slurm or ssh (hopcost-fleet beside this program)
    #[command(disable_help_flag = true)]
    Run(Words),
    /// Report which hosts are outliers, what these share, and which pairs are slow (hopcost-fleet)
    #[command(disable_help_flag = true)]
    Report(Words),
    /// Print what run files hold for the index of a fleet, a line of JSON each
    #[command(hide = true)]
    Index {
        /// The run files
        #[arg(value_name = "FILE")]
        files: Vec<PathBuf>,
    },
}

/// What the driver is given.
#[derive(clap::Args)]
struct Words {
    /// What hopcost-fleet takes: `hopcost fleet run --help`, `hopcost fleet report --help`
    #[arg(value_name = "WORDS", trailing_var_arg = true, allow_hyphen_values = true)]
    words: Vec<OsString>,
}

impl Args {
    /// Does what is asked.
    pub fn run(&self) -> anyhow::Result<u8> {
        match &self.command {
            What::Run(of) => drive("run", &of.words),
            What::Report(of) => drive("report", &of.words),
            What::Index { files } => index(files),
        }
    }
}

/// Becomes the driver.
fn drive(command: &str, words: &[OsString]) -> anyhow::Result<u8> {
    let own = std::env::current_exe().and_then(|path| path.canonicalize()).map_err(usage)?;
    let folder = own.parent().unwrap_or(Path::new("/"));
    let driver = folder.join(DRIVER);
    if driver.symlink_metadata().is_err() {
        return Err(usage(format!(
            "hopcost fleet {command} needs {DRIVER} in {}: pip install 'hopcost[fleet]' installs both there",
            folder.display()
        )));
    }
    let trusted = trust::folder(folder).and_then(|()| trust::file(&driver));
    trusted.map_err(|why| usage(format!("{why:#}")))?;
    let error = Command::new(&driver).arg(command).args(words).exec();
    Err(usage(format!("cannot start {}: {error}", driver.display())))
}

/// Prints a line of JSON for each file, in their order; reads as many at once as there are CPUs.
fn index(files: &[PathBuf]) -> anyhow::Result<u8> {
    for files in files.chunks(AT_ONCE_MAX) {
        for run in parallel::each(files.len(), |at| one(&files[at])) {
            output::print(&(serde_json::to_string(&run)? + "\n"))?;
        }
    }
    Ok(exit::OK)
}

fn one(path: &Path) -> IndexedRun {
    let raw = match hopcost_file::open(path, &Scratch::for_copy) {
        Ok(raw) => raw,
        Err(error) => {
            let (line, place) = (error.to_string(), format!("{}: ", path.display()));
            // The index says of which file.
            let error = line.strip_prefix(&place).unwrap_or(&line).to_owned();
            return IndexedRun { error: Some(error), ..IndexedRun::default() };
        }
    };
    let results = runs::results(&raw);
    let facts = stored::fingerprint(&raw, &hopcost_probe::worker::mechanisms());
    IndexedRun {
        id: raw.about.id.clone(),
        started: raw.about.started.clone(),
        error: None,
        facts: facts.into_iter().collect(),
        estimates: rows(&results),
    }
}

/// The estimates by which hosts are compared. An upper bound is no such value.
fn rows(results: &Results) -> Vec<IndexedEstimate> {
    let is_headline = |name: &str| HEADLINE.iter().any(|(known, _)| *known == name);
    let mut all = runs::estimates(results);
    all.retain(|row| is_headline(&row.statistic) && !row.estimate.at_most);
    all.into_iter().map(row).collect()
}

fn row(of: EstimateRow) -> IndexedEstimate {
    let Estimate { point, low, high, .. } = of.estimate;
    let unit = if of.statistic.ends_with("_gbps") { "Gbit/s" } else { "ns" }.to_owned();
    let (case, statistic, validity) = (of.case_id, of.statistic, Some(of.validity));
    IndexedEstimate { case, statistic, unit, point, low, high, validity }
}
