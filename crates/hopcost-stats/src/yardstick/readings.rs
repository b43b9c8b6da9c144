//! The two readings beside a trial, and which of them nothing disturbed.

use crate::sample::{Sample, median};

/// Logarithms of the two readings beside one trial.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Readings {
    /// Right before the warm-up.
    pub before: f64,
    /// Right after the measurement.
    pub after: f64,
}

/// Readings whose difference lies beyond this many standard deviations (from the median
/// absolute deviation) of the others were disturbed: they say nothing about reliability.
const DISTURBED: f64 = 5.0;

/// From the median absolute deviation to the standard deviation of a normal distribution.
pub(super) const MAD_TO_SD: f64 = 1.4826;

/// Which trials have two readings, neither preempted, as far apart as those of the others.
pub(super) fn undisturbed(readings: &[Readings]) -> Vec<bool> {
    let differences: Vec<f64> = readings.iter().map(|r| r.after - r.before).collect();
    let Some(middle) = median(&differences) else { return Vec::new() };
    let deviations: Vec<f64> = differences.iter().map(|d| (d - middle).abs()).collect();
    let limit = DISTURBED * MAD_TO_SD * median(&deviations).unwrap_or(0.0);
    let preempted_above = preempted_above(readings);
    let is_steady = |(r, deviation): (&Readings, &f64)| {
        // Where most differ by nothing, a coarse clock hides how far they usually differ.
        (*deviation <= limit || limit == 0.0) && r.before.max(r.after) <= preempted_above
    };
    readings.iter().zip(&deviations).map(is_steady).collect()
}

/// The reading above which another task had the CPU meanwhile: no state of a host is twice
/// as slow as what a quarter of its readings are at most.
pub(super) fn preempted_above(readings: &[Readings]) -> f64 {
    let all = Sample::new(readings.iter().flat_map(|r| [r.before, r.after]).collect());
    all.map_or(f64::INFINITY, |all| all.quantile(0.25) + core::f64::consts::LN_2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readings_that_are_further_apart_than_others_or_preempted_are_disturbed() {
        let of = |readings: &[(f64, f64)]| {
            let of = |&(before, after): &(f64, f64)| Readings { before, after };
            undisturbed(&readings.iter().map(of).collect::<Vec<_>>())
        };
        // The differences' median is 0.05, and half of them are 0.1 off it: up to 0.741 is usual.
        for (last, is_steady) in [
            ((-0.75, 0.0), true),
            ((-0.85, 0.0), false),
            ((0.0, -0.75), true),
            ((0.0, -0.85), false),
        ] {
            let all = [(0.0, 0.0), (0.0, 0.1), (0.1, 0.0), (0.0, 0.1), (0.1, 0.0), last];
            assert_eq!(of(&all)[5], is_steady, "{last:?}");
            assert_eq!(of(&all)[..5], [true; 5]);
        }
        // Nearly all are equal: only what is twice as slow is disturbed.
        let mut all = [(0.0, 0.0); 9];
        (all[3], all[4], all[5]) = ((0.0, 0.6), (0.0, 0.7), (0.7, 0.0));
        let steady = [true, true, true, true, false, false, true, true, true];
        assert_eq!(of(&all), steady);
    }
}
