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

use hopcost_model::results::{Ratio, Statistic};
use hopcost_stats::LEVEL;
use hopcost_stats::ratio::paired_ratio;

use crate::case::Reading;
use crate::run::Run;

/// The ratio of every case to the plan's baseline, or to the case of its kind that it can be
/// divided by, in the order of the plan.
pub fn to_baseline(run: &Run, readings: &[Reading]) -> Vec<Option<Ratio>> {
    let baseline = run.raw.plan.baseline.as_deref();
    let named = readings.iter().find(|reading| Some(reading.result.id.as_str()) == baseline);
    let is_of_kind = |reading: &&Reading| {
        let both = reading.case.zip(named.and_then(|named| named.case));
        both.is_some_and(|(case, named)| case.is_of_kind(named))
    };
    let bases: Vec<&Reading> =
        named.into_iter().chain(readings.iter().filter(is_of_kind)).collect();
    let of = |reading: &Reading| {
        let like = || bases.iter().filter(|base| comparable(reading, base));
        let same_boundary = |base: &&&Reading| {
            base.case.zip(reading.case).is_some_and(|(base, case)| base.boundary == case.boundary)
        };
        let base = like().find(same_boundary).or_else(|| like().next())?;
        let found =
            ratio(&base.result.id, &reading.headline_by_round(), &base.headline_by_round())?;
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
        && reading.case.zip(base.case).is_some_and(|(case, base)| case.is_alike(base))
        && is_exact_enough(reading)
        && is_exact_enough(base)
}

/// Values of the rounds that both have: round, value and the base's.
pub fn paired(values: &BTreeMap<u32, f64>, base: &BTreeMap<u32, f64>) -> Vec<(u32, f64, f64)> {
    let both = |(round, value): (&u32, &f64)| Some((*round, *value, *base.get(round)?));
    values.iter().filter_map(both).collect()
}

/// The ratio of values to those of a base in the same round.
pub fn ratio(
    baseline: &str,
    values: &BTreeMap<u32, f64>,
    base: &BTreeMap<u32, f64>,
) -> Option<Ratio> {
    let pairs: Vec<(f64, f64)> =
        paired(values, base).into_iter().map(|(_, value, base)| (value, base)).collect();
    let found = paired_ratio(&pairs, LEVEL)?;
    Some(Ratio {
        baseline: baseline.to_owned(),
        point: found.point,
        low: found.interval.map(|interval| interval.0),
        high: found.interval.map(|interval| interval.1),
        n_rounds: found.n_rounds as u32,
    })
}

#[cfg(test)]
mod tests {
    use crate::testing::{
        Builder, CALL, FUTEX, PIPE, PIPE_4K, STREAM, STREAM_TWO_FLOWS, TCP, WAKE, read,
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

    #[test]
    fn a_round_without_its_pair_is_left_out() {
        let raw = Builder::new()
            .baseline(PIPE)
            .case(PIPE, 8, |round, t| if round < 3 { t.fails("x") } else { t.each(&[100; 50]) })
            .case(TCP, 8, |_, t| t.each(&[300; 50]))
            .build();
        let ratio = read(&raw).results[1].ratio.clone().unwrap();
        assert_eq!((ratio.n_rounds, ratio.low), (5, None));
    }

    #[test]
    fn what_means_something_else_has_no_multiple() {
        let raw = Builder::new()
            .baseline(PIPE)
            .case(PIPE, 8, |_, t| t.each(&[100; 50]))
            .case(FUTEX, 8, |_, t| t.each(&[100; 50]))
            .case(&TCP.replace("payload=64", "payload=4096"), 8, |_, t| t.each(&[100; 50]))
            .case(CALL, 8, |_, t| t.two_lengths(10, &[10, 20]))
            .case(TCP, 8, |_, t| t.batch(10, &[100; 50]))
            .build();
        let results = read(&raw).results;
        assert!(results[1..].iter().all(|result| result.ratio.is_none()));
        let batches = Builder::new()
            .baseline(CALL)
            .case(CALL, 8, |_, t| t.two_lengths(10, &[10, 20]))
            .case(FUTEX, 8, |_, t| t.batch(10, &[100; 50]))
            .build();
        assert!(read(&batches).results[1].ratio.is_none(), "a round trip is not a call");
        let none = Builder::new().case(PIPE, 8, |_, t| t.each(&[100; 50])).build();
        assert!(read(&none).results[0].ratio.is_none());
    }

    #[test]
    fn wake_ups_of_equal_gaps_and_streams_of_equal_shapes() {
        let other = |id: &str, from: &str, to: &str| id.replace(from, to);
        let raw = Builder::new()
            .baseline(WAKE)
            .case(WAKE, 8, |_, t| t.wake(&[2000; 100], 9))
            .case(&other(WAKE, "pipe", "fifo"), 8, |_, t| t.wake(&[4000; 100], 9))
            .case(&other(WAKE, "gap=1000000", "gap=1000"), 8, |_, t| t.wake(&[1000; 100], 9))
            .build();
        let points: Vec<Option<f64>> =
            read(&raw).results.iter().map(|r| r.ratio.as_ref().map(|r| r.point)).collect();
        assert_eq!(points, [Some(1.0), Some(2.0), Some(1.0)], "the other gap has its own");
        let stream = |ns: u32| {
            move |_: u32, t: &mut crate::testing::TrialBuilder| {
                t.stream(1, 100, 2048, &vec![ns; 100], 100 * u64::from(ns));
            }
        };
        let raw = Builder::new()
            .baseline(STREAM)
            .case(STREAM, 8, stream(3000))
            .case(&other(STREAM, "sendmsg", "send"), 8, stream(9000))
            .case(STREAM_TWO_FLOWS, 8, stream(3000))
            .case(&other(STREAM, "fields=8", "fields=4"), 8, stream(3000))
            .case(&other(STREAM, "per-message", "window:4"), 8, stream(3000))
            .build();
        let points: Vec<Option<f64>> =
            read(&raw).results.iter().map(|r| r.ratio.as_ref().map(|r| r.point)).collect();
        assert!((points[1].unwrap() - 3.0).abs() < 1e-12);
        // Each of another shape is the baseline of that shape.
        assert_eq!(points[2..], [Some(1.0), Some(1.0), Some(1.0)]);
        let other_shape = other(&other(STREAM, "sendmsg", "send"), "fields=8", "fields=2");
        let raw = Builder::new()
            .baseline(STREAM)
            .case(STREAM, 8, stream(3000))
            .case(&other_shape, 8, stream(3000))
            .build();
        assert!(read(&raw).results[1].ratio.is_none());
    }

    #[test]
    fn each_size_and_gap_has_its_own_baseline() {
        let raw = Builder::new()
            .baseline(PIPE)
            .case(PIPE, 8, |_, t| t.each(&[100; 50]))
            .case(PIPE_4K, 8, |_, t| t.each(&[1000; 50]))
            .case(TCP, 8, |_, t| t.each(&[300; 50]))
            .case(&TCP.replace("payload=64", "payload=4096"), 8, |_, t| t.each(&[4000; 50]))
            .build();
        let results = read(&raw).results;
        let of = |index: usize| results[index].ratio.as_ref().unwrap();
        assert_eq!((of(1).baseline.as_str(), of(3).baseline.as_str()), (PIPE_4K, PIPE_4K));
        assert!((of(2).point - 3.0).abs() < 1e-9 && (of(3).point - 4.0).abs() < 1e-9);
    }

    #[test]
    fn each_place_and_boundary_has_its_own_baseline() {
        let two = |id: &str| id.replace("same-cpu", "same-llc");
        let thread = |id: &str| id.replace("process", "thread");
        let raw = Builder::new()
            .baseline(PIPE)
            .case(PIPE, 8, |_, t| t.each(&[100; 50]))
            .case(&two(PIPE), 8, |_, t| t.each(&[1000; 50]))
            .case(&thread(PIPE), 8, |_, t| t.each(&[50; 50]))
            .case(TCP, 8, |_, t| t.each(&[300; 50]))
            .case(&two(TCP), 8, |_, t| t.each(&[1200; 50]))
            .case(&thread(TCP), 8, |_, t| t.each(&[200; 50]))
            .case(&two(&thread(TCP)), 8, |_, t| t.each(&[1500; 50]))
            .case(&TCP.replace("same-cpu", "free"), 8, |_, t| t.each(&[300; 50]))
            .build();
        let results = read(&raw).results;
        let round = |ratio: f64| (ratio * 1e6).round() / 1e6;
        let of =
            |at: usize| results[at].ratio.as_ref().map(|r| (r.baseline.clone(), round(r.point)));
        let base = |id: &str, point: f64| Some((id.to_owned(), point));
        assert_eq!(of(3), base(PIPE, 3.0));
        assert_eq!(of(4), base(&two(PIPE), 1.2));
        assert_eq!(of(5), base(&thread(PIPE), 4.0));
        // Between threads there is none at this place.
        assert_eq!(of(6), base(&two(PIPE), 1.5));
        assert_eq!(of(7), None, "the baseline was not measured there");
    }

    #[test]
    fn a_notifier_wakes_as_the_byte_of_a_pipe_does() {
        let notifier = WAKE.replace("pipe?payload=1", "eventfd?payload=0");
        let raw = Builder::new()
            .baseline(&notifier)
            .case(&notifier, 8, |_, t| t.wake(&[2000; 100], 9))
            .case(WAKE, 8, |_, t| t.wake(&[3000; 100], 9))
            .build();
        assert!((read(&raw).results[1].ratio.as_ref().unwrap().point - 1.5).abs() < 1e-9);
    }
}
