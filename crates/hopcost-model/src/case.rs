//! A case: workload × mechanism × waits × boundary × placement × parameters.
//! [`crate::axis`] lists its axes and [`crate::spelling`] writes and reads it.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use crate::units::Rate;

/// Declares enums of words with their spelling, used in files, on the
/// command line and in output alike.
#[macro_export]
#[doc(hidden)]
macro_rules! words {
    ($($(#[$meta:meta])* $name:ident, $what:literal { $($(#[$vmeta:meta])* $variant:ident = $word:literal),+ $(,)? })+) => {$(
        $(#[$meta])*
        #[derive(
            Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord,
            serde::Serialize, serde::Deserialize,
        )]
        pub enum $name { $($(#[$vmeta])* #[serde(rename = $word)] $variant),+ }

        impl $name {
            /// Every value, in the order of the documentation.
            pub const ALL: &'static [$name] = &[$($name::$variant),+];
            /// The spelling.
            pub const fn word(self) -> &'static str { match self { $($name::$variant => $word),+ } }
        }
        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.word())
            }
        }
        impl std::str::FromStr for $name {
            type Err = $crate::case::CaseError;
            fn from_str(s: &str) -> Result<Self, $crate::case::CaseError> {
                match s { $($word => Ok($name::$variant),)+
                    _ => Err($crate::case::CaseError::Word { what: $what, got: s.to_owned(),
                        known: Self::ALL.iter().map(|v| v.word()).collect() }) }
            }
        }
    )+};
}

words! {
    /// What is done with the mechanism, and so what the number means.
    #[derive(Default)]
    Workload, "workload" {
        /// One operation in one thread, no second party.
        #[default]
        Call = "call",
        /// Strict request and reply, one outstanding, closed loop.
        Roundtrip = "roundtrip",
        /// One-way notification after an idle gap, stamped at both ends.
        Wake = "wake",
        /// Throughput: messages of several fields over one or more flows.
        Stream = "stream",
        /// One-way messages at a fixed rate, timed from when each was to be sent.
        Load = "load",
    }

    /// What separates the two ends.
    #[derive(Default)]
    Boundary, "boundary" {
        /// Same thread.
        Inline = "inline",
        /// Two threads of one process.
        Thread = "thread",
        /// Two processes.
        #[default]
        Process = "process",
        /// Two processes, the ends of whose sockets are in two network namespaces
        /// joined by a veth pair.
        Namespace = "namespace",
        /// Two processes on two hosts.
        Host = "host",
    }

    /// Where the two ends run, relative to each other.
    Placement, "place" {
        /// Both pinned to one CPU.
        SameCpu = "same-cpu",
        /// Pinned to two hardware threads of one core.
        Smt = "smt",
        /// Pinned to two cores that share their last-level cache.
        SameLlc = "same-llc",
        /// Pinned to two cores of one NUMA node with different last-level caches.
        CrossLlc = "cross-llc",
        /// Pinned to two NUMA nodes.
        CrossNode = "cross-node",
        /// Not pinned: the scheduler decides.
        Free = "free",
        /// Each pinned to a CPU of its own host.
        Pinned = "pinned",
    }

    /// How an end waits for the other.
    WaitKind, "wait" {
        /// Asleep in the kernel until woken.
        Block = "block",
        /// Tries again at once, with a pause instruction between two looks at memory unless a
        /// parameter says otherwise.
        Spin = "spin",
        /// Tries again after `sched_yield`.
        Yield = "yield",
        /// Spins for a budget, then blocks.
        SpinThenBlock = "spin-then-block",
        /// Asleep in `epoll_wait`, then reads.
        Epoll = "epoll",
        /// Receives until there is nothing, then asleep in `epoll_wait`, which tells of an arrival
        /// once (EPOLLET).
        EpollEdge = "epoll-edge",
    }

    /// What keeps the receiver's CPU from idling deeply while it waits.
    #[derive(Default)]
    IdleKnob, "idle-knob" {
        /// Nothing.
        #[default]
        None = "none",
        /// `/dev/cpu_dma_latency` held open at 0 µs (Documentation/power/pm_qos_interface.rst).
        DmaLatency = "dma-latency",
        /// A process that spins at SCHED_IDLE (sched(7)) on the receiver's CPU.
        Spinner = "spinner",
    }

    /// When the messages of a `load` are to be sent.
    #[derive(Default)]
    Arrivals, "arrivals" {
        /// At equal distances.
        Constant = "constant",
        /// At exponentially distributed distances: a Poisson process.
        #[default]
        Exponential = "exponential",
        /// A millisecond at twice the rate, a millisecond of nothing, in turn.
        OnOff = "on-off",
    }

    /// How much of a message the ends write and compare.
    #[derive(Default)]
    Touch, "touch" {
        /// Every byte is written, and every byte compared.
        #[default]
        Verify = "verify",
        /// Every byte is written; the first eight are compared.
        Write = "write",
        /// The first eight bytes are written and compared: they tell the message from others.
        None = "none",
    }

    /// How long the acknowledgement of a stream's message is.
    #[derive(Default)]
    AckSize, "ack-size" {
        /// The eight bytes of the message's number.
        #[default]
        Number = "8",
        /// As long as a field of the message, if that is more.
        Field = "field",
    }

    /// Which end of a link.
    #[derive(Default)]
    Role, "role" {
        /// The end that starts an exchange and takes the stamps.
        #[default]
        Caller = "caller",
        /// The end that answers.
        Callee = "callee",
    }
}

