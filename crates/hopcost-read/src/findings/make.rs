//! What every rule makes of what it has seen.

use std::collections::BTreeMap;

use hopcost_model::{Case, Code, Finding, Severity};

use crate::case::Reading;
use crate::format;
use crate::run::Run;

/// The cases that drift, by their index: the change from the first trial to the last as a share, and
/// how likely it is by chance.
pub type Drifts = BTreeMap<u32, (f64, f64)>;

/// What a rule about a case looks at.
pub struct Seen<'a> {
    pub run: &'a Run<'a>,
    pub case: &'a Case,
    pub reading: &'a Reading<'a>,
    /// The findings of the whole run.
    pub run_wide: &'a [Finding],
    pub drifts: &'a Drifts,
}

/// A finding of the whole run; `of_case` fills in the case where there is one. Where `evidence` has
/// a value's name, its number is written: `<name>` with three digits, `<name ns>` as a duration,
/// `<name %>` as a share, `<name n>` as a count.
pub fn finding(
    code: Code,
    severity: Severity,
    evidence: impl Into<String>,
    values: &[(&str, f64)],
) -> Finding {
    let finite = values.iter().filter(|(_, value)| value.is_finite());
    let written = |evidence: String, (name, value): &(&str, f64)| {
        let evidence = evidence.replace(&format!("<{name}>"), &format::three(*value));
        let evidence = evidence.replace(&format!("<{name} ns>"), &format::ns(*value));
        let evidence = evidence.replace(&format!("<{name} %>"), &format::percent(*value));
        evidence.replace(&format!("<{name} n>"), &format!("{value:.0}"))
    };
    Finding {
        code,
        severity,
        case: None,
        evidence: values.iter().fold(evidence.into(), written),
        values: finite.map(|(name, value)| ((*name).to_owned(), *value)).collect(),
        remedy: code.remedy().to_owned(),
    }
}

/// A finding of some of a case's trials: `In 3 of 8 trials, …`; their number is the value `trials`.
pub fn in_trials(
    code: Code,
    severity: Severity,
    (n, all): (usize, usize),
    what: impl std::fmt::Display,
    values: &[(&str, f64)],
) -> Finding {
    let values = [&[("trials", n as f64)], values].concat();
    finding(code, severity, format!("In {}, {what}", of_trials(n, all)), &values)
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
