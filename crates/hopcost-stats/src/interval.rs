//! The interval for a median from the values of a handful of trials: order statistics, so exact
//! whatever the distribution.
//!
//! Of `k` independent values, how many lie below the true median is binomial, Bin(k, 1/2). The
//! interval from the `l`-th to the `u`-th smallest value misses the truth below when at most `l − 1`
//! values lie below it, and above when at least `u` do. `l` is the largest, `u` the smallest rank
//! for which either happens with probability at most (1 − level)/2. The coverage that results is
//! known exactly and is reported with the interval. At 95 % there is none below six values.

use crate::sample::Sample;

/// Ranks (from 1) of an interval, with its exact coverage.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ranks {
    /// Rank of the lower end.
    pub low: usize,
    /// Rank of the upper end.
    pub high: usize,
    /// Probability that the interval covers the true median, for a continuous distribution; with
    /// ties it covers at least as often.
    pub coverage: f64,
}

/// Up to this many values, a power of two of them is a number.
const EXACT_MAX: usize = 1000;

/// P(Bin(n, 1/2) ≤ 0), …, P(Bin(n, 1/2) ≤ n): `n + 1` cumulative probabilities.
fn coin_cdf(n: usize) -> Vec<f64> {
    let log_factorial = |j: usize| libm::lgamma(j as f64 + 1.0);
    let log_term = |j: usize| {
        let log_power = n as f64 * core::f64::consts::LN_2;
        log_factorial(n) - log_factorial(j) - log_factorial(n - j) - log_power
    };
    let mut term = (0..n).fold(1.0, |power, _| power / 2.0);
    let mut sum = 0.0;
    (0..=n)
        .map(|j| {
            sum += if n <= EXACT_MAX { term } else { libm::exp(log_term(j)) };
            term = term * (n - j) as f64 / (j + 1) as f64;
            f64::min(sum, 1.0)
        })
        .collect()
}

/// The ranks of the interval for the median from `k` values at the nominal `level`; `None` where no
/// such interval exists.
pub fn ranks(k: usize, level: f64) -> Option<Ranks> {
    // The slack forgives rounding where a tail is exactly (1 − level)/2.
    let tail = (1.0 - level) / 2.0 + 1e-12;
    let cdf = coin_cdf(k);
    // Largest l with P(Bin ≤ l − 1) ≤ tail.
    let low = cdf.iter().take_while(|p| **p <= tail).count();
    // Smallest u with P(Bin ≥ u) = 1 − P(Bin ≤ u − 1) ≤ tail.
    let high = 1 + cdf.iter().position(|p| 1.0 - *p <= tail)?;
    if low == 0 || high > k {
        return None;
    }
    Some(Ranks { low, high, coverage: cdf[high - 1] - cdf[low - 1] })
}

/// The ends of the interval for the median, and its coverage.
pub fn median_interval(sample: &Sample, level: f64) -> Option<((f64, f64), f64)> {
    let ranks = ranks(sample.len(), level)?;
    let at = |rank: usize| sample.values()[rank - 1];
    Some(((at(ranks.low), at(ranks.high)), ranks.coverage))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::LEVEL;
    use proptest::prelude::*;
    use statrs::distribution::{Binomial, DiscreteCDF};

    #[test]
    fn published_ranks_of_the_median() {
        for (k, low, high, coverage) in [
            (6, 1, 6, 0.968_75),
            (8, 1, 8, 0.992_187_5),
            (9, 2, 8, 0.960_937_5),
            (20, 6, 15, 0.958_610_534_667_968_8),
            (30, 10, 21, 0.957_226_1),
        ] {
            let got = ranks(k, LEVEL).unwrap();
            assert_eq!((got.low, got.high), (low, high), "k = {k}");
            assert!((got.coverage - coverage).abs() < 1e-7, "k = {k}: {}", got.coverage);
        }
        assert_eq!([0, 1, 5].map(|k| ranks(k, LEVEL)), [None; 3]);
        // A tail of exactly 1/64 on either side.
        assert!(ranks(6, 1.0 - 2.0 / 64.0).is_some());
        let sample = Sample::new((1..=9).map(f64::from).collect()).unwrap();
        assert_eq!(median_interval(&sample, LEVEL), Some(((2.0, 8.0), 0.960_937_5)));
    }

    proptest! {
        #[test]
        fn ranks_are_the_tightest_that_keep_each_tail(k in 6usize..1400) {
            let oracle = Binomial::new(0.5, k as u64).unwrap();
            let r = ranks(k, LEVEL).unwrap();
            prop_assert!(r.coverage >= LEVEL - 1e-9);
            prop_assert!(oracle.cdf(r.low as u64 - 1) <= 0.025 + 1e-9);
            prop_assert!(oracle.cdf(r.low as u64) > 0.025 - 1e-9);
            prop_assert!(1.0 - oracle.cdf(r.high as u64 - 1) <= 0.025 + 1e-9);
            prop_assert!(1.0 - oracle.cdf(r.high as u64 - 2) > 0.025 - 1e-9);
        }
    }
}
