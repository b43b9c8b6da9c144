//! A plan that finds out where the time of a round trip goes.

use std::collections::BTreeMap;

use hopcost_model::case::{Case, Role, WaitKind, Workload};
use hopcost_model::describe::RuntimeFacts;
use hopcost_model::mechanism::Mechanism;
use hopcost_model::plan::{ExplanationPlan, Plan, PlannedCase, Question};

use crate::ablation::ablation;
use crate::ask::Ask;
use crate::compare::{MEASURE_NS, only};
use crate::error::{Origin, PlanError};
use crate::machine::Machine;
use crate::resolve::plan;

/// Round trips of a traced phase.
const TRACED: u64 = 1_000;
/// Rounds at most: a segment's interval needs six.
const ROUNDS: u32 = 16;

/// Resolves a question for where the time goes: one or two selectors, of which each selects one case.
/// The others as for [`plan`].
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
        if found.cases.len() > 1 && own.axes.get("place").is_none_or(Vec::is_empty) {
            own.axes.insert("place", vec!["cross".to_owned()]);
            found = of(&own)?;
        }
        let case = only(selector, &found)?;
        explainable(selector, &case)?;
        Ok((case, found))
    };
    let found = ask.selectors.iter().map(one).collect::<Result<Vec<(Case, Plan)>, PlanError>>()?;
    if let [(first, _), (second, _)] = found.as_slice()
        && first == second
    {
        let message = "both cases are the same: name another one to be compared with";
        return Err(Origin::selector(&ask.selectors[1]).error(message));
    }
    let mut whole = of(&ask)?;
    whole.pairs.extend(found.iter().flat_map(|(_, plan)| plan.pairs.clone()));
    whole.trial.traced_operations = Some(TRACED);
    let cases = found.into_iter();
    let cases = cases.map(|(case, _)| PlannedCase { case: Ok(case), skip: None });
    let ExplanationPlan { tail, ablation: apart } = asked.clone();
    let plan = Plan {
        suite: "explanation".to_owned(),
        rounds: ROUNDS,
        baseline: None,
        cases: cases.collect(),
        question: Some(Question::Explanation(asked)),
        ..whole
    };
    let Some(apart) = apart else { return Ok(plan) };
    // What is said of the asked cases (`--payload`) is in them already.
    let ask = Ask { axes: BTreeMap::new(), parameters: Vec::new(), ..ask };
    let select = |selector: &str| {
        only(selector, &of(&Ask { selectors: vec![selector.to_owned()], ..ask.clone() })?)
    };
    ablation(plan, tail, apart, &select)
}

/// Refuses a case whose hops the kernel's events do not show.
fn explainable(selector: &str, case: &Case) -> Result<(), PlanError> {
    let refuse = |why: &str| Err(Origin::selector(selector).error(why));
    if case.workload != Workload::Roundtrip {
        return refuse("only round trips are explained: name one (roundtrip/pipe)");
    }
    let spins = |end: Role| matches!(case.wait(end), WaitKind::Spin | WaitKind::Yield);
    if spins(Role::Caller) || spins(Role::Callee) {
        return refuse("an end that spins makes no event when it gets a message: want wait=block");
    }
    Ok(())
}
