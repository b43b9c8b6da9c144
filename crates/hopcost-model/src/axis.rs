//! The axes of a case: one table, over which loop the spelling of a case, selectors and
//! suites, the command line and its help, and the planner. What an axis shows in documents
//! and files stands in [`crate::columns`].

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use crate::case::{
    Ack, AckSize, Arrivals, Boundary, Case, CaseError, IdleKnob, Placement, Runtimes, Sched, Touch,
    Waits, Workload, unfit,
};
use crate::units::Rate;

/// An axis of a case, or another way to give one.
#[derive(Clone, Copy)]
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
    default: Option<&'static str>,
    read: fn(&Case) -> Option<Value>,
    write: fn(&mut Case, &Value),
}

/// Which values an axis has.
#[derive(Debug, Clone, Copy)]
pub enum Kind {
    /// Numbers from the least to the most: whole ones, but rates in thousandths.
    Number(Unit, u64, u64),
    /// Words, by the type that checks them.
    Word(fn(&str) -> Result<Value, CaseError>),
}

/// What a number on an axis is of, and so how people write it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Bytes.
    Bytes,
    /// A number of things.
    Count,
    /// Messages a second.
    Rate,
    /// Nanoseconds, which the spelling of a case has without their unit.
    Time,
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
    /// Those with two ends whose mechanism declares it.
    Declared,
    /// Round trips, likewise.
    Roundtrip,
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
    /// Messages a second.
    Rate(Rate),
    /// The spelling of anything else.
    Word(Cow<'static, str>),
}

const BYTES_MAX: u64 = u32::MAX as u64;
/// The kernel doubles what it is asked for, in a signed number of 32 bits.
const BUFFER_MAX: u64 = (1 << 30) - 1;

