//! The estimates of a run as rows that are stored beside it, for people who never read our code.

use hopcost_file::EstimateRow;
use hopcost_model::results::{CaseResult, Estimate, Results};

/// What is stored beside a run of what was computed from it.
pub fn of(results: &Results) -> Vec<EstimateRow> {
    let is_copy = |index: usize| results.comparison.is_some() && index > 0;
    let own = results.results.iter().enumerate().filter(|(index, case)| {
        // A comparison has its cases more than once; the first stands for them.
        !is_copy(*index) || results.results[..*index].iter().all(|before| before.id != case.id)
    });
    own.flat_map(|(_, case)| rows_of(case)).collect()
}

/// The estimates of a case as rows, for people who never read our code.
fn rows_of(result: &CaseResult) -> Vec<EstimateRow> {
    // What was never measured has no estimates either.
    let Some(validity) = result.validity else { return Vec::new() };
    let row = |(statistic, _, estimate): (&str, &str, Estimate)| EstimateRow {
        case_id: result.id.clone(),
        statistic: statistic.to_owned(),
        estimate,
        validity,
    };
    result.all_estimates().into_iter().map(row).collect()
}
