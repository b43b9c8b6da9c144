//! A case: workload × mechanism × waits × boundary × placement × parameters,
//! and its one canonical spelling.
//!
//! ```text
//! roundtrip/pipe?payload=64&boundary=process&place=same-cpu&wait=block
//! roundtrip/futex?payload=0&boundary=thread&place=same-llc&wait=spin-then-block:block&spin=20000
//! call/ring-inline?payload=44
//! wake/semaphore?payload=0&gap=10000&boundary=process&place=same-llc&wait=block
//! stream/tcp-sendmsg?payload=2048&fields=8&flows=1&ack=per-message&boundary=process&place=free&wait=block
//! ```
//!
//! Keys stand in a fixed order. `payload` is in bytes (of a whole message, all
//! its fields together), `gap` (how long the sender of a `wake` sleeps before it
//! notifies) and `spin` (the budget of `spin-then-block`) in nanoseconds. What
//! does not apply to a workload is left out: a `call` has no second party, so no
//! boundary, placement or wait. Mechanism parameters (`nodelay=on`) follow in
//! alphabetical order, then `idle-knob`, `sched` and `runtime` (`python`, or
//! `python:rust` for caller and callee) where they are not the default.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Declares an enum of words with their spelling, used in files, on the
/// command line and in output alike.
macro_rules! words {
    ($(#[$meta:meta])* $name:ident, $what:literal { $($(#[$vmeta:meta])* $variant:ident = $word:literal),+ $(,)? }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        pub enum $name { $($(#[$vmeta])* #[serde(rename = $word)] $variant),+ }

        impl $name {
            /// Every value, in the order of the documentation.
            pub const ALL: &'static [$name] = &[$($name::$variant),+];
            /// The spelling.
            pub const fn word(self) -> &'static str { match self { $($name::$variant => $word),+ } }
        }
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result { f.pad(self.word()) }
        }
        impl FromStr for $name {
            type Err = CaseError;
            fn from_str(s: &str) -> Result<Self, CaseError> {
                match s { $($word => Ok($name::$variant),)+
                    _ => Err(CaseError::Word { what: $what, got: s.to_owned(),
                        known: Self::ALL.iter().map(|v| v.word()).collect() }) }
            }
        }
    };
}

