//! Round trips taken apart by differences between cases that were measured in the same round, as met.

use std::collections::{BTreeMap, BTreeSet};

use hopcost_model::case::{Case, Placement};
use hopcost_model::group::distinct;
use hopcost_model::plan::{AblationBounds, AblationOf, AblationPart, AblationPlan, AblationTerm};
use hopcost_model::raw::{RawRun, RawTrial};
use hopcost_model::results::{
    AblatedBounds, AblatedCase, AblatedPart, AblatedTerm, Ablation, AblationCase, DifferencePart,
    Estimate, ExplainedDifference,
};

use super::difference::made_of;
use super::{holding, middle_half};
use crate::estimate::over_trials;
use crate::trial::headline_ns;

/// One operation of each case in a round, in nanoseconds, by the case's place in the plan.
type Round = BTreeMap<u32, f64>;

/// The parts of each case that the plan takes apart, and what makes the second another than the first.
pub fn of(raw: &RawRun, plan: &AblationPlan) -> (Ablation, Option<ExplainedDifference>) {
    let rounds = rounds(raw);
    let cases = plan.cases.iter().filter_map(|of| apart(raw, &rounds, of)).collect();
    let difference = match plan.cases.as_slice() {
        [first, second] => difference(raw, &rounds, first, second),
        _ => None,
    };
    (Ablation { refused: plan.refused.clone(), cases }, difference)
}

/// The share of a trial's time on one CPU that its ends have at least: whoever calls sched_yield gives
/// the CPU to every other task there, and then times that task's slices.
const OWN_MIN: f64 = 0.25;

/// Whether a trial on one CPU was mostly another task's.
fn is_others(case: &Case, trial: &RawTrial) -> bool {
    let own_ns: f64 = trial.ends.iter().map(|end| end.thread_cpu_ns as f64).sum();
    let is_one_cpu = matches!(case.placement, None | Some(Placement::SameCpu));
    is_one_cpu && own_ns < OWN_MIN * trial.wall_ns as f64
}

fn rounds(raw: &RawRun) -> Vec<Round> {
    let mut rounds: BTreeMap<u32, Round> = BTreeMap::new();
    for trial in &raw.trials {
        let round = rounds.entry(trial.round).or_default();
        let known = raw.plan.case(trial.case).filter(|case| !is_others(case, trial));
        let ns = known.zip(raw.clock(trial));
        let ns = ns.and_then(|(case, clock)| headline_ns(case, trial, clock));
        round.extend(ns.map(|ns| (trial.case, ns)));
    }
    rounds.into_values().collect()
}

/// The cases that a case's parts are made of, itself first.
fn needed(of: &AblationOf) -> Vec<u32> {
    let parts = of.parts.iter().flat_map(|part| &part.sum);
    let bounds = of.bounds.iter().flat_map(|bounds| bounds.least.iter().chain(&bounds.most));
    distinct([of.case].into_iter().chain(parts.chain(bounds).map(|term| term.case)))
}

/// The rounds that have all of these cases.
fn whole<'a>(rounds: &'a [Round], cases: &[u32]) -> Vec<&'a Round> {
    rounds.iter().filter(|round| cases.iter().all(|case| round.contains_key(case))).collect()
}

/// A sum in a round that has its cases.
fn sum(round: &Round, terms: &[AblationTerm]) -> f64 {
    let of = |term: &AblationTerm| f64::from(term.times) * round.get(&term.case).unwrap_or(&0.0);
    terms.iter().map(of).sum()
}

/// The middle half of the rounds by a value: a mean over the same rounds of each part, so that parts add up to the whole.
fn typical<'a>(rounds: &[&'a Round], of: impl Fn(&Round) -> f64) -> Vec<&'a Round> {
    middle_half(rounds.iter().map(|round| (of(round), *round)).collect())
}

