//! Plans that answer a question: a comparison, advice, an explanation, a verdict on claims.

use std::collections::{BTreeMap, BTreeSet};

use hopcost_model::group::distinct;
use hopcost_model::text::some;
use hopcost_model::{
    AXES, AdviceRequest, Axis, Case, ClaimsPlan, ComparisonPlan, Kind, Placement, Plan,
    PlannedCase, Question, ROUNDS_A_BLOCK, Role, Runtime, Unit, WaitKind, Workload,
};

use crate::ask::{Ask, Selector, SuiteSource, read_all};
use crate::catalog::Catalog;
use crate::claims::{Claim, Quantity, level, parsed};
use crate::error::{Origin, Result, unknown};
use crate::machine::Machine;
use crate::resolve::plan;
use crate::time::{ROUNDS_FOR_INTERVAL, fitted, trial_ns};

/// Aimed length of a trial's measured phase where nobody says: more rounds decide more than longer
/// trials, and a short trial has its neighbours nearer in time.
const MEASURE_NS: u64 = 20_000_000;

/// The same question with short trials.
fn short(ask: &Ask) -> Ask {
    Ask { measure_ns: Some(ask.measure_ns.unwrap_or(MEASURE_NS)), ..ask.clone() }
}

/// Blocks of one comparison at most.
const BLOCKS_MAX: u64 = 1_000;
/// Cases that an error names.
const NAMED_MAX: usize = 4;

/// Resolves a comparison: the first selector's case is the baseline, which stands in the plan twice, and
/// each selector selects one case. Where nobody says where, that is on one CPU.
///
/// # Errors
/// Everything wrong with the question, and what this machine cannot do.
pub fn comparison(
    ask: &Ask,
    compared: ComparisonPlan,
    catalog: &Catalog,
    machine: &Machine,
) -> Result<Plan> {
    let ask = short(ask);
    let of = |selectors: Vec<String>| plan(&Ask { selectors, ..ask.clone() }, catalog, machine);
    let whole = of(ask.selectors.clone())?;
    let mut cases: Vec<Case> = Vec::new();
    for selector in &ask.selectors {
        let found = of(vec![selector.clone()])?;
        cases.push(only(selector, &found, cases.first().or(found.live_cases().next()))?);
    }
    let Some(baseline) = cases.first().cloned() else { return Ok(whole) };
    cases.insert(1, baseline);
    let block_ns = cases.iter().map(|case| trial_ns(&whole.trial, case, &[])).sum::<u64>();
    let blocks = ask.budget_ns.unwrap_or(u64::MAX) / (block_ns * u64::from(ROUNDS_A_BLOCK)).max(1);
    let blocks = blocks.clamp(ROUNDS_FOR_INTERVAL.into(), BLOCKS_MAX) as u32;
    let plan = Plan {
        suite: "comparison".to_owned(),
        rounds: ROUNDS_A_BLOCK * blocks,
        baseline: None,
        cases: cases.into_iter().map(PlannedCase::live).collect(),
        comparison: Some(compared),
        ..whole
    };
    Ok(Plan { trial: fitted(&plan, &[]), ..plan })
}

/// The one case that a selector selects and that can be measured here; of several the one in the
/// place of another.
fn only(selector: &str, plan: &Plan, like: Option<&Case>) -> Result<Case> {
    let origin = Origin::selector(selector);
    let mut live: Vec<&Case> = plan.live_cases().collect();
    let is_there = |case: &&Case| like.is_none_or(|like| case.placement == like.placement);
    if live.iter().any(is_there) {
        live.retain(is_there);
    }
    match live.as_slice() {
        [one] => Ok((*one).clone()),
        [] => {
            let reason = plan.cases.iter().find_map(|case| case.skip.as_deref());
            Err(origin.error(format!("it is not measured here: {}", reason.unwrap_or("no case"))))
        }
        all => {
            let ids: Vec<String> = all.iter().map(|case| case.id()).collect();
            Err(origin.error(format!(
                "it selects {} cases; compare one of them: {}",
                all.len(),
                some(&ids, NAMED_MAX)
            )))
        }
    }
}

/// Significant bits of a value between two others.
const BITS: u32 = 3;

/// Reads `payload=64..1MiB` or `flows=1,2,8`: the axis and its values, ascending.
///
/// # Errors
/// An unknown axis, or values that it does not have.
pub fn along(text: &str) -> Result<(&'static Axis, Vec<u64>)> {
    let origin = Origin::option("--along");
    let (key, list) = text.split_once('=').unwrap_or((text, ""));
    let is_number = |axis: &&Axis| !matches!(axis.kind, Kind::Word(_));
    let axes: Vec<&Axis> = AXES.iter().filter(is_number).collect();
    let Some(axis) = axes.iter().find(|axis| axis.key == key) else {
        let keys: Vec<&str> = axes.iter().map(|axis| axis.key).collect();
        return Err(origin.error(unknown("axis of numbers", key, &keys)));
    };
    let mut values = Vec::new();
    for text in list.split(',').filter(|text| !text.is_empty()) {
        let read = read_all(axis, text.trim()).map_err(|why| origin.error(why))?;
        values.extend(read.iter().filter_map(|value| value.number::<u64>()));
    }
    values.retain(|value| *value > 0);
    values.sort_unstable();
    values.dedup();
    Ok((axis, values))
}

