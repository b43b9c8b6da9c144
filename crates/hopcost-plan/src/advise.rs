//! A plan that finds out which mechanism to use.

use hopcost_model::advise::{AdviceRequest, Objective};
use hopcost_model::describe::RuntimeFacts;
use hopcost_model::mechanism::{Here, Mechanism};
use hopcost_model::plan::{Plan, Question};

use crate::ask::Ask;
use crate::error::PlanError;
use crate::machine::Machine;
use crate::resolve::plan;
use crate::time::{fitted, runtimes_of};

/// Most rounds of a case; the budget and the answer end most runs before.
const ROUNDS: u32 = 60;
/// Aimed length of a trial's measured phase, where no rate asks for a longer one, and at most.
const MEASURE_NS: u64 = 30_000_000;
const MEASURE_MOST_NS: u64 = 300_000_000;
/// Messages of a trial at a rate, so that a few trials have a p99.
const MESSAGES: u64 = 1_000;
/// Messages of a trial that are offered faster than they are carried.
const SATURATING: u64 = 20_000;
/// How ends wait where nobody says.
const WAITS: &str = "block,spin,spin-then-block";

/// Resolves a request: the mechanisms that `ask` names, or every one, with every wait, as round
/// trips and, where there is a rate, as loads. What the request rules out whatever is measured of it
/// is kept with the reason and not measured. The others as for [`plan`].
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
    let workloads: &[&str] = match (request.objective, request.rate) {
        (Objective::Throughput, _) => &["load"],
        (_, Some(_)) => &["roundtrip", "load"],
        (_, None) => &["roundtrip"],
    };
    ask.workload = workloads.iter().map(|word| (*word).to_owned()).collect();
    let mut say = |key, value: String| {
        ask.axes.insert(key, vec![value]);
    };
    say("payload", request.payload_bytes.to_string());
    say("boundary", request.boundary.to_string());
    say("runtime", request.runtimes.clone());
    if let Some(rate) = request.offered() {
        say("rate", rate.to_string());
        say("senders", request.senders.to_string());
    }
    say("place", request.placement.map_or("cross".to_owned(), |place| place.to_string()));
    if ask.axes.get("wait").is_none_or(Vec::is_empty) {
        ask.axes.insert("wait", vec![WAITS.to_owned()]);
    }
    let rate = u64::from(request.rate.unwrap_or(u32::MAX).max(1));
    let phase_ns = (MESSAGES * 1_000_000_000 / rate).clamp(MEASURE_NS, MEASURE_MOST_NS);
    ask.measure_ns = ask.measure_ns.or(Some(phase_ns));
    ask.operations = (request.objective == Objective::Throughput).then_some(SATURATING);
    ask.rounds = Some(ROUNDS);
    let mut plan = plan(&ask, rust.to_vec(), runtimes, machine)?;
    for planned in plan.cases.iter_mut().filter(|planned| planned.skip.is_none()) {
        let Ok(case) = &planned.case else { continue };
        let known = rust.iter().find(|known| known.name == case.mechanism_name());
        let here = known.map_or_else(Here::default, |mechanism| mechanism.here);
        planned.skip = request.rules_out(case, &here);
    }
    "advice".clone_into(&mut plan.suite);
    plan.baseline = None;
    plan.question = Some(Question::Advice(request.clone()));
    plan.trial = fitted(&plan, &runtimes_of(&plan, runtimes));
    Ok(plan)
}
