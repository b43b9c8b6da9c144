//! Numbers as they are printed: what rounding, a `~` or a range leaves open, and the unit.

use crate::unit::Unit;

/// What a value can be: rounding leaves it open.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Span {
    /// The least.
    pub low: f64,
    /// The most.
    pub high: f64,
}

impl Span {
    /// One value.
    pub fn exactly(value: f64) -> Self {
        Self { low: value, high: value }
    }

    /// The product with one that is not negative.
    pub fn times(self, by: Self) -> Self {
        Self { low: self.low * by.low, high: self.high * by.high }
    }

    /// The quotient of two that are not negative; `None` where that may be anything.
    pub fn over(self, by: Self) -> Option<Self> {
        (by.low > 0.0).then(|| Self { low: self.low / by.high, high: self.high / by.low })
    }

    /// Whether some value is in both.
    pub fn meets(self, other: Self) -> bool {
        // Arithmetic itself rounds.
        let slack = 1e-9 * self.high.abs().max(other.high.abs());
        self.low <= other.high + slack && other.low <= self.high + slack
    }

    /// From the least of both to the most of both.
    pub fn with(self, other: Self) -> Self {
        Self { low: self.low.min(other.low), high: self.high.max(other.high) }
    }

    /// The middle.
    pub fn mid(self) -> f64 {
        f64::midpoint(self.low, self.high)
    }

    /// How wide it is for its size.
    pub fn relative(self) -> f64 {
        (self.high - self.low) / self.mid().abs().max(f64::MIN_POSITIVE)
    }
}

/// How a number is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Told {
    /// As one value.
    Once,
    /// As a range, which says itself how far it goes.
    Range,
}

/// A printed number.
#[derive(Debug, Clone, PartialEq)]
pub struct Number {
    /// As it stands there, in the unit that is said.
    pub value: f64,
    /// What it was before it was rounded or cut off.
    pub span: Span,
    /// How it is told.
    pub told: Told,
    /// Significant digits.
    pub digits: usize,
    /// What stands behind ±, with what rounding leaves open.
    pub spread: Option<Span>,
    /// The unit behind it.
    pub unit: Option<Unit>,
}

/// The share of a value that the zeros at its end may leave open: 1500 is not 1000 or 2000.
const ZEROS_SHARE: f64 = 0.05;

impl Number {
    /// The number that a text begins with; `None` where it begins with another thing or goes on
    /// as no number does (a date, a version).
    pub fn parse(text: &str) -> Option<Self> {
        Self::leading(text).map(|(number, _)| number)
    }

    /// The same, and what follows it.
    pub fn leading(text: &str) -> Option<(Self, &str)> {
        let text = text.trim().trim_start_matches(['~', '≈', '∼', '+', '×']).trim_start();
        let (mut number, mut rest) = plain(text)?;
        if let Some((to, after)) = rest.strip_prefix(['-', '–']).and_then(plain) {
            let span = Span { low: number.value, high: to.value };
            (span.low <= span.high).then_some(())?;
            number = Self { value: span.mid(), span, told: Told::Range, ..number };
            rest = after;
        }
        let behind = rest.trim_start();
        if let Some(text) = behind.strip_prefix('±').or_else(|| behind.strip_prefix("+/-")) {
            let (spread, after) = plain(text.trim_start())?;
            // In per cent it is of the value.
            let share = after.trim_start().strip_prefix('%');
            let of = share.map_or(1.0, |_| number.value.abs() / 100.0);
            number.spread = Some(spread.span.times(Span::exactly(of)));
            rest = share.unwrap_or(after);
        }
        let word = rest.trim_start();
        let end = word.find([' ', '\t', ')', ',', ';']).unwrap_or(word.len());
        match Unit::of(&word[..end]) {
            Some(unit) => Some((Self { unit: Some(unit), ..number }, &word[end..])),
            // `2nd`, `10.3.1`, `5:30` are no numbers.
            None if rest.starts_with(|c: char| c.is_alphanumeric() || ".:/_-%".contains(c))
                && !sentence_ends(rest) =>
            {
                None
            }
            None => Some((number, rest)),
        }
    }

