//! What is shown of a run, and where it goes: the options that `run` and `report` share.

use std::path::{Path, PathBuf};

use hopcost_file::Runs;
use hopcost_model::plan::Plan;
use hopcost_model::results::{Results, RunComparison, Statistic};
use hopcost_model::text::shell_word;
use hopcost_plan::Expected;
use hopcost_view::answer::Answer;
use hopcost_view::chart::model::Chart;
use hopcost_view::text::{self, Stored};
use hopcost_view::{Medium, comparison};

use super::exit::{self, usage};
use super::output::{self, Format, TableArg};
use super::progress;

/// The options.
#[derive(clap::Args, Default)]
pub struct Shown {
    /// Output format [default: text]
    #[arg(long, value_enum)]
    format: Option<Format>,
    #[command(flatten)]
    table: TableArg,
    /// Print every number and finding as text
    #[arg(long, conflicts_with_all = ["format", "sentence"])]
    details: bool,
    /// Print each ranking as one line to paste, with machine and command
    #[arg(long, conflicts_with = "format")]
    sentence: bool,
    /// Print these percentiles of each case (50,90,99,99.9). Wake-ups and streams have 95 too
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = percentile,
          conflicts_with_all = ["format", "details", "sentence"])]
    percentiles: Vec<Statistic>,
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

/// When a run is printed beside the files that are written of it.
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

/// A percentile that is estimated.
pub(super) fn percentile(text: &str) -> Result<Statistic, String> {
    let label = format!("p{}", text.trim_start_matches('p'));
    let found =
        Statistic::ALL.iter().copied().find(|of| of.quantile().is_some() && of.label() == label);
    found.ok_or_else(|| {
        let known = Statistic::ALL.iter().filter(|of| of.quantile().is_some());
        let known: Vec<&str> = known.map(|of| of.label().trim_start_matches('p')).collect();
        format!("estimated are {}; the page has the whole curve", known.join(", "))
    })
}

