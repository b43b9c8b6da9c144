//! The parts of results that more than one stage needs. The results themselves stand in `hopcost-read`,
//! each beside the function that fills it.

mod statistic;

use std::cmp::Ordering;

use crate::axis::Axis;
use crate::case::{Boundary, Case, Placement, Role, Workload};
use crate::mechanism::Mechanism;
use crate::units::Rate;

pub use crate::columns::CaseParts;
pub use statistic::{Estimate, Estimates, Quiet, Statistic};

document! {
    /// Whether contrasts compare trials adjusted by the readings beside them.
    #[derive(Copy, Eq)]
    pub enum Applied {
        /// They do: the class follows its yardstick.
        Divided,
        /// The yardstick hardly varied, so there was nothing to adjust.
        NotNeeded,
        /// They do not: the class does not follow its yardstick.
        Refused,
        /// They do not: other tasks had the CPU for a visible part of the trials.
        Shared,
    }

    /// Where a number lies against a region.
    #[derive(Copy, Eq)]
    pub enum Verdict {
        /// In it.
        Inside,
        /// Beside it, on the side of the number.
        Outside,
        /// The units do not show it.
        Open,
    }

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

    /// The ratio of the same statistic of two cases, unit by unit.
    #[derive(Copy)]
    pub struct Contrast {
        /// The time of the case over that of the baseline.
        pub ratio: f64,
        /// Lower end of its interval; `null` with too few units.
        pub low: Option<f64>,
        /// Upper end.
        pub high: Option<f64>,
        /// Nominal coverage of this interval, 0 to 1.
        pub coverage: f64,
        /// Blocks or hosts in which both were measured, or the runs of the side that has fewer.
        pub n: u32,
        /// Where the ratio lies against the margin around 1.
        pub verdict: Verdict,
        /// Blocks or hosts, or runs a side, that would probably decide; `null` where these do, or
        /// where the ratio lies at the margin.
        pub more: Option<u32>,
    }

    /// The unit of a number.
    #[derive(Copy, Eq, Default)]
    pub enum JudgedUnit {
        /// A multiple of another number.
        #[default]
        Times,
        /// A count.
        Number,
        /// A share, 0 to 1.
        Share,
        /// Nanoseconds.
        Ns,
        /// Gigabits (10⁹ bits) per second.
        Gbps,
    }

    /// The numbers from `low` to `high`; `null` is an open end.
    #[derive(Copy, Default)]
    pub struct Region {
        /// Least.
        pub low: Option<f64>,
        /// Greatest.
        pub high: Option<f64>,
    }

    /// What happens in a segment.
    #[derive(Copy, Eq, PartialOrd, Ord)]
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

    /// What is asked of a mechanism.
    #[derive(Default)]
    pub struct AdviceRequest {
        /// Bytes of a message.
        pub payload_bytes: u32,
        /// Messages per second; `null`: round trips, one after the other.
        pub rate: Option<Rate>,
        /// Limit of the 99th percentile.
        pub p99_ns: Option<u64>,
        /// What separates the ends.
        pub boundary: Boundary,
        /// Where the ends run; `null`: where most cases of a stored run have them.
        pub placement: Option<Placement>,
        /// What the ends are written in, spelled as in a case; several with commas.
        pub runtimes: String,
        /// Whether an end may spin while it waits.
        pub spinning: bool,
        /// Whether messages may be lost.
        pub loss: bool,
        /// What the cases are sorted by.
        pub sort: SortedBy,
    }
}

impl Verdict {
    /// Where a number with this interval lies against a region; open without an interval.
    pub fn of(ends: Option<(f64, f64)>, (least, most): (f64, f64)) -> Self {
        match ends {
            Some((low, high)) if least <= low && high <= most => Self::Inside,
            Some((low, high)) if high < least || most < low => Self::Outside,
            _ => Self::Open,
        }
    }

    /// Whether a number is less than one, as much or more, where that is decided.
    pub fn side(self, number: f64, than: f64) -> Option<Ordering> {
        match self {
            Self::Open => None,
            Self::Inside => Some(Ordering::Equal),
            Self::Outside => number.partial_cmp(&than),
        }
    }
}

impl Contrast {
    /// Whether the case takes less, as much or more, where that is decided.
    pub fn side(&self) -> Option<Ordering> {
        self.verdict.side(self.ratio, 1.0)
    }

    /// Both ends of the interval.
    pub fn ends(&self) -> Option<(f64, f64)> {
        self.low.zip(self.high)
    }
}

words! {
    /// What the data says of a claim.
    Ruling, "verdict" {
        /// It is true here.
        Holds = "holds",
        /// The numbers do not decide, or this machine cannot measure them.
        Undecided = "undecided",
        /// It is true under one condition and false under another.
        Depends = "depends",
        /// It is false here.
        Fails = "fails",
    }

    /// The way that a message is on.
    #[derive(Default)]
    Leg, "leg" {
        /// From the caller to the callee.
        #[default]
        Forth = "forth",
        /// From the callee back.
        Back = "back",
    }

    /// What cases are sorted by, the least first.
    #[derive(Default)]
    SortedBy, "order" {
        /// The median, or the cost in batches.
        #[default]
        P50 = "p50",
        /// The 99th percentile.
        P99 = "p99",
        /// CPU time of both ends per message.
        Cpu = "cpu",
    }
}

impl Ruling {
    /// What `n` claims with this verdict do: `fails`, `fail`.
    pub fn verb(self, n: usize) -> &'static str {
        if n == 1 { self.word() } else { self.word().trim_end_matches('s') }
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

impl AdviceRequest {
    /// Whether a case is what is asked for, wherever its ends run.
    pub fn is_about(&self, case: &Case) -> bool {
        let workload = match self.rate {
            Some(_) => Workload::Load,
            None => Workload::Roundtrip,
        };
        case.workload == workload
            && case.payload_bytes == Some(self.payload_bytes)
            && case.rate == self.rate
            && case.boundary == self.boundary
            && self.runtimes.split(',').any(|of| of == case.runtimes.to_string())
            && Axis::unusual(case).next().is_none()
    }

    /// Why a case does not meet the requirements, whatever is measured of it.
    pub fn rules_out(&self, case: &Case, mechanism: Option<&Mechanism>) -> Option<&'static str> {
        let own = mechanism.and_then(|mechanism| mechanism.own.as_ref());
        let spins = own.is_some_and(|own| own.spins_first)
            || [Role::Caller, Role::Callee].into_iter().any(|role| !case.wait(role).sleeps());
        let here = mechanism.map(|mechanism| &mechanism.here);
        let loses = mechanism.is_some_and(|mechanism| mechanism.loses);
        match () {
            () if spins && !self.spinning => Some("spins while it waits"),
            () if loses && !self.loss => Some("may lose messages (--allow-loss)"),
            () if here.is_some_and(|here| here.connects) => Some("connects anew each time"),
            () => None,
        }
    }

    /// `20k messages per second`, or `round trips`
    pub fn what(&self) -> String {
        match self.rate {
            Some(rate) => format!("{} messages per second", rate.brief()),
            None => "round trips, one after the other".to_owned(),
        }
    }
}
