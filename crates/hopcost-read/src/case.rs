//! A case: its trials reduced to what is shown of it, findings aside.

mod reduce;

use std::collections::BTreeMap;

use hopcost_model::case::{Boundary, Case, Workload};
use hopcost_model::plan::UnknownCase;
use hopcost_model::raw::RawTrial;
use hopcost_model::results::{
    CaseParts, CaseResult, Estimates, HostStateShare, Mode, Statistic, Status, TrialPoint,
};
use hopcost_stats::effective::publishable;
use hopcost_stats::modes::{RATIO_MIN, find_modes};
use hopcost_stats::sample::{median, quantile_sorted};

use crate::curve::curve;
use crate::estimate::{self, Unit, estimates};
use crate::per_trial::PerTrial;
use crate::run::Run;
use crate::trial::{Family, Trial};
use crate::{command, counters, say, stream, threads, wake};
use reduce::reduce;

/// A case's result with what its findings need besides.
pub struct Reading {
    /// As shown; findings and validity are not in it yet.
    pub result: CaseResult,
    /// What kind of number its trials left; `None` if never measured.
    pub family: Option<Family>,
    /// Indexes of the trials that were measured, in time order.
    pub measured: Vec<usize>,
    /// Whether the several modes come from the host's states: within each state,
    /// one mode holds nearly everything.
    pub modes_by_state: bool,
    /// Each measured trial's own statistics, in time order.
    pub per_trial: Vec<PerTrial>,
    /// p5 and p95 of the samples of all trials, where they support them.
    pub band: Option<(f64, f64)>,
}

/// Within a state of the host, the share of its main mode from which on the
/// states explain the modes (a state may change in the middle of a trial).
const MAIN_MODE_MIN: f64 = 0.8;
/// Above this share of costs that are zero or negative, no modes are looked for.
const NEGATIVE_MAX: f64 = 0.01;

/// Reads one case of the plan.
pub fn read(run: &Run, index: usize) -> Reading {
    let planned = &run.raw.plan.cases[index];
    let case = match &run.cases[index] {
        Ok(case) => case,
        Err(unknown) => return unreadable(unknown),
    };
    let reduced = reduce(run, index);
    let trials: Vec<Trial> = reduced.trials;
    let status = match (&planned.skip, trials.len(), reduced.points.len()) {
        (_, 1.., _) => Status::Measured,
        (Some(_), _, _) | (None, 0, 0) => Status::Skipped,
        _ => Status::Failed,
    };
    let reason = match status {
        Status::Skipped => Some(planned.skip.clone().unwrap_or_else(|| {
            "the run ended before its first trial; resume it, or give it more time".to_owned()
        })),
        _ => most_frequent(reduced.points.iter().filter_map(|point| point.error.as_deref())),
    };
    let mut points = reduced.points;
    let states = states(run, &reduced.measured, &mut points);
    let shape = shape_of(run, &trials, reduced.family, &reduced.measured);
    let raw = |i: &usize| &run.raw.trials[*i];
    let over = |statistic: &dyn Fn(&RawTrial) -> Option<f64>| {
        let values: Vec<f64> = reduced.measured.iter().map(raw).filter_map(statistic).collect();
        median(&values)
    };
    let of_case: Vec<&RawTrial> = reduced.measured.iter().map(raw).collect();
    let per_operation = if case.workload == Workload::Roundtrip { 2.0 } else { 1.0 };
    let id = case.id();
    let mut result = CaseResult {
        reason,
        stamp: reduced.measured.first().and_then(|i| raw(i).stamp),
        n_trials: trials.len() as u32,
        n_failed: points.iter().filter(|point| point.error.is_some()).count() as u32,
        operations: total(reduced.measured.iter().map(|i| raw(i).operations)),
        samples: total(reduced.measured.iter().map(|i| raw(i).samples_taken)),
        estimates: reduced.family.and_then(|family| {
            estimates(&trials, family, Unit(case.workload), &|n| run.seed(index, n))
        }),
        ratio: None,
        cpu_ns_per_message: over(&|trial| {
            per(trial.cpu_ns as f64, counters::handled(case, trial), per_operation)
        }),
        switches_per_operation: over(&|trial| {
            per(switches(trial) as f64, counters::handled(case, trial), 1.0)
        }),
        curve: shape.curve,
        modes: shape.modes,
        states,
        trials: points,
        lost: total(run.trials_of[index].iter().map(|i| lost(&run.raw.trials[*i]))),
        wake: wake::result(run, case, &of_case),
        stream: stream::result(run, case, &of_case, &reduced.per_trial),
        counters: counters::counters(case, &of_case),
        threads: threads::threads(case, &of_case),
        replay: replay(run, index),
        ..CaseResult::empty(&id, CaseParts::of(case), status, command::of_case(&id))
    };
    // Ticks are those of the processor's counter, which other runtimes do not read.
    if case.workload == Workload::Call && case.runtimes.are_rust() {
        let ticks_per_second = of_case.first().and_then(|trial| run.clock(trial));
        let ticks_per_second = ticks_per_second.map(|clock| clock.ticks_per_second);
        let cost_ns = result.estimates.as_ref().and_then(Estimates::headline_ns);
        result.cost_ticks =
            cost_ns.zip(ticks_per_second).map(|(ns, ticks)| ns * ticks / 1e9).filter(finite);
        result.cost_cycles = cost_ns
            .zip(counters::cycles_per_ns(&of_case))
            .map(|(ns, cycles)| ns * cycles)
            .filter(finite);
    }
    Reading {
        result,
        family: reduced.family,
        measured: reduced.measured,
        modes_by_state: shape.modes_by_state,
        per_trial: reduced.per_trial,
        band: shape.band,
    }
}

