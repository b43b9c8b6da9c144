//! How long things take: the shape of a trial, the number of rounds, and the
//! estimate of a plan's duration.
//!
//! A budget buys rounds, not long trials: the trial is the unit of replication,
//! so twice the time is worth more as twice the trials (METHODOLOGY.md). A trial
//! keeps its length whatever the budget; it is cut short only where fewer than
//! [`ROUNDS_FOR_INTERVAL`] rounds would fit.

use hopcost_model::plan::{Plan, TrialShape};

const MS: u64 = 1_000_000;

/// Rounds where neither a number nor a budget is given.
pub const ROUNDS_DEFAULT: u32 = 12;
/// Fewest rounds that give an interval of 95 %.
pub const ROUNDS_FOR_INTERVAL: u32 = 6;
/// Most rounds of a plan.
pub const ROUNDS_MAX: u32 = 10_000;
/// A trial cut short to fit a budget measures at least this long.
pub const MEASURE_FLOOR_NS: u64 = 10 * MS;
/// What a trial takes beside warm-up and measurement: spawn, attach, fetch,
/// store and reap (12 ms), the pilot (10 ms) and the sentinels (4 ms).
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
};

/// How long a trial of this shape takes, about, in nanoseconds.
pub fn trial_ns(shape: &TrialShape) -> u64 {
    TRIAL_FIXED_NS.saturating_add(shape.warm_up_ns).saturating_add(shape.measure_ns)
}

/// How long a plan takes, about, in nanoseconds: on a quiet machine within a
/// quarter. With a budget no round is started after it, but the last one ends.
pub fn estimate_ns(plan: &Plan) -> u64 {
    let live = u64::try_from(plan.live().count()).unwrap_or(u64::MAX);
    let round = trial_ns(&plan.trial).saturating_mul(live);
    let rounds = match plan.budget_ns {
        Some(budget) if round > 0 => u64::from(plan.rounds).min(budget.div_ceil(round).max(1)),
        _ => u64::from(plan.rounds),
    };
    RUN_FIXED_NS.saturating_add(round.saturating_mul(rounds))
}

/// What was said of time; the command line has already been laid over the suite.
pub(crate) struct Time {
    /// Rounds.
    pub rounds: Option<u32>,
    /// Budget of the whole run.
    pub budget_ns: Option<u64>,
    /// The trial.
    pub trial: TrialShape,
    /// Whether `trial.measure_ns` was asked for and so must stay.
    pub measure_said: bool,
}

impl Time {
    /// Rounds and trial for so many live cases.
    pub fn settle(&self, live: usize) -> (u32, TrialShape) {
        let (Some(budget), None) = (self.budget_ns, self.rounds) else {
            return (self.rounds.unwrap_or(ROUNDS_DEFAULT), self.trial);
        };
        let live = u64::try_from(live).unwrap_or(u64::MAX).max(1);
        let usable = budget.saturating_sub(RUN_FIXED_NS);
        let fit = |trial: &TrialShape| usable / trial_ns(trial).saturating_mul(live).max(1);
        let mut trial = self.trial;
        if fit(&trial) < u64::from(ROUNDS_FOR_INTERVAL) && !self.measure_said {
            let each = usable / live / u64::from(ROUNDS_FOR_INTERVAL);
            let left = each.saturating_sub(TRIAL_FIXED_NS).saturating_sub(trial.warm_up_ns);
            trial.measure_ns = left.max(MEASURE_FLOOR_NS).min(trial.measure_ns);
        }
        let rounds = fit(&trial).clamp(1, u64::from(ROUNDS_MAX));
        (u32::try_from(rounds).unwrap_or(ROUNDS_MAX), trial)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn time(rounds: Option<u32>, budget_s: Option<u64>) -> Time {
        let budget_ns = budget_s.map(|s| s * 1000 * MS);
        Time { rounds, budget_ns, trial: TRIAL_DEFAULT, measure_said: false }
    }

    #[test]
    fn a_budget_buys_rounds_and_not_longer_trials() {
        let (few, short) = time(None, Some(60)).settle(10);
        let (many, long) = time(None, Some(600)).settle(10);
        assert_eq!((short, long), (TRIAL_DEFAULT, TRIAL_DEFAULT));
        assert!(many > 9 * few, "{few} {many}");
    }

    #[test]
    fn a_small_budget_shortens_trials_before_it_costs_the_interval() {
        let (rounds, trial) = time(None, Some(30)).settle(80);
        assert_eq!(rounds, ROUNDS_FOR_INTERVAL);
        assert!(trial.measure_ns < TRIAL_DEFAULT.measure_ns);
        let (rounds, trial) = time(None, Some(3)).settle(80);
        assert_eq!((rounds, trial.measure_ns), (1, MEASURE_FLOOR_NS));
        let said = Time { measure_said: true, ..time(None, Some(30)) };
        assert_eq!(said.settle(80).1, TRIAL_DEFAULT);
    }

    #[test]
    fn rounds_that_were_said_stay() {
        assert_eq!(time(Some(9), Some(1)).settle(1000).0, 9);
        assert_eq!(time(None, None).settle(1000), (ROUNDS_DEFAULT, TRIAL_DEFAULT));
        assert_eq!(time(None, Some(u64::MAX / 1000 / MS)).settle(1).0, ROUNDS_MAX);
    }
}
