//! `hopcost report RUN`.

use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow};
use clap::ValueEnum;
use hopcost_file::Runs;
use hopcost_model::finding::Validity;
use hopcost_model::raw::RawRun;
use hopcost_model::results::{Results, Status};
use hopcost_model::text::shell_word;
use hopcost_view::chart::model::Chart;
use hopcost_view::export;
use hopcost_view::text::Stored;

use super::exit::{self, usage};
use super::output::{self, Format};
use crate::run::scratch::Scratch;

/// Arguments of `report`.
#[derive(clap::Args)]
pub struct Args {
    /// A run: a path, the beginning of an id, `last`, or `last~1` for the one before
    #[arg(default_value = "last")]
    run: String,
    /// How to print it
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
    /// Write to this file instead of stdout
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// With --format csv: every stored sample, one row each
    #[arg(long)]
    samples: bool,
    /// With --format csv: which rows and columns
    #[arg(long, value_enum, default_value = "tidy", conflicts_with = "samples")]
    layout: Layout,
    /// Write each plot of the run into this directory, as NAME.svg and (if built with the feature
    /// png) NAME.png, and print nothing
    #[arg(long, value_name = "DIR", conflicts_with_all = ["format", "output", "samples", "layout"])]
    plots: Option<PathBuf>,
}

/// Rows and columns of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Layout {
    /// One row a case and statistic
    Tidy,
    /// Streams as in the published table: one row a way of sending, size and number of threads
    Document,
}

/// Shows a stored run.
pub fn run(args: &Args) -> anyhow::Result<u8> {
    if args.samples && args.format != Format::Csv {
        return Err(usage("--samples goes with --format csv"));
    }
    if args.layout == Layout::Document && args.format != Format::Csv {
        return Err(usage("--layout goes with --format csv"));
    }
    let path = find(&args.run)?;
    if args.output.as_deref().is_some_and(|output| same_file(output, &path)) {
        return Err(usage(format!("--output would overwrite the run {} itself", path.display())));
    }
    let raw = hopcost_file::open(&path, &Scratch::for_copy).map_err(usage)?;
    if args.samples {
        let mut document = Vec::new();
        hopcost_view::csv::samples(&raw, &mut document)?;
        output::write(&document, args.output.as_deref())?;
        return Ok(exit::OK);
    }
    let results = results(&raw);
    if let Some(directory) = &args.plots {
        return plots(&results, directory, &path);
    }
    let document = match args.layout {
        Layout::Document => {
            let export = hopcost_plan::shown().iter().find_map(|(_, shown)| shown.export.as_ref());
            let export = export.context("no suite lists the columns of a document")?;
            export::table(export, &results).map_err(usage)?
        }
        Layout::Tidy => render(&results, args.format, &path)?,
    };
    output::write(document.as_bytes(), args.output.as_deref())?;
    Ok(exit::OK)
}

/// Writes the plots of a run, and says on stderr which files they are. A file of
/// that name is replaced, as with --output.
fn plots(results: &Results, directory: &Path, run: &Path) -> anyhow::Result<u8> {
    let plots = hopcost_view::chart::plots(results);
    if plots.is_empty() {
        return Err(usage(format!(
            "the run {} has nothing to plot: plots come from what was swept (gaps of wake-ups, \
             sizes and flows of streams) and from pairs of runtimes",
            run.display()
        )));
    }
    std::fs::create_dir_all(directory)
        .map_err(|e| usage(format!("cannot create {}: {e}", directory.display())))?;
    for (name, chart) in &plots {
        for (ending, document) in drawings(chart).map_err(|e| anyhow!("drawing {name}: {e}"))? {
            let file = directory.join(format!("{name}.{ending}"));
            if same_file(&file, run) {
                return Err(usage(format!("--plots would overwrite the run {}", run.display())));
            }
            output::write(&document, Some(&file))?;
            output::say(&format!("wrote {}", file.display()));
        }
    }
    if !cfg!(feature = "png") {
        output::say(
            "this build draws no PNG; `cargo install --path crates/hopcost` makes one that does",
        );
    }
    Ok(exit::OK)
}

/// The files of a chart: what their names end in, and what is in them.
fn drawings(chart: &Chart) -> Result<Vec<(&'static str, Vec<u8>)>, String> {
    Ok(vec![
        ("svg", hopcost_view::chart::svg(chart).into_bytes()),
        #[cfg(feature = "png")]
        ("png", hopcost_view::chart::png(chart)?),
    ])
}

/// Whether two paths lead to one file.
fn same_file(a: &Path, b: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    match (std::fs::metadata(a), std::fs::metadata(b)) {
        (Ok(a), Ok(b)) => (a.dev(), a.ino()) == (b.dev(), b.ino()),
        _ => false,
    }
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

/// One document of a run.
pub fn render(results: &Results, format: Format, path: &Path) -> anyhow::Result<String> {
    Ok(match format {
        Format::Text => {
            let report_command = format!(
                "hopcost report {} --format html --output report.html",
                shell_word(&path.display().to_string())
            );
            let stored =
                Stored { path: &path.display().to_string(), report_command: &report_command };
            hopcost_view::text::report(results, Some(stored), &output::style())
        }
        Format::Json => hopcost_view::json::report(results)?,
        Format::Csv => hopcost_view::csv::report(results),
        Format::Md => hopcost_view::markdown::report(results),
        Format::Html => hopcost_view::html::report(results),
    })
}

/// The exit code that a finished run deserves.
pub fn verdict(results: &Results) -> u8 {
    if results.results.iter().any(|r| r.status == Status::Failed || r.n_failed > 0) {
        exit::ERROR
    } else if results
        .results
        .iter()
        .any(|r| r.status == Status::Measured && r.validity == Validity::Invalid)
    {
        exit::INVALID
    } else {
        exit::OK
    }
}
