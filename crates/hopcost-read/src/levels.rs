//! Two levels between which the readings of a yardstick changed during a run: the distances of two CPUs
//! of a guest that change their places, or the speeds of a CPU whose core another guest uses at times.

use hopcost_stats::sample::{Sample, median};
use hopcost_stats::yardstick::Readings;

/// Two levels of a yardstick.
#[derive(Debug, Clone, PartialEq)]
pub struct TwoLevels {
    /// Logarithms of what it took at each, the lower first.
    pub levels: [f64; 2],
    /// Which of them held before and after each trial; `None` where it changed, or neither did.
    pub held: Vec<Option<usize>>,
}

/// The least share of the readings at each level.
const SHARE_MIN: f64 = 0.1;
/// The least share of the readings near one level or the other: a scatter has none.
const NEAR_MIN: f64 = 0.8;
/// How near, as a share of the way between the two.
const NEAR: f64 = 1.0 / 3.0;

/// The two levels in readings, a trial each, where they are this factor apart; `None` where there are
/// not two.
pub fn two_levels(readings: &[Readings], apart: f64) -> Option<TwoLevels> {
    let all = Sample::new(readings.iter().flat_map(|r| [r.before, r.after]).collect())?;
    let (lower, upper) = all.values().split_at(border(all.values()));
    let levels = [median(lower)?, median(upper)?];
    let reach = NEAR * (levels[1] - levels[0]);
    let at = |reading: f64| levels.iter().position(|level| (reading - level).abs() < reach);
    let counts = [0, 1].map(|level| all.values().iter().filter(|r| at(**r) == Some(level)).count());
    let share = |count: usize| count as f64 / all.len() as f64;
    let are_two = levels[1] - levels[0] > libm::log(apart)
        && counts.iter().all(|count| share(*count) >= SHARE_MIN)
        && share(counts.iter().sum()) >= NEAR_MIN;
    let held = |r: &Readings| at(r.before).filter(|before| at(r.after) == Some(*before));
    are_two.then(|| TwoLevels { levels, held: readings.iter().map(held).collect() })
}

impl TwoLevels {
    /// How many trials were at each, and during how many it changed.
    pub fn trials(&self) -> [usize; 3] {
        let of = |level| self.held.iter().filter(|held| **held == level).count();
        [Some(0), Some(1), None].map(of)
    }
}

/// Where sorted values part into two groups with the least squares about their means (Otsu).
fn border(sorted: &[f64]) -> usize {
    let (n, total) = (sorted.len() as f64, sorted.iter().sum::<f64>());
    let mut below = 0.0;
    let mut best = (0.0, 0);
    for (at, value) in (1..sorted.len()).zip(sorted) {
        below += value;
        let left = at as f64;
        let between = below / left - (total - below) / (n - left);
        let parted = left * (n - left) * between * between;
        if parted > best.0 {
            best = (parted, at);
        }
    }
    best.1
}

#[cfg(test)]
mod tests {
    use hopcost_stats::rng::Rng;

    use super::*;

    /// The least factor between two levels of these readings of each trial, with an error of 3 %.
    fn found(apart: f64, level_ns: impl Fn(usize) -> (f64, f64)) -> Option<TwoLevels> {
        let mut rng = Rng::new(7);
        let mut noisy = |ns: f64| libm::log(ns) + 0.03 * rng.normal();
        let mut of = |(before, after)| Readings { before: noisy(before), after: noisy(after) };
        two_levels(&(0..60).map(|trial| of(level_ns(trial))).collect::<Vec<_>>(), apart)
    }

    #[test]
    fn what_changes_between_two_levels_has_both_within_3_percent() {
        for (near, far) in [(55.0, 110.0), (41.0, 300.0), (300.0, 480.0), (2500.0, 3700.0)] {
            let found = found(1.2, |trial| match trial % 10 {
                0..6 => (near, near),
                6 => (near, far),
                _ => (far, far),
            });
            let found = found.unwrap();
            assert_eq!(found.trials(), [36, 18, 6]);
            for (level, known) in found.levels.iter().zip([near, far]) {
                assert!((libm::exp(*level) / known - 1.0).abs() < 0.03, "{level} {known}");
            }
            for (trial, held) in found.held.iter().enumerate() {
                let known = [Some(0), None, Some(1)][(trial % 10).clamp(5, 7) - 5];
                assert_eq!(*held, known, "trial {trial} of {near} and {far}");
            }
        }
    }

    #[test]
    fn one_level_a_few_outliers_a_drift_and_a_scatter_are_not_two() {
        let one = |apart: f64, ns: &dyn Fn(usize) -> f64| {
            assert_eq!(found(apart, |trial| (ns(trial), ns(trial))), None, "{} ns", ns(3));
        };
        one(1.2, &|_| 100.0);
        one(1.5, &|trial| if trial % 3 == 0 { 130.0 } else { 100.0 });
        one(1.2, &|trial| if trial < 4 { 900.0 } else { 100.0 });
        one(1.2, &|trial| if trial < 5 { 60.0 } else { 100.0 });
        one(1.2, &|trial| 100.0 + 0.4 * trial as f64);
        one(1.2, &|trial| 50.0 + 10.0 * trial as f64);
        assert_eq!(two_levels(&[], 1.2), None);
    }

    /// The level of the host beside each of sixty trials, as a logarithm.
    type Host = fn(&mut Rng) -> Vec<f64>;

    #[test]
    fn simulated_hosts_have_two_levels_where_they_have_two_speeds() {
        let hosts: [(&str, Host, bool); 2] = [
            ("wandering", |rng| wandering(rng, 0.7), false),
            // It stays in a state for three trials.
            ("two speeds", |rng| changing(rng, 3), true),
        ];
        for (name, host, has_two) in hosts {
            let mut rng = Rng::new(11);
            let mut run = || {
                let levels = host(&mut rng);
                let mut read = |level: f64| {
                    let disturbed = if rng.below(50) == 0 { 0.5 } else { 0.0 };
                    level + 0.05 * rng.normal() + disturbed
                };
                let of = |level: &f64| Readings { before: read(*level), after: read(*level) };
                two_levels(&levels.iter().map(of).collect::<Vec<_>>(), 1.2)
            };
            let found: Vec<TwoLevels> = (0..200).filter_map(|_| run()).collect();
            let expected = if has_two { 190..=200 } else { 0..=1 };
            assert!(expected.contains(&found.len()), "{name}: {} of 200", found.len());
            let near =
                |of: &TwoLevels| of.levels[0].abs() < 0.04 && (of.levels[1] - 0.4).abs() < 0.04;
            assert!(!has_two || found.iter().all(near), "{name}");
        }
    }

    fn wandering(rng: &mut Rng, kept: f64) -> Vec<f64> {
        let mut level = 0.1 * rng.normal();
        let mut next = || {
            level = kept * level + 0.1 * libm::sqrt(1.0 - kept * kept) * rng.normal();
            level
        };
        (0..60).map(|_| next()).collect()
    }

    fn changing(rng: &mut Rng, stays: u64) -> Vec<f64> {
        let mut level = 0.0;
        let mut next = || {
            if rng.below(stays) == 0 {
                level = 0.4 - level;
            }
            level
        };
        (0..60).map(|_| next()).collect()
    }
}
