//! Multiples of another case, paired by round.

use std::collections::BTreeMap;

use hopcost_model::{Contrast, Estimate, Ratio, Statistic};
use hopcost_stats::contrast::{self, ERROR, LogRatio, Region, log_ratios};

use crate::case::Reading;
use crate::estimate::over_trials;

/// The greatest share of a one-way time that the clocks' bound may be of it for a
/// multiple to mean something: beyond it, the finding CLOCK_OFFSET says why not.
const BOUND_MAX: f64 = 0.1;

/// The clocks' bound as a share of a one-way time, its p50; 0 of everything else.
fn bound_share(reading: &Reading) -> f64 {
    let bound = reading.result.clock_bound_ns();
    let p50 = reading.get(Statistic::P50).and_then(|p50| p50.point);
    bound
        .filter(|bound| *bound > 0.0)
        .map_or(0.0, |bound| p50.map_or(f64::INFINITY, |p50| bound / p50))
}

/// The multiple of a case, by these values of both; `None` where the clocks do not agree well enough.
pub fn multiple(of: (&Reading, &Series), base: (&Reading, &Series)) -> Option<Ratio> {
    let [of_value, of_base] = [of.0, base.0].map(bound_share);
    let found = ratio(base.0, of.1, base.1).filter(|_| of_value.max(of_base) <= BOUND_MAX)?;
    let low = found.low.map(|low| low * (1.0 - of_value) / (1.0 + of_base));
    let high = found.high.map(|high| high * (1.0 + of_value) / (1.0 - of_base));
    Some(Ratio { low, high, ..found })
}

/// Values of the rounds that both have: round, value and the base's.
pub fn paired(values: &BTreeMap<u32, f64>, base: &BTreeMap<u32, f64>) -> Vec<(u32, f64, f64)> {
    let both = |(round, value): (&u32, &f64)| Some((*round, *value, *base.get(round)?));
    values.iter().filter_map(both).collect()
}

/// How much longer values take than those of a base, paired by round; `None` without a round in
/// which both were measured.
pub fn difference(values: &Series, of_base: &Series) -> Option<Estimate> {
    let longer: Vec<f64> =
        paired(values, of_base).into_iter().map(|(_, of, base)| of - base).collect();
    (!longer.is_empty()).then(|| over_trials(longer))
}

/// The ratio of values to those of a base in the same round.
pub fn ratio(base: &Reading, values: &Series, of_base: &Series) -> Option<Ratio> {
    let logs = log_ratios(values, of_base)?;
    let of = LogRatio::of_units(&logs, base.dependence)?;
    let (low, high) = of.interval(ERROR).unzip();
    Some(Ratio {
        baseline: base.result.id.clone(),
        point: libm::exp(of.point()),
        low: low.map(libm::exp),
        high: high.map(libm::exp),
        n_rounds: logs.len() as u32,
    })
}

/// Values of a unit each, such as a round.
pub type Series = BTreeMap<u32, f64>;

/// Several pairs of one run, `independent` of which are independent, each held against a ratio of 1 and
/// all judged together; `None` of a pair without a unit in common, or with a value that is not above zero.
pub fn contrasts(pairs: &[(&Series, &Series)], independent: usize) -> Vec<Option<Contrast>> {
    let logs = pairs.iter().map(|(of, base)| log_ratios(of, base).unwrap_or_default());
    let logs: Vec<Vec<f64>> = logs.collect();
    let logs: Vec<&[f64]> = logs.iter().map(Vec::as_slice).collect();
    let ratios = LogRatio::pooled(&logs, independent);
    let known: Vec<&LogRatio> = ratios.iter().flatten().collect();
    let mut found = contrast::contrasts(&known, Region::EQUAL, ERROR).into_iter();
    ratios.iter().map(|of| of.and_then(|_| found.next()).map(|of| shown(&of))).collect()
}

/// A contrast of logarithms as one of ratios.
pub fn shown(of: &contrast::Contrast) -> Contrast {
    Contrast {
        ratio: libm::exp(of.point),
        low: of.ends.map(|(low, _)| libm::exp(low)),
        high: of.ends.map(|(_, high)| libm::exp(high)),
        coverage: 1.0 - 2.0 * of.error,
        n: of.n as u32,
        verdict: of.verdict,
        more: of.more,
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{Builder, FUTEX, PIPE, TCP};

    #[test]
    fn rounds_are_paired() {
        // Both double from round to round; the multiple stays.
        let results = Builder::new()
            .baseline(PIPE)
            .case(PIPE, 8, |round, t| t.each(&[100 << round; 50]))
            .case(TCP, 8, |round, t| t.each(&[300 << round; 50]))
            .read();
        let ratio = results.results[1].ratio.as_ref().unwrap();
        assert!((ratio.point - 3.0).abs() < 1e-9 && ratio.n_rounds == 8);
        assert!((ratio.low.unwrap() - 3.0).abs() < 1e-9);
        assert_eq!(results.results[0].ratio.as_ref().unwrap().point, 1.0);
    }

    #[test]
    fn what_means_something_else_has_no_multiple() {
        let larger = TCP.replace("payload=64", "payload=4096");
        let each = |builder: Builder, id: &str| builder.case(id, 8, |_, t| t.each(&[100; 50]));
        let ids = [PIPE, FUTEX, &larger];
        let found = ids.into_iter().fold(Builder::new().baseline(PIPE), each).read();
        assert!(found.results.iter().all(|case| case.ratio.is_none()));
        let mixed = each(Builder::new().baseline(PIPE), PIPE);
        let mixed = mixed.case(TCP, 8, |_, t| t.batch(10, &[100; 50])).read();
        assert!(mixed.results[1].ratio.is_none());
    }
}
