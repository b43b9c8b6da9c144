//! Quantiles of the normal and of Student's distribution.

/// The `z` that a standard normal deviate stays within, either side, with this
/// probability: 1.96 for 0.95.
///
/// # Panics
/// If the probability is not strictly between 0 and 1.
pub fn normal_quantile(within: f64) -> f64 {
    assert!(within > 0.0 && within < 1.0, "{within} is not strictly between 0 and 1");
    let outside = 1.0 - within;
    end_of(|z| libm::erfc(z / core::f64::consts::SQRT_2) > outside)
}

/// The deviate up to which something holds. `erfc` falls from 1 at 0 to nothing at 40, so the ends
/// are halved until they meet.
fn end_of(holds_at: impl Fn(f64) -> bool) -> f64 {
    let (mut low, mut high) = (0.0, 40.0);
    for _ in 0..100 {
        let middle = f64::midpoint(low, high);
        if holds_at(middle) { low = middle } else { high = middle }
    }
    f64::midpoint(low, high)
}

/// The same of Student's t, by the expansion about the normal (Abramowitz and Stegun
/// 26.7.5): within 0.5 % from three degrees of freedom at 95 %. Below three, those of three.
pub fn student_quantile(within: f64, freedom: f64) -> f64 {
    student_of_normal(normal_quantile(within), freedom)
}

/// The probability of a Student's t above this one, by the same expansion.
pub fn student_error(t: f64, freedom: f64) -> f64 {
    let z = end_of(|z| student_of_normal(z, freedom) < t.abs());
    let beyond = libm::erfc(z / core::f64::consts::SQRT_2) / 2.0;
    if t < 0.0 { 1.0 - beyond } else { beyond }
}

/// Student's t with the same probability beyond it as a normal deviate.
fn student_of_normal(z: f64, freedom: f64) -> f64 {
    let v = freedom.max(3.0);
    let square = z * z;
    let terms = [
        (square + 1.0) / 4.0,
        ((5.0 * square + 16.0) * square + 3.0) / 96.0,
        (((3.0 * square + 19.0) * square + 17.0) * square - 15.0) / 384.0,
        ((((79.0 * square + 776.0) * square + 1482.0) * square - 1920.0) * square - 945.0)
            / 92_160.0,
    ];
    // Horner in 1/v.
    z * (1.0 + terms.iter().rev().fold(0.0, |sum, term| (sum + term) / v))
}

#[cfg(test)]
mod tests {
    use super::*;
    use statrs::distribution::{ContinuousCDF, StudentsT};

    #[test]
    fn known_quantiles() {
        assert!((normal_quantile(0.95) - 1.959_963_984_540_054).abs() < 1e-12);
        assert!((normal_quantile(0.5) - 0.674_489_750_196_082).abs() < 1e-12);
        for freedom in [3.0, 4.0, 5.5, 8.0, 20.0, 53.0] {
            for within in [0.8, 0.9, 0.95] {
                let exact =
                    StudentsT::new(0.0, 1.0, freedom).unwrap().inverse_cdf(0.5 + within / 2.0);
                let got = student_quantile(within, freedom);
                assert!((got / exact - 1.0).abs() < 5e-3, "{freedom} {within}: {got} {exact}");
                let error = student_error(got, freedom);
                assert!((error - (1.0 - within) / 2.0).abs() < 1e-9, "{freedom} {within}: {error}");
                assert!((student_error(-got, freedom) + error - 1.0).abs() < 1e-12);
            }
        }
        assert_eq!(student_quantile(0.95, 1.0).to_bits(), student_quantile(0.95, 3.0).to_bits());
    }
}