words! {
    /// What is done with the mechanism, and so what the number means.
    Workload, "workload" {
        /// One operation in one thread, no second party.
        Call = "call",
        /// Strict request and reply, one outstanding, closed loop.
        Roundtrip = "roundtrip",
        /// One-way notification after an idle gap, stamped at both ends.
        Wake = "wake",
        /// Throughput: messages of several fields over one or more flows.
        Stream = "stream",
    }
}
words! {
    /// What separates the two ends.
    Boundary, "boundary" {
        /// Same thread.
        Inline = "inline",
        /// Two threads of one process.
        Thread = "thread",
        /// Two processes.
        Process = "process",
        /// Two processes, the ends of whose sockets are in two network namespaces
        /// joined by a veth pair.
        Namespace = "namespace",
    }
}
words! {
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
    }
}
words! {
    /// How an end waits for the other.
    WaitKind, "wait" {
        /// Asleep in the kernel until woken.
        Block = "block",
        /// Tries again at once, with a pause instruction between tries.
        Spin = "spin",
        /// Tries again after `sched_yield`.
        Yield = "yield",
        /// Spins for a budget, then blocks.
        SpinThenBlock = "spin-then-block",
        /// Asleep in `epoll_wait`, then reads.
        Epoll = "epoll",
    }
}
words! {
    /// What keeps the receiver's CPU from idling deeply while it waits.
    IdleKnob, "idle-knob" {
        /// Nothing.
        None = "none",
        /// `/dev/cpu_dma_latency` held open at 0 µs (Documentation/power/pm_qos_interface.rst).
        DmaLatency = "dma-latency",
        /// A process that spins at SCHED_IDLE (sched(7)) on the receiver's CPU.
        Spinner = "spinner",
    }
}
words! {
    /// Which end of a link.
    Role, "role" {
        /// The end that starts an exchange and takes the stamps.
        Caller = "caller",
        /// The end that answers.
        Callee = "callee",
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

/// How both ends wait; spelled `block` or, when they differ, `caller:callee`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Waits {
    /// The caller's wait.
    pub caller: WaitKind,
    /// The callee's wait.
    pub callee: WaitKind,
}

impl Waits {
    /// Both ends wait the same way.
    pub const fn both(wait: WaitKind) -> Self {
        Self { caller: wait, callee: wait }
    }
    /// Whether either end waits in this way.
    pub fn any(self, wait: WaitKind) -> bool {
        self.caller == wait || self.callee == wait
    }
    /// The wait of one end.
    pub fn of(self, role: Role) -> WaitKind {
        match role {
            Role::Caller => self.caller,
            Role::Callee => self.callee,
        }
    }
}
impl fmt::Display for Waits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.caller == self.callee {
            f.pad(self.caller.word())
        } else {
            f.pad(&format!("{}:{}", self.caller, self.callee))
        }
    }
}
impl FromStr for Waits {
    type Err = CaseError;
    fn from_str(s: &str) -> Result<Self, CaseError> {
        match s.split_once(':') {
            None => Ok(Self::both(s.parse()?)),
            Some((a, b)) => Ok(Self { caller: a.parse()?, callee: b.parse()? }),
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
            return Err(CaseError::Value {
                key: "runtime".into(),
                got: s.to_owned(),
                want: "a name such as `python`, or `caller:callee`".into(),
            });
        }
        Ok(Runtime(s.to_owned().into()))
    }
}

/// What the two ends are written in; spelled `python` or, when they differ,
/// `caller:callee`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Runtimes {
    /// The caller's.
    pub caller: Runtime,
    /// The callee's; the caller's where there is no second end.
    pub callee: Runtime,
}

impl Runtimes {
    /// Both ends in Rust.
    pub const RUST: Runtimes = Runtimes { caller: Runtime::RUST, callee: Runtime::RUST };
    /// Both ends in one.
    pub fn both(runtime: Runtime) -> Self {
        Self { callee: runtime.clone(), caller: runtime }
    }
    /// That of one end.
    pub fn of(&self, role: Role) -> &Runtime {
        match role {
            Role::Caller => &self.caller,
            Role::Callee => &self.callee,
        }
    }
    /// Whether the ends differ.
    pub fn are_mixed(&self) -> bool {
        self.caller != self.callee
    }
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
impl fmt::Display for Runtimes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.are_mixed() {
            f.pad(&format!("{}:{}", self.caller, self.callee))
        } else {
            f.pad(self.caller.word())
        }
    }
}
impl FromStr for Runtimes {
    type Err = CaseError;
    fn from_str(s: &str) -> Result<Self, CaseError> {
        match s.split_once(':') {
            None => Ok(Self::both(s.parse()?)),
            Some((a, b)) => Ok(Self { caller: a.parse()?, callee: b.parse()? }),
        }
    }
}

/// The scheduling policy of both ends; spelled `other` or `fifo:N`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub enum Sched {
    /// The default time-sharing policy.
    #[default]
    Other,
    /// SCHED_FIFO at this priority (1 to 99, sched(7)).
    Fifo(u8),
}
impl fmt::Display for Sched {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Sched::Other => f.write_str("other"),
            Sched::Fifo(priority) => write!(f, "fifo:{priority}"),
        }
    }
}
impl FromStr for Sched {
    type Err = CaseError;
    fn from_str(s: &str) -> Result<Self, CaseError> {
        if s == "other" {
            return Ok(Sched::Other);
        }
        s.strip_prefix("fifo:")
            .and_then(|n| n.parse().ok())
            .filter(|n| (1..=99).contains(n))
            .map(Sched::Fifo)
            .ok_or_else(|| CaseError::Value {
                key: "sched".into(),
                got: s.to_owned(),
                want: "`other` or `fifo:N` with N from 1 to 99".into(),
            })
    }
}

