//! Comparisons of stored runs in every format but JSON.

use hopcost_model::results::RunComparison;

use crate::chart::model::Chart;
use crate::section::compared_runs;
use crate::section::model::Medium;
use crate::style::TextStyle;
use crate::{html, markdown, text as terminal};

pub fn text(found: &RunComparison, style: &TextStyle) -> String {
    terminal::document(&compared_runs::document(found, Medium::Document), style)
}

/// Each case as a sentence to paste.
pub fn sentences(found: &RunComparison) -> String {
    let clean = |line: String| TextStyle::plain(usize::MAX).clean(&line) + "\n";
    compared_runs::sentences(found).into_iter().map(clean).collect()
}

pub fn markdown(found: &RunComparison) -> String {
    markdown::document(&compared_runs::document(found, Medium::Document))
}

/// As one HTML file.
pub fn html(found: &RunComparison) -> String {
    let document = compared_runs::document(found, Medium::Page);
    html::page(&document, &document.title, env!("CARGO_PKG_VERSION"), "")
}

/// The ratio along an axis or else the shift of each case, with the names that files have.
pub fn plots(found: &RunComparison) -> Vec<(String, Chart)> {
    compared_runs::charts(found).into_iter().map(|chart| (chart.id.clone(), chart)).collect()
}
