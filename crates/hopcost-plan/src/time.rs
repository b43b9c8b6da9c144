//! How long things take: the shape of a trial, the number of rounds, and the
//! estimate of a plan's duration.
//!
//! A budget buys rounds, not long trials: the trial is the unit of replication,
//! so twice the time is worth more as twice the trials (docs/method/replication.md). A trial
//! keeps its length whatever the budget; it is cut short only where fewer than
//! [`ROUNDS_FOR_INTERVAL`] rounds would fit.

use hopcost_model::{
    Boundary, Case, IdleKnob, PhaseLength, Placement, Plan, ROUNDS_A_BLOCK, Runtime, RuntimeFacts,
    TrialShape, Unit, WarmUp,
};

use crate::ask::{Ask, Range};
use crate::error::{Origin, Result};

const MS: u64 = 1_000_000;

/// Rounds where neither a number nor a budget is given.
pub const ROUNDS_DEFAULT: u32 = 12;
/// Fewest rounds that give an interval of 95 %.
pub const ROUNDS_FOR_INTERVAL: u32 = 6;
/// Time between the starts of two trials of a case, where the budget allows it.
pub const SPACING_NS: u64 = 300 * MS;
/// Most rounds of a plan.
pub const ROUNDS_MAX: u32 = 10_000;
/// A trial cut short to fit a budget measures at least this long.
pub const MEASURE_FLOOR_NS: u64 = 10 * MS;
/// What a run takes beside its trials: fingerprint, clocks and the answer.
pub const RUN_FIXED_NS: u64 = 750 * MS;
/// The default shape of a trial.
pub const TRIAL_DEFAULT: TrialShape = TrialShape {
    measure_ns: 50 * MS,
    measure_max_ns: 100 * MS,
    operations_min: 200,
    warm_up_ns: 5 * MS,
    deadline_ms: 10_000,
    samples_max: 16_384,
    operations: None,
    warm_up_operations: None,
    counted_operations: 0,
    traced_operations: None,
};

/// What a trial takes beside its phases, of calls and of two ends: its processes and the speed probe.
/// These and those below are means over the shipped suites on a quiet virtual machine with two CPUs,
/// by a release build.
const BESIDE_CALL_NS: u64 = 15 * MS;
const BESIDE_TWO_ENDS_NS: u64 = 22 * MS;
/// What it takes to store a trial, and to read it back after the last.
const STORING_NS: u64 = 4 * MS;
const READING_BACK_NS: u64 = 600_000;
/// The pilot, which finds how many operations fit a phase.
const PILOT_NS: u64 = 8 * MS;
/// How much longer than its aim a fitted phase takes whose ends wake idle CPUs, in percent: the pilot
/// counts the faster of its last two runs, and these differ most there.
const WAKING_PERCENT: u64 = 130;
/// Comparing the clocks of both ends, before and after.
const GATES_NS: u64 = 10 * MS;
/// Trials of a case, from its first, after which system calls are counted: their number hardly
/// varies, and closing the kernel's tracepoint takes a while.
pub const COUNTED_TRIALS: u32 = 3;
/// How long that takes.
const COUNTING_NS: u64 = 50 * MS;
/// Starting what keeps a CPU from idling, and ending it.
const SPINNER_NS: u64 = 110 * MS;
/// What each connection beyond the first takes to open.
const CONNECTION_NS: u64 = 100_000;
/// What a trial with exact counts assumes of one operation whose ends are on two
/// CPUs: a wake-up from an idle state there and back.
pub(crate) const TWO_CPUS_NS: u64 = 30_000;
/// The same on one CPU: two context switches.
const ONE_CPU_NS: u64 = 10_000;
/// The same where both ends spin.
const SPINNING_NS: u64 = 1_000;
/// The same for a wake-up beside its gap: the timer's slack, the way into sleep
/// and out of it, and the wait for the receiver's stamp.
const WAKE_UP_NS: u64 = 60_000;
/// What a process of a runtime takes from its start until it is attached, where its
/// worker's folder does not say; that of Rust is in the constants above.
const START_NS: u64 = 100 * MS;
/// A warm-up that lasts until nothing changes any more: four parts of 40 ms and mostly 100,000 operations
/// at least, two seconds at most.
const UNTIL_STEADY_NS: u64 = 1_000 * MS;

