//! Numbers as they are shown: a fitting unit, and no more digits than the
//! spread between trials supports. All durations come in nanoseconds.

use hopcost_model::results::{Estimate, Ratio};

use crate::style::Charset;

/// The character set of what is made once for all views.
pub(crate) const UNICODE: Charset = Charset::Unicode;

/// Most digits ever shown.
pub const DIGITS_MAX: u8 = 4;

/// Fewest digits ever shown, however wide the spread: one digit alone is up to
/// a third off (1.47 as 1), and would stand outside its own interval (2.4
/// [2.1, 4.9] as 2). Two are at most 5 % off.
pub const DIGITS_MIN: u8 = 2;

/// Digits of a value whose spread is not known.
const DIGITS_UNKNOWN: u8 = 2;

/// An estimate as it is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shown {
    /// `2.65 µs`, `≤ 0.3 ns` or `insufficient`.
    pub value: String,
    /// `[2.61, 2.70]`, in the unit of the value; absent if there is none.
    pub interval: Option<String>,
}

impl std::fmt::Display for Shown {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.value)?;
        self.interval.as_ref().map_or(Ok(()), |interval| write!(f, " {interval}"))
    }
}

/// A number's place: rounded to its digits, its unit is 10^`power` ns and it is
/// written with `decimals` (negative: that many trailing zeros).
struct Place {
    power: i32,
    decimals: i32,
}

impl Place {
    /// The decimal exponent comes from the standard library's exact decimal
    /// formatting, not from a logarithm: no platform differs.
    fn of(ns: f64, digits: u8) -> Self {
        let exponent = exponent(ns, i32::from(digits.clamp(DIGITS_MIN, DIGITS_MAX)));
        Self::in_unit(ns, digits, exponent.clamp(0, 9) / 3 * 3)
    }
    /// The place in a unit that is given.
    fn in_unit(value: f64, digits: u8, power: i32) -> Self {
        let digits = i32::from(digits.clamp(DIGITS_MIN, DIGITS_MAX));
        Self { power, decimals: digits - 1 - (exponent(value, digits) - power) }
    }
    fn unit(&self, charset: Charset) -> &'static str {
        match (self.power, charset) {
            (0, _) => "ns",
            (3, Charset::Unicode) => "µs",
            (3, Charset::Ascii) => "us",
            (6, _) => "ms",
            _ => "s",
        }
    }
    /// The value in this place, rounded as `round` says.
    fn write(&self, ns: f64, round: fn(f64) -> f64) -> String {
        fixed(ns / 10f64.powi(self.power), self.decimals, round)
    }
}

/// Decimal exponent of a value after rounding to so many digits.
fn exponent(value: f64, digits: i32) -> i32 {
    let text = format!("{:.*e}", usize::try_from(digits - 1).unwrap_or(0), value.abs());
    text.split_once('e').and_then(|(_, exponent)| exponent.parse().ok()).unwrap_or(0)
}

/// A value with so many decimals (negative: that many trailing zeros).
fn fixed(value: f64, decimals: i32, round: fn(f64) -> f64) -> String {
    let shift = 10f64.powi(decimals.abs());
    let rounded = match decimals >= 0 {
        true => round(value * shift) / shift,
        false => round(value / shift) * shift,
    };
    // Adding 0 turns -0 into 0.
    format!("{:.*}", usize::try_from(decimals).unwrap_or(0), rounded + 0.0)
}

/// What a decimal fraction like 2.61 misses in binary must not count as a step.
const SLACK: f64 = 1e-9;

fn down(x: f64) -> f64 {
    (x + SLACK * x.abs().max(1.0)).floor()
}

fn up(x: f64) -> f64 {
    (x - SLACK * x.abs().max(1.0)).ceil()
}

/// A duration with so many significant digits (`2.65 µs`).
pub fn duration(ns: f64, digits: u8, charset: Charset) -> String {
    if !ns.is_finite() {
        return "not known".to_owned();
    }
    let place = Place::of(ns, digits);
    format!("{} {}", place.write(ns, f64::round), place.unit(charset))
}

