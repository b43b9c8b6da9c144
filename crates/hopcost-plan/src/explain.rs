//! A plan that finds out where the time of a hop goes.

use hopcost_model::case::{Case, Role, WaitKind, Workload};
use hopcost_model::describe::RuntimeFacts;
use hopcost_model::mechanism::Mechanism;
use hopcost_model::plan::{ExplanationPlan, Plan, PlannedCase, Question};

use crate::ask::Ask;
use crate::compare::{MEASURE_NS, only};
use crate::error::{Origin, PlanError};
use crate::machine::Machine;
use crate::resolve::plan;

/// Operations of a traced phase.
const TRACED: u64 = 1_000;
/// Of wake-ups so many as have their gaps in this time, but not fewer than have 20 typical ones.
const TRACED_GAPS_NS: u64 = 300_000_000;
const TRACED_MIN: u64 = 100;
/// Rounds at most: a segment's interval needs six.
const ROUNDS: u32 = 16;

/// Resolves a question for where the time goes: one or two selectors, of which each selects one case, or one
/// that selects wake-ups which differ by their gap alone. The others as for [`plan`].
///
/// # Errors
/// Everything wrong with the question, and what this machine cannot do.
pub fn explanation(
    ask: &Ask,
    asked: ExplanationPlan,
    rust: &[Mechanism],
    runtimes: &dyn Fn() -> Vec<RuntimeFacts>,
    machine: &Machine,
) -> Result<Plan, PlanError> {
    let mut ask = Ask { measure_ns: Some(ask.measure_ns.unwrap_or(MEASURE_NS)), ..ask.clone() };
    ask.rounds = Some(ROUNDS);
    let of = |ask: &Ask| plan(ask, rust.to_vec(), runtimes, machine);
    let one = |selector: &String| {
        let mut own = Ask { selectors: vec![selector.clone()], ..ask.clone() };
        let mut found = of(&own)?;
        // On one CPU and on two are what nobody has to choose between who asks for one case.
        let is_open = found.cases.len() > 1 && !differ_by_gap(&found);
        if is_open && own.axes.get("place").is_none_or(Vec::is_empty) {
            own.axes.insert("place", vec!["cross".to_owned()]);
            found = of(&own)?;
        }
        let cases = match ask.selectors.as_slice() {
            [_] if differ_by_gap(&found) => found.live_cases().cloned().collect(),
            _ => vec![only(selector, &found)?],
        };
        cases.iter().try_for_each(|case| explainable(selector, case))?;
        Ok((cases, found))
    };
    let found = ask.selectors.iter().map(one);
    let found = found.collect::<Result<Vec<(Vec<Case>, Plan)>, PlanError>>()?;
    if let [(first, _), (second, _)] = found.as_slice()
        && first == second
    {
        let message = "both cases are the same: name another one to be compared with";
        return Err(Origin::selector(&ask.selectors[1]).error(message));
    }
    let mut whole = of(&ask)?;
    whole.pairs.extend(found.iter().flat_map(|(_, plan)| plan.pairs.clone()));
    let cases: Vec<Case> = found.into_iter().flat_map(|(cases, _)| cases).collect();
    whole.trial.traced_operations = cases.iter().map(traced).min();
    let cases = cases.into_iter().map(|case| PlannedCase { case: Ok(case), skip: None });
    Ok(Plan {
        suite: "explanation".to_owned(),
        rounds: ROUNDS,
        baseline: None,
        cases: cases.collect(),
        question: Some(Question::Explanation(asked)),
        ..whole
    })
}

/// Operations of its traced phase.
fn traced(case: &Case) -> u64 {
    (TRACED_GAPS_NS / case.gap_ns.unwrap_or(0).max(1)).clamp(TRACED_MIN, TRACED)
}

/// Whether a plan has wake-ups that differ by their gap alone.
fn differ_by_gap(plan: &Plan) -> bool {
    let without = |case: &Case| Case { gap_ns: None, ..case.clone() };
    let mut cases = plan.live_cases();
    let first = cases.next().filter(|case| case.workload == Workload::Wake).map(without);
    first.is_some_and(|first| cases.all(|case| without(case) == first))
}

/// Refuses a case whose hops the kernel's events do not show.
fn explainable(selector: &str, case: &Case) -> Result<(), PlanError> {
    let refuse = |why: &str| Err(Origin::selector(selector).error(why));
    if !matches!(case.workload, Workload::Roundtrip | Workload::Wake) {
        return refuse(
            "hopcost explains round trips and wake-ups: name one (roundtrip/pipe, wake/pipe)",
        );
    }
    let spins = |end: Role| matches!(case.wait(end), WaitKind::Spin | WaitKind::Yield);
    if spins(Role::Caller) || spins(Role::Callee) {
        return refuse("an end that spins makes no event when it gets a message: want wait=block");
    }
    Ok(())
}
