//! Where the time of a hop goes, a round trip or one way: its segments, cut at what the kernel's events say.

use super::statistic::Estimate;
use crate::case::Role;
use crate::document;

document! {
    /// Where the time of a hop goes, of each case that was traced.
    pub struct Explanation {
        /// The cases that were traced, in the order of the plan.
        pub cases: Vec<ExplainedCase>,
        /// The second case beside the first; absent of any other number of cases.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub difference: Option<ExplainedDifference>,
        /// What each segment takes after each gap, in the order of a hop; of more than two cases, which differ by
        /// their gap alone.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub by_gap: Vec<SegmentByGap>,
    }
}

document! {
    /// A segment after each of several gaps.
    pub struct SegmentByGap {
        /// Which.
        pub segment: Segment,
        /// What it takes in a typical hop of each case, in their order; 0 in one that does not have it.
        pub typical_ns: Vec<Estimate>,
    }
}

document! {
    /// The segments of a case's round trips, or of its ways forth where the callee stamps. What is *typical* is a mean over the middle fifth of a trial's
    /// hops by their length: there the segments add up to the whole.
    pub struct ExplainedCase {
        /// Its id.
        pub case: String,
        /// The gap before each hop of a wake-up, in nanoseconds; absent of a round trip.
        #[serde(default, skip_serializing_if = "Option::is_none")]
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
        /// What is different in the slowest hops; absent where nobody asks, or there are too few.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub tail: Option<ExplainedTail>,
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

document! {
    /// The way that a message is on.
    #[derive(Copy, Eq, PartialOrd, Ord)]
    #[serde(rename_all = "kebab-case")]
    pub enum Leg {
        /// From the caller to the callee.
        Forth,
        /// From the callee back.
        Back,
    }
}

impl Leg {
    /// Lower-case word.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Forth => "forth",
            Self::Back => "back",
        }
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
            Self::Unseparated => "IPI to receive, not told apart",
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
        /// Where it begins in a typical hop, nanoseconds from the caller's stamp.
        pub begins_ns: f64,
        /// Of a typical hop: median over trials, with its interval.
        pub typical_ns: Estimate,
        /// Share of a typical hop, 0 to 1.
        pub share: f64,
        /// Median over the hops of a trial, median over trials; 0 where most hops do not have it.
        pub p50_ns: f64,
        /// The 99th percentile likewise.
        pub p99_ns: f64,
        /// Events within it, mean of typical hops: each costs `event_cost_ns` of it.
        pub events: f64,
        /// `typical_ns` less what they cost: below 0 where they cost more than it took. `null` unless these
        /// add up to a hop without events: `off` is 10 % at most.
        pub without_events_ns: Option<f64>,
    }
}

document! {
    /// The slowest hops beside typical ones, of all trials together.
    pub struct ExplainedTail {
        /// The quantile of its trial from which on a hop is slow.
        pub quantile: f64,
        /// Slow hops.
        pub hops: u64,
        /// A slow hop, mean in nanoseconds.
        pub slow_ns: f64,
        /// A typical hop.
        pub typical_ns: f64,
        /// By how much each segment is longer, mean; the greatest first.
        pub segments: Vec<TailSegment>,
        /// In what share of the hops something happens, the greatest difference first.
        pub occurrences: Vec<TailOccurrence>,
        /// What may be steal; absent where the kernel has counted nothing to hold events against.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub unseen: Option<UnseenTime>,
        /// What makes most of the difference, in a sentence.
        pub says: String,
    }
}

document! {
    /// Time of all traced phases together in which something had the ends' CPUs that wrote no event, such as the
    /// hypervisor.
    #[derive(Copy)]
    pub struct UnseenTime {
        /// How long the ends had their CPUs, by events.
        pub on_cpu_ns: u64,
        /// CPU time of their threads by the kernel's account: less where it takes off what a hypervisor says that
        /// it stole, or where it counts interrupts apart.
        pub counted_ns: u64,
        /// Steal that the kernel counted on their CPUs, in steps of 10 ms.
        pub steal_ns: Option<u64>,
    }
}

document! {
    /// A segment in slow hops and in typical ones.
    pub struct TailSegment {
        /// Which.
        pub segment: Segment,
        /// Mean of slow hops.
        pub slow_ns: f64,
        /// Mean of typical hops.
        pub typical_ns: f64,
    }
}

document! {
    /// How often something happens in slow hops and in typical ones.
    pub struct TailOccurrence {
        /// What, in words.
        pub what: String,
        /// Share of the slow hops that have it.
        pub slow_share: f64,
        /// Share of the typical ones.
        pub typical_share: f64,
    }
}

document! {
    /// The second case less the first, paired by round.
    pub struct ExplainedDifference {
        /// Of typical hops.
        pub total_ns: Estimate,
        /// What the kernel's events do to it.
        pub traced: TracedDifference,
        /// What of it each kind of work makes, the greatest first.
        pub parts: Vec<DifferencePart>,
        /// By segment, in the order of the hop; one that a case does not have takes it no time.
        pub segments: Vec<SegmentDifference>,
        /// What makes most of it, in a sentence.
        pub says: String,
    }
}

document! {
    /// What the kernel's events do to a difference of hops in which they were recorded.
    pub struct TracedDifference {
        /// Whether their cost is part of it.
        pub events: EventsCost,
        /// Of the median round trips of the same trials without events, which it should agree with.
        pub untraced_ns: Estimate,
        /// Whether it does: the intervals of both meet. `null` where one has none.
        pub agrees: Option<bool>,
    }
}

document! {
    /// What a difference of traced hops does with the cost of their events.
    #[derive(Copy, Eq)]
    #[serde(rename_all = "kebab-case")]
    pub enum EventsCost {
        /// It is taken off each segment, which gives what a hop takes without events, in both cases.
        TakenOff,
        /// It is part of the segments: in one case at least it cannot be taken off.
        Included,
    }
}

document! {
    /// What of a difference one kind of work makes.
    pub struct DifferencePart {
        /// Which, in words.
        pub what: String,
        /// The second less the first.
        pub ns: Estimate,
    }
}

document! {
    /// What of a difference one segment makes.
    pub struct SegmentDifference {
        /// Which.
        pub segment: Segment,
        /// A typical hop of the first, median over the rounds that both have.
        pub first_ns: f64,
        /// The same of the second.
        pub second_ns: f64,
        /// The second less the first.
        pub ns: Estimate,
    }
}
