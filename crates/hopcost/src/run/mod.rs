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
mod search;
pub mod setup;
pub mod threads;
pub mod trial;
mod trust;
pub mod worker;
pub mod workers;
pub mod yardstick;

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::net::UnixStream;
use std::time::Instant;

use anyhow::anyhow;
use hopcost_model::case::{Case, Runtime};
use hopcost_model::plan::Plan;
use hopcost_model::protocol::{ClockReading, Stamp};
use hopcost_model::raw::{CpuAccounting, RawTrial, Yardstick};
use hopcost_plan::Yardsticks;
use hopcost_probe::sys;
use hopcost_stats::thinning;
use setup::Setup;
use trial::spec::{Clocks, Counts, Lives, Outcome, TrialSpec};
use workers::Workers;
use yardstick::{Beside, OpenYardsticks};

/// A case whose first trials all fail is given up after this many: the others
/// need the time, and its row already has its reason.
const FAILURES_MAX: u32 = 3;

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
}

/// Where everything goes that a run brings.
pub trait Sink {
    /// A finished trial; when this returns, it is durable.
    fn trial(&mut self, trial: RawTrial) -> anyhow::Result<()>;
    /// What is known of the yardsticks: at first, and whenever that has changed.
    fn yardsticks(&mut self, yardsticks: &[Yardstick]) -> anyhow::Result<()>;
    /// CPU accounting of a finished round.
    fn accounting(&mut self, accounting: &[CpuAccounting]) -> anyhow::Result<()>;
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

struct Live<'a> {
    index: u32,
    case: &'a Case,
    workers: Workers<'a>,
    stamp: Option<Stamp>,
    tried: u32,
    succeeded: u32,
}

/// Runs what is left of the plan.
pub fn execute(session: &Session<'_>, sink: &mut dyn Sink) -> anyhow::Result<Ending> {
    let mut live = live_cases(session)?;
    let planned = &session.yardsticks.all;
    let players = yardstick::players(planned, session.setup);
    let specs = yardstick::specs(&players, planned, session.setup, session.clocks);
    let mut yardsticks = match OpenYardsticks::open(planned, &specs) {
        Ok(yardsticks) => yardsticks,
        Err(_) => return Ok(Ending::Interrupted),
    };
    let done: BTreeSet<(u32, u32)> = session.earlier.iter().map(|t| (t.case, t.round)).collect();
    let plan = session.plan;
    let started = Instant::now();
    let mut progress = Progress {
        trials_done: done.len() as u64,
        trials_planned: u64::from(plan.rounds) * live.len() as u64,
        trials_failed: session.earlier.iter().filter(|t| t.error.is_some()).count() as u64,
        rounds_done: 0,
        rounds_planned: plan.rounds,
        left_ns: 0,
    };
    let mut here = 0u64;
    sink.progress(&progress);
    for round in 0..plan.rounds {
        let left_in_round =
            live.iter().filter(|l| !done.contains(&(l.index, round))).count() as u64;
        if let (Some(budget_ns), true) = (plan.budget_ns, here > 0) {
            let elapsed_ns = started.elapsed().as_nanos() as u64;
            if elapsed_ns + elapsed_ns / here * left_in_round > budget_ns {
                return Ok(Ending::BudgetSpent);
            }
        }
        let accounts = Accounts::open(session, round);
        let order = hopcost_plan::order(plan.seed, round, live.len() as u32);
        for (position, &which) in order.iter().enumerate() {
            let live = &mut live[which as usize];
            if done.contains(&(live.index, round)) {
                continue;
            }
            let given_up = live.succeeded == 0 && live.tried >= FAILURES_MAX;
            if given_up {
                progress.trials_planned -= 1;
                continue;
            }
            let started_ns = started.elapsed().as_nanos() as u64;
            let index = session.yardsticks.of_case.get(live.index as usize).copied().flatten();
            let beside = Beside::of(&mut yardsticks, index);
            let Outcome::Row(mut row) = one_trial(session, live, round, beside)? else {
                return Ok(Ending::Interrupted);
            };
            if let Some(news) = yardsticks.news() {
                sink.yardsticks(&news)?;
            }
            row.case = live.index;
            row.round = round;
            row.position = position as u32;
            row.started_ns = started_ns;
            live.tried += 1;
            match row.error {
                Some(_) => progress.trials_failed += 1,
                None => {
                    live.succeeded += 1;
                    live.stamp = row.stamp;
                }
            }
            sink.trial(*row)?;
            here += 1;
            progress.trials_done += 1;
            let mean_ns = started.elapsed().as_nanos() as u64 / here;
            progress.left_ns =
                mean_ns * progress.trials_planned.saturating_sub(progress.trials_done);
            sink.progress(&progress);
        }
        sink.accounting(&accounts.close())?;
        progress.rounds_done = round + 1;
        sink.progress(&progress);
    }
    Ok(Ending::Complete)
}

