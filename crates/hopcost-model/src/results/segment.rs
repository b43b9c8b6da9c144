//! The parts of a hop.

use crate::case::Role;
use crate::{document, words};

words! {
    /// The way that a message is on.
    #[derive(Default)]
    Leg, "leg" {
        /// From the caller to the callee.
        #[default]
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
