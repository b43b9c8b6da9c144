//! Findings: what was seen that bears on how far a number can be believed.
//!
//! Those of the whole run are in [`host`], those of a case in [`cpu`] (what its ends did), [`stalled`] (that
//! they did nothing), [`numbers`] (what its numbers look like), [`wake`] (with loads) and [`stream`] (what only
//! these can suffer) and [`runtimes`] (what a runtime that is not Rust does besides). What the kernel counted,
//! of a run or a case, is in [`counted`].
//! Every threshold is a documented constant beside its rule. A detector that
//! lacks its reading says nothing; that the reading is missing is in the host's
//! fingerprint.

mod counted;
mod cpu;
mod host;
mod make;
mod numbers;
mod runtimes;
mod stalled;
mod stream;
mod wake;

use hopcost_model::{Finding, Severity, Validity, Workload};

use crate::case::{Reading, Status};
use crate::run::Run;
pub use counted::traced as of_traced;
pub use host::findings as of_host;
pub use make::finding;
use make::{Drifts, Seen};
pub use numbers::drifts;

/// The findings of the whole run: what touches every case is stated there, once.
pub fn of_run(run: &Run, readings: &[Reading]) -> Vec<Finding> {
    let preempted = cpu::preempted_run(run, readings);
    let all = [counted::throttled(run), counted::softirq(run), stalled::suspended(run), preempted];
    host::findings(run).into_iter().chain(all.into_iter().flatten()).collect()
}

type Rule = fn(&Seen) -> Option<Finding>;
type IsFor = fn(&Seen) -> bool;

/// The rules about a case, each set with the cases that it is for.
const RULES: [(IsFor, &[Rule]); 8] = [
    (
        |_| true,
        &[
            cpu::migrated,
            cpu::pinning_failed,
            cpu::confined_together,
            cpu::oversubscribed,
            counted::throttled_case,
            counted::remote_memory,
            numbers::timer_dominates,
            numbers::few_trials,
            numbers::drifted,
            numbers::multimodal,
            numbers::two_speeds,
            stream::nagle_delack,
            stream::copied,
            stream::uncompleted,
            stream::little,
            stream::retransmitted,
            counted::multiplexed,
            counted::lost,
        ],
    ),
    // What the kernel counted has no bearing on a test engine's numbers.
    (|of| !of.run.is_engine(of.case), &[cpu::preempted, cpu::never_slept, cpu::spinner_slept]),
    // Ends of other runtimes have threads that they wait for.
    (
        |of| !of.run.is_engine(of.case) && of.case.runtimes.are_rust(),
        &[stalled::stalled, stalled::stopped],
    ),
    (
        |of| matches!(of.case.workload, Workload::Wake | Workload::Load),
        &[wake::backward, wake::negative, wake::bound],
    ),
    (|of| of.case.workload == Workload::Wake, &[wake::moved, wake::overrun, wake::spinner_off_cpu]),
    (|of| of.case.workload == Workload::Wake && !of.run.is_engine(of.case), &[wake::never_slept]),
    (|of| of.case.workload == Workload::Load, &[wake::generator_late, wake::rate_missed]),
    (
        |of| !of.case.runtimes.are_rust(),
        &[runtimes::hidden_thread, runtimes::not_steady, runtimes::covers_too_little],
    ),
];

/// A case's findings, which say in what it is worse than its run, and the validity that
/// follows from the worst of them and of those of the run that make every number wrong; none
/// of a case without a number.
pub fn of_case(
    run: &Run,
    reading: &Reading,
    run_wide: &[Finding],
    drifts: &Drifts,
) -> (Vec<Finding>, Option<Validity>) {
    if reading.result.status != Status::Measured {
        return (Vec::new(), None);
    }
    let seen = Seen { run, case: reading.case, reading, run_wide, drifts };
    let rules = RULES.iter().filter(|(is_for, _)| is_for(&seen)).flat_map(|(_, rules)| *rules);
    let mut found: Vec<Finding> = rules.filter_map(|rule| rule(&seen)).collect();
    for finding in &mut found {
        finding.case = Some(reading.result.id.clone());
    }
    found.sort_by(order);
    let wrong = run_wide.iter().filter(|finding| finding.severity == Severity::Invalid);
    let worst: Option<Severity> = found.iter().chain(wrong).map(|finding| finding.severity).max();
    (found, Some(worst.map_or(Validity::Valid, Validity::from)))
}

/// Every finding, worst first; among equals those of the run, then by code, then
/// in the order of the plan.
pub fn all(of_run: Vec<Finding>, of_cases: impl Iterator<Item = Finding>) -> Vec<Finding> {
    let mut found = of_run;
    found.extend(of_cases);
    found.sort_by(order);
    found
}

fn order(a: &Finding, b: &Finding) -> std::cmp::Ordering {
    b.severity
        .cmp(&a.severity)
        .then(a.case.is_some().cmp(&b.case.is_some()))
        .then(a.code.cmp(&b.code))
}

#[cfg(test)]
mod tests {
    use hopcost_model::Code;

    use super::*;
    use crate::testing::{Builder, CALL, PIPE};

    #[test]
    fn the_worst_finding_decides() {
        let results = Builder::new()
            .case(PIPE, 8, |round, t| {
                t.each(&[3000; 1000]);
                t.raw.ends[0].lost = u64::from(round == 0);
            })
            .case(CALL, 3, |_, t| t.batch(10, &[1000; 50]))
            .read();
        assert_eq!(results.results[0].validity, Some(Validity::Valid), "a note leaves it valid");
        assert_eq!(results.results[1].validity, Some(Validity::Suspect), "too few trials");
        let codes: Vec<Code> = results.findings.iter().map(|f| f.code).collect();
        assert_eq!(codes, [Code::FewTrials, Code::Lost], "worst first");
        assert_eq!(results.findings[0].case.as_deref(), Some(CALL));
    }
}
