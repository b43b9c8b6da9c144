//! Multiples of the baseline, paired by round.
//!
//! Only what means the same is divided: equal workload, equal payload (a call's
//! payload does not matter, a bare notification is a payload of 0, and in a wake-up the one
//! byte of a pipe is one too), the same place, and both stamped one by one or both in batches.
//! Wake-ups must follow equal gaps; streams must have equal fields, flows and acknowledgements.
//! Where the baseline itself differs in one of these, a case is divided by the one that is the
//! baseline otherwise: one for each place, size, gap and number of flows. Where that was measured
//! between threads and between processes, a case has the one of its own boundary. The multiple of a stream is
//! that of the median message latency or, without acknowledgements, of the time per
//! message. A one-way time that is not clearly longer than the clocks' bound has none.

use std::collections::BTreeMap;

use hopcost_model::results::{Contrast, Ratio, Statistic};
use hopcost_stats::contrast::{self, ERROR, LogRatio, Region, log_ratios};

use crate::case::Reading;
use crate::run::Run;

/// The ratio of every case to the plan's baseline, or to the case of its kind that it can be
/// divided by, in the order of the plan.
pub fn to_baseline(run: &Run, readings: &[Reading]) -> Vec<Option<Ratio>> {
    let baseline = run.raw.plan.baseline.as_deref();
    let named = readings.iter().find(|reading| Some(reading.result.id.as_str()) == baseline);
    let is_of_kind =
        |reading: &&Reading| named.is_some_and(|named| reading.case.is_of_kind(named.case));
    let bases: Vec<&Reading> =
        named.into_iter().chain(readings.iter().filter(is_of_kind)).collect();
    let of = |reading: &Reading| {
        let like = || bases.iter().filter(|base| comparable(reading, base));
        let same_boundary = |base: &&&Reading| base.case.boundary == reading.case.boundary;
        let base = like().find(same_boundary).or_else(|| like().next())?;
        let found = ratio(base, &reading.headline_by_round(), &base.headline_by_round())?;
        Some(widened(found, bound_share(reading), bound_share(base)))
    };
    readings.iter().map(of).collect()
}

/// The greatest share of a one-way time that the clocks' bound may be of it for a
/// multiple to mean something: beyond it, the finding CLOCK_OFFSET says why not.
const BOUND_MAX: f64 = 0.1;

/// The clocks' bound as a share of a one-way time, its p50; 0 of everything else.
pub fn bound_share(reading: &Reading) -> f64 {
    let bound = reading.result.clock_bound_ns();
    let p50 = reading.get(Statistic::P50).and_then(|p50| p50.point);
    bound
        .filter(|bound| *bound > 0.0)
        .map_or(0.0, |bound| p50.map_or(f64::INFINITY, |p50| bound / p50))
}

/// A ratio of two numbers each of which may be off by such a share.
pub fn widened(found: Ratio, of_value: f64, of_base: f64) -> Ratio {
    let low = found.low.map(|low| low * (1.0 - of_value) / (1.0 + of_base));
    let high = found.high.map(|high| high * (1.0 + of_value) / (1.0 - of_base));
    Ratio { low, high, ..found }
}

/// Whether the clocks agree well enough for a multiple of this case.
pub fn is_exact_enough(reading: &Reading) -> bool {
    bound_share(reading) <= BOUND_MAX
}

fn comparable(reading: &Reading, base: &Reading) -> bool {
    reading.family.is_some()
        && reading.family == base.family
        && reading.case.is_alike(base.case)
        && is_exact_enough(reading)
        && is_exact_enough(base)
}

/// Values of the rounds that both have: round, value and the base's.
pub fn paired(values: &BTreeMap<u32, f64>, base: &BTreeMap<u32, f64>) -> Vec<(u32, f64, f64)> {
    let both = |(round, value): (&u32, &f64)| Some((*round, *value, *base.get(round)?));
    values.iter().filter_map(both).collect()
}

