//! How many digits a spread supports.

/// Digits printed where there is no interval to tell.
pub const DIGITS_WITHOUT_INTERVAL: u8 = 2;
/// Digits printed at most.
pub const DIGITS_MAX: u8 = 4;

/// Significant digits of `point` that the interval supports: down to the decimal
/// place in which half its width begins, at least one, at most [`DIGITS_MAX`].
///
/// 2645 with an interval of ±30 has three (2650 or 2.65 µs), with ±300 two.
pub fn significant_digits(point: f64, interval: Option<(f64, f64)>) -> u8 {
    let Some((low, high)) = interval else { return DIGITS_WITHOUT_INTERVAL };
    let half_width = (high - low) / 2.0;
    if !(point != 0.0 && point.is_finite() && half_width.is_finite()) {
        return 1;
    }
    if half_width <= 0.0 {
        return DIGITS_MAX;
    }
    let digits = decade(point.abs()) - decade(half_width) + 1;
    digits.clamp(1, i32::from(DIGITS_MAX)) as u8
}

/// The exponent of the leading decimal digit, exactly: 999 has 2, 1000 has 3.
fn decade(value: f64) -> i32 {
    let guess = libm::floor(libm::log10(value)) as i32;
    // log10 is exact at a power of ten, and so may be one too many just below.
    if value < libm::exp10(f64::from(guess)) { guess - 1 } else { guess }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn digits_follow_the_spread() {
        for (point, low, high, digits) in [
            (2645.0, 2615.0, 2675.0, 3),
            (2645.0, 2345.0, 2945.0, 2),
            (2645.0, 1000.0, 9000.0, 1),
            (2645.0, 2644.5, 2645.5, 4),
            (2645.0, 2645.0, 2645.0, 4),
            (0.7, 0.69, 0.71, 2),
            (-3.0, -4.0, 5.0, 1),
            (0.0, -1.0, 1.0, 1),
            (f64::NAN, 0.001, 0.002, 1),
            (100.0, f64::NEG_INFINITY, f64::INFINITY, 1),
        ] {
            let got = significant_digits(point, Some((low, high)));
            assert_eq!(got, digits, "{point} {low} {high}");
        }
        assert_eq!(significant_digits(5.0, None), DIGITS_WITHOUT_INTERVAL);
    }

    proptest! {
        #[test]
        fn decades_are_exact(exponent in -12i32..15) {
            let power: f64 = format!("1e{exponent}").parse().unwrap();
            prop_assert_eq!(decade(power), exponent);
            prop_assert_eq!(decade(power * 9.999), exponent);
            prop_assert_eq!(decade(f64::from_bits(power.to_bits() - 1)), exponent - 1);
        }
    }
}
