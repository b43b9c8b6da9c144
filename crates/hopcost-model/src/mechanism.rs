//! What is said of a mechanism: the row from which help, `hopcost list`,
//! `hopcost show`, the docs page and the conformance suite all come.

use crate::case::{Boundary, WaitKind, Workload};

/// The shape a mechanism has to the code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
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
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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

/// How often something happens in one operation, both ends together.
#[derive(Debug, Clone, Copy, PartialEq)]
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
}

/// What one wait costs in system calls and context switches, both ends together
/// and both ends waiting this way.
#[derive(Debug, Clone, Copy, PartialEq)]
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

/// The facts of a mechanism, all static.
#[derive(Debug, Clone, Copy)]
pub struct Facts {
    /// Name.
    pub name: &'static str,
    /// Family it is listed under (`call`, `notifier`, `pipe`, `unix socket`, …).
    pub family: &'static str,
    /// One line.
    pub about: &'static str,
    /// Shape.
    pub shape: Shape,
    /// Workloads it takes part in.
    pub workloads: &'static [Workload],
    /// Boundaries it can cross.
    pub boundaries: &'static [Boundary],
    /// Waits it has, the default first, with their counts; empty for `call`.
    pub waits: &'static [WaitFacts],
    /// System calls in one operation of a `call`.
    pub call_system_calls: Option<PerOperation>,
    /// Bytes a message may have.
    pub payload: Payload,
    /// Parameters.
    pub parameters: &'static [Parameter],
    /// What crosses.
    pub crosses: &'static str,
    /// Who copies the payload, and how often.
    pub copies: &'static str,
    /// Who wakes whom, by what.
    pub wakes: &'static str,
    /// What exactly lies between two stamps.
    pub between_stamps: &'static str,
    /// Limits.
    pub limits: &'static str,
    /// Man pages and other sources.
    pub sources: &'static [&'static str],
    /// A test engine, not listed.
    pub hidden: bool,
    /// Whether it can be used here, or why not.
    pub available: fn() -> Result<(), String>,
}

impl Facts {
    /// The facts of one of its waits.
    pub fn wait(&self, wait: WaitKind) -> Option<&WaitFacts> {
        self.waits.iter().find(|facts| facts.wait == wait)
    }
    /// The value of a parameter where none is given.
    pub fn parameter(&self, name: &str) -> Option<&Parameter> {
        self.parameters.iter().find(|parameter| parameter.name == name)
    }
}
