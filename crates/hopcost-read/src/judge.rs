//! Which claims of dockets hold.

use std::collections::BTreeSet;

use hopcost_model::finding::Finding;
use hopcost_model::mechanism::Mechanism;
use hopcost_model::plan::{DocketPlan, Question};
use hopcost_model::raw::RawRun;
use hopcost_model::results::Judged;

use crate::case::Reading;
use crate::run::Run;

/// The cases of the checks that are not decided.
pub fn wanted(raw: &RawRun, _rust: &[Mechanism], _dockets: &[DocketPlan]) -> BTreeSet<u32> {
    raw.plan.live().map(|(index, _)| index as u32).collect()
}

/// The verdicts on the claims of the run's dockets; `None` of a run that has none.
pub fn of_run(run: &Run, _readings: &[Reading], _findings: &[Finding]) -> Option<Judged> {
    let Some(Question::Dockets(_)) = &run.raw.plan.question else { return None };
    None
}
