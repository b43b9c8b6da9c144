//! The rounds of a run: which case is measured next, how long its trial is, and when there
//! have been enough.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use anyhow::anyhow;
use hopcost_model::case::{Case, Runtime};
use hopcost_model::plan::{Question, ROUNDS_A_BLOCK, TrialShape};
use hopcost_model::protocol::Stamp;
use hopcost_model::raw::CpuAccounting;
use hopcost_plan::{BUDGET_FOR_INTERVAL, MEASURE_FLOOR_NS, ROUNDS_FOR_INTERVAL, RUN_FIXED_NS};
use hopcost_probe::interrupt;
use hopcost_stats::{contrast, thinning};

use super::budget::{Next, Spent};
use super::clocks;
use super::peer::near::Peer;
use super::session::{Ending, Progress, Session, Sink};
use super::trial;
use super::trial::spec::{Clocks, Counts, Lives, Outcome, TrialSpec};
use super::workers::Workers;
use super::yardstick::{Beside, OpenYardsticks};

/// A case whose first trials all fail is given up after this many: the others
/// need the time, and its row already has its reason.
const FAILURES_MAX: u32 = 3;
/// Rounds after which the widths are looked at for the first time; then after a third more
/// each time. Looks at fixed rounds, and by width alone, so that no value is waited for.
const FIRST_LOOK: u32 = 9;

/// A case of which trials are made.
struct Live<'a> {
    index: u32,
    case: &'a Case,
    workers: Workers<'a>,
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

/// A run under way.
pub(super) struct Rounds<'a> {
    session: &'a Session<'a>,
    yardsticks: OpenYardsticks<'a>,
    live: Vec<Live<'a>>,
    done: BTreeSet<(u32, u32)>,
    started: Instant,
    /// What the trials of this sitting have taken, and what those before the last round had.
    spent: Spent,
    before: Spent,
    shape: TrialShape,
    /// The cases that further rounds are for; all of them until a look says otherwise.
    wanted: Option<BTreeSet<u32>>,
    /// Up to this round it is known who is measured: to the next look, or to the last.
    ahead: u32,
    progress: Progress,
}

impl<'a> Rounds<'a> {
    /// Before the first.
    pub fn of(session: &'a Session<'a>, yardsticks: OpenYardsticks<'a>) -> anyhow::Result<Self> {
        let live = live_cases(session)?;
        let earlier = session.earlier;
        let done: BTreeSet<(u32, u32)> = earlier.iter().map(|t| (t.case, t.round)).collect();
        let ahead = match (&session.plan.question, session.plan.until) {
            (Some(question), _) => question.rounds_a_look().min(session.plan.rounds),
            (None, until) => until.map_or(session.plan.rounds, |_| FIRST_LOOK),
        };
        let progress = Progress {
            trials_done: done.len() as u64,
            trials_planned: u64::from(ahead) * live.len() as u64,
            trials_failed: earlier.iter().filter(|trial| trial.error.is_some()).count() as u64,
            rounds_done: 0,
            rounds_planned: session.plan.rounds,
            left_ns: 0,
            next: None,
            widest: None,
            wider: 0,
            beyond_ns: 0,
        };
        Ok(Self {
            session,
            yardsticks,
            live,
            done,
            started: Instant::now(),
            spent: Spent::default(),
            before: Spent::default(),
            shape: session.plan.trial,
            wanted: None,
            ahead,
            progress,
        })
    }

    /// All that the plan, its budget and its aim leave.
    pub fn run(mut self, sink: &mut dyn Sink) -> anyhow::Result<Ending> {
        let until = self.session.plan.until;
        let mut look = until.map_or(ROUNDS_FOR_INTERVAL, |_| FIRST_LOOK);
        for round in 0..self.session.plan.rounds {
            if self.is_at_look(round) {
                let wanted = sink.wanted();
                if wanted.is_some_and(|wanted| wanted.is_empty() || self.answers(round, wanted)) {
                    break;
                }
            } else if self.looks_at_widths() && round == look {
                look += look.div_ceil(3);
                let widths = sink.widths()?;
                self.progress.widest = widths.values().copied().reduce(f64::max);
                if let Some(until) = until {
                    self.ahead = look;
                    if self.look(until, &widths) == 0 {
                        break;
                    }
                }
            }
            let left = self.left_in(round);
            if !self.affords(round, left.len() as u64) {
                return Ok(Ending::BudgetSpent);
            }
            let accounts = Accounts::open(self.session, round);
            for (position, which) in left {
                if self.is_overspent() {
                    return Ok(Ending::BudgetSpent);
                }
                if self.trial(round, position, which, sink)?.is_none() {
                    return Ok(Ending::Interrupted);
                }
                if self.session.setup.peer.as_ref().is_some_and(Peer::is_lost) {
                    return Ok(Ending::FarHostLost);
                }
            }
            sink.accounting(&accounts.close())?;
            self.progress.rounds_done = round + 1;
        }
        Ok(Ending::Complete)
    }

