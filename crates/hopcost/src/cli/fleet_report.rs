//! `hopcost fleet report DIR`.

use std::path::PathBuf;

use clap::ValueEnum;
use hopcost_model::results::FleetReport;
use hopcost_view::{fleet, json};

use super::run::percent;
use super::{exit, fleet_index, output};

/// Arguments of `fleet report`.
#[derive(clap::Args)]
pub struct Args {
    /// The fleet's directory, while it is being measured too
    #[arg(value_name = "DIR")]
    directory: PathBuf,
    /// How to print it
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
    /// Print every case, host and group as text, not what fits on a screen
    #[arg(long, conflicts_with = "format")]
    details: bool,
    /// Print to this file instead of stdout
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Ratios off 1 by no more than this are of no interest
    #[arg(long, value_name = "PERCENT", value_parser = percent, default_value = "3%")]
    margin: f64,
}

/// How it is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For the terminal
    Text,
    /// The document behind every view (schema hopcost/1)
    Json,
    /// Markdown
    Md,
    /// One self-contained offline page
    Html,
}

/// Shows a fleet.
pub fn run(args: &Args) -> anyhow::Result<u8> {
    if let Some(file) = &args.output {
        output::ensure_writable(file)?;
    }
    let raw = fleet_index::read(&args.directory)?;
    let found = hopcost_read::fleet::report(&raw, args.margin);
    output::write(&document(&found, args.format, args.details)?, args.output.as_deref())?;
    Ok(exit::OK)
}

fn document(found: &FleetReport, format: Format, details: bool) -> anyhow::Result<Vec<u8>> {
    let text = match format {
        Format::Text if details => fleet::details(found, &output::style()),
        Format::Text => fleet::text(found, &output::style()),
        Format::Json => json::fleet(found)?,
        Format::Md => fleet::markdown(found),
        Format::Html => fleet::html(found),
    };
    Ok(text.into_bytes())
}
