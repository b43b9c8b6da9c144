//! What a run starts from, where what it brings goes, and how it ends.

use std::collections::{BTreeMap, BTreeSet};

use hopcost_model::plan::Plan;
use hopcost_model::protocol::ClockReading;
use hopcost_model::raw::{CpuAccounting, RawTrial, Yardstick};
use hopcost_plan::Yardsticks;

use super::setup::Setup;

/// What a run starts from.
pub struct Session<'a> {
    /// What its trials need.
    pub setup: &'a Setup,
    pub plan: &'a Plan,
    /// The clock of each used CPU, of each runtime.
    pub clocks: &'a [ClockReading],
    pub yardsticks: &'a Yardsticks,
    /// How long it takes, by its plan.
    pub expected_ns: u64,
    /// Trials (case, round) that an earlier sitting finished, with what a case's trials taught.
    pub earlier: &'a [RawTrial],
}

/// What happens during a run.
#[derive(Debug, Clone, Copy)]
pub struct Progress {
    /// Trials finished, earlier sittings included.
    pub trials_done: u64,
    pub trials_planned: u64,
    pub trials_failed: u64,
    pub rounds_done: u32,
    pub rounds_planned: u32,
    /// Expected time left, from the trials so far and no more than the budget allows; where it
    /// aims at a width, until the next look.
    pub left_ns: u64,
    /// The case whose trial comes next, by its index in the plan.
    pub next: Option<u32>,
    /// The widest interval at the last look, to either side as a share of its value.
    pub widest: Option<f64>,
    /// How many intervals were wider than the plan aims at.
    pub wider: usize,
    /// How far beyond its budget the rounds end that the answer needs, by those so far.
    pub beyond_ns: u64,
}

/// Where everything goes that a run brings.
pub trait Sink {
    /// A finished trial; when this returns, it is durable.
    fn trial(&mut self, trial: RawTrial) -> anyhow::Result<()>;
    /// What is known of the yardsticks: at first, and whenever that has changed.
    fn yardsticks(&mut self, yardsticks: &[Yardstick]) -> anyhow::Result<()>;
    /// CPU accounting of a finished round.
    fn accounting(&mut self, accounting: &[CpuAccounting]) -> anyhow::Result<()>;
    /// After some rounds: how far each case's interval reaches to either side, as a share of its
    /// value; of those that have one.
    fn widths(&mut self) -> anyhow::Result<BTreeMap<u32, f64>>;
    /// At a look of a comparison or of a run that answers a question: the cases, by their place in
    /// the plan, that further rounds are for; none where they would change no answer. `None` where nobody
    /// looks.
    fn wanted(&mut self) -> Option<BTreeSet<u32>>;
    /// Between two trials. Losing the listener changes nothing.
    fn progress(&mut self, progress: &Progress);
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// Every round was done.
    Complete,
    /// The budget did not suffice for another round.
    BudgetSpent,
    /// The far host did not answer several times in a row.
    FarHostLost,
    /// The user interrupted.
    Interrupted,
}
