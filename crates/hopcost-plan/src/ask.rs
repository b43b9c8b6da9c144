//! What a user asks for.

use std::collections::BTreeMap;

/// What the user asked for. Every list may hold comma lists; an empty one means
/// that nothing was said.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Ask {
    pub suite: Option<SuiteSource>,
    /// `--full`: the suite NAME-full in place of NAME.
    pub full: bool,
    /// Selectors: `[workload/]mechanism[?key=v1,v2&key=…]`.
    pub selectors: Vec<String>,
    /// `--mechanism`: names and globs.
    pub mechanism: Vec<String>,
    /// `--workload`.
    pub workload: Vec<String>,
    /// The options that give values on an axis, by its key.
    pub axes: BTreeMap<&'static str, Vec<String>>,
    /// `--parameter KEY=V1,V2`: a mechanism's own parameters.
    pub parameters: Vec<String>,
    /// `--rounds`.
    pub rounds: Option<u32>,
    /// `--budget`, in nanoseconds.
    pub budget_ns: Option<u64>,
    /// `--until`: the width, to either side and as a share of the value, at which a case has
    /// rounds enough.
    pub until: Option<f64>,
    /// `--measure`: aimed length of a trial's measured phase, in nanoseconds.
    pub measure_ns: Option<u64>,
    /// `--operations`: exact operations of a trial with two ends; of a stream,
    /// messages of a flow at most.
    pub operations: Option<u64>,
    /// `--seed`, or a fresh one.
    pub seed: u64,
    /// `--cpus`: the caller's, then the callee's; one alone is for `same-cpu`.
    pub cpus: Vec<u32>,
    /// `--baseline`: a selector; the first measured case that it selects.
    pub baseline: Option<String>,
}

/// Where a suite comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SuiteSource {
    /// One inside the binary, by name (see [`SHIPPED`](crate::SHIPPED)).
    Shipped(String),
    /// A file that the caller has read.
    Text {
        /// Its name, for errors.
        file: String,
        text: String,
    },
}
