//! How long things take: the shape of a trial, the number of rounds, and the
//! estimate of a plan's duration.
//!
//! A budget buys rounds, not long trials: the trial is the unit of replication,
//! so twice the time is worth more as twice the trials (docs/method/replication.md). A trial
//! keeps its length whatever the budget; it is cut short only where fewer than
//! [`ROUNDS_FOR_INTERVAL`] rounds would fit.

use hopcost_model::case::{Background, Case, Placement, Runtime};
use hopcost_model::describe::{RuntimeFacts, WarmUp};
use hopcost_model::plan::{Plan, TrialShape};
use hopcost_model::workload::{PhaseLength, StampedBy};

use crate::ask::Ask;
use crate::error::{Origin, PlanError};

const MS: u64 = 1_000_000;

/// Rounds where neither a number nor a budget is given.
pub const ROUNDS_DEFAULT: u32 = 12;
/// Fewest rounds that give an interval of 95 %.
pub const ROUNDS_FOR_INTERVAL: u32 = 6;
/// Time between the starts of two trials of a case, where the budget allows it.
pub const SPACING_NS: u64 = 300 * MS;
/// Most rounds of a plan that aims at a width and has no budget.
const ROUNDS_UNTIL: u32 = 120;
/// Most rounds of a plan.
pub const ROUNDS_MAX: u32 = 10_000;
/// A trial cut short to fit a budget measures at least this long.
pub const MEASURE_FLOOR_NS: u64 = 10 * MS;
/// What a trial takes beside warm-up and measurement: spawn, attach, fetch,
/// store and reap (12 ms), the pilot (10 ms) and the yardsticks (4 ms).
pub const TRIAL_FIXED_NS: u64 = 26 * MS;
/// What a run takes beside its trials: fingerprint, clocks and reading back.
pub const RUN_FIXED_NS: u64 = 2_000 * MS;
/// The shape of a trial where nothing else is said.
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

/// What a trial with exact counts assumes of one operation whose ends are on two
/// CPUs: a wake-up from an idle state there and back.
pub(crate) const TWO_CPUS_NS: u64 = 30_000;
/// The same on one CPU: two context switches.
const ONE_CPU_NS: u64 = 10_000;
/// The same for a wake-up beside its gap: the timer's slack, the way into sleep
/// and out of it, and the wait for the receiver's stamp.
const WAKE_UP_NS: u64 = 60_000;
/// What comparing two clocks before and after the measurement takes.
const GATES_NS: u64 = 15 * MS;
/// What each further process of a load takes until it is ready: a sender, or one that works in the
/// background.
const PROCESS_NS: u64 = 6 * MS;
/// What a process of a runtime takes from its start until it is attached, where its
/// worker's folder does not say; that of Rust is in [`TRIAL_FIXED_NS`].
const START_NS: u64 = 100 * MS;
/// A warm-up that lasts until nothing changes any more: four parts of 40 ms at
/// least, two seconds at most. Half of Java's and Node.js's have more than 35 parts.
const UNTIL_STEADY_NS: u64 = 1_500 * MS;

/// What it takes to start the processes of a trial that are not Rust's, and to warm
/// them up where that is not the plan's to say.
fn runtimes_ns(case: &Case, runtimes: &[RuntimeFacts]) -> u64 {
    let of = |runtime: &Runtime| {
        let facts = runtimes.iter().find(|facts| facts.runtime == *runtime);
        let start_ns = facts.and_then(|facts| facts.start_ns).unwrap_or(START_NS);
        let described = facts.and_then(|facts| facts.state.as_ref().ok());
        let is_steady = described.is_some_and(|own| own.warm_up == WarmUp::UntilSteady);
        if runtime.is_rust() { (0, false) } else { (start_ns, is_steady) }
    };
    let (caller, callee) = (of(&case.runtimes.caller), of(&case.runtimes.callee));
    let start_ns = match case.placement {
        _ if !case.two_processes() => caller.0,
        // They start at the same time, on the CPUs on which they will be measured.
        Some(Placement::SameCpu) => caller.0.saturating_add(callee.0),
        _ => caller.0.max(callee.0),
    };
    start_ns.saturating_add(if caller.1 || callee.1 { UNTIL_STEADY_NS } else { 0 })
}

/// How long a trial of a case takes, about, in nanoseconds. `runtimes` are those of its ends
/// that are not Rust.
pub fn trial_ns(shape: &TrialShape, case: &Case, runtimes: &[RuntimeFacts]) -> u64 {
    trial_where_ns(shape, case, runtimes, TWO_CPUS_NS)
}

