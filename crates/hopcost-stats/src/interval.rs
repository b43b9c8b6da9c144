//! Intervals for a median, or another quantile, from the values of a handful of
//! trials: order statistics, so exact whatever the distribution.
//!
//! Of `k` independent values, how many lie below the true quantile `q` is
//! binomial, Bin(k, q). The interval from the `l`-th to the `u`-th smallest value
//! misses the truth below when at most `l − 1` values lie below it, and above
//! when at least `u` do. `l` is the largest, `u` the smallest rank for which
//! either happens with probability at most (1 − level)/2; the coverage that
//! results is known exactly and is reported with the interval. For a median at
//! 95 % there is none below six values.

use crate::sample::Sample;

/// Ranks (from 1) of an interval, with its exact coverage.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ranks {
    /// Rank of the lower end.
    pub low: usize,
    /// Rank of the upper end.
    pub high: usize,
    /// Probability that the interval covers the true quantile, for a continuous
    /// distribution; with ties it covers at least as often.
    pub coverage: f64,
}

/// An interval with the ranks behind it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// Lower end: the value at rank `ranks.low`.
    pub low: f64,
    /// Upper end: the value at rank `ranks.high`.
    pub high: f64,
    /// Its ranks and exact coverage.
    pub ranks: Ranks,
}

/// P(Bin(n, q) ≤ 0), …, P(Bin(n, q) ≤ n): `n + 1` cumulative probabilities.
///
/// # Panics
/// If `q` is not strictly between 0 and 1.
pub fn binomial_cdf(n: usize, q: f64) -> Vec<f64> {
    assert!(q > 0.0 && q < 1.0, "the quantile {q} is not strictly between 0 and 1");
    if q == 0.5 && n <= 1000 {
        return coin_cdf(n);
    }
    let (log_q, log_p) = (libm::log(q), libm::log1p(-q));
    let log_n = libm::lgamma(n as f64 + 1.0);
    let mut sum = 0.0;
    (0..=n)
        .map(|j| {
            let (j, rest) = (j as f64, (n - j) as f64);
            let log_pmf =
                log_n - libm::lgamma(j + 1.0) - libm::lgamma(rest + 1.0) + j * log_q + rest * log_p;
            sum += libm::exp(log_pmf);
            f64::min(sum, 1.0)
        })
        .collect()
}

/// The same for q = 1/2, whose terms need no logarithm: exact while they fit.
fn coin_cdf(n: usize) -> Vec<f64> {
    let mut term = (0..n).fold(1.0, |power, _| power / 2.0);
    let mut sum = 0.0;
    (0..=n)
        .map(|j| {
            sum += term;
            term = term * (n - j) as f64 / (j + 1) as f64;
            f64::min(sum, 1.0)
        })
        .collect()
}

/// The ranks of the interval for the quantile `q` from `k` values at the nominal
/// `level`; `None` where no such interval exists.
pub fn ranks(k: usize, q: f64, level: f64) -> Option<Ranks> {
    if !(q > 0.0 && q < 1.0) {
        return None;
    }
    // The slack forgives rounding where a tail is exactly (1 − level)/2.
    let tail = (1.0 - level) / 2.0 + 1e-12;
    let cdf = binomial_cdf(k, q);
    // Largest l with P(Bin ≤ l − 1) ≤ tail.
    let low = cdf.iter().take_while(|p| **p <= tail).count();
    // Smallest u with P(Bin ≥ u) = 1 − P(Bin ≤ u − 1) ≤ tail.
    let high = 1 + cdf.iter().position(|p| 1.0 - *p <= tail)?;
    if low == 0 || high > k {
        return None;
    }
    Some(Ranks { low, high, coverage: cdf[high - 1] - cdf[low - 1] })
}

/// The interval for the quantile `q` of what the sample was drawn from.
pub fn quantile_interval(sample: &Sample, q: f64, level: f64) -> Option<Interval> {
    let ranks = ranks(sample.len(), q, level)?;
    let values = sample.values();
    Some(Interval { low: values[ranks.low - 1], high: values[ranks.high - 1], ranks })
}

/// The interval for the median.
pub fn median_interval(sample: &Sample, level: f64) -> Option<Interval> {
    quantile_interval(sample, 0.5, level)
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
            (7, 1, 7, 0.984_375),
            (8, 1, 8, 0.992_187_5),
            (9, 2, 8, 0.960_937_5),
            (12, 3, 10, 0.961_425_781_25),
            (20, 6, 15, 0.958_610_534_667_968_8),
            (30, 10, 21, 0.957_226_1),
        ] {
            let got = ranks(k, 0.5, LEVEL).unwrap();
            assert_eq!((got.low, got.high), (low, high), "k = {k}");
            assert!((got.coverage - coverage).abs() < 1e-7, "k = {k}: {}", got.coverage);
        }
    }

    #[test]
    fn no_interval_from_too_few() {
        // The least counts of a two-sided 95 % interval, of p50, p90, p99 and p99.9.
        for (q, least) in [(0.5, 6), (0.9, 36), (0.99, 368), (0.999, 3688)] {
            assert_eq!(ranks(least - 1, q, LEVEL), None, "{q}");
            assert!(ranks(least, q, LEVEL).is_some(), "{q}");
        }
        for (k, q) in [(0, 0.5), (1, 0.5), (10, 0.0), (10, 1.0), (10, f64::NAN)] {
            assert_eq!(ranks(k, q, LEVEL), None, "{k} {q}");
        }
        // A tail of exactly 1/64 on either side.
        assert!(ranks(6, 0.5, 1.0 - 2.0 / 64.0).is_some());
    }

    #[test]
    fn the_binomial_agrees_with_statrs() {
        for (n, q) in [
            (1, 0.5),
            (6, 0.5),
            (30, 0.5),
            (1000, 0.5),
            (1001, 0.5),
            (37, 0.9),
            (400, 0.99),
            (5_000, 0.3),
        ] {
            let oracle = Binomial::new(q, n as u64).unwrap();
            for (j, p) in binomial_cdf(n, q).into_iter().enumerate() {
                assert!((p - oracle.cdf(j as u64)).abs() < 1e-9, "n {n} q {q} j {j}");
            }
        }
    }

    proptest! {
        #[test]
        fn ranks_are_the_tightest_that_keep_each_tail(k in 1usize..400, q in 0.02..0.98f64) {
            let oracle = Binomial::new(q, k as u64).unwrap();
            if let Some(r) = ranks(k, q, LEVEL) {
                prop_assert!(r.coverage >= LEVEL - 1e-9);
                prop_assert!(oracle.cdf(r.low as u64 - 1) <= 0.025 + 1e-9);
                prop_assert!(oracle.cdf(r.low as u64) > 0.025 - 1e-9);
                prop_assert!(1.0 - oracle.cdf(r.high as u64 - 1) <= 0.025 + 1e-9);
                prop_assert!(1.0 - oracle.cdf(r.high as u64 - 2) > 0.025 - 1e-9);
            }
        }
    }
}
