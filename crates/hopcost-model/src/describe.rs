//! What a worker says of itself in answer to `describe` (workers/PROTOCOL.md).

use std::collections::BTreeMap;

use crate::case::Runtime;
use crate::document;
use crate::mechanism::Mechanism;

document! {
    /// A worker.
    #[derive(Default)]
    #[serde(default)]
    pub struct Description {
        /// Protocol version.
        pub protocol: u32,
        /// Name of the runtime, as cases spell it (`rust`, `python`).
        pub runtime: String,
        /// Version of the worker itself.
        pub version: String,
        /// What it is made of, with versions: the language first of all
        /// (`python`: `3.11.7`), its libraries.
        pub libraries: BTreeMap<String, String>,
        /// What of the runtime itself shapes its numbers, a line each (`the GIL is on`).
        #[serde(skip_serializing_if = "Vec::is_empty")]
        pub remarks: Vec<String>,
        /// The clock of its stamps.
        pub clock: WorkerClock,
        /// How long it has to be warmed up.
        pub warm_up: WarmUp,
        /// Whether it obeys `spoil`, by which hopcost checks a link that is the worker's own.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        pub spoils: bool,
        /// Mechanisms it has, the unavailable ones with their reason.
        pub mechanisms: Vec<Mechanism>,
    }

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

/// A runtime whose worker was looked for.
#[derive(Debug, Clone, PartialEq)]
pub struct RuntimeFacts {
    /// Its name.
    pub runtime: Runtime,
    /// What a process of it takes from its start until it is attached, where its folder says so.
    pub start_ns: Option<u64>,
    /// What its worker says of itself, or why it is absent (`not built: run
    /// scripts/setup workers go`).
    pub state: Result<Description, String>,
}

impl Description {
    /// What it says of a mechanism.
    pub fn mechanism(&self, name: &str) -> Option<&Mechanism> {
        self.mechanisms.iter().find(|mechanism| mechanism.name == name)
    }
    /// Whether it is the worker inside the hopcost binary.
    pub fn is_rust(&self) -> bool {
        self.runtime == Runtime::RUST.word()
    }
}

impl RuntimeFacts {
    /// What its worker says of a mechanism.
    pub fn mechanism(&self, name: &str) -> Option<&Mechanism> {
        self.state.as_ref().ok()?.mechanism(name)
    }
}