impl WaitKind {
    /// Whether an end that waits like this sleeps as soon as there is nothing for it; else it keeps a CPU
    /// busy, at least for a while.
    pub const fn sleeps(self) -> bool {
        matches!(self, WaitKind::Block | WaitKind::Epoll | WaitKind::EpollEdge)
    }
}

impl Placement {
    /// Whether the ends are pinned to two CPUs.
    pub const fn is_two_cpu(self) -> bool {
        !matches!(self, Placement::SameCpu | Placement::Free)
    }
}

impl Role {
    /// The end at the other side of the link.
    pub const fn other(self) -> Role {
        match self {
            Role::Caller => Role::Callee,
            Role::Callee => Role::Caller,
        }
    }
}

/// What an end is written in: a language's own name (`rust`, `python`), or that of
/// somebody's worker. Lower-case letters, digits and `-`, `_`, `.`, `+`, a letter
/// first, at most 32 characters.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Runtime(std::borrow::Cow<'static, str>);

impl Runtime {
    /// The worker inside the hopcost binary.
    pub const RUST: Runtime = Runtime(std::borrow::Cow::Borrowed("rust"));
    /// The spelling.
    pub fn word(&self) -> &str {
        &self.0
    }
    /// Whether it is the worker inside the hopcost binary.
    pub fn is_rust(&self) -> bool {
        self.0 == "rust"
    }
    /// The library that its worker measures: `zeromq` of `c+zeromq`. Several workers of one
    /// language differ in it; a second build of one worker has a number there.
    pub fn library(&self) -> Option<&str> {
        library_of(&self.0)
    }
}

/// The library of a runtime's spelling; none of two runtimes.
pub fn library_of(runtime: &str) -> Option<&str> {
    let (_, library) = runtime.split_once('+')?;
    let is_name = library.starts_with(|first: char| first.is_ascii_lowercase());
    (is_name && !library.contains(':')).then_some(library)
}
impl fmt::Display for Runtime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}
impl FromStr for Runtime {
    type Err = CaseError;
    fn from_str(s: &str) -> Result<Self, CaseError> {
        let rest = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b"-_.+".contains(&b);
        let fits = s.len() <= 32
            && s.bytes().next().is_some_and(|b| b.is_ascii_lowercase())
            && s.bytes().all(rest);
        if !fits {
            return Err(unfit("runtime", s, "a name such as `python`, or `caller:callee`"));
        }
        Ok(Runtime(s.to_owned().into()))
    }
}

/// What each of the two ends has; spelled as one (`block`) or, where they differ, as
/// `caller:callee`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Ends<T> {
    /// The caller's.
    pub caller: T,
    /// The callee's; the caller's where there is no second end.
    pub callee: T,
}

/// How both ends wait.
pub type Waits = Ends<WaitKind>;
/// What both ends are written in.
pub type Runtimes = Ends<Runtime>;

