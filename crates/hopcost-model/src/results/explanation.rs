//! Where the time of a hop goes, a round trip or one way: its segments, cut at what the kernel's events say.

use super::contrast::Contrast;
use super::statistic::Estimate;
use crate::case::Role;
use crate::{document, words};

document! {
    /// Where the time of a hop goes, of each case that was traced.
    #[derive(Default)]
    pub struct Explanation {
        /// The cases that were traced, in the order of the plan.
        pub cases: Vec<ExplainedCase>,
        /// The second case beside the first, by the median operations without events; absent of any other number
        /// of cases.
        pub untraced: Option<Contrast>,
        /// The segments of several cases, in the order of a hop.
        pub compared: Vec<ComparedSegment>,
    }
}

document! {
    /// A segment of several cases.
    pub struct ComparedSegment {
        /// Which.
        pub segment: Segment,
        /// What it takes, with its events, in the second case beside the first; `null` unless there are two cases
        /// and both have it.
        pub contrast: Option<Contrast>,
    }
}

document! {
    /// The segments of a case's round trips, or of its ways forth where the callee stamps. What is *typical* is a mean over the middle fifth of a trial's
    /// hops by their length: there the segments add up to the whole.
    pub struct ExplainedCase {
        /// Its id.
        pub case: String,
        /// The gap before each hop of a wake-up, in nanoseconds; absent of a round trip.
        pub gap_ns: Option<u64>,
        /// Hops of all trials that were cut into segments.
        pub hops: u64,
        /// Those that were not, and why.
        pub left_out: Vec<LeftOutHops>,
        /// A typical hop, in nanoseconds.
        pub total_ns: Estimate,
        /// The median hop as traced.
        pub traced_p50_ns: Estimate,
        /// The same without events, in the phase right before.
        pub untraced_p50_ns: Estimate,
        /// Events of a hop, mean.
        pub events: f64,
        /// What one of them costs; `null` where it could not be measured.
        pub event_cost_ns: Option<f64>,
        /// The median hop as traced less what its events cost; without a point where that is not known.
        pub without_events_ns: Estimate,
        /// By how much that is off the median of hops without events, as a share of it.
        pub off: Option<f64>,
        /// How far events and stamps can be apart.
        pub clock_bound_ns: u64,
        /// Tracepoints that this kernel does not have.
        pub missing: Vec<String>,
        /// The segments, as they follow each other in a typical hop.
        pub segments: Vec<ExplainedSegment>,
        /// The slow hops; absent where nobody asks, or there are too few.
        pub slow: Option<SlowHops>,
    }
}

document! {
    /// The hops from a quantile of their trial on, of all trials.
    #[derive(Copy)]
    pub struct SlowHops {
        /// The quantile.
        pub quantile: f64,
        /// How many.
        pub hops: u64,
        /// Their mean, in nanoseconds.
        pub ns: f64,
    }
}

document! {
    /// Hops that were not cut into segments.
    pub struct LeftOutHops {
        /// Why.
        pub reason: String,
        /// How many.
        pub hops: u64,
    }
}

words! {
    /// The way that a message is on.
    Leg, "leg" {
        /// From the caller to the callee.
        Forth = "forth",
        /// From the callee back.
        Back = "back",
    }
}

document! {
    /// What happens in a segment.
    #[derive(Copy, Eq, PartialOrd, Ord)]
    #[serde(rename_all = "kebab-case")]
    pub enum SegmentKind {
        /// The end runs in user space.
        User,
        /// The end is in the system call by which it sends.
        Send,
        /// The sender sleeps and nobody has woken the other end: the message waits in the kernel, such as in the
        /// queue of a network device.
        Queue,
        /// The kernel looks up the other end and makes it runnable.
        WakeUp,
        /// An interrupt is on its way to the other end's CPU.
        Ipi,
        /// The other end's CPU leaves its idle state.
        IdleExit,
        /// The CPU is given to the other end, up to the kernel's event sched_switch.
        Switch,
        /// The other end runs again, in the system call in which it slept.
        Receive,
        /// From the interrupt (or the end of the wake-up) to the end of the receiver's call, where the kernel
        /// writes no events while that CPU idles.
        Unseparated,
        /// The kernel's deferred work on that CPU, such as that of the network.
        Softirq,
        /// An interrupt of a device.
        Interrupt,
        /// Another task had the CPU.
        OtherTask,
    }
}

impl SegmentKind {
    /// In words.
    pub const fn words(self) -> &'static str {
        match self {
            Self::User => "user space",
            Self::Send => "send in the kernel",
            Self::Queue => "queued in the kernel",
            Self::WakeUp => "wake-up",
            Self::Ipi => "IPI",
            Self::IdleExit => "idle exit",
            Self::Switch => "switch",
            Self::Receive => "receive in the kernel",
            Self::Unseparated => "IPI to receive, not separated",
            Self::Softirq => "softirq",
            Self::Interrupt => "interrupt",
            Self::OtherTask => "another task",
        }
    }
}

document! {
    /// A part of a hop; all of its pieces of one name are one segment.
    #[derive(Copy, Eq, PartialOrd, Ord)]
    pub struct Segment {
        /// Which way the message is on.
        pub leg: Leg,
        /// Whose CPU it waits for: the end that runs there, or is to run.
        pub end: Role,
        /// What happens.
        pub kind: SegmentKind,
    }
}

impl std::fmt::Display for Segment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let back = if self.leg == Leg::Back { ", back" } else { "" };
        match (self.kind, self.end) {
            (SegmentKind::WakeUp, Role::Callee) if self.leg == Leg::Forth => {
                f.write_str("wake-up by the callee")
            }
            (SegmentKind::User, Role::Callee) => f.write_str("callee in user space"),
            (SegmentKind::User, Role::Caller) => write!(f, "caller in user space{back}"),
            (SegmentKind::Softirq | SegmentKind::Interrupt | SegmentKind::OtherTask, end) => {
                write!(f, "{} at the {end}{back}", self.kind.words())
            }
            (kind, _) => write!(f, "{}{back}", kind.words()),
        }
    }
}

document! {
    /// A segment of a case's hops.
    pub struct ExplainedSegment {
        /// Which.
        pub segment: Segment,
        /// Of a typical hop: median over trials, with its interval.
        pub typical_ns: Estimate,
        /// Share of a typical hop, 0 to 1.
        pub share: f64,
        /// Median over the hops of a trial, median over trials; 0 where most hops do not have it.
        pub p50_ns: f64,
        /// The 99th percentile likewise.
        pub p99_ns: f64,
        /// The mean of the slow hops; absent where nobody asks for them.
        pub slow_ns: Option<f64>,
        /// Events within it, mean of typical hops: each costs `event_cost_ns` of it.
        pub events: f64,
        /// `typical_ns` less what they cost: below 0 where they cost more than it took. `null` unless these
        /// add up to a hop without events: `off` is 10 % at most.
        pub without_events_ns: Option<f64>,
    }
}
