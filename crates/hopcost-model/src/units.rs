//! Sizes, durations and rates as people write them.

use std::fmt;
use std::str::FromStr;

/// Why a text is not a size or duration.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct UnitError(String);

fn split(text: &str) -> Option<(u64, u64, &str)> {
    let unit_at = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(unit_at);
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if whole.is_empty() || (number.contains('.') && fraction.is_empty()) || fraction.len() > 9 {
        return None;
    }
    let nano = if fraction.is_empty() { 0 } else { format!("{fraction:0<9}").parse().ok()? };
    Some((whole.parse().ok()?, nano, unit.trim_start()))
}

/// A number with a unit that `size_of` knows; a part of the smallest unit is refused.
fn parse(
    text: &str,
    (what, example): (&'static str, &'static str),
    size_of: impl Fn(&str) -> Option<u64>,
) -> Result<u64, UnitError> {
    let form = || UnitError(format!("`{text}` is not a {what} (for instance {example})"));
    let (whole, nano, unit) = split(text.trim()).ok_or_else(form)?;
    if unit.is_empty() && size_of("").is_none() && (whole, nano) != (0, 0) {
        let number = text.trim();
        let says = format!("`{number}` has no unit; write {number}us, {number}ms or {number}s");
        return Err(UnitError(says));
    }
    let size = size_of(unit).or((whole == 0 && nano == 0 && unit.is_empty()).then_some(1));
    let size = size.filter(|size| *size > 1 || nano == 0).ok_or_else(form)?;
    let parts = u128::from(nano) * u128::from(size) / 1_000_000_000;
    let total = u128::from(whole) * u128::from(size) + parts;
    u64::try_from(total).map_err(|_| UnitError(format!("`{text}` is too large")))
}

/// Bytes of `64`, `64B`, `4KiB`, `1.5MiB`, `10kB`: k, M and G are powers of 1000, Ki, Mi and Gi of
/// 1024, whatever their case, and a bare number is bytes.
pub fn parse_size(text: &str) -> Result<u64, UnitError> {
    parse(text, ("size", "64, 4KiB, 1MiB"), |unit| {
        let unit = unit.to_ascii_lowercase();
        Some(match unit.strip_suffix('b').unwrap_or(&unit) {
            "" => 1,
            "k" => 1_000,
            "ki" => 1 << 10,
            "m" => 1_000_000,
            "mi" => 1 << 20,
            "g" => 1_000_000_000,
            "gi" => 1 << 30,
            _ => return None,
        })
    })
}

/// Nanoseconds of `20us`, `1.5ms`, `2s`, `2m`, `1h`; a bare number is refused
/// except 0, because seconds and nanoseconds are both plausible.
pub fn parse_duration_ns(text: &str) -> Result<u64, UnitError> {
    parse(text, ("duration", "500us, 20ms, 75s, 2m"), |unit| match unit {
        "ns" => Some(1),
        "us" | "µs" | "μs" => Some(1_000),
        "ms" => Some(1_000_000),
        "s" => Some(1_000_000_000),
        "m" | "min" => Some(60_000_000_000),
        "h" => Some(3_600_000_000_000),
        _ => None,
    })
}

/// A number in the largest of these units in which it is a whole number of such parts as tenths.
fn scaled(
    number: u64,
    parts: u64,
    units: [(u64, &'static str); 3],
) -> Option<(String, &'static str)> {
    let fits = |of: &(u64, &str)| number >= of.0 && number.is_multiple_of(of.0 / parts);
    let (unit, name) = units.into_iter().find(fits)?;
    let decimals = parts.ilog10() as usize;
    let text = format!("{}.{:0decimals$}", number / unit, number % unit / (unit / parts));
    Some((text.trim_end_matches('0').trim_end_matches('.').to_owned(), name))
}

/// A number in the shortest exact spelling (`500`, `10k`, `1.5M`).
pub fn format_number(number: u64) -> String {
    let found = scaled(number, 10, [(1_000_000_000, "G"), (1_000_000, "M"), (1_000, "k")]);
    found.map_or(number.to_string(), |(text, unit)| text + unit)
}

/// Messages a second, exact to a thousandth.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Rate(u64);

impl Rate {
    /// The rate of this number of messages in a thousand seconds.
    pub const fn thousandths(messages: u64) -> Self {
        Self(messages)
    }
    /// How many messages in a thousand seconds.
    pub const fn in_thousandths(self) -> u64 {
        self.0
    }
    /// Messages a second.
    pub fn per_s(self) -> f64 {
        self.0 as f64 / 1e3
    }
    /// The same where it is a whole number.
    pub fn whole(self) -> Option<u64> {
        self.0.is_multiple_of(1_000).then_some(self.0 / 1_000)
    }
    /// Messages in `ns` nanoseconds.
    pub fn messages_in(self, ns: u64) -> u64 {
        let messages = u128::from(self.0) * u128::from(ns) / 1_000_000_000_000;
        u64::try_from(messages).unwrap_or(u64::MAX)
    }
    /// Nanoseconds that a number of messages takes.
    pub fn ns_of(self, messages: u64) -> u64 {
        let ns = u128::from(messages) * 1_000_000_000_000 / u128::from(self.0.max(1));
        u64::try_from(ns).unwrap_or(u64::MAX)
    }
    /// The shortest exact spelling (`0.5`, `500`, `10k`, `1.5M`).
    pub fn brief(self) -> String {
        self.whole().map_or_else(|| self.to_string(), format_number)
    }
}

impl From<u32> for Rate {
    fn from(per_second: u32) -> Self {
        Self(1_000 * u64::from(per_second))
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.whole() {
            Some(whole) => whole.fmt(f),
            None => self.per_s().fmt(f),
        }
    }
}

/// `0.5`, `2000`, `10k`, `1.5M`: k, M and G are powers of 1000.
impl FromStr for Rate {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Self, UnitError> {
        let thousandths = parse(text, ("number", "0.5, 500, 10k, 1.5M"), |unit| match unit {
            "" => Some(1_000),
            "k" | "K" => Some(1_000_000),
            "M" => Some(1_000_000_000),
            "G" => Some(1_000_000_000_000),
            _ => None,
        });
        thousandths.map(Self)
    }
}

/// A whole number where it is one.
impl serde::Serialize for Rate {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self.whole() {
            Some(whole) => to.serialize_u64(whole),
            None => to.serialize_f64(self.per_s()),
        }
    }
}

impl<'de> serde::Deserialize<'de> for Rate {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        f64::deserialize(from).map(|per_s| Self((per_s * 1e3).round() as u64))
    }
}

