//! The plan in brief, and what disturbed the run.

use std::collections::BTreeSet;

use hopcost_model::case::{Case, Placement};
use hopcost_model::document;
use hopcost_model::finding::{Code, Finding, Severity};
use hopcost_model::plan::{Question, TrialShape};
use hopcost_model::raw::RawRun;
use hopcost_model::text::span;
use hopcost_stats::next_run::TRIALS_MIN;

use crate::run::Run;
use crate::yardstick::{Speed, YardstickLevel};

document! {
    /// The plan in brief.
    #[derive(Default)]
    pub struct PlanBrief {
        /// Suite name.
        pub suite: String,
        /// Seed.
        pub seed: u64,
        /// Rounds planned.
        pub rounds_planned: u32,
        /// Rounds of which at least one trial finished.
        pub rounds_done: u32,
        /// Trials finished, failed ones included.
        pub trials_done: u32,
        /// Trials that failed.
        pub trials_failed: u32,
        /// Whether the run was cut off before its last trial.
        pub complete: bool,
        /// Seconds from the start of the run to the end of its last trial.
        pub took_s: f64,
        /// Why there are fewer rounds than were planned, or wider intervals than were aimed at,
        /// where the budget ended the run; `null` where it did not.
        pub ended_early: Option<String>,
        /// The case that multiples refer to.
        pub baseline: Option<String>,
        /// CPUs used, the caller's first; none where no case was pinned.
        pub cpus: Vec<u32>,
        /// The claimed relation of the two CPUs.
        pub relation: Option<Placement>,
        /// How a trial was shaped.
        pub trial: TrialShape,
    }
}

/// The plan in brief.
pub fn plan(run: &Run) -> PlanBrief {
    let raw = run.raw;
    let plan = &raw.plan;
    let is_free = |case: &Case| case.placement == Some(Placement::Free);
    let cpus = if plan.live_cases().all(is_free) { Vec::new() } else { plan.cpus.clone() };
    let rounds: BTreeSet<u32> = raw.trials.iter().map(|trial| trial.round).collect();
    PlanBrief {
        suite: plan.suite.clone(),
        seed: plan.seed,
        rounds_planned: plan.rounds,
        rounds_done: rounds.len() as u32,
        trials_done: raw.trials.len() as u32,
        trials_failed: raw.trials.iter().filter(|trial| trial.error.is_some()).count() as u32,
        complete: raw.about.ended.is_some(),
        took_s: took_s(run),
        ended_early: ended_early(raw, rounds.len() as u32),
        baseline: plan.baseline.clone(),
        cpus,
        relation: plan.relation,
        trial: plan.trial,
    }
}

/// By the run's own time: a resumed run's trials begin at 0 again.
fn took_s(run: &Run) -> f64 {
    let ends = run.raw.trials.iter().zip(&run.at_s);
    ends.map(|(trial, at_s)| at_s + trial.took_ns as f64 / 1e9).fold(0.0, f64::max)
}

/// That the budget ended a run, and what to do.
fn ended_early(raw: &RawRun, done: u32) -> Option<String> {
    let plan = &raw.plan;
    raw.about.ended.as_ref()?;
    if plan.comparison.is_some() || matches!(plan.question, Some(Question::Claims(_))) {
        // It says itself what is not decided, and what would decide it.
        return None;
    }
    let budget_s = plan.budget_ns? as f64 / 1e9;
    // Where all cases were given up, it was not the budget.
    let last = raw.trials.iter().map(|trial| trial.round).max()?;
    let goes_on = raw.trials.iter().any(|trial| trial.round == last && trial.error.is_none());
    if done >= plan.rounds || !goes_on {
        return None;
    }
    let needed = match (done as usize) < TRIALS_MIN {
        true => format!("; an interval needs {TRIALS_MIN}"),
        false => String::new(),
    };
    Some(format!(
        "{done} of {} rounds: the budget of {budget_s} s ended the run{needed}; a longer --budget makes \
         more.",
        plan.rounds
    ))
}

/// The findings of a run that other work causes, in words.
const BY_OTHERS: [(Code, &str); 5] = [
    (Code::Preempted, "other tasks"),
    (Code::Throttled, "a CPU quota"),
    (Code::Steal, "the hypervisor"),
    (Code::SoftIrq, "interrupts"),
    (Code::TwoHopcosts, "another hopcost"),
];

/// What disturbed a run as a whole, in words.
pub fn disturbed(levels: &[YardstickLevel], findings: &[Finding]) -> Option<String> {
    let is_slower = |level: &&YardstickLevel| matches!(level.speed, Speed::Slower | Speed::TooFar);
    let slower = levels.iter().filter(is_slower).filter_map(|level| level.slower);
    let slower = span(&slower.collect::<Vec<f64>>(), |times| format!("{times:.1}"));
    let slower = slower.map(|times| format!("{times} × slower than its quiet speed"));
    let awake = levels.iter().any(|level| level.speed == Speed::KeptAwake);
    let awake = awake.then(|| "CPUs kept from idling".to_owned());
    let is_of_run = |(code, _): &&(Code, &str)| {
        let mut all = findings.iter().filter(|found| found.case.is_none() && found.code == *code);
        all.any(|found| found.severity > Severity::Note)
    };
    let codes = BY_OTHERS.iter().filter(is_of_run).map(|(_, what)| (*what).to_owned());
    let all: Vec<String> = codes.chain(slower).chain(awake).collect();
    (!all.is_empty()).then(|| all.join(", "))
}

#[cfg(test)]
mod tests {

    use crate::testing::{Builder, PIPE};

    #[test]
    fn a_run_that_the_budget_ended_says_so() {
        let run = |rounds: u32, budget_ns: Option<u64>| {
            let builder = Builder::new().case(PIPE, rounds, |_, trial| trial.each(&[5; 50]));
            let mut raw = builder.build();
            raw.plan.rounds = 15;
            raw.plan.budget_ns = budget_ns;
            crate::testing::read(&raw).plan.ended_early
        };
        let budget = Some(2_500_000_000);
        let six = run(6, budget).unwrap();
        assert!(six.starts_with("6 of 15 rounds: the budget of 2.5 s ended the run; "), "{six}");
        assert!(run(4, budget).unwrap().contains("an interval needs 6"));
        assert_eq!((run(15, budget), run(6, None)), (None, None));
    }
}
