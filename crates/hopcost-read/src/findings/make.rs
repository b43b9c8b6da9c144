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

/// Whether there is more to it than something to be known.
pub fn suspect_if(misleads: bool) -> Severity {
    if misleads { Severity::Suspect } else { Severity::Note }
}

/// Share of a typical trial, over that of the run's typical case, from which on a case is
/// worse than its run.
pub const WORSE_THAN_RUN: f64 = 2.0;

/// What a finding of the run says of its size, under this name.
pub fn share_of_run(run_wide: &[Finding], code: Code, name: &str) -> Option<f64> {
    let of_run = run_wide.iter().find(|finding| finding.code == code)?;
    of_run.values.get(name).copied()
}

/// `3 of 8 trials`.
pub fn of_trials(n: usize, all: usize) -> String {
    format!("{n} of {}", format::count(all, "trial"))
}
