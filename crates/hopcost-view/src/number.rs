//! Numbers as they are shown: a fitting unit, and no more digits than the
//! spread between trials supports. All durations come in nanoseconds.

pub use hopcost_model::units::exact_duration as exact;
use hopcost_read::results::{Estimate, Ratio};

/// Most digits ever shown.
pub const DIGITS_MAX: u8 = 4;

/// Fewest digits ever shown, however wide the spread: one digit alone is up to
/// a third off (1.47 as 1), and would stand outside its own interval (2.4
/// [2.1, 4.9] as 2). Two are at most 5 % off.
pub const DIGITS_MIN: u8 = 2;

/// An estimate as it is shown.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Shown {
    /// `2.65`, `≤ 0.3` or `insufficient`.
    pub value: String,
    /// `µs`; empty where there is none.
    pub unit: String,
    /// `[2.61, 2.70]`, in the unit of the value; absent if there is none.
    pub interval: Option<String>,
}

impl Shown {
    /// Words in the place of a number.
    pub(crate) fn words(words: impl Into<String>) -> Self {
        Self { value: words.into(), ..Self::default() }
    }

    /// The value with its unit (`2.65 µs`).
    pub fn amount(&self) -> String {
        let gap = if self.unit.is_empty() { "" } else { " " };
        format!("{}{gap}{}", self.value, self.unit)
    }
}

impl std::fmt::Display for Shown {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.amount())?;
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
    fn unit(&self) -> &'static str {
        match self.power {
            0 => "ns",
            3 => "µs",
            6 => "ms",
            _ => "s",
        }
    }
    /// The value in this place, rounded as `round` says.
    fn write(&self, ns: f64, round: fn(f64) -> f64) -> String {
        fixed(ns / 10f64.powi(self.power), self.decimals, round)
    }
}

/// Below this a value is shown as 0: no quantity of hopcost is as small, and the powers of ten for its digits are
/// not finite.
const NOTHING: f64 = 1e-30;

