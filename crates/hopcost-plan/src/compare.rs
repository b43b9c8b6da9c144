//! A plan that compares cases in blocks of adjacent trials.

use hopcost_model::case::Case;
use hopcost_model::describe::RuntimeFacts;
use hopcost_model::mechanism::Mechanism;
use hopcost_model::plan::{ComparisonPlan, Plan, PlannedCase, ROUNDS_A_BLOCK};

use crate::ask::Ask;
use crate::error::{Origin, PlanError};
use crate::machine::Machine;
use crate::order::order;
use crate::resolve::plan;
use crate::time::trial_ns;

/// Aimed length of a trial's measured phase where nobody says: a short trial has its neighbours
/// nearer in time.
pub(crate) const MEASURE_NS: u64 = 20_000_000;
/// Blocks where there is no budget to give their number.
const BLOCKS_DEFAULT: u32 = 72;
/// Blocks of one comparison at most.
const BLOCKS_MAX: u64 = 1_000;
/// Cases that an error names.
const NAMED_MAX: usize = 4;

/// Resolves a comparison: the first selector's case is the baseline, which stands in the plan twice, and
/// each selector selects one case. The others as for [`plan`].
///
/// # Errors
/// Everything wrong with the question, and what this machine cannot do.
pub fn comparison(
    ask: &Ask,
    compared: ComparisonPlan,
    rust: &[Mechanism],
    runtimes: &dyn Fn() -> Vec<RuntimeFacts>,
    machine: &Machine,
) -> Result<Plan, PlanError> {
    let ask = Ask { measure_ns: Some(ask.measure_ns.unwrap_or(MEASURE_NS)), ..ask.clone() };
    let of = |selectors: Vec<String>| {
        plan(&Ask { selectors, ..ask.clone() }, rust.to_vec(), runtimes, machine)
    };
    let cases = ask.selectors.iter().map(|selector| only(selector, &of(vec![selector.clone()])?));
    let mut cases: Vec<Case> = cases.collect::<Result<_, _>>()?;
    let whole = of(ask.selectors.clone())?;
    let Some(baseline) = cases.first().cloned() else { return Ok(whole) };
    cases.insert(1, baseline);
    let block_ns = cases.iter().map(|case| trial_ns(&whole.trial, case, &[])).sum::<u64>();
    let blocks = ask.budget_ns.map_or(u64::from(BLOCKS_DEFAULT), |budget_ns| {
        budget_ns / (block_ns * u64::from(ROUNDS_A_BLOCK)).max(1)
    });
    let blocks = blocks.clamp(1, BLOCKS_MAX) as u32;
    Ok(Plan {
        suite: "comparison".to_owned(),
        rounds: ROUNDS_A_BLOCK * blocks,
        baseline: None,
        cases: cases.into_iter().map(|case| PlannedCase { case: Ok(case), skip: None }).collect(),
        comparison: Some(compared),
        ..whole
    })
}

/// The one case that a selector selects and that can be measured here.
pub(crate) fn only(selector: &str, plan: &Plan) -> Result<Case, PlanError> {
    let origin = Origin::selector(selector);
    let live: Vec<&Case> = plan.live_cases().collect();
    match live.as_slice() {
        [one] => Ok((*one).clone()),
        [] => {
            let reason = plan.cases.iter().find_map(|case| case.skip.as_deref());
            Err(origin.error(format!("it is not measured here: {}", reason.unwrap_or("no case"))))
        }
        all => {
            let named: Vec<String> = all.iter().take(NAMED_MAX).map(|case| case.id()).collect();
            let more = if all.len() > NAMED_MAX { ", …" } else { "" };
            Err(origin.error(format!(
                "it selects {} cases, of which one can be compared; name it: {}{more}",
                all.len(),
                named.join(", ")
            )))
        }
    }
}

/// The order of the cases in a round: of a comparison, in that of its block or, in a block's second
/// round, in its reverse.
pub fn order_of(plan: &Plan, round: u32, n: u32) -> Vec<u32> {
    if plan.comparison.is_none() {
        return order(plan.seed, round, n);
    }
    let mut order = order(plan.seed, round / ROUNDS_A_BLOCK, n);
    if !round.is_multiple_of(ROUNDS_A_BLOCK) {
        order.reverse();
    }
    order
}
