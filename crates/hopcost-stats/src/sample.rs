//! Quantiles of one sample, by rank.
//!
//! The rule: the quantile `q` of `n` values is the smallest value with at least
//! `ceil(q·n)` values at or below it. It is always a value that was seen, and
//! never lies outside the least and the greatest. Nothing is interpolated.

use std::borrow::Borrow;

/// The rank (from 1) of the quantile `q` among `n` values: `ceil(q·n)`, kept
/// within `1..=n`.
///
/// `q·n` is rounded before it is compared: 0.07 × 100 is 7.000000000000001 in
/// binary, and the 7th value is meant.
///
/// # Panics
/// If `n` is 0.
pub fn rank(n: usize, q: f64) -> usize {
    assert!(n > 0, "an empty sample has no quantile");
    let exact = q * n as f64;
    let nearest = exact.round();
    // Far above the rounding error of one product, far below one rank.
    let rank =
        if (exact - nearest).abs() <= 1e-12 * nearest.max(1.0) { nearest } else { exact.ceil() };
    (rank.max(1.0) as usize).min(n)
}

/// The quantile `q` of values that are already sorted; `None` if there are none.
pub fn quantile_sorted<T: Copy>(sorted: &[T], q: f64) -> Option<T> {
    if sorted.is_empty() { None } else { Some(sorted[rank(sorted.len(), q) - 1]) }
}

/// A sample of at least one value, all finite, in ascending order.
#[derive(Debug, Clone, PartialEq)]
pub struct Sample(Vec<f64>);

impl Sample {
    /// Sorts the values; `None` without any, or where one is not finite.
    pub fn new(values: Vec<f64>) -> Option<Self> {
        let is_sample = !values.is_empty() && values.iter().all(|value| value.is_finite());
        is_sample.then(|| Self(sorted(values)))
    }

    /// The values in ascending order.
    pub fn values(&self) -> &[f64] {
        &self.0
    }
    /// How many (at least 1).
    #[allow(clippy::len_without_is_empty)] // It is never empty.
    pub fn len(&self) -> usize {
        self.0.len()
    }
    /// The least.
    pub fn min(&self) -> f64 {
        self.0[0]
    }
    pub fn max(&self) -> f64 {
        self.0[self.0.len() - 1]
    }
    /// The quantile `q` by rank.
    pub fn quantile(&self, q: f64) -> f64 {
        self.0[rank(self.0.len(), q) - 1]
    }
    /// The arithmetic mean, kept within the least and the greatest.
    pub fn mean(&self) -> f64 {
        let mean = self.0.iter().sum::<f64>() / self.0.len() as f64;
        mean.clamp(self.min(), self.max())
    }
    /// Standard deviation (of n − 1); `None` of a single value.
    pub fn stdev(&self) -> Option<f64> {
        let mean = self.mean();
        let squares: f64 = self.0.iter().map(|v| (v - mean) * (v - mean)).sum();
        (self.0.len() > 1).then(|| libm::sqrt(squares / (self.0.len() - 1) as f64))
    }
    /// The median in the usual sense: the middle value, or the middle of the two
    /// middle values.
    ///
    /// This is for a handful of trials, where taking the lower of the two middle
    /// values (the rank rule) would lean to one side and a ratio would not be
    /// the inverse of its inverse.
    pub fn median(&self) -> f64 {
        let n = self.0.len();
        let (low, high) = (self.0[(n - 1) / 2], self.0[n / 2]);
        low + (high - low) / 2.0
    }
}

/// The values in the order of [`f64::total_cmp`]: as whole numbers, which are compared faster.
pub fn sorted(values: Vec<f64>) -> Vec<f64> {
    let turned = |bits: i64| bits ^ ((bits >> 63).cast_unsigned() >> 1).cast_signed();
    let keys = values.into_iter().map(|value| turned(value.to_bits().cast_signed()));
    let mut keys: Vec<i64> = keys.collect();
    keys.sort_unstable();
    keys.into_iter().map(|key| f64::from_bits(turned(key).cast_unsigned())).collect()
}

/// The median in the usual sense of finite values in any order; `None` if there
/// are none or one is not finite.
pub fn median(values: impl IntoIterator<Item = impl Borrow<f64>>) -> Option<f64> {
    let values = values.into_iter().map(|value| *value.borrow());
    Sample::new(values.collect()).map(|sample| sample.median())
}

