//! What is shown: computed once by `read`, drawn by every view.
//!
//! All times are nanoseconds. `null` means "not known", and the reason stands
//! beside it.

use std::collections::BTreeMap;

use crate::case::{Boundary, Placement, Runtime, WaitKind, Workload};
use crate::document;
use crate::finding::{Finding, Validity};
use crate::host::Host;
use crate::plan::TrialShape;
use crate::protocol::{ClockReading, Stamp};
use crate::raw::RunAbout;

document! {
    /// The document behind every view of a run (`hopcost/1`).
    pub struct Results {
        /// Always `hopcost/1`.
        pub schema: String,
        /// Who made the run, when and how.
        pub about: RunAbout,
        /// The plan in brief.
        pub plan: PlanBrief,
        /// The host before.
        pub host: Host,
        /// What changed on the host until the end: key, before, after.
        pub host_changes: Vec<HostChange>,
        /// In plain words, what of this machine shapes the numbers below.
        pub remarks: Vec<String>,
        /// Clock of each used CPU.
        pub clocks: Vec<ClockReading>,
        /// One entry a case, in the order of the plan.
        pub results: Vec<CaseResult>,
        /// The ladder: results by meaning and cost.
        pub ladder: Vec<LadderGroup>,
        /// Every finding, worst first; those of a case carry its id.
        pub findings: Vec<Finding>,
        /// The command that made the run, ready to paste.
        pub command: String,
    }
}

document! {
    /// The plan in brief.
    pub struct PlanBrief {
        /// Suite name.
        pub suite: String,
        /// Seed.
        pub seed: u64,
        /// Rounds planned.
        pub rounds_planned: u32,
        /// Rounds of which at least one trial finished.
        pub rounds_done: u32,
        /// Trials finished, failed ones included.
        pub trials_done: u32,
        /// Trials that failed.
        pub trials_failed: u32,
        /// Whether the run was cut off before its last trial.
        pub complete: bool,
        /// The case that multiples refer to.
        pub baseline: Option<String>,
        /// CPUs used, the caller's first.
        pub cpus: Vec<u32>,
        /// The claimed relation of the two CPUs.
        pub relation: Option<Placement>,
        /// How a trial was shaped.
        pub trial: TrialShape,
    }
}

document! {
    /// A reading that differed after the run.
    pub struct HostChange {
        /// Key of the reading.
        pub key: String,
        /// Before.
        pub before: Option<String>,
        /// After.
        pub after: Option<String>,
    }
}

document! {
    /// What became of a case.
    #[derive(Copy, Eq)]
    #[serde(rename_all = "kebab-case")]
    pub enum Status {
        /// At least one trial succeeded.
        Measured,
        /// Not tried, for the reason given.
        Skipped,
        /// Every trial failed, for the reason given.
        Failed,
    }
}

impl Status {
    /// Lower-case word.
    pub const fn word(self) -> &'static str {
        match self {
            Status::Measured => "measured",
            Status::Skipped => "skipped",
            Status::Failed => "failed",
        }
    }
}

document! {
    /// A case taken apart, for programs.
    pub struct CaseParts {
        /// What was done.
        pub workload: Workload,
        /// With what.
        pub mechanism: String,
        /// Bytes a message; `null` where the mechanism carries none.
        pub payload_bytes: Option<u32>,
        /// What separates the ends.
        pub boundary: Boundary,
        /// Where they run; `null` for `call`.
        pub placement: Option<Placement>,
        /// How the caller waits; `null` for `call`.
        pub wait_caller: Option<WaitKind>,
        /// How the callee waits; `null` for `call`.
        pub wait_callee: Option<WaitKind>,
        /// Both waits in one word (`block`, `block:spin`); `null` for `call`.
        pub wait: Option<String>,
        /// Budget of `spin-then-block`.
        pub spin_budget_ns: Option<u64>,
        /// Language of the ends.
        pub runtime: Runtime,
        /// Scheduling policy.
        pub sched: String,
        /// The mechanism's own parameters.
        pub parameters: BTreeMap<String, String>,
    }
}

