//! Does an interval that says 96.1 % cover the truth in 96.1 % of runs?
//!
//! A cell simulates whole runs: `trials` trials of `samples` operations of a known
//! shape and dependence, each reduced to its own quantile, and from those the
//! interval of the median over trials, exactly as results are computed. The truth
//! is the median of the trial's quantile over all trials that the cell simulated
//! (trials × runs of them, so that one run's own share in it is negligible).

use crate::LEVEL;
use crate::interval::{quantile_interval, ranks};
use crate::rng::Rng;
use crate::sample::{Sample, rank};
use crate::synthetic::{Dependence, Shape, trial};

/// What is simulated.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cell {
    /// Shape of one operation's duration.
    pub shape: Shape,
    /// Dependence of the samples of a trial.
    pub dependence: Dependence,
    /// The quantile, 0 to 1.
    pub q: f64,
    /// Trials in a run.
    pub trials: usize,
    /// Samples in a trial.
    pub samples: usize,
}

/// What came of it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Coverage {
    /// Runs simulated.
    pub runs: usize,
    /// Share of runs whose interval covered the truth.
    pub covered: f64,
    /// The exact coverage that theory gives the ranks used, for a continuous
    /// distribution.
    pub exact: f64,
    /// Standard error of `covered` from the finite number of runs.
    pub error: f64,
}

/// The least coverage that is accepted.
pub const COVERED_MIN: f64 = 0.935;
/// The most by which the coverage may fall short of the exact one.
pub const SHORTFALL_MAX: f64 = 0.01;

impl Coverage {
    /// Whether the interval holds what it says: covers at least
    /// [`COVERED_MIN`], and falls short of its exact coverage by at most
    /// [`SHORTFALL_MAX`]. Covering more often is no fault: with ties (a coarse
    /// clock) an order-statistic interval must.
    pub fn holds(&self) -> bool {
        self.covered >= COVERED_MIN && self.covered >= self.exact - SHORTFALL_MAX
    }
}

/// The cells of the published table: every shape, independent, AR(1) of 0.6 and
/// with a trial effect of 5 %, p50 from 200 and p99 from 1000 samples a trial.
pub fn table(trials: usize) -> Vec<Cell> {
    let mut cells = Vec::new();
    for shape in Shape::ALL {
        for dependence in
            [Dependence::Independent, Dependence::Ar1(0.6), Dependence::TrialEffect(0.05)]
        {
            for (q, samples) in [(0.5, 200), (0.99, 1_000)] {
                cells.push(Cell { shape, dependence, q, trials, samples });
            }
        }
    }
    cells
}

/// Simulates `runs` runs of a cell; `None` if so few trials have no interval, or
/// there are no runs or samples.
pub fn simulate(cell: &Cell, runs: usize, seed: u64) -> Option<Coverage> {
    let exact = ranks(cell.trials, 0.5, LEVEL)?.coverage;
    if runs == 0 || cell.samples == 0 {
        return None;
    }
    let mut rng = Rng::new(seed);
    let statistics: Vec<f64> = (0..runs * cell.trials)
        .map(|_| statistic(trial(cell.shape, cell.dependence, cell.samples, &mut rng), cell.q))
        .collect();
    let truth = Sample::new(statistics.clone()).ok()?.median();
    let covered = statistics
        .chunks(cell.trials)
        .filter(|run| {
            Sample::new(run.to_vec())
                .ok()
                .and_then(|sample| quantile_interval(&sample, 0.5, LEVEL))
                .is_some_and(|interval| interval.low <= truth && truth <= interval.high)
        })
        .count() as f64
        / runs as f64;
    let error = libm::sqrt(covered * (1.0 - covered) / runs as f64);
    Some(Coverage { runs, covered, exact, error })
}

/// The quantile of a trial, by selection.
fn statistic(mut samples: Vec<f64>, q: f64) -> f64 {
    let at = rank(samples.len(), q) - 1;
    *samples.select_nth_unstable_by(at, f64::total_cmp).1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_over_trials_holds_what_it_says() {
        for shape in Shape::ALL {
            for dependence in
                [Dependence::Independent, Dependence::Ar1(0.6), Dependence::TrialEffect(0.05)]
            {
                let cell = Cell { shape, dependence, q: 0.5, trials: 9, samples: 24 };
                let got = simulate(&cell, 400, 12).unwrap();
                // Three standard errors of a small simulation; the example does the large one.
                let slack = 3.0 * libm::sqrt(0.04 / 400.0);
                assert!(got.covered >= got.exact - slack, "{cell:?} {got:?}");
                if shape != Shape::Quantised {
                    assert!(got.covered <= got.exact + slack, "{cell:?} {got:?}");
                }
            }
        }
    }

    #[test]
    fn the_simulation_sees_an_interval_that_is_wrong() {
        // The interval that other tools print: all samples of a run as if they were
        // independent. With a trial effect it must be seen to miss.
        let (trials, samples, runs) = (9, 60, 200);
        let mut rng = Rng::new(4);
        let covered = (0..runs)
            .filter(|_| {
                let pool = (0..trials)
                    .flat_map(|_| {
                        let effect = Dependence::TrialEffect(0.3);
                        trial(Shape::Lognormal, effect, samples, &mut rng)
                            .into_iter()
                            .map(|v| libm::pow(v, 0.1))
                    })
                    .collect();
                let interval = quantile_interval(&Sample::new(pool).unwrap(), 0.5, LEVEL).unwrap();
                interval.low <= 1.0 && 1.0 <= interval.high
            })
            .count();
        assert!((covered as f64) < 0.85 * runs as f64, "{covered} of {runs}");
    }

    #[test]
    fn refusals_and_determinism() {
        let cell = Cell {
            shape: Shape::Exponential,
            dependence: Dependence::Independent,
            q: 0.5,
            trials: 5,
            samples: 10,
        };
        assert_eq!(simulate(&cell, 100, 1), None);
        let nine = Cell { trials: 9, ..cell };
        assert_eq!(simulate(&nine, 50, 1), simulate(&nine, 50, 1));
        assert_eq!(table(9).len(), 36);
    }
}
