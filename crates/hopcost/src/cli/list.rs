//! `hopcost list`.

use hopcost_probe::mechanism;
use hopcost_probe::orphans::Orphans;

use super::exit;
use super::output::{self, Format};
use crate::run::runtimes::Runtimes;

/// Arguments of `list`.
#[derive(clap::Args)]
pub struct Args {
    /// How to print it (text, json, md)
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
    /// A worker program of your own, told of too
    #[arg(long, value_name = "PATH")]
    worker: Vec<std::path::PathBuf>,
    /// The suites instead: what `--suite` takes
    #[arg(long, conflicts_with = "format")]
    suites: bool,
}

/// Lists every mechanism, and the other runtimes.
pub fn run(args: &Args) -> anyhow::Result<u8> {
    if args.suites {
        let mut text = String::new();
        for (name, source) in hopcost_plan::SHIPPED {
            let suite = hopcost_plan::parse_suite(name, source)?;
            text.push_str(&format!("{name:21} {}\n", suite.about));
        }
        output::write(text.as_bytes(), None)?;
        return Ok(exit::OK);
    }
    let facts: Vec<_> =
        mechanism::ALL.iter().map(|row| &row.facts).filter(|facts| !facts.hidden).collect();
    let _orphans = Orphans::adopt()?;
    let runtimes = Runtimes::remembered(args.worker.clone()).facts();
    let format = output::mechanism_format(args.format)?;
    let document = hopcost_view::mechanisms::list(&facts, &runtimes, format);
    output::write(document.as_bytes(), None)?;
    Ok(exit::OK)
}
