//! Sizes and durations as people write them.

/// Why a text is not a size or duration.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnitError {
    /// Not a number with a known unit.
    #[error("`{got}` is not a {what} (for instance {example})")]
    Form {
        /// Size or duration.
        what: &'static str,
        /// What was written.
        got: String,
        /// What could have been.
        example: &'static str,
    },
    /// A duration without its unit.
    #[error("`{0}` has no unit; write {0}us, {0}ms or {0}s")]
    NoUnit(String),
    /// More than fits.
    #[error("`{0}` is too large")]
    TooLarge(String),
}

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
    let form = || UnitError::Form { what, got: text.to_owned(), example };
    let (whole, nano, unit) = split(text.trim()).ok_or_else(form)?;
    if unit.is_empty() && size_of("").is_none() && (whole, nano) != (0, 0) {
        return Err(UnitError::NoUnit(text.trim().to_owned()));
    }
    let size = size_of(unit).or((whole == 0 && nano == 0 && unit.is_empty()).then_some(1));
    let size = size.filter(|size| *size > 1 || nano == 0).ok_or_else(form)?;
    let parts = u128::from(nano) * u128::from(size) / 1_000_000_000;
    let total = u128::from(whole) * u128::from(size) + parts;
    u64::try_from(total).map_err(|_| UnitError::TooLarge(text.to_owned()))
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

/// `10k`, `1.5M`, `2000`: k, M and G are powers of 1000.
pub fn parse_number(text: &str) -> Result<u64, UnitError> {
    parse(text, ("number", "500, 10k, 1.5M"), |unit| match unit {
        "" => Some(1),
        "k" | "K" => Some(1_000),
        "M" => Some(1_000_000),
        "G" => Some(1_000_000_000),
        _ => None,
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

/// A number in the shortest exact spelling (`500`, `10k`, `1.5M`).
pub fn format_number(number: u64) -> String {
    for (unit, name) in [(1_000_000_000u64, "G"), (1_000_000, "M"), (1_000, "k")] {
        let tenths = unit / 10;
        if number >= unit && number.is_multiple_of(tenths) {
            return match (number / unit, number % unit / tenths) {
                (whole, 0) => format!("{whole}{name}"),
                (whole, tenth) => format!("{whole}.{tenth}{name}"),
            };
        }
    }
    number.to_string()
}

/// Bytes in the shortest exact spelling (`64`, `4KiB`).
pub fn format_size(bytes: u64) -> String {
    for (unit, name) in [(1u64 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")] {
        if bytes >= unit && bytes.is_multiple_of(unit) {
            return format!("{}{name}", bytes / unit);
        }
    }
    bytes.to_string()
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
        assert_eq!(parse_size("10kB"), Ok(10_000));
        for bad in
            ["", "-1", "x", "4XiB", "1.5", "1e3", "99999999999999999999", ".5k", "1.k", "4KiBB"]
        {
            assert!(parse_size(bad).is_err(), "{bad}");
        }
        assert!(matches!(parse_size("99999999999GiB"), Err(UnitError::TooLarge(_))));
        assert_eq!(format_size(4096), "4KiB");
        assert_eq!(format_size(44), "44");
        assert_eq!(format_size(0), "0");
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
