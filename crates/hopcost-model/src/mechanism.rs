//! The description of a mechanism of any runtime: [`Mechanism`], as a worker describes it,
//! a run file stores it and every stage reads it. Those inside the binary stand in `mechanisms.toml`.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::{Deserialize, Serialize, Serializer};

use crate::axis::Axis;
use crate::case::{Boundary, Case, Placement, WaitKind, Workload};

words! {
    /// The shape a mechanism has to the code.
    #[derive(Default)]
    Shape, "shape" {
        /// One operation in one thread.
        Call = "call",
        /// Only wakes; a generic adapter adds a shared buffer to carry a payload.
        Notifier = "notifier",
        /// Moves messages.
        #[default]
        Channel = "channel",
    }
}

/// What an end learns from the mechanism alone when its partner lets go of the link.
/// Where it learns nothing, the supervisor ends it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PeerExit {
    /// Nothing that could be relied on.
    #[default]
    Unnoticed,
    /// An error when it sends, or when it waits for the answer to that.
    NoticedBySender,
    /// The same, and an error too when the partner goes while this end waits.
    Noticed,
}

/// How often something happens in one operation, both ends together. Stored as the least
/// and the most.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(from = "Count")]
pub struct PerOperation {
    /// The least it admits.
    pub least: f64,
    /// The most it admits, which may be infinite.
    pub most: f64,
}

impl PerOperation {
    /// Always this often.
    pub const fn exactly(n: f64) -> Self {
        Self { least: n, most: n }
    }
    /// Whether it is always as often.
    pub fn is_exact(self) -> bool {
        self.least == self.most
    }
    /// Whether a count fits, give or take `slack` for what runs once a trial.
    pub fn admits(self, count: f64, slack: f64) -> bool {
        (self.least - slack..=self.most + slack).contains(&count)
    }
}

impl Serialize for PerOperation {
    /// JSON has no infinity: without a most, there is none.
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        (self.least, Some(self.most).filter(|most| most.is_finite())).serialize(to)
    }
}

/// A count as it is stored and as the tables write it.
#[derive(Deserialize)]
#[serde(untagged)]
enum Count {
    Exactly(f64),
    Between(f64, Option<f64>),
}

impl From<Count> for PerOperation {
    fn from(count: Count) -> Self {
        match count {
            Count::Exactly(n) => Self::exactly(n),
            Count::Between(least, most) => Self { least, most: most.unwrap_or(f64::INFINITY) },
        }
    }
}

/// What one wait costs in system calls and context switches, both ends together
/// and both ends waiting this way.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct WaitFacts {
    /// The wait.
    pub wait: WaitKind,
    /// System calls in one operation (a round trip has two messages).
    pub system_calls: PerOperation,
    /// Voluntary and involuntary context switches in one operation, with both
    /// ends on one CPU.
    pub switches_one_cpu: PerOperation,
    /// The same with the ends on two CPUs.
    pub switches_two_cpus: PerOperation,
}

/// What a test engine's name has to carry behind a colon.
#[derive(Debug, Clone, Copy)]
pub struct Argument {
    /// For instance (`sleep:1ms`).
    pub form: &'static str,
    /// Whether an engine may be named with this argument, or without one.
    pub fits: fn(Option<&str>) -> bool,
}

/// Whether several ends may send over one link.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Senders {
    /// Only one may, for this reason.
    One(String),
    /// Several may.
    Several {
        /// The longest message that goes whole, in bytes.
        whole_bytes: u32,
    },
}

impl Default for Senders {
    fn default() -> Self {
        Senders::One("its two ends are joined to each other alone".to_owned())
    }
}