    /// In base units: of its own unit, or else of its column's.
    pub fn scaled(self, column: Option<Unit>) -> Self {
        let scale = self.unit.or(column).map_or(1.0, |unit| unit.scale);
        let scaled = |span: Span| span.times(Span::exactly(scale));
        Self {
            value: self.value * scale,
            span: scaled(self.span),
            spread: self.spread.map(scaled),
            unit: self.unit.or(column),
            ..self
        }
    }
}

/// A full stop, colon or dash that ends a part of a sentence.
fn sentence_ends(rest: &str) -> bool {
    rest.starts_with(['.', ':', '-']) && !rest[1..].starts_with(char::is_alphanumeric)
}

/// Digits with thousands separators, a fraction, an exponent, and k or M right behind.
fn plain(text: &str) -> Option<(Number, &str)> {
    let body = text.strip_prefix(['-', '−']).unwrap_or(text);
    let is_part = |c: char| c.is_ascii_digit() || c == '.' || c == ',' || c == '\'';
    let part = |text: &str| text.find(|c| !is_part(c)).unwrap_or(text.len());
    let mut end = part(body);
    // A space before three digits separates thousands too.
    while let Some(group) = body[end..].strip_prefix([' ', '\u{a0}', '\u{2009}', '\u{202f}'])
        && group.find(|c: char| !c.is_ascii_digit()).unwrap_or(group.len()) == 3
    {
        end = body.len() - group.len() + 3;
        end += part(&body[end..]);
    }
    // What ends a sentence or a clause is not of the number.
    end = body[..end].trim_end_matches(['.', ',', '\'']).len();
    let digits = &body[..end];
    digits.starts_with(|c: char| c.is_ascii_digit()).then_some(())?;
    let (whole, fraction) = parts(&digits.replace([' ', '\u{a0}', '\u{2009}', '\u{202f}'], ","))?;
    let mut value: f64 = format!("{whole}.{fraction}").parse().ok()?;
    let mut last = match fraction.len() {
        // Zeros at the end may stand for digits that were rounded away.
        0 => {
            let zeros = whole.len() - whole.trim_end_matches('0').len();
            10f64.powi(zeros.min(300) as i32).min(value * ZEROS_SHARE).max(1.0)
        }
        places => 10f64.powi(-(places.min(300) as i32)),
    };
    let mut rest = &body[end..];
    if let Some((exponent, after)) = exponent(rest) {
        (value, last) = (value * 10f64.powi(exponent), last * 10f64.powi(exponent));
        rest = after;
    }
    let suffixes = [('k', 1e3), ('K', 1e3), ('M', 1e6)];
    let behind = |(letter, scale): (char, f64)| {
        let after = rest.strip_prefix(letter)?;
        (!after.starts_with(char::is_alphanumeric)).then_some((scale, after))
    };
    if let Some((scale, after)) = suffixes.into_iter().find_map(behind) {
        (value, last, rest) = (value * scale, last * scale, after);
    }
    if body.len() < text.len() {
        value = -value;
    }
    value.is_finite().then_some(())?;
    let significant = format!("{whole}{fraction}").trim_start_matches('0').len();
    let span = Span { low: value - last, high: value + last };
    let told = Told::Once;
    Some((Number { value, span, told, digits: significant, spread: None, unit: None }, rest))
}