/// What the time of a trial depends on beside its shape and its case.
#[derive(Clone, Copy)]
struct Pace<'r> {
    /// The runtimes of the ends that are not Rust.
    runtimes: &'r [RuntimeFacts],
    /// What a round trip between two CPUs takes.
    two_cpus_ns: u64,
}

impl Pace<'_> {
    /// What it takes to start the processes of a trial that are not Rust's, and to warm
    /// them up where that is not the plan's to say.
    fn runtimes_ns(&self, case: &Case) -> u64 {
        let of = |runtime: &Runtime| {
            let facts = self.runtimes.iter().find(|facts| facts.runtime == *runtime);
            let start_ns = facts.and_then(|facts| facts.start_ns).unwrap_or(START_NS);
            let described = facts.and_then(|facts| facts.state.as_ref().ok());
            let is_steady = described.is_some_and(|own| own.warm_up == WarmUp::UntilSteady);
            if runtime.is_rust() { (0, 0) } else { (start_ns, u64::from(is_steady)) }
        };
        let (caller, callee) = (of(&case.runtimes.caller), of(&case.runtimes.callee));
        let start_ns = match case.placement {
            _ if !case.two_processes() => caller.0,
            // They start at the same time, on the CPUs on which they will be measured.
            Some(Placement::SameCpu) => caller.0.saturating_add(callee.0),
            _ => caller.0.max(callee.0),
        };
        start_ns.saturating_add(caller.1.max(callee.1) * UNTIL_STEADY_NS)
    }

    fn trial_ns(&self, shape: &TrialShape, case: &Case) -> u64 {
        let beside_ns = if case.two_ends() { BESIDE_TWO_ENDS_NS } else { BESIDE_CALL_NS };
        let sleeps = case.waits.is_some_and(|both| both.caller.sleeps() || both.callee.sleeps());
        let (each_ns, percent) = match case.placement {
            None | Some(Placement::SameCpu) => (ONE_CPU_NS, 100),
            // Timed with both hosts one machine: a phase takes what it aims at.
            Some(_) if case.boundary == Boundary::Host => (self.two_cpus_ns, 100),
            Some(_) if sleeps => (self.two_cpus_ns, WAKING_PERCENT),
            Some(_) => (SPINNING_NS, 100),
        };
        let timed_ns = shape.warm_up_ns.saturating_add(shape.measure_ns);
        let phases_ns = match case.workload.spec().length {
            PhaseLength::Timed => timed_ns,
            PhaseLength::Fitted => timed_ns.saturating_add(PILOT_NS),
            PhaseLength::Paced => {
                let (warm_up, measured) = shape.wake_ups();
                let each_ns = case.gap_ns.unwrap_or(0).saturating_add(WAKE_UP_NS);
                measured.saturating_add(warm_up).saturating_mul(each_ns).saturating_add(GATES_NS)
            }
            PhaseLength::Scheduled => {
                let rate = case.rate.unwrap_or(1.into());
                rate.ns_of(shape.load_messages(rate).iter().sum()).saturating_add(GATES_NS)
            }
            PhaseLength::FittedOrAsked => {
                let phase = |exact: Option<u64>, aimed_ns: u64| {
                    exact.map_or(aimed_ns * percent / 100, |n| n.saturating_mul(each_ns))
                };
                let warm_up_ns = phase(shape.warm_up_operations, shape.warm_up_of_ns(case));
                let measured_ns = phase(shape.operations, shape.measure_ns);
                warm_up_ns.saturating_add(measured_ns).saturating_add(PILOT_NS)
            }
        };
        let opening_ns = u64::from(case.connections.saturating_sub(1)) * CONNECTION_NS;
        let spinner_ns = u64::from(case.idle_knob == IdleKnob::Spinner) * SPINNER_NS;
        [phases_ns, opening_ns, spinner_ns, traced_ns(shape, case), self.runtimes_ns(case)]
            .into_iter()
            .fold(beside_ns + STORING_NS, u64::saturating_add)
    }

    fn round_ns(&self, shape: &TrialShape, cases: &[&Case]) -> u64 {
        let trials = cases.iter().map(|case| self.trial_ns(shape, case));
        trials.fold(0, u64::saturating_add)
    }

    /// A trial with its measured phase cut until this many rounds of these cases fit a budget.
    /// Nothing but the measured phases of some can be cut.
    fn cut(&self, trial: TrialShape, budget_ns: u64, rounds: u32, cases: &[&Case]) -> TrialShape {
        let usable = budget_ns.saturating_sub(RUN_FIXED_NS) / u64::from(rounds.max(1));
        let whole = self.round_ns(&trial, cases);
        let uncut = self.round_ns(&TrialShape { measure_ns: 0, ..trial }, cases);
        if whole <= usable || whole == uncut {
            return trial;
        }
        // A shorter phase has a shorter warm-up too.
        let share = usable.saturating_sub(uncut) as f64 / (whole - uncut) as f64;
        let left = (trial.measure_ns as f64 * share) as u64;
        TrialShape { measure_ns: left.max(MEASURE_FLOOR_NS).min(trial.measure_ns), ..trial }
    }

    /// The trial of a plan, its measured phase cut so far that the rounds which its answer needs fit
    /// its budget.
    fn fitted(&self, plan: &Plan) -> TrialShape {
        let (rounds, cases) = (rounds_needed(plan), plan.live_cases().collect::<Vec<_>>());
        plan.budget_ns.map_or(plan.trial, |budget| self.cut(plan.trial, budget, rounds, &cases))
    }
}

