//! The worker protocol (workers/PROTOCOL.md): JSON lines on stdin and stdout,
//! samples as little-endian u64 clock ticks on an inherited descriptor.

use crate::case::Role;
use crate::document;

/// Spoken version; a worker that answers another one is refused.
pub const VERSION: u32 = 1;

/// The longest line either side accepts, in bytes.
pub const LINE_MAX: usize = 64 * 1024;

document! {
    /// How operations are stamped.
    #[derive(Copy, Eq, Hash)]
    #[serde(rename_all = "kebab-case", tag = "kind")]
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

document! {
    /// A part of a trial; only `measure` leaves samples.
    #[derive(Copy, Eq)]
    #[serde(rename_all = "kebab-case")]
    pub enum Phase {
        /// Finds out how long an operation takes.
        Pilot,
        /// Brings caches, branch predictors and the scheduler to a steady state.
        WarmUp,
        /// Leaves samples.
        Measure,
    }
}

document! {
    /// Control → worker.
    #[serde(rename_all = "kebab-case", tag = "do")]
    pub enum Command {
        /// What are you and what can you do?
        Describe,
        /// Take your end of the link.
        Attach {
            /// The case's canonical spelling.
            case: String,
            /// The ends this worker plays: one, or both (caller first) where they
            /// are threads of one process or one thread.
            seats: Vec<Seat>,
            /// Inherited descriptor that takes the samples; the caller's worker has one.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            samples_fd: Option<i32>,
            /// Give up and die after this long, from now.
            deadline_ms: u64,
            /// Die if this is not the parent process (any more).
            #[serde(default, skip_serializing_if = "Option::is_none")]
            parent: Option<u32>,
            /// Directory for names, if this worker opens the link itself.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            scratch: Option<String>,
            /// The trial's number among those of its case, for engines that replay.
            #[serde(default)]
            trial: u32,
        },
        /// Time the sentinel on the CPU of the first seat.
        Sentinel,
        /// Calibrate the clock on this CPU.
        Clock {
            /// The CPU to do it on.
            cpu: u32,
        },
        /// Run `count` operations.
        Run {
            /// Which part of the trial.
            phase: Phase,
            /// Operations; in batches, a multiple of the batch (of `3n` for two lengths).
            count: u64,
            /// How to stamp.
            stamp: Stamp,
        },
        /// Leave.
        Stop,
    }
}

document! {
    /// One end to play.
    pub struct Seat {
        /// Which end.
        pub role: Role,
        /// CPU to pin to; absent where the placement is `free`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub cpu: Option<u32>,
        /// This end's half of the link; absent where the worker opens it itself.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub link: Option<LinkHalf>,
    }
}

document! {
    /// What an end needs to reach the other: inherited descriptors and names.
    #[derive(Default)]
    pub struct LinkHalf {
        /// Descriptor numbers, in the order that the mechanism documents.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub fds: Vec<i32>,
        /// Names (System V identifiers and the like).
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub names: Vec<String>,
    }
}

document! {
    /// Worker → control; one reply a command.
    #[serde(rename_all = "kebab-case", tag = "is")]
    pub enum Reply {
        /// To `describe`.
        Described {
            /// Protocol version.
            protocol: u32,
            /// Runtime (`rust`).
            runtime: String,
            /// Version of the worker.
            version: String,
            /// Mechanisms it has.
            mechanisms: Vec<String>,
        },
        /// To `attach`.
        Attached {
            /// Process id.
            pid: u32,
            /// What became of each seat, in the order asked.
            seats: Vec<Attached>,
        },
        /// To `sentinel`: durations of equal chunks of work, in time order.
        Sentinel {
            /// Nanoseconds of each chunk.
            chunks_ns: Vec<u64>,
            /// System calls in a chunk.
            calls: u64,
            /// Where it ran.
            cpu: u32,
        },
        /// To `clock`.
        Clock(ClockReading),
        /// To `run`.
        Ran {
            /// CPU time of the whole process over the phase, hidden threads included.
            process_cpu_ns: u64,
            /// Wall time of the phase.
            wall_ns: u64,
            /// What each seat saw, in the order of attaching.
            ends: Vec<EndCounters>,
        },
        /// To `stop`.
        Stopped,
        /// Instead of any other reply: the trial is over.
        Failed {
            /// One line.
            reason: String,
        },
    }
}

document! {
    /// What became of a seat.
    pub struct Attached {
        /// Which end.
        pub role: Role,
        /// Thread id.
        pub tid: u32,
        /// The CPU it is on.
        pub cpu: u32,
        /// Why it could not be pinned where asked.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub pin_error: Option<String>,
    }
}

document! {
    /// A CPU's clock, calibrated.
    pub struct ClockReading {
        /// The CPU.
        pub cpu: u32,
        /// What the ticks are (`tsc`, `cntvct`, `virtual`).
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
}

document! {
    /// What one end counted over a phase.
    pub struct EndCounters {
        /// Which end.
        pub role: Role,
        /// Operations done.
        pub count: u64,
        /// Samples written (0 unless this end stamped and the phase was `measure`).
        pub samples: u64,
        /// The longest sample.
        pub max_ticks: u64,
        /// Ticks from the first stamp to the last.
        pub elapsed_ticks: u64,
        /// CPU time of this end's thread.
        pub thread_cpu_ns: u64,
        /// Voluntary context switches of this end's thread.
        pub voluntary: u64,
        /// Involuntary context switches of this end's thread.
        pub involuntary: u64,
        /// Minor page faults of this end's thread.
        pub minor_faults: u64,
        /// Major page faults of this end's thread.
        pub major_faults: u64,
        /// Time runnable but not running (/proc/thread-self/schedstat); absent
        /// where the kernel does not say.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub run_delay_ns: Option<u64>,
        /// CPU at the start.
        pub cpu_before: u32,
        /// CPU at the end.
        pub cpu_after: u32,
        /// Stamps whose CPU differed from the one before.
        pub cpu_changes: u64,
        /// Whether the thread's affinity mask was still as set, after the phase.
        pub pinned: bool,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_look_as_documented() {
        let line = serde_json::to_string(&Command::Run {
            phase: Phase::Measure,
            count: 1000,
            stamp: Stamp::Each,
        })
        .unwrap();
        assert_eq!(line, r#"{"do":"run","phase":"measure","count":1000,"stamp":{"kind":"each"}}"#);
        let attach: Command = serde_json::from_str(
            r#"{"do":"attach","case":"call/syscall","seats":[{"role":"caller","cpu":0}],"samples_fd":3,"deadline_ms":1000}"#,
        )
        .unwrap();
        assert!(matches!(attach, Command::Attach { samples_fd: Some(3), parent: None, .. }));
    }
}
