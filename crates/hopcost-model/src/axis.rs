//! The axes of a case: one table, over which loop the spelling of a case, selectors and
//! suites, the command line and its help, and the planner. What an axis shows in documents
//! and files stands in [`crate::columns`].

use std::fmt;
use std::str::FromStr;

use crate::case::{
    Ack, AckSize, Arrivals, Background, Boundary, Case, CaseError, IdleKnob, Placement, Queue,
    Runtimes, SPIN_BUDGET_NS, Sched, Touch, WaitKind, Waits, Workload,
};

/// An axis of a case, or another way to give one.
pub struct Axis {
    /// Key of the spelling, of selectors and of suites, and option of the command line.
    pub key: &'static str,
    /// Its help.
    pub help: &'static str,
    /// Which values it has and how they are written.
    pub kind: Kind,
    /// Which cases have it.
    pub of: Of,
    /// Its place in the spelling of a case.
    pub spelled: Spelled,
    /// The value where none is asked for; absent where the mechanism decides.
    pub default: Option<Value>,
    /// The value of a case, if it has one.
    pub get: fn(&Case) -> Option<Value>,
    set: fn(&mut Case, &Value),
}

/// Which values an axis has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Bytes of something, this many at least.
    Bytes {
        /// Least.
        least: u32,
    },
    /// A whole number from 1 to this.
    Count {
        /// Most.
        most: u32,
    },
    /// Messages a second, from `least` to `most`.
    Rate {
        /// Least.
        least: u32,
        /// Most.
        most: u32,
    },
    /// Nanoseconds, up to this many.
    Time {
        /// Most.
        most_ns: u64,
    },
    /// When a stream is acknowledged.
    Ack,
    /// What separates the ends.
    Boundary,
    /// Where they run.
    Place,
    /// How they wait.
    Waits,
    /// What keeps a CPU from idling deeply.
    IdleKnob,
    /// How long an acknowledgement is.
    AckSize,
    /// When messages are to be sent.
    Arrivals,
    /// What becomes of those that many others are ahead of.
    Queue,
    /// What else the machine does.
    Background,
    /// How much of a message they write and compare.
    Touch,
    /// Their scheduling policy.
    Sched,
    /// What they are written in.
    Runtimes,
}

/// Which cases have an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Of {
    /// Every one.
    Every,
    /// Those whose mechanism carries a payload.
    Payload,
    /// Streams whose mechanism carries a payload.
    StreamPayload,
    /// Streams.
    Stream,
    /// Wake-ups.
    Wake,
    /// Loads.
    Load,
    /// All but calls.
    TwoEnds,
    /// Those with an end that spins before it blocks.
    SpinThenBlock,
}

/// Whether the spelling of a case has an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spelled {
    /// In every case that has the axis.
    Always,
    /// Where the value is not the default.
    UnlessDefault,
    /// Never: it says the same as another axis.
    Never,
}

/// A value on an axis.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Value {
    /// Bytes, nanoseconds, or how many.
    Number(u64),
    /// When a stream is acknowledged.
    Ack(Ack),
    /// What separates the ends.
    Boundary(Boundary),
    /// Where they run.
    Place(Placement),
    /// On the nearest two CPUs that a machine has: asked for, but in no case.
    Cross,
    /// How they wait.
    Waits(Waits),
    /// What keeps a CPU from idling deeply.
    IdleKnob(IdleKnob),
    /// How long an acknowledgement is.
    AckSize(AckSize),
    /// When messages are to be sent.
    Arrivals(Arrivals),
    /// What becomes of those that many others are ahead of.
    Queue(Queue),
    /// What else the machine does.
    Background(Background),
    /// How much of a message they write and compare.
    Touch(Touch),
    /// Their scheduling policy.
    Sched(Sched),
    /// What they are written in.
    Runtimes(Runtimes),
}

