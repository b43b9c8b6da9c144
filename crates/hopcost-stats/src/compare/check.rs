//! A check for regressions: how many runs can fail a case at all.
//!
//! One comparison fails nothing: what looks slower is measured again, and has to be slower there too.

use super::log_ratio::orders;
use super::{ERROR, RUNS_MAX, RUNS_MIN};

/// Cases of one check at most: each takes a share of the error from the others.
pub const CASES_MAX: usize = 8;

/// The least two-sided p that so many runs can give one of so many cases, adjusted as Holm does for the
/// first of them: all runs of a side lie on one side of the others.
fn smallest_p(baseline: u32, new: u32, cases: usize) -> f64 {
    (2.0 * cases as f64 / orders(baseline, new)).min(1.0)
}

/// The new runs from which a check can fail one of so many cases; `None` where the baseline has too
/// few runs for any number.
pub fn least_new_runs(baseline: u32, cases: usize) -> Option<u32> {
    let enough = |new: &u32| smallest_p(baseline, *new, cases) <= 2.0 * ERROR;
    (baseline >= RUNS_MIN as u32).then(|| (RUNS_MIN as u32..=RUNS_MAX as u32).find(enough))?
}

#[cfg(test)]
mod tests {
    use super::super::{LogRatio, Verdict, answers};
    use super::*;
    use crate::rng::Rng;

    #[test]
    fn what_cannot_be_told_is_known_before() {
        // 1 of C(8, 4) = 70, C(9, 4) = 126, C(10, 5) = 252, C(11, 5) = 462 orders.
        assert!((smallest_p(4, 4, 1) - 2.0 / 70.0).abs() < 1e-15);
        assert!((smallest_p(5, 5, 8) - 16.0 / 252.0).abs() < 1e-15);
        assert_eq!([1, 2, 4, 8].map(|cases| least_new_runs(4, cases)), [4, 5, 6, 7].map(Some));
        assert_eq!([1, 6, 7, 8].map(|cases| least_new_runs(5, cases)), [4, 5, 6, 6].map(Some));
        assert_eq!([1, 2, 4, 8].map(|cases| least_new_runs(6, cases)), [4, 4, 4, 5].map(Some));
        assert_eq!([1, 2, 4, 8].map(|cases| least_new_runs(8, cases)), [4; 4].map(Some));
        assert_eq!([0, 1, 3].map(|runs| least_new_runs(runs, 1)), [None; 3]);
    }

    #[test]
    fn the_least_runs_can_tell_and_one_less_cannot() {
        let told = |baseline: u32, new: u32, cases: usize| {
            let side =
                |at: f64, n: u32| (0..n).map(|i| at + 1e-4 * f64::from(i)).collect::<Vec<_>>();
            let slower = LogRatio::of_runs(&side(0.0, baseline), &side(0.5, new)).unwrap();
            // The others are open, so that none leaves its share.
            let open: Vec<f64> = (0..new).map(|i| f64::from(i % 2)).collect();
            let open = LogRatio::of_runs(&side(0.5, baseline), &open).unwrap();
            let all: Vec<&LogRatio> =
                (0..cases).map(|i| if i == 0 { &slower } else { &open }).collect();
            answers(&all, 0.05, ERROR)[0].verdict == Verdict::Slower
        };
        for (baseline, cases) in [(4, 2), (4, 4), (5, 7), (6, 8), (4, 8)] {
            let least = least_new_runs(baseline, cases).unwrap();
            assert!(told(baseline, least, cases), "{baseline} {cases}");
            assert!(!told(baseline, least - 1, cases), "{baseline} {cases}");
        }
    }

    /// A kind of check: runs that spread so far, one in ten of them a fifth slower.
    struct Simulated {
        effect: f64,
        spread: f64,
        baseline: usize,
        new: usize,
        cases: usize,
    }

    /// How many of so many checks looked slower, and how many failed.
    fn simulate(of: &Simulated, checks: u32, seed: u64) -> (u32, u32) {
        let (mut rng, margin) = (Rng::new(seed), libm::log1p(0.05));
        let mut runs = |n: usize, effect: f64| -> Vec<f64> {
            let effect = libm::log1p(effect);
            (0..n)
                .map(|_| {
                    let disturbed = if rng.below(10) == 0 { 0.2 } else { 0.0 };
                    effect + of.spread * rng.normal() + disturbed
                })
                .collect()
        };
        let (mut looked, mut failed) = (0, 0);
        for _ in 0..checks {
            let baselines: Vec<Vec<f64>> = (0..of.cases).map(|_| runs(of.baseline, 0.0)).collect();
            let mut slower = |cases: &[usize]| -> Vec<usize> {
                let new = |case: &usize| {
                    LogRatio::of_runs(&baselines[*case], &runs(of.new, of.effect)).unwrap()
                };
                let ratios: Vec<LogRatio> = cases.iter().map(new).collect();
                let answers = answers(&ratios.iter().collect::<Vec<_>>(), margin, ERROR);
                let told = cases.iter().zip(&answers);
                let slower = told.filter(|(_, answer)| answer.verdict == Verdict::Slower);
                slower.map(|(case, _)| *case).collect()
            };
            let first = slower(&(0..of.cases).collect::<Vec<_>>());
            looked += u32::from(!first.is_empty());
            failed += u32::from(!first.is_empty() && !slower(&first).is_empty());
        }
        let Simulated { effect, spread, baseline, new, cases } = of;
        println!(
            "{cases} cases, {effect:+}, runs spread by {spread}, {baseline} and {new} runs: \
             of {checks} checks {looked} looked slower and {failed} failed"
        );
        (looked, failed)
    }

    #[test]
    fn simulated_checks_of_what_is_as_fast_pass() {
        for spread in [0.01, 0.05, 0.2] {
            let of = Simulated { effect: 0.0, spread, baseline: 5, new: 6, cases: 8 };
            assert_eq!(simulate(&of, 20, 1), (0, 0), "{spread}");
            let (_, failed) = simulate(&of, 2_000, 2);
            assert!(failed <= 20, "{spread}: {failed}");
        }
    }

    #[test]
    fn simulated_confirmations_stop_a_chance_hit() {
        // At the margin itself as many look slower by chance as there can be.
        let of = Simulated { effect: 0.05, spread: 0.05, baseline: 8, new: 8, cases: 1 };
        let (looked, failed) = simulate(&of, 4_000, 3);
        assert!((60..=120).contains(&looked), "{looked}");
        assert!(failed <= 40 && 2 * failed < looked, "{failed} of {looked}");
    }

    #[test]
    fn simulated_checks_of_a_fifth_fail() {
        for (spread, least) in [(0.01, 950), (0.03, 700)] {
            let of = Simulated { effect: 0.2, spread, baseline: 8, new: 8, cases: 4 };
            let (_, failed) = simulate(&of, 1_000, 4);
            assert!(failed >= least, "{spread}: {failed}");
        }
    }
}
