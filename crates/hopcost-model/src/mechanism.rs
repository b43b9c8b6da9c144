//! What is said of a mechanism, whoever has it: [`Mechanism`], as a worker describes it,
//! a run file stores it and every stage reads it. Of those inside the binary `mechanisms.toml` has
//! [`Words`], for people, and [`Facts`], for the planner, the worker and the conformance suite.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::{Deserialize, Deserializer, Serialize};

use crate::case::{Boundary, Case, Placement, WaitKind, Workload};
use crate::document;

/// The shape a mechanism has to the code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Shape {
    /// One operation in one thread.
    Call,
    /// Only wakes; a generic adapter adds a shared buffer to carry a payload.
    Notifier,
    /// Moves messages.
    Channel,
}

impl Shape {
    /// Lower-case word.
    pub const fn word(self) -> &'static str {
        match self {
            Shape::Call => "call",
            Shape::Notifier => "notifier",
            Shape::Channel => "channel",
        }
    }
}

/// Bytes a message may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(from = "PayloadRange")]
pub enum Payload {
    /// Carries nothing, and no size is part of its cases.
    None,
    /// Carries between `min` and `max` bytes.
    Bytes {
        /// Least.
        min: u32,
        /// Most.
        max: u32,
        /// Where none is asked for.
        default: u32,
    },
}

impl From<PayloadRange> for Payload {
    fn from(PayloadRange { min, max, default }: PayloadRange) -> Self {
        Payload::Bytes { min, max, default }
    }
}

/// Whether a message may be lost on its way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Loss {
    /// Each arrives, once, or its end is told.
    #[default]
    Never,
    /// One may not arrive, and nobody is told.
    Possible,
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

/// A parameter that a mechanism declares; all are part of the case's spelling.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parameter {
    /// Key.
    pub name: &'static str,
    /// Every value it takes.
    pub values: &'static [&'static str],
    /// The value where none is given.
    pub default: &'static str,
    /// What it does, in a sentence.
    pub about: &'static str,
}

/// How often something happens in one operation, both ends together. Stored as the least
/// and the most; the reason stays in the binary.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(into = "(f64, Option<f64>)")]
pub enum PerOperation {
    /// Always this often.
    Exactly(f64),
    /// Between these, because of the reason.
    Between(f64, f64, &'static str),
}

impl PerOperation {
    /// Whether a count fits, give or take `slack` for what runs once a trial.
    pub fn admits(self, count: f64, slack: f64) -> bool {
        match self {
            PerOperation::Exactly(n) => (count - n).abs() <= slack,
            PerOperation::Between(low, high, _) => count >= low - slack && count <= high + slack,
        }
    }
    /// The least it admits.
    pub fn least(self) -> f64 {
        match self {
            PerOperation::Exactly(n) => n,
            PerOperation::Between(low, ..) => low,
        }
    }
    /// The most it admits.
    pub fn most(self) -> f64 {
        match self {
            PerOperation::Exactly(n) => n,
            PerOperation::Between(_, high, _) => high,
        }
    }
    /// Why it is a range.
    pub fn reason(self) -> Option<&'static str> {
        match self {
            PerOperation::Exactly(_) => None,
            PerOperation::Between(_, _, reason) => Some(reason),
        }
    }
}

impl From<PerOperation> for (f64, Option<f64>) {
    /// JSON has no infinity: without a most, there is none.
    fn from(count: PerOperation) -> Self {
        (count.least(), Some(count.most()).filter(|most| most.is_finite()))
    }
}

