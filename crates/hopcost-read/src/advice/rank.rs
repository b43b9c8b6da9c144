//! How candidates compare: which is the best, what is as good as far as it matters, and what
//! choosing another costs.

use std::collections::BTreeMap;

use hopcost_model::advise::{AdviceRequest, Objective};
use hopcost_model::finding::{Code, Finding, Severity};
use hopcost_model::results::{Basis, RankedCandidate, Ratio, Regret, Standing, TrialPoint};

use super::candidate::{Measured, State};
use super::words::{self, CPUS_NONE, MATTERS};
use crate::ratio::ratio;

/// CPU times up to this multiple of the least are as low.
const AS_FRUGAL: f64 = 1.1;
/// A candidate that was slower than the best by more than this share in every one of its first
/// rounds gets no more of them.
const HOPELESS: f64 = 0.5;
/// Rounds that show that.
const ROUNDS_HOPELESS: usize = 3;
/// Rounds of an objective without an interval.
const ROUNDS_EXACT: u32 = 6;

/// The objective where less is better.
fn cost(value: f64, request: &AdviceRequest) -> f64 {
    match request.objective {
        Objective::Throughput => 1.0 / value,
        _ => value,
    }
}

fn point(of: &Measured, request: &AdviceRequest) -> f64 {
    of.objective.point.map_or(f64::INFINITY, |value| cost(value, request))
}

/// The objective of each trial by its round, where trials have one.
fn by_round(of: &Measured, request: &AdviceRequest) -> BTreeMap<u32, f64> {
    let value = |trial: &TrialPoint| {
        let met = match request.objective {
            Objective::P50 => trial.value_ns,
            Objective::P99 => trial.p99_ns,
            Objective::Cpu | Objective::Throughput => None,
        };
        Some(met? / trial.factor.unwrap_or(1.0))
    };
    of.row.trials.iter().filter_map(|trial| Some((trial.round, value(trial)?))).collect()
}

/// The cost of a candidate over another's: paired by round, or, where too few rounds have both,
/// from the ends of the two intervals.
fn compared(of: &Measured, base: &Measured, request: &AdviceRequest) -> Option<Ratio> {
    let paired = ratio(&base.row.id, &by_round(of, request), &by_round(base, request));
    if let Some(found) = paired.filter(|found| found.low.is_some()) {
        return Some(found);
    }
    let over = |a: Option<f64>, b: Option<f64>| Some(cost(a?, request) / cost(b?, request));
    let (a, b) = (&of.objective, &base.objective);
    let ends = match request.objective {
        Objective::Throughput => [over(a.high, b.low), over(a.low, b.high)],
        _ => [over(a.low, b.high), over(a.high, b.low)],
    };
    Some(Ratio {
        baseline: base.row.id.clone(),
        point: over(a.point, b.point)?,
        low: ends[0],
        high: ends[1],
        n_rounds: a.n_trials.min(b.n_trials),
    })
}

/// Whether a cost is as good as the least, as far as it matters: the interval says so, or leaves
/// it open and the value says so.
fn is_as_good(ratio: &Ratio) -> bool {
    let most = 1.0 + MATTERS;
    let is_open = ratio.low.is_none_or(|low| low <= 1.0);
    ratio.high.is_some_and(|high| high <= most) || (is_open && ratio.point <= most)
}

/// What has an interval, or an objective that has none.
fn has_interval(of: &Measured, request: &AdviceRequest) -> bool {
    request.objective == Objective::Cpu || of.objective.low.is_some()
}

/// The same of what is recommended.
pub fn is_told(of: &RankedCandidate, request: &AdviceRequest) -> bool {
    request.objective == Objective::Cpu || of.objective.low.is_some()
}

/// The best of them, and which are as good: the cheapest of these in CPU time, then the one that
/// needs least.
fn first(all: &[&Measured], request: &AdviceRequest) -> Option<(usize, Vec<bool>)> {
    let told = (0..all.len()).filter(|at| has_interval(all[*at], request));
    let by_cost =
        |a: &usize, b: &usize| point(all[*a], request).total_cmp(&point(all[*b], request));
    let best = told.min_by(by_cost).or_else(|| (0..all.len()).min_by(by_cost))?;
    let as_good = |at: usize| {
        let ratio = compared(all[at], all[best], request);
        at == best
            || (has_interval(all[at], request) && ratio.is_some_and(|ratio| is_as_good(&ratio)))
    };
    let as_good: Vec<bool> = (0..all.len()).map(as_good).collect();
    let good = || (0..all.len()).filter(|at| as_good[*at]);
    let cpu = |at: &usize| all[*at].cpus.or(all[*at].cpu_ns).unwrap_or(f64::INFINITY);
    let least = good().map(|at| cpu(&at)).fold(f64::INFINITY, f64::min);
    let slack = if all.iter().any(|of| of.cpus.is_some()) { CPUS_NONE } else { 0.0 };
    let frugal = good().filter(|at| cpu(at) <= AS_FRUGAL * least + slack || !least.is_finite());
    let chosen = frugal.min_by(|a, b| {
        let needs = |at: &usize| all[*at].candidate.needs.len();
        needs(a).cmp(&needs(b)).then(by_cost(a, b))
    });
    Some((chosen.unwrap_or(best), as_good))
}