document! {
    /// What was found out about a case.
    pub struct CaseResult {
        /// Canonical spelling.
        pub id: String,
        /// The same, taken apart.
        pub case: CaseParts,
        /// What became of it.
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
        /// Context switches (voluntary and involuntary, both ends) per operation: median over trials.
        pub switches_per_operation: Option<f64>,
        /// The percentile curve, pooled over trials; empty for batches.
        pub curve: Vec<CurvePoint>,
        /// Typical durations, if there are several.
        pub modes: Vec<Mode>,
        /// The host's states as the sentinel saw them, if there are several.
        pub states: Vec<HostStateShare>,
        /// One point a trial, in time order.
        pub trials: Vec<TrialPoint>,
        /// Follows from the findings.
        pub validity: Validity,
        /// This case's findings.
        pub findings: Vec<Finding>,
        /// The command that repeats this case alone.
        pub command: String,
    }
}

document! {
    /// Estimates of a case. Each is a median over trials of the trial's own
    /// statistic, unless it says `pooled`. For batches only `cost_ns` stands.
    pub struct Estimates {
        /// Cost of one operation in batches (median over trials of the median over batches).
        pub cost_ns: Option<Estimate>,
        /// Median.
        pub p50_ns: Option<Estimate>,
        /// 90th percentile.
        pub p90_ns: Option<Estimate>,
        /// 99th percentile.
        pub p99_ns: Option<Estimate>,
        /// 99.9th percentile.
        pub p999_ns: Option<Estimate>,
        /// Least.
        pub min_ns: Option<Estimate>,
        /// Mean.
        pub mean_ns: Option<Estimate>,
        /// Greatest of all trials, exactly (no interval).
        pub max_ns: Option<f64>,
    }
}

document! {
    /// A statistic with its interval across trials.
    pub struct Estimate {
        /// The value; `null` if insufficient.
        pub point: Option<f64>,
        /// Lower end of the interval; `null` if there is none.
        pub low: Option<f64>,
        /// Upper end of the interval.
        pub high: Option<f64>,
        /// Exact coverage of the interval (0.9609 for ranks 2 and 8 of 9 trials).
        pub level: Option<f64>,
        /// Trials behind it.
        pub n_trials: u32,
        /// Computed from the samples of all trials together, because a trial
        /// alone is too short for this quantile.
        pub pooled: bool,
        /// What is being estimated, in words.
        pub estimand: String,
        /// Why there is no value or no interval.
        pub insufficient: Option<String>,
        /// The smallest relative difference that a comparison with a result of
        /// the same spread could have detected (0.03 is 3 %).
        pub detectable: Option<f64>,
        /// Significant digits that the spread between trials supports.
        pub digits: u8,
        /// Not distinguishable from the empty loop: read `point` as "at most".
        pub at_most: bool,
    }
}

document! {
    /// A ratio with its interval, paired by round.
    pub struct Ratio {
        /// Case it refers to.
        pub baseline: String,
        /// Median over rounds of the ratio of the two trials of that round.
        pub point: f64,
        /// Lower end; `null` with fewer than six rounds.
        pub low: Option<f64>,
        /// Upper end.
        pub high: Option<f64>,
        /// Rounds in which both were measured.
        pub n_rounds: u32,
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
    /// One of several states of the host.
    #[derive(Copy)]
    pub struct HostStateShare {
        /// Sentinel of this state: nanoseconds of one getppid.
        pub sentinel_ns: f64,
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
        /// Sentinel around it: mean of before and after on the caller's CPU.
        pub sentinel_ns: Option<f64>,
        /// Index into `states`; `null` if there is but one.
        pub state: Option<u8>,
        /// Why it failed.
        pub error: Option<String>,
    }
}

document! {
    /// Rows that may be compared with each other.
    pub struct LadderGroup {
        /// Heading ("round trip, 64 bytes each way").
        pub title: String,
        /// What the number means, in a sentence.
        pub meaning: String,
        /// Whether the rows are costs in batches (no percentiles).
        pub batched: bool,
        /// Cheapest first; skipped and failed rows last.
        pub rows: Vec<LadderRow>,
    }
}

document! {
    /// One row: a mechanism with its boundary and wait, on one CPU and on two.
    pub struct LadderRow {
        /// Mechanism, with its payload or parameters where a group mixes them.
        pub label: String,
        /// Boundary.
        pub boundary: Boundary,
        /// Waits; `null` for `call`.
        pub wait: Option<String>,
        /// Index into `results` of the case on one CPU (or of the only one, for a call).
        pub one_cpu: Option<u32>,
        /// Index into `results` of the case on two CPUs.
        pub two_cpus: Option<u32>,
        /// Index into `results` of the case that was left to the scheduler.
        pub free: Option<u32>,
    }
}