/// Every axis, in the order of the spelling; the parameters of the mechanism stand behind
/// the first [`Axis::BEFORE_PARAMETERS`].
pub static AXES: [Axis; 20] = [
    Axis {
        key: "payload",
        help: "Payloads (64,4KiB, or 64..64KiB by powers of four)",
        kind: Kind::Bytes { least: 0 },
        of: Of::Payload,
        spelled: Spelled::Always,
        default: None,
        get: |case| number(case.payload_bytes),
        set: |case, value| case.payload_bytes = value.number(),
    },
    Axis {
        key: "field",
        help: "Bytes of one field, in place of --payload (256,4KiB, or a range)",
        kind: Kind::Bytes { least: 1 },
        of: Of::StreamPayload,
        spelled: Spelled::Never,
        default: None,
        get: |case| number(case.field_bytes()),
        set: |_, _| (),
    },
    Axis {
        key: "fields",
        help: "Fields of a stream's message (8)",
        // What one sendmsg takes (IOV_MAX, limits.h).
        kind: Kind::Count { most: 1024 },
        of: Of::Stream,
        spelled: Spelled::Always,
        default: Some(Value::Number(8)),
        get: |case| number(case.fields),
        set: |case, value| case.fields = value.number(),
    },
    Axis {
        key: "flows",
        help: "Flows of a stream (1,4, or 1..8 by powers of two)",
        // Each has a thread at either end.
        kind: Kind::Count { most: 64 },
        of: Of::Stream,
        spelled: Spelled::Always,
        default: Some(Value::Number(1)),
        get: |case| number(case.flows),
        set: |case, value| case.flows = value.number(),
    },
    Axis {
        key: "ack",
        help: "When a stream is acknowledged (none, per-message, window:N)",
        kind: Kind::Ack,
        of: Of::Stream,
        spelled: Spelled::Always,
        default: Some(Value::Ack(Ack::PerMessage)),
        get: |case| case.ack.map(Value::Ack),
        set: |case, value| case.ack = value.ack(),
    },
    Axis {
        key: "gap",
        help: "Gaps before a wake-up (10us,1ms, or 1us..1ms by powers of ten)",
        kind: Kind::Time { most_ns: 10_000_000_000 },
        of: Of::Wake,
        spelled: Spelled::Always,
        default: Some(Value::Number(1_000_000)),
        get: |case| number(case.gap_ns),
        set: |case, value| case.gap_ns = value.number(),
    },
    Axis {
        key: "rate",
        help: "Messages per second of a load (10k,1.5M, or 10k..800k, doubled each time)",
        kind: Kind::Rate { least: RATE_MIN, most: RATE_MAX },
        of: Of::Load,
        spelled: Spelled::Always,
        default: Some(Value::Number(10_000)),
        get: |case| number(case.rate),
        set: |case, value| case.rate = value.number(),
    },
    Axis {
        key: "boundary",
        help: "Boundaries (inline, thread, process, namespace, host)",
        kind: Kind::Boundary,
        of: Of::TwoEnds,
        spelled: Spelled::Always,
        default: None,
        get: |case| {
            let has = case.workload.has_two_ends() || case.boundary != Boundary::Inline;
            has.then_some(Value::Boundary(case.boundary))
        },
        set: |case, value| {
            if let Value::Boundary(boundary) = value {
                case.boundary = *boundary;
            }
        },
    },
    Axis {
        key: "place",
        help: "Placements (same-cpu, cross, smt, same-llc, cross-llc, cross-node, free)",
        kind: Kind::Place,
        of: Of::TwoEnds,
        spelled: Spelled::Always,
        default: None,
        get: |case| case.placement.map(Value::Place),
        set: |case, value| case.placement = value.place(),
    },
    Axis {
        key: "wait",
        help: "Waits (block, spin, yield, spin-then-block, epoll). Per end: caller:callee",
        kind: Kind::Waits,
        of: Of::TwoEnds,
        spelled: Spelled::Always,
        default: None,
        get: |case| case.waits.map(Value::Waits),
        set: |case, value| case.waits = value.waits(),
    },
    Axis {
        key: "spin",
        help: "Budgets of spin-then-block (20us)",
        kind: Kind::Time { most_ns: u64::MAX },
        of: Of::SpinThenBlock,
        spelled: Spelled::Always,
        default: Some(Value::Number(SPIN_BUDGET_NS)),
        get: |case| number(case.spin_budget_ns),
        set: |case, value| case.spin_budget_ns = value.number(),
    },
    Axis {
        key: "idle-knob",
        help: "Idle knobs of a wake-up (none, dma-latency, spinner)",
        kind: Kind::IdleKnob,
        of: Of::Wake,
        spelled: Spelled::UnlessDefault,
        default: Some(Value::IdleKnob(IdleKnob::None)),
        get: |case| {
            let has = case.workload == Workload::Wake || case.idle_knob != IdleKnob::None;
            has.then_some(Value::IdleKnob(case.idle_knob))
        },
        set: |case, value| {
            if let Value::IdleKnob(knob) = value {
                case.idle_knob = *knob;
            }
        },
    },
    Axis {
        key: "arrivals",
        help: "Arrivals of a load (constant, exponential, on-off)",
        kind: Kind::Arrivals,
        of: Of::Load,
        spelled: Spelled::UnlessDefault,
        default: Some(Value::Arrivals(Arrivals::Exponential)),
        get: |case| {
            let has = case.workload == Workload::Load || case.arrivals != Arrivals::Exponential;
            has.then_some(Value::Arrivals(case.arrivals))
        },
        set: |case, value| {
            if let Value::Arrivals(arrivals) = value {
                case.arrivals = *arrivals;
            }
        },
    },
    Axis {
        key: "queue",
        help: "What to do with messages when the queue is full (block, drop-newest:N, drop-oldest:N)",
        kind: Kind::Queue,
        of: Of::Load,
        spelled: Spelled::UnlessDefault,
        default: Some(Value::Queue(Queue::Block)),
        get: |case| {
            let has = case.workload == Workload::Load || case.queue != Queue::Block;
            has.then_some(Value::Queue(case.queue))
        },
        set: |case, value| {
            if let Value::Queue(queue) = value {
                case.queue = *queue;
            }
        },
    },
    Axis {
        key: "senders",
        help: "Senders that share the rate and the receiver of a load (1,4, or 1..8 by powers of two)",
        kind: Kind::Count { most: SENDERS_MAX },
        of: Of::Load,
        spelled: Spelled::UnlessDefault,
        default: Some(Value::Number(1)),
        get: |case| {
            let has = case.workload == Workload::Load || case.senders != 1;
            has.then_some(Value::Number(case.senders.into()))
        },
        set: |case, value| case.senders = value.number().unwrap_or(1),
    },
    Axis {
        key: "background",
        help: "Other work during a load (none, cpu:N, cache, same-mechanism:N)",
        kind: Kind::Background,
        of: Of::Load,
        spelled: Spelled::UnlessDefault,
        default: Some(Value::Background(Background::None)),
        get: |case| {
            let has = case.workload == Workload::Load || case.background != Background::None;
            has.then_some(Value::Background(case.background))
        },
        set: |case, value| {
            if let Value::Background(background) = value {
                case.background = *background;
            }
        },
    },
    Axis {
        key: "ack-size",
        help: "Bytes of an acknowledgement of a stream (8, field)",
        kind: Kind::AckSize,
        of: Of::Stream,
        spelled: Spelled::UnlessDefault,
        default: Some(Value::AckSize(AckSize::Number)),
        get: |case| {
            let has = case.workload == Workload::Stream || case.ack_size != AckSize::Number;
            has.then_some(Value::AckSize(case.ack_size))
        },
        set: |case, value| {
            if let Value::AckSize(size) = value {
                case.ack_size = *size;
            }
        },
    },
    Axis {
        key: "touch",
        help: "Payload access (verify, write, none)",
        kind: Kind::Touch,
        of: Of::TwoEnds,
        spelled: Spelled::UnlessDefault,
        default: Some(Value::Touch(Touch::Verify)),
        get: |case| {
            let has = case.workload != Workload::Call || case.touch != Touch::Verify;
            has.then_some(Value::Touch(case.touch))
        },
        set: |case, value| {
            if let Value::Touch(touch) = value {
                case.touch = *touch;
            }
        },
    },
    Axis {
        key: "sched",
        help: "Scheduling policies of both ends (other, fifo:N)",
        kind: Kind::Sched,
        of: Of::Every,
        spelled: Spelled::UnlessDefault,
        default: Some(Value::Sched(Sched::Other)),
        get: |case| Some(Value::Sched(case.sched)),
        set: |case, value| {
            if let Value::Sched(sched) = value {
                case.sched = *sched;
            }
        },
    },
    Axis {
        key: "runtime",
        help: "Runtimes of the ends (rust, python), per end as caller:callee",
        kind: Kind::Runtimes,
        of: Of::Every,
        spelled: Spelled::UnlessDefault,
        default: Some(Value::Runtimes(Runtimes::RUST)),
        get: |case| Some(Value::Runtimes(case.runtimes.clone())),
        set: |case, value| {
            if let Value::Runtimes(runtimes) = value {
                case.runtimes.clone_from(runtimes);
            }
        },
    },
];

