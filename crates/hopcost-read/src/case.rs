//! A case: its trials reduced to what is shown of it, comparisons and findings aside.

use std::collections::BTreeMap;

use hopcost_model::{
    Case, CaseParts, Code, Estimate, Estimates, Finding, Ratio, RawTrial, Role, Stamp, Statistic,
    Validity, Workload, document, parallel, words,
};
use hopcost_stats::dependence::SerialDependence;
use hopcost_stats::sample::median;

use crate::counters::{CounterResult, TcpResult};
use crate::estimate::{self, Measured, estimates};
use crate::one_way::{LoadResult, WakeResult};
use crate::pooled::{CurvePoint, Mode, of_samples};
use crate::run::Run;
use crate::stream::StreamResult;
use crate::sums::{Whose, cpu_ns, handled, lost, messages, most_frequent, per, switches, total};
use crate::threads::ThreadResult;
use crate::trial::Family;
use crate::trials::{PerTrial, TrialPoint, Trials, trials};
use crate::{command, counters, one_way, stream, threads};

words! {
    /// What became of a case.
    #[derive(Default)]
    Status, "status" {
        /// At least one trial succeeded.
        #[default]
        Measured = "measured",
        /// Not tried, for the reason given.
        Skipped = "skipped",
        /// Every trial failed, for the reason given.
        Failed = "failed",
    }
}

document! {
    /// What was found out about a case.
    #[derive(Default)]
    pub struct CaseResult {
        /// Canonical spelling.
        pub id: String,
        /// The same, taken apart.
        pub case: CaseParts,
        /// Its outcome.
        pub status: Status,
        /// Why it was skipped or failed (the most frequent reason of failed trials).
        pub reason: Option<String>,
        /// How operations were stamped; `null` if never measured.
        pub stamp: Option<Stamp>,
        /// Trials that succeeded.
        pub n_trials: u32,
        /// Trials that failed.
        pub n_failed: u32,
        /// Operations over all trials.
        pub operations: u64,
        /// Samples over all trials.
        pub samples: u64,
        /// The estimates; `null` if never measured.
        pub estimates: Option<Estimates>,
        /// Multiple of the case that those of its group and place in the ladder are of.
        pub ratio: Option<Ratio>,
        /// CPU time of both ends over messages (a round trip is two messages; a
        /// call is one), of a load that of its receivers: median over trials.
        pub cpu_ns_per_message: Option<f64>,
        /// Context switches (voluntary and involuntary, all threads of both ends) per operation:
        /// median over trials.
        pub switches_per_operation: Option<f64>,
        /// Percentiles (0 to 100) that were asked for, besides those that every case has.
        #[serde(default)]
        pub percentiles: Vec<(f64, Estimate)>,
        /// The percentile curve, pooled over trials; empty for batches.
        pub curve: Vec<CurvePoint>,
        /// Typical durations, if there are several.
        pub modes: Vec<Mode>,
        /// The two levels at which its trials lie, the lower first; `null` where they lie at one.
        pub levels: Option<(f64, f64)>,
        /// One point a trial, in time order.
        pub trials: Vec<TrialPoint>,
        /// Follows from the findings; `null` if never measured.
        pub validity: Option<Validity>,
        /// Cost of one operation in ticks of the clock, where it was timed in batches.
        pub cost_ticks: Option<f64>,
        /// p50 of one operation in ticks of the clock, where each was timed by itself.
        pub p50_ticks: Option<f64>,
        /// What is particular to a wake-up.
        pub wake: Option<WakeResult>,
        /// What is particular to a stream.
        pub stream: Option<StreamResult>,
        /// What is particular to a load.
        pub load: Option<LoadResult>,
        /// What was counted, by event and end; medians over trials.
        pub counters: Vec<CounterResult>,
        /// What the kernel says of the TCP connections of each end; empty where there are none.
        pub tcp: Vec<TcpResult>,
        /// Exchanges that lost a message or timed out, over all trials; none of them
        /// is in any estimate.
        pub lost: u64,
        /// Which threads did the work; medians over trials, the busiest first. Empty
        /// where every end is in Rust and but one thread (see `counters`).
        pub threads: Vec<ThreadResult>,
        /// This case's findings.
        pub findings: Vec<Finding>,
        /// The command that replays one trial of it by hand, with every line of the
        /// worker protocol shown; `null` if never tried.
        pub replay: Option<String>,
    }
}