impl Senders {
    /// Why a case with several has none, if it has none.
    pub fn lack(&self, case: &Case) -> Option<String> {
        let bytes = case.payload_bytes.unwrap_or(8);
        match self {
            _ if case.senders < 2 => None,
            Senders::One(why) => Some(format!("has one sender: {why}")),
            Senders::Several { .. } if bytes < 8 => Some(
                "has several senders of messages of 8 bytes or more, which carry their sender's \
                 number"
                    .into(),
            ),
            Senders::Several { whole_bytes } if bytes > *whole_bytes => Some(format!(
                "has several senders of messages of {whole_bytes} bytes at most: longer ones may be \
                 mixed"
            )),
            Senders::Several { .. } => None,
        }
    }
}

/// Raised by one whenever a change of where messages lie and how they are written and compared,
/// which all mechanisms have in common, can move their numbers.
const TOUCH_REVISION: u32 = 2;

/// The mechanisms of the binary, by their names, but for what only their code knows: whether they can
/// be used here, and what a test engine's argument is.
///
/// # Panics
/// If `mechanisms.toml` or `shared.toml` is not as it should be, which a test would notice.
pub static TABLE: LazyLock<BTreeMap<String, Mechanism>> = LazyLock::new(|| {
    let shared: Shared = toml::from_str(include_str!("shared.toml")).unwrap();
    let table: BTreeMap<String, Entry> = toml::from_str(include_str!("mechanisms.toml")).unwrap();
    let read = |(name, entry): (String, Entry)| (name.clone(), entry.mechanism(name, &shared));
    table.into_iter().map(read).collect()
});

/// What `mechanisms.toml` names, as `shared.toml` has it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Shared {
    wait: BTreeMap<String, WaitFacts>,
    parameter: BTreeMap<String, ParameterDescription>,
}

/// A mechanism in `mechanisms.toml`.
#[derive(Deserialize)]
struct Entry {
    facts: Facts,
    #[serde(flatten)]
    words: Words,
}

/// What the planner, the worker and the conformance suite go by: see [`Mechanism`]. Keys that belong
/// neither here nor to [`Own`] and [`Here`] are mistakes.
#[derive(Deserialize)]
struct Facts {
    family: String,
    workloads: Vec<Workload>,
    boundaries: Vec<Boundary>,
    #[serde(default)]
    waits: Vec<String>,
    payload: Option<PayloadRange>,
    #[serde(default)]
    loses: bool,
    #[serde(default)]
    senders: Senders,
    #[serde(default)]
    parameters: Vec<String>,
    #[serde(default = "first")]
    revision: u32,
    #[serde(flatten)]
    own: Own,
    #[serde(flatten)]
    here: Here,
    #[serde(flatten)]
    unknown: BTreeMap<String, toml::Value>,
}

impl Entry {
    fn mechanism(self, name: String, shared: &Shared) -> Mechanism {
        let Entry { facts, words } = self;
        assert!(facts.unknown.is_empty(), "mechanisms.toml: {name}: {:?}", facts.unknown);
        let is_declared =
            |key: &String| Axis::of_key(key).is_some_and(|axis| axis.of.is_declared());
        assert!(facts.here.axes.iter().all(is_declared), "mechanisms.toml: {name}: axes");
        let waits: Vec<WaitFacts> = facts.waits.iter().map(|name| shared.wait[name]).collect();
        let parameters = facts.parameters.iter().map(|name| shared.parameter[name].clone());
        let touches = facts.own.shape != Shape::Call && facts.payload.is_some();
        Mechanism {
            name,
            family: facts.family,
            words,
            workloads: facts.workloads,
            boundaries: facts.boundaries,
            waits: waits.iter().map(|facts| facts.wait).collect(),
            payload: facts.payload,
            loses: facts.loses,
            senders: facts.senders,
            parameters: parameters.collect(),
            link: LinkSource::Descriptors,
            peers: Peers::Any,
            revision: facts.revision + if touches { TOUCH_REVISION } else { 0 },
            own: Some(Own { waits, ..facts.own }),
            here: facts.here,
            ..Mechanism::default()
        }
    }
}