/// Senders of a load at most: each spins on a CPU.
pub const SENDERS_MAX: u32 = 16;
/// The least rate of a load: a trial has 100 messages at least, and is to end.
pub const RATE_MIN: u32 = 100;
/// The highest: beyond it the distance of two messages is a few reads of the clock.
pub const RATE_MAX: u32 = 20_000_000;

fn number(number: Option<impl Into<u64>>) -> Option<Value> {
    Some(Value::Number(number?.into()))
}

impl Axis {
    /// How many of [`AXES`] stand before a mechanism's own parameters.
    pub const BEFORE_PARAMETERS: usize = 11;

    /// The axis of a key.
    pub fn of_key(key: &str) -> Option<&'static Axis> {
        AXES.iter().find(|axis| axis.key == key)
    }
    /// Gives a case a value of this axis.
    pub fn set(&self, case: &mut Case, value: &Value) {
        (self.set)(case, value);
    }
    /// The value as the spelling of a case has it, if it does.
    pub fn spelled(&self, case: &Case) -> Option<Value> {
        let value = (self.get)(case)?;
        let left_out = match self.spelled {
            Spelled::Always => false,
            Spelled::UnlessDefault => self.default.as_ref() == Some(&value),
            Spelled::Never => true,
        };
        (!left_out).then_some(value)
    }
    /// The values of a case that are not the default, on axes that are spelled only then.
    /// Names of cases say these, so that a new axis is in all of them. What the ends are
    /// written in belongs to the mechanism's name.
    pub fn unusual(case: &Case) -> impl Iterator<Item = (&'static Axis, Value)> {
        let named = |axis: &&Axis| axis.spelled == Spelled::UnlessDefault && axis.key != "runtime";
        AXES.iter().filter(named).filter_map(|axis| Some((axis, axis.spelled(case)?)))
    }
    /// Whether a case itself has a value of it.
    pub fn is_part(&self) -> bool {
        self.spelled != Spelled::Never
    }
    /// Whether a complete case of a workload has to spell it.
    pub fn is_required(&self, workload: Workload) -> bool {
        let depends = matches!(self.of, Of::Payload | Of::StreamPayload | Of::SpinThenBlock);
        !depends && self.spelled == Spelled::Always && self.of.has(workload)
    }
}