/// The same where a round trip between two CPUs takes so long.
fn trial_where_ns(
    shape: &TrialShape,
    case: &Case,
    runtimes: &[RuntimeFacts],
    two_cpus_ns: u64,
) -> u64 {
    let spec = case.workload.spec();
    let phases_ns = match spec.length {
        PhaseLength::Fitted | PhaseLength::Timed => {
            shape.warm_up_ns.saturating_add(shape.measure_ns)
        }
        PhaseLength::Paced => {
            let (warm_up, measured) = shape.wake_ups();
            let each = case.gap_ns.unwrap_or(0).saturating_add(WAKE_UP_NS);
            measured.saturating_add(warm_up).saturating_mul(each)
        }
        PhaseLength::Scheduled => {
            let rate = case.rate.unwrap_or(1).max(1);
            let messages: u64 = shape.load_messages(rate).iter().sum();
            messages.saturating_mul(1_000_000_000) / u64::from(rate)
        }
        PhaseLength::FittedOrAsked => {
            let one_cpu = case.placement == Some(Placement::SameCpu);
            let each = if one_cpu { ONE_CPU_NS } else { two_cpus_ns };
            let phase = |exact: Option<u64>, aimed| exact.map_or(aimed, |n| n.saturating_mul(each));
            let warm_up = phase(shape.warm_up_operations, shape.warm_up_of_ns(case));
            warm_up.saturating_add(phase(shape.operations, shape.measure_ns))
        }
    };
    let background = match case.background {
        Background::None => 0,
        Background::Cache => 1,
        Background::Cpu(processes) => processes.into(),
        Background::SameMechanism(pairs) => 2 * u64::from(pairs),
    };
    let processes = u64::from(case.senders.saturating_sub(1)).saturating_add(background);
    let gates_ns = if spec.stamped_by == StampedBy::BothEnds { GATES_NS } else { 0 };
    [
        phases_ns,
        gates_ns,
        processes.saturating_mul(PROCESS_NS),
        traced_ns(shape, case),
        runtimes_ns(case, runtimes),
    ]
    .into_iter()
    .fold(TRIAL_FIXED_NS, u64::saturating_add)
}

fn round_ns<'a>(
    shape: &TrialShape,
    live: impl IntoIterator<Item = &'a Case>,
    runtimes: &[RuntimeFacts],
    two_cpus_ns: u64,
) -> u64 {
    let trial = |case| trial_where_ns(shape, case, runtimes, two_cpus_ns);
    live.into_iter().map(trial).fold(0, u64::saturating_add)
}

/// How long passes between the starts of two trials of a case, at least: the host's states last
/// from a tenth of a second to seconds, and a run is to meet more than one moment. No more than
/// the budget leaves each round.
pub fn spacing_ns(plan: &Plan) -> u64 {
    if plan.comparison.is_some() {
        // What is compared is to be near in time.
        return 0;
    }
    if plan.until.is_some() {
        // Its rounds are as many as there is time for.
        return SPACING_NS;
    }
    let budget_ns = plan.budget_ns.unwrap_or(u64::MAX).saturating_sub(RUN_FIXED_NS);
    SPACING_NS.min(budget_ns / u64::from(plan.rounds.max(1)))
}

/// Whether the spacing leaves the CPUs idle before each trial of a plan.
pub fn rests(plan: &Plan) -> bool {
    2 * round_ns(&plan.trial, plan.live_cases(), &[], TWO_CPUS_NS) < spacing_ns(plan)
}

/// How long a plan takes, about, in nanoseconds: on a quiet machine within a
/// quarter. `runtimes` are those of its live cases that are not Rust.
pub fn estimate_ns(plan: &Plan, runtimes: &[RuntimeFacts]) -> u64 {
    expected(plan, runtimes, None).ns
}

/// What a plan is expected to take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Expected {
    pub ns: u64,
    /// Rounds that fit its budget.
    pub rounds: u32,
}

/// How long a plan takes, and in how many rounds, on a machine whose round trips between two CPUs
/// are known to take so long: on a guest whose idle CPUs go back to the hypervisor that is several
/// times what is assumed otherwise.
pub fn expected(plan: &Plan, runtimes: &[RuntimeFacts], two_cpus_ns: Option<u64>) -> Expected {
    let two_cpus_ns = two_cpus_ns.unwrap_or(TWO_CPUS_NS);
    let round = round_ns(&plan.trial, plan.live_cases(), runtimes, two_cpus_ns);
    let round = round.max(spacing_ns(plan)).max(1);
    let within = |budget: u64| budget.saturating_sub(RUN_FIXED_NS) / round;
    let rounds = plan.budget_ns.map_or(u64::MAX, within).min(plan.rounds.into());
    let all_ns = RUN_FIXED_NS.saturating_add(round.saturating_mul(rounds.max(1)));
    // The budget ends what does not fit.
    let ns = all_ns.min(plan.budget_ns.unwrap_or(u64::MAX).max(RUN_FIXED_NS));
    Expected { ns, rounds: rounds as u32 }
}

