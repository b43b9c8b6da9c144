//! How far the units of a contrast depend on those before them, as far as a few units show it.
//!
//! To a contrast the error is everything, and a few units that fade slowly beside noise look as if
//! they hardly depended on each other. So no correlation is estimated. Four kinds of units are
//! weighed by how well each explains the series, and the logarithm of the error is their mean.

use std::collections::BTreeMap;

use crate::next_run::{Autocorrelation, TRIALS_MIN, WINSORISED_OF};
use crate::sample::winsorised;

/// Units of which a part fades from one to the next, and the rest is noise of their own.
struct Kind {
    /// The share of the variance that fades.
    share: f64,
    /// What is left of it at the next unit.
    decay: f64,
}

const KINDS: [Kind; 4] = [
    Kind { share: 0.0, decay: 0.0 },
    Kind { share: 0.4, decay: 0.7 },
    Kind { share: 0.7, decay: 0.7 },
    Kind { share: 0.9, decay: 0.9 },
];
/// How often the likelihood counts: of the powers that were simulated, this one distinguishes units
/// that wander from steady ones best.
const SHARPNESS: f64 = 2.0;

/// The share of each kind in what several series show.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SerialDependence([f64; KINDS.len()]);

impl SerialDependence {
    /// Of units that do not depend on each other.
    pub const NONE: Self = Self([1.0, 0.0, 0.0, 0.0]);

    /// From several series, each in time order, of which `independent` are independent: all pairs of n
    /// cases say no more than n − 1 of them.
    pub fn of(series: &[&[f64]], independent: usize) -> Self {
        let counts = SHARPNESS * independent as f64 / series.len().max(1) as f64;
        let mut logs = [0.0; KINDS.len()];
        for values in series.iter().filter(|values| values.len() >= TRIALS_MIN) {
            let drawn_in = winsorised(values, values.len().div_ceil(WINSORISED_OF));
            if drawn_in.iter().all(|value| *value == drawn_in[0]) {
                continue;
            }
            for (log, kind) in logs.iter_mut().zip(&KINDS) {
                *log += counts * kind.log_likelihood(&drawn_in);
            }
        }
        let most = logs.into_iter().fold(f64::NEG_INFINITY, f64::max);
        let shares = logs.map(|log| libm::exp(log - most));
        let sum: f64 = shares.iter().sum();
        Self(shares.map(|share| share / sum))
    }

    /// From what each case of a run was off all others of its unit: as far as that depends on the
    /// unit before, each ratio of them does.
    pub fn of_cases(cases: &[BTreeMap<u32, f64>]) -> Self {
        let mut off: Vec<BTreeMap<u32, f64>> = Vec::new();
        for case in cases {
            let positive = case.iter().filter(|(_, value)| **value > 0.0);
            let logs: BTreeMap<u32, f64> =
                positive.map(|(unit, value)| (*unit, libm::log(*value))).collect();
            let mean = logs.values().sum::<f64>() / logs.len().max(1) as f64;
            off.push(logs.into_iter().map(|(unit, log)| (unit, log - mean)).collect());
        }
        let mut units: BTreeMap<u32, (f64, f64)> = BTreeMap::new();
        for (unit, off) in off.iter().flatten() {
            let (sum, n) = units.entry(*unit).or_default();
            (*sum, *n) = (*sum + off, *n + 1.0);
        }
        let alone = |(unit, off): (&u32, &f64)| off - units[unit].0 / units[unit].1;
        let alone: Vec<Vec<f64>> =
            off.iter().map(|case| case.iter().map(alone).collect()).collect();
        let alone: Vec<&[f64]> = alone.iter().map(Vec::as_slice).collect();
        Self::of(&alone, cases.len().saturating_sub(1))
    }

    /// The variance of the mean of n units over what their spread suggests.
    pub(crate) fn inflation(self, n: usize) -> f64 {
        libm::exp(self.mean(|kind| libm::log(kind.inflation(n))))
    }

    /// Degrees of freedom that the spread of n units has.
    pub(crate) fn freedom(self, n: usize) -> f64 {
        self.mean(|kind| kind.freedom(n))
    }

    fn mean(self, of: impl Fn(Autocorrelation) -> f64) -> f64 {
        self.0.iter().zip(&KINDS).map(|(share, kind)| share * of(kind.autocorrelation())).sum()
    }
}

impl Kind {
    fn autocorrelation(&self) -> Autocorrelation {
        Autocorrelation { lag1: self.share * self.decay, decay: self.decay }
    }