impl Of {
    /// Whether cases of a workload may have it.
    pub fn has(self, workload: Workload) -> bool {
        match self {
            Of::Every | Of::Payload => true,
            Of::Stream | Of::StreamPayload => workload == Workload::Stream,
            Of::Wake => workload == Workload::Wake,
            Of::Load => workload == Workload::Load,
            Of::TwoEnds | Of::SpinThenBlock => workload.has_two_ends(),
        }
    }
}

impl Kind {
    /// Reads a value as the spelling of a case has it: numbers without units.
    pub fn read(self, key: &str, text: &str) -> Result<Value, CaseError> {
        fn whole<T: FromStr>(key: &str, text: &str) -> Result<T, CaseError> {
            text.parse().map_err(|_| CaseError::Value {
                key: key.to_owned(),
                got: text.to_owned(),
                want: "a whole number that is not negative and not too large".into(),
            })
        }
        Ok(match self {
            Kind::Bytes { .. } | Kind::Count { .. } | Kind::Rate { .. } => {
                Value::Number(whole::<u32>(key, text)?.into())
            }
            Kind::Time { .. } => Value::Number(whole(key, text)?),
            Kind::Ack => Value::Ack(text.parse()?),
            Kind::Boundary => Value::Boundary(text.parse()?),
            Kind::Place => Value::Place(text.parse()?),
            Kind::Waits => Value::Waits(text.parse()?),
            Kind::IdleKnob => Value::IdleKnob(text.parse()?),
            Kind::Arrivals => Value::Arrivals(text.parse()?),
            Kind::Queue => Value::Queue(text.parse()?),
            Kind::Background => Value::Background(text.parse()?),
            Kind::AckSize => Value::AckSize(text.parse()?),
            Kind::Touch => Value::Touch(text.parse()?),
            Kind::Sched => Value::Sched(text.parse()?),
            Kind::Runtimes => Value::Runtimes(text.parse()?),
        })
    }
    /// The words that a value is made of, where they are few.
    pub fn words(self) -> Vec<&'static str> {
        match self {
            Kind::Boundary => Boundary::ALL.iter().map(|word| word.word()).collect(),
            Kind::Place => {
                ["cross"].into_iter().chain(Placement::ALL.iter().map(|word| word.word())).collect()
            }
            Kind::Waits => WaitKind::ALL.iter().map(|word| word.word()).collect(),
            Kind::IdleKnob => IdleKnob::ALL.iter().map(|word| word.word()).collect(),
            Kind::Arrivals => Arrivals::ALL.iter().map(|word| word.word()).collect(),
            Kind::AckSize => AckSize::ALL.iter().map(|word| word.word()).collect(),
            Kind::Touch => Touch::ALL.iter().map(|word| word.word()).collect(),
            _ => Vec::new(),
        }
    }
}

