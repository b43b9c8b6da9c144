//! What a worker says of itself in answer to `describe` (workers/PROTOCOL.md).

use std::collections::BTreeMap;

use crate::case::{Boundary, Placement, Runtime, WaitKind, Workload};
use crate::document;
use crate::mechanism::{Facts, Parameter, Payload};

document! {
    /// A worker.
    pub struct Description {
        /// Protocol version.
        pub protocol: u32,
        /// Name of the runtime, as cases spell it (`rust`, `python`).
        pub runtime: String,
        /// Version of the worker itself.
        pub version: String,
        /// What it is made of, with versions: the language first of all
        /// (`python`: `3.11.7`), its libraries.
        #[serde(default)]
        pub libraries: BTreeMap<String, String>,
        /// What of the runtime itself shapes its numbers, a line each (`the GIL is on`).
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub remarks: Vec<String>,
        /// The clock of its stamps.
        #[serde(default)]
        pub clock: WorkerClock,
        /// How long it has to be warmed up.
        #[serde(default)]
        pub warm_up: WarmUp,
        /// Mechanisms it has, the unavailable ones with their reason.
        pub mechanisms: Vec<MechanismDescription>,
    }
}

document! {
    /// The clock of a worker's stamps.
    pub struct WorkerClock {
        /// What the ticks are.
        pub source: String,
        /// Ticks in a second; 0 where only calibration can tell (`tsc`).
        pub ticks_per_second: f64,
    }
}

impl Default for WorkerClock {
    /// Nanoseconds of CLOCK_MONOTONIC (clock_gettime(2)).
    fn default() -> Self {
        Self { source: "CLOCK_MONOTONIC".into(), ticks_per_second: 1e9 }
    }
}

document! {
    /// How long a runtime has to be warmed up.
    #[derive(Copy, Eq, Default)]
    #[serde(rename_all = "kebab-case")]
    pub enum WarmUp {
        /// As long as the plan says.
        #[default]
        Planned,
        /// Until what it measures no longer changes: it compiles while it runs.
        UntilSteady,
    }
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
    /// A mechanism of a worker.
    pub struct MechanismDescription {
        /// Name. A name that hopcost itself has means the same mechanism.
        pub name: String,
        /// Family it is listed under.
        #[serde(default)]
        pub family: String,
        /// One line.
        #[serde(default)]
        pub about: String,
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
        /// System calls in one operation, both ends being of this runtime and
        /// waiting its default way; absent where nobody says.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub system_calls: Option<CountRange>,
    }
}

/// A runtime whose worker was looked for.
#[derive(Debug, Clone, PartialEq)]
pub struct RuntimeFacts {
    /// Its name.
    pub runtime: Runtime,
    /// What its worker says of itself, or why it is absent (`not built: run
    /// scripts/setup workers go`).
    pub state: Result<Description, String>,
}

impl RuntimeFacts {
    /// What its worker says of a mechanism.
    pub fn mechanism(&self, name: &str) -> Option<&MechanismDescription> {
        self.state.as_ref().ok()?.mechanisms.iter().find(|row| row.name == name)
    }
}

impl MechanismDescription {
    /// What hopcost's own worker says of a mechanism, but for whether it is available
    /// here, which takes asking the kernel.
    pub fn of(facts: &Facts) -> Self {
        let payload = match facts.payload {
            Payload::None => None,
            Payload::Bytes { min, max, default } => Some(PayloadRange { min, max, default }),
        };
        Self {
            name: facts.name.into(),
            family: facts.family.into(),
            about: facts.about.into(),
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
            crosses: facts.crosses.into(),
            copies: facts.copies.into(),
            wakes: facts.wakes.into(),
            between_stamps: facts.between_stamps.into(),
            limits: facts.limits.into(),
            sources: facts.sources.iter().map(|source| source.to_string()).collect(),
            system_calls: None,
        }
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
