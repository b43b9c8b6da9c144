//! How much load a mechanism carries: what gets through at most, and up to which rate responses
//! stay short (the knee). From loads that differ in their rate alone.

use hopcost_model::case::{Case, Workload};
use hopcost_model::document;
use hopcost_model::finding::Finding;
use hopcost_model::group::grouped;
use hopcost_model::results::{Estimate, Statistic};
use hopcost_model::units::Rate;

use crate::case::Reading;
use crate::findings::{ACHIEVED_MIN, is_generator_late};
use crate::format;
use crate::load::LoadResult;

document! {
    /// Loads that differ in their rate alone: how much gets through, and up to which rate
    /// responses stay short.
    pub struct LoadCurve {
        /// Ids of the cases, by ascending rate.
        pub cases: Vec<String>,
        /// Messages a second received at the rate at which most were; `null` where nothing was.
        pub capacity_per_s: Option<Estimate>,
        /// p99 of the response at the least rate; `null` where it has too few messages for one.
        pub unloaded_p99_ns: Option<f64>,
        /// The largest rate at which the p99 is at most twice the unloaded one, no message
        /// was lost, 99 % of the rate was achieved and the generator was on time; `null` where
        /// there is none.
        pub knee: Option<LoadKnee>,
        /// Capacity and knee in a sentence.
        pub says: String,
    }

    /// Rates between which the knee lies, by the intervals of the p99s.
    #[derive(Copy)]
    pub struct LoadKnee {
        /// By the p99s as they are.
        pub rate: Rate,
        /// The largest rate that passes even if its p99 is at the upper end of its interval and
        /// the unloaded one at the lower.
        pub low: Rate,
        /// The largest that passes if they are at the other ends.
        pub high: Rate,
        /// Whether the greatest rate of all passes, so that the knee is there or beyond.
        pub at_least: bool,
    }
}

/// Multiple of the unloaded p99 up to which a response is short.
const SHORT: f64 = 2.0;
/// Rates from which on there is something to say.
const RATES_MIN: usize = 3;

/// A case at one rate.
struct Point<'a> {
    id: &'a str,
    load: &'a LoadResult,
    p99: Option<&'a Estimate>,
    /// Whether the generator kept its times.
    is_on_time: bool,
}

/// One for every set of loads that differ in their rate, in the order of the plan.
pub fn curves(readings: &[Reading], findings: &[Finding]) -> Vec<LoadCurve> {
    let loads = readings.iter().filter_map(|reading| {
        let load = reading.result.load.as_ref()?;
        let of_case = |found: &&Finding| found.case.as_ref() == Some(&reading.result.id);
        let is_on_time = !findings.iter().filter(of_case).any(is_generator_late);
        let p99 = reading.get(Statistic::P99);
        Some((reading.case, Point { id: &reading.result.id, load, p99, is_on_time }))
    });
    let loads = loads.filter(|(case, _)| case.workload == Workload::Load);
    let groups = grouped(loads, |(case, _)| Case { rate: None, ..(*case).clone() }).into_iter();
    groups.filter_map(|(_, of)| curve(of.into_iter().map(|(_, point)| point).collect())).collect()
}

fn curve(mut points: Vec<Point>) -> Option<LoadCurve> {
    points.sort_by_key(|point| point.load.rate);
    let (least, greatest) = (points.first()?, points.last()?);
    if points.len() < RATES_MIN {
        return None;
    }
    let received = |point: &&Point| point.load.received_per_s.point;
    let most = points.iter().filter(|of| received(of).is_some());
    let most = most
        .max_by(|a, b| received(a).partial_cmp(&received(b)).unwrap_or_else(|| a.id.cmp(b.id)))?;
    let capacity = most.load.received_per_s.clone();
    let unloaded = least.p99.filter(|p99| p99.point.is_some());
    let late = points.iter().filter(|point| !point.is_on_time).count();
    let is_on_time = 2 * late <= points.len();
    let knee = unloaded.filter(|_| is_on_time).and_then(|unloaded| knee(&points, unloaded));
    let rate = |rate: Rate| per_second(rate.per_s(), None);
    let capacity_says = match is_achieved(greatest.load) {
        true => format!("carries {} or more", rate(greatest.load.rate)),
        false => format!(
            "carries {} at most",
            per_second(capacity.point?, capacity.low.zip(capacity.high))
        ),
    };
    let knee_says = match (unloaded.and_then(|p99| p99.point), &knee) {
        (None, _) => {
            format!("the p99 at {} needs more messages, so no knee", rate(least.load.rate))
        }
        (Some(_), None) if !is_on_time => {
            format!("no knee: the sender itself is late at {late} of {} rates", points.len())
        }
        (Some(_), None) => {
            let why = match () {
                () if !least.is_on_time => "the sender itself is late",
                () if !is_lossless(least.load) => "messages are lost",
                () => "it falls behind",
            };
            format!("no knee: at {} already {why}", rate(least.load.rate))
        }
        (Some(p99), Some(knee)) => {
            let beyond = if knee.at_least { "knee not reached at" } else { "knee at" };
            let between = match (knee.low == knee.high, knee.at_least) {
                (true, _) | (_, true) => String::new(),
                _ => format!(" (between {} and {})", rate(knee.low), rate(knee.high)),
            };
            let unloaded = format::ns(p99);
            format!(
                "{beyond} {}{between}, where p99 is at most twice the {unloaded} of {}",
                rate(knee.rate),
                rate(least.load.rate)
            )
        }
    };
    Some(LoadCurve {
        cases: points.iter().map(|point| point.id.to_owned()).collect(),
        capacity_per_s: Some(capacity),
        unloaded_p99_ns: unloaded.and_then(|p99| p99.point),
        knee,
        says: format!("{capacity_says}; {knee_says}"),
    })
}

