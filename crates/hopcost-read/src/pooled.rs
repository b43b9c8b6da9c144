//! What needs the samples of all trials of a case together: its percentile curve and its modes.

use hopcost_model::document;
use hopcost_stats::effective::publishable;
use hopcost_stats::modes::{RATIO_MIN, find_modes};
use hopcost_stats::sample::{quantile_sorted, rank, sorted};

use crate::trial::{Family, Trial};
use crate::trials::Trials;

document! {
    /// A point of the percentile curve.
    #[derive(Copy)]
    pub struct CurvePoint {
        /// The quantile, 0 to 1.
        pub q: f64,
        /// Its value over all trials' samples.
        pub ns: f64,
        /// Lowest trial value of this quantile where each trial supports it.
        pub low: Option<f64>,
        /// Highest trial value.
        pub high: Option<f64>,
    }

    /// One of several typical durations.
    #[derive(Copy)]
    pub struct Mode {
        /// Where it peaks.
        pub ns: f64,
        /// Share of the samples, 0 to 1.
        pub share: f64,
    }
}

/// Above this share of costs that are zero or negative, no modes are looked for.
const NEGATIVE_MAX: f64 = 0.01;

/// The percentile curve of the measured trials of a case, which is empty for batches, and several modes
/// or none.
pub fn of_samples(table: &Trials) -> (Vec<CurvePoint>, Vec<Mode>) {
    let trials: Vec<&Trial> = table.measured().map(|(_, trial)| trial).collect();
    let samples: Vec<&[f64]> = trials.iter().map(|trial| trial.sample.values()).collect();
    let pooled = sorted(samples.concat());
    let batched = table.family == Some(Family::Batch);
    let curve = if batched { Vec::new() } else { curve(&trials, &pooled) };
    (curve, modes(&trials, &pooled))
}

/// Several modes, or none. A value a trial is not a distribution of durations.
fn modes(trials: &[&Trial], pooled: &[f64]) -> Vec<Mode> {
    let not_positive = pooled.partition_point(|v| *v <= 0.0) as f64;
    if pooled.len() == trials.len() || not_positive > NEGATIVE_MAX * pooled.len() as f64 {
        return Vec::new();
    }
    let found = find_modes(pooled, RATIO_MIN);
    let several = found.len() > 1;
    let modes = found.into_iter().map(|mode| Mode { ns: mode.at, share: mode.share });
    modes.filter(|_| several).collect()
}

/// Effective samples of all trials for a quantile.
fn support(trials: &[&Trial], q: f64) -> f64 {
    trials.iter().map(|trial| trial.n_eff_at(q)).sum()
}

/// Points up to the median, evenly spaced.
const BELOW: usize = 18;
/// Points from the median on, evenly spaced in the logarithm of 1/(1−q).
const ABOVE: usize = 42;
/// The lowest quantile.
const LOWEST: f64 = 0.01;
/// The highest that is ever drawn.
const HIGHEST: f64 = 0.9999;

/// The curve from p1 to the last percentile that the samples of all trials
/// support; `pooled` are those samples, sorted. Points that fall on one rank are
/// drawn once.
fn curve(trials: &[&Trial], pooled: &[f64]) -> Vec<CurvePoint> {
    let mut points: Vec<CurvePoint> = Vec::new();
    let mut last_rank = 0;
    for q in quantiles() {
        if pooled.is_empty() || !publishable(support(trials, q), q) {
            continue;
        }
        let rank = rank(pooled.len(), q);
        if rank == last_rank {
            continue;
        }
        last_rank = rank;
        let Some(ns) = quantile_sorted(pooled, q) else { continue };
        let own: Option<Vec<f64>> = trials.iter().map(|trial| trial.quantile(q)).collect();
        let low = own.as_ref().and_then(|v| v.iter().copied().min_by(f64::total_cmp));
        let high = own.as_ref().and_then(|v| v.iter().copied().max_by(f64::total_cmp));
        points.push(CurvePoint { q, ns, low, high });
    }
    points
}

fn quantiles() -> impl Iterator<Item = f64> {
    let below = (0..BELOW).map(|i| LOWEST + (0.5 - LOWEST) * i as f64 / BELOW as f64);
    let (from, to) = (libm::log(2.0), -libm::log(1.0 - HIGHEST));
    let above =
        (0..=ABOVE).map(move |i| 1.0 - libm::exp(-(from + (to - from) * i as f64 / ABOVE as f64)));
    // The percentiles that people read off.
    let named = [0.5, 0.9, 0.99, 0.999, HIGHEST];
    let mut all: Vec<f64> = below.chain(above).chain(named).collect();
    all.sort_unstable_by(f64::total_cmp);
    // Two points in the same place would only differ by rounding.
    all.dedup_by(|b, a| (*b - *a).abs() < (1.0 - *b).max(1e-9) * 1e-6);
    for q in &mut all {
        if let Some(exact) = named.iter().find(|name| (**name - *q).abs() < 1e-9) {
            *q = *exact;
        }
    }
    all.into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Builder, PIPE, clock, noisy};

    fn drawn(trials: u32, samples: usize) -> Vec<CurvePoint> {
        let raw =
            Builder::new().case(PIPE, trials, |round, t| t.each(&noisy(samples, round))).build();
        let clock = clock(0, 1e9);
        let trials: Vec<Trial> = raw
            .trials
            .iter()
            .map(|t| Trial::new(&raw.plan.cases[0].case, t, Some(&clock)).unwrap())
            .collect();
        let samples: Vec<&[f64]> = trials.iter().map(|trial| trial.sample.values()).collect();
        curve(&trials.iter().collect::<Vec<_>>(), &sorted(samples.concat()))
    }

    #[test]
    fn it_stops_where_the_samples_stop() {
        let points = drawn(8, 2_000);
        let last = points.last().unwrap().q;
        assert!((0.999..0.9995).contains(&last), "{last}");
        assert!(points.iter().any(|p| p.q == 0.99) && points.iter().any(|p| p.q == 0.5));
        assert!((45..=65).contains(&points.len()), "{}", points.len());
        assert!(drawn(8, 100).last().unwrap().q < 0.99);
        assert!(drawn(1, 3).is_empty());
    }
}
