//! Documents for programs.

use hopcost_model::results::{Advice, Results, RunComparison};

/// The results as one JSON document (schema `hopcost/1`), with a line feed at
/// its end. Durations are nanoseconds; a value that is not known is `null`, and
/// so is one that is not finite.
///
/// # Errors
/// If a value cannot be written as JSON, which no `Results` should contain.
pub fn report(results: &Results) -> Result<String, serde_json::Error> {
    Ok(serde_json::to_string_pretty(results)? + "\n")
}

/// A comparison of stored runs, likewise.
///
/// # Errors
/// Likewise.
pub fn comparison(found: &RunComparison) -> Result<String, serde_json::Error> {
    Ok(serde_json::to_string_pretty(found)? + "\n")
}

/// A recommendation, likewise.
///
/// # Errors
/// Likewise.
pub fn advice(found: &Advice) -> Result<String, serde_json::Error> {
    Ok(serde_json::to_string_pretty(found)? + "\n")
}
