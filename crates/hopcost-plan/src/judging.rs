//! One plan for the checks of several dockets, in which each case is measured once.

use std::collections::{BTreeMap, BTreeSet};

use hopcost_model::describe::RuntimeFacts;
use hopcost_model::mechanism::Mechanism;
use hopcost_model::plan::{DocketPlan, Plan, PlannedCase, Question};

use crate::ask::{Ask, SuiteSource};
use crate::docket::{Docket, Quantity, Test, parse_docket};
use crate::error::{Origin, PlanError, unknown};
use crate::machine::Machine;
use crate::resolve::plan;
use crate::time::{fitted, runtimes_of};

/// Rounds at most where nobody says; the budget ends most runs before.
const ROUNDS_MOST: u32 = 400;
/// Aimed length of a trial's measured phase where nobody says: more rounds decide more than longer
/// trials.
const MEASURE_NS: u64 = 20_000_000;
/// Operations over which the kernel counts system calls where a check is about them.
const COUNTED_OPERATIONS: u64 = 50;

/// Resolves what the dockets, as files and their texts, need; of some questions alone, what
/// these need. The others as for [`plan`].
///
/// # Errors
/// Everything wrong with the dockets. What this machine cannot do is a case with its reason.
pub fn judging(
    ask: &Ask,
    files: &[SuiteSource],
    questions: &[String],
    rust: &[Mechanism],
    runtimes: &dyn Fn() -> Vec<RuntimeFacts>,
    machine: &Machine,
) -> Result<Plan, PlanError> {
    let of = |selectors: Vec<String>| {
        let measure_ns = Some(ask.measure_ns.unwrap_or(MEASURE_NS));
        let ask = Ask { selectors, measure_ns, ..ask.clone() };
        plan(&ask, rust.to_vec(), runtimes, machine)
    };
    let (mut dockets, mut whole) = (Vec::new(), Vec::<(String, PlannedCase)>::new());
    let (mut seen, mut known) = (BTreeMap::<String, Vec<PlannedCase>>::new(), BTreeSet::new());
    let (mut is_counted, mut asked) = (false, Vec::<String>::new());
    for source in files {
        let SuiteSource::Text { file, text } = source else { continue };
        let docket = parse_docket(file, text)?;
        asked.extend(docket.questions.iter().map(|question| question.id.clone()));
        let docket = docket.asking(questions);
        is_counted |= counts_calls(&docket);
        let mut cases = BTreeMap::new();
        for (selector, origin, wants_one) in docket.selectors() {
            if !seen.contains_key(&selector) {
                let found =
                    of(vec![selector.clone()]).map_err(|error| origin.error(message(error)))?;
                seen.insert(selector.clone(), found.cases);
            }
            let found = seen.get(&selector).map_or(&[][..], Vec::as_slice);
            if wants_one && found.len() != 1 {
                let named: Vec<String> = found.iter().take(3).map(PlannedCase::id).collect();
                let message = format!(
                    "it selects {} cases, of which a check takes one; say more of it: {}…",
                    found.len(),
                    named.join(", ")
                );
                return Err(origin.error(message));
            }
            cases.insert(selector, found.iter().map(PlannedCase::id).collect());
            let new = found.iter().filter(|case| known.insert(case.id()));
            whole.extend(new.map(|case| (case.id(), case.clone())));
        }
        dockets.push(DocketPlan { cases, ..DocketPlan::of(file, text, questions) });
    }
    if let Some(id) = questions.iter().find(|id| !asked.contains(id)) {
        let asked: Vec<&str> = asked.iter().map(String::as_str).collect();
        return Err(Origin::option("--question").error(unknown("question", id, &asked)));
    }
    // A plan knows its time and CPUs by its cases; without any it is that of a call.
    let ids: Vec<String> = whole.iter().map(|(id, _)| id.clone()).collect();
    let mut planned = of(if ids.is_empty() { vec!["call/syscall".to_owned()] } else { ids })?;
    if is_counted {
        planned.trial.counted_operations = COUNTED_OPERATIONS;
    }
    let mut plan = Plan {
        suite: "dockets".to_owned(),
        rounds: ask.rounds.unwrap_or(ROUNDS_MOST),
        budget_ns: ask.budget_ns,
        baseline: None,
        cases: whole.into_iter().map(|(_, case)| case).collect(),
        question: Some(Question::Dockets(dockets)),
        ..planned
    };
    if ask.measure_ns.is_none() {
        plan.trial = fitted(&plan, &runtimes_of(&plan, runtimes));
    }
    Ok(plan)
}

/// The message of an error about a selector, which stands in a docket.
fn message(error: PlanError) -> String {
    match error {
        PlanError::Ask { message, .. } | PlanError::Suite { message, .. } => message,
        PlanError::NothingLeft(why) => why,
    }
}

fn counts_calls(docket: &Docket) -> bool {
    let mut tests = docket.claims.iter().flat_map(|claim| &claim.checks).map(|check| &check.test);
    let counts = |test: &Test| {
        let mut terms = test.terms().into_iter();
        terms.any(|term| term.quantity == Quantity::Event("system-calls".to_owned()))
    };
    tests.any(counts)
}
