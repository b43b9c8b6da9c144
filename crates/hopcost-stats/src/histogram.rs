//! A histogram of u64 values over their whole range, with a bounded relative
//! error: log-linear buckets, 128 to each power of two.
//!
//! A value `x` up to 255 is exact; a larger one falls into a bucket of width at
//! most `x / 128`, and is reported as the bucket's middle, so within `x / 256`
//! (2⁻⁸, half the documented bound of 2⁻⁷). The least and the greatest are kept
//! exactly, and no quantile lies outside them.

use crate::sample::rank;

/// Bits of a bucket within its power of two.
const BITS: u32 = 7;
/// Buckets: 2 × 128 exact ones, then 128 for each further power of two.
const BUCKETS: usize = (64 - BITS as usize + 1) << BITS;

/// The documented bound of the relative error of a quantile.
pub const RELATIVE_ERROR_MAX: f64 = 1.0 / 128.0;

/// Counts in log-linear buckets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Histogram {
    counts: Vec<u64>,
    total: u64,
    min: u64,
    max: u64,
}

impl Default for Histogram {
    fn default() -> Self {
        Self { counts: vec![0; BUCKETS], total: 0, min: u64::MAX, max: 0 }
    }
}

/// The bucket of a value.
fn bucket(value: u64) -> usize {
    let shift = (63 - (value | 1).leading_zeros()).saturating_sub(BITS);
    ((shift as usize) << BITS) + (value >> shift) as usize
}

/// The least and the greatest value of a bucket.
fn bounds(bucket: usize) -> (u64, u64) {
    let shift = (bucket >> BITS).saturating_sub(1);
    let low = ((bucket - (shift << BITS)) as u64) << shift;
    (low, low + ((1u64 << shift) - 1))
}

impl Histogram {
    /// An empty one.
    pub fn new() -> Self {
        Self::default()
    }
    /// Counts a value.
    pub fn record(&mut self, value: u64) {
        self.counts[bucket(value)] += 1;
        self.total += 1;
        self.min = self.min.min(value);
        self.max = self.max.max(value);
    }
    /// Adds all of another's counts.
    pub fn merge(&mut self, other: &Histogram) {
        for (count, more) in self.counts.iter_mut().zip(&other.counts) {
            *count += more;
        }
        self.total += other.total;
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }
    /// Values counted.
    pub fn len(&self) -> u64 {
        self.total
    }
    /// Whether nothing was counted.
    pub fn is_empty(&self) -> bool {
        self.total == 0
    }
    /// The least value, exactly.
    pub fn min(&self) -> Option<u64> {
        (self.total > 0).then_some(self.min)
    }
    /// The greatest value, exactly.
    pub fn max(&self) -> Option<u64> {
        (self.total > 0).then_some(self.max)
    }
    /// The quantile `q` by rank (see [`crate::sample`]), within the error bound.
    pub fn quantile(&self, q: f64) -> Option<u64> {
        if self.total == 0 {
            return None;
        }
        let wanted = rank(usize::try_from(self.total).unwrap_or(usize::MAX), q) as u64;
        let mut seen = 0;
        let bucket = self.counts.iter().position(|count| {
            seen += count;
            seen >= wanted
        })?;
        let (low, high) = bounds(bucket);
        Some((low + (high - low) / 2).clamp(self.min, self.max))
    }
    /// Buckets that hold something: least value, greatest value, count.
    pub fn buckets(&self) -> impl Iterator<Item = (u64, u64, u64)> + '_ {
        self.counts.iter().enumerate().filter(|(_, count)| **count > 0).map(|(i, count)| {
            let (low, high) = bounds(i);
            (low, high, *count)
        })
    }
}

impl FromIterator<u64> for Histogram {
    fn from_iter<I: IntoIterator<Item = u64>>(values: I) -> Self {
        let mut histogram = Self::new();
        values.into_iter().for_each(|value| histogram.record(value));
        histogram
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::quantile_sorted;
    use proptest::prelude::*;

    #[test]
    fn buckets_follow_each_other_without_gap_or_overlap() {
        assert_eq!(bounds(0), (0, 0));
        for i in 1..BUCKETS {
            assert_eq!(bounds(i).0, bounds(i - 1).1 + 1, "bucket {i}");
            assert_eq!((bucket(bounds(i).0), bucket(bounds(i).1)), (i, i));
        }
        assert_eq!(bounds(BUCKETS - 1).1, u64::MAX);
    }

    #[test]
    fn the_ends_of_the_range() {
        let histogram: Histogram = [0, u64::MAX].into_iter().collect();
        assert_eq!(histogram.quantile(0.5), Some(0));
        assert_eq!((histogram.min(), histogram.max()), (Some(0), Some(u64::MAX)));
        let top = histogram.quantile(1.0).unwrap();
        assert!((u64::MAX - top) as f64 / (u64::MAX as f64) <= RELATIVE_ERROR_MAX);
        assert_eq!(Histogram::new().quantile(0.5), None);
        let one: Histogram = [1_000_003].into_iter().collect();
        assert_eq!(one.quantile(0.99), Some(1_000_003), "clamped to the exact value");
    }

    fn values() -> impl Strategy<Value = Vec<u64>> {
        proptest::collection::vec((any::<u64>(), 0u32..64).prop_map(|(v, s)| v >> s), 0..200)
    }

    proptest! {
        #[test]
        fn counts_are_conserved(values in values()) {
            let histogram: Histogram = values.iter().copied().collect();
            prop_assert_eq!(histogram.len(), values.len() as u64);
            prop_assert_eq!(histogram.buckets().map(|b| b.2).sum::<u64>(), values.len() as u64);
        }

        #[test]
        fn a_merge_is_the_histogram_of_all(a in values(), b in values(), c in values()) {
            let of = |v: &[u64]| v.iter().copied().collect::<Histogram>();
            let mut left = of(&a);
            left.merge(&of(&b));
            left.merge(&of(&c));
            let mut tail = of(&b);
            tail.merge(&of(&c));
            let mut right = of(&a);
            right.merge(&tail);
            prop_assert_eq!(&left, &right);
            prop_assert_eq!(left, of(&[a, b, c].concat()));
        }

        #[test]
        fn quantiles_are_within_the_bound(mut values in values(), q in 0.0..1.0f64) {
            prop_assume!(!values.is_empty());
            let got = values.iter().copied().collect::<Histogram>().quantile(q).unwrap();
            values.sort_unstable();
            let exact = quantile_sorted(&values, q).unwrap();
            let error = got.abs_diff(exact) as f64 / (exact as f64).max(1.0);
            prop_assert!(error <= RELATIVE_ERROR_MAX / 2.0, "{got} for {exact}");
        }
    }
}
