//! Whole runs on hosts that change their speed, as a case and its yardstick would see
//! them.
//!
//! A run has a trial of 30 ms every third of a second, with a reading of its yardstick
//! right before and right after. Everything is a natural logarithm; the host at its
//! reference and a case without noise are both 0.

use super::ar1;
use crate::rng::Rng;
use crate::yardstick::Readings;

/// How a host's speed changes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Host {
    /// From one trial to the next by 10 %, each on its own.
    Independent,
    /// By 10 %, each trial depending on the one before with this correlation.
    Ar1(f64),
    /// Between two speeds 1.5 times apart, staying this many seconds on average.
    TwoStates(f64),
    /// Steadily by 10 to 20 % over a run, either way, from anywhere within 15 %.
    Drift,
    /// Not at all, at its reference.
    Quiet,
}

impl Host {
    /// Every host.
    pub const ALL: [Host; 7] = [
        Host::Quiet,
        Host::Independent,
        Host::Ar1(0.7),
        Host::TwoStates(0.1),
        Host::TwoStates(1.0),
        Host::TwoStates(5.0),
        Host::Drift,
    ];
}

/// What is taken of each trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Statistic {
    /// The median operation: follows the state that most of a trial was in; 6.5 % of its
    /// own.
    P50,
    /// The mean cost: follows the mean over the trial; 4 % of its own, and one trial in
    /// thirty preempted.
    Cost,
    /// The tail: follows the slower state if a hundredth of the trial was in it; 20 % of
    /// its own, skewed.
    P99,
}

impl Statistic {
    /// What a trial adds of its own.
    fn noise(self, rng: &mut Rng) -> f64 {
        match self {
            Statistic::P50 => 0.065 * rng.normal(),
            Statistic::Cost => 0.04 * rng.normal() + if rng.below(30) == 0 { 0.3 } else { 0.0 },
            // Gumbel, of this standard deviation.
            Statistic::P99 => -0.2 * 0.78 * (libm::log(-libm::log(rng.uniform())) + 0.577),
        }
    }
}

/// From the start of a trial to that of the next.
const BETWEEN_S: f64 = 1.0 / 3.0;
/// A trial's length.
const TRIAL_S: f64 = 0.03;
/// Standard deviation of a reading's own error.
const READING_ERROR: f64 = 0.05;
/// One reading in so many is disturbed, …
const DISTURBED_OF: u64 = 50;
/// … and this much slower.
const DISTURBED_BY: f64 = 0.5;
/// Logarithm of the ratio of the two speeds.
const STATES_APART: f64 = 0.405;

/// What a run brought.
#[derive(Debug, Clone, PartialEq)]
pub struct Seen {
    /// Each trial's value, in time order.
    pub values: Vec<f64>,
    /// What the yardstick read beside it.
    pub readings: Vec<Readings>,
}

/// One run of so many trials, beginning at any time, of a case that follows its yardstick
/// with this elasticity.
pub fn run(host: Host, statistic: Statistic, slope: f64, trials: usize, rng: &mut Rng) -> Seen {
    let levels = levels(host, statistic, trials, BETWEEN_S, rng);
    let values = levels.iter().map(|level| slope * level.of_value + statistic.noise(rng)).collect();
    let mut reading = |level: f64| {
        let disturbed = if rng.below(DISTURBED_OF) == 0 { DISTURBED_BY } else { 0.0 };
        level + READING_ERROR * rng.normal() + disturbed
    };
    let readings = levels
        .iter()
        .map(|level| Readings { before: reading(level.before), after: reading(level.after) })
        .collect();
    Seen { values, readings }
}

/// The host's level right before a trial, in it and right after it.
#[derive(Clone, Copy)]
pub struct Level {
    before: f64,
    pub of_value: f64,
    after: f64,
}

/// Those of trials that begin so far apart.
pub fn levels(
    host: Host,
    statistic: Statistic,
    trials: usize,
    between_s: f64,
    rng: &mut Rng,
) -> Vec<Level> {
    let constant = |level| Level { before: level, of_value: level, after: level };
    match host {
        Host::Quiet => vec![constant(0.0); trials],
        Host::Independent => (0..trials).map(|_| constant(0.1 * rng.normal())).collect(),
        Host::Ar1(rho) => {
            ar1(trials, rho, rng).into_iter().map(|level| constant(0.1 * level)).collect()
        }
        Host::Drift => {
            let start = 0.3 * rng.uniform() - 0.15;
            let size = 0.1 + 0.1 * rng.uniform();
            let change = if rng.below(2) == 0 { size } else { -size };
            (0..trials).map(|i| constant(start + change * i as f64 / trials as f64)).collect()
        }
        Host::TwoStates(dwell_s) => {
            let mut states = States::new(dwell_s, rng);
            (0..trials).map(|i| states.over(i as f64 * between_s, statistic, rng)).collect()
        }
    }
}

/// A host that jumps between two speeds.
struct States {
    dwell_s: f64,
    slow: bool,
    /// When it jumps next.
    until_s: f64,
}

impl States {
    fn new(dwell_s: f64, rng: &mut Rng) -> Self {
        Self { dwell_s, slow: rng.below(2) == 0, until_s: -dwell_s * libm::log(rng.uniform()) }
    }

    /// Goes on to this time; the seconds until then in the slow state since `from_s`.
    fn forward(&mut self, from_s: f64, to_s: f64, rng: &mut Rng) -> f64 {
        let (mut at_s, mut slow_s) = (from_s, 0.0);
        loop {
            let end_s = self.until_s.min(to_s);
            if self.slow {
                slow_s += (end_s - at_s).max(0.0);
            }
            if self.until_s > to_s {
                return slow_s;
            }
            at_s = at_s.max(self.until_s);
            self.slow = !self.slow;
            self.until_s -= self.dwell_s * libm::log(rng.uniform());
        }
    }

    fn level(&self) -> f64 {
        if self.slow { STATES_APART } else { 0.0 }
    }

    fn over(&mut self, start_s: f64, statistic: Statistic, rng: &mut Rng) -> Level {
        self.forward(start_s, start_s, rng);
        let before = self.level();
        let share = self.forward(start_s, start_s + TRIAL_S, rng) / TRIAL_S;
        let slow_from = |least: f64| if share > least { STATES_APART } else { 0.0 };
        let of_value = match statistic {
            Statistic::P50 => slow_from(0.5),
            Statistic::Cost => libm::log1p(share * libm::expm1(STATES_APART)),
            Statistic::P99 => slow_from(0.01),
        };
        Level { before, of_value, after: self.level() }
    }
}
