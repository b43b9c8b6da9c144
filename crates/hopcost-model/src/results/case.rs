//! A case: what was measured of it, trial by trial, and how sure it is.

use std::collections::BTreeMap;

use super::load::LoadResult;
use super::ratio::Ratio;
use super::statistic::{Estimate, Estimates, Statistic};
use super::stream::StreamResult;
use super::wake::WakeResult;
use crate::case::Role;
use crate::columns::CaseParts;
use crate::finding::{Finding, Validity};
use crate::protocol::Stamp;
use crate::{document, words};

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
        /// Multiple of the baseline; `null` where there is none or where the
        /// baseline means something else.
        pub ratio: Option<Ratio>,
        /// CPU time of both ends over messages (a round trip is two messages; a
        /// call is one): median over trials.
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
        /// How the scheduler placed the ends; empty where they are pinned, or where nobody
        /// knows.
        pub placed: Vec<PlacedShare>,
        /// One point a trial, in time order.
        pub trials: Vec<TrialPoint>,
        /// Follows from the findings; `null` if never measured.
        pub validity: Option<Validity>,
        /// Cost of one operation in ticks of the clock, where it was timed in batches.
        pub cost_ticks: Option<f64>,
        /// p50 of one operation in ticks of the clock, where each was timed by itself.
        pub p50_ticks: Option<f64>,
        /// Cost of one call in core cycles (`call` only).
        pub cost_cycles: Option<f64>,
        /// What is particular to a wake-up.
        pub wake: Option<WakeResult>,
        /// What is particular to a stream.
        pub stream: Option<StreamResult>,
        /// What is particular to a load.
        pub load: Option<LoadResult>,
        /// What writing and comparing messages takes the ends; `null` where it was not timed.
        pub touch: Option<TouchCost>,
        /// What was counted, by event and end; medians over trials.
        pub counters: Vec<CounterResult>,
        /// Exchanges that lost a message or timed out, over all trials; none of them
        /// is in any estimate.
        pub lost: u64,
        /// Which threads did the work; medians over trials, the busiest first. Empty
        /// where every end is in Rust and but one thread (see `counters`).
        pub threads: Vec<ThreadResult>,
        /// This case's findings.
        pub findings: Vec<Finding>,
        /// The command that repeats this case alone.
        pub command: String,
        /// The command that replays one trial of it by hand, with every line of the
        /// worker protocol shown; `null` if never tried.
        pub replay: Option<String>,
    }
}

document! {
    /// What writing and comparing messages takes the ends, timed in each trial with messages of
    /// the case's size. It is in the numbers and never subtracted.
    #[derive(Copy)]
    pub struct TouchCost {
        /// Writing a message: median over trials and ends.
        pub fill_ns: f64,
        /// Comparing one.
        pub verify_ns: f64,
        /// How much of an operation's number that is: of a round trip all that both ends write
        /// and compare, of an acknowledged message the comparing, of a wake-up nothing; `null`
        /// where messages are not acknowledged and it overlaps.
        pub operation_ns: Option<f64>,
    }
}

document! {
    /// Threads of one name in one process of a case.
    pub struct ThreadResult {
        /// Whose process. Where both ends are in one: the end that plays it or started it where
        /// that is known, or else the caller.
        pub process: Role,
        /// The end it plays; `null` for a thread that the runtime or a library has
        /// besides.
        pub seat: Option<Role>,
        /// Name.
        pub name: String,
        /// Threads of this name.
        pub threads: u32,
        /// Their CPU time for each operation.
        pub cpu_ns_per_operation: f64,
        /// Their share of the CPU time of all threads of this case, 0 to 1.
        pub cpu_share: f64,
        /// Their context switches for each operation.
        pub switches_per_operation: f64,
    }
}

document! {
    /// A worker that took part, in brief.
    pub struct WorkerBrief {
        /// Runtime.
        pub runtime: String,
        /// Version of the worker.
        pub version: String,
        /// Language and libraries with their versions.
        pub libraries: BTreeMap<String, String>,
        /// What of the runtime shapes its numbers.
        pub remarks: Vec<String>,
    }
}

impl CaseResult {
    /// How far one-way times may be off because of the clocks, in nanoseconds; `None` of what needs no second one.
    pub fn clock_bound_ns(&self) -> Option<f64> {
        let of_wake = self.wake.as_ref().map(|wake| wake.clock_bound_ns);
        of_wake.or(self.load.as_ref().map(|load| load.clock_bound_ns)).flatten()
    }

