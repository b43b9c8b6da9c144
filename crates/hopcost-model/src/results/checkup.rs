//! What `hopcost doctor` has found of a machine.

use crate::case::Placement;
use crate::document;
use crate::finding::Finding;
use crate::host::Host;
use crate::protocol::ClockReading;
use crate::raw::{Reference, RunAbout, YardstickClass};

document! {
    /// What `doctor --format json` prints.
    #[derive(Default)]
    pub struct Checkup {
        /// Who looked, when and how.
        pub about: RunAbout,
        /// How long it took.
        pub took_s: f64,
        /// CPUs that this process may use.
        pub cpus_allowed: Vec<u32>,
        /// Those that were looked at: all, or on a larger machine some of every last-level cache.
        pub cpus: Vec<u32>,
        /// The host before anything was measured.
        pub host: Host,
        /// The clock of each CPU.
        pub clocks: Vec<ClockReading>,
        /// What interrupts a loop on each CPU.
        pub gaps: Vec<CpuGaps>,
        /// The round trip of a cache line between two CPUs, both ends spinning.
        pub lines: Vec<CpuLine>,
        /// A hand-over between two processes, by how their CPUs are related.
        pub handovers: Vec<Handover>,
        /// What runs have taught of the speed of this machine when it is quiet.
        pub speeds: Vec<QuietSpeed>,
        /// What hopcost may do here.
        pub rights: Vec<Right>,
        /// What could not be measured, and why.
        pub failures: Vec<String>,
        /// What was found wrong, the worst first.
        pub findings: Vec<Finding>,
        /// What to do first.
        pub first: String,
    }
}

document! {
    /// What a yardstick takes on the quiet machine.
    pub struct QuietSpeed {
        /// What it does.
        pub class: YardstickClass,
        /// The CPUs of its ends, the caller's first.
        pub cpus: Vec<u32>,
        /// Whether runs enough have taught it for others to be put in relation to it.
        pub is_known: bool,
        /// The speed, and where it comes from.
        pub reference: Reference,
    }
}

document! {
    /// Gaps between two readings of the clock in a loop that does nothing else.
    #[derive(Copy)]
    pub struct CpuGaps {
        /// The CPU.
        pub cpu: u32,
        /// How long the loop ran.
        pub watched_ns: u64,
        /// Gaps of 1 µs and longer, a second.
        pub over_1us_per_s: f64,
        /// Of 10 µs and longer.
        pub over_10us_per_s: f64,
        /// Of 100 µs and longer.
        pub over_100us_per_s: f64,
        /// Share of the time that went to gaps of 1 µs and longer.
        pub lost_share: f64,
        /// The longest.
        pub longest_ns: u64,
        /// Share of the time that the hypervisor took, by /proc/stat; absent where that is unknown.
        pub steal_share: Option<f64>,
    }
}

document! {
    /// A round trip between two CPUs.
    #[derive(Copy)]
    pub struct CpuLine {
        /// The CPUs.
        pub cpus: (u32, u32),
        /// What /sys claims their relation to be.
        pub relation: Placement,
        /// The median over batches, the least of several visits.
        pub roundtrip_ns: f64,
    }
}

document! {
    /// What it takes to hand something to another process.
    #[derive(Copy)]
    pub struct Handover {
        /// How the two CPUs are related.
        pub relation: Placement,
        /// The CPUs.
        pub cpus: (u32, u32),
        /// Round trip of a cache line, both ends spinning: p50.
        pub spinning_ns: Option<f64>,
        /// Round trip through a pipe, both ends asleep: p50.
        pub blocking_ns: Option<f64>,
        /// From the write into a pipe to the reader, whose CPU has idled for 10 ms: p50.
        pub after_idling_ns: Option<f64>,
        /// Its 90th percentile.
        pub after_idling_p90_ns: Option<f64>,
    }
}

document! {
    /// Something that hopcost may or may not do.
    #[derive(Eq)]
    pub struct Right {
        /// What hopcost needs it for.
        pub what: String,
        /// Why not; absent if it may.
        pub missing: Option<String>,
    }
}