/// A power of ten in nanoseconds (`100 ns`, `1 µs`): an end of an axis.
pub fn decade(ns: f64, charset: Charset) -> String {
    let power = exponent(ns, 1).clamp(0, 9) / 3 * 3;
    let place = Place { power, decimals: (power - exponent(ns, 1)).max(0) };
    format!("{} {}", place.write(ns, f64::round), place.unit(charset))
}

/// A duration whose spread is not known: two significant digits.
pub fn rough(ns: f64, charset: Charset) -> String {
    duration(ns, DIGITS_UNKNOWN, charset)
}

/// Whether an estimate's interval spans more than a factor of 2: nobody should
/// read such a value as precise.
pub fn is_wide(estimate: &Estimate) -> bool {
    match (estimate.point, estimate.low, estimate.high) {
        (Some(_), Some(low), Some(high)) => !estimate.at_most && high > 2.0 * low,
        _ => false,
    }
}

/// An estimate and its interval, with at most `digits_max` digits, two at
/// least. The interval is rounded outwards to the decimals of the value: what
/// is shown covers what was found, and a value within its interval is shown
/// within it.
pub fn estimate(estimate: &Estimate, digits_max: u8, charset: Charset) -> Shown {
    let Some(point) = estimate.point.filter(|point| point.is_finite()) else {
        return Shown { value: "insufficient".to_owned(), interval: None };
    };
    let digits = estimate.digits.min(digits_max);
    let place = Place::of(point, digits);
    let unit = place.unit(charset);
    let mut shown = written(estimate, point, &place, charset);
    shown.value = format!("{} {unit}", shown.value);
    shown
}

/// A difference and its interval as [`estimate`] shows them, but with no more decimals
/// than the farther end of the interval has digits: beside an interval that holds 0,
/// the digits of a point near 0 say nothing.
pub fn difference(estimate: &Estimate, digits_max: u8, charset: Charset) -> Shown {
    let Some(point) = estimate.point.filter(|point| point.is_finite()) else {
        return Shown { value: "insufficient".to_owned(), interval: None };
    };
    let ends = [estimate.low, estimate.high].into_iter().flatten().filter(|end| end.is_finite());
    let far = ends.map(f64::abs).fold(point.abs(), f64::max);
    let close = far <= 2.0 * point.abs();
    let digits = if close { estimate.digits.min(digits_max) } else { DIGITS_MIN };
    let place = Place::of(far, digits);
    let mut shown = written(estimate, point, &place, charset);
    shown.value = format!("{} {}", shown.value, place.unit(charset));
    shown
}

/// An estimate and its interval as [`estimate`] shows them, but without a unit and
/// in the one that is 10^`power` of its own: for columns that name theirs.
pub fn scaled(estimate: &Estimate, power: i32, digits_max: u8) -> Shown {
    let Some(point) = estimate.point.filter(|point| point.is_finite()) else {
        return Shown { value: "insufficient".to_owned(), interval: None };
    };
    let place = Place::in_unit(point, estimate.digits.min(digits_max), power);
    written(estimate, point, &place, UNICODE)
}

fn written(estimate: &Estimate, point: f64, place: &Place, charset: Charset) -> Shown {
    if estimate.at_most {
        let sign = if charset == Charset::Unicode { "≤" } else { "<=" };
        return Shown { value: format!("{sign} {}", place.write(point, up)), interval: None };
    }
    let interval = match (estimate.low, estimate.high) {
        (Some(low), Some(high)) if low.is_finite() && high.is_finite() => {
            Some(format!("[{}, {}]", place.write(low, down), place.write(high, up)))
        }
        _ => None,
    };
    Shown { value: place.write(point, f64::round), interval }
}

/// A number without a unit, with so many significant digits.
pub fn plain(value: f64, digits: u8) -> String {
    if !value.is_finite() {
        return "not known".to_owned();
    }
    Place::in_unit(value, digits, 0).write(value, f64::round)
}

