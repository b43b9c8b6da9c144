//! The distance of two CPUs that moved during a run: a guest's virtual CPUs change their places, and
//! a cache line between them takes another time from then on.

use hopcost_stats::sample::{Sample, median};
use hopcost_stats::yardstick::{Readings, is_other_pair};

/// The two distances between which a pair of CPUs moved.
#[derive(Debug, Clone, PartialEq)]
pub struct Distances {
    /// Logarithms of what a cache line took at each, the nearer first.
    pub levels: [f64; 2],
    /// Which of them held before and after each trial; `None` where it changed, or neither did.
    pub held: Vec<Option<usize>>,
}

/// The least share of the readings at each distance.
const SHARE_MIN: f64 = 0.1;
/// The least share of the readings near one distance or the other: of a scatter, no distance is known.
const NEAR_MIN: f64 = 0.8;
/// How near, as a share of the way between the two.
const NEAR: f64 = 1.0 / 3.0;

/// The distances in readings of a cache line, a trial each; `None` where there are not two.
pub fn distances(readings: &[Readings]) -> Option<Distances> {
    let all = Sample::new(readings.iter().flat_map(|r| [r.before, r.after]).collect())?;
    let (nearer, farther) = all.values().split_at(border(all.values()));
    let levels = [median(nearer)?, median(farther)?];
    let reach = NEAR * (levels[1] - levels[0]);
    let at = |reading: f64| levels.iter().position(|level| (reading - level).abs() < reach);
    let counts = [0, 1].map(|level| all.values().iter().filter(|r| at(**r) == Some(level)).count());
    let share = |count: usize| count as f64 / all.len() as f64;
    let are_two = is_other_pair(libm::exp(levels[1]), libm::exp(levels[0]))
        && counts.iter().all(|count| share(*count) >= SHARE_MIN)
        && share(counts.iter().sum()) >= NEAR_MIN;
    let held = |r: &Readings| at(r.before).filter(|before| at(r.after) == Some(*before));
    are_two.then(|| Distances { levels, held: readings.iter().map(held).collect() })
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

    /// Readings of a pair that is so far apart in each trial, with an error of 3 %.
    fn read(distance_ns: impl Fn(usize) -> (f64, f64)) -> Vec<Readings> {
        let mut rng = Rng::new(7);
        let mut noisy = |ns: f64| libm::log(ns) + 0.03 * rng.normal();
        let mut of = |(before, after)| Readings { before: noisy(before), after: noisy(after) };
        (0..60).map(|trial| of(distance_ns(trial))).collect()
    }

    #[test]
    fn a_pair_that_moves_has_both_distances_within_3_percent() {
        for (near, far) in [(55.0, 110.0), (41.0, 300.0), (300.0, 480.0)] {
            let found = distances(&read(|trial| match trial % 10 {
                0..6 => (near, near),
                6 => (near, far),
                _ => (far, far),
            }));
            let found = found.unwrap();
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
    fn one_distance_a_few_outliers_and_a_scatter_are_not_two() {
        let one = |ns: f64| (ns, ns);
        assert_eq!(distances(&read(|_| one(100.0))), None);
        assert_eq!(distances(&read(|trial| one(if trial % 3 == 0 { 130.0 } else { 100.0 }))), None);
        assert_eq!(distances(&read(|trial| one(if trial < 4 { 900.0 } else { 100.0 }))), None);
        assert_eq!(distances(&read(|trial| one(50.0 + 10.0 * trial as f64))), None, "a scatter");
        assert_eq!(distances(&[]), None);
    }
}