impl<T: Clone + PartialEq> Ends<T> {
    /// Both ends have the same.
    pub fn both(one: T) -> Self {
        Self { callee: one.clone(), caller: one }
    }
    /// That of one end.
    pub fn of(&self, role: Role) -> &T {
        match role {
            Role::Caller => &self.caller,
            Role::Callee => &self.callee,
        }
    }
    /// Whether the ends differ.
    pub fn are_mixed(&self) -> bool {
        self.caller != self.callee
    }
    /// Whether either end has this.
    pub fn any(&self, one: T) -> bool {
        self.caller == one || self.callee == one
    }
}
impl Runtimes {
    /// Both ends in Rust.
    pub const RUST: Runtimes = Ends { caller: Runtime::RUST, callee: Runtime::RUST };
    /// Whether both are the worker inside the hopcost binary.
    pub fn are_rust(&self) -> bool {
        self.caller.is_rust() && self.callee.is_rust()
    }
}
impl Default for Runtimes {
    fn default() -> Self {
        Self::RUST
    }
}
impl<T: fmt::Display + PartialEq> fmt::Display for Ends<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.caller == self.callee {
            true => self.caller.fmt(f),
            false => f.pad(&format!("{}:{}", self.caller, self.callee)),
        }
    }
}
impl<T: Clone + PartialEq + FromStr<Err = CaseError>> FromStr for Ends<T> {
    type Err = CaseError;
    fn from_str(s: &str) -> Result<Self, CaseError> {
        match s.split_once(':') {
            None => Ok(Self::both(s.parse()?)),
            Some((caller, callee)) => Ok(Self { caller: caller.parse()?, callee: callee.parse()? }),
        }
    }
}

/// Declares enums of words, of which some have a number behind a colon, from 1 to the most.
macro_rules! numbered_words {
    (@show $f:ident $word:literal) => { $f.write_str($word) };
    (@show $f:ident $word:literal $number:ident) => { write!($f, "{}:{}", $word, $number) };
    (@number) => { None };
    (@number $number:ident) => { Some($number) };
    ($($(#[$meta:meta])* $name:ident, $what:literal, $most:literal, $want:literal {
        $($(#[$vmeta:meta])* $variant:ident $(($number:ident: $type:ty))? = $word:literal,)+
    })+) => {$(
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum $name { $($(#[$vmeta])* $variant $(($type))?,)+ }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self {
                    $($name::$variant $(($number))? => numbered_words!(@show f $word $($number)?),)+
                }
            }
        }
        impl FromStr for $name {
            type Err = CaseError;
            fn from_str(s: &str) -> Result<Self, CaseError> {
                match numbered(s, $most) {
                    $(Some(($word, numbered_words!(@number $($number)?))) => {
                        Ok($name::$variant $(($number))?)
                    })+
                    _ => Err(unfit($what, s, $want)),
                }
            }
        }
    )+};
}

numbered_words! {
    /// The scheduling policy of both ends.
    #[derive(Default)]
    Sched, "sched", 99, "`other` or `fifo:N` with N from 1 to 99" {
        /// The default time-sharing policy.
        #[default]
        Other = "other",
        /// SCHED_FIFO at this priority (1 to 99, sched(7)).
        Fifo(priority: u8) = "fifo",
    }

    /// When the receiver of a stream acknowledges.
    Ack, "ack", 1024, "`none`, `per-message` or `window:N` with N from 1 to 1024" {
        /// Never: only the transport holds the sender back.
        None = "none",
        /// Every message, and the sender waits for it: one message is outstanding.
        PerMessage = "per-message",
        /// Every message; the sender may be this many messages ahead (1 to 1024).
        Window(messages: u16) = "window",
    }
}

impl Ack {
    /// Messages that may be outstanding; `None` if nothing but the transport limits them.
    pub const fn window(self) -> Option<u64> {
        match self {
            Ack::None => None,
            Ack::PerMessage => Some(1),
            Ack::Window(messages) => Some(messages as u64),
        }
    }
}

/// Takes `window:16` apart into its word and its number, from 1 to `most`; a word alone has none.
fn numbered<T: FromStr + PartialOrd + From<u8>>(text: &str, most: T) -> Option<(&str, Option<T>)> {
    let Some((word, number)) = text.split_once(':') else { return Some((text, None)) };
    let number = number.parse().ok().filter(|n| (T::from(1)..=most).contains(n))?;
    Some((word, Some(number)))
}

/// A value that does not fit its key.
pub(crate) fn unfit(key: &str, got: &str, want: &str) -> CaseError {
    CaseError::Other(format!("`{got}` is not a value for `{key}`: want {want}"))
}

/// The default budget of `spin-then-block`, in nanoseconds.
pub const SPIN_BUDGET_NS: u64 = 20_000;

/// One complete case. Build it by parsing or by the planner; print it with
/// `Display` to get the canonical spelling.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Case {
    /// What is done.
    pub workload: Workload,
    /// The mechanism's name; a test engine carries its argument (`sleep:1ms`).
    pub mechanism: String,
    /// Bytes per message; `None` where the mechanism carries none.
    pub payload_bytes: Option<u32>,
    /// Fields that a message of a `stream` is made of, each its own allocation;
    /// they share `payload_bytes` evenly. `None` for other workloads.
    pub fields: Option<u32>,
    /// Connections of a `stream`, with a thread at either end of each.
    pub flows: Option<u32>,
    /// When the receiver of a `stream` acknowledges.
    pub ack: Option<Ack>,
    /// How long the sender of a `wake` sleeps before it notifies, in nanoseconds.
    pub gap_ns: Option<u64>,
    /// Messages a second that a `load` offers.
    pub rate: Option<Rate>,
    /// Ends that send them, to one receiver (1 for all but `load`).
    pub senders: u32,
    /// Round trips in flight (1 for all but `roundtrip`).
    pub window: u32,
    /// Connections that they use in turn (1 for all but `roundtrip`).
    pub connections: u32,
    /// What separates the ends (`Inline` for `call`).
    pub boundary: Boundary,
    /// Where the ends run; `None` for `call`.
    pub placement: Option<Placement>,
    /// How the ends wait; `None` for `call`.
    pub waits: Option<Waits>,
    /// The budget of `spin-then-block` in nanoseconds; `None` if no end uses it.
    pub spin_budget_ns: Option<u64>,
    /// Parameters that the mechanism declares, all of them (defaults included).
    pub parameters: BTreeMap<String, String>,
    /// What keeps the receiver's CPU from idling deeply (`wake` only).
    pub idle_knob: IdleKnob,
    /// When messages are to be sent (`Exponential` for all but `load`).
    pub arrivals: Arrivals,
    /// How long an acknowledgement is (`Number` for all but `stream`).
    pub ack_size: AckSize,
    /// The congestion control of TCP; `system` is what new sockets have.
    pub congestion: String,
    /// The send buffer of TCP; 0 where the kernel sizes it.
    pub sndbuf_bytes: u32,
    /// The receive buffer of TCP, likewise.
    pub rcvbuf_bytes: u32,
    /// How long a receive polls the device's queue; 0 where sockets do as they are set up.
    pub busy_poll_ns: u32,
    /// How much of a message the ends write and compare (`Verify` for `call`).
    pub touch: Touch,
    /// The scheduling policy.
    pub sched: Sched,
    /// What the ends are written in.
    pub runtimes: Runtimes,
}

/// Why a spelling is not a case.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CaseError {
    /// A word that is not in the list.
    #[error("unknown {what} `{got}` (known: {})", known.join(", "))]
    Word {
        /// The axis.
        what: &'static str,
        /// What was written.
        got: String,
        /// What could have been.
        known: Vec<&'static str>,
    },
    /// Anything else, in words.
    #[error("{0}")]
    Other(String),
}