/// That of a machine of which nothing is known.
fn usual(runtimes: &[RuntimeFacts]) -> Pace<'_> {
    Pace { runtimes, two_cpus_ns: TWO_CPUS_NS }
}

/// How long a trial of a case takes, about, in nanoseconds. `runtimes` are those of its ends
/// that are not Rust.
pub fn trial_ns(shape: &TrialShape, case: &Case, runtimes: &[RuntimeFacts]) -> u64 {
    usual(runtimes).trial_ns(shape, case)
}

/// How long passes between the starts of two trials of a case, at least: the host's states last
/// from a tenth of a second to seconds, and a run is to meet more than one moment. No more than
/// the budget leaves each round.
pub fn spacing_ns(plan: &Plan) -> u64 {
    if plan.comparison.is_some() {
        // What is compared is to be near in time.
        return 0;
    }
    let budget_ns = plan.budget_ns.unwrap_or(u64::MAX).saturating_sub(RUN_FIXED_NS);
    SPACING_NS.min(budget_ns / u64::from(plan.rounds.max(1)))
}

/// Whether the spacing leaves the CPUs idle before each trial of a plan.
pub fn rests(plan: &Plan) -> bool {
    let cases: Vec<&Case> = plan.live_cases().collect();
    2 * usual(&[]).round_ns(&plan.trial, &cases) < spacing_ns(plan)
}

/// What a plan is expected to take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Expected {
    pub ns: u64,
    /// Rounds that fit its budget, with trials cut where that takes it.
    pub rounds: u32,
}

/// How long a plan takes, and in how many rounds: within 15 % on a quiet machine. `runtimes` are those
/// of its live cases that are not Rust. Where a round trip between two CPUs is known to take so long,
/// that counts: on a guest whose idle CPUs go back to the hypervisor it is several times the usual.
pub fn expected(plan: &Plan, runtimes: &[RuntimeFacts], two_cpus_ns: Option<u64>) -> Expected {
    let pace = Pace { runtimes, two_cpus_ns: two_cpus_ns.unwrap_or(TWO_CPUS_NS) };
    let shape = if plan.comparison.is_some() { plan.trial } else { pace.fitted(plan) };
    let cases: Vec<&Case> = plan.live_cases().collect();
    let round = pace.round_ns(&shape, &cases).max(spacing_ns(plan)).max(1);
    let is_counted = |case: &&&Case| shape.counted_operations > 0 && case.two_ends();
    let counting_ns = COUNTING_NS * cases.iter().filter(is_counted).count() as u64;
    let counting_ns = counting_ns * u64::from(COUNTED_TRIALS.min(plan.rounds));
    let fixed_ns = RUN_FIXED_NS + counting_ns;
    let within = |budget: u64| budget.saturating_sub(fixed_ns) / round;
    let rounds = plan.budget_ns.map_or(u64::MAX, within).min(plan.rounds.into());
    let with_reading_ns = round.saturating_add(READING_BACK_NS * cases.len() as u64);
    let all_ns = fixed_ns.saturating_add(with_reading_ns.saturating_mul(rounds.max(1)));
    // The budget ends what does not fit.
    let ns = all_ns.min(plan.budget_ns.unwrap_or(u64::MAX).max(RUN_FIXED_NS));
    Expected { ns, rounds: rounds as u32 }
}

