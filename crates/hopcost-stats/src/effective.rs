//! How many independent samples a series in time order is worth for a quantile,
//! and whether that is enough to publish it.
//!
//! Neighbouring operations are alike (caches, the scheduler, the host's state),
//! so `n` samples of one trial say less than `n` independent ones. For the
//! quantile `q` what counts is the dependence of the indicator "at most the
//! quantile", not of the values: `n_eff = n / τ` with `τ = 1 + 2·Σ ρ_k` over the
//! indicator's autocorrelations, cut off by Geyer's initial positive sequence
//! (Statistical Science 7, 1992): pairs `ρ_2m + ρ_2m+1` are summed while positive.

use crate::sample::quantile_sorted;

/// Exceedances, after allowing for dependence, that a published quantile needs.
pub const EXCEEDANCES_MIN: f64 = 10.0;

/// Effective samples that a published median needs.
pub const MEDIAN_N_EFF_MIN: f64 = 6.0;

/// Up to this lag every pair of autocorrelations is computed. Beyond, where they
/// change slowly, one stands for the pairs of a sixteenth of its lag: a series with
/// long memory would otherwise cost as much as the square of its length.
const EVERY_LAG_BELOW: usize = 128;
/// Lag over half a step beyond [`EVERY_LAG_BELOW`].
const SPARSENESS: usize = 32;

/// The effective number of samples of the 0/1 series, between 1 and its length.
///
/// A series without variance is worth its length. Negative dependence is not
/// counted in favour: the result never exceeds the length.
fn n_eff_of_indicator(indicator: &[bool]) -> f64 {
    let (n, all) = (indicator.len(), both(indicator, indicator));
    let covariance = |lag| autocovariance(indicator, all, lag);
    let variance = covariance(0);
    if variance <= 0.0 {
        return n as f64;
    }
    let mut pairs = 0.0;
    let mut lag = 0;
    // Beyond half the length the estimates are noise.
    while lag + 1 < n.div_ceil(2) {
        let pair = (covariance(lag) + covariance(lag + 1)) / variance;
        if pair <= 0.0 {
            break;
        }
        let step = if lag < EVERY_LAG_BELOW { 2 } else { lag / SPARSENESS * 2 };
        pairs += pair * (step / 2) as f64;
        lag += step;
    }
    let tau = (2.0 * pairs - 1.0).max(1.0);
    (n as f64 / tau).max(1.0)
}

/// The effective number of samples for the quantile `q` of a series in time
/// order, and the quantile itself (by rank); `None` if the series is empty.
pub fn n_eff(in_time_order: &[f64], sorted: &[f64], q: f64) -> Option<(f64, f64)> {
    let quantile = quantile_sorted(sorted, q)?;
    let indicator: Vec<bool> = in_time_order.iter().map(|x| *x <= quantile).collect();
    Some((n_eff_of_indicator(&indicator), quantile))
}

/// Whether a quantile may be published: at least ten effective samples on its
/// thinner side; for the median six effective samples.
pub fn publishable(n_eff: f64, q: f64) -> bool {
    // Rounding must not refuse 1000 × (1 − 0.99).
    n_eff >= needed(q) * (1.0 - 1e-9)
}

/// The effective samples that the quantile `q` needs.
pub fn needed(q: f64) -> f64 {
    if q == 0.5 { MEDIAN_N_EFF_MIN } else { EXCEEDANCES_MIN / q.min(1.0 - q) }
}

/// At how many places two series have a one.
fn both(series: &[bool], other: &[bool]) -> u32 {
    // 240 ones fit into a byte, and the compiler adds many bytes at once.
    let parts = series.chunks(240).zip(other.chunks(240)).map(|(part, other)| {
        let both = part.iter().zip(other).map(|(one, other)| u8::from(*one & *other));
        u32::from(both.fold(0, u8::wrapping_add))
    });
    parts.sum()
}

/// `(1/n)·Σ (x_t − m)(x_{t+lag} − m)` of a series of zeros, and `all` ones.
fn autocovariance(series: &[bool], all: u32, lag: usize) -> f64 {
    let (n, ones) = (series.len(), |part: &[bool]| both(part, part));
    let ends = 2 * all - ones(&series[n - lag..]) - ones(&series[..lag]);
    let (mean, both) = (f64::from(all) / n as f64, f64::from(both(series, &series[lag..])));
    (both - mean * f64::from(ends) + (n - lag) as f64 * mean * mean) / n as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;
    use crate::simulated::ar1;

    fn n_eff_at(series: &[f64], q: f64) -> f64 {
        let mut sorted = series.to_vec();
        sorted.sort_by(f64::total_cmp);
        n_eff(series, &sorted, q).unwrap().0
    }

    #[test]
    fn dependent_samples_count_for_less_however_long_the_memory() {
        for (rho, lags, n, seed) in [(0.9, 400, 60_000, 2), (0.998, 20_000, 400_000, 3)] {
            // The indicator of the median of a Gaussian AR(1) has ρ_k = (2/π)·asin(ρ^k).
            let correlation =
                |k| 2.0 / core::f64::consts::PI * libm::asin(libm::pow(rho, f64::from(k)));
            let tau = 1.0 + 2.0 * (1..=lags).map(correlation).sum::<f64>();
            let (got, expected) =
                (n_eff_at(&ar1(n, rho, &mut Rng::new(seed)), 0.5), n as f64 / tau);
            assert!((got / expected - 1.0).abs() < 0.25, "{rho}: {got} for {expected}");
        }
        // Exceedances of a high quantile are less dependent than the values.
        let series = ar1(60_000, 0.9, &mut Rng::new(2));
        assert!(n_eff_at(&series, 0.99) > n_eff_at(&series, 0.5));
    }

    #[test]
    fn the_rule_of_ten() {
        assert!(publishable(1_000.0, 0.99) && !publishable(999.0, 0.99));
        assert!(publishable(10_000.0, 0.999) && !publishable(9_990.0, 0.999));
        assert!(publishable(1_000.0, 0.01) && !publishable(999.0, 0.01));
        assert!(publishable(6.0, 0.5) && !publishable(5.9, 0.5));
        assert!((needed(0.9) - 100.0).abs() < 1e-9);
    }

    #[test]
    fn edges() {
        assert_eq!(n_eff_of_indicator(&[true]), 1.0);
        assert_eq!(n_eff_of_indicator(&[true; 500]), 500.0);
        // One change of state in the middle: two observations, whatever the length.
        let step: Vec<bool> = (0..10_000).map(|i| i < 5_000).collect();
        assert!(n_eff_of_indicator(&step) < 10.0, "{}", n_eff_of_indicator(&step));
        let alternating: Vec<bool> = (0..1_000).map(|i| i % 2 == 0).collect();
        assert_eq!(n_eff_of_indicator(&alternating), 1_000.0);
    }
}
