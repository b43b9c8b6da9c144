//! What stands left of a row of the ladder and of its trials.

use hopcost_model::results::{LadderRow, Results};

use crate::names::row_label;

/// The columns left of rows of the ladder: the mechanism, and what separates the ends
/// and how they wait where any row has ends.
pub(super) struct Gutter {
    has_ends: bool,
}

impl Gutter {
    pub fn of<'a>(mut rows: impl Iterator<Item = &'a LadderRow>) -> Self {
        Self { has_ends: rows.any(|row| row.wait.is_some()) }
    }

    pub fn heads(&self) -> Vec<String> {
        let all = ["mechanism", "boundary", "wait"].map(str::to_owned);
        if self.has_ends { all.to_vec() } else { all[..1].to_vec() }
    }

    pub fn cells(&self, row: &LadderRow, results: &Results) -> Vec<String> {
        let mut cells = vec![row_label(row, results)];
        if self.has_ends {
            cells.extend([row.boundary.to_string(), row.wait.clone().unwrap_or_default()]);
        }
        cells
    }
}