/// What is recommended first, the others by their cost, each with what choosing it costs.
pub fn ranked(all: &[&Measured], basis: Basis, request: &AdviceRequest) -> Vec<RankedCandidate> {
    let Some((chosen, as_good)) = first(all, request) else { return Vec::new() };
    let first = all[chosen];
    let mut found: Vec<RankedCandidate> = (all.iter().enumerate())
        .map(|(at, of)| {
            let standing = match () {
                () if at == chosen => Standing::First,
                () if as_good[at] => Standing::AsGood,
                () => Standing::Worse,
            };
            let ratio = compared(of, first, request).filter(|_| at != chosen);
            let regret = ratio.as_ref().and_then(|ratio| regret(first, ratio, request));
            RankedCandidate {
                case: of.row.id.clone(),
                name: of.candidate.name.clone(),
                objective: of.objective.clone(),
                p99: of.p99.clone(),
                cpu_ns_per_message: of.cpu_ns,
                cpus: of.cpus,
                standing,
                ratio,
                regret,
                says: String::new(),
                needs: of.candidate.needs.clone(),
                doubts: doubts(&of.row.findings),
            }
        })
        .collect();
    let best = found[chosen].clone();
    for one in &mut found {
        one.says = match one.standing {
            Standing::First => words::first(one, basis, request),
            _ => words::other(one, &best, request),
        };
    }
    let key = |of: &RankedCandidate| of.objective.point.map_or(f64::INFINITY, |v| cost(v, request));
    found.sort_by(|a, b| {
        let later = |of: &RankedCandidate| of.standing != Standing::First;
        later(a).cmp(&later(b)).then(key(a).total_cmp(&key(b)))
    });
    found
}

fn doubts(findings: &[Finding]) -> Vec<Code> {
    let suspect = findings.iter().filter(|found| found.severity == Severity::Suspect);
    suspect.map(|found| found.code).collect()
}

/// What a ratio of costs is in the unit of the objective.
fn regret(first: &Measured, ratio: &Ratio, request: &AdviceRequest) -> Option<Regret> {
    let value = first.objective.point?;
    let worse = |ratio: f64| match request.objective {
        Objective::Throughput => value * (1.0 - 1.0 / ratio),
        _ => value * (ratio - 1.0),
    };
    let (low, high) = (ratio.low.map(worse), ratio.high.map(worse));
    Some(Regret { point: worse(ratio.point), low, high })
}

/// Which candidates further rounds are for: those that may still be the best or as good as it, or
/// meet a limit and be; none where that is known of each.
pub fn contenders(states: &[State], request: &AdviceRequest) -> Vec<bool> {
    let is_out = |state: &State| match state {
        State::Misses(of, _) => has_interval(of, request),
        state => state.measured().is_none(),
    };
    let left = || states.iter().filter(|state| !is_out(state));
    let best = left().filter_map(State::measured);
    let Some(best) = best.min_by(|a, b| point(a, request).total_cmp(&point(b, request))) else {
        return states.iter().map(|state| matches!(state, State::Unknown(_))).collect();
    };
    let is_worse = |of: &Measured| {
        let (own, bests) = (by_round(of, request), by_round(best, request));
        let slower = |(round, value): (&u32, &f64)| {
            bests.get(round).is_none_or(|best| *value > (1.0 + HOPELESS) * best)
        };
        let is_hopeless = own.len() >= ROUNDS_HOPELESS && own.iter().all(slower);
        let low = compared(of, best, request).and_then(|ratio| ratio.low);
        is_hopeless || low.is_some_and(|low| low > 1.0 + MATTERS)
    };
    let is_known = |state: &State| {
        let Some(of) = state.measured().filter(|_| !matches!(state, State::MayMeet(..))) else {
            return false;
        };
        let high = compared(of, best, request).and_then(|ratio| ratio.high);
        match request.objective {
            Objective::Cpu => of.row.n_trials >= ROUNDS_EXACT,
            _ => has_interval(of, request) && high.is_some_and(|high| high <= 1.0 + MATTERS),
        }
    };
    let may_win: Vec<bool> = states
        .iter()
        .map(|state| match state {
            State::Unknown(_) => true,
            state => !is_out(state) && state.measured().is_some_and(|of| !is_worse(of)),
        })
        .collect();
    let mut open = states.iter().zip(&may_win).filter(|(_, may_win)| **may_win);
    match open.all(|(state, _)| is_known(state)) {
        true => vec![false; states.len()],
        false => may_win,
    }
}