/// Every axis, in the order of the spelling; the parameters of the mechanism stand before those
/// that are spelled [`Spelled::UnlessDefault`].
pub static AXES: [Axis; 24] = [
    Axis::new("payload", Kind::Number(Unit::Bytes, 0, BYTES_MAX), Of::Payload)
        .help("Payloads (64,4KiB, or 64..64KiB by powers of four)")
        .stored(|case| number(case.payload_bytes), |case, of| case.payload_bytes = of.parsed()),
    Axis::new("field", Kind::Number(Unit::Bytes, 1, BYTES_MAX), Of::StreamPayload)
        .help("Bytes of one field, instead of --payload (256,4KiB, or a range)")
        .derived(|case| number(case.field_bytes())),
    // What one sendmsg takes (IOV_MAX, limits.h).
    Axis::new("fields", Kind::Number(Unit::Count, 1, 1024), Of::Stream)
        .help("Fields of a stream's message (8)")
        .with_default("8")
        .stored(|case| number(case.fields), |case, of| case.fields = of.parsed()),
    // Each has a thread at either end.
    Axis::new("flows", Kind::Number(Unit::Count, 1, 64), Of::Stream)
        .help("Flows of a stream (1,4, or 1..8 by powers of two)")
        .with_default("1")
        .stored(|case| number(case.flows), |case, of| case.flows = of.parsed()),
    Axis::new("ack", Kind::Word(spelling::<Ack>), Of::Stream)
        .help("When a stream is acknowledged (none, per-message, window:N)")
        .with_default("per-message")
        .stored(|case| text(case.ack.as_ref()), |case, of| case.ack = of.parsed()),
    Axis::new("gap", Kind::Number(Unit::Time, 0, 10_000_000_000), Of::Wake)
        .help("Gaps before a wake-up (10us,1ms, or 1us..1ms by powers of ten)")
        .with_default("1000000")
        .stored(|case| number(case.gap_ns), |case, of| case.gap_ns = of.parsed()),
    Axis::new("rate", Kind::Number(Unit::Rate, RATE_MIN, RATE_MAX), Of::Load)
        .help("Messages per second of a load (0.5,10k,1.5M, or 10k..800k, doubled each time)")
        .with_default("10000")
        .stored(|case| case.rate.map(Value::Rate), |case, of| case.rate = of.parsed()),
    Axis::new("boundary", Kind::Word(spelling::<Boundary>), Of::TwoEnds)
        .help("Boundaries (inline, thread, process, namespace, host)")
        .stored(
            |case| {
                let has = case.workload.has_two_ends() || case.boundary != Boundary::Inline;
                text(Some(&case.boundary).filter(|_| has))
            },
            |case, of| of.put(&mut case.boundary),
        ),
    Axis::new("place", Kind::Word(spelling::<Placement>), Of::TwoEnds)
        .help("Placements (same-cpu, cross, smt, same-llc, cross-llc, cross-node, free)")
        .stored(|case| text(case.placement.as_ref()), |case, of| case.placement = of.parsed()),
    Axis::new("wait", Kind::Word(spelling::<Waits>), Of::TwoEnds)
        .help("Waits (block, spin, yield, spin-then-block, epoll). Per end: caller:callee")
        .stored(|case| text(case.waits.as_ref()), |case, of| case.waits = of.parsed()),
    Axis::new("spin", Kind::Number(Unit::Time, 0, u64::MAX), Of::SpinThenBlock)
        .help("Budgets of spin-then-block (20us)")
        .with_default("20000")
        .stored(|case| number(case.spin_budget_ns), |case, of| case.spin_budget_ns = of.parsed()),
    Axis::new("idle-knob", Kind::Word(spelling::<IdleKnob>), Of::Wake)
        .help("Idle knobs of a wake-up (none, dma-latency, spinner)")
        .spelled_unless("none")
        .stored(|case| text(Some(&case.idle_knob)), |case, of| of.put(&mut case.idle_knob)),
    Axis::new("arrivals", Kind::Word(spelling::<Arrivals>), Of::Load)
        .help("Arrivals of a load (constant, exponential, on-off)")
        .spelled_unless("exponential")
        .stored(|case| text(Some(&case.arrivals)), |case, of| of.put(&mut case.arrivals)),
    Axis::new("senders", Kind::Number(Unit::Count, 1, SENDERS_MAX as u64), Of::Load)
        .help("Senders that share the rate and the receiver of a load (1,4, or 1..8 by powers of two)")
        .spelled_unless("1")
        .stored(|case| number(Some(case.senders)), |case, of| of.put(&mut case.senders)),
    Axis::new("ack-size", Kind::Word(spelling::<AckSize>), Of::Stream)
        .help("Bytes of an acknowledgement of a stream (8, field)")
        .spelled_unless("8")
        .stored(|case| text(Some(&case.ack_size)), |case, of| of.put(&mut case.ack_size)),
    Axis::new("window", Kind::Number(Unit::Count, 1, 256), Of::Roundtrip)
        .help("Round trips in flight (1,4,16, or 1..64 doubled each time)")
        .spelled_unless("1")
        .stored(|case| number(Some(case.window)), |case, of| of.put(&mut case.window)),
    Axis::new("connections", Kind::Number(Unit::Count, 1, 4096), Of::Roundtrip)
        .help("Connections that round trips use in turn; the callee waits for all by epoll (1,64,1024)")
        .spelled_unless("1")
        .stored(|case| number(Some(case.connections)), |case, of| of.put(&mut case.connections)),
    Axis::new("congestion", Kind::Word(congestion), Of::Declared)
        .help("Congestion controls of TCP (cubic, bbr, reno; system: what new sockets have)")
        .spelled_unless("system")
        .stored(|case| text(Some(&case.congestion)), |case, of| of.put(&mut case.congestion)),
    Axis::new("sndbuf", Kind::Number(Unit::Bytes, 0, BUFFER_MAX), Of::Declared)
        .help("Send buffers of TCP (64KiB,1MiB; 0: the kernel sizes it)")
        .spelled_unless("0")
        .stored(|case| number(Some(case.sndbuf_bytes)), |case, of| of.put(&mut case.sndbuf_bytes)),
    Axis::new("rcvbuf", Kind::Number(Unit::Bytes, 0, BUFFER_MAX), Of::Declared)
        .help("Receive buffers of TCP (64KiB,1MiB; 0: the kernel sizes it)")
        .spelled_unless("0")
        .stored(|case| number(Some(case.rcvbuf_bytes)), |case, of| of.put(&mut case.rcvbuf_bytes)),
    Axis::new("busy-poll", Kind::Number(Unit::Time, 0, 1_000_000_000), Of::Declared)
        .help("How long a receive polls the device's queue (50us; 0: net.core.busy_read)")
        .spelled_unless("0")
        .stored(|case| number(Some(case.busy_poll_ns)), |case, of| of.put(&mut case.busy_poll_ns)),
    Axis::new("touch", Kind::Word(spelling::<Touch>), Of::TwoEnds)
        .help("Payload access (verify, write, none)")
        .spelled_unless("verify")
        .stored(|case| text(Some(&case.touch)), |case, of| of.put(&mut case.touch)),
    Axis::new("sched", Kind::Word(spelling::<Sched>), Of::Every)
        .help("Scheduling policies of both ends (other, fifo:N)")
        .spelled_unless("other")
        .stored(|case| text(Some(&case.sched)), |case, of| of.put(&mut case.sched)),
    Axis::new("runtime", Kind::Word(spelling::<Runtimes>), Of::Every)
        .help("Runtimes of the ends (rust, python), per end as caller:callee")
        .spelled_unless("rust")
        .stored(|case| text(Some(&case.runtimes)), |case, of| of.put(&mut case.runtimes)),
];

