//! `hopcost fleet report DIR`.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::ValueEnum;
use hopcost_model::results::FleetReport;
use hopcost_view::{fleet, json};

use super::exit::{self, usage};
use super::run::percent;
use super::{fleet_index, output};

/// Arguments of `fleet report`.
#[derive(clap::Args)]
pub struct Args {
    /// The fleet's directory, while it is being measured too
    #[arg(value_name = "DIR")]
    directory: PathBuf,
    /// How to print it; text where nothing is said
    #[arg(long, value_enum)]
    format: Option<Format>,
    /// Print every case, host and group as text, not what fits on a screen
    #[arg(long, conflicts_with = "format")]
    details: bool,
    /// Print to this file instead of stdout
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Write DIR/report/index.html, and a page a host beside it; prints nothing else
    #[arg(long)]
    html: bool,
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
    /// The page of the fleet alone
    Html,
}

/// Shows a fleet.
pub fn run(args: &Args) -> anyhow::Result<u8> {
    let format = args.format.unwrap_or(Format::Text);
    if let Some(file) = &args.output {
        output::ensure_writable(file)?;
    }
    let raw = fleet_index::read(&args.directory)?;
    let found = hopcost_read::fleet::report(&raw, args.margin);
    if args.html {
        pages(&found, &args.directory)?;
    }
    if !args.html || args.format.is_some() || args.output.is_some() || args.details {
        output::write(&document(&found, format, args.details)?, args.output.as_deref())?;
    }
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

/// Writes the pages, and says where the first is.
fn pages(found: &FleetReport, directory: &Path) -> anyhow::Result<()> {
    let report = directory.join("report");
    let hosts = report.join("hosts");
    for folder in [&report, &hosts] {
        folder_of_ours(folder)?;
    }
    for host in &found.hosts {
        // The name is one that a host may have: it leads nowhere else.
        output::write_fast(
            fleet::host_html(found, host).as_bytes(),
            &hosts.join(format!("{}.html", host.name)),
        )?;
    }
    let index = report.join("index.html");
    output::write(fleet::html(found).as_bytes(), Some(&index))?;
    output::say(&format!("wrote {} and a page a host", index.display()));
    Ok(())
}

/// Makes a folder, or finds one that is no link.
fn folder_of_ours(folder: &Path) -> anyhow::Result<()> {
    match fs::create_dir(folder) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => {
            return Err(usage(format!("cannot create {}: {error}", folder.display())));
        }
        _ => {}
    }
    let found = fs::symlink_metadata(folder).with_context(|| folder.display().to_string())?;
    match found.is_dir() {
        true => Ok(()),
        false => Err(usage(format!("{} is no directory", folder.display()))),
    }
}
