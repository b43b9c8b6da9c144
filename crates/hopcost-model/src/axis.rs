//! The axes of a case: one table, over which loop the spelling of a case, selectors and
//! suites, the command line and its help, and the planner. What an axis shows in documents
//! and files stands in [`crate::columns`].

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use crate::case::{
    Ack, AckSize, Arrivals, Background, Boundary, Case, CaseError, IdleKnob, Placement, Queue,
    Runtimes, SPIN_BUDGET_NS, Sched, Touch, Waits, Workload,
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
    read: fn(&Case) -> Option<Value>,
    write: fn(&mut Case, &Value),
}

/// Which values an axis has.
#[derive(Debug, Clone, Copy)]
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
    /// Words, by the type that checks them.
    Word(fn(&str) -> Result<Value, CaseError>),
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
    /// The spelling of anything else.
    Word(Cow<'static, str>),
}

/// Every axis, in the order of the spelling; the parameters of the mechanism stand before those
/// that are spelled [`Spelled::UnlessDefault`].
pub static AXES: [Axis; 20] = [
    Axis {
        key: "payload",
        help: "Payloads (64,4KiB, or 64..64KiB by powers of four)",
        kind: Kind::Bytes { least: 0 },
        of: Of::Payload,
        spelled: Spelled::Always,
        default: None,
        read: |case| number(case.payload_bytes),
        write: |case, value| case.payload_bytes = value.number(),
    },
    Axis {
        key: "field",
        help: "Bytes of one field, in place of --payload (256,4KiB, or a range)",
        kind: Kind::Bytes { least: 1 },
        of: Of::StreamPayload,
        spelled: Spelled::Never,
        default: None,
        read: |case| number(case.field_bytes()),
        write: |_, _| (),
    },
    Axis {
        key: "fields",
        help: "Fields of a stream's message (8)",
        // What one sendmsg takes (IOV_MAX, limits.h).
        kind: Kind::Count { most: 1024 },
        of: Of::Stream,
        spelled: Spelled::Always,
        default: Some(Value::Number(8)),
        read: |case| number(case.fields),
        write: |case, value| case.fields = value.number(),
    },
    Axis {
        key: "flows",
        help: "Flows of a stream (1,4, or 1..8 by powers of two)",
        // Each has a thread at either end.
        kind: Kind::Count { most: 64 },
        of: Of::Stream,
        spelled: Spelled::Always,
        default: Some(Value::Number(1)),
        read: |case| number(case.flows),
        write: |case, value| case.flows = value.number(),
    },
    Axis {
        key: "ack",
        help: "When a stream is acknowledged (none, per-message, window:N)",
        kind: Kind::Word(spelling::<Ack>),
        of: Of::Stream,
        spelled: Spelled::Always,
        default: Some(Value::word("per-message")),
        read: |case| text(case.ack.as_ref()),
        write: |case, value| case.ack = value.parsed(),
    },
    Axis {
        key: "gap",
        help: "Gaps before a wake-up (10us,1ms, or 1us..1ms by powers of ten)",
        kind: Kind::Time { most_ns: 10_000_000_000 },
        of: Of::Wake,
        spelled: Spelled::Always,
        default: Some(Value::Number(1_000_000)),
        read: |case| number(case.gap_ns),
        write: |case, value| case.gap_ns = value.number(),
    },
    Axis {
        key: "rate",
        help: "Messages per second of a load (10k,1.5M, or 10k..800k, doubled each time)",
        kind: Kind::Rate { least: RATE_MIN, most: RATE_MAX },
        of: Of::Load,
        spelled: Spelled::Always,
        default: Some(Value::Number(10_000)),
        read: |case| number(case.rate),
        write: |case, value| case.rate = value.number(),
    },
    Axis {
        key: "boundary",
        help: "Boundaries (inline, thread, process, namespace, host)",
        kind: Kind::Word(spelling::<Boundary>),
        of: Of::TwoEnds,
        spelled: Spelled::Always,
        default: None,
        read: |case| {
            let has = case.workload.has_two_ends() || case.boundary != Boundary::Inline;
            has.then(|| Value::word(case.boundary.word()))
        },
        write: |case, value| case.boundary = value.parsed().unwrap_or(case.boundary),
    },
    Axis {
        key: "place",
        help: "Placements (same-cpu, cross, smt, same-llc, cross-llc, cross-node, free)",
        kind: Kind::Word(spelling::<Placement>),
        of: Of::TwoEnds,
        spelled: Spelled::Always,
        default: None,
        read: |case| Some(Value::word(case.placement?.word())),
        write: |case, value| case.placement = value.parsed(),
    },
    Axis {
        key: "wait",
        help: "Waits (block, spin, yield, spin-then-block, epoll). Per end: caller:callee",
        kind: Kind::Word(spelling::<Waits>),
        of: Of::TwoEnds,
        spelled: Spelled::Always,
        default: None,
        read: |case| text(case.waits.as_ref()),
        write: |case, value| case.waits = value.parsed(),
    },
    Axis {
        key: "spin",
        help: "Budgets of spin-then-block (20us)",
        kind: Kind::Time { most_ns: u64::MAX },
        of: Of::SpinThenBlock,
        spelled: Spelled::Always,
        default: Some(Value::Number(SPIN_BUDGET_NS)),
        read: |case| number(case.spin_budget_ns),
        write: |case, value| case.spin_budget_ns = value.number(),
    },
    Axis {
        key: "idle-knob",
        help: "Idle knobs of a wake-up (none, dma-latency, spinner)",
        kind: Kind::Word(spelling::<IdleKnob>),
        of: Of::Wake,
        spelled: Spelled::UnlessDefault,
        default: Some(Value::word("none")),
        read: |case| Some(Value::word(case.idle_knob.word())),
        write: |case, value| case.idle_knob = value.parsed().unwrap_or(case.idle_knob),
    },
    Axis {
        key: "arrivals",
        help: "Arrivals of a load (constant, exponential, on-off)",
        kind: Kind::Word(spelling::<Arrivals>),
        of: Of::Load,
        spelled: Spelled::UnlessDefault,
        default: Some(Value::word("exponential")),
        read: |case| Some(Value::word(case.arrivals.word())),
        write: |case, value| case.arrivals = value.parsed().unwrap_or(case.arrivals),
    },
    Axis {
        key: "queue",
        help: "What to do with messages when the queue is full (block, drop-newest:N, drop-oldest:N)",
        kind: Kind::Word(spelling::<Queue>),
        of: Of::Load,
        spelled: Spelled::UnlessDefault,
        default: Some(Value::word("block")),
        read: |case| text(Some(&case.queue)),
        write: |case, value| case.queue = value.parsed().unwrap_or_default(),
    },
    Axis {
        key: "senders",
        help: "Senders that share the rate and the receiver of a load (1,4, or 1..8 by powers of two)",
        kind: Kind::Count { most: SENDERS_MAX },
        of: Of::Load,
        spelled: Spelled::UnlessDefault,
        default: Some(Value::Number(1)),
        read: |case| number(Some(case.senders)),
        write: |case, value| case.senders = value.number().unwrap_or(1),
    },
    Axis {
        key: "background",
        help: "Other work during a load (none, cpu:N, cache, same-mechanism:N)",
        kind: Kind::Word(spelling::<Background>),
        of: Of::Load,
        spelled: Spelled::UnlessDefault,
        default: Some(Value::word("none")),
        read: |case| text(Some(&case.background)),
        write: |case, value| case.background = value.parsed().unwrap_or_default(),
    },
    Axis {
        key: "ack-size",
        help: "Bytes of an acknowledgement of a stream (8, field)",
        kind: Kind::Word(spelling::<AckSize>),
        of: Of::Stream,
        spelled: Spelled::UnlessDefault,
        default: Some(Value::word("8")),
        read: |case| Some(Value::word(case.ack_size.word())),
        write: |case, value| case.ack_size = value.parsed().unwrap_or(case.ack_size),
    },
    Axis {
        key: "touch",
        help: "Payload access (verify, write, none)",
        kind: Kind::Word(spelling::<Touch>),
        of: Of::TwoEnds,
        spelled: Spelled::UnlessDefault,
        default: Some(Value::word("verify")),
        read: |case| Some(Value::word(case.touch.word())),
        write: |case, value| case.touch = value.parsed().unwrap_or(case.touch),
    },
    Axis {
        key: "sched",
        help: "Scheduling policies of both ends (other, fifo:N)",
        kind: Kind::Word(spelling::<Sched>),
        of: Of::Every,
        spelled: Spelled::UnlessDefault,
        default: Some(Value::word("other")),
        read: |case| text(Some(&case.sched)),
        write: |case, value| case.sched = value.parsed().unwrap_or_default(),
    },
    Axis {
        key: "runtime",
        help: "Runtimes of the ends (rust, python), per end as caller:callee",
        kind: Kind::Word(spelling::<Runtimes>),
        of: Of::Every,
        spelled: Spelled::UnlessDefault,
        default: Some(Value::word("rust")),
        read: |case| text(Some(&case.runtimes)),
        write: |case, value| case.runtimes = value.parsed().unwrap_or_default(),
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

fn text(value: Option<&impl fmt::Display>) -> Option<Value> {
    Some(Value::Word(value?.to_string().into()))
}

/// A text as its type spells it.
fn spelling<T: FromStr<Err = CaseError> + fmt::Display>(text: &str) -> Result<Value, CaseError> {
    Ok(Value::Word(text.parse::<T>()?.to_string().into()))
}

impl Axis {
    /// The axis of a key.
    pub fn of_key(key: &str) -> Option<&'static Axis> {
        AXES.iter().find(|axis| axis.key == key)
    }
    /// The value of a case, if it has one: what its workload does not have only where somebody
    /// asked for it nevertheless.
    pub fn get(&self, case: &Case) -> Option<Value> {
        let value = (self.read)(case)?;
        (self.of.has(case.workload) || !self.is_left_out(&value)).then_some(value)
    }
    fn is_left_out(&self, value: &Value) -> bool {
        match self.spelled {
            Spelled::Always => false,
            Spelled::UnlessDefault => self.default.as_ref() == Some(value),
            Spelled::Never => true,
        }
    }
    /// Gives a case a value of this axis.
    pub fn set(&self, case: &mut Case, value: &Value) {
        (self.write)(case, value);
    }
    /// The value as the spelling of a case has it, if it does.
    pub fn spelled(&self, case: &Case) -> Option<Value> {
        self.get(case).filter(|value| !self.is_left_out(value))
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
        let most = match self {
            Kind::Word(read) => return read(text),
            Kind::Time { .. } => u64::MAX,
            Kind::Bytes { .. } | Kind::Count { .. } | Kind::Rate { .. } => u32::MAX.into(),
        };
        let number = text.parse().ok().filter(|number| *number <= most);
        number.map(Value::Number).ok_or_else(|| CaseError::Value {
            key: key.to_owned(),
            got: text.to_owned(),
            want: "a whole number that is not negative and not too large".into(),
        })
    }
}

impl Value {
    /// A word.
    pub const fn word(word: &'static str) -> Self {
        Value::Word(Cow::Borrowed(word))
    }
    /// A number, if it is one that fits.
    pub fn number<T: TryFrom<u64>>(&self) -> Option<T> {
        match self {
            Value::Number(number) => T::try_from(*number).ok(),
            Value::Word(_) => None,
        }
    }
    /// What a word stands for.
    pub fn parsed<T: FromStr>(&self) -> Option<T> {
        match self {
            Value::Number(_) => None,
            Value::Word(word) => word.parse().ok(),
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Number(value) => value.fmt(f),
            Value::Word(word) => f.pad(word),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_axis_reads_it_gives_a_case_and_finds_there() {
        for axis in AXES.iter().filter(|axis| axis.is_part()) {
            let text = match axis.key {
                "ack" => "window:3",
                "boundary" => "thread",
                "place" => "cross-node",
                "wait" => "spin:block",
                "idle-knob" => "spinner",
                "arrivals" => "on-off",
                "queue" => "drop-oldest:7",
                "background" => "same-mechanism:7",
                "ack-size" => "field",
                "touch" => "none",
                "sched" => "fifo:2",
                "runtime" => "python:rust",
                _ => "7",
            };
            let mut case = Case::new(Workload::Wake, "pipe");
            let value = axis.kind.read(axis.key, text).unwrap();
            axis.set(&mut case, &value);
            assert_eq!(axis.get(&case), Some(value.clone()), "{}", axis.key);
            assert_eq!(axis.spelled(&case).unwrap().to_string(), text);
            assert_eq!(Axis::of_key(axis.key).unwrap().key, axis.key);
            let read = |word: &Value| axis.kind.read(axis.key, &word.to_string()).unwrap();
            assert!(axis.default.as_ref().is_none_or(|default| read(default) == *default));
        }
    }
}
