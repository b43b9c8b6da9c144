//! Whether the trials of a case lie at two levels, as on a guest whose CPU pairs change their distance.

use hopcost_stats::sample::median;

/// The upper level begins where a trial takes this many times as long as the next faster one.
const STEP: f64 = 1.5;
/// The least share of the trials at a level: fewer are outliers.
const SHARE: f64 = 0.2;
/// Trials that show levels at least.
const TRIALS_MIN: usize = 6;

/// The medians of the trials at either level, the lower first; `None` of one level.
pub fn levels(mut values: Vec<f64>) -> Option<(f64, f64)> {
    values.sort_by(f64::total_cmp);
    let steps = values.windows(2).map(|pair| pair[1] / pair[0]).enumerate();
    let (at, step) = steps.max_by(|a, b| a.1.total_cmp(&b.1))?;
    let (low, high) = values.split_at(at + 1);
    let least = (SHARE * values.len() as f64).max(2.0);
    // Levels are farther apart than the trials of each.
    let is_narrow = |of: &[f64]| of[of.len() - 1] < step * of[0];
    let is_two = values.len() >= TRIALS_MIN
        && step >= STEP
        && low.len().min(high.len()) as f64 >= least
        && is_narrow(low)
        && is_narrow(high);
    median(low).zip(median(high)).filter(|_| is_two)
}

#[cfg(test)]
mod tests {
    use super::levels;

    #[test]
    fn two_levels_are_far_apart_and_both_have_trials() {
        let two = vec![510.0, 11_000.0, 500.0, 10_900.0, 11_100.0, 490.0, 10_800.0];
        assert_eq!(levels(two), Some((500.0, 10_950.0)));
        let outlier = vec![500.0, 510.0, 490.0, 505.0, 495.0, 500.0, 11_000.0];
        assert_eq!(levels(outlier), None);
        let spread = vec![100.0, 160.0, 250.0, 400.0, 640.0, 1_000.0, 1_600.0];
        assert_eq!(levels(spread), None);
        assert_eq!(levels(vec![500.0, 500.0, 900.0, 900.0]), None, "too few");
        assert_eq!(levels(vec![0.0, f64::NAN, 0.0, 1.0, 2.0, 3.0]), None);
        assert_eq!(levels(Vec::new()), None);
    }
}
