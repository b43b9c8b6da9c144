//! What is shown: computed once by `read`, drawn by every view.
//!
//! All times are nanoseconds. `null` means "not known", and the reason stands
//! beside it.

mod comparison;
mod published;
mod runtimes;
mod statistic;

use std::collections::BTreeMap;

use crate::case::{Boundary, IdleKnob, Placement, Role};
use crate::document;
use crate::finding::{Finding, Validity};
use crate::host::Host;
use crate::plan::TrialShape;
use crate::protocol::{ClockReading, Stamp};
use crate::raw::{RunAbout, YardstickClass};

pub use crate::columns::CaseParts;
pub use comparison::{Compared, Comparison, Verdict};
pub use published::*;
pub use runtimes::*;
pub use statistic::{Estimate, Estimates, Kind, Statistic};

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
        /// Clock of each used CPU, of each runtime.
        pub clocks: Vec<ClockReading>,
        /// The yardsticks over the run.
        pub yardsticks: Vec<YardstickLevel>,
        /// Whether values were divided by them, by what was measured.
        pub adjustments: Vec<Adjustment>,
        /// The workers of other runtimes that took part.
        pub workers: Vec<WorkerBrief>,
        /// One entry a case, in the order of the plan.
        pub results: Vec<CaseResult>,
        /// The ladder: results by meaning and cost.
        pub ladder: Vec<LadderGroup>,
        /// What a published table says beside what was measured here.
        pub published: Vec<PublishedTable>,
        /// Costs split into a fixed and a per-byte part, where sizes were swept.
        pub cost_models: Vec<CostModel>,
        /// How much of the spread of the wake-ups each factor explains; `null`
        /// where no factor was varied.
        pub variance: Option<VarianceShares>,
        /// The same of the trials' p50, over cases that a suite names.
        pub variance_of_medians: Vec<VarianceShares>,
        /// What each idle knob changes.
        pub knobs: Vec<KnobPrice>,
        /// From which size on one way of sending is faster than another.
        pub crossings: Vec<Crossing>,
        /// Runtimes compared; `null` where all ends were in Rust.
        pub runtimes: Option<RuntimeComparison>,
        /// What there is to plot, drawn from the stored samples.
        pub plots: Vec<Plot>,
        /// Every finding, worst first; those of a case carry its id.
        pub findings: Vec<Finding>,
        /// The command that made the run, ready to paste.
        pub command: String,
        /// What a live comparison found; absent of any other run.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub comparison: Option<Comparison>,
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
        /// Seconds from the start of the run to the end of its last trial.
        pub took_s: f64,
        /// Why there are fewer rounds than were planned, or wider intervals than were aimed at,
        /// where the budget ended the run; `null` where it did not.
        pub ended_early: Option<String>,
        /// The case that multiples refer to.
        pub baseline: Option<String>,
        /// CPUs used, the caller's first.
        pub cpus: Vec<u32>,
        /// The claimed relation of the two CPUs.
        pub relation: Option<Placement>,
        /// Whether the ends were pinned to these CPUs.
        pub pinning: Pinning,
        /// How a trial was shaped.
        pub trial: TrialShape,
        /// What the answer gives times in. All times of this document are nanoseconds.
        #[serde(default)]
        pub unit: TimeUnit,
        /// Bytes of the messages in the document that the suite measures after, where it says.
        #[serde(default)]
        pub document_payload_bytes: Option<u32>,
    }
}

document! {
    /// What an answer gives times in.
    #[derive(Copy, Eq, Default)]
    #[serde(rename_all = "kebab-case")]
    pub enum TimeUnit {
        /// Nanoseconds and their multiples.
        #[default]
        Ns,
        /// Ticks of the clock that stamps, as far as their rate is known.
        Ticks,
    }
}

