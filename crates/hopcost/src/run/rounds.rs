//! The rounds of a run: which case is measured next, how long its trial is, and when there
//! have been enough. Every finished trial is in the run's file before the next one begins.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::rc::Rc;
use std::time::{Duration, Instant};

use anyhow::Context;
use hopcost_file::RunFile;
use hopcost_machine::{Root, steal_ns};
use hopcost_model::{
    Case, ClockReading, CpuAccounting, Plan, ROUNDS_A_BLOCK, RawRun, RawTrial, Stamp, TrialShape,
};
use hopcost_plan::{MEASURE_FLOOR_NS, RUN_FIXED_NS, Yardsticks};
use hopcost_probe::interrupt;
use hopcost_stats::thinning;

use super::peer::near::Peer;
use super::reference::Machine;
use super::runtimes::{Runtimes, Workers};
use super::setup::Setup;
use super::trial;
use super::trial::spec::TrialSpec;
use super::yardstick::{Beside, OpenYardsticks};

/// A case whose first trials all fail is given up after this many: the others
/// need the time, and its row already has its reason.
const FAILURES_MAX: u32 = 3;

/// A run: what its trials need, its file, and the machine that it teaches of.
pub struct Session {
    pub setup: Setup,
    pub plan: Plan,
    /// The clock of each used CPU, of each runtime.
    pub clocks: Vec<ClockReading>,
    pub yardsticks: Yardsticks,
    pub file: RunFile,
    pub path: PathBuf,
    pub machine: Machine,
}

/// How far a run is, between two trials.
#[derive(Debug, Clone, Copy, Default)]
pub struct Progress {
    /// Trials finished, earlier sittings included.
    pub trials_done: u64,
    pub trials_planned: u64,
    pub trials_failed: u64,
    pub rounds_done: u32,
    pub rounds_planned: u32,
    /// Expected time left, from the trials so far and no more than the budget allows; where the
    /// plan looks at its results, until the next look.
    pub left_ns: u64,
    /// The case whose trial comes next, by its index in the plan.
    pub next: Option<u32>,
    /// Claims that were decided at the last look, and how many there are.
    pub decided: Option<(usize, usize)>,
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// Every round was done, or the budget was spent.
    ByItself,
    /// The far host did not answer several times in a row.
    FarHostLost,
}

/// A case of which trials are made.
struct Live<'a> {
    index: u32,
    case: Rc<Case>,
    workers: Rc<Workers<'a>>,
    stamp: Option<Stamp>,
    tried: u32,
    succeeded: u32,
    /// When its last trial began.
    began: Option<Instant>,
}

impl Live<'_> {
    fn is_given_up(&self) -> bool {
        self.succeeded == 0 && self.tried >= FAILURES_MAX
    }
}

/// What the trials of a round took.
#[derive(Clone, Copy, Default)]
struct Took {
    trials: u64,
    all_ns: u64,
    /// What of it their phases took.
    phases_ns: u64,
}

/// A run under way.
pub struct Rounds<'a> {
    setup: &'a Setup,
    plan: &'a Plan,
    clocks: &'a [ClockReading],
    /// The yardstick of each case.
    of_case: &'a [Option<u32>],
    expected_ns: u64,
    file: &'a mut RunFile,
    draw: &'a mut dyn FnMut(&Progress, &RawRun),
    yardsticks: OpenYardsticks<'a>,
    live: Vec<Live<'a>>,
    done: BTreeSet<(u32, u32)>,
    started: Instant,
    /// When the last trial of an earlier sitting ended, by the run's own clock.
    base_ns: u64,
    last_round: Took,
    shape: TrialShape,
    /// The cases that further rounds are for; all of them until a look says otherwise.
    wanted: Option<BTreeSet<u32>>,
    /// The round before which the plan looks at its results next.
    look: u32,
    /// How many trials there were at the last look.
    looked_at: Option<u64>,
    progress: Progress,
}