/// Senders of a load at most: each spins on a CPU.
pub const SENDERS_MAX: u32 = 16;
/// The least rate of a load in thousandths: a trial has 20 messages at least, and is to end.
pub const RATE_MIN: u64 = 10;
/// The highest: beyond it the distance of two messages is a few reads of the clock.
pub const RATE_MAX: u64 = 20_000_000_000;

fn number(number: Option<impl Into<u64>>) -> Option<Value> {
    Some(Value::Number(number?.into()))
}

fn text(value: Option<&impl fmt::Display>) -> Option<Value> {
    Some(Value::Word(value?.to_string().into()))
}

/// The name of a congestion control, which fits TCP_CA_NAME_MAX.
fn congestion(text: &str) -> Result<Value, CaseError> {
    let is_name = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    match (1..16).contains(&text.len()) && text.bytes().all(is_name) {
        true => Ok(Value::Word(text.to_owned().into())),
        false => Err(unfit("congestion", text, "a name such as `cubic`")),
    }
}

/// A text as its type spells it.
fn spelling<T: FromStr<Err = CaseError> + fmt::Display>(text: &str) -> Result<Value, CaseError> {
    Ok(Value::Word(text.parse::<T>()?.to_string().into()))
}

impl Axis {
    /// One that every case which has it spells, and whose values nobody stores.
    const fn new(key: &'static str, kind: Kind, of: Of) -> Self {
        let (spelled, default) = (Spelled::Always, None);
        Self { key, help: "", kind, of, spelled, default, read: |_| None, write: |_, _| () }
    }
    const fn help(self, help: &'static str) -> Self {
        Self { help, ..self }
    }
    const fn with_default(self, default: &'static str) -> Self {
        Self { default: Some(default), ..self }
    }
    const fn spelled_unless(self, default: &'static str) -> Self {
        Self { spelled: Spelled::UnlessDefault, default: Some(default), ..self }
    }
    const fn stored(self, read: fn(&Case) -> Option<Value>, write: fn(&mut Case, &Value)) -> Self {
        Self { read, write, ..self }
    }
    const fn derived(self, read: fn(&Case) -> Option<Value>) -> Self {
        Self { spelled: Spelled::Never, read, ..self }
    }

