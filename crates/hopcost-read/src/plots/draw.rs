//! Series of cases, named by what tells them apart.

use hopcost_model::case::{Boundary, Case, IdleKnob};
use hopcost_model::results::{PlotAxis, PlotPoint, PlotSeries};

use super::Measured;
use crate::format;

/// One series for every set of cases that are equal when `x` is taken out of them,
/// in the order of the plan; points by x. A case that has no other along the axis is no
/// line and is left to the tables. Names are the mechanism's, with what else differs
/// among the series.
pub fn series(
    cases: &[Measured],
    without_x: &dyn Fn(&Case) -> Case,
    point: &dyn Fn(&Measured) -> Option<PlotPoint>,
) -> Vec<PlotSeries> {
    let mut found: Vec<(Case, Measured, Vec<PlotPoint>)> = Vec::new();
    for measured in cases {
        let Some(point) = point(measured).filter(drawable) else { continue };
        let key = without_x(measured.case);
        match found.iter_mut().find(|(of, ..)| *of == key) {
            Some((.., points)) => points.push(point),
            None => found.push((key, *measured, vec![point])),
        }
    }
    found.retain(|(.., points)| points.len() >= 2);
    let keys: Vec<Case> = found.iter().map(|(key, ..)| key.clone()).collect();
    found
        .into_iter()
        .map(|(key, first, mut points)| {
            points.sort_by(|a, b| a.x.total_cmp(&b.x));
            PlotSeries { name: name(&first, &key, &keys), points }
        })
        .collect()
}

fn drawable(point: &PlotPoint) -> bool {
    point.x.is_finite() && point.y.is_finite()
}

fn name(measured: &Measured, case: &Case, all: &[Case]) -> String {
    let stream = measured.reading.result.stream.as_ref();
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
    if stream.is_none() {
        // A stream's label has its parameters.
        tell(&|case| {
            let pairs = case.parameters.iter().map(|(key, value)| format!("{key}={value}"));
            Some(pairs.collect::<Vec<_>>().join(" ")).filter(|words| !words.is_empty())
        });
    }
    name
}

/// An axis on a logarithmic scale.
pub fn logarithmic(label: &str, unit: &str) -> PlotAxis {
    PlotAxis { label: label.to_owned(), unit: unit.to_owned(), logarithmic: true }
}

/// A point without a band.
pub fn bare(x: f64, y: f64) -> PlotPoint {
    PlotPoint { x, y, low: None, high: None }
}
