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
    let row = |statistic: &str, estimate| EstimateRow {
        case_id: result.id.clone(),
        statistic: statistic.to_owned(),
        estimate,
        validity,
    };
    let mut rows = Vec::new();
    if let Some(estimates) = &result.estimates {
        rows.extend(estimates.intervals().map(|(key, found)| row(key.key(), found.clone())));
        let exact = estimates.exact_values();
        rows.extend(exact.map(|(key, value)| {
            row(key.key(), Estimate::exact(value, result.n_trials, key.about()))
        }));
    }
    if let Some(stream) = &result.stream {
        let rates =
            [("aggregate_gbps", &stream.aggregate_gbps), ("per_flow_gbps", &stream.per_flow_gbps)];
        rows.extend(rates.into_iter().filter_map(|(key, rate)| Some(row(key, rate.clone()?))));
    }
    rows
}