    /// Whether a comparison looks at its blocks before this round, or a run that answers a question
    /// at its answer.
    fn is_at_look(&self, round: u32) -> bool {
        let plan = self.session.plan;
        if plan.comparison.is_none() {
            let each = plan.question.as_ref().map(Question::rounds_a_look);
            return each.is_some_and(|each| round.is_multiple_of(each));
        }
        let looks = contrast::looks(plan.rounds / ROUNDS_A_BLOCK);
        looks.iter().any(|(blocks, _)| blocks * ROUNDS_A_BLOCK == round)
    }

    fn looks_at_widths(&self) -> bool {
        self.session.plan.comparison.is_none() && self.session.plan.question.is_none()
    }

    /// Of a question: gives the rounds until the next look to the cases that the answer still needs;
    /// whether all of these have been given up.
    fn answers(&mut self, round: u32, mut wanted: BTreeSet<u32>) -> bool {
        let plan = self.session.plan;
        let Some(question) = &plan.question else { return false };
        let is_open =
            |index: &u32| self.live.iter().any(|live| live.index == *index && !live.is_given_up());
        wanted.retain(is_open);
        self.ahead = (round + question.rounds_a_look()).min(plan.rounds);
        let next = wanted.len() as u64 * u64::from(self.ahead - round);
        self.progress.trials_planned = self.progress.trials_done + next;
        let is_over = wanted.is_empty();
        self.wanted = Some(wanted);
        is_over
    }

    /// The cases of a round in its order, each with its place in it.
    fn left_in(&self, round: u32) -> Vec<(usize, usize)> {
        let order = hopcost_plan::order_of(self.session.plan, round, self.live.len() as u32);
        let places = order.iter().map(|&which| which as usize).enumerate();
        let left = places.filter(|&(_, which)| {
            let live = &self.live[which];
            let wanted = self.wanted.as_ref().is_none_or(|wanted| wanted.contains(&live.index));
            wanted && !live.is_given_up() && !self.done.contains(&(live.index, round))
        });
        left.collect()
    }