/// Decimal exponent of a value after rounding to so many digits.
fn exponent(value: f64, digits: i32) -> i32 {
    if value.abs() < NOTHING {
        return 0;
    }
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

/// A duration with so many significant digits, apart from its unit.
pub fn quantity(ns: f64, digits: u8) -> Shown {
    if !ns.is_finite() {
        return Shown::words("not known");
    }
    let place = Place::of(ns, digits);
    let (value, unit) = (place.write(ns, f64::round), place.unit().to_owned());
    Shown { value, unit, interval: None }
}

/// A duration with so many significant digits (`2.65 µs`).
pub fn time(ns: f64, digits: u8) -> String {
    quantity(ns, digits).to_string()
}

/// Two levels in the unit of the upper (`0.50 or 11 µs`), or in 10^`power` of their own unit, which
/// stands elsewhere; with the interval of an estimate that lies between them.
pub fn either(low: f64, high: f64, power: Option<i32>, between: Option<&Estimate>) -> Shown {
    let place =
        power.map_or(Place::of(high, DIGITS_MIN), |of| Place::in_unit(high, DIGITS_MIN, of));
    let low = Place::in_unit(low, DIGITS_MIN, place.power).write(low, f64::round);
    Shown {
        value: format!("{low} or {}", place.write(high, f64::round)),
        unit: if power.is_none() { place.unit().to_owned() } else { String::new() },
        interval: between.and_then(|of| scaled(of, place.power, "").interval),
    }
}

/// An estimate and its interval, with at most [`DIGITS_MAX`] digits, two at
/// least. The interval is rounded outwards to the decimals of the value: what
/// is shown covers what was found, and a value within its interval is shown
/// within it.
pub fn estimate(estimate: &Estimate) -> Shown {
    written(estimate, |point| Place::of(point, estimate.digits))
}

/// A difference and its interval as [`estimate`] shows them, but with no more decimals
/// than the farther end of the interval has digits: beside an interval that holds 0,
/// the digits of a point near 0 say nothing.
pub fn difference(estimate: &Estimate) -> Shown {
    let ends = [estimate.low, estimate.high].into_iter().flatten().filter(|end| end.is_finite());
    written(estimate, |point| {
        let far = ends.map(f64::abs).fold(point.abs(), f64::max);
        let close = far <= 2.0 * point.abs();
        Place::of(far, if close { estimate.digits } else { DIGITS_MIN })
    })
}

/// An estimate and its interval as [`estimate`] shows them, but in 10^`power` of its own unit, which
/// is called so: by nothing, if the column names it.
pub fn scaled(estimate: &Estimate, power: i32, unit: &str) -> Shown {
    let shown = written(estimate, |point| Place::in_unit(point, estimate.digits, power));
    // What is insufficient has none.
    let unit = if shown.unit.is_empty() { String::new() } else { unit.to_owned() };
    let value = match shown.value.parse::<u64>() {
        Ok(whole @ 10_000..) => grouped(whole),
        _ => shown.value,
    };
    Shown { value, unit, ..shown }
}

/// Of the upper end of an interval, as a multiple of the point.
const FAR: f64 = 1e3;

fn written(estimate: &Estimate, place: impl FnOnce(f64) -> Place) -> Shown {
    let Some(point) = estimate.point.filter(|point| point.is_finite()) else {
        return Shown::words("insufficient");
    };
    let place = place(point);
    let unit = place.unit().to_owned();
    if estimate.at_most {
        return Shown { value: format!("≤ {}", place.write(point, up)), unit, interval: None };
    }
    let interval = match (estimate.low, estimate.high) {
        (Some(low), Some(high)) if low.is_finite() && high.is_finite() => {
            // An end that far away bounds nothing: its digits would be taken for a finding.
            let far = point > 0.0 && high > FAR * point;
            let high = if far { ">×1000".to_owned() } else { place.write(high, up) };
            Some(format!("[{}, {high}]", place.write(low, down)))
        }
        _ => None,
    };
    Shown { value: place.write(point, f64::round), unit, interval }
}

/// A number without a unit, with so many significant digits.
pub fn plain(value: f64, digits: u8) -> String {
    if !value.is_finite() {
        return "not known".to_owned();
    }
    Place::in_unit(value, digits, 0).write(value, f64::round)
}

/// Bytes in the shortest exact spelling, with a unit (`64 B`, `4 KiB`).
pub fn bytes(bytes: u32) -> String {
    hopcost_model::units::spaced_size(u64::from(bytes))
}

/// A share as per cent; a small one to a tenth.
pub fn share(share: f64) -> String {
    if !share.is_finite() {
        return "not known".to_owned();
    }
    let percent = share * 100.0;
    let (decimals, tenths) = if percent.abs() < 10.0 { (1, 10.0) } else { (0, 1.0) };
    // Adding 0 turns -0 into 0.
    format!("{:.decimals$} %", (percent * tenths).round() / tenths + 0.0)
}

/// A count with its thousands apart (by a narrow space that does not break).
pub fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (i, c) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push('\u{202f}');
        }
        out.push(c);
    }
    out
}

/// A multiple and its interval (`×23`, `[21.0, 26.1]`), with the digits that the interval
/// supports: three, or two if so it still stands within it. The interval is rounded
/// outwards to three digits.
pub fn ratio(ratio: &Ratio) -> Shown {
    if !ratio.point.is_finite() {
        return Shown::words("not known");
    }
    let write =
        |digits: i32| fixed(ratio.point, digits - 1 - exponent(ratio.point, digits), f64::round);
    let brief = write(i32::from(DIGITS_MIN));
    let Some((low, high)) = ratio.low.zip(ratio.high) else {
        return Shown::words(format!("×{brief}"));
    };
    let within = brief.parse().is_ok_and(|brief: f64| (low..=high).contains(&brief));
    let needs_three = high - low < 0.04 * ratio.point.abs() || !within;
    let decimals = 2 - exponent(ratio.point, 3);
    let interval = format!("[{}, {}]", fixed(low, decimals, down), fixed(high, decimals, up));
    let value = format!("×{}", if needs_three { write(3) } else { brief });
    Shown { value, unit: String::new(), interval: Some(interval) }
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
mod tests;
