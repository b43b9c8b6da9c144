//! The quiet level of a yardstick: what it takes when nothing slows the machine down.
//!
//! Most of what happens on a host makes it slower than its quiet state, so the level is below the
//! middle of the readings; not near the least, which is the luckiest error of a reading, and from which a run
//! in the usual state would be divided by more than the usual state is slow.

use crate::effective::n_eff;
use crate::sample::median;

/// The quantile of the readings that counts as quiet.
pub const QUIET: f64 = 0.25;
/// Readings that a level needs at least.
pub const READINGS_MIN: usize = 12;

/// A quiet level.
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
    let mut sorted = readings.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let (worth, level) = n_eff(readings, &sorted, QUIET)?;
    let side = (QUIET * (1.0 - QUIET) / worth.max(1.0)).sqrt();
    let (low, high) = (at(&sorted, QUIET - side), at(&sorted, QUIET + side));
    Some(QuietLevel { level, log_error: libm::log(high / low) / 2.0 })
}

/// Readings that say how far a yardstick is from its reference now.
pub const LATEST: usize = 7;
/// What the level may be above its reference even where readings err by nothing: the reference
/// is a lower quartile, and this is the median.
const TOLERANCE: f64 = 0.03;
/// The most, however much readings differ.
const TOLERANCE_MAX: f64 = 0.10;

/// How far a yardstick is from its reference now.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Nearness {
    /// The median of the latest readings over the reference.
    pub ratio: f64,
    /// By how much it may be above 1: 3 % and two standard errors of that median, as far as
    /// neighbouring readings tell, and at most 10 %.
    pub tolerance: f64,
}

impl Nearness {
    /// Whether it is at its reference, or faster.
    pub fn is_near(&self) -> bool {
        self.ratio <= 1.0 + self.tolerance
    }
}

/// How far the latest of some readings are from a reference; `None` where there are too few, or
/// one is not a positive number.
pub fn nearness(readings: &[f64], reference: f64) -> Option<Nearness> {
    let latest = &readings[readings.len().checked_sub(LATEST)?..];
    if !latest.iter().chain([&reference]).all(|x| x.is_finite() && *x > 0.0) {
        return None;
    }
    // Of neighbours, because a state that lasts is what is waited for and no error.
    let steps: Vec<f64> = latest.windows(2).map(|two| libm::log(two[1] / two[0]).abs()).collect();
    // The median step of normal errors is 0.954 standard deviations, and the standard error of
    // a median 1.2533 / √n of one.
    let error = 1.2533 / libm::sqrt(LATEST as f64) * median(&steps)? / 0.954;
    let tolerance = (TOLERANCE + 2.0 * error).min(TOLERANCE_MAX);
    Some(Nearness { ratio: median(latest)? / reference, tolerance })
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
    use crate::rng::SplitMix64;

    fn uniform(random: &mut SplitMix64) -> f64 {
        (random.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

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
    fn near_is_what_the_latest_readings_differ_by_and_no_more_than_a_tenth() {
        assert_eq!(nearness(&[100.0; LATEST - 1], 100.0), None);
        assert_eq!(nearness(&[100.0; LATEST], 0.0), None);
        let of = |readings: &[f64]| nearness(readings, 100.0).unwrap();
        let exact = of(&[103.0; LATEST]);
        assert!(exact.is_near() && (exact.tolerance, exact.ratio) == (0.03, 1.03));
        assert!(!of(&[103.1; LATEST]).is_near());
        // A state that ended just now widens nothing, and only the latest count.
        let mut ended = vec![130.0; 50];
        ended.extend([101.0; LATEST]);
        assert_eq!(of(&ended).tolerance, 0.03);
        assert!(of(&[131.0, 131.0, 131.0, 131.0, 101.0, 101.0, 101.0]).ratio > 1.3);
        // By 2 % to either side in turn: 3 % + 2 · 1.2533 / √7 · 4 % / 0.954.
        let noisy = of(&[102.0, 98.0, 102.0, 98.0, 102.0, 98.0, 102.0]);
        assert!((noisy.tolerance - 0.0697).abs() < 0.0005, "{noisy:?}");
        assert_eq!(of(&[50.0, 200.0, 50.0, 200.0, 50.0, 200.0, 50.0]).tolerance, 0.10);
        assert!(of(&[60.0; LATEST]).is_near(), "faster than the reference");
    }

    #[test]
    fn a_share_of_the_ranks_lies_between_two_in_proportion() {
        let of = |share| at(&[1.0, 2.0, 4.0], share);
        for (share, value) in [(0.0, 1.0), (0.5, 2.0), (2.0 / 3.0, 3.0), (1.0, 4.0)] {
            assert!((of(share) - value).abs() < 1e-12, "{share}");
        }
    }

    #[test]
    fn slow_states_do_not_move_the_level() {
        let mut random = SplitMix64(1);
        let quiet: Vec<f64> = (0..200).map(|_| 100.0 + uniform(&mut random)).collect();
        let mut disturbed = quiet.clone();
        for slow in disturbed.iter_mut().step_by(2) {
            *slow *= 1.4;
        }
        let (quiet, disturbed) = (quiet_level(&quiet).unwrap(), quiet_level(&disturbed).unwrap());
        assert!((disturbed.level / quiet.level - 1.0).abs() < 0.003, "{quiet:?} {disturbed:?}");
    }

    #[test]
    fn the_error_is_that_of_a_repetition() {
        // What levels of many sets of readings differ by, against what each says.
        let mut random = SplitMix64(2);
        let mut levels = Vec::new();
        let mut said = 0.0;
        for _ in 0..400 {
            let readings: Vec<f64> =
                (0..100).map(|_| libm::exp(0.1 * uniform(&mut random))).collect();
            let found = quiet_level(&readings).unwrap();
            levels.push(libm::log(found.level));
            said += found.log_error / 400.0;
        }
        let mean = levels.iter().sum::<f64>() / 400.0;
        let spread = (levels.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 399.0).sqrt();
        assert!((0.7..1.4).contains(&(said / spread)), "{said} for {spread}");
    }

    #[test]
    fn readings_that_hang_together_are_worth_less() {
        let mut random = SplitMix64(3);
        let once: Vec<f64> = (0..100).map(|_| 100.0 + uniform(&mut random)).collect();
        let eightfold: Vec<f64> = once.iter().flat_map(|x| [*x; 8]).collect();
        let (once, eightfold) = (quiet_level(&once).unwrap(), quiet_level(&eightfold).unwrap());
        assert!(eightfold.log_error > 0.6 * once.log_error, "{once:?} {eightfold:?}");
    }
}