/// The rounds that a plan's answer needs at least: those of an interval, which is of blocks where
/// cases are compared.
pub fn rounds_needed(plan: &Plan) -> u32 {
    let unit = if plan.comparison.is_some() { ROUNDS_A_BLOCK } else { 1 };
    (unit * ROUNDS_FOR_INTERVAL).min(plan.rounds)
}

/// The trial of a plan, its measured phase cut so far that the rounds which its answer needs fit its
/// budget.
pub(crate) fn fitted(plan: &Plan, runtimes: &[RuntimeFacts]) -> TrialShape {
    usual(runtimes).fitted(plan)
}

/// Longest measured phase.
pub(crate) const MEASURE_MAX_NS: u64 = 60_000_000_000;
/// Most operations of a trial, where their number is given.
pub(crate) const OPERATIONS_MAX: u64 = 100_000_000;
const MONTH_NS: u64 = 31 * 24 * 3_600 * 1_000_000_000;
pub(crate) const ROUNDS: Range = Range(Unit::Count, 1, ROUNDS_MAX as u64);
pub(crate) const BUDGET: Range = Range(Unit::Time, MS, MONTH_NS);
pub(crate) const MEASURE: Range = Range(Unit::Time, 100_000, MEASURE_MAX_NS);
pub(crate) const OPERATIONS: Range = Range(Unit::Count, 1, OPERATIONS_MAX);

/// Gives a trial this aimed length of the measured phase.
pub(crate) fn measure_for(shape: &mut TrialShape, ns: u64) {
    shape.measure_ns = ns;
    shape.measure_max_ns = shape.measure_max_ns.max(ns.saturating_mul(2));
}

/// Most operations of the phase in which system calls are counted.
pub(crate) const COUNTED_MAX: u64 = 1_000_000;

/// Most operations of a traced phase: what buffers and files have room for.
pub const TRACED_MAX: u64 = 10_000;
/// What opening and closing tracepoints takes.
const TRACED_FIXED_NS: u64 = 1_000 * MS;
/// How much longer an operation takes that is traced, and its half without events and the
/// warm-up besides.
const TRACED_TIMES: u64 = 6;

/// How long the traced phase of a trial takes, with what belongs to it.
pub fn traced_ns(shape: &TrialShape, case: &Case) -> u64 {
    // With and without events.
    let gaps_ns = case.gap_ns.unwrap_or(0).saturating_mul(2);
    let each = gaps_ns.saturating_add(TRACED_TIMES * TWO_CPUS_NS);
    shape.traced_operations.map_or(0, |n| n.saturating_mul(each).saturating_add(TRACED_FIXED_NS))
}

/// A trial that hangs must not cost the run, one that is merely slow must end:
/// twenty times what it should take, ten seconds at least.
pub(crate) fn deadline_ms(shape: &TrialShape) -> u64 {
    let operations = shape.operations.unwrap_or(0) + shape.warm_up_operations.unwrap_or(0);
    let expected = shape
        .measure_max_ns
        .saturating_add(shape.warm_up_ns)
        .saturating_add((operations + shape.counted_operations).saturating_mul(TWO_CPUS_NS));
    (expected.saturating_mul(20) / MS).max(10_000)
}

