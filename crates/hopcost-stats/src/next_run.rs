//! Intervals over trials that depend on each other: where the next run's median will
//! lie, and where the host's own lies.
//!
//! Trials of one run share the host's mood: a median over them is worth fewer trials
//! than it was taken from, and their spread understates that of the next run's. Both
//! are allowed for as in an AR(1) series (each trial depends on the one before), whose
//! one parameter is estimated, corrected for its bias in short series.

use crate::sample::{Sample, winsorised};
use crate::tail::student_quantile;
use crate::trend::lag1_autocorrelation;

/// An interval on the scale of the values given.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// Independent trials that the run's are worth.
    pub n_eff: f64,
}

/// The least trials that have an interval.
pub const TRIALS_MIN: usize = 6;

/// What an interval is made of.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Trials<'a> {
    /// The logarithm of each trial's value, in time order.
    pub log_values: &'a [f64],
    /// Standard error that all of them share (see
    /// [`shared_error`](crate::yardstick::Calibrated::shared_error)).
    pub shared_error: f64,
    /// The correlation of neighbouring trials from all cases of the run
    /// ([`pooled_lag1`]), which one case's few trials tell badly.
    pub pooled_lag1: Option<f64>,
}

/// An interval for the median over trials of another run as long as this one, at another
/// time, on the same machine; `None` below [`TRIALS_MIN`] trials.
pub fn next_run_interval(trials: Trials, level: f64) -> Option<Interval> {
    // This run's median errs, and the next run's as much again.
    interval(trials, level, core::f64::consts::SQRT_2)
}

/// An interval for the median that infinitely many trials on this host would have;
/// `None` below [`TRIALS_MIN`] trials.
pub fn this_run_interval(trials: Trials, level: f64) -> Option<Interval> {
    interval(trials, level, 1.0)
}

fn interval(trials: Trials, level: f64, times: f64) -> Option<Interval> {
    let n = trials.log_values.len();
    let sample = Sample::new(trials.log_values.to_vec()).ok().filter(|_| n >= TRIALS_MIN)?;
    let drawn_in = winsorised(trials.log_values, n / WINSORISED_OF);
    let scale = Sample::new(drawn_in.clone()).ok()?.stdev()?;
    let dependence = Dependence::of(&drawn_in, trials.pooled_lag1);
    let own = MEDIAN_OVER_MEAN * scale * libm::sqrt(dependence.inflation / n as f64);
    let error = libm::hypot(own, trials.shared_error);
    let half = times * student_quantile(level, n as f64 - 1.0) * error;
    let median = sample.median();
    Some(Interval { low: median - half, high: median + half, n_eff: dependence.n_eff })
}

/// One in so many trials is drawn in before the spread is taken.
const WINSORISED_OF: usize = 6;
/// Standard error of a median over that of a mean, of a normal distribution.
const MEDIAN_OVER_MEAN: f64 = 1.2533;

/// How far trials depend on each other.
struct Dependence {
    /// By how much the variance of their mean exceeds what their spread suggests.
    inflation: f64,
    n_eff: f64,
}

/// Correlations of neighbours above this cannot be told from a drift.
const LAG1_MAX: f64 = 0.95;

impl Dependence {
    fn of(values: &[f64], pooled_lag1: Option<f64>) -> Self {
        let n = values.len() as f64;
        let lag1 = pooled_lag1.or_else(|| own_lag1(values)).unwrap_or(0.0).clamp(0.0, LAG1_MAX);
        let terms = (1..values.len()).map(|k| (1.0 - k as f64 / n) * libm::pow(lag1, k as f64));
        let sum = 1.0 + 2.0 * terms.sum::<f64>();
        Self { inflation: sum * (n - 1.0) / (n - sum), n_eff: n / sum }
    }
}

/// The correlation of neighbouring trials, free of the bias that a short series' own
/// mean brings (Kendall 1954: to first order −(1 + 3ρ)/n).
fn own_lag1(values: &[f64]) -> Option<f64> {
    let n = values.len() as f64;
    lag1_autocorrelation(values).map(|lag1| (n * lag1 + 1.0) / (n - 3.0))
}

/// The correlation of neighbouring trials, from several cases of one run: the mean over
/// cases, each weighed by its trials. `None` without a case of [`TRIALS_MIN`] trials.
pub fn pooled_lag1<'a>(cases: impl Iterator<Item = &'a [f64]>) -> Option<f64> {
    let (mut sum, mut weight) = (0.0, 0.0);
    for values in cases.filter(|values| values.len() >= TRIALS_MIN) {
        let drawn_in = winsorised(values, values.len() / WINSORISED_OF);
        if let Some(lag1) = own_lag1(&drawn_in) {
            sum += values.len() as f64 * lag1;
            weight += values.len() as f64;
        }
    }
    (weight > 0.0).then(|| sum / weight)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::LEVEL;
    use crate::rng::Rng;

    fn plain(log_values: &[f64]) -> Trials<'_> {
        Trials { log_values, shared_error: 0.0, pooled_lag1: None }
    }

    fn series(n: usize, lag1: f64, rng: &mut Rng) -> Vec<f64> {
        let mut state = rng.normal();
        (0..n)
            .map(|_| {
                let value = 0.065 * state;
                state = lag1 * state + libm::sqrt(1.0 - lag1 * lag1) * rng.normal();
                value
            })
            .collect()
    }

    #[test]
    fn few_trials_have_none() {
        assert_eq!(next_run_interval(plain(&[1.0, 1.1, 0.9, 1.0, 1.2]), LEVEL), None);
        assert_eq!(next_run_interval(plain(&[f64::NAN; 9]), LEVEL), None);
        assert!(next_run_interval(plain(&[1.0, 1.1, 0.9, 1.0, 1.2, 0.8]), LEVEL).is_some());
    }

    #[test]
    fn what_all_trials_share_widens() {
        let values = [1.0, 1.1, 0.9, 1.0, 1.2, 0.8];
        let width = |shared_error| {
            let trials = Trials { shared_error, ..plain(&values) };
            let interval = this_run_interval(trials, LEVEL).unwrap();
            interval.high - interval.low
        };
        assert!(width(0.1) > 1.2 * width(0.0));
    }

    #[test]
    fn the_pooled_correlation_is_that_of_the_series() {
        let mut rng = Rng::new(5);
        for lag1 in [0.0, 0.7] {
            let cases: Vec<Vec<f64>> = (0..200).map(|_| series(9, lag1, &mut rng)).collect();
            let pooled = pooled_lag1(cases.iter().map(Vec::as_slice)).unwrap();
            assert!((pooled - lag1).abs() < 0.12, "{pooled} for {lag1}");
        }
        assert_eq!(pooled_lag1([].into_iter()), None);
    }
}