/// The rounds that a plan's answer needs at least: those of an interval.
pub fn rounds_needed(plan: &Plan) -> u32 {
    ROUNDS_FOR_INTERVAL.min(plan.rounds)
}

/// The trial of a plan, its measured phase cut so far that the rounds which its answer needs fit its
/// budget.
pub(crate) fn fitted(plan: &Plan, runtimes: &[RuntimeFacts]) -> TrialShape {
    let (rounds, cases) = (rounds_needed(plan), plan.live_cases().collect::<Vec<_>>());
    plan.budget_ns.map_or(plan.trial, |budget| cut(plan.trial, budget, rounds, &cases, runtimes))
}

/// A trial whose measured phase is cut so far that so many rounds of these cases fit a budget. Nothing
/// but the measured phases of some can be cut.
fn cut(
    trial: TrialShape,
    budget_ns: u64,
    rounds: u32,
    cases: &[&Case],
    runtimes: &[RuntimeFacts],
) -> TrialShape {
    let usable = budget_ns.saturating_sub(RUN_FIXED_NS) / u64::from(rounds.max(1));
    let round = |trial: &TrialShape| round_ns(trial, cases.iter().copied(), runtimes, TWO_CPUS_NS);
    let (whole, uncut) = (round(&trial), round(&TrialShape { measure_ns: 0, ..trial }));
    if whole <= usable || whole == uncut {
        return trial;
    }
    // A shorter phase has a shorter warm-up too.
    let share = usable.saturating_sub(uncut) as f64 / (whole - uncut) as f64;
    let left = (trial.measure_ns as f64 * share) as u64;
    TrialShape { measure_ns: left.max(MEASURE_FLOOR_NS).min(trial.measure_ns), ..trial }
}

/// Shortest measured phase.
pub(crate) const MEASURE_MIN_NS: u64 = 100_000;
/// Longest measured phase.
pub(crate) const MEASURE_MAX_NS: u64 = 60_000_000_000;
/// Most operations of a trial, where their number is given.
pub(crate) const OPERATIONS_MAX: u64 = 100_000_000;
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
pub(crate) fn deadline_ms(shape: &TrialShape, said_ns: Option<u64>) -> u64 {
    let operations = shape.operations.unwrap_or(0) + shape.warm_up_operations.unwrap_or(0);
    let expected = shape
        .measure_max_ns
        .saturating_add(shape.warm_up_ns)
        .saturating_add((operations + shape.counted_operations).saturating_mul(TWO_CPUS_NS));
    said_ns.map_or((expected.saturating_mul(20) / MS).max(10_000), |ns| ns / MS)
}

/// What was said of time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Time {
    pub rounds: Option<u32>,
    /// Budget of the whole run.
    pub budget_ns: Option<u64>,
    pub trial: TrialShape,
    /// The width at which a case has rounds enough.
    pub until: Option<f64>,
    /// Whether `trial.measure_ns` was asked for and so must stay.
    pub measure_said: bool,
}

impl Default for Time {
    fn default() -> Self {
        Self {
            rounds: None,
            budget_ns: None,
            trial: TRIAL_DEFAULT,
            until: None,
            measure_said: false,
        }
    }
}