/// When the receiver of a stream acknowledges; spelled `none`, `per-message` or
/// `window:N`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Ack {
    /// Never: only the transport holds the sender back.
    None,
    /// Every message, and the sender waits for it: one message is outstanding.
    PerMessage,
    /// Every message; the sender may be this many messages ahead (1 to 1024).
    Window(u16),
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
impl fmt::Display for Ack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Ack::None => f.write_str("none"),
            Ack::PerMessage => f.write_str("per-message"),
            Ack::Window(messages) => write!(f, "window:{messages}"),
        }
    }
}
impl FromStr for Ack {
    type Err = CaseError;
    fn from_str(s: &str) -> Result<Self, CaseError> {
        match s {
            "none" => Ok(Ack::None),
            "per-message" => Ok(Ack::PerMessage),
            _ => s
                .strip_prefix("window:")
                .and_then(|n| n.parse().ok())
                .filter(|n| (1..=1024).contains(n))
                .map(Ack::Window)
                .ok_or_else(|| CaseError::Value {
                    key: "ack".into(),
                    got: s.to_owned(),
                    want: "`none`, `per-message` or `window:N` with N from 1 to 1024".into(),
                }),
        }
    }
}

/// The default budget of `spin-then-block`, in nanoseconds.
pub const SPIN_BUDGET_NS: u64 = 20_000;

/// One complete case. Build it by parsing or by the planner; print it with
/// `Display` to get the canonical spelling.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
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
    /// The scheduling policy.
    pub sched: Sched,
    /// What the ends are written in.
    pub runtimes: Runtimes,
}

/// Why a spelling is not a case.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CaseError {
    /// Not of the form `workload/mechanism?key=value&…`.
    #[error("`{0}` is not a case: write workload/mechanism?key=value&key=value")]
    Form(String),
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
    /// A value that does not fit its key.
    #[error("`{got}` is not a value for `{key}`: want {want}")]
    Value {
        /// The key.
        key: String,
        /// What was written.
        got: String,
        /// What could have been.
        want: String,
    },
    /// The same key twice.
    #[error("`{0}` is given twice")]
    Twice(String),
    /// A key that a complete case needs.
    #[error("`{0}` is missing")]
    Missing(&'static str),
}

/// A mechanism's argument may hold any character; these five would break the
/// spelling and are percent-encoded in it.
const RESERVED: &[u8] = b"?&=%, ";

/// Encodes the reserved characters of a mechanism name.
pub fn encode(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for c in name.chars() {
        if c.is_ascii() && (RESERVED.contains(&(c as u8)) || c.is_ascii_control()) {
            out.push_str(&format!("%{:02X}", c as u8));
        } else {
            out.push(c);
        }
    }
    out
}

/// Undoes [`encode`].
pub fn decode(name: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(name.len());
    let mut rest = name.as_bytes();
    while let Some((&b, tail)) = rest.split_first() {
        if b == b'%' {
            let hex = std::str::from_utf8(tail.get(..2)?).ok()?;
            bytes.push(u8::from_str_radix(hex, 16).ok()?);
            rest = &tail[2..];
        } else {
            bytes.push(b);
            rest = tail;
        }
    }
    String::from_utf8(bytes).ok()
}