/// A duration that is known exactly, in the largest unit that needs no more than
/// three decimals (`10 µs`, `1.5 ms`).
pub fn exact(ns: u64) -> String {
    for (unit, name) in [(1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "µs")] {
        if ns >= unit && ns.is_multiple_of(unit / 1_000) {
            let text = format!("{}.{:03}", ns / unit, ns % unit / (unit / 1_000));
            return format!("{} {name}", text.trim_end_matches('0').trim_end_matches('.'));
        }
    }
    format!("{ns} ns")
}

/// Bytes in the shortest exact spelling, with a unit (`64 B`, `4 KiB`).
pub fn bytes(bytes: u32) -> String {
    let text = hopcost_model::units::format_size(u64::from(bytes));
    match text.find(|c: char| !c.is_ascii_digit()) {
        Some(at) => format!("{} {}", &text[..at], &text[at..]),
        None => format!("{text} B"),
    }
}

/// A share as per cent; a small one to a tenth.
pub fn share(share: f64) -> String {
    if !share.is_finite() {
        return "not known".to_owned();
    }
    let percent = share * 100.0;
    if percent < 10.0 { format!("{percent:.1} %") } else { format!("{percent:.0} %") }
}

/// A multiple (`×23`), with the digits that its interval supports: three, or two
/// if so it still stands within the interval as [`ratio_interval`] writes it.
pub fn ratio(ratio: &Ratio, charset: Charset) -> String {
    if !ratio.point.is_finite() {
        return "not known".to_owned();
    }
    let sign = if charset == Charset::Unicode { "×" } else { "x" };
    let write =
        |digits: i32| fixed(ratio.point, digits - 1 - exponent(ratio.point, digits), f64::round);
    let brief = write(i32::from(DIGITS_UNKNOWN));
    let needs_three = match (ratio.low, ratio.high) {
        (Some(low), Some(high)) => {
            let within = brief.parse().is_ok_and(|brief: f64| (low..=high).contains(&brief));
            high - low < 0.04 * ratio.point.abs() || !within
        }
        _ => false,
    };
    format!("{sign}{}", if needs_three { write(3) } else { brief })
}

/// The interval of a multiple (`[21, 26]`), rounded outwards to three digits.
pub fn ratio_interval(ratio: &Ratio) -> Option<String> {
    let (low, high) = (ratio.low?, ratio.high?);
    let decimals = 2 - exponent(ratio.point, 3);
    Some(format!("[{}, {}]", fixed(low, decimals, down), fixed(high, decimals, up)))
}

/// A level as per cent (`96.09 %`), rounded down: never more is promised.
pub fn percent(share: f64) -> String {
    format!("{} %", fixed(share * 100.0, 2, down))
}

