//! Whether there is time for another round, from what the last one has taken.

use hopcost_plan::{BUDGET_FOR_INTERVAL, MEASURE_FLOOR_NS};

/// What the trials of a sitting have taken so far.
#[derive(Debug, Clone, Copy, Default)]
pub struct Spent {
    /// Since the first began.
    pub elapsed_ns: u64,
    /// How many there were.
    pub trials: u64,
    /// What of the time was spent in their phases.
    pub phases_ns: u64,
}

/// A round that is to begin.
#[derive(Debug, Clone, Copy)]
pub struct Next {
    pub trials: u64,
    /// Rounds like it without which there is no answer, itself included; 0 where there is one.
    pub needed: u64,
    /// Aimed length of a measured phase.
    pub measure_ns: u64,
}

/// What the budget allows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Afforded {
    /// Whether the round begins.
    pub begins: bool,
    /// The share that is left of the aimed length of its phases.
    pub share: f64,
    /// How far beyond the budget those end that the answer needs, about.
    pub beyond_ns: u64,
}

impl Spent {
    /// What was added to what was spent before.
    pub fn since(self, before: Spent) -> Spent {
        Spent {
            elapsed_ns: self.elapsed_ns - before.elapsed_ns,
            trials: self.trials - before.trials,
            phases_ns: self.phases_ns - before.phases_ns,
        }
    }

    /// A round begins if it ends within the budget. Those that the answer needs are made shorter
    /// before they are made fewer, and may exceed it. `last` is what the last round took, whose trials
    /// were as long as those of the next.
    pub fn affords(&self, last: Spent, budget_ns: u64, next: Next) -> Afforded {
        let trial_ns = last.elapsed_ns / last.trials.max(1);
        let until = |trial_ns: u64, rounds: u64| {
            let trials = next.trials.saturating_mul(rounds);
            self.elapsed_ns.saturating_add(trial_ns.saturating_mul(trials))
        };
        if next.needed == 0 {
            return Afforded { begins: until(trial_ns, 1) <= budget_ns, share: 1.0, beyond_ns: 0 };
        }
        let left_ns = budget_ns.saturating_sub(self.elapsed_ns);
        let each_ns = left_ns / (next.needed * next.trials).max(1);
        let phases_ns = (last.phases_ns / last.trials.max(1)).min(trial_ns);
        let beside_ns = trial_ns - phases_ns;
        let least = (MEASURE_FLOOR_NS as f64 / next.measure_ns.max(1) as f64).min(1.0);
        let share = each_ns.saturating_sub(beside_ns) as f64 / phases_ns.max(1) as f64;
        let share = share.clamp(least, 1.0);
        let cut_ns = beside_ns + (phases_ns as f64 * share) as u64;
        Afforded {
            begins: until(cut_ns, 1) <= budget_ns.saturating_mul(BUDGET_FOR_INTERVAL),
            share,
            beyond_ns: until(cut_ns, next.needed).saturating_sub(budget_ns),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    /// Rounds of so many trials, each of which takes so long beside its measured phase, in simulated
    /// time: how many there were, when they ended, and what was said of the time beyond the budget.
    fn simulated(budget_ns: u64, trials: u64, beside_ns: u64, needed: u64) -> (u64, u64, u64) {
        let (mut spent, mut before) = (Spent::default(), Spent::default());
        let (mut measure_ns, mut beyond_ns) = (30 * MS, 0);
        for round in 0..1_000 {
            if round > 0 {
                let next = Next { trials, needed: needed.saturating_sub(round), measure_ns };
                let found = spent.affords(spent.since(before), budget_ns, next);
                if !found.begins {
                    return (round, spent.elapsed_ns, beyond_ns);
                }
                beyond_ns = beyond_ns.max(found.beyond_ns);
                measure_ns = (measure_ns as f64 * found.share) as u64;
            }
            before = spent;
            spent.elapsed_ns += trials * (beside_ns + measure_ns);
            spent.phases_ns += trials * measure_ns;
            spent.trials += trials;
        }
        panic!("it never ends");
    }

    #[test]
    fn no_round_begins_that_ends_after_the_budget() {
        let (rounds, end_ns, beyond_ns) = simulated(30_000 * MS, 20, 30 * MS, 6);
        assert!((20..=25).contains(&rounds) && end_ns <= 30_000 * MS, "{rounds} {end_ns}");
        assert_eq!(beyond_ns, 0);
    }

    #[test]
    fn the_rounds_of_an_answer_are_shortened_before_they_exceed_it_and_it_is_said_by_how_much() {
        // Six rounds of 60 trials of 90 ms would take 32 s, of 70 ms 25 s.
        let (rounds, end_ns, beyond_ns) = simulated(28_000 * MS, 60, 60 * MS, 6);
        assert!(rounds >= 6 && end_ns <= 28_500 * MS, "{rounds} {end_ns}");
        assert!(beyond_ns < 500 * MS, "{beyond_ns}");
        // As short as can be they take 36 s.
        let (rounds, end_ns, beyond_ns) = simulated(20_000 * MS, 60, 90 * MS, 6);
        assert_eq!(rounds, 6);
        assert!(end_ns.abs_diff(20_000 * MS + beyond_ns) < 2_000 * MS, "{end_ns} {beyond_ns}");
        assert!(simulated(5_000 * MS, 60, 90 * MS, 6).0 < 6, "not beyond twice the budget");
    }
}
