//! How a group of cases follows its yardstick, the reading's error taken out.

use super::readings::{MAD_TO_SD, Readings, undisturbed};
use crate::LEVEL;
use crate::sample::{median, products};
use crate::tail::student_quantile;

/// A trial of a case.
#[derive(Debug, Clone, Copy)]
pub struct Point {
    /// Logarithm of its value.
    pub value: f64,
    /// What its yardstick read.
    pub readings: Readings,
    /// Logarithm of what dividing would divide by, [`Calibrated::levels`](super::Calibrated::levels).
    pub level: f64,
}

/// How a group of cases follows its yardstick.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Elasticity {
    /// By how many per cent the cases change when the yardstick does by one.
    pub slope: f64,
    /// Lower end of its 95 % interval.
    pub low: f64,
    /// Upper end of its 95 % interval.
    pub high: f64,
    /// Share of the variance within cases that dividing removes; negative where it adds.
    pub removed_share: f64,
    /// Upper end of its 95 % interval.
    pub removed_share_high: f64,
}

/// Blocks of the jackknife, at most.
const BLOCKS_MAX: usize = 10;
/// Below this standard deviation of the level it is unknown whether cases follow it.
const VARIATION_MIN: f64 = 0.02;
/// Nor below this correlation of the readings before and after.
const CORRELATION_MIN: f64 = 0.3;
/// Trials of a group, below which chance alone looks like cases that do not follow: of nine
/// trials of one case that hardly changed, one run in fourteen did.
const TRIALS_MIN: usize = 18;
/// Standard deviations of the rest beyond which a trial weighs less (Huber).
const OUTLYING: f64 = 2.5;
/// A rest that is smaller is rounding, and no reason to weigh a trial less.
const EXACT: f64 = 1e-6;

/// The elasticity of a group of cases, each with an intercept of its own, from their trials in time
/// order; `None` where there are too few or the level hardly varies.
pub fn elasticity(cases: &[&[Point]]) -> Option<Elasticity> {
    let trials: Vec<Trial> = cases.iter().enumerate().flat_map(|(i, c)| trials(i, c)).collect();
    let rounds = cases.iter().map(|case| case.len()).max()?;
    let blocks = rounds.min(BLOCKS_MAX);
    if trials.len() < TRIALS_MIN || blocks < 6 || trials.iter().any(|trial| !trial.is_finite()) {
        return None;
    }
    let whole = Fit::of(&trials, cases.len(), None).filter(Fit::is_strong)?;
    let parts = (0..blocks).map(|block| Fit::of(&trials, cases.len(), Some((block, blocks))));
    let parts = parts.collect::<Option<Vec<Fit>>>()?;
    let half = |of: fn(&Fit) -> f64| {
        let n = parts.len() as f64;
        let all: Vec<f64> = parts.iter().map(of).collect();
        student_quantile(LEVEL, n - 1.0) * libm::sqrt((n - 1.0) / n * products(&all, &all))
    };
    let half_slope = half(|fit| fit.slope);
    Some(Elasticity {
        slope: whole.slope,
        low: whole.slope - half_slope,
        high: whole.slope + half_slope,
        removed_share: -libm::expm1(whole.widening),
        removed_share_high: -libm::expm1(whole.widening - half(|fit| fit.widening)),
    })
}

#[derive(Debug, Clone, Copy)]
struct Trial {
    case: usize,
    /// Where in the run it stands, 0 to 1.
    place: f64,
    value: f64,
    before: f64,
    after: f64,
    level: f64,
}

impl Trial {
    fn is_finite(&self) -> bool {
        [self.value, self.before, self.after, self.level].iter().all(|number| number.is_finite())
    }
}

fn trials(number: usize, case: &[Point]) -> impl Iterator<Item = Trial> {
    let steady = undisturbed(&case.iter().map(|point| point.readings).collect::<Vec<_>>());
    case.iter().enumerate().zip(steady).filter(|(_, is_steady)| *is_steady).map(
        move |((i, point), _)| Trial {
            case: number,
            place: i as f64 / case.len() as f64,
            value: point.value,
            before: point.readings.before,
            after: point.readings.after,
            level: point.level,
        },
    )
}

/// One fit of the slope.
#[derive(Debug)]
struct Fit {
    slope: f64,
    /// Logarithm of the variance within cases after dividing over that before.
    widening: f64,
    /// Sums of squares and products of the readings before and after.
    before: f64,
    after: f64,
    both: f64,
    /// That of the squares of the levels to be divided by.
    level: f64,
    trials: f64,
}

/// Fits repeated with the weights of the one before.
const REWEIGHTINGS: usize = 4;

impl Fit {
    /// Fits all trials but those of one block of so many.
    fn of(trials: &[Trial], cases: usize, without: Option<(usize, usize)>) -> Option<Self> {
        let is_kept = |trial: &&Trial| {
            without.is_none_or(|(block, of)| (trial.place * of as f64) as usize != block)
        };
        let kept: Vec<Trial> = trials.iter().filter(is_kept).copied().collect();
        let mut weights = vec![1.0; kept.len()];
        let mut fit = None;
        for _ in 0..REWEIGHTINGS {
            let centred = centre(&kept, cases, &weights);
            let found = Self::weighted(&centred, &weights)?;
            let rest: Vec<f64> = centred
                .iter()
                .map(|t| (t.value - found.slope * f64::midpoint(t.before, t.after)).abs())
                .collect();
            let limit = (OUTLYING * MAD_TO_SD * median(&rest)?).max(EXACT);
            for (weight, rest) in weights.iter_mut().zip(&rest) {
                *weight = if *rest > limit { limit / rest } else { 1.0 };
            }
            fit = Some(found);
        }
        fit
    }

