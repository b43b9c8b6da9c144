//! Costs split into a fixed and a per-byte part, where the size was swept.
//!
//! The line t = a + b·m (Hockney) is fitted in each round by itself, to relative
//! distances; what is published is the median over rounds of a and of b. Where a
//! straight line does not describe what was measured, none is given.

use std::collections::BTreeMap;

use hopcost_model::case::Case;
use hopcost_model::group::grouped;
use hopcost_model::results::{CostModel, Estimate, Statistic};
use hopcost_stats::line::{Line, fit_relative, residual_max};
use hopcost_stats::sample::median;

use crate::case::Reading;
use crate::estimate::{TRIALS_MIN, over_lines};
use crate::format;

/// The least sizes: two make a line, and two more can contradict it.
const SIZES_MIN: usize = 4;
/// The greatest relative distance at which a line still describes a size.
const RESIDUAL_MAX: f64 = 0.15;

/// One model for every set of cases that differ in their payload alone, in the order
/// of the plan.
pub fn models(readings: &[Reading]) -> Vec<CostModel> {
    let known = readings.iter().filter_map(|reading| Some((reading.case?, reading)));
    let sized = known.filter(|(case, reading)| case.payload_bytes.is_some() && usable(reading));
    let sweeps = grouped(sized, |(case, _)| Case { payload_bytes: None, ..(*case).clone() });
    let modelled = sweeps.into_iter().filter(|(_, sizes)| sizes.len() >= SIZES_MIN);
    modelled
        .map(|(sweep, sizes)| {
            let sizes = sizes.into_iter();
            let size = |(case, reading): (&Case, _)| (case.payload_bytes.unwrap_or(0), reading);
            model(&sweep, sizes.map(size).collect())
        })
        .collect()
}

/// Measured, and not merely an upper bound.
fn usable(reading: &Reading) -> bool {
    reading.is_measured() && !reading.get(Statistic::Cost).is_some_and(|cost| cost.at_most)
}

fn model(sweep: &Case, mut sizes: Vec<(u32, &Reading)>) -> CostModel {
    sizes.sort_by_key(|(payload, _)| *payload);
    let mut rounds: BTreeMap<u32, Vec<(f64, f64)>> = BTreeMap::new();
    let mut typical = Vec::new();
    for (payload, reading) in &sizes {
        let values = reading.headline_by_round();
        let all: Vec<f64> = values.values().copied().collect();
        typical.extend(median(&all).map(|ns| (f64::from(*payload), ns)));
        for (round, ns) in values {
            rounds.entry(round).or_default().push((f64::from(*payload), ns));
        }
    }
    // A round that lacks a size would have a line through other sizes.
    let whole: Vec<_> = rounds.values().filter(|points| points.len() == sizes.len()).collect();
    let lines: Vec<Line> = whole.iter().filter_map(|points| fit_relative(points)).collect();
    let (fixed_ns, per_byte_ns, line) = over_lines(&lines);
    let residual = line.and_then(|line| residual_max(line, &typical));
    let refused = refusal(&fixed_ns, &per_byte_ns, residual, lines.len());
    let given = |estimate: Estimate| Some(estimate).filter(|_| refused.is_none());
    CostModel {
        label: sweep.to_string(),
        cases: sizes.iter().map(|(_, reading)| reading.result.id.clone()).collect(),
        fixed_ns: given(fixed_ns),
        per_byte_ns: given(per_byte_ns),
        residual_max: residual.filter(|residual| residual.is_finite()),
        refused,
    }
}

fn refusal(fixed: &Estimate, slope: &Estimate, residual: Option<f64>, n: usize) -> Option<String> {
    let (Some(low), Some(slope_low), Some(slope_high)) = (fixed.low, slope.low, slope.high) else {
        return Some(format!(
            "{} with every size; an interval needs {TRIALS_MIN}",
            format::count(n, "round")
        ));
    };
    if let Some(residual) = residual.filter(|residual| *residual > RESIDUAL_MAX) {
        return Some(format!(
            "a straight line does not describe it (it is off by {} at one size); see the table",
            format::percent(residual)
        ));
    }
    if low <= 0.0 {
        return Some(format!(
            "the fixed part cannot be told from nothing (its interval begins at {}); see the table",
            format::ns(low)
        ));
    }
    if slope_high < 0.0 {
        return Some(
            "it falls with size, so something else than size decides; see the table and the \
             findings"
                .to_owned(),
        );
    }
    (slope_low <= 0.0).then(|| {
        "it cannot be told whether another byte costs anything (the slope's interval includes 0); \
         see the table"
            .to_owned()
    })
}