impl<'de> Deserialize<'de> for PerOperation {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let (least, most) = <(f64, Option<f64>)>::deserialize(from)?;
        let most = most.unwrap_or(f64::INFINITY);
        Ok(match most == least {
            true => PerOperation::Exactly(least),
            false => PerOperation::Between(least, most, ""),
        })
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum Senders {
    /// Only one may, for this reason.
    #[serde(deserialize_with = "text")]
    One(Text),
    /// Several may.
    Several {
        /// What they share.
        #[serde(deserialize_with = "text")]
        share: Text,
        /// The longest message that goes whole, in bytes.
        whole_bytes: u32,
    },
}

impl Senders {
    /// Why a case with several has none, if it has none.
    pub fn lack(self, case: &Case) -> Option<String> {
        let bytes = case.payload_bytes.unwrap_or(8);
        match self {
            _ if case.senders < 2 => None,
            Senders::One(why) => Some(format!("has one sender: {why}")),
            Senders::Several { .. } if bytes < 8 => Some(
                "has several senders of messages of 8 bytes or more, which carry their sender's \
                 number"
                    .into(),
            ),
            Senders::Several { whole_bytes, .. } if bytes > whole_bytes => Some(format!(
                "has several senders of messages of {whole_bytes} bytes at most: longer ones may be \
                 mixed"
            )),
            Senders::Several { .. } => None,
        }
    }
}

/// Text that lives as long as the process, as everything does that is read from
/// `mechanisms.toml`.
type Text = &'static str;

/// A mechanism of the binary, but for its words. Entries that are as in [`Facts::BASE`] may be
/// left out.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Facts {
    /// Name.
    #[serde(skip)]
    pub name: Text,
    /// Family it is listed under (`call`, `notifier`, `pipe`, `unix socket`, …).
    #[serde(deserialize_with = "text")]
    pub family: Text,
    /// Shape.
    pub shape: Shape,
    /// Workloads it takes part in.
    #[serde(deserialize_with = "list")]
    pub workloads: &'static [Workload],
    /// Boundaries it can cross.
    #[serde(deserialize_with = "list")]
    pub boundaries: &'static [Boundary],
    /// Waits it has, the default first, with their counts; empty for `call`.
    #[serde(deserialize_with = "waits")]
    pub waits: &'static [WaitFacts],
    /// System calls in one operation of a `call`.
    #[serde(deserialize_with = "count")]
    pub call_system_calls: Option<PerOperation>,
    /// Context switches in one operation of a `call` that sleeps until another thread has run.
    #[serde(deserialize_with = "count")]
    pub call_switches: Option<PerOperation>,
    /// Bytes a message may have.
    pub payload: Payload,
    /// Parameters.
    #[serde(deserialize_with = "parameters")]
    pub parameters: &'static [Parameter],
    /// A test engine, not listed.
    pub hidden: bool,
    /// What a test engine's name has to carry; anything where nothing is said.
    #[serde(skip)]
    pub argument: Option<Argument>,
    /// Whether the kernel goes on reading the sender's buffers after a send has returned,
    /// so that only an acknowledgement tells when they may be written again.
    pub keeps_buffers: bool,
    /// Whether several ends may send over one link (`load`).
    pub senders: Senders,
    /// The flag by which it asks for sends without a copy.
    #[serde(deserialize_with = "some_text")]
    pub no_copy: Option<Text>,
    /// Whether an end that waits by `block` spins before it sleeps.
    pub spins_first: bool,
    /// Whether messages may be lost.
    pub loss: Loss,
    /// What an end notices of its partner's exit.
    pub peer_exit: PeerExit,
    /// Whether read(2) and write(2) of the link's descriptors (the incoming one and the outgoing
    /// one, or one socket for both) move the messages and nothing else.
    pub bare_messages: bool,
    /// The mechanism whose addresses lead to its link, where an end that cannot inherit
    /// descriptors may offer one or connect to one.
    #[serde(deserialize_with = "some_text")]
    pub address: Option<Text>,
    /// Raised by one whenever a change of its code can move its numbers: runs with another
    /// revision do not compare. Where messages are written and compared, [`TOUCH_REVISION`]
    /// comes on top.
    pub revision: u32,
    /// Whether it can be used here, or why not.
    #[serde(skip)]
    pub available: fn() -> Result<(), String>,
    /// Whether it can be used here with the parameters of a case, or why not.
    #[serde(skip)]
    pub available_as: fn(&Case) -> Result<(), String>,
}

/// Raised by one whenever a change of where messages lie and how they are written and compared,
/// which all mechanisms have in common, can move their numbers.
const TOUCH_REVISION: u32 = 2;