    /// Every estimate of it: name, unit, and the value with its interval where it has one.
    pub fn all_estimates(&self) -> Vec<(String, &'static str, Estimate)> {
        let mut all = Vec::new();
        if let Some(estimates) = &self.estimates {
            let key = |of: Statistic| of.key().to_owned();
            all.extend(estimates.intervals().map(|(of, found)| (key(of), "ns", found.clone())));
            all.extend(
                estimates.exact_values().map(|(of, ns)| {
                    (key(of), "ns", Estimate::exact(ns, self.n_trials, of.about()))
                }),
            );
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

    /// A case of which nothing has been found out yet.
    pub fn empty(id: &str, case: CaseParts, status: Status, command: String) -> Self {
        CaseResult { id: id.to_owned(), case, status, command, ..Self::default() }
    }
}

document! {
    /// A point of the percentile curve.
    #[derive(Copy)]
    pub struct CurvePoint {
        /// The quantile, 0 to 1.
        pub q: f64,
        /// Its value over all trials' samples.
        pub ns: f64,
        /// Lowest trial value of this quantile where each trial supports it.
        pub low: Option<f64>,
        /// Highest trial value.
        pub high: Option<f64>,
    }
}

document! {
    /// One of several typical durations.
    #[derive(Copy)]
    pub struct Mode {
        /// Where it peaks.
        pub ns: f64,
        /// Share of the samples, 0 to 1.
        pub share: f64,
    }
}

document! {
    /// Where the ends of a trial were that nobody pinned.
    #[derive(Copy, Eq)]
    #[serde(rename_all = "kebab-case")]
    pub enum Placed {
        /// All on one CPU, from the beginning of the measured phase to its end.
        OneCpu,
        /// Each on a CPU of its own, or several on some, all the time.
        SeveralCpus,
        /// An end went to another CPU meanwhile.
        Moved,
    }
}

impl Placed {
    /// All of them.
    pub const ALL: [Placed; 3] = [Placed::OneCpu, Placed::SeveralCpus, Placed::Moved];
}

document! {
    /// The trials of a case in which the scheduler placed the ends alike.
    #[derive(Copy)]
    pub struct PlacedShare {
        /// Where the ends stayed.
        pub placed: Placed,
        /// Share of this case's trials, 0 to 1.
        pub share: f64,
        /// Median over these trials of the trial's p50 (or batch cost).
        pub p50_ns: f64,
        /// Trials.
        pub n_trials: u32,
    }
}

document! {
    /// One trial as a point.
    pub struct TrialPoint {
        /// Round, from 0.
        pub round: u32,
        /// Seconds from the start of the run.
        pub at_s: f64,
        /// The trial's p50, or cost in batches; `null` if it failed.
        pub value_ns: Option<f64>,
        /// The trial's p99, where its samples support one.
        pub p99_ns: Option<f64>,
        /// Samples.
        pub samples: u64,
        /// How much slower than at the run's own speed the machine was beside it, by which it is
        /// adjusted where cases are compared; `null` where its case is not adjusted.
        pub factor: Option<f64>,
        /// Why it failed.
        pub error: Option<String>,
    }
}

document! {
    /// One event at one end of a case.
    pub struct CounterResult {
        /// The event (`cycles`, `instructions`, `l1d-misses`, `llc-misses`,
        /// `context-switches`, `migrations`, `page-faults`, `cpu-ns`, `system-calls`).
        pub event: String,
        /// The end, with all threads that work for it; `null` where both were counted together:
        /// over the phase that follows the measurement, or where threads of one process work for
        /// either end.
        pub role: Option<Role>,
        /// Per message of a stream, per operation otherwise; scaled where events took turns.
        pub per_operation: Option<f64>,
        /// Per byte of message.
        pub per_byte: Option<f64>,
        /// In all, over the measured phase of one trial (all its threads of this end);
        /// `null` where counted after it.
        pub per_trial: Option<f64>,
        /// Smallest share of the time for which it was really counted, where less
        /// than all.
        pub counted_share: Option<f64>,
        /// Why there is no number.
        pub unavailable: Option<String>,
    }
}
