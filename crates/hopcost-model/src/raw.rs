//! What a run file holds, before any statistic.

use std::sync::LazyLock;

use crate::case::Role;
use crate::describe::Description;
use crate::host::Host;
use crate::plan::Plan;
use crate::protocol::{ClockReading, EndCounters, EventReading, GateReading, Stamp};
use crate::trace::Trace;

document! {
    /// A whole run as stored.
    #[derive(Default)]
    pub struct RawRun {
        /// Who made it, when and how.
        pub about: RunAbout,
        /// The resolved plan.
        pub plan: Plan,
        /// The host before the first trial.
        pub host_before: Host,
        /// The host after the last; absent if the run was cut off.
        pub host_after: Option<Host>,
        /// The clock of each used CPU, of each runtime.
        pub clocks: Vec<ClockReading>,
        /// The clock of each used CPU after the last trial; empty if the run was cut off.
        pub clocks_after: Vec<ClockReading>,
        /// The yardsticks that ran beside the trials.
        pub yardsticks: Vec<Yardstick>,
        /// The workers that took part, as they described themselves; of the one inside the
        /// binary, only the mechanisms of the plan.
        pub workers: Vec<Description>,
        /// Every finished trial, in time order. A run file has them in rows of their own.
        #[serde(skip)]
        pub trials: Vec<RawTrial>,
        /// Ticks of CPU accounting at the start and end of each round.
        pub accounting: Vec<CpuAccounting>,
    }

    /// Who made a run, when and how.
    #[derive(Default)]
    pub struct RunAbout {
        /// Unique id (sortable by time).
        pub id: String,
        /// hopcost version.
        pub version: String,
        /// Source revision, or `unknown`.
        pub commit: String,
        /// Build: profile, compiler, target, and why it is slow if it is.
        pub build: Build,
        /// The command line.
        pub argv: Vec<String>,
        /// Start, RFC 3339 in UTC.
        pub started: String,
        /// End, RFC 3339 in UTC; absent if the run was cut off.
        pub ended: Option<String>,
        /// How often it was resumed.
        pub resumed: u32,
    }

    /// How the binary was built.
    #[derive(Eq, Default)]
    pub struct Build {
        /// Cargo profile (`release`, `debug`).
        pub profile: String,
        /// Compiler version.
        pub compiler: String,
        /// Target triple.
        pub target: String,
        /// Why it is slower than it should be; empty if it is not.
        pub slow: Vec<String>,
        /// A checksum of the program file, which tells two builds of one commit apart.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub checksum: Option<String>,
    }

    /// One finished trial.
    #[derive(Default)]
    #[serde(default)]
    pub struct RawTrial {
        /// Index of its case in the plan.
        pub case: u32,
        /// Round, from 0.
        pub round: u32,
        /// Position within the round, from 0.
        pub position: u32,
        /// Nanoseconds from the start of the run (of its own sitting, if resumed) to the start of the trial.
        pub started_ns: u64,
        /// Nanoseconds of the whole trial, spawning to reaping.
        pub took_ns: u64,
        /// Of which: pilot, warm-up and measuring.
        pub phases_ns: u64,
        /// Why it failed; absent if it was measured.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub error: Option<String>,
        /// How its operations were stamped; absent if it failed before.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub stamp: Option<Stamp>,
        /// Wall time of the measured phase (the caller's worker); of a `stream`, from the first byte
        /// of any flow to the last byte of any (the receivers).
        pub wall_ns: u64,
        /// CPU time of all workers' processes over the measured phase.
        pub cpu_ns: u64,
        /// What the ends counted over the measured phase, caller first.
        pub ends: Vec<EndCounters>,
        /// CPU each end was to be pinned to, caller first; absent where free.
        pub cpus_asked: Vec<Option<u32>>,
        /// Why an end could not be pinned.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        pub pin_errors: Vec<String>,
        /// Operations measured, exactly (samples × batch).
        pub operations: u64,
        /// Samples taken, exactly.
        pub samples_taken: u64,
        /// The longest sample in ticks, exactly.
        pub samples_max_ticks: u64,
        /// The samples kept, in time order (of a stream, flow after flow), in clock
        /// ticks. Of a `wake`: receiver's stamp minus sender's minus the offset of
        /// `gates[0]`.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        pub samples: Vec<u64>,
        /// The ends' clocks compared before and after the measurement (`wake` only).
        #[serde(skip_serializing_if = "Vec::is_empty")]
        pub gates: Vec<GateReading>,
        /// One-way samples that came out negative, by no more than the bound, and are
        /// stored as 0.
        pub negative_samples: u64,
        /// What the kernel counted in the phase that follows the measurement, both
        /// ends together, over `counted_operations`.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        pub counted: Vec<EventReading>,
        /// Operations of that phase.
        pub counted_operations: u64,
        /// What each thread of the workers' processes did over the measured phase, as
        /// seen from outside; empty where every end is in Rust and but one thread.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        pub threads: Vec<ThreadUse>,
        /// Whether an end on this host was stopped (SIGSTOP) in the measured phase and went on.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        pub stopped: bool,
        /// The parts of a warm-up that goes on until nothing changes, in time order:
        /// mean time of one operation in nanoseconds.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        pub warm_up_ns: Vec<f64>,
        /// What its yardsticks took right before and right after the measurement.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        pub yardsticks: Vec<YardstickReading>,
        /// Wall time between the two looks at what the kernel counts: before the first reading
        /// of the yardstick and after the last; 0 where nobody looked.
        pub watched_ns: u64,
        /// What it counted of the CPUs in that time.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        pub cpu_uses: Vec<CpuUse>,
        /// What it counted of the control groups; absent where they count nothing.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub throttling: Option<Throttling>,
        /// What is particular to a `load`, whose samples are responses.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub load: Option<RawLoad>,
        /// The kernel's events in the last phase of all, where they were asked for.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub trace: Option<Trace>,
    }

    /// What a trial of a `load` left beside its responses (received minus intended).
    #[derive(Eq, Default)]
    #[serde(default)]
    pub struct RawLoad {
        /// Messages that the schedule has.
        pub offered: u64,
        /// Those that came.
        pub delivered: u64,
        /// Ticks from the first intended time to the last.
        pub intended_ticks: u64,
        /// Ticks from the first intended time to the begin of the last send.
        pub sent_ticks: u64,
        /// Ticks from the first intended time to the last receipt.
        pub received_ticks: u64,
        /// 99th percentile of how late the generator was without a channel.
        pub generator_lag_p99_ticks: u64,
        /// Of each sample kept: the begin of its send minus its intended time.
        pub lags: Vec<u64>,
        /// Of each sample kept: its intended time minus that of the sample before it.
        pub gaps: Vec<u64>,
        /// Of each sample kept: how much of its lag is the sender's own and not the mechanism's;
        /// absent if the sender did not report it.
        pub own_lags: Option<Vec<u64>>,
    }

    /// What the kernel counted of a CPU between two looks, whoever caused it.
    #[derive(Copy, Eq, Default)]
    #[serde(default)]
    pub struct CpuUse {
        /// The CPU.
        pub cpu: u32,
        /// Time idle (/proc/stat, in steps of 10 ms).
        pub idle_ns: Option<u64>,
        /// Steal (likewise).
        pub steal_ns: Option<u64>,
        /// Time in interrupts and softirqs (likewise).
        pub interrupt_ns: Option<u64>,
        /// Softirqs that take packets in (NET_RX of /proc/softirqs).
        pub network_softirqs: Option<u64>,
    }

    /// Time in which a control group had used up its quota (cpu.stat).
    #[derive(Copy, Eq)]
    pub struct Throttling {
        /// How often.
        pub times: u64,
        /// How long in all.
        pub ns: u64,
    }

    /// A reference workload: its processes live as long as the run and sleep between readings.
    pub struct Yardstick {
        /// What it does.
        pub class: YardstickClass,
        /// Canonical spelling of the case that its processes play.
        pub case: String,
        /// The CPUs of its ends, the caller's first.
        pub cpus: Vec<u32>,
        /// Operations of one reading.
        pub operations: u64,
        /// Its speed on the quiet machine, where earlier runs had taught it.
        pub reference: Option<Reference>,
        /// Why there are no readings of it from some trial on, or none at all.
        pub gone: Option<String>,
    }

    /// What an operation of a yardstick takes on the quiet machine.
    #[derive(Default)]
    #[serde(default)]
    pub struct Reference {
        /// Time of one operation: median over undisturbed trials.
        pub operation_ns: f64,
        /// Standard error of its logarithm.
        pub log_error: f64,
        /// Undisturbed trials of all runs so far.
        pub trials: u64,
        /// Runs that had such trials.
        pub runs: u64,
        /// Id of the run that taught it, the fastest.
        pub learnt_from: String,
        /// When that began, RFC 3339 in UTC.
        pub learnt_on: String,
        /// Of a yardstick across two CPUs: what a cache line took between them and back, where
        /// that run measured it.
        pub distance_ns: Option<f64>,
    }

    /// What one operation of a yardstick took beside a trial.
    #[derive(Copy)]
    pub struct YardstickReading {
        /// Its index in [`RawRun::yardsticks`].
        pub yardstick: u32,
        /// When it was taken.
        pub moment: Moment,
        /// Lower quartile over the reading's batches but the first, nanoseconds an operation.
        pub operation_ns: f64,
    }

    /// What a thread did over a phase, read from /proc just before it and just after.
    /// The command and the reply are in it.
    pub struct ThreadUse {
        /// Whose process it belongs to. Where both ends are in one: the end that plays it or
        /// started it where that is known, or else the caller.
        pub process: Role,
        /// The end that it plays; absent for every other thread of the process.
        pub seat: Option<Role>,
        /// The process that is neither end's, such as a broker, by its name.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub other: Option<String>,
        /// Its name (/proc/PID/task/TID/comm).
        pub name: String,
        /// CPU time.
        pub cpu_ns: u64,
        /// Voluntary context switches.
        pub voluntary: u64,
        /// Involuntary context switches.
        pub involuntary: u64,
    }

    /// Time accounting of one used CPU over one round (/proc/stat).
    #[derive(Copy)]
    pub struct CpuAccounting {
        /// The round.
        pub round: u32,
        /// The CPU.
        pub cpu: u32,
        /// Wall time of the round.
        pub wall_ns: u64,
        /// Steal over the round, nanoseconds (as coarse as the kernel's tick).
        pub steal_ns: u64,
    }
}

