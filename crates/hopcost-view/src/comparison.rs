//! Comparisons of stored runs in every format but JSON, and the table for programs that live ones
//! share.

use hopcost_model::results::{Compared, Comparison, RunComparison};

use crate::chart::model::Chart;
use crate::chart::shift;
use crate::csv::{self, number, push_row};
use crate::section::compared_runs;
use crate::section::model::Medium;
use crate::style::TextStyle;
use crate::{html, markdown, text as terminal};

/// As text.
pub fn text(found: &RunComparison, style: &TextStyle) -> String {
    terminal::document(&compared_runs::document(found, Medium::Document), style)
}

/// Each case as a line to paste.
pub fn sentences(found: &RunComparison) -> String {
    let clean = |line: String| TextStyle::plain(usize::MAX).clean(&line) + "\n";
    compared_runs::lines(found).into_iter().map(clean).collect()
}

/// As Markdown.
pub fn markdown(found: &RunComparison) -> String {
    markdown::document(&compared_runs::document(found, Medium::Document))
}

/// As one HTML file.
pub fn html(found: &RunComparison) -> String {
    let document = compared_runs::document(found, Medium::Page);
    html::page(&document, &document.title, env!("CARGO_PKG_VERSION"), "")
}

/// The shift of each case, with the names that files have.
pub fn plots(compared: &[Compared]) -> Vec<(String, Chart)> {
    shift::charts(compared).into_iter().map(|chart| (chart.id.clone(), chart)).collect()
}

/// As CSV: one row a case.
pub fn csv(found: &RunComparison) -> String {
    rows(found.compared.iter().map(|of| {
        let runs = of.runs.as_ref();
        Row {
            of,
            unit: "run",
            baseline: runs
                .and_then(|runs| runs.baseline.clone())
                .unwrap_or_else(|| of.case.clone()),
            baseline_ns: runs.and_then(|runs| runs.baseline_ns),
            n: runs.map_or((0, 0), |runs| (runs.n_baseline, runs.n_other)),
            to_decide: runs.and_then(|runs| runs.runs_to_decide),
            margin: found.margin,
            invalid: None,
        }
    }))
}

/// The same of a live comparison.
pub fn csv_of_live(found: &Comparison) -> String {
    rows(found.compared.iter().map(|of| Row {
        of,
        unit: "block",
        baseline: found.baseline.clone(),
        baseline_ns: found.baseline_ns,
        n: (of.n_blocks, of.n_blocks),
        to_decide: of.blocks_to_decide,
        margin: found.margin,
        invalid: found.invalid.clone(),
    }))
}

struct Row<'a> {
    of: &'a Compared,
    unit: &'static str,
    baseline: String,
    baseline_ns: Option<f64>,
    n: (u32, u32),
    to_decide: Option<u32>,
    margin: f64,
    invalid: Option<String>,
}

type Field = fn(&Row) -> String;

const COLUMNS: &[(&str, Field)] = &[
    ("verdict", |row| row.of.verdict.word().to_owned()),
    ("case", |row| row.of.case.clone()),
    ("baseline", |row| row.baseline.clone()),
    ("ratio", |row| number(row.of.ratio)),
    ("low", |row| number(row.of.low)),
    ("high", |row| number(row.of.high)),
    ("coverage", |row| number(Some(row.of.coverage))),
    ("baseline_ns", |row| number(row.baseline_ns)),
    ("value_ns", |row| number(row.of.value_ns)),
    ("unit", |row| row.unit.to_owned()),
    ("n_baseline", |row| row.n.0.to_string()),
    ("n", |row| row.n.1.to_string()),
    ("n_to_decide", |row| csv::text(row.to_decide)),
    ("margin", |row| number(Some(row.margin))),
    ("invalid", |row| csv::text(row.invalid.as_ref())),
];

fn rows<'a>(rows: impl Iterator<Item = Row<'a>>) -> String {
    let mut out = String::new();
    push_row(&mut out, COLUMNS.iter().map(|(name, _)| (*name).to_owned()));
    rows.for_each(|row| push_row(&mut out, COLUMNS.iter().map(|(_, field)| field(&row))));
    out
}
