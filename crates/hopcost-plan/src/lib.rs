#![forbid(unsafe_code)]
//! What a user asked for, resolved into a [`Plan`]: suites and selectors are
//! expanded, defaults filled in, what cannot be done here is kept with its
//! reason, and the time is shared out.
//!
//! Pure: no clock, no randomness, no files. The caller reads a suite file and
//! the machine, and brings the seed.
//!
//! # What is asked for, from the bottom up
//!
//! Three layers say what is measured, and the more particular one wins key by
//! key: the suite's `[[cases]]`, then the options (`--payload 4KiB`), then the
//! keys of a selector (`pipe?payload=64`).
//!
//! - With a suite, selectors, `--mechanism` and `--workload` choose among its
//!   cases; the other options and a selector's keys replace the suite's values
//!   wherever they mean something (a `call` has no placement and stays as it is).
//! - Without a suite, selectors name what is measured, out of all mechanisms;
//!   without selectors, `--mechanism` does, or every mechanism where only other
//!   options are given.
//! - With none of them, the suite is `ladder`.
//!
//! # Runtimes
//!
//! Rust's mechanisms are given; those of other runtimes are found out, once, when
//! one of these is named or a mechanism is that Rust has not. See [`cast`] for what
//! the ends of two runtimes play.
//!
//! # Time
//!
//! `--rounds` and `--budget` replace both of the suite's. A suite's own budget
//! is for the suite as written: where the command line adds cases to it, only
//! its rounds count. See [`estimate_ns`].

mod axes;
mod cast;
mod chosen;
mod error;
mod expand;
mod feasible;
mod glob;
mod known;
mod machine;
mod message;
mod order;
mod pattern;
mod request;
mod resolve;
mod selector;
mod shape;
mod shipped;
mod shown;
mod spread;
mod suite;

pub use hopcost_model::describe::RuntimeFacts;
use hopcost_model::plan::Plan;

pub use axes::KEYS;
pub use cast::{Cast, Part, cast};
pub use error::{PlanError, nearest};
pub use expand::{CASES_MAX, GAP_NS};
pub use machine::Machine;
pub use message::FIELDS_DEFAULT;
pub use order::order;
pub use resolve::plan;
pub use shape::{
    MEASURE_FLOOR_NS, ROUNDS_DEFAULT, ROUNDS_FOR_INTERVAL, ROUNDS_MAX, RUN_FIXED_NS, TRIAL_DEFAULT,
    TRIAL_FIXED_NS, estimate_ns, trial_ns,
};
pub use shipped::{SHIPPED, shown};
pub use shown::{Contrast, Plot, PlotX, PlotY, Published, Shown};
pub use suite::{Suite, parse_suite};

/// What the user asked for. Every list may hold comma lists; an empty one means
/// that nothing was said.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ask {
    /// The suite.
    pub suite: Option<SuiteSource>,
    /// `--full`: the suite NAME-full in place of NAME.
    pub full: bool,
    /// Selectors: `[workload/]mechanism[?key=v1,v2&key=…]`.
    pub selectors: Vec<String>,
    /// `--mechanism`: names and globs.
    pub mechanism: Vec<String>,
    /// `--workload`.
    pub workload: Vec<String>,
    /// `--payload`: sizes with units.
    pub payload: Vec<String>,
    /// `--field`: bytes of one field of a stream's message, sizes with units.
    pub field: Vec<String>,
    /// `--fields`: fields of a stream's message.
    pub fields: Vec<String>,
    /// `--flows`: connections of a stream.
    pub flows: Vec<String>,
    /// `--ack`: `none`, `per-message` or `window:N`.
    pub ack: Vec<String>,
    /// `--gap`: gaps before a wake-up, durations with units.
    pub gap: Vec<String>,
    /// `--idle-knob`.
    pub idle_knob: Vec<String>,
    /// `--boundary`.
    pub boundary: Vec<String>,
    /// `--placement`: `same-cpu`, `cross`, `smt`, `same-llc`, …
    pub placement: Vec<String>,
    /// `--wait`: `block` or `caller:callee`.
    pub wait: Vec<String>,
    /// `--spin`: budgets of spin-then-block, durations with units.
    pub spin: Vec<String>,
    /// `--sched`: `other` or `fifo:N`.
    pub sched: Vec<String>,
    /// `--runtime`: `python`, or `caller:callee`.
    pub runtime: Vec<String>,
    /// `--parameter KEY=V1,V2`: a mechanism's own parameters.
    pub parameters: Vec<String>,
    /// `--rounds`.
    pub rounds: Option<u32>,
    /// `--budget`, in nanoseconds.
    pub budget_ns: Option<u64>,
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
    /// One inside the binary, by name (see [`SHIPPED`]).
    Shipped(String),
    /// A file that the caller has read.
    Text {
        /// Its name, for errors.
        file: String,
        /// Its contents.
        text: String,
    },
}

/// An error where no case of the plan can be measured: then a run has nothing to
/// do, while a dry run still shows every case with its reason.
pub fn ensure_live(plan: &Plan) -> Result<(), PlanError> {
    if plan.live().next().is_some() {
        return Ok(());
    }
    let skipped = plan.cases.iter().find_map(|case| Some((case, case.skip.as_ref()?)));
    let Some((first, reason)) = skipped else {
        return Err(PlanError::NothingLeft("the plan has no cases".to_owned()));
    };
    Err(PlanError::NothingLeft(match plan.cases.len() {
        1 => format!("{}: {reason}", first.id()),
        n => format!("all {n} cases are skipped, the first because: {}: {reason}", first.id()),
    }))
}
