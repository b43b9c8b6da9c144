//! From which size on one way of sending is faster than another, for the pairs that the run's
//! suite names.
//!
//! At each size the median message of both is compared, paired by round: where some messages
//! stall, the median is that of those that do not, as long as these are most.

use std::collections::BTreeMap;

use hopcost_model::case::Case;
use hopcost_model::group::grouped;
use hopcost_model::results::{Crossing, CrossingPoint, Faster, Ratio};
use hopcost_plan::shown_by;

use crate::case::{Reading, known};
use crate::ratio::ratio;
use crate::run::Run;

/// Every pair of the suite at each number of flows that has several sizes, in the order of
/// the plan.
pub fn crossings(run: &Run, readings: &[Reading]) -> Vec<Crossing> {
    let own = shown_by(&run.raw.plan.suite).map_or(&[][..], |shown| &shown.crossing);
    own.iter().flat_map(|spec| of_spec(spec, readings)).collect()
}

fn of_spec(spec: &hopcost_plan::Crossing, readings: &[Reading]) -> Vec<Crossing> {
    let measured = known(readings).filter(|(_, reading)| reading.is_measured());
    let firsts: BTreeMap<Case, &Reading> = (measured.clone())
        .filter(|(case, _)| spec.first.cases.fits(case))
        .map(|(case, reading)| (but_for_the_way(case), reading))
        .collect();
    let seconds = measured.filter(|(case, _)| spec.second.cases.fits(case));
    let points = seconds.filter_map(|(case, second)| {
        let first = firsts.get(&but_for_the_way(case))?;
        let point = point(case.field_bytes()?, first, second)?;
        Some((Case { payload_bytes: None, ..but_for_the_way(case) }, point))
    });
    let groups = grouped(points, |(case, _)| case.clone()).into_iter();
    groups
        .filter(|(_, of)| of.len() > 1)
        .map(|(case, of)| {
            let mut points: Vec<CrossingPoint> = of.into_iter().map(|(_, point)| point).collect();
            points.sort_by_key(|point| point.field_bytes);
            let won = points.iter().rev().take_while(|point| point.faster == Faster::Second);
            Crossing {
                first: spec.first.name.clone(),
                second: spec.second.name.clone(),
                flows: case.flows.unwrap_or(1),
                from_field_bytes: won.last().map(|point| point.field_bytes),
                points,
            }
        })
        .collect()
}

/// What two ways of doing the same have in common.
fn but_for_the_way(case: &Case) -> Case {
    Case { mechanism: String::new(), parameters: BTreeMap::new(), ..case.clone() }
}

fn point(field_bytes: u32, first: &Reading, second: &Reading) -> Option<CrossingPoint> {
    let of = Reading::headline_by_round;
    let ratio = ratio(&first.result.id, &of(second), &of(first))?;
    let case = second.result.id.clone();
    Some(CrossingPoint { field_bytes, case, faster: faster(&ratio), ratio })
}

fn faster(ratio: &Ratio) -> Faster {
    match (ratio.low, ratio.high) {
        (_, Some(high)) if high < 1.0 => Faster::Second,
        (Some(low), _) if low > 1.0 => Faster::First,
        _ => Faster::Neither,
    }
}

#[cfg(test)]
mod tests {
    use hopcost_model::results::{Faster, Results};

    use crate::testing::{Builder, TrialBuilder, read};

    fn id(mechanism: &str, field: u32, flows: u32, nodelay: &str) -> String {
        let more = if mechanism == "tcp-send" { "&more=off" } else { "" };
        format!(
            "stream/{mechanism}?payload={}&fields=8&flows={flows}&ack=per-message&boundary=process\
             &place=free&wait=block{more}&nodelay={nodelay}",
            8 * field
        )
    }

    /// A second message that takes these multiples of the first, a size and flow count each.
    fn of_run(suite: &str, seconds: &[(u32, u32, f64)]) -> Results {
        let stream = |ns: f64| {
            move |round: u32, t: &mut TrialBuilder| {
                let ns = ns as u32 + round % 3;
                t.stream(1, 100, 2048, &[ns; 100], 100 * u64::from(ns));
            }
        };
        let mut builder = Builder::new();
        for (field, flows, multiple) in seconds {
            let first = id("tcp-send", *field, *flows, "on");
            let second = id("tcp-sendmsg", *field, *flows, "off");
            builder = builder.case(&first, 8, stream(20_000.0));
            builder = builder.case(&second, 8, stream(20_000.0 * multiple));
        }
        let mut raw = builder.build();
        raw.plan.suite = suite.to_owned();
        read(&raw)
    }

    #[test]
    fn the_second_overtakes_where_it_stays_faster() {
        let at = [
            (256, 1, 0.5),
            (1024, 1, 1.5),
            (4096, 1, 0.8),
            (65536, 1, 0.7),
            (256, 2, 2.0),
            (1024, 2, 2.0),
        ];
        let results = of_run("copies", &at);
        let found = &results.crossings;
        let of: Vec<(u32, Option<u32>)> =
            found.iter().map(|one| (one.flows, one.from_field_bytes)).collect();
        assert_eq!(of, [(1, Some(4096)), (2, None)]);
        let faster: Vec<Faster> = found[0].points.iter().map(|point| point.faster).collect();
        assert_eq!(faster, [Faster::Second, Faster::First, Faster::Second, Faster::Second]);
        assert_eq!((found[0].first.as_str(), found[0].second.as_str()), ("A1 NODELAY", "A2"));
        assert!((found[0].points[3].ratio.point - 0.7).abs() < 1e-3);
        // And it is marked in the plot of one flow, where it begins.
        let plot = results.plots.iter().find(|plot| plot.id == "throughput-size").unwrap();
        let [marked] = plot.crossings.as_slice() else { panic!("{:?}", plot.crossings) };
        let second = plot.series.iter().find(|one| one.name.contains("A2")).unwrap();
        assert_eq!((marked.x, marked.y), (4096.0, second.points[2].y));
        assert!(marked.says.starts_with("A2 is faster than A1 NODELAY"), "{}", marked.says);
        assert!(plot.notes.contains(&marked.says));
    }

    #[test]
    fn equals_are_not_told_apart_and_other_suites_have_no_such_pairs() {
        let at = [(256, 1, 1.0), (1024, 1, 1.0)];
        let found = of_run("copies", &at).crossings;
        assert_eq!(found[0].points[0].faster, Faster::Neither);
        assert_eq!(found[0].from_field_bytes, None);
        assert_eq!(of_run("quick", &at).crossings, []);
        assert_eq!(of_run("copies", &at[..1]).crossings, [], "one size");
    }
}