impl<'a> Rounds<'a> {
    /// Before the first; by its plan a run takes so long.
    pub fn of(
        session: &'a mut Session,
        expected_ns: u64,
        draw: &'a mut dyn FnMut(&Progress, &RawRun),
    ) -> anyhow::Result<Self> {
        let Session { setup, plan, clocks, yardsticks, file, .. } = session;
        let (setup, plan, clocks) = (&*setup, &*plan, clocks.as_slice());
        let open = OpenYardsticks::open(&yardsticks.all, setup, clocks)?;
        let earlier = &file.run().trials;
        let live = live_cases(plan, &setup.runtimes, earlier)?;
        let done: BTreeSet<(u32, u32)> = earlier.iter().map(|t| (t.case, t.round)).collect();
        let look = hopcost_plan::look_after(plan, 0);
        let progress = Progress {
            trials_done: done.len() as u64,
            trials_planned: u64::from(look) * live.len() as u64,
            trials_failed: earlier.iter().filter(|trial| trial.error.is_some()).count() as u64,
            rounds_planned: plan.rounds,
            ..Progress::default()
        };
        Ok(Self {
            base_ns: earlier.iter().map(|t| t.started_ns + t.took_ns).max().unwrap_or(0),
            setup,
            plan,
            clocks,
            of_case: &yardsticks.of_case,
            expected_ns,
            file,
            draw,
            yardsticks: open,
            live,
            done,
            started: Instant::now(),
            last_round: Took::default(),
            shape: plan.trial,
            wanted: None,
            look,
            looked_at: None,
            progress,
        })
    }

    /// All that the plan, its budget and its aim leave.
    pub fn run(mut self) -> anyhow::Result<Ending> {
        for round in 0..self.plan.rounds {
            if round == self.look && !self.goes_on(round) {
                break;
            }
            let left = self.left_in(round);
            if !self.affords(round, left.len() as u64) {
                return Ok(Ending::ByItself);
            }
            let (began, steal_before) = (Instant::now(), steal(self.clocks));
            let mut took = Took::default();
            let of_round = left.len() as u64;
            for (position, which) in left {
                if self.is_budget_spent() {
                    return Ok(Ending::ByItself);
                }
                let phases_ns = self.trial(round, position, which)?;
                (took.trials, took.phases_ns) = (took.trials + 1, took.phases_ns + phases_ns);
                let is_first = round == 0 && self.plan.comparison.is_none();
                if is_first && took.trials == of_round.div_ceil(2) {
                    // On a busy machine the first round alone could take most of the budget.
                    let needed = u64::from(hopcost_plan::rounds_needed(self.plan));
                    took.all_ns = began.elapsed().as_nanos() as u64;
                    self.shorten(needed * of_round - took.trials, took);
                }
                if self.setup.peer.as_ref().is_some_and(Peer::is_lost) {
                    return Ok(Ending::FarHostLost);
                }
            }
            let wall_ns = began.elapsed().as_nanos() as u64;
            self.last_round = Took { all_ns: wall_ns, ..took };
            let accounting = steal(self.clocks).into_iter().filter_map(|(cpu, now)| {
                // Steal that goes backwards (a known kernel fault) says nothing.
                let steal_ns = now.checked_sub(*steal_before.get(&cpu)?)?;
                Some(CpuAccounting { round, cpu, wall_ns, steal_ns })
            });
            let accounting: Vec<CpuAccounting> = accounting.collect();
            self.file.change("store CPU accounting", |run| run.accounting.extend(accounting))?;
            self.progress.rounds_done = round + 1;
        }
        Ok(Ending::ByItself)
    }

    /// Looks at the results before a round; whether further rounds are for any case, and which these are.
    fn goes_on(&mut self, round: u32) -> bool {
        let plan = self.plan;
        if self.looked_at != Some(self.progress.trials_done) {
            let look = hopcost_read::look(self.file.run(), &hopcost_probe::worker::mechanisms());
            self.progress.decided = look.decided;
            let is_open = |live: &&Live<'_>| look.wanted.contains(&live.index);
            let open = self.live.iter().filter(is_open).filter(|live| !live.is_given_up());
            self.wanted = Some(open.map(|live| live.index).collect());
            self.looked_at = Some(self.progress.trials_done);
        }
        let wanted = self.wanted.as_ref().map_or(0, BTreeSet::len);
        self.look = hopcost_plan::look_after(plan, round);
        let next = wanted as u64 * u64::from(self.look - round);
        self.progress.trials_planned = self.progress.trials_done + next;
        wanted > 0
    }

