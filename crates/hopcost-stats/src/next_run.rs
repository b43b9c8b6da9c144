//! Intervals over trials that depend on each other: where the next run's median will lie.
//!
//! Trials of one run share the host's mood: a median over them is worth fewer trials
//! than it was taken from, and their spread understates that of the next run's. Both
//! are allowed for as in an AR(1) series (each trial depends on the one before), whose
//! one parameter is estimated, corrected for its bias in short series.

use crate::interval::ranks;
use crate::sample::{Sample, winsorised};
use crate::tail::student_quantile;
use crate::trend::autocorrelation;

/// The least trials that have an interval.
pub const TRIALS_MIN: usize = 6;

/// What trials have in common.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Dependence {
    /// Standard error, of a logarithm, that all of them share (see
    /// [`shared_error`](crate::yardstick::Calibrated::shared_error)).
    pub shared_error: f64,
    /// How trials depend on each other, from all cases of the run: one case's few trials
    /// tell it badly, but are asked where this is `None`.
    pub autocorrelation: Option<Autocorrelation>,
}

/// An interval for the median over trials of another run as long as this one, at another
/// time, on the same machine, from the logarithm of each trial's value, in time order; `None` below
/// [`TRIALS_MIN`] trials.
pub fn next_run_interval(log_values: &[f64], of: Dependence, level: f64) -> Option<(f64, f64)> {
    let n = log_values.len();
    let sample = Sample::new(log_values.to_vec()).filter(|_| n >= TRIALS_MIN)?;
    let drawn_in = winsorised(log_values, n.div_ceil(WINSORISED_OF));
    let scale = Sample::new(drawn_in.clone())?.stdev()?;
    let alone = || Autocorrelation::of([drawn_in.as_slice()].into_iter());
    let dependence = of.autocorrelation.or_else(alone).unwrap_or(Autocorrelation::NONE);
    let widen = libm::sqrt(dependence.inflation(n));
    let t = student_quantile(level, dependence.freedom(n));
    let own = t * MEDIAN_OVER_MEAN * scale * widen / libm::sqrt(n as f64);
    let median = sample.median();
    let side = |farthest: f64| {
        NEXT * libm::hypot(own.min(BEYOND_MAX * widen * farthest), t * of.shared_error)
    };
    let (down, up) = (side(median - sample.min()), side(sample.max() - median));
    let (low, high) = by_rank(&sample, level, RANKS_NEXT * libm::sqrt(dependence.sum(n)))?;
    Some((low.min(median - down), high.max(median + up)))
}

/// The same for a quantile that was taken from the samples of all of so many trials together. `independent` is its interval as if
/// trials did not depend on each other, on a logarithmic scale like `point`.
pub fn pooled_interval(
    point: f64,
    independent: (f64, f64),
    trials: usize,
    of: Dependence,
    level: f64,
) -> Option<(f64, f64)> {
    let dependence = of.autocorrelation.unwrap_or(Autocorrelation::NONE);
    let shared = student_quantile(level, dependence.freedom(trials)) * of.shared_error;
    let widen = libm::sqrt(dependence.inflation(trials));
    let [down, up] = [point - independent.0, independent.1 - point]
        .map(|side| libm::hypot(widen * side, shared));
    (trials >= TRIALS_MIN).then_some((point - NEXT * down, point + NEXT * up))
}

/// This run's median errs, and the next run's as much again.
const NEXT: f64 = core::f64::consts::SQRT_2;

/// The order statistics between which the median lies, as far out as dependence asks: a
/// median over two states jumps from one to the other, which no spread foretells.
fn by_rank(sample: &Sample, level: f64, times: f64) -> Option<(f64, f64)> {
    let n = sample.len();
    let middle = (n as f64 + 1.0) / 2.0;
    let away = (middle - ranks(n, level)?.low as f64) * times;
    let low = (middle - away).max(1.0);
    let (below, part) = (low as usize, low - libm::floor(low));
    let between = |rank: usize, next: usize| {
        let values = sample.values();
        values[rank - 1] + part * (values[next - 1] - values[rank - 1])
    };
    Some((between(below, below + 1), between(n + 1 - below, n - below)))
}

