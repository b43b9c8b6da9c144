//! What the differences say, in a sentence that claims no more than their intervals.

use hopcost_model::results::Estimate;

use super::size::Size;
use crate::format;
use crate::ladder::bytes;

/// On which side of a value an interval lies.
#[derive(Clone, Copy, PartialEq)]
enum Side {
    Above,
    Below,
    Around,
}

/// `None` without an interval.
fn side(estimate: &Estimate, of: f64) -> Option<Side> {
    let (low, high) = estimate.low.zip(estimate.high)?;
    Some(match () {
        () if low > of => Side::Above,
        () if high < of => Side::Below,
        () => Side::Around,
    })
}

/// The sentence of one runtime and mechanism.
pub fn sentence(
    runtime: &str,
    mechanism: &str,
    sizes: &[Size],
    constant: &Option<Estimate>,
    per_byte: &Option<Estimate>,
) -> String {
    let (Some(first), Some(last)) = (sizes.first(), sizes.last()) else { return String::new() };
    let line = constant.as_ref().zip(per_byte.as_ref()).and_then(|(constant, per_byte)| {
        Some((constant, side(constant, 0.0)?, per_byte, side(per_byte, 0.0)?))
    });
    let mut text = match line {
        Some((constant, at_zero, per_byte, slope)) => format!(
            "{} {}",
            of_constant(runtime, mechanism, constant, at_zero),
            of_bytes(per_byte, slope, at_zero)
        ),
        None => of_sizes(runtime, mechanism, first, last),
    };
    if side(&first.difference(), 0.0) == Some(Side::Above) {
        text.push_str(&format!("; at {} ", bytes_of(first)));
        text.push_str(&shares(runtime, first));
        if last.bytes != first.bytes && side(&last.difference(), 0.0) == Some(Side::Above) {
            let share = last.share();
            let of = with_interval(&share, format::percent);
            text.push_str(&format!(", and at {} {of}", bytes_of(last)));
        }
    }
    text.push('.');
    text
}

fn of_constant(runtime: &str, mechanism: &str, constant: &Estimate, side: Side) -> String {
    let amount = ns(constant);
    match side {
        Side::Above => format!("{runtime} adds {amount} to each round trip over {mechanism}"),
        Side::Below => {
            format!(
                "{runtime} takes {} off each round trip over {mechanism}",
                ns(&turned(constant))
            )
        }
        Side::Around => format!(
            "{runtime} adds nothing that can be seen ({amount}) to a round trip of no bytes over \
             {mechanism}"
        ),
    }
}

fn of_bytes(per_byte: &Estimate, side: Side, constant: Side) -> String {
    let amount = ns(per_byte);
    match side {
        Side::Above if constant == Side::Above => {
            format!("and {amount} for each byte of a message")
        }
        Side::Above => format!("but {amount} for each byte of a message"),
        Side::Below => format!("and takes {} off for each byte", ns(&turned(per_byte))),
        Side::Around => format!("and nothing that can be seen per byte ({amount})"),
    }
}

/// Without a line: what was found at the ends.
fn of_sizes(runtime: &str, mechanism: &str, first: &Size, last: &Size) -> String {
    let at = |size: &Size, than: &str| {
        let (difference, bytes) = (size.difference(), bytes_of(size));
        let amount = ns(&difference);
        match side(&difference, 0.0) {
            Some(Side::Above) => format!("takes {amount} longer{than} at {bytes}"),
            Some(Side::Below) => {
                format!("takes {} less{than} at {bytes}", ns(&turned(&difference)))
            }
            Some(Side::Around) => {
                let from = if than.is_empty() { "it" } else { "rust's" };
                format!("cannot be told from {from} at {bytes} (a difference of {amount})")
            }
            None => format!(
                "takes {amount} longer{than} at {bytes} ({}, too few for an interval)",
                format::count(size.rounds.len(), "round")
            ),
        }
    };
    let mut text = format!("{runtime}'s round trip over {mechanism} {}", at(first, " than rust's"));
    if last.bytes != first.bytes {
        text.push_str(&format!(" and {}", at(last, "")));
    }
    text
}

/// The difference as a multiple of Rust's round trip and as a share of the runtime's.
fn shares(runtime: &str, size: &Size) -> String {
    let share = size.share();
    let so = match side(&share, 0.5) {
        Some(Side::Above) => "more than everything that rust's takes, kernel included",
        Some(Side::Below) => "less than what rust's takes",
        Some(Side::Around) | None => "about as much as rust's takes",
    };
    format!(
        "that is {} times all of rust's round trip, or {} of {runtime}'s: {so}",
        with_interval(&size.of_rust(), format::three),
        with_interval(&share, format::percent)
    )
}

fn bytes_of(size: &Size) -> String {
    bytes(size.bytes)
}

fn turned(of: &Estimate) -> Estimate {
    let minus = |value: Option<f64>| value.map(|value| -value);
    Estimate { point: minus(of.point), low: minus(of.high), high: minus(of.low), ..of.clone() }
}

fn ns(estimate: &Estimate) -> String {
    with_interval(estimate, format::ns)
}

/// `9.10 µs [8.90 µs, 9.30 µs]`; without brackets where there is no interval.
fn with_interval(estimate: &Estimate, word: fn(f64) -> String) -> String {
    let point = estimate.point.map_or_else(|| "an unknown amount".to_owned(), word);
    match estimate.low.zip(estimate.high) {
        Some((low, high)) => format!("{point} [{}, {}]", word(low), word(high)),
        None => point,
    }
}
