//! `hopcost report RUN --recompute`: whether this build computes what is stored.

use std::path::Path;

use hopcost_file::EstimateRow;
use hopcost_model::raw::RunAbout;
use hopcost_model::results::{CaseResult, Estimate, Results};
use hopcost_model::text::{count, escaped};
use serde_json::json;

use super::exit::{self, usage};
use super::output::{self, Format};
use super::shown::Shown;
use crate::about;
use crate::run::scratch::Scratch;

/// Estimates that differ, of which a line is printed.
const SHOWN_MAX: usize = 10;

/// Compares the stored estimates of a run with those computed of it now.
pub fn run(path: &Path, results: &Results, shown: &Shown) -> anyhow::Result<u8> {
    let format = shown.format();
    if !matches!(format, Format::Text | Format::Json) {
        return Err(usage("--recompute prints text or json"));
    }
    let computed = estimates(results);
    let found = hopcost_file::recomputed(path, &Scratch::for_copy, &computed).map_err(usage)?;
    if found.stored == 0 && !computed.is_empty() {
        return Err(usage(format!(
            "{}: there is nothing to compare: it holds no estimates, like a run that was cut off",
            path.display()
        )));
    }
    let build = |about: &RunAbout| format!("hopcost {} ({})", about.version, about.commit);
    let (then, now) = (build(&results.about), build(&about::run(Vec::new(), None)));
    let (stored, n) = (count(found.stored, "stored estimate"), found.differing.len());
    let code = if n == 0 { exit::OK } else { exit::ERROR };
    if format == Format::Json {
        let document = json!({
            "schema": hopcost_model::SCHEMA,
            "run": results.about.id,
            "stored": found.stored,
            "differing": found.differing,
            "stored_by": then,
            "computed_by": now,
        });
        let text = serde_json::to_string_pretty(&document)? + "\n";
        output::write(text.as_bytes(), shown.output())?;
        return Ok(code);
    }
    let mut text = match n {
        0 => format!("same: {stored}, to the last bit; stored by {then}, computed by {now}\n"),
        n => format!("differs: {n} of {stored}; stored by {then}, computed by {now}\n"),
    };
    for line in found.differing.iter().take(SHOWN_MAX) {
        text.push_str(&format!("  {}\n", escaped(line)));
    }
    if n > SHOWN_MAX {
        text.push_str(&format!("  and {} more\n", n - SHOWN_MAX));
    }
    output::write(text.as_bytes(), shown.output())?;
    Ok(code)
}

/// What is stored beside a run of what was computed from it.
pub fn estimates(results: &Results) -> Vec<EstimateRow> {
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