/// How many times as far from the median as the farthest trial on a side its end may lie:
/// where a few trials are far above the others, none says that one could be far below.
const BEYOND_MAX: f64 = 1.5;
/// One in so many trials is drawn in before the spread is taken. That takes 9 % from the
/// spread of normal values, about as much as estimating their correlations adds.
pub(crate) const WINSORISED_OF: usize = 10;
/// How much farther out the order statistics are taken for the next run's median.
const RANKS_NEXT: f64 = 1.15;
/// Standard error of a median over that of a mean, of a normal distribution.
const MEDIAN_OVER_MEAN: f64 = 1.2533;

/// How far trials depend on those before them: the correlation of trials k apart is
/// lag1 · decay^(k − 1), that of a host whose state fades and of trials that add noise of
/// their own.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Autocorrelation {
    /// Correlation of neighbours.
    pub lag1: f64,
    /// By how much it shrinks with each further trial between.
    pub decay: f64,
}

/// Above this a correlation looks like a drift.
const DECAY_MAX: f64 = 0.9;
impl Autocorrelation {
    /// Of trials that do not depend on each other.
    pub const NONE: Self = Self { lag1: 0.0, decay: 0.0 };

    /// What several cases of one run, each in time order, have in common about each one's own mean.
    /// `None` without a case of [`TRIALS_MIN`] trials that varies.
    pub fn of<'a>(cases: impl Iterator<Item = &'a [f64]>) -> Option<Self> {
        let mut sums = [0.0; 4];
        for values in cases.filter(|values| values.len() >= TRIALS_MIN) {
            let n = values.len() as f64;
            let drawn_in = winsorised(values, values.len().div_ceil(WINSORISED_OF));
            let correlations = [1, 2].map(|lag| autocorrelation(&drawn_in, lag));
            if let [Some(one), Some(two)] = correlations {
                let of_case = [1.0, one, two, 1.0 / n].map(|term| n * term);
                sums.iter_mut().zip(of_case).for_each(|(sum, term)| *sum += term);
            }
        }
        let [trials, one, two, cases] = sums;
        (trials > 0.0).then(|| Self::unbiased(one / trials, two / trials, cases / trials))
    }

    /// `per_trial` is one over the trials of a case. A short series' own mean pulls its
    /// autocorrelations down, to first order by (1 + 3ρ)/n (Kendall 1954).
    fn unbiased(one: f64, two: f64, per_trial: f64) -> Self {
        let lag1 = ((one + per_trial) / (1.0 - 3.0 * per_trial)).clamp(0.0, DECAY_MAX);
        let lag2 = (two + per_trial) / (1.0 - 3.0 * per_trial);
        let decay = if lag1 > 0.0 { (lag2 / lag1).clamp(lag1, DECAY_MAX) } else { 0.0 };
        Self { lag1, decay }
    }

    /// The variance of the mean of n values over that of independent ones.
    fn sum(self, n: usize) -> f64 {
        let mut correlation = self.lag1;
        let mut sum = 1.0;
        for lag in 1..n {
            sum += 2.0 * (1.0 - lag as f64 / n as f64) * correlation;
            correlation *= self.decay;
        }
        sum
    }

    /// The same over what their spread suggests, which dependence understates.
    pub(crate) fn inflation(self, n: usize) -> f64 {
        let (sum, n) = (self.sum(n), n as f64);
        sum * (n - 1.0) / (n - sum)
    }

    /// Degrees of freedom that the spread of n values has (Bartlett 1946).
    pub(crate) fn freedom(self, n: usize) -> f64 {
        let square = self.lag1 * self.decay;
        n as f64 * (1.0 - square) / (1.0 + square) - 1.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::LEVEL;
    use crate::rng::Rng;
    use crate::simulated::ar1;
    use proptest::prelude::*;

    #[test]
    fn a_pooled_interval_allows_for_the_next_run() {
        let of = |shared_error, autocorrelation, trials| {
            let of = Dependence { shared_error, autocorrelation };
            pooled_interval(2.0, (1.9, 2.2), trials, of, LEVEL)
        };
        let (low, high) = of(0.0, None, 9).unwrap();
        assert!((low - 2.0 + 0.1 * NEXT).abs() < 1e-12, "{low}");
        assert!((high - 2.0 - 0.2 * NEXT).abs() < 1e-12, "{high}");
        assert!(of(0.05, None, 9).unwrap().1 > high);
        let dependent = Autocorrelation { lag1: 0.5, decay: 0.7 };
        assert!(of(0.0, Some(dependent), 9).unwrap().0 < low);
        assert_eq!(of(0.0, None, 5), None);
    }

    #[test]
    fn what_a_correlation_does_to_three_trials() {
        let is = |got: f64, want: f64| assert!((got - want).abs() < 1e-12, "{got} {want}");
        let of = Autocorrelation { lag1: 0.5, decay: 0.5 };
        is(of.sum(3), 1.0 + 2.0 * (2.0 / 3.0 * 0.5 + 1.0 / 3.0 * 0.25));
        is(of.inflation(3), 11.0 / 6.0 * 2.0 / (3.0 - 11.0 / 6.0));
        is(of.freedom(3), 3.0 * 0.75 / 1.25 - 1.0);
        // As computed from ten trials, (0.25 + 0.1) / 0.7 and (0.18 + 0.1) / 0.7.
        let unbiased = Autocorrelation::unbiased(0.25, 0.18, 0.1);
        is(unbiased.lag1, 0.5);
        is(unbiased.decay, 0.8);
        is(Autocorrelation::unbiased(0.25, 0.0, 0.1).decay, 0.5);
        assert_eq!(Autocorrelation::unbiased(-0.5, 0.5, 0.1), Autocorrelation::NONE);
    }

    #[test]
    fn few_trials_have_none() {
        let of = |values: &[f64]| next_run_interval(values, Dependence::default(), LEVEL);
        assert_eq!(of(&[1.0, 1.1, 0.9, 1.0, 1.2]), None);
        assert_eq!(of(&[f64::NAN; 9]), None);
        assert!(of(&[1.0, 1.1, 0.9, 1.0, 1.2, 0.8]).is_some());
    }

    #[test]
    fn the_pooled_correlation_is_that_of_the_series() {
        let mut rng = Rng::new(5);
        for lag1 in [0.0, 0.7] {
            let cases: Vec<Vec<f64>> = (0..200).map(|_| ar1(9, lag1, &mut rng)).collect();
            let pooled = Autocorrelation::of(cases.iter().map(Vec::as_slice)).unwrap();
            assert!((pooled.lag1 - lag1).abs() < 0.12, "{pooled:?} for {lag1}");
        }
        // Half of the variance fades, and the rest is noise.
        let mut case = || -> Vec<f64> {
            let fading = ar1(60, 0.8, &mut rng);
            fading.into_iter().map(|value| value + rng.normal()).collect()
        };
        let cases: Vec<Vec<f64>> = (0..200).map(|_| case()).collect();
        let found = Autocorrelation::of(cases.iter().map(Vec::as_slice)).unwrap();
        assert!((found.lag1 - 0.4).abs() < 0.12, "{found:?}");
        assert!((found.decay - 0.8).abs() < 0.1, "{found:?}");
        assert_eq!(Autocorrelation::of([].into_iter()), None);
    }

    proptest! {
        #[test]
        fn the_median_is_inside(
            values in proptest::collection::vec(-30.0..30.0f64, 6..60),
            coarse in 0u8..2,
            lag1 in 0.0..0.9f64,
            decay in 0.0..0.9f64,
        ) {
            let values: Vec<f64> =
                values.iter().map(|v| if coarse == 1 { v.trunc() } else { *v }).collect();
            for autocorrelation in [None, Some(Autocorrelation { lag1, decay })] {
                let of = Dependence { shared_error: 0.0, autocorrelation };
                let (low, high) = next_run_interval(&values, of, LEVEL).unwrap();
                let median = crate::sample::median(&values).unwrap();
                prop_assert!(low <= median && median <= high);
            }
        }
    }
}