document! {
    /// Where a worker takes the link from.
    #[derive(Copy, Eq, Default)]
    pub enum LinkSource {
        /// It makes the link itself and plays both ends.
        #[default]
        Own,
        /// Each end inherits descriptors. Where the boundary is `thread` it makes
        /// the link itself.
        Descriptors,
        /// Each end offers an address or connects to one. Where the boundary is
        /// `thread` it makes the link itself.
        Address,
    }

    /// Who may play the other end.
    #[derive(Copy, Eq, Default)]
    pub enum Peers {
        /// The same runtime alone.
        #[default]
        Own,
        /// Any runtime that has the carrier.
        Any,
    }

    /// Bytes that a message may have.
    #[derive(Copy, Eq)]
    pub struct PayloadRange {
        /// Least.
        pub min: u32,
        /// Most.
        pub max: u32,
        /// Where none is asked for.
        pub default: u32,
    }

    /// How often something happens in one operation, both ends together.
    #[derive(Copy)]
    pub struct CountRange {
        /// At least.
        pub min: f64,
        /// At most.
        pub max: f64,
    }

    /// A parameter, part of the case's spelling.
    pub struct ParameterDescription {
        /// Key.
        pub name: String,
        /// Every value it takes.
        pub values: Vec<String>,
        /// The value where none is given.
        pub default: String,
        /// What it does, in a sentence.
        #[serde(default)]
        pub about: String,
    }

    /// What a mechanism is, for people.
    #[derive(Default)]
    #[serde(default)]
    pub struct Words {
        /// One line.
        pub about: String,
        /// What crosses.
        pub crosses: String,
        /// Who copies the payload, and how often.
        pub copies: String,
        /// Who wakes whom, by what.
        pub wakes: String,
        /// What exactly lies between two stamps.
        pub between_stamps: String,
        /// Limits.
        pub limits: String,
        /// Documentation.
        pub sources: Vec<String>,
    }

    /// A mechanism of a worker.
    #[derive(Default)]
    #[serde(default)]
    pub struct Mechanism {
        /// Name. A name that hopcost itself has means the same mechanism.
        pub name: String,
        /// Family it is listed under.
        pub family: String,
        /// What it is.
        #[serde(flatten)]
        pub words: Words,
        /// Why it cannot be used here.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub unavailable: Option<String>,
        /// Workloads it takes part in.
        pub workloads: Vec<Workload>,
        /// Boundaries it can cross; empty for a `call`.
        pub boundaries: Vec<Boundary>,
        /// Placements it can be asked for; every one where empty.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        pub placements: Vec<Placement>,
        /// Waits it has, the default first; empty for a `call`.
        pub waits: Vec<WaitKind>,
        /// Bytes a message may have; absent where it carries none.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub payload: Option<PayloadRange>,
        /// Parameters.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        pub parameters: Vec<ParameterDescription>,
        /// Where it takes the link from.
        pub link: LinkSource,
        /// The mechanism of hopcost whose link it takes and, with `peers` any, whose
        /// bytes it speaks: that is what the other end plays. Its own name if absent.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub carrier: Option<String>,
        /// Who may play the other end.
        pub peers: Peers,
        /// Whether a message may not arrive, without an error.
        #[serde(skip_serializing_if = "is_default")]
        pub loses: bool,
        /// Whether several ends may send over one link (`load`).
        #[serde(skip_serializing_if = "is_default")]
        pub senders: Senders,
        /// System calls in one operation, both ends being of this runtime and
        /// waiting its default way; absent where nobody says.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub system_calls: Option<CountRange>,
        /// Raised by one whenever a change of its code can move its numbers; 1 if absent.
        #[serde(default = "first", skip_serializing_if = "is_first")]
        pub revision: u32,
        /// Of hopcost's own mechanisms alone.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub own: Option<Own>,
        /// Not stored.
        #[serde(skip)]
        pub here: Here,
    }
}

fn is_default<T: Default + PartialEq>(of: &T) -> bool {
    *of == T::default()
}