impl Value {
    /// A number, if it is one that fits.
    pub fn number<T: TryFrom<u64>>(&self) -> Option<T> {
        match self {
            Value::Number(number) => T::try_from(*number).ok(),
            _ => None,
        }
    }
    /// A precise placement.
    pub fn place(&self) -> Option<Placement> {
        match self {
            Value::Place(place) => Some(*place),
            _ => None,
        }
    }
    /// What separates the ends.
    pub fn boundary(&self) -> Option<Boundary> {
        match self {
            Value::Boundary(boundary) => Some(*boundary),
            _ => None,
        }
    }
    /// How the ends wait.
    pub fn waits(&self) -> Option<Waits> {
        match self {
            Value::Waits(waits) => Some(*waits),
            _ => None,
        }
    }
    /// What the ends are written in.
    pub fn runtimes(&self) -> Option<&Runtimes> {
        match self {
            Value::Runtimes(runtimes) => Some(runtimes),
            _ => None,
        }
    }
    fn ack(&self) -> Option<Ack> {
        match self {
            Value::Ack(ack) => Some(*ack),
            _ => None,
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Number(value) => value.fmt(f),
            Value::Ack(value) => value.fmt(f),
            Value::Boundary(value) => value.fmt(f),
            Value::Place(value) => value.fmt(f),
            Value::Cross => f.pad("cross"),
            Value::Waits(value) => value.fmt(f),
            Value::IdleKnob(value) => value.fmt(f),
            Value::Arrivals(value) => value.fmt(f),
            Value::Queue(value) => value.fmt(f),
            Value::Background(value) => value.fmt(f),
            Value::AckSize(value) => value.fmt(f),
            Value::Touch(value) => value.fmt(f),
            Value::Sched(value) => value.fmt(f),
            Value::Runtimes(value) => value.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_axis_reads_it_gives_a_case_and_finds_there() {
        let text = |axis: &Axis| match axis.kind {
            Kind::Bytes { .. } | Kind::Count { .. } | Kind::Time { .. } | Kind::Rate { .. } => "7",
            Kind::Ack => "window:3",
            Kind::Boundary => "thread",
            Kind::Place => "cross-node",
            Kind::Waits => "spin:block",
            Kind::IdleKnob => "spinner",
            Kind::Arrivals => "on-off",
            Kind::Queue => "drop-oldest:7",
            Kind::Background => "same-mechanism:7",
            Kind::AckSize => "field",
            Kind::Touch => "none",
            Kind::Sched => "fifo:2",
            Kind::Runtimes => "python:rust",
        };
        for axis in AXES.iter().filter(|axis| axis.is_part()) {
            let mut case = Case::new(Workload::Wake, "pipe");
            let value = axis.kind.read(axis.key, text(axis)).unwrap();
            axis.set(&mut case, &value);
            assert_eq!((axis.get)(&case), Some(value.clone()), "{}", axis.key);
            assert_eq!(axis.spelled(&case).unwrap().to_string(), text(axis));
            assert_eq!(Axis::of_key(axis.key).unwrap().key, axis.key);
        }
        let before = &AXES[..Axis::BEFORE_PARAMETERS];
        assert!(before.iter().any(|axis| axis.key == "spin"), "parameters stand behind it");
        assert!(AXES[Axis::BEFORE_PARAMETERS].key == "idle-knob");
    }
}
