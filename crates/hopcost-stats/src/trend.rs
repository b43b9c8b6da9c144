//! Trends over time: is there one, how steep, how alike are neighbours, and which of many
//! are more than chance?

use crate::sample::Sample;

/// The two-sided p-value of the Mann-Kendall test for a monotone trend of values in time order,
/// by the normal approximation (good from about ten values); ties enter the variance. `None` below
/// three values.
pub fn mann_kendall(values: &[f64]) -> Option<f64> {
    let n = values.len();
    if n < 3 {
        return None;
    }
    let mut rises_minus_falls = 0;
    let mut sorted: Vec<f64> = Vec::with_capacity(n);
    for later in values {
        let below = sorted.partition_point(|earlier| earlier < later);
        let not_above = sorted.partition_point(|earlier| earlier <= later);
        rises_minus_falls += (below + not_above) as i64 - sorted.len() as i64;
        sorted.insert(not_above, *later);
    }
    let term = |t: f64| t * (t - 1.0) * (2.0 * t + 5.0);
    let ties: f64 = sorted.chunk_by(|a, b| a == b).map(|group| term(group.len() as f64)).sum();
    let variance = (term(n as f64) - ties) / 18.0;
    let s = rises_minus_falls as f64;
    let z = if variance <= 0.0 || s == 0.0 { 0.0 } else { (s - s.signum()) / libm::sqrt(variance) };
    Some(libm::erfc(z.abs() / core::f64::consts::SQRT_2))
}

/// What share of chance is to be expected among the tests at least as unlikely as each
/// (Benjamini and Hochberg 1995), for the p-values of one run: one in a hundred of 54 cases
/// looks like a trend in half of the runs. In the order given; as large as `p` or larger.
pub fn false_discovery_rates(p: &[f64]) -> Vec<f64> {
    let mut falling: Vec<usize> = (0..p.len()).collect();
    falling.sort_by(|a, b| p[*b].total_cmp(&p[*a]));
    let mut rates = vec![1.0; p.len()];
    let mut least = 1.0;
    for (above, index) in falling.into_iter().enumerate() {
        let as_unlikely = p.len() - above;
        least = f64::min(least, p[index] * p.len() as f64 / as_unlikely as f64);
        rates[index] = least;
    }
    rates
}

/// More points than this are thinned evenly by [`theil_sen`], whose time and memory grow
/// with their square.
const POINTS_MAX: usize = 1000;

/// The Theil-Sen slope: the median of the slopes of all pairs of points with
/// different times, in value per unit of time. `None` without such a pair.
pub fn theil_sen(points: &[(f64, f64)]) -> Option<f64> {
    let step = points.len().div_ceil(POINTS_MAX).max(1);
    let points: Vec<(f64, f64)> = points.iter().copied().step_by(step).collect();
    let mut slopes = Vec::with_capacity(points.len() * points.len().saturating_sub(1) / 2);
    for (i, (time, value)) in points.iter().enumerate() {
        for (later, other) in &points[i..] {
            if later != time {
                slopes.push((other - value) / (later - time));
            }
        }
    }
    Sample::new(slopes).map(|sample| sample.median())
}

/// The correlation of each value with the one `lag` later, between −1 and 1; `None` where
/// no two are so far apart or without variance.
pub fn autocorrelation(values: &[f64], lag: usize) -> Option<f64> {
    let n = values.len();
    if lag + 2 > n {
        return None;
    }
    let mean = values.iter().sum::<f64>() / n as f64;
    let variance: f64 = values.iter().map(|v| (v - mean) * (v - mean)).sum();
    let later = &values[lag..];
    let together: f64 = values.iter().zip(later).map(|(v, w)| (v - mean) * (w - mean)).sum();
    (variance > 0.0).then(|| together / variance)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mann_kendall_of_known_series() {
        let p_of = |z: f64| libm::erfc(z / core::f64::consts::SQRT_2);
        let rising: Vec<f64> = (0..10).map(f64::from).collect();
        for (values, expected) in [
            // S = 45 and its variance 10·9·25/18, by hand.
            (rising.as_slice(), Some(p_of(44.0 / libm::sqrt(125.0)))),
            // With ties S = 5 and (4·3·13 − 2·1·9)/18.
            (&[1.0, 2.0, 2.0, 3.0], Some(p_of(4.0 / libm::sqrt(138.0 / 18.0)))),
            (&[3.0, 2.0, 2.0, 1.0], Some(p_of(4.0 / libm::sqrt(138.0 / 18.0)))),
            (&[4.0; 9], Some(1.0)),
            (&[1.0, 2.0, 2.0, 1.0], Some(1.0)),
            (&[1.0, 2.0], None),
        ] {
            assert_eq!(mann_kendall(values), expected, "{values:?}");
        }
    }

    #[test]
    fn rates_of_false_discovery() {
        // Benjamini and Hochberg's rule by hand: 0.01·4/1, 0.02·4/2, 0.03·4/3, and 0.5.
        let rates = false_discovery_rates(&[0.02, 0.5, 0.01, 0.03]);
        for (got, expected) in rates.iter().zip([0.04, 0.5, 0.04, 0.04]) {
            assert!((got - expected).abs() < 1e-12, "{rates:?}");
        }
        assert_eq!(false_discovery_rates(&[0.03]), [0.03]);
        assert_eq!(false_discovery_rates(&[]), [0.0; 0]);
    }

    #[test]
    fn theil_sen_shrugs_off_an_outlier() {
        let mut points: Vec<(f64, f64)> = (0..20).map(|i| (i.into(), 3.0 * f64::from(i))).collect();
        points[7].1 = 1e9;
        assert!((theil_sen(&points).unwrap() - 3.0).abs() < 1e-9);
        assert_eq!(theil_sen(&[(1.0, 1.0), (1.0, 2.0)]), None);
    }

    #[test]
    fn autocorrelations_of_known_series() {
        let alternating = [1.0, -1.0, 1.0, -1.0, 1.0, -1.0];
        assert!(autocorrelation(&alternating, 1).unwrap() < -0.8);
        assert!(autocorrelation(&alternating, 2).unwrap() > 0.6);
        assert_eq!(autocorrelation(&[2.0; 5], 1), None);
        assert_eq!(autocorrelation(&[1.0, 2.0], 1), None);
        // Less their mean: −1, −1, 2.
        assert_eq!(autocorrelation(&[1.0, 1.0, 4.0], 1), Some(-1.0 / 6.0));
        let far = autocorrelation(&[0.1, 0.1, 0.4].map(|x| 1e8 + x), 1).unwrap();
        assert!((far + 1.0 / 6.0).abs() < 1e-6, "digits are not cancelled: {far}");
    }
}
