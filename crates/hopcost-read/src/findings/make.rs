//! What every rule makes of what it has seen.

use std::collections::BTreeMap;

use hopcost_model::finding::{Code, Finding, Severity};

use crate::format;

/// A finding of the whole run; `of_case` fills in the case where there is one.
pub fn finding(
    code: Code,
    severity: Severity,
    evidence: String,
    values: &[(&str, f64)],
) -> Finding {
    let finite = values.iter().filter(|(_, value)| value.is_finite());
    Finding {
        code,
        severity,
        case: None,
        evidence,
        values: finite
            .map(|(name, value)| ((*name).to_owned(), *value))
            .collect::<BTreeMap<_, _>>(),
        remedy: code.remedy().to_owned(),
    }
}

/// `3 of 8 trials`.
pub fn of_trials(n: usize, all: usize) -> String {
    format!("{n} of {}", format::count(all, "trial"))
}