/// The mean of what is left without this share of the least and of the greatest values
/// (below 0.5, rounded down to whole values); `None` like [`median`].
pub fn trimmed_mean(values: &[f64], share: f64) -> Option<f64> {
    let sample = Sample::new(values.to_vec())?;
    let cut = ((share * sample.len() as f64) as usize).min((sample.len() - 1) / 2);
    let kept = &sample.values()[cut..sample.len() - cut];
    Some(kept.iter().sum::<f64>() / kept.len() as f64)
}

/// The values in the order given, the `count` farthest from the median drawn in to the
/// distance of the next; as they are where that would leave none or one is not finite.
pub fn winsorised(values: &[f64], count: usize) -> Vec<f64> {
    let mut drawn_in = values.to_vec();
    let Some(middle) = median(values).filter(|_| count < values.len()) else { return drawn_in };
    let distances = sorted(values.iter().map(|value| (value - middle).abs()).collect());
    let farthest = distances[distances.len() - 1 - count];
    for value in &mut drawn_in {
        *value = value.clamp(middle - farthest, middle + farthest);
    }
    drawn_in
}

/// Sum of the products of the deviations from the means.
pub(crate) fn products(a: &[f64], b: &[f64]) -> f64 {
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len().max(1) as f64;
    let (mean_a, mean_b) = (mean(a), mean(b));
    a.iter().zip(b).map(|(a, b)| (a - mean_a) * (b - mean_b)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn ranks_are_exact_where_the_product_is_whole() {
        for n in 1..=2_000usize {
            for (numerator, denominator) in [(1, 2), (9, 10), (99, 100), (999, 1000), (7, 100)] {
                let exact = (numerator * n).div_ceil(denominator).clamp(1, n);
                assert_eq!(rank(n, numerator as f64 / denominator as f64), exact, "{n}");
            }
        }
        assert_eq!([0.0, 1.0, -3.0, 7.0].map(|q| rank(10, q)), [1, 10, 1, 10]);
    }

    #[test]
    fn known_quantiles() {
        let sample = Sample::new((1..=100).rev().map(f64::from).collect()).unwrap();
        assert_eq!(sample.quantile(0.5), 50.0);
        assert_eq!(sample.quantile(0.99), 99.0);
        assert_eq!(sample.quantile(0.999), 100.0);
        assert_eq!(sample.median(), 50.5);
        assert!((sample.stdev().unwrap() - 29.011_491_975_882_016).abs() < 1e-12);
        assert_eq!(Sample::new(vec![5.0]).unwrap().stdev(), None);
        assert_eq!(quantile_sorted(&[3u32, 5, 9], 0.5), Some(5));
        assert_eq!(quantile_sorted::<u32>(&[], 0.5), None);
        for none in [vec![], vec![1.0, f64::NAN]] {
            assert_eq!((median(&none), Sample::new(none)), (None, None));
        }
    }

    #[test]
    fn outliers_are_cut_or_drawn_in() {
        let values = [3.0, 1.0, 900.0, 2.0, 4.0];
        assert_eq!(trimmed_mean(&values, 0.2), Some(3.0));
        assert_eq!(trimmed_mean(&values, 0.19), Some(182.0));
        assert_eq!(trimmed_mean(&[7.0, 9.0], 0.49), Some(8.0));
        assert_eq!(trimmed_mean(&[], 0.2), None);
        assert_eq!(winsorised(&values, 1), [3.0, 1.0, 5.0, 2.0, 4.0]);
        assert_eq!(winsorised(&values, 0), values);
        assert_eq!(winsorised(&[1.0], 1), [1.0]);
    }

    proptest! {
        #[test]
        fn a_quantile_has_its_share_at_or_below(
            values in proptest::collection::vec(-1e6..1e6f64, 1..300), q in 0.0..1.0f64
        ) {
            let sample = Sample::new(values).unwrap();
            let value = sample.quantile(q);
            let n = sample.len() as f64;
            let at_or_below = sample.values().iter().filter(|v| **v <= value).count() as f64;
            let below = sample.values().iter().filter(|v| **v < value).count() as f64;
            prop_assert!(at_or_below >= q * n - 1e-6);
            prop_assert!(below < (q * n).max(1.0) + 1e-6);
            prop_assert!(sample.min() <= value && value <= sample.max());
            prop_assert!(sample.min() <= sample.mean() && sample.mean() <= sample.max());
        }
    }
}
