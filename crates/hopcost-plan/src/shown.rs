//! What reports show of cases besides their results: tables that others published,
//! variances, plots, an export, and what others call the cases. Each stands in the suite that it
//! belongs to, as `[[published]]`, `[[variance]]`, `[[plot]]`, `[export]` and `[[label]]`; those of
//! the shipped suites are for every run that has such cases; labels, `unit` and the suite's claims,
//! which are read as those of a docket, are for runs of the suite alone.

use std::collections::BTreeMap;

use hopcost_model::results::TimeUnit;
use serde::Deserialize;

use crate::select::Selector;

/// What a suite's file says of reports.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct Shown {
    /// What the answer gives times in.
    #[serde(default)]
    pub unit: TimeUnit,
    /// The docket of what others said of such cases.
    pub docket: Option<String>,
    /// Tables that others published.
    #[serde(default)]
    pub published: Vec<Published>,
    /// What cases are called where the suite comes from.
    #[serde(default)]
    pub label: Vec<Label>,
    /// Cases whose spread is divided among mechanisms and gaps.
    #[serde(default)]
    pub variance: Vec<Variance>,
    #[serde(default)]
    pub plot: Vec<Plot>,
    /// Cases in the columns of somebody else's table.
    pub export: Option<Export>,
}

impl Shown {
    /// Whether it names the table of a file, without its ending.
    pub fn publishes(&self, file: &str) -> bool {
        self.published.iter().any(|table| table.file.trim_end_matches(".csv") == file)
    }
}

/// A table that others published, to stand beside what is measured.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Published {
    /// Its file in published/.
    pub file: String,
    /// Bytes of the messages that it is of, which the answer marks among other sizes.
    pub payload: Option<u32>,
}

/// Cases by a name that stands before their mechanism's.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Label {
    pub name: String,
    pub cases: Selector,
}

/// Wake-ups of which it is said how much of their spread is that of mechanisms, how much
/// that of gaps.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Variance {
    /// Whose mechanisms and gaps they are, in words.
    pub of: String,
    pub cases: Selector,
}

/// A plot of cases that differ along one axis, or a bar for each case.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Plot {
    /// Name in file names.
    pub id: String,
    pub cases: Selector,
    pub x: PlotX,
    /// What is drawn.
    pub draw: PlotY,
    /// What is drawn instead where an event was not counted.
    pub instead: Option<PlotY>,
    /// One plot for each value of this; `{each}` in the title is it.
    pub each: Option<PlotEach>,
    /// The least points of a line.
    #[serde(default = "two")]
    pub points_min: usize,
}

fn two() -> usize {
    2
}

/// What a plot is of.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct PlotY {
    /// Name in file names, where it is not that of the plot.
    pub id: Option<String>,
    pub title: String,
    /// Label of y.
    pub label: String,
    /// Unit of y.
    #[serde(default)]
    pub unit: String,
    /// The values, each with what is added to the name of its lines: a statistic (`p50`),
    /// `aggregate-gbps`, `per-flow-gbps`, `cpu-time` or a counted event, these two for each
    /// message of both ends, or with `/byte` for each byte of it.
    pub y: BTreeMap<String, String>,
    /// Whether the band is that of the samples, p5 to p95, and not the estimate's interval.
    #[serde(default)]
    pub sample_band: bool,
    /// What is said under it; `{reason}` is why an event was not counted.
    pub note: Option<String>,
}

/// An axis of cases that a plot is drawn along.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PlotX {
    /// Bytes of a message.
    Payload,
    /// Bytes of a field of a stream's message.
    Field,
    /// Flows of a stream.
    Flows,
    /// Gap before a wake-up.
    Gap,
    /// Messages a second of a load.
    Rate,
    /// No axis: a bar for each case, named by its mechanism and what else differs.
    Mechanism,
}

/// What a plot is drawn for each value of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PlotEach {
    /// The placement of the ends.
    Placement,
    /// Bytes of a field of a stream's message.
    Field,
}

/// Cases in the rows and columns of somebody else's table, as CSV.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Export {
    /// What a run needs so that it has a row.
    pub needs: String,
    /// The cases of a row, by its name, the best selector first.
    pub rows: BTreeMap<String, Vec<Selector>>,
    /// Columns of numbers by which the rows are sorted, before their names.
    pub sort: Vec<String>,
    pub columns: Vec<ExportColumn>,
}

/// A column of an export.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ExportColumn {
    pub name: String,
    /// `row`, a column of the tidy CSV, or one of its statistics; of `EVENT.both.…` where an
    /// event was only counted at each end, the sum.
    pub of: String,
    /// How many of the statistic's units are one of this column's.
    #[serde(default = "one")]
    pub unit: f64,
    /// Decimals of a statistic.
    #[serde(default)]
    pub decimals: usize,
}

fn one() -> f64 {
    1.0
}
