use super::*;

fn made(point: f64, low: f64, high: f64, digits: u8) -> Estimate {
    let low = Some(low);
    Estimate { low, high: Some(high), digits, ..Estimate::exact(point, 9) }
}

#[test]
fn durations_have_a_fitting_unit_and_only_their_digits() {
    for (ns, digits, want) in [
        (2_654.0, 3, "2.65 µs"),
        (3_654.0, 1, "3.7 µs"),
        (1_470.0, 1, "1.5 µs"),
        (2_654.0, 9, "2.654 µs"),
        (123_456.0, 2, "120 µs"),
        (999.6, 3, "1.00 µs"),
        (999.4, 3, "999 ns"),
        (999_950.0, 4, "1.000 ms"),
        (0.26, 1, "0.26 ns"),
        (0.0, 2, "0.0 ns"),
        (-0.0004, 1, "-0.00040 ns"),
        (1.5e9, 2, "1.5 s"),
        (3.6e12, 2, "3600 s"),
        (f64::NAN, 2, "not known"),
        (f64::INFINITY, 2, "not known"),
    ] {
        assert_eq!(time(ns, digits), want, "{ns} {digits}");
    }
}

#[test]
fn intervals_are_rounded_outwards_in_the_unit_of_the_point() {
    let near: fn(&Estimate) -> Shown = estimate;
    for (show, of, want) in [
        (near, made(2_654.0, 2_618.0, 2_699.0, 3), "2.65 µs [2.61, 2.70]"),
        (near, made(990.0, 980.1, 1_003.2, 3), "990 ns [980, 1004]"),
        (near, made(38_200.0, 25_900.0, 53_480.0, 1), "38 µs [25, 54]"),
        (near, made(123_400.0, 98_700.0, 151_000.0, 2), "120 µs [90, 160]"),
        // An end that bounds nothing has no digits.
        (near, made(2_000.0, 1_000.0, 8e12, 2), "2.0 µs [1.0, >×1000]"),
        // Differences have the digits of their interval.
        (difference, made(0.000_31, -0.0212, 0.033, 1), "0.000 ns [-0.022, 0.033]"),
        (difference, made(-31.4, -1_270.0, 990.0, 1), "0.0 µs [-1.3, 1.0]"),
        (difference, made(7_216.0, 7_004.0, 7_402.0, 2), "7.2 µs [7.0, 7.5]"),
    ] {
        assert_eq!(show(&of).to_string(), want);
    }
}

#[test]
fn columns_with_a_unit_of_their_own_hold_bare_numbers() {
    let show = |e: &Estimate, power| scaled(e, power, "").to_string();
    assert_eq!(show(&made(68_381.0, 67_120.0, 69_890.0, 3), 3), "68.4 [67.1, 69.9]");
    assert_eq!(show(&made(71.2, 70.11, 73.0, 2), 3), "0.071 [0.070, 0.073]");
    assert_eq!(show(&made(123_456.0, 98_700.0, 151_000.0, 2), 3), "120 [90, 160]");
    assert_eq!(show(&made(0.4872, 0.4801, 0.4957, 3), 0), "0.487 [0.480, 0.496]");
    for (value, digits, want) in [(0.48723, 3, "0.487"), (1_234.0, 3, "1230"), (9.0, 2, "9.0")] {
        assert_eq!(plain(value, digits), want);
    }
    assert_eq!(plain(f64::NAN, 3), "not known");
}

#[test]
fn what_was_asked_for_is_written_exactly() {
    for (ns, want) in [
        (0, "0 ns"),
        (999, "999 ns"),
        (1_000, "1 µs"),
        (10_000, "10 µs"),
        (1_500_000, "1.5 ms"),
        (1_000_001, "1000.001 µs"),
        (10_000_000, "10 ms"),
        (u64::MAX, "18446744073709551.615 µs"),
    ] {
        assert_eq!(exact(ns), want);
    }
    assert_eq!([bytes(0), bytes(256), bytes(4096)], ["0 B", "256 B", "4 KiB"]);
}

