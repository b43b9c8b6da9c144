//! The worker protocol (workers/PROTOCOL.md): JSON lines on stdin and stdout,
//! samples as little-endian u64 clock ticks on an inherited descriptor.

use std::collections::BTreeMap;

use crate::case::{Boundary, Case, Role, Runtime, WaitKind, Workload};
use crate::host::Host;

/// Spoken version; a worker that answers another one is refused.
pub const VERSION: u32 = 3;

/// The longest line either side accepts, in bytes.
pub const LINE_MAX: usize = 256 * 1024;

document! {
    /// How operations are stamped.
    #[derive(Copy, Eq, Hash)]
    #[serde(tag = "kind")]
    pub enum Stamp {
        /// One stamp an operation, the end of one being the start of the next.
        Each,
        /// One pair of fenced stamps around `n` operations.
        Batch {
            /// Operations between two stamps.
            n: u64,
        },
        /// Batches of `n` and `2n` operations in turn; their difference over `n`
        /// is the cost of one, free of the stamps' own cost.
        TwoLengths {
            /// Operations in the shorter batch.
            n: u64,
        },
    }

    /// A part of a trial; only `measure` leaves samples.
    #[derive(Copy, Eq)]
    pub enum Phase {
        /// Finds out how long an operation takes. Of a `load`: its caller goes through the
        /// schedule without sending, and leaves the stamps as samples.
        Pilot,
        /// Brings caches, branch predictors and the scheduler to a steady state.
        WarmUp,
        /// Leaves samples.
        Measure,
        /// Follows the measurement, leaves no samples: the kernel's counting of
        /// system calls, which slows them down, is on in this phase alone.
        Count,
    }

    /// Control → worker.
    #[serde(tag = "do")]
    pub enum Command {
        /// What are you and what can you do?
        Describe,
        /// Take your end of the link.
        Attach(Box<Attach>),
        /// Finish the link of the ends that offered an address: take the one who
        /// connects, see that it knows the token.
        Meet,
        /// Calibrate the clock on this CPU.
        Clock {
            /// The CPU to do it on.
            cpu: u32,
        },
        /// Time a cache line between every two of these CPUs (Rust's worker alone).
        Distances {
            /// The CPUs.
            cpus: Vec<u32>,
        },
        /// Compare the clocks of the two ends of a `wake` or a `load`; both ends are told at
        /// the same time.
        Gate {
            /// Two-way exchanges.
            exchanges: u64,
            /// Steps of the causality test.
            steps: u64,
        },
        /// Spin on this CPU at SCHED_IDLE until killed; the reply comes before.
        IdleSpin {
            /// The CPU.
            cpu: u32,
            /// Give up and die after this long.
            deadline_ms: u64,
            /// Die if this is not the parent process (any more).
            parent: Option<u32>,
        },
        /// Run `count` operations.
        Run(PhaseSpec),
        /// Be the far host of a run. Each trial from here on is played by a fresh worker there, and
        /// `stop` ends that worker alone.
        Host {
            /// The CPU of the far end; the far host chooses if absent.
            cpu: Option<u32>,
            /// Where the near end connects, if that is not for the far host to say.
            address: Option<String>,
            /// Which network namespace of which kernel the near end is in: in the same one, the
            /// links are those of loopback.
            network: Option<String>,
        },
        /// Leave.
        Stop,
    }

    /// What a worker is to play.
    pub struct Attach {
        /// The case's canonical spelling.
        pub case: String,
        /// The same for workers of other runtimes, as far as they look at it.
        #[serde(default, flatten, skip_serializing_if = "Option::is_none")]
        pub part: Option<Box<Part>>,
        /// The ends this worker plays: one, or both (callers first) where they
        /// are threads of one process or one thread; a stream has as many of
        /// each as flows, a load as many callers as senders. The first seat is the worker's main thread.
        pub seats: Vec<Seat>,
        /// Inherited descriptor that takes the samples of the seats that stamp
        /// (callers; in a `wake` and a `load` callees too), one seat after the other.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub samples_fd: Option<i32>,
        /// Inherited descriptor of 4096 bytes of memory a caller that both ends of a
        /// `wake` or a `load` map, to compare their clocks and to take turns; a worker that
        /// plays both ends makes its own.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub meeting_fd: Option<i32>,
        /// Give up and die after this long, from now.
        pub deadline_ms: u64,
        /// Die if this is not the parent process (any more).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub parent: Option<u32>,
        /// Directory for names, if this worker opens the link itself.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub scratch: Option<String>,
        /// What names in /dev/shm begin with: hopcost removes those of the trial.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub prefix: Option<String>,
        /// The message that is to be sent with one byte changed, so that the other end fails.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub spoil: Option<u64>,
        /// The trial's number among those of its case, for engines whose trials differ.
        #[serde(default)]
        pub trial: u32,
        /// What the times at which a `load` sends follow from.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub schedule: Option<ScheduleSeed>,
        /// Inherited descriptor in which the sender of a `load` of another runtime finds, before
        /// each phase, when to send each message: nanoseconds from the phase's beginning.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub schedule_fd: Option<i32>,
    }

    /// What a phase is to be.
    #[derive(Copy)]
    pub struct PhaseSpec {
        /// Which part of the trial.
        pub phase: Phase,
        /// Operations; in batches, a multiple of the batch (of `3n` for two lengths).
        pub count: u64,
        /// How to stamp.
        pub stamp: Stamp,
        /// A stream ends at `count` messages or after this long, whichever is
        /// first; absent for other workloads.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub cap_ns: Option<u64>,
    }

    /// A far host, as the hopcost there sees it.
    pub struct FarHost {
        /// Source revision of its hopcost.
        pub commit: String,
        /// A checksum of its binary.
        pub checksum: Option<String>,
        /// CPUs that its ends may use.
        pub cpus: Vec<u32>,
        /// The CPU of its end.
        pub cpu: u32,
        /// The clock of that CPU.
        pub clock: ClockReading,
        /// Where the near end reaches it.
        pub address: String,
        /// What was read of it.
        pub host: Host,
    }

    /// What the times at which a `load` sends follow from, beside its case.
    #[derive(Copy)]
    pub struct ScheduleSeed {
        /// Of what is left to chance.
        pub seed: u64,
        /// Of the caller's clock.
        pub ticks_per_second: f64,
    }

    /// What a worker of another runtime plays.
    pub struct Part {
        /// What is done.
        pub workload: Workload,
        /// The mechanism.
        pub mechanism: String,
        /// Bytes of a message; 0 where the mechanism carries none.
        pub payload: u32,
        /// What separates the ends.
        pub boundary: Boundary,
        /// How each end waits; empty for a `call`.
        pub waits: BTreeMap<Role, WaitKind>,
        /// Every parameter that the mechanism declares.
        pub parameters: BTreeMap<String, String>,
    }

    /// One end to play.
    pub struct Seat {
        /// Which end.
        pub role: Role,
        /// Which flow of a stream, or which sender of a load, from 0.
        #[serde(default, skip_serializing_if = "is_zero")]
        pub flow: u32,
        /// CPU to pin to; absent where the placement is `free`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub cpu: Option<u32>,
        /// This end's half of the link; absent where the worker opens it itself.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub link: Option<LinkHalf>,
    }

    /// What an end needs to reach the other: inherited descriptors and names.
    #[derive(Default)]
    pub struct LinkHalf {
        /// Descriptor numbers, in the order that the mechanism documents.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub fds: Vec<i32>,
        /// Names (System V identifiers and the like).
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub names: Vec<String>,
        /// Bind an address and say it in `attached`; `meet` follows.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub offer: Option<Offer>,
        /// Connect to this address, and send the token first.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub connect: Option<Connect>,
    }

    /// A link of which this end is to bind the address.
    pub struct Offer {
        /// The mechanism of hopcost whose kind of socket it is (`tcp`, `unix-stream`, `udp`).
        pub carrier: String,
        /// Directory for a socket's name.
        pub directory: String,
        /// What the one who connects sends first: its ASCII bytes, on a stream ahead of
        /// everything else, of datagrams the first.
        pub token: String,
    }

    /// A link whose address another end has bound.
    pub struct Connect {
        /// The mechanism of hopcost whose kind of socket it is.
        pub carrier: String,
        /// `127.0.0.1:PORT`, or the path of a socket.
        pub address: String,
        /// What to send first.
        pub token: String,
    }

    /// Worker → control; one reply a command.
    #[serde(tag = "is")]
    pub enum Reply {
        /// To `describe`: a [`crate::describe::Description`], without the facts that stand elsewhere.
        Described(serde_json::Value),
        /// To `attach`.
        Attached {
            /// Process id.
            pid: u32,
            /// What became of each seat, in the order asked.
            seats: Vec<Attached>,
        },
        /// To `meet`; a far host answers `attached` again, by the worker that plays the ends.
        Met,
        /// To `clock`. A worker of another runtime says what its stamps cost.
        Clock(ClockReading),
        /// To `distances`: what a cache line takes from one CPU to another and back.
        Distances {
            /// Two CPUs, the one that was named first before the other, and nanoseconds.
            line_ns: Vec<(u32, u32, u32)>,
        },
        /// To `gate`: what the caller's end found; the callee's worker sends an
        /// empty one.
        Gate {
            /// The comparison.
            reading: Option<GateReading>,
        },
        /// To `idle-spin`, just before it begins.
        Spinning,
        /// To `run`.
        Ran {
            /// CPU time of the whole process over the phase, hidden threads included
            /// (the Rust worker only: of others it is read from outside).
            #[serde(default)]
            process_cpu_ns: u64,
            /// Wall time of the phase (likewise).
            #[serde(default)]
            wall_ns: u64,
            /// What each seat saw, in the order of attaching.
            ends: Vec<EndCounters>,
        },
        /// To `host`.
        Host(Box<FarHost>),
        /// To `stop`.
        Stopped,
        /// Instead of any other reply: the trial is over.
        Failed {
            /// One line.
            reason: String,
            /// What it comes from, if not from this worker.
            cause: Option<FailureCause>,
        },
    }

    /// What a worker's failure comes from.
    #[derive(Copy, Eq)]
    pub enum FailureCause {
        /// The other end of its link is gone, about which the other worker knows more.
        PartnerGone,
    }

    /// What became of a seat.
    #[derive(Default)]
    #[serde(default)]
    pub struct Attached {
        /// Which end.
        pub role: Role,
        /// Thread id; 0 where the end is no thread of its own (a goroutine).
        pub tid: u32,
        /// Its process, where that is not the worker's (a process of the worker's own).
        pub pid: Option<u32>,
        /// The CPU it is on (the Rust worker only: others are pinned from outside).
        pub cpu: u32,
        /// The address that this end has bound, if it was to offer one.
        pub offers: Option<String>,
        /// Why it could not be pinned where asked.
        pub pin_error: Option<String>,
        /// Ids of the threads that its mechanism has started for this end, such as a library's
        /// I/O thread (the Rust worker only).
        pub helpers: Vec<u32>,
    }

    /// A CPU's clock, calibrated.
    #[derive(Default)]
    #[serde(default)]
    pub struct ClockReading {
        /// The CPU.
        pub cpu: u32,
        /// The runtime whose stamps these are.
        #[serde(default = "rust")]
        pub runtime: String,
        /// What the ticks are (`tsc`, `cntvct`, `virtual`, `CLOCK_MONOTONIC`).
        pub source: String,
        /// Ticks in a second, against CLOCK_MONOTONIC_RAW.
        pub ticks_per_second: f64,
        /// Largest disagreement between the calibration's parts, parts per million.
        pub rate_spread_ppm: f64,
        /// Smallest non-zero difference seen between two readings.
        pub resolution_ticks: u64,
        /// Cost of a stamp: least.
        pub stamp_min_ns: f64,
        /// Cost of a stamp: median.
        pub stamp_p50_ns: f64,
        /// Cost of a stamp: 99th percentile.
        pub stamp_p99_ns: f64,
        /// Cost of `clock_gettime(CLOCK_MONOTONIC)`: median.
        pub clock_gettime_p50_ns: f64,
    }

    /// Two ends' clocks compared (docs/method/clocks.md, one-way times).
    #[derive(Copy, Default)]
    pub struct GateReading {
        /// The callee's clock minus the caller's, at the exchange with the shortest
        /// round trip.
        pub offset_ticks: i64,
        /// Half of that round trip: the offset is known to this, either way. 0 where
        /// both ends are on one CPU and so read one clock.
        pub bound_ticks: u64,
        /// Exchanges done.
        pub exchanges: u64,
        /// Steps of the causality test done.
        pub steps: u64,
        /// Steps that went backwards in time by more than the bound, after the
        /// offset was taken out.
        pub backward_steps: u64,
    }

    /// What the kernel counted for one event (perf_event_open(2)).
    #[derive(Default)]
    #[serde(default)]
    pub struct EventReading {
        /// The event (`cycles`, `context-switches`, `system-calls`).
        pub event: String,
        /// As counted; absent if it could not be.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub value: Option<u64>,
        /// Time for which it was to be counted.
        pub enabled_ns: u64,
        /// Time for which it was counted; less where events took turns.
        pub running_ns: u64,
        /// Why it could not be counted.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub unavailable: Option<String>,
    }

    /// What became of sends that were to be without a copy.
    #[derive(Copy, Default, Eq)]
    pub struct ZeroCopySends {
        /// Sends whose completion was read.
        pub completed: u64,
        /// Of which the kernel says that it copied after all.
        pub copied: u64,
    }

    /// What the kernel says of an end's TCP connections after a phase (TCP_INFO, tcp(7)).
    #[derive(Default)]
    pub struct TcpReading {
        /// Congestion control in force.
        pub congestion: String,
        /// Path MTU.
        pub path_mtu_bytes: u32,
        /// Bytes of messages in a segment at most (MSS).
        pub segment_bytes: u32,
        /// Send buffer as the kernel counts it, its own overhead included (SO_SNDBUF).
        pub sndbuf_bytes: u32,
        /// Receive buffer, likewise (SO_RCVBUF).
        pub rcvbuf_bytes: u32,
        /// Segments with bytes of messages that this end sent in the phase, all connections
        /// together; those sent again count again.
        pub segments: u64,
        /// Segments that it sent again in the phase.
        pub retransmitted: u64,
    }

    /// What one end counted over a phase. A worker of another runtime says `role`,
    /// `count`, `samples`, `max_ticks` and `elapsed_ticks`; what the kernel counts of
    /// its threads is read from outside.
    #[derive(Default)]
    #[serde(default)]
    pub struct EndCounters {
        /// Which end.
        pub role: Role,
        /// Which flow of a stream or which sender of a load, from 0.
        pub flow: u32,
        /// Operations done.
        pub count: u64,
        /// Samples written (0 unless this end stamped and the phase was `measure`).
        pub samples: u64,
        /// The longest sample; of the sender of a `wake` and the receiver of a `stream`, the
        /// longest time between two stamps.
        pub max_ticks: u64,
        /// Ticks from the first stamp to the last.
        pub elapsed_ticks: u64,
        /// CPU time of this end's thread.
        pub thread_cpu_ns: u64,
        /// Voluntary context switches of this end's thread.
        pub voluntary: u64,
        /// Involuntary context switches of this end's thread.
        pub involuntary: u64,
        /// Minor page faults of this end's thread and of its helpers.
        pub minor_faults: u64,
        /// Major page faults of this end's thread and of its helpers.
        pub major_faults: u64,
        /// Time runnable but not running (/proc/thread-self/schedstat); absent
        /// where the kernel does not say.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub run_delay_ns: Option<u64>,
        /// CPU at the start.
        pub cpu_before: u32,
        /// CPU at the end.
        pub cpu_after: u32,
        /// Stamps whose CPU differed from the one before.
        pub cpu_changes: u64,
        /// Whether the thread's affinity mask was still as set, after the phase.
        pub pinned: bool,
        /// Its clock when its first operation began (a stream's receiver: when the
        /// message before the first was complete); 0 where not stamped.
        pub first_tick: u64,
        /// Bytes of message sent (caller) or received and verified (callee).
        pub bytes: u64,
        /// Exchanges that lost a message or timed out; none of them is a sample.
        pub lost: u64,
        /// Wake-ups deferred because the receiver had not yet received the one before; of a
        /// `load`, at the sender messages whose time had passed before it looked, at the receiver
        /// those that it dropped as too old.
        pub overruns: u64,
        /// Sends that were to be without a copy; absent where there are none.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub zero_copy: Option<ZeroCopySends>,
        /// Its TCP connections (the Rust worker only); absent where it has none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub tcp: Option<TcpReading>,
        /// What the kernel counted for this end's thread and its helpers over the phase.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        pub events: Vec<EventReading>,
    }
}