/// How long something will take, for people (`65 s`, `3 min 20 s`).
pub fn expected(ns: u64) -> String {
    let seconds = ns.div_ceil(1_000_000_000);
    match seconds {
        0..120 => format!("{seconds} s"),
        120..7_200 => format!("{} min {} s", seconds / 60, seconds % 60),
        _ => format!("{} h {} min", seconds / 3_600, seconds % 3_600 / 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(point: f64, low: f64, high: f64, digits: u8) -> Estimate {
        Estimate {
            point: Some(point),
            low: Some(low),
            high: Some(high),
            level: Some(0.9609),
            n_trials: 9,
            pooled: false,
            estimand: String::new(),
            insufficient: None,
            detectable: None,
            digits,
            at_most: false,
        }
    }

    #[test]
    fn durations_have_a_fitting_unit_and_only_their_digits() {
        for (ns, digits, want) in [
            (2_654.0, 3, "2.65 µs"),
            (3_654.0, 1, "3.7 µs"),
            (1_470.0, 1, "1.5 µs"),
            (2_654.0, 9, "2.654 µs"),
            (61_420.0, 2, "61 µs"),
            (123_456.0, 2, "120 µs"),
            (323_456.0, 0, "320 µs"),
            (999.6, 3, "1.00 µs"),
            (999.4, 3, "999 ns"),
            (999_950.0, 4, "1.000 ms"),
            (0.26, 1, "0.26 ns"),
            (0.0312, 2, "0.031 ns"),
            (0.0, 2, "0.0 ns"),
            (-1.25, 2, "-1.3 ns"),
            (-0.0004, 1, "-0.00040 ns"),
            (1.5e9, 2, "1.5 s"),
            (3.6e12, 2, "3600 s"),
            (f64::NAN, 2, "not known"),
            (f64::INFINITY, 2, "not known"),
        ] {
            assert_eq!(duration(ns, digits, Charset::Unicode), want, "{ns} {digits}");
        }
        assert_eq!(duration(2_654.0, 3, Charset::Ascii), "2.65 us");
        for (ns, want) in [(0.1, "0.1 ns"), (10.0, "10 ns"), (1e3, "1 µs"), (1e11, "100 s")] {
            assert_eq!(decade(ns, Charset::Unicode), want);
        }
    }

    #[test]
    fn intervals_are_rounded_outwards_in_the_unit_of_the_point() {
        let show = |e: &Estimate| estimate(e, DIGITS_MAX, Charset::Unicode).to_string();
        assert_eq!(show(&made(2_654.0, 2_618.0, 2_699.0, 3)), "2.65 µs [2.61, 2.70]");
        assert_eq!(show(&made(2_654.0, 2_610.0, 2_700.0, 3)), "2.65 µs [2.61, 2.70]");
        assert_eq!(show(&made(990.0, 980.1, 1_003.2, 3)), "990 ns [980, 1004]");
        assert_eq!(show(&made(38_200.0, 25_900.0, 53_480.0, 1)), "38 µs [25, 54]");
        assert_eq!(show(&made(123_400.0, 98_700.0, 151_000.0, 2)), "120 µs [90, 160]");
    }

    #[test]
    fn differences_have_the_digits_of_their_interval() {
        let show = |e: &Estimate| difference(e, DIGITS_MAX, Charset::Unicode).to_string();
        assert_eq!(show(&made(0.000_31, -0.0212, 0.033, 1)), "0.000 ns [-0.022, 0.033]");
        assert_eq!(show(&made(-31.4, -1_270.0, 990.0, 1)), "0.0 µs [-1.3, 1.0]");
        assert_eq!(show(&made(7_216.0, 7_004.0, 7_402.0, 2)), "7.2 µs [7.0, 7.5]");
        assert_eq!(show(&made(0.0, 0.0, 0.0, 4)), "0.000 ns [0.000, 0.000]");
    }

    #[test]
    fn columns_with_a_unit_of_their_own_hold_bare_numbers() {
        let show = |e: &Estimate, power| scaled(e, power, DIGITS_MAX).to_string();
        assert_eq!(show(&made(68_381.0, 67_120.0, 69_890.0, 3), 3), "68.4 [67.1, 69.9]");
        assert_eq!(show(&made(71.2, 70.11, 73.0, 2), 3), "0.071 [0.070, 0.073]");
        assert_eq!(show(&made(123_456.0, 98_700.0, 151_000.0, 2), 3), "120 [90, 160]");
        assert_eq!(show(&made(0.4872, 0.4801, 0.4957, 3), 0), "0.487 [0.480, 0.496]");
        for (value, digits, want) in [(0.48723, 3, "0.487"), (1_234.0, 3, "1230"), (9.0, 2, "9.0")]
        {
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

    #[test]
    fn wide_intervals_leave_their_point_inside() {
        let show = |e: &Estimate| estimate(e, DIGITS_MAX, Charset::Unicode).to_string();
        assert_eq!(show(&made(2_400.0, 2_130.0, 4_880.0, 1)), "2.4 µs [2.1, 4.9]");
        assert_eq!(show(&made(244_700.0, 212_000.0, 581_000.0, 1)), "240 µs [210, 590]");
        assert_eq!(show(&made(337_000.0, 335_000.0, 790_000.0, 1)), "340 µs [330, 790]");
        assert!(is_wide(&made(2_400.0, 2_130.0, 4_880.0, 1)));
        assert!(!is_wide(&made(2_400.0, 2_130.0, 4_260.0, 1)));
        assert!(!is_wide(&Estimate { at_most: true, ..made(2.0, 1.0, 4.0, 1) }));
        assert!(!is_wide(&Estimate { low: None, ..made(2.0, 1.0, 4.0, 1) }));
    }

    /// Reproducible numbers in 0..1 (splitmix64).
    fn random() -> impl FnMut() -> f64 {
        let mut state = 0x5eed_u64;
        move || {
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut z = state;
            z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
        }
    }

    /// The numbers in a text, in its order.
    fn numbers(text: &str) -> Vec<f64> {
        let is_part = |c: char| c.is_ascii_digit() || c == '.';
        text.split(|c| !is_part(c)).filter_map(|word| word.parse().ok()).collect()
    }

    #[test]
    fn every_point_is_shown_within_its_interval_and_near_its_value() {
        let mut random = random();
        for _ in 0..40_000 {
            let point = 10f64.powf(random() * 13.0 - 2.0);
            // From far narrower than a digit to a factor of ten.
            let mut spread = || 1.0 + 10f64.powf(random() * 5.0 - 4.0) * random();
            let (low, high) = (point / spread(), point * spread());
            let digits = 1 + (random() * 4.0) as u8;
            let digits_max = 2 + (random() * 3.0) as u8;
            let shown = estimate(&made(point, low, high, digits), digits_max, Charset::Ascii);
            let text = format!("{shown} of {low} <= {point} <= {high}, {digits} digits");
            let [value, from, to] = numbers(&shown.to_string())[..] else { panic!("{text}") };
            assert!(from <= value && value <= to, "{text}");
            let unit = match shown.value.rsplit_once(' ') {
                Some((_, "ns")) => 1.0,
                Some((_, "us")) => 1e3,
                Some((_, "ms")) => 1e6,
                _ => 1e9,
            };
            assert!((value * unit - point).abs() <= 0.05 * point, "{text}");
            assert!(
                from * unit <= low * (1.0 + 1e-6) && high * (1.0 - 1e-6) <= to * unit,
                "{text}"
            );

            let multiple = Ratio {
                baseline: String::new(),
                point,
                low: Some(low),
                high: Some(high),
                n_rounds: 9,
            };
            let interval = ratio_interval(&multiple).unwrap_or_default();
            let text = format!("{} {interval} of {multiple:?}", ratio(&multiple, Charset::Ascii));
            let [value, from, to] = numbers(&text)[..3] else { panic!("{text}") };
            assert!(from <= value && value <= to, "{text}");
            assert!((value - point).abs() <= 0.05 * point, "{text}");
        }
    }

    #[test]
    fn bounds_are_rounded_up_and_missing_values_are_said() {
        let mut bound = made(0.21, 0.2, 0.3, 1);
        bound.at_most = true;
        assert_eq!(estimate(&bound, 4, Charset::Unicode).to_string(), "≤ 0.21 ns");
        assert_eq!(estimate(&bound, 4, Charset::Ascii).to_string(), "<= 0.21 ns");
        let missing = Estimate { point: None, ..bound };
        assert_eq!(estimate(&missing, 4, Charset::Unicode).to_string(), "insufficient");
    }

    #[test]
    fn multiples_show_what_their_interval_supports() {
        let made =
            |point, low, high| Ratio { baseline: String::new(), point, low, high, n_rounds: 9 };
        let show = |r: &Ratio| ratio(r, Charset::Unicode);
        assert_eq!(show(&made(23.14, Some(19.0), Some(27.0))), "×23");
        assert_eq!(show(&made(1.512, Some(1.50), Some(1.52))), "×1.51");
        assert_eq!(show(&made(0.0802, None, None)), "×0.080");
        assert_eq!(show(&made(1_234.0, None, None)), "×1200");
        let wide = made(23.14, Some(19.01), Some(27.02));
        assert_eq!(ratio_interval(&wide).as_deref(), Some("[19.0, 27.1]"));
    }

    #[test]
    fn levels_and_durations_for_people() {
        assert_eq!(percent(0.96094), "96.09 %");
        assert_eq!(expected(64_200_000_000), "65 s");
        assert_eq!(expected(200_000_000_000), "3 min 20 s");
        assert_eq!(expected(7_260_000_000_000), "2 h 1 min");
    }
}