/// The largest rates that pass, by the p99s as they are and at the ends of their intervals.
fn knee(points: &[Point], unloaded: &Estimate) -> Option<LoadKnee> {
    let largest = |of: fn(&Estimate) -> Option<f64>, base: Option<f64>| {
        let passes = |point: &&Point| {
            let p99 = point.p99.and_then(of).zip(base);
            let is_short = p99.is_some_and(|(p99, base)| p99 <= SHORT * base);
            is_short && point.is_on_time && is_lossless(point.load) && is_achieved(point.load)
        };
        points.iter().rev().find(passes).map(|point| point.load.rate)
    };
    let (low, high) = (|of: &Estimate| of.low.or(of.point), |of: &Estimate| of.high.or(of.point));
    let rate = largest(|of| of.point, unloaded.point)?;
    Some(LoadKnee {
        rate,
        low: largest(high, low(unloaded)).unwrap_or(rate).min(rate),
        high: largest(low, high(unloaded)).unwrap_or(rate).max(rate),
        at_least: points.last().is_some_and(|point| point.load.rate == rate),
    })
}

fn is_lossless(load: &LoadResult) -> bool {
    load.lost_share == 0.0
}

fn is_achieved(load: &LoadResult) -> bool {
    load.achieved.is_some_and(|achieved| achieved >= ACHIEVED_MIN)
}

/// `412 k/s [405 k, 420 k]`
fn per_second(value: f64, interval: Option<(f64, f64)>) -> String {
    let word = |value: f64| match value {
        value if value >= 1e6 => format!("{} M", format::three(value / 1e6)),
        value if value >= 1e3 => format!("{} k", format::three(value / 1e3)),
        value => format::three(value),
    };
    let ends = interval.map(|(low, high)| format!(" [{}, {}]", word(low), word(high)));
    let space = if value < 1e3 { " " } else { "" };
    format!("{}{space}/s{}", word(value), ends.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::LoadCurve;
    use hopcost_model::raw::RawLoad;

    use crate::testing::{Builder, TrialBuilder};

    /// A server of 2 µs a message with a fixed p99 by the rate; past 400 k/s it falls behind.
    fn run(rates: &[(u32, u32)]) -> Vec<LoadCurve> {
        changed(rates, |_| ())
    }

    fn changed(rates: &[(u32, u32)], change: fn(&mut RawLoad)) -> Vec<LoadCurve> {
        let mut builder = Builder::new();
        for (rate, tail_ns) in rates {
            let id = format!(
                "load/pipe?payload=64&rate={rate}&boundary=process&place=same-llc&wait=block"
            );
            let (rate, tail) = (*rate, *tail_ns);
            builder = builder.case(&id, 8, move |round, t: &mut TrialBuilder| {
                let lags: Vec<u32> =
                    (0..2000).map(|i| if i % 50 == 0 { tail + round % 3 } else { 0 }).collect();
                t.load(&lags, 2_000);
                let load = t.raw.load.as_mut().unwrap();
                load.intended_ticks = 2_000_000_000_000 / u64::from(rate);
                let least = 2_000_000_000_000 / 400_000;
                load.sent_ticks = load.intended_ticks.max(least);
                load.received_ticks = load.sent_ticks;
                change(load);
            });
        }
        builder.read().loads
    }

    #[test]
    fn the_knee_is_the_largest_rate_whose_p99_is_short() {
        let of = run(&[(100_000, 3_000), (10_000, 0), (50_000, 1_500), (800_000, 90_000)]);
        let [curve] = &of[..] else { panic!("{of:?}") };
        assert_eq!(curve.cases.len(), 4);
        let knee = curve.knee.unwrap();
        assert_eq!(
            (knee.rate, knee.low, knee.high, knee.at_least),
            (50_000.into(), 50_000.into(), 50_000.into(), false)
        );
        let capacity = curve.capacity_per_s.as_ref().unwrap().point.unwrap();
        assert!((capacity / 400_000.0 - 1.0).abs() < 1e-9, "{capacity}");
        let says = "carries 400 k/s [400 k, 400 k] at most; knee at 50.0 k/s";
        assert!(curve.says.contains(says), "{}", curve.says);
    }

    #[test]
    fn where_no_knee_was_found_the_rates_bound_it_or_say_why_there_is_none() {
        let low = [(10_000, 0), (20_000, 0), (40_000, 100)];
        let high = [(500_000, 0), (600_000, 0), (800_000, 0)];
        let late = |load: &mut RawLoad| load.own_lags = Some(vec![1_000; 2000]);
        for (found, at_least, says) in [
            (run(&low), Some(true), "carries 40.0 k/s or more"),
            (run(&low), Some(true), "knee not reached at 40.0 k/s"),
            (changed(&low, late), None, "the sender itself is late at 3 of 3 rates"),
            (run(&high), None, "falls behind"),
        ] {
            assert_eq!(found[0].knee.map(|knee| knee.at_least), at_least, "{says}");
            assert!(found[0].says.contains(says), "{}", found[0].says);
        }
        assert!(run(&low[..2]).is_empty(), "two rates say nothing");
    }
}