#[cfg(test)]
mod tests {
    use hopcost_model::results::CostModel;

    use crate::testing::{Builder, STREAM, TrialBuilder};

    const SIZES: [u32; 5] = [64, 1024, 4096, 16_384, 65_536];

    fn models(rounds: u32, of: impl Fn(u32, u32) -> u32 + Copy) -> Vec<CostModel> {
        let mut builder = Builder::new();
        for size in SIZES {
            let id =
                format!("roundtrip/pipe?payload={size}&boundary=process&place=free&wait=block");
            builder = builder.case(&id, rounds, move |round, t| t.each(&[of(size, round); 100]));
        }
        builder.read().cost_models
    }

    #[test]
    fn a_line_comes_back() {
        // 3 µs and a quarter of a nanosecond a byte, each round a little slower.
        let found = models(8, |size, round| (3000 + size / 4) * (100 + round) / 100);
        assert_eq!(found.len(), 1);
        let model = &found[0];
        assert_eq!(model.label, "roundtrip/pipe?boundary=process&place=free&wait=block");
        assert_eq!((model.cases.len(), &model.refused), (5, &None));
        let (fixed, slope) = (model.fixed_ns.clone().unwrap(), model.per_byte_ns.clone().unwrap());
        assert!((fixed.point.unwrap() / (3000.0 * 1.035) - 1.0).abs() < 1e-3, "{fixed:?}");
        assert!((slope.point.unwrap() / (0.25 * 1.035) - 1.0).abs() < 1e-3, "{slope:?}");
        assert!((fixed.low.unwrap() / 3000.0 - 1.0).abs() < 1e-3, "all eight rounds");
        assert!((fixed.high.unwrap() / 3210.0 - 1.0).abs() < 1e-3);
        assert!(model.residual_max.unwrap() < 0.001);
    }

    #[test]
    fn a_line_that_does_not_describe_it_is_refused() {
        let bend = models(8, |size, _| if size < 10_000 { 3000 } else { 3000 + size * 2 });
        assert!(bend[0].refused.clone().unwrap().contains("straight line"), "{:?}", bend[0]);
        assert!(bend[0].fixed_ns.is_none() && bend[0].residual_max.unwrap() > 0.15);
    }

    #[test]
    fn what_is_not_decided_is_refused() {
        let flat = models(8, |_, round| 3000 + round);
        assert!(flat[0].refused.clone().unwrap().contains("another byte"), "{:?}", flat[0]);
        let falling = models(8, |size, round| 1_000_000 - size - round);
        assert!(falling[0].refused.clone().unwrap().contains("falls with size"), "{falling:?}");
        let few = models(5, |size, _| 3000 + size / 4);
        assert!(few[0].refused.clone().unwrap().contains("5 rounds"), "{:?}", few[0]);
        let from_nothing = models(8, |size, round| size * 5 - 20 * (round % 2));
        let refused = from_nothing[0].refused.clone().unwrap();
        assert!(refused.contains("told from nothing"), "{refused}");
    }

    #[test]
    fn fewer_than_four_sizes_are_no_sweep_and_streams_are_swept_too() {
        let build = |sizes: &[u32]| {
            let mut builder = Builder::new();
            for size in sizes {
                let id = STREAM.replace("payload=2048", &format!("payload={size}"));
                let ns = 10_000 + size;
                builder = builder.case(&id, 8, move |_, t: &mut TrialBuilder| {
                    let elapsed = 100 * u64::from(ns);
                    t.stream(1, 100, u64::from(*size), &[ns; 100], elapsed);
                });
            }
            builder.read().cost_models
        };
        assert_eq!(build(&[2048, 4096, 8192]).len(), 0);
        let found = build(&[2048, 4096, 8192, 65_536]);
        assert!((found[0].fixed_ns.clone().unwrap().point.unwrap() - 10_000.0).abs() < 1e-6);
        assert!((found[0].per_byte_ns.clone().unwrap().point.unwrap() - 1.0).abs() < 1e-9);
    }
}