    /// How likely normal units of this kind are, whatever their mean and scale: Kalman's filter
    /// makes of each what the units before it do not explain, of the values and of their mean.
    fn log_likelihood(&self, values: &[f64]) -> f64 {
        let n = values.len() as f64;
        let middle = values.iter().sum::<f64>() / n;
        let (mut fading, mut of_mean, mut doubt) = (0.0, 0.0, self.share);
        let (mut log_size, mut squares, mut products, mut of_means) = (0.0, 0.0, 0.0, 0.0);
        for value in values {
            let variance = doubt + 1.0 - self.share;
            let (new, new_of_mean) = (value - middle - fading, 1.0 - of_mean);
            log_size += libm::log(variance);
            squares += new * new / variance;
            products += new * new_of_mean / variance;
            of_means += new_of_mean * new_of_mean / variance;
            let gain = doubt / variance;
            fading = self.decay * (fading + gain * new);
            of_mean = self.decay * (of_mean + gain * new_of_mean);
            let kept = self.decay * self.decay;
            doubt = kept * doubt * (1.0 - gain) + (1.0 - kept) * self.share;
        }
        let rest = squares - products * products / of_means;
        -(log_size + libm::log(of_means) + (n - 1.0) * libm::log(rest)) / 2.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;
    use crate::simulated::ar1;

    #[test]
    fn a_likelihood_is_that_of_the_formula() {
        // Of three values with the correlations 0.5 and 0.25, by the determinant and the inverse of
        // their matrix.
        let kind = Kind { share: 1.0, decay: 0.5 };
        let of = |x: [f64; 3]| {
            let [a, b, c] = x;
            let form = (4.0 * a * a + 5.0 * b * b + 4.0 * c * c - 4.0 * a * b - 4.0 * b * c) / 3.0;
            let with_ones = (2.0 * a + b + 2.0 * c) / 3.0;
            let rest = form - with_ones * with_ones / (5.0 / 3.0);
            -(libm::log(9.0 / 16.0) + libm::log(5.0 / 3.0) + 2.0 * libm::log(rest)) / 2.0
        };
        for values in [[1.0, 1.0, 4.0], [0.0, 5.0, 1.0]] {
            let got = kind.log_likelihood(&values);
            assert!((got - of(values)).abs() < 1e-12, "{got} {}", of(values));
        }
    }

    #[test]
    fn units_show_their_kind_where_there_are_enough() {
        let mut rng = Rng::new(5);
        let mut series = |kind: &Kind, n: usize| -> Vec<f64> {
            let [fading, own] = [kind.decay, 0.0].map(|decay| ar1(n, decay, &mut rng));
            let sizes = [kind.share, 1.0 - kind.share].map(libm::sqrt);
            fading.iter().zip(own).map(|(a, b)| sizes[0] * a + sizes[1] * b).collect()
        };
        for (at, kind) in KINDS.iter().enumerate() {
            let many: Vec<Vec<f64>> = (0..40).map(|_| series(kind, 30)).collect();
            let many: Vec<&[f64]> = many.iter().map(Vec::as_slice).collect();
            let found = SerialDependence::of(&many, 40);
            assert!(found.0[at] > 0.95, "{at}: {found:?}");
            let inflation = kind.autocorrelation().inflation(30);
            assert!((found.inflation(30) / inflation - 1.0).abs() < 0.1, "{found:?}");
        }
        let few = SerialDependence::of(&[&series(&KINDS[0], 6)], 1);
        assert!(few.0.iter().all(|share| *share > 0.001), "{few:?}");
        let same = [1.0; 9];
        let none = SerialDependence::of(&[&same, &same[..3]], 2);
        assert_eq!(none.0.map(|share| (share * 1e6).round()), [25e4; 4]);
    }

    #[test]
    fn what_cases_have_in_common_is_no_dependence_of_their_ratios() {
        let case = |alone: f64| -> BTreeMap<u32, f64> {
            let wave = |unit: u32| libm::exp(0.2 * libm::sin(f64::from(unit) / 5.0));
            let own = |unit: u32| libm::exp(alone * f64::from(unit * unit % 7));
            (0..40).map(|unit| (unit, wave(unit) * own(unit))).collect()
        };
        let found = SerialDependence::of_cases(&[case(0.01), case(0.0), case(0.02)]);
        assert!(found.0[0] > 0.9, "{found:?}");
    }
}
