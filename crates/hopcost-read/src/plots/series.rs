//! Series of cases, named by what tells them apart.

use hopcost_model::axis::Axis;
use hopcost_model::case::{Boundary, Case, IdleKnob};
use hopcost_model::group::grouped;
use hopcost_model::results::{PlotPoint, PlotSeries};

use crate::case::Reading;
use crate::format;

/// A measured case with what was found out about it.
pub type Measured<'a> = (&'a Case, &'a Reading<'a>);

/// One series for every set of cases that are equal when `x` is taken out of them,
/// in the order of the plan; points by x. A case that has no other along the axis is no
/// line and is left to the tables. Names are the mechanism's, with what else differs
/// among the series.
pub fn series(
    cases: &[Measured],
    without_x: &dyn Fn(&Case) -> Case,
    point: &dyn Fn(Measured) -> Option<PlotPoint>,
) -> Vec<PlotSeries> {
    let drawable = |point: &PlotPoint| point.x.is_finite() && point.y.is_finite();
    let drawn = cases.iter().filter_map(|of| Some((*of, point(*of).filter(drawable)?)));
    let mut found = grouped(drawn, |((case, _), _)| without_x(case));
    found.retain(|(_, points)| points.len() >= 2);
    let keys: Vec<&Case> = found.iter().map(|(key, _)| key).collect();
    found
        .iter()
        .map(|(key, members)| {
            let mut points: Vec<PlotPoint> = members.iter().map(|(_, point)| *point).collect();
            points.sort_by(|a, b| a.x.total_cmp(&b.x));
            PlotSeries {
                name: members.first().map_or(String::new(), |(of, _)| name(of.1, key, &keys)),
                points,
            }
        })
        .collect()
}

fn name(reading: &Reading, case: &Case, all: &[&Case]) -> String {
    let stream = reading.result.stream.as_ref();
    let mut name = match stream {
        Some(stream) => stream.label.clone(),
        None => format::mechanism(case),
    };
    let mut tell = |of: &dyn Fn(&Case) -> Option<String>| {
        let mine = of(case);
        if all.iter().any(|other| of(other) != mine) {
            name.extend(mine.map(|word| format!(", {word}")));
        }
    };
    tell(&|case| Some(case.ack?.to_string()).map(|ack| format!("ack {ack}")));
    tell(&|case| Some(format!("{} fields", case.fields?)));
    tell(&|case| (case.boundary != Boundary::Inline).then(|| case.boundary.to_string()));
    tell(&|case| Some(case.placement?.to_string()));
    tell(&|case| Some(case.waits?.to_string()));
    tell(&|case| Some(case.idle_knob).filter(|k| *k != IdleKnob::None).map(|k| k.to_string()));
    tell(&|case| Some(case.sched.to_string()));
    tell(&|case| {
        let others = Axis::unusual(case).filter(|(a, _)| !matches!(a.key, "idle-knob" | "sched"));
        let pairs = others.map(|(axis, value)| format!("{}={value}", axis.key));
        Some(pairs.collect::<Vec<_>>().join(" ")).filter(|words| !words.is_empty())
    });
    if stream.is_none() {
        // A stream's label has its parameters.
        tell(&|case| {
            let pairs = case.parameters.iter().map(|(key, value)| format!("{key}={value}"));
            Some(pairs.collect::<Vec<_>>().join(" ")).filter(|words| !words.is_empty())
        });
    }
    name
}