fn first() -> u32 {
    1
}

fn is_first(revision: &u32) -> bool {
    *revision == first()
}

/// What hopcost knows of its own mechanisms, and of nobody else's.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Own {
    /// Shape.
    pub shape: Shape,
    /// What each of its waits costs.
    pub waits: Vec<WaitFacts>,
    /// System calls in one operation of a `call`.
    pub call_system_calls: Option<PerOperation>,
    /// Context switches in one operation of a `call` that sleeps until another thread has run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call_switches: Option<PerOperation>,
    /// A test engine, not listed.
    pub hidden: bool,
    /// Whether the kernel goes on reading the sender's buffers after a send has returned,
    /// so that only an acknowledgement tells when they may be written again.
    pub keeps_buffers: bool,
    /// The flag by which it asks for sends without a copy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub no_copy: Option<String>,
    /// Whether an end that waits by `block` spins before it sleeps.
    pub spins_first: bool,
}

/// What is not stored: the binary that has the mechanism knows it.
#[derive(Debug, Clone, Deserialize)]
#[serde(default)]
pub struct Here {
    /// Whether it can be used here, or why not.
    #[serde(skip)]
    pub available: fn() -> Result<(), String>,
    /// Whether it can be used here with the parameters of a case, or why not.
    #[serde(skip)]
    pub available_as: fn(&Case) -> Result<(), String>,
    /// What a test engine's name has to carry; by default anything.
    #[serde(skip)]
    pub argument: Option<Argument>,
    /// Whether every round trip has a connection of its own.
    pub connects: bool,
    /// What an end notices of its partner's exit.
    pub peer_exit: PeerExit,
    /// Whether read(2) and write(2) of the link's descriptors (the incoming one and the outgoing
    /// one, or one socket for both) move the messages and nothing else.
    pub bare_messages: bool,
    /// Keys of the axes that it declares ([`crate::axis::Of::is_declared`]).
    pub axes: Vec<String>,
    /// The mechanism whose addresses lead to its link, where an end that cannot inherit
    /// descriptors may offer one or connect to one.
    pub address: Option<String>,
}

impl Default for Here {
    fn default() -> Self {
        Self {
            available: || Ok(()),
            available_as: |_| Ok(()),
            argument: None,
            connects: false,
            peer_exit: PeerExit::default(),
            bare_messages: false,
            axes: Vec::new(),
            address: None,
        }
    }
}

impl PartialEq for Here {
    /// No fact of a mechanism depends on it.
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Mechanism {
    /// Its shape; of another runtime's, as far as what it says tells.
    pub fn shape(&self) -> Shape {
        match &self.own {
            Some(own) => own.shape,
            None if self.waits.is_empty() => Shape::Call,
            None => Shape::Channel,
        }
    }
    /// A test engine, not listed.
    pub fn hidden(&self) -> bool {
        self.own.as_ref().is_some_and(|own| own.hidden)
    }
    /// Whether the kernel goes on reading the sender's buffers after a send has returned.
    pub fn keeps_buffers(&self) -> bool {
        self.own.as_ref().is_some_and(|own| own.keeps_buffers)
    }
    /// What one of its waits costs, if anybody knows.
    pub fn wait(&self, wait: WaitKind) -> Option<&WaitFacts> {
        self.own.as_ref()?.waits.iter().find(|facts| facts.wait == wait)
    }
    /// A parameter.
    pub fn parameter(&self, name: &str) -> Option<&ParameterDescription> {
        self.parameters.iter().find(|parameter| parameter.name == name)
    }
    /// Whether its cases may have an axis.
    pub fn has(&self, axis: &Axis) -> bool {
        !axis.of.is_declared() || self.here.axes.iter().any(|key| key == axis.key)
    }
    /// The mechanism of hopcost that opens its link, or plays the other end.
    pub fn carrier(&self) -> &str {
        self.carrier.as_deref().unwrap_or(&self.name)
    }
}