    /// Asks which intervals are wider than aimed at: further rounds are theirs alone, and those of
    /// their baselines, of whose rounds every multiple needs its own. Says how many there are.
    fn look(&mut self, until: f64, widths: &BTreeMap<u32, f64>) -> usize {
        let plan = self.session.plan;
        let width = |live: &Live<'_>| widths.get(&live.index).copied().unwrap_or(f64::INFINITY);
        let open = self.live.iter().filter(|live| !live.is_given_up() && width(live) > until);
        let mut wanted: BTreeSet<u32> = open.map(|live| live.index).collect();
        let wider = wanted.len();
        if wider > 0 {
            let named = |live: &&Live<'_>| plan.baseline.as_deref() == Some(&live.case.id());
            let baseline = self.live.iter().find(named).map(|live| live.case);
            let is_base = |live: &&Live<'_>| {
                let open = self.live.iter().filter(|live| wanted.contains(&live.index));
                baseline.is_some_and(|baseline| live.case.is_of_kind(baseline))
                    && open.into_iter().any(|open| open.case.is_alike(live.case))
            };
            let bases: Vec<u32> = self.live.iter().filter(is_base).map(|live| live.index).collect();
            wanted.extend(bases);
        }
        let next =
            wanted.len() as u64 * u64::from(self.ahead.saturating_sub(self.progress.rounds_done));
        self.progress.trials_planned = self.progress.trials_done + next;
        self.wanted = Some(wanted);
        self.progress.wider = wider;
        wider
    }

    /// Whether there is time for a round of so many trials; cuts these where there is little.
    fn affords(&mut self, round: u32, trials: u64) -> bool {
        let spent = Spent { elapsed_ns: self.elapsed_ns(), ..self.spent };
        let last = spent.since(self.before);
        let plan = self.session.plan;
        let Some(budget_ns) = plan.budget_ns.filter(|_| last.trials > 0) else {
            return true;
        };
        // What answers a question goes on until its budget, of which the rest of the run is a part;
        // other rounds were counted so that it is.
        let beside_ns = plan.question.as_ref().map_or(0, |_| RUN_FIXED_NS.min(budget_ns / 4));
        let budget_ns = budget_ns - beside_ns;
        let measure_ns = self.shape.measure_ns;
        if plan.comparison.is_some() {
            // A block is begun only if there is time for all of it, and then ended.
            let trials = trials * u64::from(ROUNDS_A_BLOCK);
            let begins = round.is_multiple_of(ROUNDS_A_BLOCK);
            let next = Next { trials, needed: 0, measure_ns };
            return !begins || spent.affords(spent, budget_ns, next).begins;
        }
        let needed = hopcost_plan::rounds_needed(plan).saturating_sub(round);
        let next = Next { trials, needed: needed.into(), measure_ns };
        let found = spent.affords(last, budget_ns, next);
        self.before = spent;
        let cut = |ns: u64| ((ns as f64 * found.share) as u64).max(MEASURE_FLOOR_NS.min(ns));
        self.shape.measure_ns = cut(self.shape.measure_ns);
        self.shape.measure_max_ns = cut(self.shape.measure_max_ns);
        self.progress.beyond_ns = found.beyond_ns;
        found.begins
    }

    /// Whether even what may be spent beyond the budget is, be it in the middle of a round; of a
    /// comparison a block is always ended.
    fn is_overspent(&self) -> bool {
        let plan = self.session.plan;
        let most_ns = plan.budget_ns.map(|ns| ns.saturating_mul(BUDGET_FOR_INTERVAL));
        plan.comparison.is_none()
            && self.spent.trials > 0
            && most_ns.is_some_and(|most_ns| self.elapsed_ns() > most_ns)
    }

    fn elapsed_ns(&self) -> u64 {
        self.started.elapsed().as_nanos() as u64
    }

    /// One trial, and what it taught; `None` where the user interrupted.
    fn trial(
        &mut self,
        round: u32,
        position: usize,
        which: usize,
        sink: &mut dyn Sink,
    ) -> anyhow::Result<Option<()>> {
        if !self.spaced(which)? {
            return Ok(None);
        }
        self.progress.left_ns = self.left_ns();
        self.progress.next = Some(self.live[which].index);
        sink.progress(&self.progress);
        let started_ns = self.elapsed_ns();
        let left_ms = self.budget_left_ms();
        let live = &mut self.live[which];
        live.began = Some(Instant::now());
        let yardstick = self.session.yardsticks.of_case.get(live.index as usize);
        let beside = Beside::of(&mut self.yardsticks, yardstick.copied().flatten());
        let outcome = one_trial(self.session, live, round, (self.shape, left_ms), beside)?;
        let Outcome::Row(mut row) = outcome else { return Ok(None) };
        if let Some(news) = self.yardsticks.news() {
            sink.yardsticks(&news)?;
        }
        row.case = live.index;
        row.round = round;
        row.position = position as u32;
        row.started_ns = started_ns;
        live.tried += 1;
        match row.error {
            Some(_) => self.progress.trials_failed += 1,
            None => {
                live.succeeded += 1;
                live.stamp = row.stamp;
            }
        }
        let is_given_up = live.is_given_up();
        if self.session.plan.comparison.is_some() {
            // Near the limit a case and its copy would else be stamped in two ways.
            self.live.iter_mut().for_each(|live| live.stamp = live.stamp.or(row.stamp));
        }
        if is_given_up {
            let left = u64::from(self.ahead.saturating_sub(round + 1));
            self.progress.trials_planned = self.progress.trials_planned.saturating_sub(left);
        }
        self.spent.trials += 1;
        self.spent.phases_ns += row.phases_ns;
        sink.trial(*row)?;
        self.progress.trials_done += 1;
        Ok(Some(()))
    }

    /// Milliseconds that are left of the budget.
    fn budget_left_ms(&self) -> Option<u64> {
        let budget_ns = self.session.plan.budget_ns?;
        Some(budget_ns.saturating_sub(self.elapsed_ns()) / 1_000_000)
    }

    /// What is left takes by the trials so far, and no more than the budget, which the rounds that
    /// an interval needs may exceed.
    fn left_ns(&self) -> u64 {
        let progress = &self.progress;
        let elapsed_ns = self.elapsed_ns();
        let Some(mean_ns) = elapsed_ns.checked_div(self.spent.trials) else {
            return self.session.expected_ns.saturating_sub(elapsed_ns);
        };
        let left = progress.trials_planned.saturating_sub(progress.trials_done);
        let left_ns = mean_ns.saturating_mul(left);
        let Some(budget_ns) = self.session.plan.budget_ns else { return left_ns };
        let rounds = hopcost_plan::rounds_needed(self.session.plan);
        let needed = u64::from(rounds) * self.live.len() as u64;
        let needed_ns = mean_ns.saturating_mul(needed.saturating_sub(progress.trials_done));
        let most_ns = budget_ns.saturating_mul(BUDGET_FOR_INTERVAL).saturating_sub(elapsed_ns);
        left_ns.min(budget_ns.saturating_sub(elapsed_ns).max(needed_ns.min(most_ns)))
    }

    /// Waits until a case's next trial is far enough from its last in time for the host to
    /// have had a chance to change; false where the user interrupts.
    fn spaced(&self, which: usize) -> anyhow::Result<bool> {
        let spacing = Duration::from_nanos(hopcost_plan::spacing_ns(self.session.plan));
        let due = self.live[which].began.map(|began| began + spacing);
        let wait = due.map_or(Duration::ZERO, |due| due.saturating_duration_since(Instant::now()));
        if wait.is_zero() || self.live[which].case.has_virtual_clock() {
            return Ok(true);
        }
        Ok(interrupt::sleep_until("spacing", Instant::now() + wait).is_ok())
    }
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
                began: None,
            })
        })
        .collect()
}

fn one_trial(
    session: &Session<'_>,
    live: &Live<'_>,
    round: u32,
    (shape, left_ms): (TrialShape, Option<u64>),
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
        shape,
        stamp: live.stamp,
        counts: Counts::Fitted(Clocks {
            caller: clocks::of(session.clocks, &live.case.runtimes.caller, cpus.0)?,
            callee: clocks::of(session.clocks, &Runtime::RUST, cpus.1)?,
        }),
        lives: Lives::ForTrial,
        left_ms,
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