    fn weighted(centred: &[Trial], weights: &[f64]) -> Option<Self> {
        let sum = |of: fn(&Trial) -> f64| {
            centred.iter().zip(weights).map(|(trial, weight)| weight * of(trial)).sum::<f64>()
        };
        let both = sum(|t| t.before * t.after);
        let of_values = sum(|t| t.value * t.value);
        let of_rest = sum(|t| (t.value - t.level) * (t.value - t.level));
        (both > 0.0 && of_values > 0.0).then(|| Self {
            slope: sum(|t| t.value * f64::midpoint(t.before, t.after)) / both,
            widening: libm::log((of_rest / of_values).max(1e-9)),
            level: sum(|t| t.level * t.level),
            before: sum(|t| t.before * t.before),
            after: sum(|t| t.after * t.after),
            both,
            trials: weights.iter().sum(),
        })
    }

    /// Whether the level varies enough to say how it is followed, or what would be divided by
    /// does: then dividing may widen.
    fn is_strong(&self) -> bool {
        let correlation = self.both / libm::sqrt(self.before * self.after);
        let varies = |squares: f64| libm::sqrt(squares / self.trials) >= VARIATION_MIN;
        varies(self.level)
            || varies(self.both)
                && correlation >= CORRELATION_MIN.max(2.0 / libm::sqrt(self.trials))
    }
}

/// The trials less the weighted mean of their case.
fn centre(trials: &[Trial], cases: usize, weights: &[f64]) -> Vec<Trial> {
    let mut sums = vec![[0.0; 5]; cases];
    for (trial, weight) in trials.iter().zip(weights) {
        let terms = [1.0, trial.value, trial.before, trial.after, trial.level];
        for (sum, term) in sums[trial.case].iter_mut().zip(terms) {
            *sum += weight * term;
        }
    }
    let less_mean = |trial: &Trial| {
        let [n, value, before, after, level] = sums[trial.case];
        Trial {
            value: trial.value - value / n,
            before: trial.before - before / n,
            after: trial.after - after / n,
            level: trial.level - level / n,
            ..*trial
        }
    };
    trials.iter().map(less_mean).collect()
}

/// The trials of a case, from a series of each.
#[cfg(test)]
pub(crate) fn points(values: &[f64], readings: &[Readings], levels: &[f64]) -> Vec<Point> {
    let all = values.iter().zip(readings).zip(levels);
    let point = |((value, readings), level): ((&f64, &Readings), &f64)| Point {
        value: *value,
        readings: *readings,
        level: *level,
    };
    all.map(point).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lies_far_off_weighs_less() {
        // At either level four trials are 0.1 off the line and two are 10.
        let trials: Vec<Trial> = [-2.0, 2.0]
            .into_iter()
            .flat_map(|x| [0.1, -0.1, 0.1, -0.1, 10.0, -10.0].map(|rest| (x, x + rest)))
            .map(|(x, value)| Trial { case: 0, place: 0.0, value, before: x, after: x, level: x })
            .collect();
        let fit = Fit::of(&trials, 1, None).unwrap();
        assert!((fit.slope - 1.0).abs() < 1e-12, "{fit:?}");
        assert!((fit.trials - 8.0 - 4.0 * 2.5 * 1.4826 * 0.1 / 10.0).abs() < 1e-12, "{fit:?}");
    }

    /// Forty rounds of which each four follow their level with a slope of their own.
    fn followed(change: impl Fn(&mut [f64], &mut [f64])) -> [Option<Elasticity>; 2] {
        let level = |i: usize| if i.is_multiple_of(2) { 0.3 } else { -0.3 };
        let slope = |i: usize| 1.0 + 0.1 * ((i / 4) as f64 - 4.5);
        let mut levels: Vec<f64> = (0..40).map(level).collect();
        let mut values: Vec<f64> = (0..40).map(|i| slope(i) * level(i)).collect();
        let readings: Vec<Readings> =
            levels.iter().map(|level| Readings { before: *level, after: *level }).collect();
        change(&mut values, &mut levels);
        [40, 17].map(|n| elasticity(&[&points(&values[..n], &readings, &levels)]))
    }

    #[test]
    fn the_interval_is_that_of_the_blocks_mean() {
        let [of, few] = followed(|_, _| ());
        let of = of.unwrap();
        // Student's t of nine degrees and the standard error of ten slopes.
        let half = student_quantile(LEVEL, 9.0) * 0.1 * libm::sqrt(82.5 / 9.0 / 10.0);
        assert!((of.slope - 1.0).abs() < 1e-12 && (of.low - 1.0 + half).abs() < 1e-12, "{of:?}");
        assert!((of.high - 1.0 - half).abs() < 1e-12, "{of:?}");
        assert!((of.removed_share - 1.0 / 1.0825).abs() < 1e-12, "{of:?}");
        assert_eq!(few, None, "too few trials");
        assert_eq!(followed(|_, levels| levels[3] = f64::NAN)[0], None);
        assert_eq!(followed(|values, _| values[3] = f64::NAN)[0], None);
    }
}
