//! Which of several cases differ, all pairs judged at once.
//!
//! A pair is judged by the logarithms of its ratios, paired by round, at a level that
//! Bonferroni's inequality divides among all pairs: with 95 %, no pair of equals is told
//! apart anywhere in the ranking, however many are compared.

use crate::next_run::{Autocorrelation, TRIALS_MIN, WINSORISED_OF};
use crate::sample::{Sample, trimmed_mean, winsorised};
use crate::tail::student_quantile;

/// How one item of a ranking stands to those before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Not told apart from any other of its group; the first of all begins one.
    Tied,
    /// Told apart from every one of the group before.
    Apart,
    /// Told apart from some of the group before, not from all.
    Between,
}

/// Whether the centre of these log ratios is not zero, as one of so many `pairs`: after Yuen's
/// test of a trimmed mean (Biometrika 61, 1974), which few wild rounds do not blind, with
/// an error that allows for rounds that depend on each other.
pub fn differs(log_ratios: &[f64], pairs: usize, dependence: Autocorrelation, level: f64) -> bool {
    let n = log_ratios.len();
    if n < TRIALS_MIN {
        return false;
    }
    let cut = n.div_ceil(WINSORISED_OF);
    let kept = n - 2 * cut;
    let drawn_in = Sample::new(winsorised(log_ratios, cut));
    let Some(scale) = drawn_in.ok().and_then(|sample| sample.stdev()) else { return false };
    let Some(centre) = trimmed_mean(log_ratios, (cut as f64 + 0.5) / n as f64) else {
        return false;
    };
    let error = scale * libm::sqrt(n as f64 * dependence.inflation(n)) / kept as f64;
    let within = 1.0 - (1.0 - level) / pairs.max(1) as f64;
    let freedom = dependence.freedom(n) - 2.0 * cut as f64;
    centre.abs() > student_quantile(within, freedom.max(1.0)) * error
}

/// The steps of a ranking whose items are in order, best first: `apart(i, j)` says whether
/// two of them differ. A group is as large as can be while no two of it differ.
pub fn steps(items: usize, apart: impl Fn(usize, usize) -> bool) -> Vec<Step> {
    let mut starts = vec![0];
    for item in 1..items {
        let start = *starts.last().unwrap_or(&0);
        if (start..item).any(|before| apart(before, item)) {
            starts.push(item);
        }
    }
    let mut found = vec![Step::Tied; items];
    for (group, &start) in starts.iter().enumerate().skip(1) {
        let end = starts.get(group + 1).copied().unwrap_or(items);
        let before = starts[group - 1]..start;
        let all = before.into_iter().all(|left| (start..end).all(|right| apart(left, right)));
        found[start] = if all { Step::Apart } else { Step::Between };
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::LEVEL;
    use crate::rng::Rng;

    #[test]
    fn equals_are_rarely_told_apart_among_many() {
        let (mut rng, items, pairs) = (Rng::new(5), 8, 28);
        let mut wrong = 0;
        for _ in 0..1000 {
            let values: Vec<Vec<f64>> =
                (0..items).map(|_| (0..9).map(|_| 0.05 * rng.normal()).collect()).collect();
            let apart = |a: usize, b: usize| {
                let ratios: Vec<f64> =
                    values[a].iter().zip(&values[b]).map(|(a, b)| a - b).collect();
                differs(&ratios, pairs, Autocorrelation::NONE, LEVEL)
            };
            wrong += usize::from((0..items).any(|a| (0..a).any(|b| apart(a, b))));
        }
        assert!(wrong <= 65, "{wrong} of 1000 rankings of equals told two apart");
    }

    #[test]
    fn a_real_difference_is_found_and_few_rounds_find_none() {
        let ratios = |n: usize| -> Vec<f64> {
            let mut rng = Rng::new(3);
            (0..n).map(|_| 0.3 + 0.02 * rng.normal()).collect()
        };
        assert!(differs(&ratios(9), 100, Autocorrelation::NONE, LEVEL));
        assert!(!differs(&ratios(5), 1, Autocorrelation::NONE, LEVEL));
        assert!(differs(&[0.1; 6], 100, Autocorrelation::NONE, LEVEL));
        assert!(!differs(&[0.0; 6], 1, Autocorrelation::NONE, LEVEL));
    }

    #[test]
    fn two_differ_from_the_tabulated_limit_on() {
        // Of ten, one is drawn in to the next, which is as far: sum of squares 60, so an error of
        // √(60/9) · √10 / 8 with seven degrees of freedom.
        let error = libm::sqrt(60.0 / 9.0) * libm::sqrt(10.0) / 8.0;
        let ratios = |centre: f64| {
            [-4.0, -3.0, -2.0, -1.0, 0.0, 0.0, 1.0, 2.0, 3.0, 4.0].map(|off: f64| centre + off)
        };
        // Five degrees of freedom of the ten, so three, if neighbours are alike by a half.
        let half = Autocorrelation { lag1: 0.5, decay: 0.5 };
        let wider = libm::sqrt(half.inflation(10));
        for (pairs, dependence, t) in [
            (1, Autocorrelation::NONE, 2.3646),
            (10, Autocorrelation::NONE, 4.0293),
            (1, half, student_quantile(0.95, 3.0) * wider),
        ] {
            for (centre, is_apart) in [(1.001, true), (0.999, false), (-1.001, true)] {
                let ratios = ratios(centre * t * error);
                assert_eq!(differs(&ratios, pairs, dependence, 0.95), is_apart, "{t} {centre}");
            }
        }
    }

    #[test]
    fn two_of_twenty_are_cut_and_drawn_in_at_either_end() {
        // What is left is seven of −1 and nine of 1; drawn in to 3 a sum of squares of 34.2, so an error
        // of √(34.2/19) · √20 / 16, which Student's t of fifteen degrees, 2.1314, makes 0.7993.
        let ratios = |centre: f64| [[centre - 1.0; 9], [centre + 1.0; 9]].concat();
        for (centre, is_apart) in [(0.675, true), (0.674, false)] {
            let ratios = [ratios(centre), vec![centre + 50.0, centre + 60.0]].concat();
            assert_eq!(differs(&ratios, 1, Autocorrelation::NONE, 0.95), is_apart, "{centre}");
        }
    }

    #[test]
    fn ties_need_not_be_transitive() {
        let far = |a: usize, b: usize| a.abs_diff(b) > 1;
        // 0 = 1, 1 = 2, but not 0 = 2.
        assert_eq!(steps(3, far), [Step::Tied, Step::Tied, Step::Between]);
        assert_eq!(steps(3, |_, _| true), [Step::Tied, Step::Apart, Step::Apart]);
        assert_eq!(steps(3, |_, _| false), [Step::Tied; 3]);
        assert_eq!(steps(1, |_, _| true), [Step::Tied]);
        assert_eq!(steps(0, |_, _| true), []);
    }
}