/// The options of time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Time {
    pub rounds: Option<u32>,
    /// Budget of the whole run.
    pub budget_ns: Option<u64>,
    pub trial: TrialShape,
    /// Whether `trial.measure_ns` was asked for and so must stay.
    pub measure_said: bool,
}

impl Time {
    /// Those of a plan that says nothing of it.
    pub const DEFAULT: Self =
        Self { rounds: None, budget_ns: None, trial: TRIAL_DEFAULT, measure_said: false };

    /// The command line over this. A suite's own budget is for the suite as written: where
    /// cases were `added` to it, only its rounds count.
    pub fn under(mut self, ask: &Ask, added: bool) -> Result<Time> {
        for (option, range, number) in [
            ("--rounds", ROUNDS, ask.rounds.map(u64::from)),
            ("--budget", BUDGET, ask.budget_ns),
            ("--measure", MEASURE, ask.measure_ns),
            ("--operations", OPERATIONS, ask.operations),
        ] {
            let checked = number.map_or(Ok(0), |number| range.check(number));
            checked.map_err(|message| Origin::option(option).error(message))?;
        }
        if (ask.rounds, ask.budget_ns) != (None, None) {
            (self.rounds, self.budget_ns) = (ask.rounds, ask.budget_ns);
        } else if added {
            self.budget_ns = None;
        }
        let trial = &mut self.trial;
        if let Some(ns) = ask.measure_ns {
            self.measure_said = true;
            measure_for(trial, ns);
        }
        trial.operations = ask.operations.or(trial.operations);
        if ask.measure_ns.or(ask.operations).is_some() {
            trial.deadline_ms = trial.deadline_ms.max(deadline_ms(trial));
        }
        Ok(self)
    }

    /// Rounds and trial for these live cases of these runtimes.
    pub fn settle(&self, live: &[&Case], runtimes: &[RuntimeFacts]) -> (u32, TrialShape) {
        let (Some(budget), None) = (self.budget_ns, self.rounds) else {
            return (self.rounds.unwrap_or(ROUNDS_DEFAULT), self.trial);
        };
        let pace = usual(runtimes);
        let trial = match self.measure_said {
            true => self.trial,
            false => pace.cut(self.trial, budget, ROUNDS_FOR_INTERVAL, live),
        };
        let usable = budget.saturating_sub(RUN_FIXED_NS);
        // Those that an interval needs are planned whatever the budget, which may end them.
        let rounds = (usable / pace.round_ns(&trial, live).max(BESIDE_CALL_NS))
            .clamp(ROUNDS_FOR_INTERVAL.into(), ROUNDS_MAX.into());
        (u32::try_from(rounds).unwrap_or(ROUNDS_MAX), trial)
    }
}

#[cfg(test)]
mod tests {
    use hopcost_model::{PlannedCase, Question};

    use super::*;

    fn settled(rounds: Option<u32>, budget_s: Option<u64>, live: &[Case]) -> (u32, TrialShape) {
        let budget_ns = budget_s.map(|s| s.saturating_mul(1000 * MS));
        let time = Time { rounds, budget_ns, ..Time::DEFAULT };
        time.settle(&live.iter().collect::<Vec<_>>(), &[])
    }

    fn cases(n: usize) -> Vec<Case> {
        let id = "roundtrip/pipe?payload=1&boundary=process&place=same-cpu&wait=block";
        vec![id.parse().unwrap(); n]
    }

    #[test]
    fn a_budget_buys_rounds_and_shortens_trials_before_it_costs_the_interval() {
        for (budget_s, n, rounds, measure_ms) in [
            (60, 10, 65..=67, 50..=50),
            (600, 10, 670..=675, 50..=50),
            (30, 80, 6..=6, 15..=25),
            (3, 80, 6..=6, 10..=10),
            (u64::MAX, 1, ROUNDS_MAX..=ROUNDS_MAX, 50..=50),
        ] {
            let (found, trial) = settled(None, Some(budget_s), &cases(n));
            assert!(rounds.contains(&found), "{budget_s} s: {found}");
            assert!(measure_ms.contains(&(trial.measure_ns / MS)), "{budget_s} s: {trial:?}");
        }
        assert_eq!(settled(Some(9), Some(1), &cases(1000)).0, 9);
        assert_eq!(settled(None, None, &cases(1000)), (ROUNDS_DEFAULT, TRIAL_DEFAULT));
    }

