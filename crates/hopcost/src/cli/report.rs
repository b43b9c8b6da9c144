//! `hopcost report RUN`.

use anyhow::Context;
use clap::ValueEnum;
use hopcost_view::export;

use super::exit::{self, usage};
use super::output::{self, Format};
use super::runs;
use super::shown::{Content, Printed, Shown};

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
    let path = runs::find(&args.run)?;
    let raw = runs::open(&path)?;
    if args.samples {
        let mut document = Vec::new();
        hopcost_view::csv::samples(&raw, &mut document)?;
        output::write(&document, args.shown.output())?;
        return Ok(exit::OK);
    }
    let results = runs::results(&raw);
    match args.layout {
        Some(Layout::Document) => {
            let export = hopcost_plan::shown().iter().find_map(|(_, shown)| shown.export.as_ref());
            let export = export.context("no suite lists the columns of a document")?;
            let document = export::table(export, &results).map_err(usage)?;
            output::write(document.as_bytes(), args.shown.output())?;
        }
        _ => args.shown.show(Content::Run(&results, &path), Printed::WhereNothingElse)?,
    }
    Ok(exit::OK)
}
