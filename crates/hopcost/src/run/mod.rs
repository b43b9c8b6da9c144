//! `run`: from a plan to finished trials. Spawns, supervises, hands every
//! finished trial on to be made durable. Knows no statistics and no file
//! format; while a trial is running this process is asleep in one wait.

pub mod check;
pub mod clocks;
pub mod idle;
pub mod pace;
pub mod reference;
pub mod runtimes;
pub mod scratch;
mod rounds;
mod search;
pub mod setup;
pub mod threads;
pub mod trial;
mod trust;
pub mod worker;
pub mod workers;
pub mod yardstick;

use std::collections::BTreeMap;
use std::os::unix::net::UnixStream;

use hopcost_model::plan::Plan;
use hopcost_model::protocol::ClockReading;
use hopcost_model::raw::{CpuAccounting, RawTrial, Yardstick};
use hopcost_plan::Yardsticks;
use hopcost_probe::sys;
use rounds::Rounds;
use setup::Setup;
use yardstick::OpenYardsticks;

/// Descriptors that a run opens beside those that it inherits: where not even these can be
/// opened, what cannot be done first says little of why.
const DESCRIPTORS_MIN: usize = 12;

/// Refuses to begin where too few descriptors may be opened (ulimit -n).
pub fn ensure_descriptors() -> std::io::Result<()> {
    let open = || -> std::io::Result<()> {
        let (first, _second) = UnixStream::pair()?;
        let copies = (2..DESCRIPTORS_MIN).map(|_| first.try_clone());
        copies.collect::<std::io::Result<Vec<_>>>().map(drop)
    };
    open().map_err(|error| {
        let doing = format!("opening {DESCRIPTORS_MIN} files, which a run needs (see ulimit -n)");
        sys::context(error, &doing)
    })
}

/// What a run starts from.
pub struct Session<'a> {
    /// What its trials need.
    pub setup: &'a Setup,
    /// The plan.
    pub plan: &'a Plan,
    /// The clock of each used CPU, of each runtime.
    pub clocks: &'a [ClockReading],
    /// Its yardsticks.
    pub yardsticks: &'a Yardsticks,
    /// Trials (case, round) that an earlier sitting finished, with what a case's trials taught.
    pub earlier: &'a [RawTrial],
}

/// What happens during a run.
#[derive(Debug, Clone, Copy)]
pub struct Progress {
    /// Trials finished, earlier sittings included.
    pub trials_done: u64,
    /// Trials planned.
    pub trials_planned: u64,
    /// Trials that failed.
    pub trials_failed: u64,
    /// Rounds finished.
    pub rounds_done: u32,
    /// Rounds planned.
    pub rounds_planned: u32,
    /// Expected time left, from the trials so far.
    pub left_ns: u64,
    /// What ends it.
    pub aim: Aim,
}

/// What a run goes on for.
#[derive(Debug, Clone, Copy)]
pub enum Aim {
    /// Its rounds.
    Rounds,
    /// Intervals that are not too wide: how many were at the last look, and the widest, to
    /// either side as a share of its value.
    Width {
        /// How many.
        wider: usize,
        /// The widest.
        widest: f64,
    },
}

/// Where everything goes that a run brings.
pub trait Sink {
    /// A finished trial; when this returns, it is durable.
    fn trial(&mut self, trial: RawTrial) -> anyhow::Result<()>;
    /// What is known of the yardsticks: at first, and whenever that has changed.
    fn yardsticks(&mut self, yardsticks: &[Yardstick]) -> anyhow::Result<()>;
    /// CPU accounting of a finished round.
    fn accounting(&mut self, accounting: &[CpuAccounting]) -> anyhow::Result<()>;
    /// After some rounds, where the plan aims at a width: how far each case's interval reaches
    /// to either side, as a share of its value; of those that have one.
    fn widths(&mut self) -> anyhow::Result<BTreeMap<u32, f64>>;
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
    /// The user interrupted.
    Interrupted,
}

/// Runs what is left of the plan.
pub fn execute(session: &Session<'_>, sink: &mut dyn Sink) -> anyhow::Result<Ending> {
    let planned = &session.yardsticks.all;
    let players = yardstick::players(planned, session.setup);
    let specs = yardstick::specs(&players, planned, session.setup, session.clocks);
    match OpenYardsticks::open(planned, &specs) {
        Ok(yardsticks) => Rounds::of(session, yardsticks)?.run(sink),
        Err(_) => Ok(Ending::Interrupted),
    }
}