    /// The value where none is asked for; absent where the mechanism decides.
    pub fn default(&self) -> Option<Value> {
        self.kind.read(self.key, self.default?).ok()
    }
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
            Spelled::UnlessDefault => {
                self.default.is_some_and(|default| value.to_string() == default)
            }
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
    /// Whether a mechanism has to declare it.
    pub fn is_declared(self) -> bool {
        matches!(self, Of::Declared | Of::Roundtrip)
    }
    /// Whether cases of a workload may have it.
    pub fn has(self, workload: Workload) -> bool {
        match self {
            Of::Every | Of::Payload => true,
            Of::Stream | Of::StreamPayload => workload == Workload::Stream,
            Of::Wake => workload == Workload::Wake,
            Of::Load => workload == Workload::Load,
            Of::Roundtrip => workload == Workload::Roundtrip,
            Of::TwoEnds | Of::SpinThenBlock | Of::Declared => workload.has_two_ends(),
        }
    }
}

impl Kind {
    /// Reads a value as the spelling of a case has it: numbers without units.
    pub fn read(self, key: &str, text: &str) -> Result<Value, CaseError> {
        let most = match self {
            Kind::Word(read) => return read(text),
            Kind::Number(Unit::Rate, ..) => {
                let rate = text.parse().ok().filter(|rate: &Rate| rate.to_string() == text);
                return rate.map(Value::Rate).ok_or_else(|| unfit(key, text, "a number above 0"));
            }
            Kind::Number(Unit::Time, ..) => u64::MAX,
            Kind::Number(..) => u32::MAX.into(),
        };
        let number = text.parse().ok().filter(|number| *number <= most);
        let want = "a whole number that is not negative and not too large";
        number.map(Value::Number).ok_or_else(|| unfit(key, text, want))
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
            Value::Rate(rate) => T::try_from(rate.whole()?).ok(),
            Value::Word(_) => None,
        }
    }
    /// What it stands for, by its spelling.
    pub fn parsed<T: FromStr>(&self) -> Option<T> {
        self.to_string().parse().ok()
    }
    /// Sets a field to what it stands for; what does not fit leaves the field as it is.
    fn put<T: FromStr>(&self, field: &mut T) {
        if let Some(value) = self.parsed() {
            *field = value;
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Number(value) => value.fmt(f),
            Value::Rate(rate) => rate.fmt(f),
            Value::Word(word) => f.pad(word),
        }
    }
}

/// Bytes up to which the message of a wake-up is none: a pipe or socket cannot wake without one
/// byte, a notifier has none.
const BARE_BYTES: u64 = 1;

