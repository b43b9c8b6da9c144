//! One plan for the checks of several claims files, in which each case is measured once.

use std::collections::{BTreeMap, BTreeSet};

use hopcost_model::describe::RuntimeFacts;
use hopcost_model::group::distinct;
use hopcost_model::mechanism::Mechanism;
use hopcost_model::plan::{ClaimsPlan, Plan, PlannedCase, Question};

use crate::ask::{Ask, SuiteSource};
use crate::claims::{Check, Claims, Quantity, level, parsed};
use crate::error::{Origin, PlanError, unknown};
use crate::machine::Machine;
use crate::resolve::plan;
use crate::time::{fitted, runtimes_of};

/// Rounds at most by default; the budget ends most runs before.
const ROUNDS_MOST: u32 = 400;
/// Aimed length of a trial's measured phase by default: more rounds decide more than longer
/// trials.
const MEASURE_NS: u64 = 20_000_000;
/// Operations over which the kernel counts system calls where a check is about them.
const COUNTED_OPERATIONS: u64 = 50;

/// Resolves what claims files need, or what some of their questions need. The other arguments are
/// those of [`plan`].
///
/// # Errors
/// Everything wrong with the files. What this machine cannot do is a case with its reason.
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
    let (mut all, mut whole) = (Vec::new(), Vec::<(String, PlannedCase)>::new());
    let (mut seen, mut known) = (BTreeMap::<String, Vec<String>>::new(), BTreeSet::new());
    let (mut is_counted, mut asked) = (false, Vec::<String>::new());
    for source in files {
        let SuiteSource::Text { file, text } = source else { continue };
        let (source, claims) = parsed(file, text)?;
        asked.extend(claims.questions.iter().map(|question| question.id.clone()));
        let claims = claims.asking(questions);
        is_counted |= counts_calls(&claims);
        let mut cases = BTreeMap::new();
        for (selector, origin) in claims.selectors(&source) {
            if !seen.contains_key(&selector) {
                let found = of(vec![selector.clone()]).map_err(|e| origin.error(message(e)))?.cases;
                let ids: Vec<String> = found.iter().map(PlannedCase::id).collect();
                check_distinct(&selector, &found).map_err(|message| origin.error(message))?;
                whole.extend(
                    ids.iter().cloned().zip(found).filter(|(id, _)| known.insert(id.clone())),
                );
                seen.insert(selector.clone(), ids);
            }
            let ids = seen.get(&selector).cloned().unwrap_or_default();
            cases.insert(selector, ids);
        }
        all.push(ClaimsPlan { cases, ..ClaimsPlan::of(file, text, questions) });
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
        suite: "claims".to_owned(),
        rounds: ask.rounds.unwrap_or(ROUNDS_MOST),
        budget_ns: ask.budget_ns,
        baseline: None,
        cases: whole.into_iter().map(|(_, case)| case).collect(),
        question: Some(Question::Claims(all)),
        ..planned
    };
    if ask.measure_ns.is_none() {
        plan.trial = fitted(&plan, &runtimes_of(&plan, runtimes));
    }
    Ok(plan)
}

/// Refuses cases that differ in what their selector does not list.
fn check_distinct(selector: &str, found: &[PlannedCase]) -> Result<(), String> {
    let known: Vec<_> = found.iter().filter_map(PlannedCase::known).collect();
    let levels = distinct(known.iter().map(|case| level(selector, case)));
    if levels.len() == known.len() {
        return Ok(());
    }
    let named: Vec<String> = found.iter().take(3).map(PlannedCase::id).collect();
    Err(format!(
        "it selects {} cases that differ in what it does not list: {}…",
        found.len(),
        named.join(", ")
    ))
}

/// The message of an error about a selector, whose place is in a claims file.
fn message(error: PlanError) -> String {
    match error {
        PlanError::Ask { message, .. } | PlanError::Suite { message, .. } => message,
        PlanError::NothingLeft(why) => why,
    }
}

fn counts_calls(claims: &Claims) -> bool {
    let calls = Quantity::Event("system-calls".to_owned());
    let counts = |check: &Check| check.quantity == calls;
    claims.claims.iter().any(|claim| claim.checks().any(counts))
}