    /// The cases of a round in its order, each with its place in it.
    fn left_in(&self, round: u32) -> Vec<(usize, usize)> {
        let order = hopcost_plan::order_of(self.plan, round, self.live.len() as u32);
        let places = order.iter().map(|&which| which as usize).enumerate();
        let left = places.filter(|&(_, which)| {
            let live = &self.live[which];
            let wanted = self.wanted.as_ref().is_none_or(|wanted| wanted.contains(&live.index));
            wanted && !live.is_given_up() && !self.done.contains(&(live.index, round))
        });
        left.collect()
    }

    /// Whether the budget has time for a round of `trials`, or for a block of a comparison, none of which
    /// ends in the middle. Those rounds without which there is no interval become shorter
    /// before they become fewer.
    fn affords(&mut self, round: u32, trials: u64) -> bool {
        let plan = self.plan;
        let (is_compared, last) = (plan.comparison.is_some(), self.last_round);
        let Some(left_ns) = self.budget_left_ns().filter(|_| last.trials > 0) else { return true };
        let unit = if is_compared { ROUNDS_A_BLOCK } else { 1 };
        if !round.is_multiple_of(unit) {
            return true;
        }
        let needed = u64::from(hopcost_plan::rounds_needed(plan).saturating_sub(round));
        let each_ns = match needed {
            0 => last.all_ns / last.trials,
            rounds => self.shorten(rounds * trials, last),
        };
        let fits = each_ns.saturating_mul(trials * u64::from(unit)) <= left_ns;
        needed > 0 && !is_compared || fits
    }

    /// Shortens trials like these until `trials` more fit the budget, and returns what one then takes.
    fn shorten(&mut self, trials: u64, took: Took) -> u64 {
        let each_ns = took.all_ns / took.trials.max(1);
        let phases_ns = (took.phases_ns / took.trials.max(1)).min(each_ns);
        let beside_ns = each_ns - phases_ns;
        // A tenth is for trials that take longer than these.
        let left_ns = self.budget_left_ns().unwrap_or(u64::MAX) / 10 * 9;
        let room_ns = left_ns / trials.max(1);
        let share = room_ns.saturating_sub(beside_ns) as f64 / phases_ns.max(1) as f64;
        let (planned, before) = (self.plan.trial, self.shape.measure_ns);
        let cut = |ns: u64, planned: u64| {
            ((ns as f64 * share) as u64).clamp(MEASURE_FLOOR_NS.min(planned), planned)
        };
        self.shape.measure_ns = cut(before, planned.measure_ns);
        self.shape.measure_max_ns = cut(self.shape.measure_max_ns, planned.measure_max_ns);
        let share = self.shape.measure_ns as f64 / before.max(1) as f64;
        beside_ns + (phases_ns as f64 * share) as u64
    }

    /// Whether no trial may begin any more, be it in the middle of a round.
    fn is_budget_spent(&self) -> bool {
        let is_spent = self.budget_left_ns() == Some(0);
        is_spent && self.trials() > 0 && self.plan.comparison.is_none()
    }

    /// What the budget leaves for trials: reading the run back needs some of it too.
    fn budget_left_ns(&self) -> Option<u64> {
        let budget_ns = self.plan.budget_ns?;
        let beside_ns = RUN_FIXED_NS.min(budget_ns / 4);
        Some((budget_ns - beside_ns).saturating_sub(self.elapsed_ns()))
    }

    /// Trials of this sitting.
    fn trials(&self) -> u64 {
        self.progress.trials_done - self.done.len() as u64
    }

    fn elapsed_ns(&self) -> u64 {
        self.started.elapsed().as_nanos() as u64
    }