/// Bytes in the shortest exact spelling (`64 B`, `4 KiB`).
pub fn spaced_size(bytes: u64) -> String {
    let found = scaled(bytes, 1, [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")]);
    found.map_or(format!("{bytes} B"), |(text, unit)| format!("{text} {unit}"))
}

/// A duration that is known exactly, in the largest unit that needs no more than
/// three decimals (`10 µs`, `1.5 ms`).
pub fn exact_duration(ns: u64) -> String {
    let found = scaled(ns, 1_000, [(1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "µs")]);
    found.map_or(format!("{ns} ns"), |(text, unit)| format!("{text} {unit}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        assert_eq!(parse_size("64"), Ok(64));
        assert_eq!(parse_size("4KiB"), Ok(4096));
        assert_eq!(parse_size("4k"), Ok(4_000));
        assert_eq!(parse_size("4Ki"), Ok(4096));
        assert_eq!(parse_size("4kib"), Ok(4096));
        assert_eq!(parse_size("1GB"), Ok(1_000_000_000));
        assert_eq!(parse_size("1.5MiB"), Ok(1_572_864));
        for bad in
            ["", "-1", "x", "4XiB", "1.5", "1e3", "99999999999999999999", ".5k", "1.k", "4KiBB"]
        {
            assert!(parse_size(bad).is_err(), "{bad}");
        }
        let large = parse_size("99999999999GiB").unwrap_err().to_string();
        assert_eq!(large, "`99999999999GiB` is too large");
        assert_eq!([0, 4096, 5000].map(spaced_size), ["0 B", "4 KiB", "5000 B"]);
    }

    #[test]
    fn rates() {
        for (text, brief, per_s) in
            [("0.5", "0.5", 0.5), ("2.125", "2.125", 2.125), ("1500k", "1.5M", 1.5e6)]
        {
            let rate: Rate = text.parse().unwrap();
            assert_eq!((rate.brief(), rate.per_s()), (brief.to_owned(), per_s));
            assert_eq!(rate.to_string().parse(), Ok(rate));
            assert_eq!(serde_json::from_value(serde_json::json!(rate)).ok(), Some(rate));
        }
        assert_eq!(serde_json::json!(Rate::from(10_000)), serde_json::json!(10_000));
        let half = Rate::thousandths(500);
        assert_eq!((half.messages_in(40_000_000_000), half.ns_of(20)), (20, 40_000_000_000));
        assert!("-1".parse::<Rate>().is_err() && "1e3".parse::<Rate>().is_err());
    }

    #[test]
    fn durations() {
        assert_eq!(parse_duration_ns("20us"), Ok(20_000));
        assert_eq!(parse_duration_ns("1.5ms"), Ok(1_500_000));
        assert_eq!(parse_duration_ns("2m"), Ok(120_000_000_000));
        assert_eq!(parse_duration_ns("0"), Ok(0));
        for bad in ["", "5", "-1s", "1 fortnight", "s"] {
            assert!(parse_duration_ns(bad).is_err(), "{bad}");
        }
        let bare = parse_duration_ns("1").unwrap_err().to_string();
        assert_eq!(bare, "`1` has no unit; write 1us, 1ms or 1s");
    }
}