/// Refuses to write the files of options over a run.
pub fn ensure_spared(files: &[(&str, Option<&Path>)], run: &Path) -> anyhow::Result<()> {
    match files.iter().find(|(_, file)| file.is_some_and(|file| same_file(file, run))) {
        Some((option, _)) => {
            let run = run.display();
            Err(usage(format!("{option} would overwrite {run} itself")))
        }
        None => Ok(()),
    }
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

    /// The files that are written, by option.
    fn files(&self) -> [(&'static str, Option<&Path>); 2] {
        let html = self.html.as_ref().and_then(Option::as_deref);
        [("--output", self.output()), ("--html", html)]
    }

    /// Refuses to write over the run itself.
    pub fn spare(&self, run: &Path) -> anyhow::Result<()> {
        ensure_spared(&self.files(), run)
    }

    /// Refuses files that cannot be written, before anything is measured.
    pub fn ensure_writable(&self) -> anyhow::Result<()> {
        self.table.ensure_csv(self.format())?;
        if let Some(file) = self.output() {
            ensure_spared(&self.files()[1..], file)?;
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
            Format::Json => hopcost_view::plan::dry_run_json(plan, expected_ns)?,
            _ => return Err(usage("--dry-run prints text or json")),
        };
        output::write(document.as_bytes(), self.output())?;
        Ok(exit::OK)
    }

    /// Shows a run that is stored in a file.
    pub fn show(&self, results: &Results, run: &Path, printed: Printed) -> anyhow::Result<()> {
        let document = |format| {
            Ok(match format {
                Format::Text => self.text(results, run),
                Format::Json => Answer::of_run(results).json(),
                Format::Csv => self.table.csv(&Answer::of_run(results))?,
                Format::Md => hopcost_view::markdown::report(results),
                Format::Html => hopcost_view::html::report(results),
            })
        };
        let charts = |directory: &Path| {
            let of = format!("the run {}", run.display());
            plots(&hopcost_view::plots::of_run(results), directory, &of, Some(run))
        };
        self.put(&document, &charts, self.page(&results.about.id), printed)
    }

    /// Refuses what a comparison of stored runs does not have.
    pub fn ensure_of_comparison(&self) -> anyhow::Result<()> {
        if !self.percentiles.is_empty() {
            return Err(usage("a comparison has deciles (--html), not --percentiles"));
        }
        Ok(())
    }

    /// Shows what a comparison of stored runs found.
    pub fn show_comparison(&self, found: &RunComparison) -> anyhow::Result<()> {
        let document = |format| {
            Ok(match format {
                Format::Text if self.sentence => comparison::sentences(found),
                Format::Text => {
                    comparison::document(found, Medium::Document).text(&output::style())
                }
                Format::Json => Answer::of_comparison(found).json(),
                Format::Csv => self.table.csv(&Answer::of_comparison(found))?,
                Format::Md => comparison::document(found, Medium::Document).markdown(),
                Format::Html => comparison::document(found, Medium::Page).html(),
            })
        };
        let charts =
            |directory: &Path| plots(&comparison::plots(found), directory, "the comparison", None);
        self.put(&document, &charts, self.page("comparison"), Printed::WhereNothingElse)
    }

    /// Prints a document and writes its plots and its page.
    fn put(
        &self,
        document: &dyn Fn(Format) -> anyhow::Result<String>,
        charts: &dyn Fn(&Path) -> anyhow::Result<()>,
        page: Option<PathBuf>,
        printed: Printed,
    ) -> anyhow::Result<()> {
        self.table.ensure_csv(self.format())?;
        let is_asked = self.format.is_some()
            || self.output.is_some()
            || self.details
            || self.sentence
            || !self.percentiles.is_empty();
        let is_alone = page.is_none() && self.plots.is_none();
        if is_asked || is_alone || printed == Printed::Always {
            output::write(document(self.format())?.as_bytes(), self.output())?;
        }
        if let Some(directory) = &self.plots {
            charts(directory)?;
        }
        if let Some(page) = page {
            output::write(document(Format::Html)?.as_bytes(), Some(&page))?;
            output::say(&format!("wrote {}", page.display()));
        }
        Ok(())
    }

    /// As much text as is asked for.
    fn text(&self, results: &Results, run: &Path) -> String {
        let show_command = show_command(results, run);
        let stored = Stored { path: &run.display().to_string(), show_command: &show_command };
        match (self.details, self.sentence) {
            (true, _) => text::report(results, Some(stored), &output::style()),
            (_, true) => text::sentences(results),
            _ if !self.percentiles.is_empty() => {
                text::percentiles(results, &self.percentiles, &output::style())
            }
            _ => text::answer(results, Some(stored), &output::style()),
        }
    }

    /// The page to write, if there is to be one.
    fn page(&self, id: &str) -> Option<PathBuf> {
        // The id is what a file says, and a file may be a stranger's.
        let plain: String = id.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').collect();
        let unnamed = || PathBuf::from(format!("hopcost-{plain}.html"));
        self.html.as_ref().map(|named| named.clone().unwrap_or_else(unnamed))
    }
}

/// The command that shows a run: by its id, where it is stored among the user's.
fn show_command(results: &Results, run: &Path) -> String {
    let id = results.about.id.as_str();
    let found = Runs::of_user().and_then(|runs| runs.resolve(id));
    let spec = match found.is_ok_and(|found| same_file(&found, run)) {
        true => id.to_owned(),
        false => shell_word(&run.display().to_string()),
    };
    format!("hopcost report {spec}")
}

fn make(directory: &Path) -> anyhow::Result<()> {
    std::fs::create_dir_all(directory)
        .map_err(|e| usage(format!("cannot create {}: {e}", directory.display())))
}

/// Writes the plots of a run, and says on stderr which files they are. A file of
/// that name is replaced, as with --output.
fn plots(
    plots: &[(String, Chart)],
    directory: &Path,
    of: &str,
    run: Option<&Path>,
) -> anyhow::Result<()> {
    if plots.is_empty() {
        return Err(usage(format!("{of} has nothing to plot: no case of it was measured")));
    }
    make(directory)?;
    for (name, chart) in plots {
        let file = directory.join(format!("{name}.svg"));
        if run.is_some_and(|run| same_file(&file, run)) {
            return Err(usage(format!("--plots would overwrite {of}")));
        }
        output::write(hopcost_view::chart::svg(chart).as_bytes(), Some(&file))?;
        output::say(&format!("wrote {}", file.display()));
    }
    Ok(())
}

/// Whether two paths lead to one file, which need not be there yet.
fn same_file(a: &Path, b: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    match (std::fs::metadata(a), std::fs::metadata(b)) {
        (Ok(a), Ok(b)) => (a.dev(), a.ino()) == (b.dev(), b.ino()),
        _ => output::place(a).is_some_and(|a| output::place(b).is_some_and(|b| a == b)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_the_same_however_it_is_spelled_and_before_it_is_there() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::create_dir(at("w")).unwrap();
        std::os::unix::fs::symlink("run", at("link")).unwrap();
        for there in [false, true] {
            for (a, b) in [("run", "w/../run"), ("run", "link"), ("run", "./run")] {
                assert!(same_file(&at(a), &at(b)), "{a}, {b}");
                let refused =
                    ensure_spared(&[("--output", None), ("--html", Some(&at(b)))], &at(a));
                assert!(refused.unwrap_err().to_string().starts_with("--html would overwrite"));
            }
            assert!(!same_file(&at("run"), &at("w/run")), "{there}");
            std::fs::write(at("run"), "").unwrap();
        }
    }
}