impl Case {
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
        self.waits.map_or(WaitKind::Spin, |w| w.of(role))
    }
    /// Whether the ends are two processes.
    pub fn two_processes(&self) -> bool {
        matches!(self.boundary, Boundary::Process | Boundary::Namespace)
    }
    /// Whether there is a second party.
    pub fn two_ends(&self) -> bool {
        self.workload != Workload::Call && self.boundary != Boundary::Inline
    }
    /// The canonical spelling.
    pub fn id(&self) -> String {
        self.to_string()
    }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.workload, encode(&self.mechanism))?;
        let mut separator = '?';
        let mut key = |f: &mut fmt::Formatter<'_>, key: &str, value: &dyn fmt::Display| {
            let result = write!(f, "{separator}{key}={value}");
            separator = '&';
            result
        };
        if let Some(payload) = self.payload_bytes {
            key(f, "payload", &payload)?;
        }
        if let Some(fields) = self.fields {
            key(f, "fields", &fields)?;
        }
        if let Some(flows) = self.flows {
            key(f, "flows", &flows)?;
        }
        if let Some(ack) = self.ack {
            key(f, "ack", &ack)?;
        }
        if let Some(gap) = self.gap_ns {
            key(f, "gap", &gap)?;
        }
        if self.workload != Workload::Call {
            key(f, "boundary", &self.boundary)?;
        }
        if let Some(placement) = self.placement {
            key(f, "place", &placement)?;
        }
        if let Some(waits) = self.waits {
            key(f, "wait", &waits)?;
        }
        if let Some(budget) = self.spin_budget_ns {
            key(f, "spin", &budget)?;
        }
        for (name, value) in &self.parameters {
            key(f, name, value)?;
        }
        if self.idle_knob != IdleKnob::None {
            key(f, "idle-knob", &self.idle_knob)?;
        }
        if self.sched != Sched::Other {
            key(f, "sched", &self.sched)?;
        }
        if !self.runtimes.are_rust() {
            key(f, "runtime", &self.runtimes)?;
        }
        Ok(())
    }
}

impl FromStr for Case {
    type Err = CaseError;