impl CaseResult {
    /// How far one-way times may be off because of the clocks, in nanoseconds; `None` of what needs no second one.
    pub fn clock_bound_ns(&self) -> Option<f64> {
        let of_wake = self.wake.as_ref().map(|wake| wake.clock_bound_ns);
        of_wake.or(self.load.as_ref().map(|load| load.clock_bound_ns)).flatten()
    }

    /// Whether its CPUs ran at two speeds, so that its value at the fast one stands first.
    pub fn has_two_speeds(&self) -> bool {
        self.findings.iter().any(|found| found.code == Code::TwoSpeeds)
    }

    /// Its p50 or cost as it stands first.
    pub fn shown(&self) -> Option<Estimate> {
        let (_, estimate) = self.estimates.as_ref()?.headline()?;
        let at_fast = estimate.quietly().filter(|_| self.has_two_speeds());
        Some(at_fast.unwrap_or_else(|| estimate.clone()))
    }

    /// Every estimate of it: name, unit, and the value with its interval where it has one.
    pub fn all_estimates(&self) -> Vec<(String, &'static str, Estimate)> {
        let mut all = Vec::new();
        if let Some(estimates) = &self.estimates {
            let exact = |(of, ns)| (of, Estimate::exact(ns, self.n_trials));
            let found = estimates.intervals().map(|(of, found)| (of, found.clone()));
            let found = found.chain(estimates.exact_values().map(exact));
            all.extend(found.map(|(of, found)| (of.word().to_owned(), "ns", found)));
        }
        for (percent, found) in &self.percentiles {
            let label = format!("p{percent}");
            if Statistic::of_label(&label).is_none() {
                all.push((format!("{label}_ns"), "ns", found.clone()));
            }
        }
        if let Some(stream) = &self.stream {
            let [all_flows, a_flow] = [&stream.aggregate_gbps, &stream.per_flow_gbps];
            for (name, rate) in [("aggregate_gbps", all_flows), ("per_flow_gbps", a_flow)] {
                all.extend(rate.clone().map(|rate| (name.to_owned(), "Gbit/s", rate)));
            }
        }
        all
    }
}

/// A case as read, with what comparisons and findings need besides.
pub struct Reading<'a> {
    /// Its place in the plan.
    pub index: u32,
    /// The case.
    pub case: &'a Case,
    /// As shown; ratio, findings and validity are not in it yet.
    pub result: CaseResult,
    /// What kind of number its trials left; `None` if never measured.
    pub family: Option<Family>,
    /// The trials that were measured, in time order.
    pub trials: Vec<&'a RawTrial>,
    /// Each measured trial's own statistics, in time order.
    pub per_trial: Vec<PerTrial>,
    /// The quantiles of the samples of all trials, of workloads whose mean is of these too.
    pub pooled_quantiles: Estimates,
    /// How far its ratios to other cases of the run depend on those of the rounds before.
    pub dependence: SerialDependence,
}

impl Reading<'_> {
    /// Whether there is a trial that was measured.
    pub fn is_measured(&self) -> bool {
        !self.trials.is_empty()
    }

    /// Whether an end is a thread, so that what was counted of a thread is that of an end.
    pub fn is_thread(&self, role: Role) -> bool {
        !threads::is_no_thread(self.case, &self.result.threads, role)
    }

    /// Whether both are.
    pub fn are_threads(&self) -> bool {
        self.is_thread(Role::Caller) && self.is_thread(Role::Callee)
    }

    /// The estimate of a statistic.
    pub fn get(&self, statistic: Statistic) -> Option<&Estimate> {
        self.result.estimates.as_ref()?.get(statistic)
    }

    /// p50, or the cost in batches.
    pub fn headline(&self) -> Option<&Estimate> {
        Some(self.result.estimates.as_ref()?.headline()?.1)
    }

    /// The same of each measured trial, in time order, as trials are compared.
    pub fn values(&self) -> Vec<f64> {
        self.per_trial.iter().map(|trial| trial.value_ns).collect()
    }

    /// A value of each measured trial that has it, by its round.
    pub fn by_round(&self, of: impl Fn(&PerTrial) -> Option<f64>) -> BTreeMap<u32, f64> {
        self.per_trial.iter().filter_map(|trial| Some((trial.round, of(trial)?))).collect()
    }

    /// Ticks of the clock that stamped it in a nanosecond.
    pub fn ticks_per_ns(&self) -> Option<f64> {
        let ticks = self.result.cost_ticks.or(self.result.p50_ticks)?;
        Some(ticks / self.headline()?.point.filter(|ns| *ns > 0.0)?)
    }

    /// The headline of each measured trial by its round.
    pub fn headline_by_round(&self) -> BTreeMap<u32, f64> {
        self.by_round(|trial| Some(trial.value_ns))
    }
}