    /// Makes and stores one trial; how long its phases took.
    fn trial(&mut self, round: u32, position: usize, which: usize) -> anyhow::Result<u64> {
        self.space(which)?;
        self.progress.left_ns = self.left_ns();
        self.progress.next = Some(self.live[which].index);
        (self.draw)(&self.progress, self.file.run());
        let started_ns = self.elapsed_ns();
        let left_ms = self.budget_left_ns().map(|ns| ns / 1_000_000);
        self.live[which].began = Some(Instant::now());
        let mut row = self.outcome(round, which, left_ms)?;
        let known = self.yardsticks.known();
        if !known.is_empty() && known != self.file.run().yardsticks {
            self.file.change("store the yardsticks", |run| run.yardsticks = known)?;
        }
        let live = &mut self.live[which];
        row.case = live.index;
        row.round = round;
        row.position = position as u32;
        row.started_ns = self.base_ns + started_ns;
        live.tried += 1;
        match row.error {
            Some(_) => self.progress.trials_failed += 1,
            None => {
                live.succeeded += 1;
                live.stamp = row.stamp;
            }
        }
        if live.is_given_up() {
            let left = u64::from(self.look.saturating_sub(round + 1));
            self.progress.trials_planned = self.progress.trials_planned.saturating_sub(left);
        }
        if self.plan.comparison.is_some() {
            // Near the limit a case and its copy would else be stamped in two ways.
            self.live.iter_mut().for_each(|live| live.stamp = live.stamp.or(row.stamp));
        }
        interrupt::stall("store");
        let phases_ns = row.phases_ns;
        self.file.append_trial(row).context("storing a trial")?;
        self.progress.trials_done += 1;
        Ok(phases_ns)
    }

    fn outcome(
        &mut self,
        round: u32,
        which: usize,
        left_ms: Option<u64>,
    ) -> anyhow::Result<RawTrial> {
        let live = &self.live[which];
        let cpus = self.plan.cpus_for(live.case.placement);
        let clock = ClockReading::find(self.clocks, &live.case.runtimes.caller, cpus.0);
        // Derived from the seed alone, so that a resumed run goes on as it would have.
        let seed = thinning::trial_seed(self.plan.seed, live.index, round);
        let (padding, seed) = thinning::trial_draws(seed);
        let (case, workers) = (live.case.clone(), live.workers.clone());
        let spec = TrialSpec {
            shape: self.shape,
            stamp: live.stamp,
            clock: Some(clock.map_err(anyhow::Error::msg)?),
            left_ms,
            number: round,
            padding,
            seed,
            ..TrialSpec::exactly(self.setup, case, workers, cpus, (0, 0))
        };
        let yardstick = self.of_case.get(live.index as usize).copied().flatten();
        trial::run(&spec, Beside::of(&mut self.yardsticks, yardstick))
    }

    /// What is left takes by the trials so far, and no more than the budget.
    fn left_ns(&self) -> u64 {
        let elapsed_ns = self.elapsed_ns();
        let left = self.progress.trials_planned.saturating_sub(self.progress.trials_done);
        let left_ns = match elapsed_ns.checked_div(self.trials()) {
            Some(mean_ns) => mean_ns.saturating_mul(left),
            None => self.expected_ns.saturating_sub(elapsed_ns),
        };
        self.budget_left_ns().map_or(left_ns, |budget_ns| left_ns.min(budget_ns))
    }

    /// Waits until a case's next trial is far enough from its last in time for the host to
    /// have had a chance to change.
    fn space(&self, which: usize) -> std::io::Result<()> {
        let spacing = Duration::from_nanos(hopcost_plan::spacing_ns(self.plan));
        let Live { case, began, .. } = &self.live[which];
        let due = began.map(|began| began + spacing).filter(|due| *due > Instant::now());
        let due = due.filter(|_| !case.has_virtual_clock());
        due.map_or(Ok(()), |due| interrupt::sleep_until("spacing", due))
    }
}

fn live_cases<'a>(
    plan: &'a Plan,
    runtimes: &'a Runtimes,
    earlier: &[RawTrial],
) -> anyhow::Result<Vec<Live<'a>>> {
    plan.live()
        .map(|(index, planned)| {
            let index = index as u32;
            let of_case = || earlier.iter().filter(move |t| t.case == index);
            let measured = || of_case().filter(|trial| trial.error.is_none());
            let case = &planned.case;
            let workers = Workers::assemble(case, runtimes).with_context(|| case.to_string())?;
            Ok(Live {
                index,
                case: Rc::new(case.clone()),
                workers: Rc::new(workers),
                stamp: measured().find_map(|trial| trial.stamp),
                tried: of_case().count() as u32,
                succeeded: measured().count() as u32,
                began: None,
            })
        })
        .collect()
}

/// The steal so far of every CPU that a run uses, where the kernel tells.
fn steal(clocks: &[ClockReading]) -> BTreeMap<u32, u64> {
    let cpus = clocks.iter().map(|clock| clock.cpu);
    cpus.filter_map(|cpu| Some((cpu, steal_ns(&Root::default(), cpu)?))).collect()
}
