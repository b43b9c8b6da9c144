//! `hopcost fleet`: becomes the program beside this one, which drives fleets and reports what they
//! measured, and reads run files for it.

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::exit::usage;
use super::fleet_index;
use super::subcommand::{Called, Subcommand};
use crate::run::trust;

/// The program that drives fleets.
const DRIVER: &str = "hopcost-fleet";

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
    Run {
        /// What hopcost-fleet takes: `hopcost fleet run --help`
        #[arg(value_name = "WORDS", trailing_var_arg = true, allow_hyphen_values = true)]
        words: Vec<OsString>,
    },
    /// Report which hosts are outliers, what these share, and which pairs are slow (hopcost-fleet)
    #[command(disable_help_flag = true)]
    Report {
        /// What hopcost-fleet takes: `hopcost fleet report --help`
        #[arg(value_name = "WORDS", trailing_var_arg = true, allow_hyphen_values = true)]
        words: Vec<OsString>,
    },
    /// Print what run files hold for the index of a fleet, a line of JSON each
    #[command(hide = true)]
    Index {
        /// The run files
        #[arg(value_name = "FILE")]
        files: Vec<PathBuf>,
    },
}

impl Subcommand for Args {
    const NAME: &str = "fleet";

    /// Does what is asked.
    fn run(&self, _: &Called) -> anyhow::Result<u8> {
        match &self.command {
            What::Run { words } => drive("run", words),
            What::Report { words } => drive("report", words),
            What::Index { files } => fleet_index::print(files),
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
    trust::folder(folder).and_then(|()| trust::file(&driver)).map_err(usage)?;
    let error = Command::new(&driver).arg(command).args(words).exec();
    Err(usage(format!("cannot start {}: {error}", driver.display())))
}