/// Reads every case of the plan, in its order.
pub fn read<'a>(run: &Run<'a>) -> Vec<Reading<'a>> {
    let mut readings = parallel::each(run.raw.plan.cases.len(), |index| of_case(run, index));
    bound_by_loop(&mut readings);
    let values: Vec<_> = readings.iter().map(Reading::headline_by_round).collect();
    let dependence = SerialDependence::of_cases(&values);
    readings.iter_mut().for_each(|reading| reading.dependence = dependence);
    readings
}

/// The test engine whose `call` is the loop and nothing in it.
pub const EMPTY_LOOP: &str = "null";

/// A call that looks like the empty loop, where the run measured that, gets an upper bound.
fn bound_by_loop(readings: &mut [Reading]) {
    let calls = readings.iter_mut().filter(|of| is_native_call(of.case));
    let (loops, others): (Vec<_>, Vec<_>) =
        calls.partition(|of| of.case.mechanism_name() == EMPTY_LOOP);
    let Some(empty) = loops.iter().find_map(|of| of.get(Statistic::Cost)) else { return };
    for estimates in others.into_iter().filter_map(|of| of.result.estimates.as_mut()) {
        if let Some(cost) = estimates.get_mut(Statistic::Cost) {
            estimate::bound_by_loop(cost, empty);
        }
    }
}

/// The loop of another runtime is another loop.
fn is_native_call(case: &Case) -> bool {
    case.workload == Workload::Call && case.runtimes.are_rust()
}

/// The percentiles of a case that are asked for, where its operations were timed one by one; those that
/// every case has, as they are.
pub fn percentiles(
    run: &Run,
    index: usize,
    result: &CaseResult,
    asked: &[f64],
) -> Option<Vec<(f64, Estimate)>> {
    let case = run.raw.plan.case(index as u32)?;
    let known = result.estimates.as_ref().filter(|known| known.get(Statistic::P50).is_some())?;
    let table = trials(run, case, index);
    let measured = measured(run, index, &table)?;
    let found = |&percent: &f64| {
        let statistic = Statistic::of_label(&format!("p{percent}"));
        let found = statistic.and_then(|statistic| known.get(statistic)).cloned();
        let found = found.unwrap_or_else(|| {
            let mut found = estimate::percentile(&measured, percent, known);
            estimate::widen(&mut found, result.clock_bound_ns().unwrap_or(0.0), 0.0);
            found
        });
        (percent, found)
    };
    Some(asked.iter().map(found).collect())
}

/// The measured trials of a case; `None` where there are none.
fn measured<'t>(run: &Run, index: usize, table: &'t Trials) -> Option<Measured<'t>> {
    Some(Measured {
        trials: table.measured().map(|(_, trial)| trial).collect(),
        family: table.family?,
        workload: run.raw.plan.cases[index].case.workload,
        doubt: run.doubt(index as u32),
        seeds: (run.raw.plan.seed, index as u64),
    })
}

