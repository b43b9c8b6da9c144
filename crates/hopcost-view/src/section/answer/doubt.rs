//! Which rows are marked: those that are worse than most.

use hopcost_model::finding::{Code, Finding, Severity};
use hopcost_model::group::grouped;
use hopcost_model::results::{CaseResult, Results};

use super::stall::{self, stalled};

/// What casts doubt on cases, by code.
pub(crate) struct Doubts<'a> {
    /// What is found in fewer than half of the cases that were measured: it marks them.
    pub few: Vec<(Code, Vec<&'a Finding>)>,
    /// What is found in half of them or more: it is said of the run.
    pub most: Vec<(Code, Vec<&'a Finding>)>,
    /// How many were measured.
    pub measured: usize,
}

impl<'a> Doubts<'a> {
    /// Of a run.
    pub fn of(results: &'a Results) -> Self {
        let measured = results.results.iter().filter(|case| case.estimates.is_some()).count();
        let found = results.findings.iter();
        let found = found.filter(|found| found.case.is_some() && found.severity > Severity::Note);
        let (most, few) = grouped(found, |finding| finding.code)
            .into_iter()
            .partition(|(_, found)| measured > 2 && 2 * found.len() >= measured);
        Self { few, most, measured }
    }

    /// The mark of a case: that its messages stall, or that it is worse than most.
    pub fn mark(&self, case: &CaseResult) -> &'static str {
        let of_case = |finding: &&Finding| finding.case.as_deref() == Some(case.id.as_str());
        let is_doubtful = || self.few.iter().any(|(_, found)| found.iter().any(of_case));
        match stalled(case) {
            Some(_) if case.stream.is_some() => stall::MARK,
            _ if is_doubtful() => "!",
            _ => "",
        }
    }
}
