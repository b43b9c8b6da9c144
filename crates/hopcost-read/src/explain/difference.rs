//! What makes one case take longer than another, in a sentence.

use hopcost_model::case::Case;
use hopcost_model::results::{
    DifferencePart, Estimate, ExplainedDifference, SegmentDifference, TracedDifference,
};

use crate::format;

/// A difference and its parts, the greatest first; `None` where it has no value.
pub fn made_of(
    [first, second]: [&Case; 2],
    total_ns: Estimate,
    traced: TracedDifference,
    mut parts: Vec<DifferencePart>,
    segments: Vec<SegmentDifference>,
) -> Option<ExplainedDifference> {
    let size = |part: &DifferencePart| part.ns.point.unwrap_or(0.0).abs();
    parts.sort_by(|a, b| size(b).total_cmp(&size(a)));
    total_ns.point?;
    let says = sentence(&names(first, second), &total_ns, &parts);
    Some(ExplainedDifference { says, segments, total_ns, traced, parts })
}

/// What tells two cases apart.
fn names(first: &Case, second: &Case) -> [String; 2] {
    if first.mechanism != second.mechanism {
        return [first, second].map(format::mechanism);
    }
    let ids = [first.id(), second.id()];
    let parts =
        |id: &'_ str| -> Vec<String> { id.split(['?', '&']).skip(1).map(str::to_owned).collect() };
    let [one, other] = [parts(&ids[0]), parts(&ids[1])];
    let own = |of: &[String], other: &[String], which: &str| {
        let own: Vec<&str> =
            of.iter().filter(|part| !other.contains(part)).map(String::as_str).collect();
        // What is the default is not spelled.
        if own.is_empty() { which.to_owned() } else { own.join("&") }
    };
    [own(&one, &other, "the first"), own(&other, &one, "the second")]
}

/// Parts of a difference below this share of it are not named.
const NAMED_MIN: f64 = 0.05;

/// Whether an interval leaves the sign open; one that is not there leaves nothing open.
fn is_open(estimate: &Estimate) -> bool {
    estimate.low.zip(estimate.high).is_some_and(|(low, high)| low <= 0.0 && high >= 0.0)
}

/// `unix-stream costs 1.40 µs more than pipe [1.31 µs, 1.52 µs]: 1.20 µs in the send and receive paths, 0.2 …`
fn sentence(
    [first, second]: &[String; 2],
    total_ns: &Estimate,
    parts: &[DifferencePart],
) -> String {
    let whole_ns = total_ns.point.unwrap_or(0.0);
    let ends = total_ns.low.zip(total_ns.high);
    if is_open(total_ns) {
        let (low, high) = ends.unwrap_or_default();
        return format!(
            "{second} and {first} are not told apart: the difference lies between {} and {}",
            format::ns(low),
            format::ns(high)
        );
    }
    let (more, sign) = if whole_ns < 0.0 { ("less", -1.0) } else { ("more", 1.0) };
    let interval = match ends {
        Some((low, high)) => {
            let (near, far) = if sign < 0.0 { (-high, -low) } else { (low, high) };
            format!(" [{}, {}]", format::ns(near), format::ns(far))
        }
        None => {
            return format!(
                "{second} and {first} are not told apart, by too few rounds for an interval: the difference is {} \
                 so far",
                format::ns(whole_ns)
            );
        }
    };
    let is_named = |part: &&DifferencePart| {
        let point_ns = part.ns.point.unwrap_or(0.0);
        point_ns.abs() >= NAMED_MIN * whole_ns.abs() && !is_open(&part.ns)
    };
    let (named, same): (Vec<&DifferencePart>, Vec<&DifferencePart>) =
        parts.iter().partition(is_named);
    let named = named.iter().map(|part| {
        let ns = sign * part.ns.point.unwrap_or(0.0);
        let against = match (ns < 0.0, more) {
            (false, _) => "",
            (true, "more") => " less",
            (true, _) => " more",
        };
        format!("{}{against} in {}", format::ns(ns.abs()), part.what)
    });
    let named: Vec<String> = named.collect();
    let same: Vec<&str> = same.iter().map(|part| part.what.as_str()).collect();
    let colon = if named.is_empty() { "" } else { ": " };
    let same = match same.is_empty() {
        true => String::new(),
        false => format!("; about the same in {}", same.join(", ")),
    };
    let size = format::ns(whole_ns.abs());
    format!("{second} costs {size} {more} than {first}{interval}{colon}{}{same}", named.join(", "))
}
