//! What was computed from a run, stored beside it for people who never read our code.

use std::collections::BTreeMap;
use std::path::Path;

use hopcost_model::finding::Validity;
use hopcost_model::results::Estimate;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::connect::{self, MakeFolder};
use crate::document;
use crate::error::{Problem, Result};
use crate::limits::ESTIMATES_MAX;
use crate::read;

/// A stored estimate: a statistic of a case. Times are nanoseconds, as the statistic's name says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EstimateRow {
    /// Canonical spelling of the case.
    pub case_id: String,
    /// Name with its unit: `p50_ns`, `cost_ns`, `max_ns`, …
    pub statistic: String,
    /// The value and its interval.
    #[serde(flatten)]
    pub estimate: Estimate,
    /// Validity of the case's result.
    pub validity: Validity,
}

/// What came of comparing stored estimates with computed ones.
#[derive(Debug, Clone, PartialEq)]
pub struct Recomputed {
    /// Estimates that the file holds.
    pub stored: usize,
    /// A line for each estimate that is not the same in every column.
    pub differing: Vec<String>,
}

type Fields = Map<String, Value>;

fn fields(text: &str) -> std::result::Result<Fields, Problem> {
    serde_json::from_str(text).map_err(|error| Problem::Value(error.to_string()))
}

/// Case and statistic.
fn key(fields: &Fields) -> (String, String) {
    let text = |name| match fields.get(name) {
        Some(Value::String(text)) => text.clone(),
        other => format!("{other:?}"),
    };
    (text("case_id"), text("statistic"))
}

/// Compares the estimates that a file holds with `computed`, field by field, to the last bit.
///
/// # Errors
/// Those of [`crate::open`]; [`crate::Error::Unstorable`] for a computed number that is not finite.
pub fn recomputed(
    path: &Path,
    folder: &MakeFolder,
    computed: &[EstimateRow],
) -> Result<Recomputed> {
    let path = connect::check_file(path)?;
    let conn = connect::reading(&path, folder)?;
    let table = ("estimate", "position, document");
    let stored = read::of_file(&conn, &path, |source| {
        source.rows(table, ESTIMATES_MAX, |row| fields(source.text(row, 1)?))
    })?;
    let n = stored.len();
    let mut left: BTreeMap<_, _> = stored.into_iter().map(|row| (key(&row), row)).collect();
    let mut differing = Vec::new();
    for row in computed {
        let now = document::of(row).map_err(Problem::Value).and_then(|text| fields(&text));
        let now = now.map_err(|problem| problem.storing(&path, "compare", "an estimate"))?;
        let (case, statistic) = key(&now);
        let Some(then) = left.remove(&(case.clone(), statistic.clone())) else {
            differing.push(format!("{case} {statistic}: not stored"));
            continue;
        };
        let changed = now.iter().filter(|(name, now)| then.get(*name) != Some(*now));
        let changed = changed.map(|(name, now)| {
            let then = then.get(name).unwrap_or(&Value::Null);
            format!("{name} is stored as {}, computed as {}", shown(then), shown(now))
        });
        let changed: Vec<String> = changed.collect();
        if !changed.is_empty() {
            differing.push(format!("{case} {statistic}: {}", changed.join("; ")));
        }
    }
    let gone = left.into_keys();
    differing.extend(gone.map(|(case, statistic)| format!("{case} {statistic}: not computed")));
    Ok(Recomputed { stored: n, differing })
}

fn shown(value: &Value) -> String {
    match value {
        Value::Null => "nothing".to_owned(),
        Value::String(text) => format!("`{text}`"),
        other => other.to_string(),
    }
}