impl Time {
    /// The command line over this. A suite's own budget is for the suite as written: where
    /// cases were `added` to it, only its rounds count.
    pub fn under(mut self, ask: &Ask, added: bool) -> Result<Time, PlanError> {
        let whole = |option: &str, n: Option<u64>, most: u64| match n {
            Some(n) if !(1..=most).contains(&n) => {
                Err(Origin::option(option).error(format!("want a whole number from 1 to {most}")))
            }
            _ => Ok(()),
        };
        whole("--rounds", ask.rounds.map(u64::from), ROUNDS_MAX.into())?;
        if ask.budget_ns == Some(0) {
            return Err(Origin::option("--budget").error("no time at all; want for instance 75s"));
        }
        if (ask.rounds, ask.budget_ns) != (None, None) {
            (self.rounds, self.budget_ns) = (ask.rounds, ask.budget_ns);
        } else if added {
            self.budget_ns = None;
        }
        self.until = ask.until;
        if ask.until.is_some() && ask.rounds.is_none() {
            // The budget ends it; those of a suite are for runs that do not look.
            self.rounds = Some(self.budget_ns.map_or(ROUNDS_UNTIL, |_| ROUNDS_MAX));
        }
        let trial = &mut self.trial;
        if let Some(ns) = ask.measure_ns {
            if !(MEASURE_MIN_NS..=MEASURE_MAX_NS).contains(&ns) {
                return Err(Origin::option("--measure").error("want a duration from 100us to 60s"));
            }
            self.measure_said = true;
            trial.measure_ns = ns;
            trial.measure_max_ns = trial.measure_max_ns.max(ns.saturating_mul(2));
            trial.deadline_ms = trial.deadline_ms.max(deadline_ms(trial, None));
        }
        whole("--operations", ask.operations, OPERATIONS_MAX)?;
        if ask.operations.is_some() {
            trial.operations = ask.operations;
            trial.deadline_ms = trial.deadline_ms.max(deadline_ms(trial, None));
        }
        Ok(self)
    }

    /// Rounds and trial for these live cases of these runtimes.
    pub fn settle(&self, live: &[&Case], runtimes: &[RuntimeFacts]) -> (u32, TrialShape) {
        let (Some(budget), None) = (self.budget_ns, self.rounds) else {
            return (self.rounds.unwrap_or(ROUNDS_DEFAULT), self.trial);
        };
        let trial = match self.measure_said {
            true => self.trial,
            false => cut(self.trial, budget, ROUNDS_FOR_INTERVAL, live, runtimes),
        };
        let usable = budget.saturating_sub(RUN_FIXED_NS);
        let round = round_ns(&trial, live.iter().copied(), runtimes, TWO_CPUS_NS);
        // Those that an interval needs are planned whatever the budget, which may end them.
        let rounds = (usable / round.max(TRIAL_FIXED_NS))
            .clamp(ROUNDS_FOR_INTERVAL.into(), ROUNDS_MAX.into());
        (u32::try_from(rounds).unwrap_or(ROUNDS_MAX), trial)
    }
}

#[cfg(test)]
mod tests {
    use hopcost_model::plan::{PlannedCase, Question};

    use super::*;

    fn settled(rounds: Option<u32>, budget_s: Option<u64>, live: &[Case]) -> (u32, TrialShape) {
        let budget_ns = budget_s.map(|s| s.saturating_mul(1000 * MS));
        let time = Time { rounds, budget_ns, ..Time::default() };
        time.settle(&live.iter().collect::<Vec<_>>(), &[])
    }

    /// So many round trips.
    fn cases(n: usize) -> Vec<Case> {
        let id = "roundtrip/pipe?payload=1&boundary=process&place=same-cpu&wait=block";
        vec![id.parse().unwrap(); n]
    }

    #[test]
    fn a_budget_buys_rounds_and_shortens_trials_before_it_costs_the_interval() {
        let (few, short) = settled(None, Some(60), &cases(10));
        let (many, long) = settled(None, Some(600), &cases(10));
        assert_eq!((short, long), (TRIAL_DEFAULT, TRIAL_DEFAULT));
        assert!(many > 9 * few, "{few} {many}");
        let (rounds, trial) = settled(None, Some(30), &cases(80));
        assert_eq!(rounds, ROUNDS_FOR_INTERVAL);
        assert!(trial.measure_ns < TRIAL_DEFAULT.measure_ns);
        let (rounds, trial) = settled(None, Some(3), &cases(80));
        assert_eq!((rounds, trial.measure_ns), (ROUNDS_FOR_INTERVAL, MEASURE_FLOOR_NS));
        assert_eq!(settled(Some(9), Some(1), &cases(1000)).0, 9);
        assert_eq!(settled(None, None, &cases(1000)), (ROUNDS_DEFAULT, TRIAL_DEFAULT));
        assert_eq!(settled(None, Some(u64::MAX), &cases(1)).0, ROUNDS_MAX);
        // Nothing is cut of wake-ups: six rounds of two of these alone take 13.8 s.
        let wake = "wake/pipe?payload=1&gap=10000000&boundary=process&place=same-cpu&wait=block";
        let live = [cases(10), vec![wake.parse().unwrap(); 2]].concat();
        let (rounds, trial) = settled(None, Some(20), &live);
        assert_eq!(rounds, ROUNDS_FOR_INTERVAL);
        assert!((MEASURE_FLOOR_NS..TRIAL_DEFAULT.measure_ns).contains(&trial.measure_ns));
        assert!(round_ns(&trial, &live, &[], TWO_CPUS_NS) * 6 <= 18 * 1000 * MS);
    }