fn of_case<'a>(run: &Run<'a>, index: usize) -> Reading<'a> {
    let case = &run.raw.plan.cases[index].case;
    let table = trials(run, case, index);
    let raw: Vec<&RawTrial> = table.measured().map(|(row, _)| row.raw).collect();
    let per_trial = table.statistics(run);
    let (curve, modes) = of_samples(&table);
    let (status, reason) = status(run, index, &table);
    let measured = measured(run, index, &table);
    let estimates = measured.as_ref().and_then(estimates);
    let over = |statistic: &dyn Fn(&RawTrial) -> Option<f64>| {
        median(raw.iter().filter_map(|trial| statistic(trial)))
    };
    let ticks_per_second =
        raw.first().and_then(|trial| Some(run.raw.clock(trial)?.ticks_per_second));
    // Those of another runtime are not of the processor's counter.
    let in_ticks = |statistic| {
        let (headline, estimate) = estimates.as_ref()?.headline()?;
        let is_it = headline == statistic && case.runtimes.are_rust();
        let ticks = estimate.point.filter(|_| is_it)? * ticks_per_second? / 1e9;
        Some(ticks).filter(|ticks| ticks.is_finite())
    };
    let (cost_ticks, p50_ticks) = (in_ticks(Statistic::Cost), in_ticks(Statistic::P50));
    let id = case.id();
    let threads = threads::threads(case, &raw);
    let mut result = CaseResult {
        reason,
        stamp: raw.first().and_then(|trial| trial.stamp),
        n_trials: raw.len() as u32,
        n_failed: table.rows.iter().filter(|row| row.trial.is_err()).count() as u32,
        operations: total(raw.iter().map(|trial| trial.operations)),
        samples: total(raw.iter().map(|trial| trial.samples_taken)),
        cost_ticks,
        p50_ticks,
        cpu_ns_per_message: over(&|trial| {
            // The sender of a load looks at the clock until each message is due.
            let ns = match case.workload {
                Workload::Load => cpu_ns(trial, Whose::End(Role::Callee)),
                _ => trial.cpu_ns,
            };
            per(ns as f64, handled(case, trial) * messages(case.workload))
        }),
        switches_per_operation: over(&|trial| {
            per(switches(trial, Whose::All) as f64, handled(case, trial))
        }),
        curve,
        modes,
        levels: levels(per_trial.iter().map(|trial| trial.value_ns).collect()),
        trials: table.rows.iter().map(|row| row.point()).collect(),
        lost: total(table.rows.iter().map(|row| lost(row.raw))),
        wake: one_way::wake(run, case, &raw),
        load: one_way::load(run, case, &raw),
        stream: stream::result(run, case, &raw, &per_trial),
        counters: counters::counters(case, &raw),
        tcp: counters::tcp(&raw),
        threads,
        replay: (!table.rows.is_empty()).then(|| command::of_trial(&id, &run.raw.about.argv)),
        case: CaseParts::of(case),
        status,
        id,
        ..CaseResult::default()
    };
    let bound_ns = result.clock_bound_ns().unwrap_or(0.0);
    result.estimates = estimates.map(|estimates| estimate::widened(estimates, bound_ns));
    let pooled_quantiles = measured.as_ref().and_then(estimate::pooled_quantiles);
    let pooled_quantiles = pooled_quantiles.map(|found| estimate::widened(found, bound_ns));
    Reading {
        index: index as u32,
        case,
        result,
        family: table.family,
        trials: raw,
        per_trial,
        pooled_quantiles: pooled_quantiles.unwrap_or_default(),
        dependence: SerialDependence::NONE,
    }
}

/// What became of a case, and why it was not measured.
fn status(run: &Run, index: usize, trials: &Trials) -> (Status, Option<String>) {
    let plan = &run.raw.plan;
    let errors = trials.rows.iter().filter_map(|row| row.trial.as_ref().err());
    if trials.family.is_some() {
        return (Status::Measured, most_frequent(errors));
    }
    match &plan.cases[index].skip {
        None if !trials.rows.is_empty() => (Status::Failed, most_frequent(errors)),
        Some(skip) => (Status::Skipped, Some(skip.clone())),
        None => {
            let remedy = match plan.comparison {
                // No file names what it would have to execute.
                Some(_) => "compare again",
                None => "resume it",
            };
            let why =
                format!("the run ended before its first trial; {remedy}, or give it more time");
            (Status::Skipped, Some(why))
        }
    }
}

/// The upper level begins where a trial takes this many times as long as the next faster one.
const LEVELS_STEP: f64 = 1.5;
/// The least share of the trials at a level: fewer are outliers.
const LEVELS_SHARE: f64 = 0.2;
/// Trials that show levels at least.
const LEVELS_TRIALS_MIN: usize = 6;

/// The medians of the trials at either level where they lie at two, as on a guest whose CPU pairs change their
/// distance; the lower first.
fn levels(mut values: Vec<f64>) -> Option<(f64, f64)> {
    values.sort_by(f64::total_cmp);
    let steps = values.windows(2).map(|pair| pair[1] / pair[0]).enumerate();
    let (at, step) = steps.max_by(|a, b| a.1.total_cmp(&b.1))?;
    let (low, high) = values.split_at(at + 1);
    let least = (LEVELS_SHARE * values.len() as f64).max(2.0);
    // Levels are farther apart than the trials of each.
    let is_narrow = |of: &[f64]| of[of.len() - 1] < step * of[0];
    let is_two = values.len() >= LEVELS_TRIALS_MIN
        && step >= LEVELS_STEP
        && low.len().min(high.len()) as f64 >= least
        && is_narrow(low)
        && is_narrow(high);
    median(low).zip(median(high)).filter(|_| is_two)
}

#[cfg(test)]
mod tests;
