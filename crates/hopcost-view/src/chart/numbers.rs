//! Numbers as charts and the page write them: `crate::number`, with the few
//! forms that only they need.

use hopcost_model::results::{Estimate, Ratio};

pub(crate) use crate::number::share;
use crate::number::{self, DIGITS_MAX};
use crate::style::Charset;

/// A duration apart: digits, unit (empty where it is not known).
pub(crate) fn split(ns: f64, digits: u8) -> (String, String) {
    apart(&time_text(ns, digits))
}

/// `2.65 µs` apart.
pub(crate) fn apart(text: &str) -> (String, String) {
    match text.rsplit_once(' ') {
        Some((number, unit @ ("ns" | "µs" | "ms" | "s"))) => (number.to_owned(), unit.to_owned()),
        _ => (text.to_owned(), String::new()),
    }
}

/// `2.65 µs`
pub(crate) fn time_text(ns: f64, digits: u8) -> String {
    number::duration(ns, digits, Charset::Unicode)
}

/// `2.65 µs` and `[2.61, 2.70]`
pub(crate) fn shown(estimate: &Estimate) -> number::Shown {
    number::estimate(estimate, DIGITS_MAX, Charset::Unicode)
}

/// `2.65 µs [2.62, 2.70]`, with words where it was pooled or is wide.
pub(crate) fn estimate_text(estimate: &Estimate) -> String {
    let pooled = if estimate.pooled && estimate.point.is_some() { ", pooled" } else { "" };
    let wide = if number::is_wide(estimate) { ", wide" } else { "" };
    format!("{}{pooled}{wide}", shown(estimate))
}

/// `1.51` and `[1.50, 1.53]`
pub(crate) fn ratio(ratio: &Ratio) -> (String, Option<String>) {
    let text = number::ratio(ratio, Charset::Unicode);
    (text.trim_start_matches('×').to_owned(), number::ratio_interval(ratio))
}

/// A coverage as per cent.
pub(crate) fn coverage(level: f64) -> String {
    number::percent(level)
}

/// A relative difference that can be told apart, as per cent, rounded up: never
/// finer than it is.
pub(crate) fn detectable(relative: f64) -> String {
    // What a decimal fraction misses in binary must not count as a step.
    let tenths = (relative * 1000.0 - 1e-6).ceil().max(0.0);
    if tenths < 100.0 {
        format!("{:.1} %", tenths / 10.0)
    } else {
        format!("{:.0} %", (tenths / 10.0).ceil())
    }
}

/// A count with its thousands apart (by a narrow space that does not break).
pub(crate) fn grouped(n: u64) -> String {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_apart_from_their_units() {
        assert_eq!(split(2654.0, 3), ("2.65".to_owned(), "µs".to_owned()));
        assert_eq!(apart("not known"), ("not known".to_owned(), String::new()));
        assert_eq!(grouped(1_234_567), "1\u{202f}234\u{202f}567");
        assert_eq!(grouped(123), "123");
    }

    #[test]
    fn what_can_be_told_apart_is_rounded_up() {
        assert_eq!(detectable(0.0301), "3.1 %");
        assert_eq!(detectable(0.03), "3.0 %");
        assert_eq!(detectable(0.5901), "60 %");
        assert_eq!(share(0.78), "78 %");
        assert_eq!(share(0.021), "2.1 %");
    }
}