    #[test]
    fn what_a_trial_takes_depends_on_its_case() {
        let exact =
            TrialShape { operations: Some(1_000), warm_up_operations: Some(100), ..TRIAL_DEFAULT };
        let stream = "stream/tcp-send?payload=64&fields=8&flows=1&ack=none";
        for (shape, path, beside_ns) in [
            (&TRIAL_DEFAULT, "wake/pipe?payload=1&gap=1000000", 110 * 1_060_000 + GATES_NS),
            (&exact, "wake/pipe?payload=1&gap=1000000", 1_100 * 1_060_000 + GATES_NS),
            (&TRIAL_DEFAULT, "roundtrip/pipe?payload=1", 100 * MS),
            (&exact, "roundtrip/pipe?payload=1", 1_100 * TWO_CPUS_NS),
            (&exact, stream, 55 * MS),
        ] {
            let id = format!("{path}&boundary=process&place=same-llc&wait=block");
            let takes = trial_ns(shape, &id.parse().unwrap(), &[]);
            assert_eq!(takes, TRIAL_FIXED_NS + beside_ns, "{id}");
        }
    }

    #[test]
    fn the_trials_of_a_question_are_cut_until_the_rounds_of_its_answer_fit() {
        let asked = |seconds: u64| Plan {
            suite: String::new(),
            seed: 0,
            rounds: 400,
            budget_ns: Some(seconds * 1000 * MS),
            comparison: None,
            question: Some(Question::Claims(Vec::new())),
            until: None,
            trial: TRIAL_DEFAULT,
            baseline: None,
            cpus: Vec::new(),
            relation: None,
            pairs: Default::default(),
            cases: vec![PlannedCase { case: Ok(cases(1).remove(0)), skip: None }; 60],
        };
        assert_eq!(fitted(&asked(40), &[]), TRIAL_DEFAULT);
        // Six rounds of 60 trials of 81 ms take 29 s, of 41 ms 15 s.
        let short = Plan { trial: fitted(&asked(20), &[]), ..asked(20) };
        assert!((MEASURE_FLOOR_NS + 1..TRIAL_DEFAULT.measure_ns).contains(&short.trial.measure_ns));
        let found = expected(&short, &[], None);
        assert!(found.rounds == 6 && found.ns <= 20_000 * MS, "{found:?}");
        let none = Plan { trial: fitted(&asked(10), &[]), ..asked(10) };
        assert_eq!(none.trial.measure_ns, MEASURE_FLOOR_NS);
        // Three of 60 trials of 41 ms.
        let found = expected(&none, &[], None);
        assert_eq!(found, Expected { ns: RUN_FIXED_NS + 3 * 60 * 41 * MS, rounds: 3 });
    }

    #[test]
    fn other_runtimes_take_their_start() {
        let here = |(runtime, start_ms, warm_up): &(&str, Option<u64>, &str)| {
            let text = format!(
                r#"{{"protocol":2,"runtime":"{runtime}","version":"","warm_up":"{warm_up}","mechanisms":[]}}"#
            );
            let (runtime, start_ns) = (runtime.parse().unwrap(), start_ms.map(|ms| ms * MS));
            RuntimeFacts { runtime, start_ns, state: Ok(serde_json::from_str(&text).unwrap()) }
        };
        let runtimes = [
            ("python", Some(110), "planned"),
            ("node", Some(180), "until-steady"),
            ("mine", None, "planned"),
        ];
        let runtimes: Vec<RuntimeFacts> = runtimes.iter().map(here).collect();
        let tcp = "roundtrip/tcp?payload=1&wait=block&boundary=";
        for (id, runtime, takes_ns) in [
            ("call/thread-start?", "python", 110 * MS),
            ("call/thread-start?", "node", 180 * MS + UNTIL_STEADY_NS),
            (&format!("{tcp}process&place=same-cpu&"), "python", 220 * MS),
            (&format!("{tcp}process&place=free&"), "python:node", 180 * MS + UNTIL_STEADY_NS),
            (&format!("{tcp}thread&place=same-cpu&"), "python", 110 * MS),
            (&format!("{tcp}process&place=same-cpu&"), "mine:rust", START_NS),
        ] {
            let case: Case = format!("{id}runtime={runtime}").parse().unwrap();
            assert_eq!(runtimes_ns(&case, &runtimes), takes_ns, "{case}");
        }
    }
}
