//! One state of the host or two? Splits sentinel readings, one a trial.
//!
//! The threshold is Otsu's on the logarithms: the split that leaves the least
//! variance within the two groups. The split counts as two states only if all of
//! the following hold; otherwise there is one.

use crate::sample::{Sample, rank};

/// The least ratio of the states' medians.
pub const RATIO_MIN: f64 = 1.12;
/// The least share of the readings in a state.
pub const SHARE_MIN: f64 = 0.10;
/// The least number of readings in a state.
pub const COUNT_MIN: usize = 4;
/// The least share of the variance that the split of very many readings explains.
/// (A normal sample cut in the middle reaches 0.64, a uniform one 0.75.)
pub const EXPLAINED_MIN: f64 = 0.70;
/// Over the square root of the number of readings, this much more is asked: the
/// best cut through a few readings explains a lot by accident.
pub const EXPLAINED_MORE: f64 = 0.8;
/// The least gap from the lower state's 90th percentile to the upper one's 10th,
/// as a share of the distance of their medians: an even spread (0.2) is no pair
/// of states, however much variance a cut through it explains.
pub const GAP_MIN: f64 = 0.30;

/// Two states.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TwoStates {
    /// Readings up to here belong to the lower state.
    pub threshold: f64,
    /// Median reading of the lower and of the upper state.
    pub medians: [f64; 2],
    /// Readings in the lower and in the upper state.
    pub counts: [usize; 2],
    /// Share of the variance of the logarithms that the split explains.
    pub explained: f64,
}

impl TwoStates {
    /// The state of a reading: 0 the lower, 1 the upper.
    pub fn of(&self, reading: f64) -> usize {
        usize::from(reading > self.threshold)
    }
}

/// Splits positive readings into two states, or `None` if they show but one.
pub fn split(readings: &[f64]) -> Option<TwoStates> {
    let sample = Sample::new(readings.to_vec()).ok()?;
    if sample.min() <= 0.0 {
        return None;
    }
    let logs: Vec<f64> = sample.values().iter().map(|v| libm::log(*v)).collect();
    let n = logs.len();
    let least = COUNT_MIN.max((SHARE_MIN * n as f64).ceil() as usize);
    let mean = logs.iter().sum::<f64>() / n as f64;
    let variance = logs.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>();
    if variance <= 0.0 || n < 2 * least {
        return None;
    }
    let mut best: Option<(f64, usize)> = None;
    let mut below = 0.0;
    for cut in 1..n {
        below += logs[cut - 1] - mean;
        // A cut between equal readings would tear a tie apart.
        if cut < least || n - cut < least || logs[cut] == logs[cut - 1] {
            continue;
        }
        let between = below * below * n as f64 / (cut as f64 * (n - cut) as f64);
        if best.is_none_or(|(most, _)| between > most) {
            best = Some((between, cut));
        }
    }
    let (between, cut) = best?;
    let explained = between / variance;
    let median = |part: &[f64]| (part[(part.len() - 1) / 2] + part[part.len() / 2]) / 2.0;
    let (lower, upper) = logs.split_at(cut);
    let distance = median(upper) - median(lower);
    let gap = upper[rank(upper.len(), 0.1) - 1] - lower[rank(lower.len(), 0.9) - 1];
    let two = distance >= libm::log(RATIO_MIN)
        && explained >= EXPLAINED_MIN + EXPLAINED_MORE / libm::sqrt(n as f64)
        && gap >= GAP_MIN * distance;
    let values = sample.values();
    two.then(|| TwoStates {
        threshold: (values[cut - 1] + values[cut]) / 2.0,
        medians: [median(&values[..cut]), median(&values[cut..])],
        counts: [cut, n - cut],
        explained,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    fn readings(n: usize, seed: u64, mut one: impl FnMut(&mut Rng) -> f64) -> Vec<f64> {
        let mut rng = Rng::new(seed);
        (0..n).map(|_| one(&mut rng)).collect()
    }

    #[test]
    fn two_states_a_factor_apart_are_found() {
        for seed in 0..50 {
            for n in [24, 120, 600] {
                let values = readings(n, seed, |r| {
                    let at = if r.uniform() < 0.4 { 150.0 } else { 100.0 };
                    at * libm::exp(0.02 * r.normal())
                });
                let Some(two) = split(&values) else { panic!("seed {seed} n {n}: {values:?}") };
                assert!((110.0..140.0).contains(&two.threshold));
                assert!((two.medians[1] / two.medians[0] - 1.5).abs() < 0.06);
                assert_eq!(two.counts[0] + two.counts[1], n);
                assert_eq!((two.of(100.0), two.of(150.0)), (0, 1));
            }
        }
    }

    #[test]
    fn one_state_stays_one() {
        for seed in 0..200 {
            for n in [12, 60, 400] {
                let noise = readings(n, seed, |r| 100.0 * libm::exp(0.10 * r.normal()));
                assert_eq!(split(&noise), None, "normal, seed {seed} n {n}");
                let outliers = readings(n, seed, |r| {
                    100.0 * if r.uniform() < 0.02 { 4.0 } else { libm::exp(0.01 * r.normal()) }
                });
                assert_eq!(split(&outliers), None, "outliers, seed {seed} n {n}");
            }
        }
        let even: Vec<f64> = (0..100).map(|i| 100.0 + 0.5 * f64::from(i)).collect();
        assert_eq!(split(&even), None, "an even drift is no pair of states");
    }

    #[test]
    fn too_close_too_few_or_not_readings() {
        let close = readings(100, 1, |r| if r.uniform() < 0.5 { 100.0 } else { 110.0 });
        assert_eq!(split(&close), None);
        let few = [vec![100.0; 40], vec![200.0; 3]].concat();
        assert_eq!(split(&few), None);
        assert!(split(&[vec![100.0; 20], vec![200.0; 4]].concat()).is_some());
        assert_eq!(split(&[]), None);
        assert_eq!(split(&[vec![0.0; 20], vec![200.0; 20]].concat()), None);
    }
}
