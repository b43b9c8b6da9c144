//! `hopcost report RUN`.

use anyhow::Context;
use hopcost_view::export;

use super::exit::{self, ensure, usage};
use super::output::{self, Format};
use super::runs;
use super::shown::{Printed, Shown};

/// Show a stored run again, as text, JSON, CSV, Markdown or HTML
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
    /// With --format csv: streams as in the published table, one row per way of sending, size and number
    /// of threads
    #[arg(long, value_name = "document", value_parser = ["document"],
          conflicts_with_all = ["samples", "html", "plots"])]
    layout: Option<String>,
}

impl Args {
    /// Shows a stored run.
    pub fn run(&self) -> anyhow::Result<u8> {
        let is_csv = self.shown.format() == Format::Csv;
        ensure(is_csv || !self.samples, "--samples goes with --format csv")?;
        ensure(is_csv || self.layout.is_none(), "--layout goes with --format csv")?;
        self.shown.ensure_run()?;
        let path = runs::find(&self.run)?;
        let raw = runs::open(&path)?;
        if self.samples {
            output::write(hopcost_view::csv::samples(&raw).as_bytes(), self.shown.output())?;
            return Ok(exit::OK);
        }
        let results = runs::results(&raw);
        if self.layout.is_some() {
            let export = hopcost_plan::shown().iter().find_map(|(_, shown)| shown.export.as_ref());
            let export = export.context("no suite lists the columns of a document")?;
            let document = export::table(export, &results).map_err(usage)?;
            output::write(document.as_bytes(), self.shown.output())?;
        } else {
            self.shown.show_run(&results, &path, Printed::WhereNothingElse)?;
        }
        Ok(exit::OK)
    }
}