/// The command that replays the first trial that was measured, or else tried.
fn replay(run: &Run, index: usize) -> Option<String> {
    let trials = || run.trials_of[index].iter().map(|i| &run.raw.trials[*i]);
    let first = trials().find(|trial| trial.error.is_none()).or_else(|| trials().next())?;
    Some(command::of_trial(&run.raw.plan.cases[index].id(), first, run.raw))
}

fn finite(value: &f64) -> bool {
    value.is_finite()
}

/// Voluntary and involuntary switches of all ends.
pub fn switches(trial: &RawTrial) -> u64 {
    total(trial.ends.iter().flat_map(|end| [end.voluntary, end.involuntary]))
}

/// Exchanges of all ends that lost a message or timed out.
pub fn lost(trial: &RawTrial) -> u64 {
    total(trial.ends.iter().map(|end| end.lost))
}

/// A sum that a file's nonsense cannot overflow.
pub fn total(counts: impl Iterator<Item = u64>) -> u64 {
    counts.fold(0, u64::saturating_add)
}

fn per(total: f64, operations: f64, parts: f64) -> Option<f64> {
    (operations > 0.0).then(|| total / (operations * parts))
}

/// The test engine whose `call` is the loop and nothing in it.
const EMPTY_LOOP: &str = "null";

/// Where the run measured the empty loop too, a call that cannot be told from it
/// is given as "at most".
pub fn bound_by_loop(run: &Run, readings: &mut [Reading]) {
    let is_call = |index: usize, empty: bool| {
        run.cases[index].as_ref().is_ok_and(|case| {
            // The loop of another runtime is another loop.
            case.workload == Workload::Call
                && case.runtimes.are_rust()
                && (case.mechanism_name() == EMPTY_LOOP) == empty
        })
    };
    let cost = |reading: &Reading| reading.result.estimates.as_ref()?.get(Statistic::Cost).cloned();
    let Some(empty) =
        readings.iter().enumerate().filter(|(i, _)| is_call(*i, true)).find_map(|(_, r)| cost(r))
    else {
        return;
    };
    for (_, reading) in readings.iter_mut().enumerate().filter(|(i, _)| is_call(*i, false)) {
        if let Some(cost) =
            reading.result.estimates.as_mut().and_then(|e| e.get_mut(Statistic::Cost))
        {
            estimate::bound_by_loop(cost, &empty);
        }
    }
}

fn most_frequent<'a>(reasons: impl Iterator<Item = &'a str>) -> Option<String> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for reason in reasons {
        *counts.entry(reason).or_default() += 1;
    }
    let (reason, _) = counts.into_iter().max_by(|a, b| a.1.cmp(&b.1).then(b.0.cmp(a.0)))?;
    Some(reason.to_owned())
}

