//! What the values of an axis are, and how they are written.

use crate::names::quantile;
use crate::number;

/// What the values of an axis are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unit {
    /// Nanoseconds.
    Ns,
    /// Seconds.
    Seconds,
    /// Quantiles, 0 to 1.
    Quantile,
    /// Bytes.
    Bytes,
    /// Gigabits (10⁹ bits) a second.
    GigabitsPerSecond,
    /// Counts, and what has a unit of this name, which ticks do not carry.
    Named(String),
}

impl Unit {
    /// That of counts and of multiples.
    pub const COUNT: Unit = Unit::Named(String::new());

    /// A value that was measured, with three digits; what was asked for, exactly.
    pub fn text(&self, value: f64) -> String {
        let whole = value.fract() == 0.0 && value.abs() < 1e15;
        match self {
            Unit::Ns => number::time(value, 3),
            Unit::Seconds => number::time(value * 1e9, 3),
            Unit::Quantile => quantile(value),
            Unit::Bytes => bytes(value).unwrap_or_else(|| number::plain(value, 3) + " B"),
            Unit::GigabitsPerSecond => number::plain(value, 3) + " Gbit/s",
            Unit::Named(name) => {
                let text = if whole { value.to_string() } else { number::plain(value, 3) };
                format!("{text} {name}").trim_end().to_owned()
            }
        }
    }

    /// A tick's value in the largest unit that keeps it at or above one, with no
    /// digit more than it needs.
    pub fn tick(&self, value: f64) -> String {
        let (value, unit) = match self {
            Unit::Bytes => return bytes(value).unwrap_or_else(|| format!("{value} B")),
            Unit::Quantile => return quantile(value),
            Unit::Named(_) => (value, ""),
            Unit::Seconds => (value, " s"),
            Unit::GigabitsPerSecond => (value, " Gbit/s"),
            Unit::Ns => match value {
                v if v >= 0.999_999_9e9 => (v / 1e9, " s"),
                v if v >= 0.999_999_9e6 => (v / 1e6, " ms"),
                v if v >= 0.999_999_9e3 => (v / 1e3, " µs"),
                v => (v, " ns"),
            },
        };
        let text = format!("{value:.3}");
        text.trim_end_matches('0').trim_end_matches('.').to_owned() + unit
    }
}

/// A number of bytes that can be one.
fn bytes(value: f64) -> Option<String> {
    let whole = value.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(&value);
    whole.then(|| number::bytes(value as u32))
}
