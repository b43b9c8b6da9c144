//! The cases among which a mechanism is chosen.

use hopcost_model::describe::RuntimeFacts;
use hopcost_model::mechanism::Mechanism;
use hopcost_model::plan::Plan;
use hopcost_model::results::AdviceRequest;

use crate::ask::Ask;
use crate::error::PlanError;
use crate::machine::Machine;
use crate::resolve::plan;

/// Resolves a request: the mechanisms that `ask` names, or every one, as round trips or, where there
/// is a rate, as loads. What does not meet the requirements keeps the reason and is not measured. The
/// others as for [`plan`].
///
/// # Errors
/// Everything wrong with the question.
pub fn advice(
    ask: &Ask,
    request: &AdviceRequest,
    rust: &[Mechanism],
    runtimes: &dyn Fn() -> Vec<RuntimeFacts>,
    machine: &Machine,
) -> Result<Plan, PlanError> {
    let mut ask = ask.clone();
    if ask.selectors.is_empty() {
        ask.selectors.push("*".to_owned());
    }
    let workload = if request.rate.is_some() { "load" } else { "roundtrip" };
    ask.workload = vec![workload.to_owned()];
    let place = request.placement.map_or("cross".to_owned(), |place| place.to_string());
    let waits = if request.spinning { "block,spin" } else { "block" };
    let mut say = |key, value: String| {
        ask.axes.entry(key).or_insert_with(|| vec![value]);
    };
    say("payload", request.payload_bytes.to_string());
    say("boundary", request.boundary.to_string());
    say("runtime", request.runtimes.clone());
    say("place", place);
    say("wait", waits.to_owned());
    if let Some(rate) = request.rate {
        say("rate", rate.to_string());
    }
    let mut plan = plan(&ask, rust.to_vec(), runtimes, machine)?;
    for planned in plan.cases.iter_mut().filter(|planned| planned.skip.is_none()) {
        let Ok(case) = &planned.case else { continue };
        let known = rust.iter().find(|known| known.name == case.mechanism_name());
        planned.skip = request.rules_out(case, known).map(str::to_owned);
    }
    plan.baseline = None;
    Ok(plan)
}