impl Case {
    /// The axes on which it has to agree with another for a multiple to mean something.
    fn axes_alike(&self) -> impl Iterator<Item = &'static Axis> {
        self.workload.spec().alike.iter().filter_map(|key| Axis::of_key(key))
    }

    /// Whether a multiple of another case means something, as far as their parts tell.
    pub fn is_alike(&self, other: &Case) -> bool {
        self.workload == other.workload && self.unlike_in(other).is_none()
    }

    /// The first axis that keeps a multiple of another case of the workload from meaning something.
    pub fn unlike_in(&self, other: &Case) -> Option<&'static Axis> {
        let value = |axis: &Axis, case: &Case| match axis.get(case) {
            // No payload is as good as one of 0 bytes.
            None => Value::Number(0),
            Some(Value::Number(0..=BARE_BYTES))
                if axis.key == "payload" && case.workload == Workload::Wake =>
            {
                Value::Number(0)
            }
            Some(value) => value,
        };
        self.axes_alike().find(|axis| value(axis, self) != value(axis, other))
    }

    /// Whether it is another case but for the boundary, the size, the place and whatever else
    /// two cases have to have in common: where that is the baseline, it is the baseline of those
    /// cases that it is alike to, of those of its own boundary first.
    pub fn is_of_kind(&self, other: &Case) -> bool {
        let mut like = Case { boundary: self.boundary, ..other.clone() };
        for axis in self.axes_alike() {
            if let Some(value) = axis.get(self) {
                axis.set(&mut like, &value);
            }
        }
        like == *self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::columns::CaseParts;

    /// A value that is not the default.
    fn other(axis: &Axis) -> &'static str {
        match axis.key {
            "ack" => "window:3",
            "boundary" => "thread",
            "place" => "cross-node",
            "wait" => "spin:block",
            "idle-knob" => "spinner",
            "arrivals" => "on-off",
            "ack-size" => "field",
            "congestion" => "bbr",
            "touch" => "none",
            "sched" => "fifo:2",
            "runtime" => "python:rust",
            _ => "7",
        }
    }

    #[test]
    fn each_axis_is_stored_spelled_and_in_the_columns() {
        let workloads = [Workload::Stream, Workload::Wake, Workload::Load, Workload::Roundtrip];
        for axis in AXES.iter().filter(|axis| axis.is_part()) {
            let workload = workloads.into_iter().find(|workload| axis.of.has(*workload)).unwrap();
            let ack = (workload == Workload::Stream).then_some(Ack::PerMessage);
            let rate = (workload == Workload::Load).then_some(8.into());
            let usual = Case { ack, rate, ..Case::new(workload, "pipe") };
            let (mut case, text) = (usual.clone(), other(axis));
            axis.set(&mut case, &axis.kind.read(axis.key, text).unwrap());
            assert_eq!(axis.spelled(&case).unwrap().to_string(), text);
            assert!(case.to_string().contains(&format!("{}={text}", axis.key)), "{case}");
            assert_ne!(CaseParts::of(&case), CaseParts::of(&usual), "{} has no column", axis.key);
            assert_ne!(axis.default(), axis.get(&case), "{}", axis.key);
            assert_eq!(axis.default().is_some(), axis.default.is_some(), "{}", axis.key);
            assert_eq!(Axis::of_key(axis.key).unwrap().key, axis.key);
        }
        let spin = Axis::of_key("spin").unwrap().default();
        assert_eq!(spin, Some(Value::Number(crate::case::SPIN_BUDGET_NS)));
    }

    #[test]
    fn each_field_of_a_case_is_on_an_axis() {
        let shown = format!("{:#?}", Case::new(Workload::Call, "pipe"));
        let is_field = |line: &&str| !line.starts_with("     ") && line.contains(": ");
        let fields = shown.lines().filter(is_field).count();
        let axes = AXES.iter().filter(|axis| axis.is_part()).count();
        assert_eq!(fields, axes + 3, "beside workload, mechanism and parameters:\n{shown}");
    }

    use crate::case::Placement;

    fn case(id: &str) -> Case {
        id.parse().unwrap()
    }

    #[test]
    fn wake_ups_without_a_message_are_alike() {
        let of = |mechanism: &str, payload: u32, gap: u32| {
            let sides = "boundary=process&place=same-llc&wait=block";
            case(&format!("wake/{mechanism}?payload={payload}&gap={gap}&{sides}"))
        };
        assert!(of("eventfd", 0, 1000).is_alike(&of("pipe", 1, 1000)));
        assert!(!of("eventfd", 0, 1000).is_alike(&of("pipe", 2, 1000)));
        assert!(!of("eventfd", 0, 1000).is_alike(&of("pipe", 1, 2000)));
        let elsewhere = Case { placement: Some(Placement::Free), ..of("pipe", 1, 1000) };
        assert!(!of("eventfd", 0, 1000).is_alike(&elsewhere));
        let roundtrip = "roundtrip/pipe?payload=1&boundary=process&place=same-llc&wait=block";
        assert!(!case(roundtrip).is_alike(&case(&roundtrip.replace("=1&", "=0&"))));
    }

    #[test]
    fn a_kind_is_of_every_size_gap_and_number_of_flows() {
        let stream = "stream/tcp-send?payload=64&fields=8&flows=1&ack=none&boundary=process\
                      &place=free&wait=block&more=off";
        for (from, to, kind) in [
            ("payload=64", "payload=128", true),
            ("flows=1", "flows=4", true),
            ("ack=none", "ack=window:2", true),
            ("more=off", "more=on", false),
            ("tcp-send", "tcp-sendmsg", false),
            ("place=free", "place=same-cpu", true),
            ("boundary=process", "boundary=thread", true),
            ("wait=block", "wait=epoll", false),
        ] {
            let other = case(&stream.replace(from, to));
            assert_eq!(other.is_of_kind(&case(stream)), kind, "{to}");
        }
    }
}
