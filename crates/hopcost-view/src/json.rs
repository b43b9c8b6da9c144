//! Documents for programs.

use hopcost_model::results::Results;

/// The results as one JSON document (schema `hopcost/1`), with a line feed at
/// its end. Durations are nanoseconds; a value that is not known is `null`, and
/// so is one that is not finite.
///
/// # Errors
/// If a value cannot be written as JSON, which no `Results` should contain.
pub fn report(results: &Results) -> Result<String, serde_json::Error> {
    let mut out = serde_json::to_string_pretty(results)?;
    out.push('\n');
    Ok(out)
}