/// The numbers in a text, in its order.
fn numbers(text: &str) -> Vec<f64> {
    let is_part = |c: char| c.is_ascii_digit() || c == '.';
    text.split(|c| !is_part(c)).filter_map(|word| word.parse().ok()).collect()
}

#[test]
fn every_point_is_shown_within_its_interval_and_near_its_value() {
    let mut state = 0x5eed_u64;
    let mut random = || {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    for _ in 0..40_000 {
        let point = 10f64.powf(random() * 13.0 - 2.0);
        // From far narrower than a digit to a factor of ten.
        let mut spread = || 1.0 + 10f64.powf(random() * 5.0 - 4.0) * random();
        let (low, high) = (point / spread(), point * spread());
        let digits = 1 + (random() * 4.0) as u8;
        let shown = estimate(&made(point, low, high, digits));
        let text = format!("{shown} of {low} <= {point} <= {high}, {digits} digits");
        let [value, from, to] = numbers(&shown.to_string())[..] else { panic!("{text}") };
        assert!(from <= value && value <= to, "{text}");
        let unit = match shown.unit.as_str() {
            "ns" => 1.0,
            "µs" => 1e3,
            "ms" => 1e6,
            _ => 1e9,
        };
        assert!((value * unit - point).abs() <= 0.05 * point, "{text}");
        assert!(from * unit <= low * (1.0 + 1e-6) && high * (1.0 - 1e-6) <= to * unit, "{text}");

        let multiple =
            Ratio { baseline: String::new(), point, low: Some(low), high: Some(high), n_rounds: 9 };
        let text = format!("{} of {multiple:?}", ratio(&multiple));
        let [value, from, to] = numbers(&text)[..3] else { panic!("{text}") };
        assert!(from <= value && value <= to, "{text}");
        assert!((value - point).abs() <= 0.05 * point, "{text}");
    }
}

#[test]
fn bounds_are_rounded_up_and_missing_values_are_said() {
    let mut bound = made(0.21, 0.2, 0.3, 1);
    bound.at_most = true;
    assert_eq!(estimate(&bound).to_string(), "≤ 0.21 ns");
    let missing = Estimate { point: None, ..bound };
    assert_eq!(estimate(&missing).to_string(), "insufficient");
}

#[test]
fn multiples_show_what_their_interval_supports() {
    let made = |point, low, high| Ratio { baseline: String::new(), point, low, high, n_rounds: 9 };
    let show = |r: &Ratio| ratio(r).to_string();
    assert_eq!(show(&made(23.14, Some(19.0), Some(27.0))), "×23 [19.0, 27.0]");
    assert_eq!(show(&made(1.512, Some(1.50), Some(1.52))), "×1.51 [1.50, 1.52]");
    assert_eq!(show(&made(0.0802, None, None)), "×0.080");
    assert_eq!(show(&made(1_234.0, None, None)), "×1200");
    let wide = made(23.14, Some(19.01), Some(27.02));
    assert_eq!(show(&wide), "×23 [19.0, 27.1]");
}

#[test]
fn shares_tiny_numbers_and_thousands() {
    assert_eq!([share(0.78), share(0.021)], ["78 %", "2.1 %"]);
    assert_eq!(quantity(1e-320, 2).to_string(), "0.0 ns");
    assert_eq!([grouped(1_234_567), grouped(123)], ["1\u{202f}234\u{202f}567", "123"]);
}

#[test]
fn levels_and_durations_for_people() {
    let between = Estimate::exact(6_000.0, 9);
    let between = Estimate { low: Some(400.0), high: Some(11_200.0), ..between };
    let said = |power, of| either(500.0, 10_950.0, power, of).to_string();
    assert_eq!(said(None, None), "0.50 or 11 µs");
    assert_eq!(said(None, Some(&between)), "0.50 or 11 µs [0.40, 11.20]");
    assert_eq!(said(Some(0), None), "500 or 11000");
    assert_eq!(expected(64_200_000_000), "65 s");
    assert_eq!(expected(200_000_000_000), "3 min 20 s");
    assert_eq!(expected(7_260_000_000_000), "2 h 1 min");
}
