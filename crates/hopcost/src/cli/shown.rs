//! What is shown, and where it goes: the options that `run`, `report` and all that answer share.

use std::path::{Path, PathBuf};

use hopcost_file::Runs;
use hopcost_model::Plan;
use hopcost_model::text::{count, shell_word};
use hopcost_plan::Expected;
use hopcost_read::results::{Results, Statistic};
use hopcost_view::StoredRun;
use hopcost_view::answer::{self, Answer, Content};
use hopcost_view::text::Stored;

use super::exit::{self, ensure, usage};
use super::output::{self, Format};
use super::session::Measured;
use super::{progress, runs};

/// The options.
#[derive(clap::Args, Default)]
pub struct Shown {
    /// Output format [default: text]
    #[arg(long, value_enum)]
    format: Option<Format>,
    /// With --format csv: the table to print (`hopcost reference tables` lists them)
    #[arg(long, value_name = "NAME")]
    table: Option<String>,
    /// Print every number and finding as text
    #[arg(long, conflicts_with_all = ["format", "sentence"])]
    details: bool,
    /// Print the conclusion as one line to paste, with machine and command
    #[arg(long, conflicts_with = "format")]
    sentence: bool,
    /// Print these percentiles of each case (75,99.99) as far as the samples support them
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = percentile,
          conflicts_with_all = ["details", "sentence"])]
    percentiles: Vec<f64>,
    /// Print to this file instead of stdout
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Write a page: FILE.html, or hopcost-ID.html in this directory
    #[arg(long, value_name = "FILE", num_args = 0..=1, value_parser = page)]
    html: Option<Option<PathBuf>>,
    /// Write each plot into this directory as NAME.svg
    #[arg(long, value_name = "DIR")]
    plots: Option<PathBuf>,
}

/// When it is printed beside the files that are written of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Printed {
    /// In any case: it has just been measured.
    Always,
    /// Where no page or plot was asked for, or a format or file was too.
    WhereNothingElse,
}

/// A page's file. The ending tells it from a case or a run, which may stand behind `--html` too.
fn page(text: &str) -> Result<PathBuf, String> {
    match Path::new(text).extension().is_some_and(|ending| ending == "html" || ending == "htm") {
        true => Ok(text.into()),
        false => Err("want a name that ends in .html; alone, --html stands last".to_owned()),
    }
}

/// A percentile, as `99.9` or `p99.9`.
pub fn percentile(text: &str) -> Result<f64, String> {
    let percent = text.trim_start_matches('p').parse::<f64>().ok();
    let percent = percent.filter(|percent| *percent > 0.0 && *percent < 100.0);
    percent.ok_or_else(|| "want a percentile between 0 and 100, such as 99.9".to_owned())
}

/// A percentile that every case has.
pub fn statistic(text: &str) -> Result<Statistic, String> {
    let found = Statistic::of_label(&format!("p{}", text.trim_start_matches('p')));
    let found = found.filter(|of| of.quantile().is_some());
    found.ok_or_else(|| "want one of 50, 90, 95, 99, 99.9".to_owned())
}

impl Shown {
    /// How to print it.
    pub fn format(&self) -> Format {
        self.format.unwrap_or(Format::Text)
    }

    /// The file to print to, if it is not stdout.
    pub fn output(&self) -> Option<&Path> {
        self.output.as_deref()
    }

    /// Refuses what a run has not and files that cannot be written, before anything is measured.
    pub fn ensure_run(&self) -> anyhow::Result<()> {
        self.ensure(&answer::all())
    }

    /// The same of another answer, such as one without rows; refuses what only a run has.
    pub fn ensure_answer(&self, of: &dyn Content) -> anyhow::Result<()> {
        let of_runs = "--percentiles is of runs; a comparison has --statistic";
        ensure(self.percentiles.is_empty(), of_runs)?;
        self.ensure(&[of.answer()])
    }

    fn ensure(&self, answers: &[Answer]) -> anyhow::Result<()> {
        let format = self.format();
        if let Some(name) = &self.table {
            ensure(format == Format::Csv, "--table goes with --format csv")?;
            let known = "`hopcost reference tables` lists them";
            let is_known = answers.iter().any(|of| of.has(name));
            ensure(is_known, format!("--table: no answer has `{name}`; {known}"))?;
        }
        let has_them = !matches!(format, Format::Md | Format::Html);
        let goes_with = "--percentiles goes with text, json and csv";
        ensure(has_them || self.percentiles.is_empty(), goes_with)?;
        if let Some(file) = self.output() {
            output::ensure_writable(file)?;
        }
        if let Some(page) = self.page("ID") {
            output::ensure_writable(&page)?;
        }
        if let Some(directory) = &self.plots {
            make(directory)?;
            output::ensure_writable(&directory.join("plot.svg"))?;
        }
        Ok(())
    }