fn live_cases<'a>(session: &'a Session<'_>) -> anyhow::Result<Vec<Live<'a>>> {
    let mut stamps: BTreeMap<u32, Stamp> = BTreeMap::new();
    for trial in session.earlier.iter().filter(|trial| trial.error.is_none()) {
        if let Some(stamp) = trial.stamp {
            stamps.entry(trial.case).or_insert(stamp);
        }
    }
    session
        .plan
        .live()
        .map(|(index, planned)| {
            let index = index as u32;
            let of_case = || session.earlier.iter().filter(move |t| t.case == index);
            let case = planned.case.as_ref().map_err(|unknown| {
                anyhow::Error::new(unknown.error.clone()).context(format!("case `{}`", unknown.id))
            })?;
            let workers = Workers::assemble(case, &session.setup.runtimes)
                .map_err(|reason| anyhow!("{case}: {reason}"))?;
            Ok(Live {
                index,
                case,
                workers,
                stamp: stamps.get(&index).copied(),
                tried: of_case().count() as u32,
                succeeded: of_case().filter(|t| t.error.is_none()).count() as u32,
            })
        })
        .collect()
}

fn one_trial(
    session: &Session<'_>,
    live: &Live<'_>,
    round: u32,
    beside: Beside<'_, '_>,
) -> anyhow::Result<Outcome> {
    let cpus = session.plan.cpus_for(live.case.placement);
    // Derived from the seed alone, so that a resumed run goes on as it would have.
    let seed = thinning::trial_seed(session.plan.seed, live.index, round);
    let (padding, seed) = thinning::trial_draws(seed);
    let spec = TrialSpec {
        setup: session.setup,
        case: live.case,
        workers: &live.workers,
        cpus,
        shape: session.plan.trial,
        stamp: live.stamp,
        counts: Counts::Fitted(Clocks {
            caller: clocks::of(session.clocks, &live.case.runtimes.caller, cpus.0)?,
            callee: clocks::of(session.clocks, &Runtime::RUST, cpus.1)?,
        }),
        lives: Lives::ForTrial,
        transcript: None,
        number: round,
        padding,
        seed,
    };
    Ok(trial::run(&spec, beside))
}

/// CPU accounting over one round.
struct Accounts {
    round: u32,
    started: Instant,
    steal_before_ns: Vec<(u32, Option<u64>)>,
}

impl Accounts {
    fn open(session: &Session<'_>, round: u32) -> Self {
        let cpus: BTreeSet<u32> = session.clocks.iter().map(|clock| clock.cpu).collect();
        let steal_before_ns = cpus.into_iter().map(|cpu| (cpu, steal_ns(cpu))).collect();
        Self { round, started: Instant::now(), steal_before_ns }
    }

    fn close(self) -> Vec<CpuAccounting> {
        let wall_ns = self.started.elapsed().as_nanos() as u64;
        self.steal_before_ns
            .into_iter()
            .filter_map(|(cpu, before)| {
                // Steal that goes backwards (a known kernel fault) says nothing.
                let steal_ns = steal_ns(cpu)?.checked_sub(before?)?;
                Some(CpuAccounting { round: self.round, cpu, wall_ns, steal_ns })
            })
            .collect()
    }
}

fn steal_ns(cpu: u32) -> Option<u64> {
    hopcost_machine::steal_ns(&hopcost_machine::Root::default(), cpu)
}
