//! `hopcost report RUN`.

use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::ValueEnum;
use hopcost_file::Runs;
use hopcost_model::finding::Validity;
use hopcost_model::raw::RawRun;
use hopcost_model::results::{Results, Status};
use hopcost_view::export;

use super::exit::{self, usage};
use super::output::{self, Format};
use super::shown::{Printed, Shown};
use crate::run::scratch::Scratch;

/// Arguments of `report`.
#[derive(clap::Args)]
pub struct Args {
    /// A run: a path, the beginning of an id, last, or last~1 for the one before
    #[arg(default_value = "last")]
    run: String,
    #[command(flatten)]
    shown: Shown,
    /// With --format csv: every stored sample, one row each
    #[arg(long, conflicts_with_all = ["html", "plots"])]
    samples: bool,
    /// With --format csv: which rows and columns
    #[arg(long, value_enum, conflicts_with_all = ["samples", "html", "plots"])]
    layout: Option<Layout>,
}

/// Rows and columns of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Layout {
    /// One row per case and statistic [default]
    Tidy,
    /// Streams as in the published table: one row per way of sending, size and number of threads
    Document,
}

/// Shows a stored run.
pub fn run(args: &Args) -> anyhow::Result<u8> {
    let format = args.shown.format();
    if args.samples && format != Format::Csv {
        return Err(usage("--samples goes with --format csv"));
    }
    if args.layout == Some(Layout::Document) && format != Format::Csv {
        return Err(usage("--layout goes with --format csv"));
    }
    let path = find(&args.run)?;
    args.shown.spare(&path)?;
    let raw = hopcost_file::open(&path, &Scratch::for_copy).map_err(usage)?;
    if args.samples {
        let mut document = Vec::new();
        hopcost_view::csv::samples(&raw, &mut document)?;
        output::write(&document, args.shown.output())?;
        return Ok(exit::OK);
    }
    let results = results(&raw);
    match args.layout {
        Some(Layout::Document) => {
            let export = hopcost_plan::shown().iter().find_map(|(_, shown)| shown.export.as_ref());
            let export = export.context("no suite lists the columns of a document")?;
            let document = export::table(export, &results).map_err(usage)?;
            output::write(document.as_bytes(), args.shown.output())?;
        }
        _ => args.shown.show(&results, &path, Printed::WhereNothingElse)?,
    }
    Ok(exit::OK)
}

/// The file of a run that the user named; `last` where nothing was said.
pub fn find(spec: &str) -> anyhow::Result<PathBuf> {
    let as_path = Path::new(spec);
    if as_path.exists() {
        return Ok(as_path.to_owned());
    }
    Runs::of_user().and_then(|runs| runs.resolve(spec)).map_err(usage)
}

/// What a stored run says.
pub fn results(raw: &RawRun) -> Results {
    hopcost_read::read(raw, &hopcost_probe::worker::mechanisms())
}

/// The exit code that a finished run deserves.
pub fn verdict(results: &Results) -> u8 {
    if results.results.iter().any(|r| r.status == Status::Failed || r.n_failed > 0) {
        exit::ERROR
    } else if results.results.iter().any(|r| r.validity == Some(Validity::Invalid)) {
        exit::INVALID
    } else {
        exit::OK
    }
}