    /// Prints what would be measured.
    pub fn dry_run(&self, plan: &Plan, expected: Expected) -> anyhow::Result<u8> {
        let expected_ns = expected.ns;
        progress::say_short(plan, expected);
        let document = match self.format() {
            Format::Text => hopcost_view::plan::dry_run(plan, expected_ns).text(&output::style()),
            Format::Json => hopcost_view::plan::dry_run_json(plan, expected_ns),
            _ => return Err(usage("--dry-run prints text or json")),
        };
        output::write(document.as_bytes(), self.output())?;
        Ok(exit::OK)
    }

    /// Shows a run that was measured just now, and how a failed trial is looked into; its exit code.
    pub fn show_measured(&self, measured: &Measured) -> anyhow::Result<u8> {
        let Measured { path, results, cut_off } = measured;
        self.show_run(results, path, Printed::Always)?;
        let mut failed = results.results.iter().filter(|case| case.n_failed > 0).peekable();
        let replay = failed.peek().and_then(|case| case.replay.clone());
        if let (Some(replay), n) = (replay, failed.count()) {
            output::say(&format!(
                "hopcost: trials of {} failed; to see one fail, with every line of the protocol: {replay}",
                count(n, "case")
            ));
        }
        Ok(cut_off.unwrap_or_else(|| runs::verdict(results)))
    }

    /// Shows a run that is stored in this file.
    pub fn show_run(&self, results: &Results, path: &Path, printed: Printed) -> anyhow::Result<()> {
        let mut results = std::borrow::Cow::Borrowed(results);
        if !self.percentiles.is_empty() {
            let (raw, rust) = (runs::open(path)?, hopcost_probe::worker::mechanisms());
            hopcost_read::add_percentiles(results.to_mut(), &raw, &rust, &self.percentiles);
        }
        let (shown, show_command) = (path.display().to_string(), show_command(&results, path));
        let stored = Some(Stored { path: &shown, show_command: &show_command });
        let run = StoredRun { results: &results, stored, percentiles: &self.percentiles };
        self.show(&run, printed)
    }

    /// Prints it, and writes its plots and its page.
    pub fn show(&self, of: &dyn Content, printed: Printed) -> anyhow::Result<()> {
        let page = self.page(&of.name());
        let is_asked = self.format.is_some()
            || self.output.is_some()
            || self.details
            || self.sentence
            || !self.percentiles.is_empty();
        let is_alone = page.is_none() && self.plots.is_none();
        if is_asked || is_alone || printed == Printed::Always {
            let document = match self.format() {
                Format::Json => of.answer().json(),
                Format::Csv => of.answer().csv(self.table.as_deref()).map_err(usage)?,
                Format::Text if self.sentence => of.sentences(),
                Format::Text => of.text(self.details, &output::style()),
                Format::Md => of.markdown(),
                Format::Html => of.html(),
            };
            output::write(document.as_bytes(), self.output())?;
        }
        // The log of a CI job has the conclusion too.
        if self.output.is_some() {
            output::say(of.sentences().trim_end());
        }
        if let Some(directory) = &self.plots {
            write_plots(of, directory)?;
        }
        if let Some(page) = page {
            output::write(of.html().as_bytes(), Some(&page))?;
            output::say(&format!("wrote {}", page.display()));
        }
        Ok(())
    }

    /// The page to write, if there is to be one.
    fn page(&self, name: &str) -> Option<PathBuf> {
        // The id of a run is what a file says, and a file may be a stranger's.
        let plain: String =
            name.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').collect();
        let unnamed = || PathBuf::from(format!("hopcost-{plain}.html"));
        self.html.as_ref().map(|named| named.clone().unwrap_or_else(unnamed))
    }
}

/// The command that shows a run: by its id, where it is stored among the user's.
fn show_command(results: &Results, run: &Path) -> String {
    let id = results.about.id.as_str();
    let found = Runs::of_user().and_then(|runs| runs.resolve(id));
    let same = |found: PathBuf| found.canonicalize().ok() == run.canonicalize().ok();
    let spec = match found.is_ok_and(same) {
        true => id.to_owned(),
        false => shell_word(&run.display().to_string()),
    };
    format!("hopcost report {spec}")
}

fn make(directory: &Path) -> anyhow::Result<()> {
    std::fs::create_dir_all(directory)
        .map_err(|e| usage(format!("cannot create {}: {e}", directory.display())))
}

/// Writes plots, and says on stderr which files they are. A file of that name is replaced, as with
/// --output.
fn write_plots(of: &dyn Content, directory: &Path) -> anyhow::Result<()> {
    let plots = of.plots();
    let why = "has nothing to plot: it measured no case, or it compares runs";
    ensure(!plots.is_empty(), format!("{} {why}", of.name()))?;
    make(directory)?;
    for chart in &plots {
        let file = directory.join(format!("{}.svg", chart.id));
        output::write(hopcost_view::chart::svg(chart).as_bytes(), Some(&file))?;
        output::say(&format!("wrote {}", file.display()));
    }
    Ok(())
}
