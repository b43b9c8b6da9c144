//! Series of cases, named by what tells them apart.

use hopcost_model::axis::Axis;
use hopcost_model::case::{Boundary, Case, IdleKnob};
use hopcost_model::group::grouped;
use hopcost_model::results::{PlotPoint, PlotSeries, PublishedPoint};

use crate::case::Reading;
use crate::format;

/// A measured case with what was found out about it.
pub type Measured<'a> = (&'a Case, &'a Reading<'a>);

/// A point with what others published of its case.
pub type Placed = (PlotPoint, Vec<PublishedPoint>);

/// One series for every set of cases that are equal when `x` is taken out of them,
/// in the order of the plan; points by x. A case that has no other along the axis is no
/// line and is left to the tables.
pub fn series(
    cases: &[Measured],
    without_x: &dyn Fn(&Case) -> Case,
    placed: &dyn Fn(Measured) -> Option<Placed>,
) -> Vec<PlotSeries> {
    let drawn = cases.iter().filter_map(|of| Some((*of, placed(*of)?)));
    let mut found = grouped(drawn, |((case, _), _)| without_x(case));
    found.retain(|(_, points)| points.len() >= 2);
    let keys: Vec<Measured> = found.iter().map(|(key, of)| (key, of[0].0.1)).collect();
    let series = labels(&keys).into_iter().zip(&found).map(|(name, (_, members))| {
        let mut points: Vec<PlotPoint> = members.iter().map(|(_, (point, _))| *point).collect();
        points.sort_by(|a, b| a.x.total_cmp(&b.x));
        let published = members.iter().flat_map(|(_, (_, published))| published).cloned();
        PlotSeries { name, points, published: published.collect() }
    });
    series.collect()
}

/// What each case is called among all: its mechanism, with what else differs.
pub fn labels(cases: &[Measured]) -> Vec<String> {
    let all: Vec<&Case> = cases.iter().map(|(case, _)| *case).collect();
    cases.iter().map(|(case, reading)| name(reading, case, &all)).collect()
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
        // A stream's label has its parameters; another mechanism's or runtime's are no difference.
        for key in case.parameters.keys() {
            tell(&|of| {
                let is_of_it = of.mechanism == case.mechanism && of.runtimes == case.runtimes;
                let of = if is_of_it { of } else { case };
                Some(format!("{key}={}", of.parameters.get(key)?))
            });
        }
    }
    name
}