/// A round value near `middle` that lies between two others; `None` where there is none.
pub fn between(middle: f64, values: &[u64]) -> Option<u64> {
    let exact = middle as u64;
    let cut = (u64::BITS - exact.leading_zeros()).saturating_sub(BITS);
    let value = exact >> cut << cut;
    (value > 0 && !values.contains(&value)).then_some(value)
}

/// A value as a selector has it.
pub fn spelled(axis: &Axis, value: u64) -> String {
    match axis.kind {
        Kind::Number(Unit::Time, ..) => format!("{}={value}ns", axis.key),
        _ => format!("{}={value}", axis.key),
    }
}

/// Resolves a request: the mechanisms that `ask` names, or every one, as round trips or, where there
/// is a rate, as loads. What does not meet the requirements keeps the reason and is not measured.
///
/// # Errors
/// Everything wrong with the question.
pub fn advice(
    ask: &Ask,
    request: &AdviceRequest,
    catalog: &Catalog,
    machine: &Machine,
) -> Result<Plan> {
    let mut ask = ask.clone();
    if ask.selectors.is_empty() {
        ask.selectors.push("*".to_owned());
    }
    let workload = if request.rate.is_some() { Workload::Load } else { Workload::Roundtrip };
    for text in &mut ask.selectors {
        if Selector::parse(text).is_ok_and(|selector| !selector.says_workload()) {
            *text = format!("{workload}/{text}");
        }
    }
    let waits = if request.spinning { "block,spin" } else { "block" };
    let usual = if machine.pairs.is_empty() { "same-cpu" } else { "cross" };
    let place = request.placement.map_or(usual, Placement::word).to_owned();
    let asked = [
        ("payload", Some(request.payload_bytes.to_string())),
        ("boundary", Some(request.boundary.to_string())),
        ("runtime", Some(request.runtimes.clone())),
        ("place", Some(place)),
        ("wait", Some(waits.to_owned())),
        ("rate", request.rate.map(|rate| rate.to_string())),
    ];
    for (key, value) in asked {
        if let Some(value) = value {
            ask.axes.entry(key).or_insert_with(|| vec![value]);
        }
    }
    let mut plan = plan(&ask, catalog, machine)?;
    for planned in plan.cases.iter_mut().filter(|planned| planned.skip.is_none()) {
        let case = &planned.case;
        let known = |of: &Runtime| catalog.mechanism(of, case.mechanism_name());
        let of = [&Runtime::RUST, &case.runtimes.caller];
        let out = of.into_iter().find_map(|of| request.rules_out(case, known(of)));
        planned.skip = out.map(str::to_owned);
    }
    plan.baseline = None;
    Ok(plan)
}

/// Operations of a traced phase.
const TRACED: u64 = 1_000;
/// Traced wake-ups: as many as have their gaps in this time, and `TRACED_MIN` at least.
const TRACED_GAPS_NS: u64 = 300_000_000;
const TRACED_MIN: u64 = 100;
/// Rounds at most: a segment's interval needs six.
const ROUNDS: u32 = 16;

/// Resolves a question for where the time goes: one or two selectors, of which each selects one case.
///
/// # Errors
/// Everything wrong with the question, and what this machine cannot do.
pub fn explanation(ask: &Ask, catalog: &Catalog, machine: &Machine) -> Result<Plan> {
    let ask = Ask { rounds: Some(ROUNDS), ..short(ask) };
    let of = |ask: &Ask| plan(ask, catalog, machine);
    let one = |selector: &String| {
        let found = of(&Ask { selectors: vec![selector.clone()], ..ask.clone() })?;
        // On two CPUs, where nobody says where: that has the more to explain.
        let case = only(selector, &found, found.live_cases().last())?;
        explainable(selector, &case)?;
        Ok((case, found))
    };
    let found = ask.selectors.iter().map(one);
    let found = found.collect::<Result<Vec<(Case, Plan)>>>()?;
    if let [(first, _), (second, _)] = found.as_slice()
        && first == second
    {
        let message = "both cases are the same: name another one to be compared with";
        return Err(Origin::selector(&ask.selectors[1]).error(message));
    }
    let mut whole = of(&ask)?;
    whole.pairs.extend(found.iter().flat_map(|(_, plan)| plan.pairs.clone()));
    let cases: Vec<Case> = found.into_iter().map(|(case, _)| case).collect();
    whole.trial.traced_operations = cases.iter().map(traced).min();
    Ok(Plan {
        suite: "explanation".to_owned(),
        rounds: ROUNDS,
        baseline: None,
        cases: cases.into_iter().map(PlannedCase::live).collect(),
        question: Some(Question::Explanation {}),
        ..whole
    })
}