document! {
    /// Whether ends were pinned.
    #[derive(Copy, Eq)]
    #[serde(rename_all = "kebab-case")]
    pub enum Pinning {
        /// Every end of every case.
        All,
        /// Not those of the cases whose placement is `free`.
        Some,
        /// None: every case was `free`, and the CPUs named are those of the sentinel.
        None,
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
    /// A yardstick over the run.
    pub struct YardstickLevel {
        /// What it does.
        pub class: YardstickClass,
        /// Canonical spelling of the case that its processes played.
        pub case: String,
        /// The CPUs of its ends, the caller's first.
        pub cpus: Vec<u32>,
        /// Its quiet level on this machine; `null` where none was known.
        pub reference_ns: Option<f64>,
        /// Id of the run that this level was learnt from, or `calibrate`.
        pub reference_from: Option<String>,
        /// What one operation took: median over the readings of the run.
        pub p50_ns: f64,
        /// The 5th percentile of the readings.
        pub p5_ns: f64,
        /// The 95th.
        pub p95_ns: f64,
        /// Readings.
        pub readings: u32,
        /// How much of the spread of the readings is the machine's and not their own error,
        /// 0 to 1; `null` with too few of them.
        pub reliability: Option<f64>,
    }
}

document! {
    /// Whether the trials of a class were divided by their yardstick, and what says so.
    pub struct Adjustment {
        /// The class.
        pub class: YardstickClass,
        /// What the ends of its cases are written in (`rust`, `python:rust`).
        pub runtime: String,
        /// Cases of the class in the run.
        pub cases: u32,
        /// Trials of these.
        pub trials: u32,
        /// What became of it.
        pub applied: Applied,
        /// Relative change of a value over that of the yardstick, the error of the readings
        /// taken out; `null` where the yardstick hardly varied.
        pub elasticity: Option<f64>,
        /// Lower end of its 95 % interval.
        pub elasticity_low: Option<f64>,
        /// Upper end.
        pub elasticity_high: Option<f64>,
        /// Share of the variance of the values between trials that dividing removes; negative
        /// where it would add to it.
        pub removed_share: Option<f64>,
    }
}

document! {
    /// What became of dividing by a yardstick.
    #[derive(Copy, Eq)]
    #[serde(rename_all = "kebab-case")]
    pub enum Applied {
        /// Values are at the reference speed.
        Divided,
        /// The machine was at its reference speed: values are as met, which is the same.
        NotNeeded,
        /// The class did not follow its yardstick: values are as met.
        Refused,
        /// The yardstick is more than three times off its reference, so that one of the two is
        /// wrong: values are as met.
        Far,
        /// No reference level is known: values are as met.
        NoReference,
        /// Other tasks had the CPU for a visible part of the trials: values are as met.
        Shared,
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
        /// Context switches (voluntary and involuntary, all threads of both ends) per operation:
        /// median over trials.
        pub switches_per_operation: Option<f64>,
        /// The percentile curve, pooled over trials; empty for batches.
        pub curve: Vec<CurvePoint>,
        /// Typical durations, if there are several.
        pub modes: Vec<Mode>,
        /// The host's states as the sentinel saw them, if there are several.
        pub states: Vec<HostStateShare>,
        /// How the scheduler placed the ends; empty where they are pinned, or where nobody
        /// knows.
        #[serde(default)]
        pub placed: Vec<PlacedShare>,
        /// One point a trial, in time order.
        pub trials: Vec<TrialPoint>,
        /// Follows from the findings; `null` if never measured.
        pub validity: Option<Validity>,
        /// Cost of one operation in ticks of the clock, where it was timed in batches.
        pub cost_ticks: Option<f64>,
        /// p50 of one operation in ticks of the clock, where each was timed by itself.
        #[serde(default)]
        pub p50_ticks: Option<f64>,
        /// Cost of one call in core cycles (`call` only).
        pub cost_cycles: Option<f64>,
        /// What is particular to a wake-up.
        pub wake: Option<WakeResult>,
        /// What is particular to a stream.
        pub stream: Option<StreamResult>,
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
    /// A case of which nothing has been found out yet.
    pub fn empty(id: &str, case: CaseParts, status: Status, command: String) -> Self {
        CaseResult {
            id: id.to_owned(),
            case,
            status,
            reason: None,
            stamp: None,
            n_trials: 0,
            n_failed: 0,
            operations: 0,
            samples: 0,
            estimates: None,
            ratio: None,
            cpu_ns_per_message: None,
            switches_per_operation: None,
            curve: Vec::new(),
            modes: Vec::new(),
            states: Vec::new(),
            placed: Vec::new(),
            trials: Vec::new(),
            validity: None,
            cost_ticks: None,
            p50_ticks: None,
            cost_cycles: None,
            wake: None,
            stream: None,
            touch: None,
            counters: Vec::new(),
            lost: 0,
            threads: Vec::new(),
            findings: Vec::new(),
            command,
            replay: None,
        }
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
        /// How.
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
        /// Sentinel around it: mean of before and after on the caller's CPU.
        pub sentinel_ns: Option<f64>,
        /// What it was divided by: how much slower than at its reference speed the machine
        /// was; `null` where values are as met.
        pub factor: Option<f64>,
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
        /// The measured cases of each place with at least two of them, best first.
        pub rankings: Vec<Ranking>,
    }
}

document! {
    /// The cases of a group at one place, best first, and which of them differ: all pairs
    /// are judged at once, paired by round, so that with 95 % no two equals are told apart.
    pub struct Ranking {
        /// On how many CPUs.
        pub place: Place,
        /// By which number.
        pub by: RankedBy,
        /// Best first.
        pub cases: Vec<RankedCase>,
    }
}

document! {
    /// What a ranking is by.
    #[derive(Copy, Eq)]
    #[serde(rename_all = "kebab-case")]
    pub enum RankedBy {
        /// The p50 or the cost: least first.
        Time,
        /// The throughput of all flows together: greatest first.
        Throughput,
    }
}

document! {
    /// A case in a ranking.
    pub struct RankedCase {
        /// Index into the group's rows.
        pub row: u32,
        /// Index into `results`.
        pub result: u32,
        /// How it stands to the cases before it; `null` where fewer than six rounds, or a
        /// value that is not above zero, cannot tell.
        pub step: Option<Step>,
        /// Multiple of the case that the ranking's multiples refer to, paired by round; its
        /// interval is of this pair alone.
        pub ratio: Option<Ratio>,
    }
}

document! {
    /// How a case stands to those before it in a ranking.
    #[derive(Copy, Eq)]
    #[serde(rename_all = "kebab-case")]
    pub enum Step {
        /// The first of all, or told apart from none of its group.
        Tied,
        /// The first of a group of which each is told apart from each of the group before.
        Apart,
        /// The first of a group that is told apart from some of the group before, not from all.
        Between,
    }
}

document! {
    /// On how many CPUs two ends run.
    #[derive(Copy, Eq)]
    #[serde(rename_all = "kebab-case")]
    pub enum Place {
        /// Both on one, or a call.
        One,
        /// Each on its own.
        Two,
        /// As the scheduler likes.
        Free,
    }
}

impl Place {
    /// All of them.
    pub const ALL: [Place; 3] = [Place::One, Place::Two, Place::Free];

    /// In words.
    pub const fn name(self) -> &'static str {
        match self {
            Place::One => "one CPU",
            Place::Two => "two CPUs",
            Place::Free => "not pinned",
        }
    }
}

impl LadderRow {
    /// Index into `results` of the case at this place.
    pub const fn at(&self, place: Place) -> Option<u32> {
        match place {
            Place::One => self.one_cpu,
            Place::Two => self.two_cpus,
            Place::Free => self.free,
        }
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

document! {
    /// What is particular to a wake-up. Its estimates are one-way times: the
    /// receiver's stamp minus the sender's, with the clocks' offset taken out.
    pub struct WakeResult {
        /// The gap asked for.
        pub gap_asked_ns: u64,
        /// Mean time from one notification to the next: median over trials. The gap
        /// really slept, with what the kernel's timer adds, is in it.
        pub gap_found_ns: Option<f64>,
        /// Largest error that the clocks' offset can put on every number of this
        /// case: the largest over its trials. 0 where both ends read one clock.
        pub clock_bound_ns: Option<f64>,
        /// Offset that was taken out (callee's clock minus caller's): median over trials.
        pub clock_offset_ns: Option<f64>,
        /// Largest change of the offset from before a trial to after it.
        pub clock_moved_ns: Option<f64>,
        /// Share of wake-ups that were deferred because the receiver was not yet
        /// waiting, 0 to 1.
        pub overrun_share: f64,
    }
}

document! {
    /// What is particular to a stream. Its estimates are of the message latency: from
    /// the sender's first call for a message to its acknowledgement, by the
    /// sender's clock; `null` without acknowledgements.
    pub struct StreamResult {
        /// What the path really is, in a few words (`MSG_ZEROCOPY (copied)`).
        pub label: String,
        /// Bytes of a message.
        pub message_bytes: u32,
        /// Bytes of one of its fields.
        pub field_bytes: u32,
        /// Fields of a message.
        pub fields: u32,
        /// Flows.
        pub flows: u32,
        /// Acknowledgement.
        pub ack: String,
        /// All flows together, from the first byte of any to the last byte of any, by
        /// the receivers' clock; gigabits (10⁹ bits) of message a second.
        pub aggregate_gbps: Option<Estimate>,
        /// A flow alone: median over the flows of a trial.
        pub per_flow_gbps: Option<Estimate>,
        /// Messages a second, all flows: median over trials.
        pub messages_per_s: Option<f64>,
        /// Share of the sends that were to be without a copy and were copied after
        /// all, 0 to 1; `null` where no send was to be.
        pub copied_share: Option<f64>,
        /// Mean number of messages in flight by Little's law (throughput × mean
        /// latency, a flow): median over trials.
        pub little_outstanding: Option<f64>,
        /// Messages that the acknowledgement lets be in flight, a flow.
        pub window: Option<u64>,
    }
}

document! {
    /// Two ways of sending the same stream, compared at every field size that has both, at one
    /// number of flows.
    pub struct Crossing {
        /// The one that may be overtaken, as the suite calls it.
        pub first: String,
        /// The one that may overtake it.
        pub second: String,
        /// Flows.
        pub flows: u32,
        /// The sizes, from small to large.
        pub points: Vec<CrossingPoint>,
        /// Bytes of a field from which on the second is faster at every size; `null` where it
        /// is not at the largest.
        pub from_field_bytes: Option<u32>,
    }
}

document! {
    /// The two ways at one size.
    pub struct CrossingPoint {
        /// Bytes of a field.
        pub field_bytes: u32,
        /// The case of the second way.
        pub case: String,
        /// Its median message as a multiple of that of the first (the baseline), paired by
        /// round. Below 1 the second is faster.
        pub ratio: Ratio,
        /// Which one is faster, if the interval of the multiple excludes 1.
        pub faster: Faster,
    }
}

document! {
    /// Which of two is faster.
    #[derive(Copy, Eq)]
    #[serde(rename_all = "kebab-case")]
    pub enum Faster {
        /// The first.
        First,
        /// The second.
        Second,
        /// They are not told apart.
        Neither,
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

document! {
    /// A cost split into a fixed and a per-byte part (Hockney): `fixed_ns` +
    /// `per_byte_ns` × bytes.
    pub struct CostModel {
        /// What was swept.
        pub label: String,
        /// The cases, by size.
        pub cases: Vec<String>,
        /// Cost at size 0.
        pub fixed_ns: Option<Estimate>,
        /// Cost of each further byte.
        pub per_byte_ns: Option<Estimate>,
        /// Greatest relative distance of a measured size from the line.
        pub residual_max: Option<f64>,
        /// Why no line is given.
        pub refused: Option<String>,
        /// Where no line is given: the cost at the smallest size as measured, which at
        /// size 0 is the fixed part.
        pub smallest_ns: Option<Estimate>,
        /// Where no line is given: what a byte costs on average between the smallest
        /// and the largest size.
        pub mean_per_byte_ns: Option<Estimate>,
    }
}

document! {
    /// How much of the variance of ln(wake-up time) each factor explains (type I,
    /// balanced cells; interactions are in `residual`).
    pub struct VarianceShares {
        /// Factor (`mechanism`, `gap`, `idle knob`, `placement`, `trial`; of medians also
        /// `mechanism × gap`) and share, 0 to 1.
        pub shares: BTreeMap<String, f64>,
        /// Share of what is left: from sample to sample; 0 of medians.
        pub residual: f64,
        /// Samples behind it; of medians, trials.
        pub samples: u64,
        /// What the shares are of, in a sentence.
        pub estimand: String,
    }
}

document! {
    /// A case with an idle knob against the same case without.
    pub struct KnobPrice {
        /// The case without.
        pub without: String,
        /// The case with.
        pub with: String,
        /// The knob.
        pub knob: IdleKnob,
        /// p50 without minus p50 with, paired by round: what idling costs.
        pub difference_ns: Estimate,
    }
}

document! {
    /// A plot: lines over one axis, or bars over named places.
    pub struct Plot {
        /// Name in file names (`wakeup-gap`, `throughput-size`).
        pub id: String,
        /// Title.
        pub title: String,
        /// What x is.
        pub x: PlotAxis,
        /// What y is.
        pub y: PlotAxis,
        /// One line each.
        pub series: Vec<PlotSeries>,
        /// Points from which on one way of sending is faster than another.
        pub crossings: Vec<PlotCrossing>,
        /// What is said under it: what was not counted, what a band is, who published.
        pub notes: Vec<String>,
    }
}

document! {
    /// An axis.
    pub struct PlotAxis {
        /// Label, without unit.
        pub label: String,
        /// Unit (`ns`, `B`, `Gbit/s`, empty for a count).
        pub unit: String,
        /// Whether it is logarithmic.
        pub logarithmic: bool,
        /// Names of the places 0, 1, 2 … of an axis that has names instead of values (bars);
        /// empty otherwise.
        pub names: Vec<String>,
    }
}

document! {
    /// A line of a plot.
    pub struct PlotSeries {
        /// Name.
        pub name: String,
        /// Points, by x.
        pub points: Vec<PlotPoint>,
        /// What others published of the same cases.
        pub published: Vec<PublishedPoint>,
    }
}

document! {
    /// A point from which on one way is faster than another.
    pub struct PlotCrossing {
        /// Where.
        pub x: f64,
        /// Value.
        pub y: f64,
        /// Which is faster than which.
        pub says: String,
    }
}

document! {
    /// A published number that has a place in a plot; both ends of a published range have.
    pub struct PublishedPoint {
        /// Where it was published.
        pub source: String,
        /// What its machine is called; empty where none is stated.
        pub machine: String,
        /// Where.
        pub x: f64,
        /// Value.
        pub y: f64,
    }
}

document! {
    /// A point with a band.
    #[derive(Copy)]
    pub struct PlotPoint {
        /// Where.
        pub x: f64,
        /// Value.
        pub y: f64,
        /// Lower edge of the band.
        pub low: Option<f64>,
        /// Upper edge of the band.
        pub high: Option<f64>,
        /// Share of the messages that waited for a delayed acknowledgement (`NAGLE_DELACK`),
        /// where the case has that finding.
        pub stalled: Option<f64>,
    }
}