impl RawRun {
    /// What was said of Rust's mechanisms when the run was made.
    pub fn rust(&self) -> Option<&Description> {
        self.workers.iter().find(|worker| worker.is_rust())
    }
    /// The clock that stamped a trial: that of the caller's runtime on the caller's CPU, as asked or
    /// else where it ended, or its first.
    pub fn clock(&self, trial: &RawTrial) -> Option<&ClockReading> {
        let case = self.plan.case(trial.case)?;
        if case.has_virtual_clock() {
            return Some(&VIRTUAL);
        }
        let asked = trial.cpus_asked.first().copied().flatten();
        let cpu = asked.or_else(|| trial.ends.first().map(|end| end.cpu_after));
        ClockReading::find(&self.clocks, &case.runtimes.caller, cpu).ok()
    }
    /// Ticks in a second of that clock.
    pub fn ticks_per_second(&self, trial: &RawTrial) -> Option<f64> {
        Some(self.clock(trial)?.ticks_per_second).filter(|rate| *rate > 0.0)
    }
    /// What a tick of it takes.
    pub fn tick_ns(&self, trial: &RawTrial) -> Option<f64> {
        Some(1e9 / self.clock(trial)?.ticks_per_second)
    }
}

/// The clock of test engines with virtual time: exact, and free.
static VIRTUAL: LazyLock<ClockReading> =
    LazyLock::new(|| ClockReading::of_rate("rust", "virtual", 1e9));

words! {
    /// What a yardstick does: the kind of work that a case's own cost is made of.
    #[derive(Default)]
    YardstickClass, "class" {
        /// Computes: a chain of multiplications, each of which needs the one before.
        #[default]
        Alu = "alu",
        /// Enters the kernel and returns: getppid(2).
        Syscall = "syscall",
        /// Sleeps and is woken on one CPU: a round trip through a pipe there.
        Switch = "switch",
        /// Sleeps and is woken across two CPUs: a round trip through a pipe between them.
        Wake = "wake",
        /// Moves a cache line between two CPUs: both ends spin on it.
        Line = "line",
    }

    /// When a reading was taken.
    Moment, "moment" {
        /// Right before the warm-up.
        Before = "before",
        /// Right after the measurement.
        After = "after",
    }
}