/// The ratio of values to those of a base in the same round.
pub fn ratio(base: &Reading, values: &Series, of_base: &Series) -> Option<Ratio> {
    let logs = log_ratios(values, of_base)?;
    let of = LogRatio::of_units(&logs, base.dependence)?;
    let ends = of.interval(ERROR).map(|(low, high)| (libm::exp(low), libm::exp(high)));
    Some(Ratio {
        baseline: base.result.id.clone(),
        point: libm::exp(of.point()),
        low: ends.map(|ends| ends.0),
        high: ends.map(|ends| ends.1),
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
    use crate::testing::{
        Builder, CALL, FUTEX, PIPE, PIPE_4K, STREAM, STREAM_TWO_FLOWS, TCP, TrialBuilder, WAKE,
    };

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

    /// What each case is a multiple of, and the multiple. The first case is the baseline.
    fn multiples(cases: &[(&str, u32)]) -> Vec<Option<(String, f64)>> {
        let mut builder = Builder::new().baseline(cases[0].0);
        for (id, ns) in cases {
            let make = |_: u32, t: &mut TrialBuilder| match id.split('/').next() {
                Some("wake") => t.wake(&[*ns; 100], 9),
                Some("stream") => t.stream(1, 100, 2048, &[*ns; 100], 100 * u64::from(*ns)),
                Some("call") => t.two_lengths(10, &[10, 20]),
                _ => t.each(&[*ns; 50]),
            };
            builder = builder.case(id, 8, make);
        }
        let round = |ratio: f64| (ratio * 1e6).round() / 1e6;
        let of = builder.read().results.into_iter().map(|result| result.ratio);
        of.map(|ratio| ratio.map(|ratio| (ratio.baseline, round(ratio.point)))).collect()
    }

    #[test]
    fn what_means_something_else_has_no_multiple() {
        let larger = TCP.replace("payload=64", "payload=4096");
        let found = multiples(&[(PIPE, 100), (FUTEX, 100), (&larger, 100), (CALL, 0)]);
        assert_eq!(found[1..], [None, None, None]);
        assert_eq!(multiples(&[(CALL, 0), (FUTEX, 100)])[1], None, "a round trip is not a call");
        let batches = Builder::new().baseline(PIPE).case(PIPE, 8, |_, t| t.each(&[100; 50])).case(
            TCP,
            8,
            |_, t| t.batch(10, &[100; 50]),
        );
        assert!(batches.read().results[1].ratio.is_none());
        let none = Builder::new().case(PIPE, 8, |_, t| t.each(&[100; 50]));
        assert!(none.read().results[0].ratio.is_none());
    }

    #[test]
    fn each_size_gap_shape_place_and_boundary_has_its_own_baseline() {
        let other = |id: &str, from: &str, to: &str| id.replace(from, to);
        let two = |id: &str| other(id, "same-cpu", "same-llc");
        let thread = |id: &str| other(id, "process", "thread");
        let send = other(STREAM, "sendmsg", "send");
        let of = |of: &str, point: f64| Some((of.to_owned(), point));
        for (baselines, id, ns, expected) in [
            (vec![(PIPE, 100)], TCP.to_owned(), 300, of(PIPE, 3.0)),
            (vec![(PIPE, 100), (PIPE_4K, 1000)], other(TCP, "64", "4096"), 4000, of(PIPE_4K, 4.0)),
            (vec![(WAKE, 2000)], other(WAKE, "pipe", "fifo"), 4000, of(WAKE, 2.0)),
            (
                vec![(&*other(WAKE, "pipe?payload=1", "eventfd?payload=0"), 2000)],
                WAKE.to_owned(),
                3000,
                of(&other(WAKE, "pipe?payload=1", "eventfd?payload=0"), 1.5),
            ),
            (vec![(STREAM, 3000)], send.clone(), 9000, of(STREAM, 3.0)),
            // Another shape, which the baseline's mechanism was measured with or not.
            (vec![(STREAM, 3000)], STREAM_TWO_FLOWS.to_owned(), 3000, of(STREAM_TWO_FLOWS, 1.0)),
            (vec![(STREAM, 3000)], other(&send, "fields=8", "fields=2"), 3000, None),
            (vec![(PIPE, 100), (&*two(PIPE), 1000)], two(TCP), 1200, of(&two(PIPE), 1.2)),
            (vec![(PIPE, 100), (&*thread(PIPE), 50)], thread(TCP), 200, of(&thread(PIPE), 4.0)),
            // Between threads there is none at this place.
            (
                vec![(PIPE, 100), (&*two(PIPE), 1000), (&*thread(PIPE), 50)],
                two(&thread(TCP)),
                1500,
                of(&two(PIPE), 1.5),
            ),
            (vec![(PIPE, 100)], other(TCP, "same-cpu", "free"), 300, None),
        ] {
            let found = multiples(&[&baselines[..], &[(&*id, ns)]].concat());
            assert_eq!(found.last(), Some(&expected), "{id}");
        }
    }
}