impl Facts {
    /// What most mechanisms have in common.
    pub const BASE: Facts = Facts {
        name: "",
        family: "",
        shape: Shape::Channel,
        workloads: &[],
        boundaries: &[],
        waits: &[],
        call_system_calls: None,
        call_switches: None,
        payload: Payload::None,
        parameters: &[],
        hidden: false,
        argument: None,
        keeps_buffers: false,
        senders: Senders::One("its two ends are joined to each other alone"),
        no_copy: None,
        spins_first: false,
        loss: Loss::Never,
        peer_exit: PeerExit::Unnoticed,
        bare_messages: false,
        address: None,
        revision: 1,
        available: || Ok(()),
        available_as: |_| Ok(()),
    };
    /// Those of a mechanism of this binary, by its name.
    pub fn of(name: &str) -> Option<&'static Facts> {
        TABLE.get(name).map(|entry| &entry.facts)
    }
    /// The facts of one of its waits.
    pub fn wait(&self, wait: WaitKind) -> Option<&WaitFacts> {
        self.waits.iter().find(|facts| facts.wait == wait)
    }
    /// The value of a parameter where none is given.
    pub fn parameter(&self, name: &str) -> Option<&Parameter> {
        self.parameters.iter().find(|parameter| parameter.name == name)
    }
}

impl Default for Facts {
    fn default() -> Self {
        Facts::BASE
    }
}

/// What the binary knows of its mechanisms, by their names.
///
/// # Panics
/// If the table is not as it should be, which a test would notice.
pub static TABLE: LazyLock<BTreeMap<String, Entry>> = LazyLock::new(|| {
    let mut table: BTreeMap<String, Entry> =
        toml::from_str(include_str!("mechanisms.toml")).unwrap();
    for (name, entry) in &mut table {
        entry.facts.name = name.clone().leak();
    }
    table
});

/// A mechanism in `mechanisms.toml`.
#[derive(Deserialize)]
pub struct Entry {
    facts: Facts,
    #[serde(flatten)]
    words: Words,
}

/// What `mechanisms.toml` names, as `shared.toml` has it.
static SHARED: LazyLock<Shared> =
    LazyLock::new(|| toml::from_str(include_str!("shared.toml")).unwrap());

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Shared {
    wait: BTreeMap<String, SharedWait>,
    parameter: BTreeMap<String, ParameterDescription>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SharedWait {
    wait: WaitKind,
    system_calls: Count,
    switches_one_cpu: Count,
    switches_two_cpus: Count,
}

/// A count as the tables write it: with its reason, which is not stored.
#[derive(Deserialize)]
#[serde(untagged)]
enum Count {
    Exactly(f64),
    Between(f64, f64, #[serde(deserialize_with = "text")] Text),
}

impl Count {
    fn per_operation(&self) -> PerOperation {
        match *self {
            Count::Exactly(n) => PerOperation::Exactly(n),
            Count::Between(least, most, reason) => PerOperation::Between(least, most, reason),
        }
    }
}

fn text<'de, D: Deserializer<'de>>(from: D) -> Result<Text, D::Error> {
    String::deserialize(from).map(|text| &*text.leak())
}

fn some_text<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Text>, D::Error> {
    text(from).map(Some)
}

fn count<'de, D: Deserializer<'de>>(from: D) -> Result<Option<PerOperation>, D::Error> {
    Count::deserialize(from).map(|count| Some(count.per_operation()))
}

fn list<'de, D: Deserializer<'de>, T>(from: D) -> Result<&'static [T], D::Error>
where
    T: Deserialize<'de> + 'static,
{
    Vec::deserialize(from).map(|list| &*list.leak())
}

/// What `shared.toml` has by these names.
fn named<'de, D: Deserializer<'de>, T: 'static>(
    from: D,
    find: impl Fn(&str) -> Option<T>,
) -> Result<&'static [T], D::Error> {
    let unknown = |name| serde::de::Error::custom(format!("shared.toml has no `{name}`"));
    let names = Vec::<String>::deserialize(from)?;
    let found = names.iter().map(|name| find(name).ok_or_else(|| unknown(name)));
    found.collect::<Result<Vec<_>, _>>().map(|list| &*list.leak())
}

