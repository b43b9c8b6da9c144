//! The ratio of two cases, paired by round, with a sign-test interval.
//!
//! Both were measured in every round, minutes of drift apart at most from the
//! rest of the run, so the ratio is taken within each round and the median over
//! rounds is reported. The interval inverts the sign test on the log ratios: it
//! needs no symmetry. Rounds in which both were equal stay in (a ratio of
//! exactly 1 is an observation, and dropping it would hide a coarse clock).

use crate::interval::{Ranks, median_interval};
use crate::sample::Sample;

/// A median ratio over rounds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RatioInterval {
    /// Median over rounds (geometric middle for an even number of rounds).
    pub point: f64,
    /// Interval, its ranks and exact coverage; absent with fewer than six rounds.
    pub interval: Option<(f64, f64, Ranks)>,
    pub n_rounds: usize,
    /// Rounds in which both values were equal.
    pub n_ties: usize,
}

/// The ratio `value / baseline` of each pair; `None` if there is no pair or one
/// of the values is not positive (a cost not distinguishable from zero has no
/// meaningful multiple).
pub fn paired_ratio(pairs: &[(f64, f64)], level: f64) -> Option<RatioInterval> {
    // What is not positive has no finite logarithm, and a sample has nothing else.
    let logs = pairs.iter().map(|(value, base)| libm::log(*value) - libm::log(*base)).collect();
    let sample = Sample::new(logs).ok()?;
    let interval = median_interval(&sample, level)
        .map(|interval| (libm::exp(interval.low), libm::exp(interval.high), interval.ranks));
    Some(RatioInterval {
        point: libm::exp(sample.median()),
        interval,
        n_rounds: pairs.len(),
        n_ties: pairs.iter().filter(|(value, baseline)| value == baseline).count(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::LEVEL;
    use proptest::prelude::*;

    #[test]
    fn ties_are_observations() {
        let pairs = vec![(5.0, 5.0); 8];
        let ratio = paired_ratio(&pairs, LEVEL).unwrap();
        assert_eq!((ratio.point, ratio.n_ties, ratio.n_rounds), (1.0, 8, 8));
        let (low, high, _) = ratio.interval.unwrap();
        assert_eq!((low, high), (1.0, 1.0));
    }

    #[test]
    fn pairing_removes_what_both_share() {
        let drift = [1.0, 3.0, 0.2, 9.0, 4.0, 1.5, 0.7, 2.2];
        let pairs: Vec<_> = drift.iter().map(|d| (1.25 * d, *d)).collect();
        let ratio = paired_ratio(&pairs, LEVEL).unwrap();
        let (low, high, _) = ratio.interval.unwrap();
        assert!((ratio.point - 1.25).abs() < 1e-12);
        assert!((low - 1.25).abs() < 1e-12 && (high - 1.25).abs() < 1e-12);
    }

    #[test]
    fn refusals() {
        assert_eq!(paired_ratio(&[], LEVEL), None);
        assert_eq!(paired_ratio(&[(0.0, 1.0)], LEVEL), None);
        assert_eq!(paired_ratio(&[(1.0, -1.0)], LEVEL), None);
        assert_eq!(paired_ratio(&[(1.0, f64::NAN)], LEVEL), None);
        assert!(paired_ratio(&[(2.0, 1.0); 5], LEVEL).unwrap().interval.is_none());
    }

    proptest! {
        #[test]
        fn the_inverse_ratio_is_the_ratio_inverted(
            pairs in proptest::collection::vec((0.1..1e4f64, 0.1..1e4f64), 6..40)
        ) {
            let inverted: Vec<_> = pairs.iter().map(|(a, b)| (*b, *a)).collect();
            let one = paired_ratio(&pairs, LEVEL).unwrap();
            let other = paired_ratio(&inverted, LEVEL).unwrap();
            let ((low, high, _), (low_inv, high_inv, _)) =
                (one.interval.unwrap(), other.interval.unwrap());
            prop_assert!((one.point * other.point - 1.0).abs() < 1e-9);
            prop_assert!((low * high_inv - 1.0).abs() < 1e-9);
            prop_assert!((high * low_inv - 1.0).abs() < 1e-9);
            prop_assert!(low <= one.point && one.point <= high);
        }

        #[test]
        fn the_unit_does_not_matter(
            pairs in proptest::collection::vec((0.1..1e4f64, 0.1..1e4f64), 6..40)
        ) {
            let scaled: Vec<_> = pairs.iter().map(|(a, b)| (a * 2.0, b * 2.0)).collect();
            let (one, two) =
                (paired_ratio(&pairs, LEVEL).unwrap(), paired_ratio(&scaled, LEVEL).unwrap());
            prop_assert!((one.point / two.point - 1.0).abs() < 1e-9);
        }
    }
}