    /// Parses a complete canonical case: nothing is defaulted here (the planner
    /// does that), and unknown keys are taken as mechanism parameters.
    fn from_str(s: &str) -> Result<Self, CaseError> {
        let form = || CaseError::Form(s.to_owned());
        let (path, query) = match s.split_once('?') {
            Some((path, query)) => (path, Some(query)),
            None => (s, None),
        };
        let (workload, mechanism) = path.split_once('/').ok_or_else(form)?;
        if mechanism.is_empty() {
            return Err(form());
        }
        let workload: Workload = workload.parse()?;
        let mut keys = BTreeMap::new();
        for pair in query.into_iter().flat_map(|q| q.split('&')) {
            let (key, value) = pair.split_once('=').ok_or_else(form)?;
            if keys.insert(key.to_owned(), value.to_owned()).is_some() {
                return Err(CaseError::Twice(key.to_owned()));
            }
        }
        fn number<T: FromStr>(key: &str, value: &str) -> Result<T, CaseError> {
            value.parse().map_err(|_| CaseError::Value {
                key: key.to_owned(),
                got: value.to_owned(),
                want: "a whole number that is not negative and not too large".into(),
            })
        }
        let payload_bytes = keys.remove("payload").map(|v| number("payload", &v)).transpose()?;
        let fields = keys.remove("fields").map(|v| number("fields", &v)).transpose()?;
        let flows = keys.remove("flows").map(|v| number("flows", &v)).transpose()?;
        let ack: Option<Ack> = keys.remove("ack").map(|v| v.parse()).transpose()?;
        let gap_ns = keys.remove("gap").map(|v| number("gap", &v)).transpose()?;
        if workload == Workload::Wake && gap_ns.is_none() {
            return Err(CaseError::Missing("gap"));
        }
        if workload == Workload::Stream {
            for (key, there) in
                [("fields", fields.is_some()), ("flows", flows.is_some()), ("ack", ack.is_some())]
            {
                if !there {
                    return Err(CaseError::Missing(key));
                }
            }
        }
        let boundary = match keys.remove("boundary") {
            Some(word) => word.parse()?,
            None if workload == Workload::Call => Boundary::Inline,
            None => return Err(CaseError::Missing("boundary")),
        };
        let placement = keys.remove("place").map(|v| v.parse()).transpose()?;
        let waits = keys.remove("wait").map(|v| v.parse()).transpose()?;
        if workload != Workload::Call {
            if placement.is_none() {
                return Err(CaseError::Missing("place"));
            }
            if waits.is_none() {
                return Err(CaseError::Missing("wait"));
            }
        }
        let spin_budget_ns = keys.remove("spin").map(|v| number("spin", &v)).transpose()?;
        let idle_knob = keys.remove("idle-knob").map_or(Ok(IdleKnob::None), |v| v.parse())?;
        let sched = keys.remove("sched").map_or(Ok(Sched::Other), |v| v.parse())?;
        let runtimes = keys.remove("runtime").map_or(Ok(Runtimes::RUST), |v| v.parse())?;
        Ok(Case {
            workload,
            mechanism: decode(mechanism).ok_or_else(form)?,
            payload_bytes,
            fields,
            flows,
            ack,
            gap_ns,
            boundary,
            placement,
            waits,
            spin_budget_ns,
            parameters: keys,
            idle_knob,
            sched,
            runtimes,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_spelling_of_a_case_survives_parsing() {
        for id in [
            "call/syscall",
            "call/ring-inline?payload=44",
            "roundtrip/pipe?payload=64&boundary=process&place=same-cpu&wait=block",
            "roundtrip/futex?payload=0&boundary=thread&place=same-llc&wait=spin-then-block:block&spin=20000&sched=fifo:10",
            "roundtrip/tcp?payload=64&boundary=process&place=free&wait=block&nodelay=on",
            "wake/semaphore?payload=0&gap=10000&boundary=process&place=same-llc&wait=block",
            "wake/pipe?payload=1&gap=1000&boundary=process&place=same-llc&wait=block&idle-knob=spinner&sched=fifo:1",
            "stream/tcp-send?payload=2048&fields=8&flows=2&ack=window:16&boundary=namespace&place=free&wait=block&more=off",
            "call/mutex-uncontended?runtime=python",
            "roundtrip/tcp?payload=64&boundary=process&place=free&wait=block&nodelay=on&sched=fifo:1&runtime=python:rust",
            "roundtrip/replay:/tmp/a%20b%3Fc?payload=0&boundary=process&place=same-cpu&wait=block",
        ] {
            let case: Case = id.parse().unwrap();
            assert_eq!(case.to_string(), id);
        }
    }

    #[test]
    fn broken_spellings_say_what_is_wrong() {
        for (id, part) in [
            ("pipe", "is not a case"),
            ("roundtrip/", "is not a case"),
            ("rountrip/pipe", "unknown workload"),
            ("roundtrip/pipe?payload=64", "boundary"),
            ("roundtrip/pipe?payload=-1&boundary=process&place=free&wait=block", "payload"),
            ("roundtrip/pipe?payload=1&payload=2", "twice"),
            ("roundtrip/pipe?boundary=process&place=nearby&wait=block", "unknown place"),
            ("roundtrip/pipe?boundary=process&place=free&wait=block&sched=fifo:200", "sched"),
            ("wake/pipe?payload=1&boundary=process&place=free&wait=block", "gap"),
            (
                "stream/tcp-send?payload=8&fields=8&flows=1&boundary=process&place=free&wait=block",
                "ack",
            ),
            (
                "stream/tcp-send?payload=8&fields=8&flows=1&ack=window:0&boundary=process&place=free&wait=block",
                "window:N",
            ),
            ("call/x%zz", "is not a case"),
            ("call/mutex-uncontended?runtime=Python", "runtime"),
            ("call/mutex-uncontended?runtime=python:", "runtime"),
        ] {
            let error = id.parse::<Case>().unwrap_err().to_string();
            assert!(error.contains(part), "{id}: {error}");
        }
    }
}
