//! Comparisons of stored runs.

use hopcost_read::results::RunComparison;

use crate::chart::model::Chart;
use crate::section::comparison;
pub use crate::section::comparison::document;
use crate::text::pasted;

/// Each case as a sentence to paste.
pub fn sentences(found: &RunComparison) -> String {
    pasted(comparison::sentences(found))
}

/// The ratio along an axis, with the names that files have.
pub fn plots(found: &RunComparison) -> Vec<(String, Chart)> {
    comparison::charts(found).into_iter().map(|chart| (chart.id.clone(), chart)).collect()
}