/// A value of the typical rounds, with the interval of the median over all.
fn over_rounds(
    all: &[&Round],
    typical: &[&Round],
    what: &str,
    of: impl Fn(&Round) -> f64,
) -> Estimate {
    let estimand = format!("mean over the middle half of the rounds of {what}");
    let point = typical.iter().map(|round| of(round)).sum::<f64>() / typical.len().max(1) as f64;
    holding(over_trials(all.iter().map(|round| of(round)).collect(), estimand), point)
}

fn one(case: u32) -> [AblationTerm; 1] {
    [AblationTerm { times: 1, case }]
}

fn apart(raw: &RawRun, rounds: &[Round], of: &AblationOf) -> Option<AblatedCase> {
    let id = |case: u32| Some(raw.plan.case(case)?.id());
    let needed = needed(of);
    let begun = rounds.len();
    let rounds = whole(rounds, &needed);
    let typical = typical(&rounds, |round| sum(round, &one(of.case)));
    let over = |terms: &[AblationTerm], what: &str| {
        over_rounds(&rounds, &typical, what, |round| sum(round, terms))
    };
    let total_ns = over(&one(of.case), "the round trip");
    let whole_ns = total_ns.point.filter(|ns| *ns > 0.0);
    let part = |part: &AblationPart| {
        let ns = over(&part.sum, "the sum within the round");
        let named =
            |term: &AblationTerm| Some(AblatedTerm { times: term.times, case: id(term.case)? });
        Some(AblatedPart {
            what: part.what.clone(),
            sum: part.sum.iter().map(named).collect::<Option<Vec<_>>>()?,
            share: ns.point.zip(whole_ns).map_or(0.0, |(ns, whole_ns)| ns / whole_ns),
            ns,
        })
    };
    let bound = |bounds: &AblationBounds| AblatedBounds {
        what: bounds.what.clone(),
        least_ns: over(&bounds.least, "what it takes at least"),
        most_ns: over(&bounds.most, "what it takes at most"),
    };
    let measured = |case: &u32| {
        let ns = over(&one(*case), "the trial's operation");
        Some(AblationCase { case: id(*case)?, ns })
    };
    Some(AblatedCase {
        case: id(of.case)?,
        left_out: (begun - rounds.len()) as u32,
        measured: needed.iter().map(measured).collect::<Option<Vec<_>>>()?,
        parts: of.parts.iter().map(part).collect::<Option<Vec<_>>>()?,
        bounds: of.bounds.iter().map(bound).collect(),
        total_ns,
    })
}

/// The second less the first. Parts that are the same sum in both say nothing, and are left out.
fn difference(
    raw: &RawRun,
    rounds: &[Round],
    first: &AblationOf,
    second: &AblationOf,
) -> Option<ExplainedDifference> {
    let rounds = whole(rounds, &[needed(first), needed(second)].concat());
    let whole_ns = |round: &Round| sum(round, &one(second.case)) - sum(round, &one(first.case));
    let typical = typical(&rounds, whole_ns);
    let less = |second: &[AblationTerm], first: &[AblationTerm]| {
        let of = |round: &Round| sum(round, second) - sum(round, first);
        over_rounds(&rounds, &typical, "the second's less the first's", of)
    };
    let terms = |of: &'_ AblationOf, what: &str| -> Vec<AblationTerm> {
        let own = of.parts.iter().filter(|part| part.what == what);
        own.flat_map(|part| part.sum.clone()).collect()
    };
    let all = first.parts.iter().chain(&second.parts);
    let names: BTreeSet<&str> = all.map(|part| part.what.as_str()).collect();
    let part = |what: &str| {
        let (first, second) = (terms(first, what), terms(second, what));
        let is_other = first != second;
        is_other.then(|| DifferencePart { what: what.to_owned(), ns: less(&second, &first) })
    };
    let parts = names.into_iter().filter_map(part).collect();
    let total_ns = less(&one(second.case), &one(first.case));
    let cases = [raw.plan.case(first.case)?, raw.plan.case(second.case)?];
    made_of(cases, total_ns, parts, Vec::new())
}
