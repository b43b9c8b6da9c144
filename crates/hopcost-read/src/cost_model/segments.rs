//! Lines through ranges of sizes, where no one line describes all: a mechanism that changes its way at a size
//! has a line below it and another from there on.

use hopcost_model::results::CostSegment;
use hopcost_stats::line::{Line, fit_relative, residual_max};

use crate::estimate::over_lines;

/// The least sizes of a range: two make a line, and one more can contradict it.
const SIZES_MIN: usize = 3;

/// The two ranges whose lines are nearest to what was measured; none where no two describe it. `rounds` have
/// a value at every size that `typical` has, ascending; no size may lie farther off than this share.
pub fn segments(
    rounds: &[&Vec<(f64, f64)>],
    typical: &[(f64, f64)],
    most: f64,
) -> Vec<CostSegment> {
    let n = typical.len();
    let worst = |at: usize| {
        let (low, high) = typical.split_at(at);
        Some(distance(low)?.max(distance(high)?))
    };
    let splits = (SIZES_MIN..=n.saturating_sub(SIZES_MIN)).filter_map(|at| Some((at, worst(at)?)));
    let best = splits.min_by(|a, b| a.1.total_cmp(&b.1));
    let Some((at, _)) = best.filter(|(_, worst)| *worst <= most) else { return Vec::new() };
    let parts = [0..at, at..n];
    let found: Option<Vec<CostSegment>> = parts
        .into_iter()
        .map(|part| {
            let lines: Vec<Line> = rounds
                .iter()
                .filter_map(|points| fit_relative(points.get(part.clone())?))
                .collect();
            let (fixed_ns, per_byte_ns, line) = over_lines(&lines);
            let sizes = typical.get(part)?;
            Some(CostSegment {
                from_bytes: sizes.first()?.0 as u32,
                to_bytes: sizes.last()?.0 as u32,
                residual_max: residual_max(line?, sizes)?,
                fixed_ns,
                per_byte_ns,
            })
        })
        .collect();
    found.unwrap_or_default()
}

fn distance(points: &[(f64, f64)]) -> Option<f64> {
    residual_max(fit_relative(points)?, points)
}