impl std::fmt::Display for Stamp {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Stamp::Each => f.write_str("each"),
            Stamp::Batch { n } => write!(f, "batch({n})"),
            Stamp::TwoLengths { n } => write!(f, "batch({n},{})", 2 * n),
        }
    }
}

fn rust() -> String {
    crate::case::Runtime::RUST.word().to_owned()
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// What the events are called that count, on a machine of several NUMA nodes, the pages of the
/// memory which both ends share; the node's number follows.
pub const SHARED_PAGES: &str = "shared-pages-node";

impl ClockReading {
    /// The clock of a runtime on a CPU, or its first one where an end is not pinned.
    pub fn find<'a>(
        clocks: &'a [Self],
        runtime: &Runtime,
        cpu: Option<u32>,
    ) -> Result<&'a Self, String> {
        let mut own = clocks.iter().filter(|clock| clock.runtime == runtime.word());
        let first = own.clone().next();
        let found = own.find(|clock| Some(clock.cpu) == cpu).or(first);
        found.ok_or_else(|| format!("no clock of {runtime} was calibrated"))
    }

    /// A clock of which only the rate is known: what its stamps cost is 0.
    pub fn of_rate(runtime: &str, source: &str, ticks_per_second: f64) -> Self {
        ClockReading {
            runtime: runtime.to_owned(),
            source: source.to_owned(),
            ticks_per_second,
            resolution_ticks: 1,
            ..Self::default()
        }
    }
    /// Whether it is known what a stamp costs: a worker of another runtime need not say.
    pub fn knows_its_cost(&self) -> bool {
        self.stamp_p50_ns > 0.0 || self.source == "virtual"
    }
}

