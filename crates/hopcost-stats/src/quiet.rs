//! The quiet level of a yardstick: what it takes beside trials that nothing disturbed.
//!
//! It is the median of these readings and no lower quantile, so that a quiet run is at its own
//! quiet level however much a reading errs.

use crate::effective::n_eff;

/// The quantile of the readings that is the level.
const QUIET: f64 = 0.5;
/// Readings that a level needs at least.
pub const READINGS_MIN: usize = 6;

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct QuietLevel {
    /// The level, in the unit of the readings.
    pub level: f64,
    /// Standard error of its logarithm, as far as the readings tell.
    pub log_error: f64,
}

/// The quiet level of readings in time order; `None` where there are too few, or one is not a
/// positive number.
///
/// The error is half the distance between the quantiles one standard deviation of the rank to
/// either side, for as many independent readings as theirs are worth (neighbouring ones saw the
/// same state of the host).
pub fn quiet_level(readings: &[f64]) -> Option<QuietLevel> {
    if readings.len() < READINGS_MIN || !readings.iter().all(|x| x.is_finite() && *x > 0.0) {
        return None;
    }
    let sorted = crate::sample::sorted(readings.to_vec());
    let (worth, level) = n_eff(readings, &sorted, QUIET)?;
    let side = (QUIET * (1.0 - QUIET) / worth.max(1.0)).sqrt();
    let (low, high) = (at(&sorted, QUIET - side), at(&sorted, QUIET + side));
    Some(QuietLevel { level, log_error: libm::log(high / low) / 2.0 })
}

/// The value at a share of the ranks, between two of them in proportion.
fn at(sorted: &[f64], share: f64) -> f64 {
    let place = (share * sorted.len() as f64 - 0.5).clamp(0.0, (sorted.len() - 1) as f64);
    let (below, above) = (place.floor() as usize, place.ceil() as usize);
    sorted[below] + (sorted[above] - sorted[below]) * place.fract()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    #[test]
    fn too_few_or_impossible_readings_have_no_level() {
        assert_eq!(quiet_level(&[1.0; READINGS_MIN - 1]), None);
        assert!(quiet_level(&[1.0; READINGS_MIN]).is_some());
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            let mut readings = [1.0; READINGS_MIN];
            readings[3] = bad;
            assert_eq!(quiet_level(&readings), None);
        }
    }

    #[test]
    fn the_error_is_that_of_a_repetition() {
        // What levels of many sets of readings differ by, against what each says.
        let mut rng = Rng::new(2);
        let mut levels = Vec::new();
        let mut said = 0.0;
        for _ in 0..400 {
            let readings: Vec<f64> = (0..100).map(|_| libm::exp(0.1 * rng.uniform())).collect();
            let found = quiet_level(&readings).unwrap();
            levels.push(libm::log(found.level));
            said += found.log_error / 400.0;
        }
        let mean = levels.iter().sum::<f64>() / 400.0;
        let spread = (levels.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 399.0).sqrt();
        assert!((0.7..1.4).contains(&(said / spread)), "{said} for {spread}");
    }
}
