//! Numbers as charts and the page write them: `crate::number`, with the few
//! forms that only they need.

use hopcost_model::results::{Estimate, Ratio};

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

/// `2.65 µs [2.62, 2.70]`, with a word where it was pooled.
pub(crate) fn estimate_text(estimate: &Estimate) -> String {
    let pooled = if estimate.pooled && estimate.point.is_some() { ", pooled" } else { "" };
    format!("{}{pooled}", shown(estimate))
}

/// `1.51` and `[1.50, 1.53]`
pub(crate) fn ratio(ratio: &Ratio) -> (String, Option<String>) {
    let text = number::ratio(ratio, Charset::Unicode);
    (text.trim_start_matches('×').to_owned(), number::ratio_interval(ratio))
}

/// A share as per cent.
pub(crate) fn percent(share: f64) -> String {
    number::percent(share)
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
}