/// The host's states as this case met them, and each point's place among them;
/// none unless it met both.
fn states(run: &Run, measured: &[usize], points: &mut [TrialPoint]) -> Vec<HostStateShare> {
    let Some(two) = &run.states else { return Vec::new() };
    let met = |state: usize| {
        let values: Vec<f64> = points
            .iter()
            .filter(|point| point.sentinel_ns.is_some_and(|ns| two.of(ns) == state))
            .filter_map(|point| point.value_ns)
            .collect();
        let p50_ns = median(&values)?;
        Some(HostStateShare {
            sentinel_ns: two.medians[state],
            share: values.len() as f64 / measured.len() as f64,
            p50_ns,
            n_trials: values.len() as u32,
        })
    };
    let (Some(fast), Some(slow)) = (met(0), met(1)) else { return Vec::new() };
    for point in points {
        point.state = point.sentinel_ns.map(|ns| two.of(ns) as u8);
    }
    vec![fast, slow]
}

struct Shape {
    curve: Vec<hopcost_model::results::CurvePoint>,
    modes: Vec<Mode>,
    modes_by_state: bool,
    band: Option<(f64, f64)>,
}

/// What needs the samples of all trials together.
fn shape_of(run: &Run, trials: &[Trial], family: Option<Family>, measured: &[usize]) -> Shape {
    let pooled = pool(trials.iter());
    let curve = if family == Some(Family::Each) { curve(trials, &pooled) } else { Vec::new() };
    let not_positive = pooled.partition_point(|v| *v <= 0.0);
    // A value a trial is not a distribution of durations.
    let single = pooled.len() == trials.len();
    let modes = if single || not_positive as f64 > NEGATIVE_MAX * pooled.len() as f64 {
        Vec::new()
    } else {
        modes(&pooled)
    };
    let modes_by_state = modes.len() > 1
        && run.states.is_some_and(|two| {
            [0, 1].iter().all(|state| {
                let of_state = trials
                    .iter()
                    .zip(measured)
                    .filter(|(_, i)| run.sentinels[**i].is_some_and(|ns| two.of(ns) == *state));
                let modes = find_modes(&pool(of_state.map(|(trial, _)| trial)), RATIO_MIN);
                modes.iter().any(|mode| mode.share >= MAIN_MODE_MIN)
            })
        });
    let pooled_quantile = |q: f64| {
        let support: f64 = trials.iter().map(|trial| trial.n_eff_at(q)).sum();
        quantile_sorted(&pooled, q).filter(|_| publishable(support, q.max(1.0 - q)))
    };
    let band = pooled_quantile(0.05).zip(pooled_quantile(0.95));
    Shape { curve, modes, modes_by_state, band }
}

/// Several modes, or none.
fn modes(pooled: &[f64]) -> Vec<Mode> {
    let found = find_modes(pooled, RATIO_MIN);
    if found.len() < 2 {
        return Vec::new();
    }
    found.into_iter().map(|mode| Mode { ns: mode.at, share: mode.share }).collect()
}

/// The samples of several trials, sorted. (A stable sort finds the trials' own
/// sorted runs and merges them.)
fn pool<'a>(trials: impl Iterator<Item = &'a Trial>) -> Vec<f64> {
    let mut pooled: Vec<f64> = trials.flat_map(|t| t.sample.values().iter().copied()).collect();
    pooled.sort_by(f64::total_cmp);
    pooled
}

/// A row for a plan's case whose spelling this version cannot read.
fn unreadable(unknown: &UnknownCase) -> Reading {
    let id = unknown.id.as_str();
    let case = Case {
        workload: Workload::Call,
        mechanism: id.to_owned(),
        payload_bytes: None,
        fields: None,
        flows: None,
        ack: None,
        gap_ns: None,
        boundary: Boundary::Inline,
        placement: None,
        waits: None,
        spin_budget_ns: None,
        parameters: BTreeMap::new(),
        idle_knob: hopcost_model::case::IdleKnob::None,
        sched: Default::default(),
        runtimes: Default::default(),
    };
    let mut result =
        CaseResult::empty(id, CaseParts::of(&case), Status::Failed, command::of_case(id));
    result.reason = Some(format!("this version of hopcost cannot read the case: {unknown}"));
    Reading {
        result,
        family: None,
        measured: Vec::new(),
        modes_by_state: false,
        per_trial: Vec::new(),
        band: None,
    }
}

/// The two states of a case in words.
pub fn states_in_words(states: &[HostStateShare]) -> String {
    let each = states.iter().map(|state| {
        format!("{} in {} of its trials", say::ns(state.p50_ns), say::percent(state.share))
    });
    each.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests;
