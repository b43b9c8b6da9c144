//! Arithmetic on printed figures: what a sum, product or quotient can be, given that each figure is
//! rounded to the digits that it has.

use hopcost_model::results::Region;

use super::cursor::{Cursor, Parsed};

/// Parentheses within each other.
const DEPTH_MAX: usize = 20;

/// The least and the greatest that it can be.
type Range = (f64, f64);

/// One side of an equation. A whole number is a count and exact, unless it stands alone.
pub(super) fn side(at: &mut Cursor) -> Parsed<Region> {
    at.peek();
    let start = at.at;
    let alone = at.digits().is_ok_and(|digits| !digits.contains('.'))
        && matches!(at.peek(), Some('=' | ')'));
    at.at = start;
    let (low, high) = sum(at, DEPTH_MAX)?;
    if !low.is_finite() || !high.is_finite() {
        return Err((start, "it divides by what may be 0, or is too large".to_owned()));
    }
    let half = if alone { 0.5 } else { 0.0 };
    Ok(Region { low: Some(low - half), high: Some(high + half) })
}

fn sum(at: &mut Cursor, depth: usize) -> Parsed<Range> {
    let mut left = product(at, depth)?;
    loop {
        if at.takes("+") {
            let right = product(at, depth)?;
            left = (left.0 + right.0, left.1 + right.1);
        } else if at.takes("-") {
            let right = product(at, depth)?;
            left = (left.0 - right.1, left.1 - right.0);
        } else {
            return Ok(left);
        }
    }
}

fn product(at: &mut Cursor, depth: usize) -> Parsed<Range> {
    let mut left = figure(at, depth)?;
    loop {
        if at.takes("*") || at.takes("×") {
            left = corners(left, figure(at, depth)?, |a, b| a * b);
        } else if at.takes("/") {
            let right = figure(at, depth)?;
            let has_zero = right.0 <= 0.0 && right.1 >= 0.0;
            left = match has_zero {
                true => (f64::NEG_INFINITY, f64::INFINITY),
                false => corners(left, right, |a, b| a / b),
            };
        } else {
            return Ok(left);
        }
    }
}

fn corners(left: Range, right: Range, of: impl Fn(f64, f64) -> f64) -> Range {
    let all = [(left.0, right.0), (left.0, right.1), (left.1, right.0), (left.1, right.1)];
    let all = all.map(|(a, b)| of(a, b));
    let low = all.iter().copied().fold(f64::INFINITY, f64::min);
    (low, all.iter().copied().fold(f64::NEG_INFINITY, f64::max))
}

fn figure(at: &mut Cursor, depth: usize) -> Parsed<Range> {
    if at.takes("(") {
        let Some(depth) = depth.checked_sub(1) else {
            return Err((at.at, format!("more than {DEPTH_MAX} parentheses within each other")));
        };
        let inner = sum(at, depth)?;
        at.expect(')')?;
        return Ok(inner);
    }
    let start = at.at;
    let digits = at.digits()?;
    let value: f64 = digits.parse().map_err(|_| (start, "no number".to_owned()))?;
    let half = digits
        .split_once('.')
        .map_or(0.0, |(_, fraction)| format!("5e-{}", fraction.len() + 1).parse().unwrap_or(0.0));
    Ok((value - half, value + half))
}
