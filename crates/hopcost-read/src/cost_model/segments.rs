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
            // The lines of the rounds may lie elsewhere than the one through their medians.
            let residual_max = residual_max(line?, sizes).filter(|off| *off <= most)?;
            Some(CostSegment {
                from_bytes: sizes.first()?.0 as u32,
                to_bytes: sizes.last()?.0 as u32,
                residual_max,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_rounds_that_lie_elsewhere_describe_nothing() {
        let cost = |size: f64| if size < 5.0 { 100.0 } else { 100.0 * size };
        let typical: Vec<(f64, f64)> =
            [1.0, 2.0, 4.0, 8.0, 16.0, 32.0].iter().map(|size| (*size, cost(*size))).collect();
        assert_eq!(segments(&[&typical; 6], &typical, 0.15).len(), 2);
        let slower: Vec<(f64, f64)> = typical.iter().map(|(size, ns)| (*size, 1.5 * ns)).collect();
        assert_eq!(segments(&[&slower; 6], &typical, 0.15), []);
    }
}
