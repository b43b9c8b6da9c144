//! What a runtime adds to the same mechanism in Rust: the difference of the two round
//! trips of one round, split into a constant part and one per byte.
//!
//! The line through a round's differences is fitted by least squares; what is published
//! is the median over rounds of its two parts. Differences may be small or negative, so
//! they are not weighted by their size as costs are.

mod sentence;
mod size;

use std::collections::BTreeMap;

use hopcost_model::case::{Case, Runtimes, Workload};
use hopcost_model::group::grouped;
use hopcost_model::results::{AddedCost, Estimate};
use hopcost_stats::line::Line;

use super::entry::{Entry, find, with};
use super::name;
use crate::estimate::{TRIALS_MIN, over_lines};
use crate::format;
use crate::ratio::paired;
use size::Size;

/// How far a size may be off the line, as a share of the greatest difference.
const RESIDUAL_MAX: f64 = 0.10;
/// How far the smallest size may be off it, as a share of its own difference: where the
/// largest difference is many times the smallest, the other rule sees only the largest.
const SMALLEST_OFF_MAX: f64 = 0.25;

/// One entry for every runtime and every set of round trips of it that differ in their
/// payload alone and were measured in Rust too, in the order of the plan.
pub fn added(entries: &[Entry]) -> Vec<AddedCost> {
    let foreign = |entry: &&Entry| {
        let runtime = entry.runtime().is_some_and(|runtime| !runtime.is_rust());
        runtime && entry.case.workload == Workload::Roundtrip
    };
    let sized =
        entries.iter().filter(foreign).filter_map(|entry| Some((entry, size(entries, entry)?)));
    let sweeps = grouped(sized, |(entry, _)| Case { payload_bytes: None, ..entry.case.clone() });
    let all: Vec<Case> = sweeps.iter().map(|(case, _)| case.clone()).collect();
    let costs = sweeps.into_iter().filter_map(|(case, sized)| {
        let first = &sized.first()?.0.case;
        let name = name::mechanism(first, all.iter());
        Some(cost(&case, name, sized.into_iter().map(|(_, size)| size).collect()))
    });
    costs.collect()
}

/// A round trip beside the same in Rust; `None` without a round of both.
fn size(entries: &[Entry], entry: &Entry) -> Option<Size> {
    let rust =
        find(entries, &with(&entry.case, Runtimes::RUST)).filter(|rust| entry.is_like(rust))?;
    let pairs = paired(&entry.by_round(), &rust.by_round()).into_iter();
    let rounds: BTreeMap<u32, (f64, f64)> =
        pairs.map(|(round, foreign, rust)| (round, (foreign, rust))).collect();
    let positive = rounds.values().all(|(foreign, rust)| *foreign > 0.0 && *rust > 0.0);
    let bytes = entry.case.payload_bytes.unwrap_or(0);
    (positive && !rounds.is_empty()).then_some(Size { bytes, rounds })
}

fn cost(sweep: &Case, what: String, mut sizes: Vec<Size>) -> AddedCost {
    sizes.sort_by_key(|size| size.bytes);
    let sizes = &sizes;
    let differences_ns: Vec<Estimate> = sizes.iter().map(Size::difference).collect();
    let lines = lines(sizes);
    let (constant, per_byte, line) = over_lines(&lines);
    let residual = line.and_then(|line| residual(line, sizes));
    let refused = refusal(sizes, &lines, line, residual);
    let given = |estimate: Estimate| Some(estimate).filter(|_| refused.is_none());
    let (constant_ns, per_byte_ns) = (given(constant), given(per_byte));
    let runtime = sweep.runtimes.caller.to_string();
    AddedCost {
        sentence: sentence::sentence(&runtime, &what, sizes, &constant_ns, &per_byte_ns),
        label: [what].into_iter().chain(name::place(sweep)).collect::<Vec<_>>().join(", "),
        runtime,
        sizes: sizes.iter().map(|size| size.bytes).collect(),
        differences_ns,
        constant_ns,
        per_byte_ns,
        residual_max: residual,
        refused,
    }
}

/// The line of each round that has every size: another round's would be through other
/// sizes.
fn lines(sizes: &[Size]) -> Vec<Line> {
    let Some(first) = sizes.first() else { return Vec::new() };
    let of_round = |round: &u32| {
        let points: Option<Vec<(f64, f64)>> = sizes
            .iter()
            .map(|size| {
                let (foreign, rust) = size.rounds.get(round)?;
                Some((f64::from(size.bytes), foreign - rust))
            })
            .collect();
        fit(&points?)
    };
    first.rounds.keys().filter_map(of_round).collect()
}

/// The line with the least sum of squared distances; `None` without two different x.
fn fit(points: &[(f64, f64)]) -> Option<Line> {
    let n = points.len() as f64;
    let mean =
        |of: &dyn Fn(f64, f64) -> f64| points.iter().map(|(x, y)| of(*x, *y)).sum::<f64>() / n;
    // Around the means, so that large sizes lose no digits.
    let (x_mean, y_mean) = (mean(&|x, _| x), mean(&|_, y| y));
    let spread = mean(&|x, _| (x - x_mean) * (x - x_mean));
    let per_unit = mean(&|x, y| (x - x_mean) * (y - y_mean)) / spread;
    let line = Line { fixed: y_mean - per_unit * x_mean, per_unit };
    (spread > 0.0 && line.fixed.is_finite() && line.per_unit.is_finite()).then_some(line)
}

/// The greatest distance of a size from the line, as a share of the greatest
/// difference; nothing with two sizes, through which any line goes.
fn residual(line: Line, sizes: &[Size]) -> Option<f64> {
    let off = |size: &Size| (size.typical() - line.at(f64::from(size.bytes))).abs();
    let greatest = sizes.iter().map(|size| size.typical().abs()).fold(0.0, f64::max);
    let off = sizes.iter().map(off).fold(0.0, f64::max);
    (sizes.len() > 2 && greatest > 0.0).then_some(off / greatest)
}

fn refusal(
    sizes: &[Size],
    lines: &[Line],
    line: Option<Line>,
    residual: Option<f64>,
) -> Option<String> {
    if sizes.len() < 2 {
        return Some("one size makes no line".to_owned());
    }
    if lines.len() < TRIALS_MIN {
        let rounds = format::count(lines.len(), "round");
        return Some(format!("{rounds} with every size; an interval needs {TRIALS_MIN}"));
    }
    let (line, smallest) = (line?, sizes.first()?);
    if let Some(residual) = residual.filter(|residual| *residual > RESIDUAL_MAX) {
        return Some(format!(
            "the differences lie on no line: one is off it by {} of the greatest",
            format::percent(residual)
        ));
    }
    let difference = smallest.difference();
    let (at, seen) = (line.at(f64::from(smallest.bytes)), difference.point?);
    let within = difference.low.zip(difference.high).is_some_and(|(l, h)| l <= at && at <= h);
    (sizes.len() > 2 && !within && (at - seen).abs() > SMALLEST_OFF_MAX * seen.abs()).then(|| {
        format!(
            "the differences lie on no line: at {} bytes it says {}, and {} was measured",
            smallest.bytes,
            format::ns(at),
            format::ns(seen)
        )
    })
}

#[cfg(test)]
mod tests;