impl GateReading {
    /// What is known of the callee's clock and those of two callers: the offset of either lies
    /// within the bound.
    pub fn joined(self, other: Self) -> Self {
        let ends = [self, other].map(|one| {
            let bound = i64::try_from(one.bound_ticks).unwrap_or(i64::MAX);
            (one.offset_ticks.saturating_sub(bound), one.offset_ticks.saturating_add(bound))
        });
        let (low, high) = (ends[0].0.min(ends[1].0), ends[0].1.max(ends[1].1));
        let bound_ticks = high.abs_diff(low).div_ceil(2);
        Self {
            offset_ticks: low.saturating_add_unsigned(bound_ticks),
            bound_ticks,
            exchanges: self.exchanges.min(other.exchanges),
            steps: self.steps.saturating_add(other.steps),
            backward_steps: self.backward_steps.saturating_add(other.backward_steps),
        }
    }
}

impl EventReading {
    /// What was read at once and not counted over a time.
    pub fn read_at_once(event: String, value: u64) -> Self {
        Self { event, value: Some(value), enabled_ns: 0, running_ns: 0, unavailable: None }
    }
    /// The readings of several threads or ends added up by event: a number that one of them
    /// lacks is lacking.
    pub fn totals(readings: impl IntoIterator<Item = Self>) -> Vec<Self> {
        let mut all: Vec<EventReading> = Vec::new();
        for reading in readings {
            match all.iter_mut().find(|sum| sum.event == reading.event) {
                None => all.push(reading),
                Some(sum) => {
                    sum.value = sum.value.zip(reading.value).map(|(a, b)| a.saturating_add(b));
                    sum.enabled_ns = sum.enabled_ns.saturating_add(reading.enabled_ns);
                    sum.running_ns = sum.running_ns.saturating_add(reading.running_ns);
                    sum.unavailable = sum.unavailable.take().or(reading.unavailable);
                }
            }
        }
        all
    }