    #[test]
    fn what_a_trial_takes_depends_on_its_case_and_its_runtimes() {
        let warm_up = serde_json::json!("until-steady");
        let description = serde_json::json!({
            "protocol": 2, "runtime": "node", "version": "", "warm_up": warm_up, "mechanisms": [],
        });
        let node = RuntimeFacts {
            runtime: "node".parse().unwrap(),
            start_ns: Some(180 * MS),
            state: Ok(serde_json::from_value(description).unwrap()),
        };
        let exact =
            TrialShape { operations: Some(1_000), warm_up_operations: Some(100), ..TRIAL_DEFAULT };
        let wake = "wake/pipe?payload=1&gap=1000000&boundary=process&place=same-llc&wait=block";
        let pipe = "roundtrip/pipe?payload=1&boundary=process&wait=block&place=";
        let stream = "stream/tcp-send?payload=64&fields=8&flows=1&ack=none&boundary=process\
                      &place=free&wait=block";
        let two_ends = BESIDE_TWO_ENDS_NS + STORING_NS;
        let (paced, fitted) = (two_ends + GATES_NS, two_ends + PILOT_NS);
        for (shape, id, takes_ns) in [
            (&TRIAL_DEFAULT, "call/syscall", BESIDE_CALL_NS + STORING_NS + PILOT_NS + 55 * MS),
            (&TRIAL_DEFAULT, wake, paced + 110 * 1_060_000),
            (&exact, wake, paced + 1_100 * 1_060_000),
            (&TRIAL_DEFAULT, &format!("{pipe}same-cpu"), fitted + 55 * MS),
            // CPUs that idled are warmed up for longer.
            (&TRIAL_DEFAULT, &format!("{pipe}same-llc"), fitted + WAKING_PERCENT * MS),
            (&exact, &format!("{pipe}same-llc"), fitted + 1_100 * TWO_CPUS_NS),
            (&exact, stream, two_ends + 55 * MS),
            (
                &exact,
                &format!("{pipe}same-cpu&runtime=mine:node"),
                fitted + 1_100 * ONE_CPU_NS + START_NS + 180 * MS + UNTIL_STEADY_NS,
            ),
        ] {
            let runtimes = std::slice::from_ref(&node);
            assert_eq!(trial_ns(shape, &id.parse().unwrap(), runtimes), takes_ns, "{id}");
        }
    }

    #[test]
    fn trials_are_cut_until_the_rounds_of_an_answer_fit_the_budget() {
        let asked = |seconds: u64| Plan {
            rounds: 400,
            budget_ns: Some(seconds * 1000 * MS),
            question: Some(Question::Claims(Vec::new())),
            trial: TRIAL_DEFAULT,
            cases: vec![PlannedCase::live(cases(1).remove(0)); 60],
            ..Plan::default()
        };
        assert_eq!(fitted(&asked(40), &[]), TRIAL_DEFAULT);
        // Six rounds of 60 trials of 89 ms take 32 s.
        let short = Plan { trial: fitted(&asked(20), &[]), ..asked(20) };
        assert!((MEASURE_FLOOR_NS + 1..TRIAL_DEFAULT.measure_ns).contains(&short.trial.measure_ns));
        assert_eq!(expected(&short, &[], None), expected(&asked(20), &[], None));
        let found = expected(&short, &[], None);
        assert!(found.rounds == 6 && found.ns <= 20_000 * MS, "{found:?}");
        let found = expected(&asked(9), &[], None);
        assert_eq!((found.ns - RUN_FIXED_NS, found.rounds), (2 * 60 * 49_600_000, 2));
        // The first three trials of each case count system calls.
        let counting = |counted_operations| {
            let trial = TrialShape { counted_operations, ..TRIAL_DEFAULT };
            expected(&Plan { trial, rounds: 9, budget_ns: None, ..asked(1) }, &[], None).ns
        };
        assert_eq!(counting(9) - counting(0), 3 * 60 * COUNTING_NS);
    }
}