impl Case {
    /// With nothing said on any axis.
    pub fn new(workload: Workload, mechanism: &str) -> Self {
        Self {
            workload,
            mechanism: mechanism.to_owned(),
            senders: 1,
            window: 1,
            connections: 1,
            boundary: Boundary::Inline,
            congestion: "system".to_owned(),
            ..Self::default()
        }
    }
    /// The mechanism's name without a test engine's argument.
    pub fn mechanism_name(&self) -> &str {
        self.mechanism.split(':').next().unwrap_or(&self.mechanism)
    }
    /// A test engine's argument (`1ms` of `sleep:1ms`).
    pub fn argument(&self) -> Option<&str> {
        self.mechanism.split_once(':').map(|(_, argument)| argument)
    }
    /// Whether a test engine's virtual clock stamps it, whose tick is a nanosecond.
    pub fn has_virtual_clock(&self) -> bool {
        self.parameters.get("clock").is_some_and(|clock| clock == "virtual")
    }
    /// The wait of one end; a `call` has none and is treated as spinning.
    pub fn wait(&self, role: Role) -> WaitKind {
        self.waits.map_or(WaitKind::Spin, |waits| *waits.of(role))
    }
    /// Whether the ends are two processes.
    pub fn two_processes(&self) -> bool {
        matches!(self.boundary, Boundary::Process | Boundary::Namespace | Boundary::Host)
    }
    /// Bytes of one field of a stream's message.
    pub fn field_bytes(&self) -> Option<u32> {
        self.payload_bytes?.checked_div(self.fields?)
    }
    /// What it says of a parameter of its mechanism.
    pub fn parameter(&self, name: &str) -> Option<&str> {
        self.parameters.get(name).map(String::as_str)
    }
    /// Whether there is a second party.
    pub fn two_ends(&self) -> bool {
        self.workload.has_two_ends() && self.boundary != Boundary::Inline
    }
    /// Whether it is of plain round trips, one after the other over one connection.
    pub fn is_one_by_one(&self) -> bool {
        (self.window, self.connections) == (1, 1)
    }
    /// The canonical spelling.
    pub fn id(&self) -> String {
        self.to_string()
    }
}