fn waits<'de, D: Deserializer<'de>>(from: D) -> Result<&'static [WaitFacts], D::Error> {
    named(from, |name| {
        let shared = SHARED.wait.get(name)?;
        Some(WaitFacts {
            wait: shared.wait,
            system_calls: shared.system_calls.per_operation(),
            switches_one_cpu: shared.switches_one_cpu.per_operation(),
            switches_two_cpus: shared.switches_two_cpus.per_operation(),
        })
    })
}

fn parameters<'de, D: Deserializer<'de>>(from: D) -> Result<&'static [Parameter], D::Error> {
    named(from, |name| {
        let ParameterDescription { name, values, default, about } =
            SHARED.parameter.get(name)?.clone();
        let values = values.into_iter().map(|value| &*value.leak()).collect::<Vec<Text>>();
        let values = values.leak();
        Some(Parameter { name: name.leak(), values, default: default.leak(), about: about.leak() })
    })
}

document! {
    /// Where a worker takes the link from.
    #[derive(Copy, Eq, Default)]
    #[serde(rename_all = "kebab-case")]
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
}

document! {
    /// Who may play the other end.
    #[derive(Copy, Eq, Default)]
    #[serde(rename_all = "kebab-case")]
    pub enum Peers {
        /// The same runtime alone.
        #[default]
        Own,
        /// Any runtime that has the carrier.
        Any,
    }
}

document! {
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
}

document! {
    /// How often something happens in one operation, both ends together.
    #[derive(Copy)]
    pub struct CountRange {
        /// At least.
        pub min: f64,
        /// At most.
        pub max: f64,
    }
}

document! {
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
}

document! {
    /// What a mechanism is, for people.
    #[derive(Default)]
    pub struct Words {
        /// One line.
        #[serde(default)]
        pub about: String,
        /// What crosses.
        #[serde(default)]
        pub crosses: String,
        /// Who copies the payload, and how often.
        #[serde(default)]
        pub copies: String,
        /// Who wakes whom, by what.
        #[serde(default)]
        pub wakes: String,
        /// What exactly lies between two stamps.
        #[serde(default)]
        pub between_stamps: String,
        /// Limits.
        #[serde(default)]
        pub limits: String,
        /// Documentation.
        #[serde(default)]
        pub sources: Vec<String>,
    }
}

impl Words {
    /// Those of a mechanism of this binary, by its name.
    pub fn of(name: &str) -> Self {
        TABLE.get(name).map_or_else(Words::default, |entry| entry.words.clone())
    }
}

document! {
    /// A mechanism of a worker.
    pub struct Mechanism {
        /// Name. A name that hopcost itself has means the same mechanism.
        pub name: String,
        /// Family it is listed under.
        #[serde(default)]
        pub family: String,
        /// What it is.
        #[serde(flatten)]
        pub words: Words,
        /// Why it cannot be used here.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub unavailable: Option<String>,
        /// Workloads it takes part in.
        pub workloads: Vec<Workload>,
        /// Boundaries it can cross; empty for a `call`.
        #[serde(default)]
        pub boundaries: Vec<Boundary>,
        /// Placements it can be asked for; every one where empty.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub placements: Vec<Placement>,
        /// Waits it has, the default first; empty for a `call`.
        #[serde(default)]
        pub waits: Vec<WaitKind>,
        /// Bytes a message may have; absent where it carries none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub payload: Option<PayloadRange>,
        /// Parameters.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub parameters: Vec<ParameterDescription>,
        /// Where it takes the link from.
        #[serde(default)]
        pub link: LinkSource,
        /// The mechanism of hopcost whose link it takes and, with `peers` any, whose
        /// bytes it speaks: that is what the other end plays. Its own name if absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub carrier: Option<String>,
        /// Who may play the other end.
        #[serde(default)]
        pub peers: Peers,
        /// System calls in one operation, both ends being of this runtime and
        /// waiting its default way; absent where nobody says.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub system_calls: Option<CountRange>,
        /// Raised by one whenever a change of its code can move its numbers; 1 if absent.
        #[serde(default = "first", skip_serializing_if = "is_first")]
        pub revision: u32,
        /// Of hopcost's own mechanisms alone.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub own: Option<Own>,
        /// Not stored.
        #[serde(skip)]
        pub here: Here,
    }
}