/// Whole part and fraction, without separators.
fn parts(digits: &str) -> Option<(String, String)> {
    let (whole, fraction) = digits.rsplit_once('.').unwrap_or((digits, ""));
    if !fraction.chars().all(|c| c.is_ascii_digit()) {
        return None;
    }
    let mut groups = whole.split([',', '\'']);
    let first = groups.next().unwrap_or_default();
    let rest: Vec<&str> = groups.collect();
    if !first.chars().all(|c| c.is_ascii_digit()) {
        return None;
    }
    match rest[..] {
        // A comma for a point, as in half of Europe.
        [decimals] if decimals.len() != 3 && fraction.is_empty() && whole.contains(',') => {
            let is_fraction = decimals.chars().all(|c| c.is_ascii_digit());
            is_fraction.then(|| (first.to_owned(), decimals.to_owned()))
        }
        _ => {
            let thousands = |group: &&str| group.len() == 3 && !group.contains('.');
            rest.iter().all(thousands).then(|| (first.to_owned() + &rest.concat(), fraction.into()))
        }
    }
}

/// `e-5`, and what follows it.
fn exponent(rest: &str) -> Option<(i32, &str)> {
    let text = rest.strip_prefix(['e', 'E'])?;
    let sign = usize::from(text.starts_with(['-', '+']));
    let end = text[sign..].find(|c: char| !c.is_ascii_digit()).map_or(text.len(), |at| at + sign);
    let exponent: i32 = text[..end].parse().ok()?;
    (exponent.abs() < 300).then_some((exponent, &text[end..]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unit::Dimension;

    #[test]
    fn printed_numbers() {
        for (text, value, low, high) in [
            ("80,411", 80_411.0, 80_410.0, 80_412.0),
            ("8.0411", 8.0411, 8.0410, 8.0412),
            ("~2.73× Slower", 2.73, 2.72, 2.74),
            ("1x (Baseline)", 1.0, 0.0, 2.0),
            ("~440,000", 440_000.0, 430_000.0, 450_000.0),
            ("~20,000", 20_000.0, 19_000.0, 21_000.0),
            ("10-20x slower", 15.0, 10.0, 20.0),
            ("~2–4", 3.0, 2.0, 4.0),
            ("1015.1k", 1_015_100.0, 1_015_000.0, 1_015_200.0),
            ("1.5e-3 s", 0.0015, 0.0014, 0.0016),
            ("3,24", 3.24, 3.23, 3.25),
            ("1'234'567", 1_234_567.0, 1_234_566.0, 1_234_568.0),
            ("1,234.5", 1_234.5, 1_234.4, 1_234.6),
            ("-3.5", -3.5, -3.6, -3.4),
            ("44.", 44.0, 43.0, 45.0),
            ("440 000", 440_000.0, 430_000.0, 450_000.0),
            ("12\u{202f}345.6", 12_345.6, 12_345.5, 12_345.7),
            ("9 1234", 9.0, 8.0, 10.0),
        ] {
            let number = Number::parse(text).unwrap_or_else(|| panic!("{text}"));
            let near = |a: f64, b: f64| (a - b).abs() <= 1e-9 * b.abs();
            assert!(near(number.value, value), "{text}: {number:?}");
            assert!(near(number.span.low, low) || low == 0.0, "{text}: {number:?}");
            assert!(near(number.span.high, high), "{text}: {number:?}");
        }
        for text in ["", "x", "<not counted>", "2nd", "10.3.1", "2026-01-02", "5:30", "1,2,3", "A1"]
        {
            assert_eq!(Number::parse(text), None, "{text}");
        }
    }

    #[test]
    fn units_and_spreads() {
        let number = Number::parse("1.75 ±0.1 us").expect("a number").scaled(None);
        assert_eq!((number.value, number.digits), (1750.0, 3));
        let spread = number.spread.expect("a spread");
        assert!(spread.low.abs() < 1e-6 && (spread.high - 200.0).abs() < 1e-6);
        let number = Number::parse("200 ±5%").expect("a number");
        assert_eq!((number.unit, number.spread.map(Span::mid)), (None, Some(10.0)));
        let number = Number::parse("4.0 µs!").expect("a number");
        assert_eq!(number.unit.map(|unit| unit.dimension), Some(Dimension::Time));
        let number = Number::parse("3").expect("a number").scaled(Unit::of("ms"));
        assert_eq!((number.value, number.span.low), (3e6, 2e6));
    }
}