/// Operations of its traced phase.
fn traced(case: &Case) -> u64 {
    (TRACED_GAPS_NS / case.gap_ns.unwrap_or(0).max(1)).clamp(TRACED_MIN, TRACED)
}

/// Refuses a case whose hops the kernel's events do not show.
fn explainable(selector: &str, case: &Case) -> Result<()> {
    let refuse = |why: &str| Err(Origin::selector(selector).error(why));
    if !matches!(case.workload, Workload::Roundtrip | Workload::Wake) {
        return refuse(
            "hopcost explains round trips and wake-ups: name one (roundtrip/pipe, wake/pipe)",
        );
    }
    if !case.is_one_by_one() {
        return refuse(
            "the kernel's events do not show which of several round trips a hop is of: want window=1",
        );
    }
    let spins = |end: Role| matches!(case.wait(end), WaitKind::Spin | WaitKind::Yield);
    if spins(Role::Caller) || spins(Role::Callee) {
        return refuse("an end that spins makes no event when it gets a message: want wait=block");
    }
    Ok(())
}

/// Rounds at most by default; the budget ends most runs before.
const ROUNDS_MOST: u32 = 400;
/// Operations over which the kernel counts system calls where a check is about them.
const COUNTED_OPERATIONS: u64 = 50;

/// Resolves what claims files need, or what some of their questions need.
///
/// # Errors
/// Everything wrong with the files. What this machine cannot do is a case with its reason.
pub fn judging(
    ask: &Ask,
    files: &[SuiteSource],
    questions: &[String],
    catalog: &Catalog,
    machine: &Machine,
) -> Result<Plan> {
    let of = |selectors: Vec<String>| plan(&Ask { selectors, ..short(ask) }, catalog, machine);
    let (mut all, mut whole) = (Vec::new(), Vec::<(String, PlannedCase)>::new());
    let (mut seen, mut known) = (BTreeMap::<String, Vec<String>>::new(), BTreeSet::new());
    let (mut is_counted, mut asked) = (false, Vec::<String>::new());
    let calls = Quantity::Event("system-calls".to_owned());
    for source in files {
        let SuiteSource { file, text } = source;
        let (source, claims) = parsed(file, text)?;
        asked.extend(claims.questions.iter().map(|question| question.id.clone()));
        let claims = claims.asking(questions);
        let mut checks = claims.claims.iter().flat_map(Claim::checks);
        is_counted |= checks.any(|check| check.quantity == calls);
        let mut cases = BTreeMap::new();
        for (selector, origin) in claims.selectors(&source) {
            if !seen.contains_key(&selector) {
                let found = of(vec![selector.clone()]).map_err(|e| origin.error(e.message))?.cases;
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
        plan.trial = fitted(&plan, catalog.asked());
    }
    Ok(plan)
}

/// Refuses cases that differ in what their selector does not list.
fn check_distinct(selector: &str, found: &[PlannedCase]) -> Result<(), String> {
    let levels = distinct(found.iter().map(|planned| level(selector, &planned.case)));
    if levels.len() == found.len() {
        return Ok(());
    }
    let ids: Vec<String> = found.iter().map(PlannedCase::id).collect();
    let (n, named) = (found.len(), some(&ids, NAMED_MAX));
    Err(format!("it selects {n} cases that differ in what it does not list: {named}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_axis_has_the_values_of_a_range_or_of_a_list() {
        let of = |text: &str| along(text).map(|(axis, values)| (axis.key, values));
        let sizes = vec![64, 256, 1024, 4096, 16_384, 65_536, 262_144, 1 << 20];
        assert_eq!(of("payload=64..1MiB").unwrap(), ("payload", sizes));
        assert_eq!(of("flows=8,1,2,8").unwrap(), ("flows", vec![1, 2, 8]));
        assert_eq!(of("gap=1us..1ms").unwrap().1, [1_000, 10_000, 100_000, 1_000_000]);
        assert_eq!(of("rate").unwrap(), ("rate", vec![]));
        for (text, why) in [
            ("nodelay=on", "unknown axis of numbers"),
            ("payload=4KiB..64", "does not rise"),
            ("payload=x", "--along"),
        ] {
            let error = of(text).unwrap_err().to_string();
            assert!(error.contains(why), "{error}");
        }
    }

    #[test]
    fn a_value_between_two_is_round() {
        assert_eq!(between(8192.0, &[4096, 16_384]), Some(8192));
        assert_eq!(between(11_585.2, &[8192, 16_384]), Some(10_240));
        assert_eq!(between(1.4, &[1, 2]), None);
        assert_eq!(spelled(Axis::of_key("gap").unwrap(), 1500), "gap=1500ns");
    }
}