fn first() -> u32 {
    1
}

fn is_first(revision: &u32) -> bool {
    *revision == first()
}

/// What hopcost knows of its own mechanisms, and of nobody else's.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Own {
    /// Shape.
    pub shape: Shape,
    /// What each of its waits costs.
    pub waits: Vec<WaitFacts>,
    /// System calls in one operation of a `call`.
    pub call_system_calls: Option<PerOperation>,
    /// Context switches in one operation of a `call` that sleeps until another thread has run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call_switches: Option<PerOperation>,
    /// A test engine, not listed.
    pub hidden: bool,
    /// See [`Facts::keeps_buffers`].
    pub keeps_buffers: bool,
    /// See [`Facts::no_copy`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub no_copy: Option<String>,
    /// See [`Facts::spins_first`].
    #[serde(default)]
    pub spins_first: bool,
}

/// What can only be asked of the binary that has the mechanism.
#[derive(Debug, Clone, Copy)]
pub struct Here {
    /// Whether it can be used here, or why not.
    pub available: fn() -> Result<(), String>,
    /// Whether it can be used here with the parameters of a case, or why not.
    pub available_as: fn(&Case) -> Result<(), String>,
    /// What a test engine's name has to carry.
    pub argument: Option<Argument>,
    /// Whether messages may be lost.
    pub loss: Loss,
    /// Whether several ends may send over one link.
    pub senders: Senders,
}

impl Default for Here {
    fn default() -> Self {
        let Facts { senders, loss, .. } = Facts::BASE;
        Self { available: || Ok(()), available_as: |_| Ok(()), argument: None, loss, senders }
    }
}

impl PartialEq for Here {
    /// Nothing that is said of a mechanism depends on it.
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Mechanism {
    /// What hopcost's own worker says of a mechanism, but for whether it is available
    /// here, which takes asking the kernel.
    pub fn of(facts: &Facts) -> Self {
        let payload = match facts.payload {
            Payload::None => None,
            Payload::Bytes { min, max, default } => Some(PayloadRange { min, max, default }),
        };
        let touches = facts.shape != Shape::Call && payload.is_some();
        Self {
            name: facts.name.into(),
            family: facts.family.into(),
            words: Words::of(facts.name),
            unavailable: None,
            workloads: facts.workloads.to_vec(),
            boundaries: facts.boundaries.to_vec(),
            placements: Vec::new(),
            waits: facts.waits.iter().map(|facts| facts.wait).collect(),
            payload,
            parameters: facts.parameters.iter().map(ParameterDescription::of).collect(),
            link: LinkSource::Descriptors,
            carrier: None,
            peers: Peers::Any,
            system_calls: None,
            revision: facts.revision + if touches { TOUCH_REVISION } else { 0 },
            own: Some(Own {
                shape: facts.shape,
                waits: facts.waits.to_vec(),
                call_system_calls: facts.call_system_calls,
                call_switches: facts.call_switches,
                hidden: facts.hidden,
                keeps_buffers: facts.keeps_buffers,
                no_copy: facts.no_copy.map(str::to_owned),
                spins_first: facts.spins_first,
            }),
            here: Here {
                available: facts.available,
                available_as: facts.available_as,
                argument: facts.argument,
                loss: facts.loss,
                senders: facts.senders,
            },
        }
    }
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
    /// What one of its waits costs, if anybody knows.
    pub fn wait(&self, wait: WaitKind) -> Option<&WaitFacts> {
        self.own.as_ref()?.waits.iter().find(|facts| facts.wait == wait)
    }
    /// A parameter.
    pub fn parameter(&self, name: &str) -> Option<&ParameterDescription> {
        self.parameters.iter().find(|parameter| parameter.name == name)
    }
    /// The mechanism of hopcost that opens its link, or plays the other end.
    pub fn carrier(&self) -> &str {
        self.carrier.as_deref().unwrap_or(&self.name)
    }
}

impl ParameterDescription {
    fn of(parameter: &Parameter) -> Self {
        Self {
            name: parameter.name.into(),
            values: parameter.values.iter().map(|value| value.to_string()).collect(),
            default: parameter.default.into(),
            about: parameter.about.into(),
        }
    }
}
