//! The plots of a run, as files.

use hopcost_read::results::Results;

use crate::chart::model::Chart;

/// The plots of a run, each with the name that its file has, without ending.
pub fn of_run(results: &Results) -> Vec<(String, Chart)> {
    crate::section::plots::files(results)
}