    /// What was counted beyond earlier readings of the same events.
    pub fn differences(all: Vec<Self>, before: &[Self]) -> Vec<Self> {
        let differ = |mut reading: EventReading| {
            let before = before.iter().find(|before| before.event == reading.event);
            reading.value = reading
                .value
                .zip(before.and_then(|before| before.value))
                .map(|(all, before)| all.saturating_sub(before));
            let lacks = || before.and_then(|before| before.unavailable.clone());
            reading.unavailable = reading.unavailable.or_else(lacks);
            reading
        };
        all.into_iter().map(differ).collect()
    }
}

impl Part {
    /// That of a case, which names the mechanism that the worker plays.
    pub fn of(case: &Case) -> Self {
        let wait = |role| case.waits.is_some().then(|| (role, case.wait(role)));
        Self {
            workload: case.workload,
            mechanism: case.mechanism.clone(),
            payload: case.payload_bytes.unwrap_or(0),
            boundary: case.boundary,
            waits: [Role::Caller, Role::Callee].into_iter().filter_map(wait).collect(),
            parameters: case.parameters.clone(),
        }
    }
}

impl EndCounters {
    /// An end of which nothing has been counted yet.
    pub fn empty(role: Role) -> Self {
        EndCounters { role, pinned: true, ..Self::default() }
    }
}
