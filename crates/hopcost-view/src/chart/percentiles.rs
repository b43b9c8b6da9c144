//! Percentile curves: value over quantile, few series a chart.

use hopcost_model::case::Workload;
use hopcost_model::results::{CaseResult, LadderGroup, LadderRow, PlotPoint, Results};

use super::lines::{self, Points};
use super::model::{Axis, Chart, Scale, Style, Vertical};
use super::scale;
use super::unit::Unit;
use crate::names::{Place, capitalised, cases_at, quantile, row_name};
use crate::number;

/// Series a chart can hold before it has to be told apart by more than a look.
const SERIES_MAX: usize = 6;
/// The quantiles that get a marker.
const MARKED: [f64; 5] = [0.5, 0.9, 0.99, 0.999, 0.9999];

/// The percentile charts of every ladder group that has curves; those of one
/// group share their axes.
pub(crate) fn charts(results: &Results) -> Vec<Vec<Chart>> {
    let groups = results.ladder.iter().enumerate();
    groups.filter_map(|(i, group)| curve_group(i, group, results)).collect()
}

fn curve_group(index: usize, group: &LadderGroup, results: &Results) -> Option<Vec<Chart>> {
    let mut closed = true;
    let mut curve = |(row, case): (&LadderRow, &CaseResult)| {
        let points = drawn(case);
        // A wake-up waits for nothing but its gap, a load for its schedule.
        closed &= !matches!(case.case.workload, Workload::Wake | Workload::Load);
        (points.len() > 1).then(|| (row_name(row, results), points))
    };
    let by_place: Vec<(Place, Vec<Points>)> = Place::ALL
        .into_iter()
        .map(|place| (place, cases_at(group, place, results)))
        .map(|(place, cases)| (place, cases.into_iter().filter_map(&mut curve).collect()))
        .collect();
    let points = || by_place.iter().flat_map(|(_, curves)| curves).flat_map(|(_, points)| points);
    points().next()?;
    let (what, label) = match closed {
        true => ("Closed-loop percentile", "percentile, spaced by 1/(1−q); closed loop"),
        false => ("Percentile", "percentile, spaced by 1/(1−q)"),
    };
    let bands = |p: &PlotPoint| [p.y, p.low.unwrap_or(p.y), p.high.unwrap_or(p.y)];
    let x = Axis {
        domain: Some(scale::domain(Scale::Nines, points().map(|p| p.x))),
        ..Axis::new(label, Scale::Nines, Unit::Quantile)
    };
    let y = Axis {
        domain: Some(scale::domain(Scale::Log, points().flat_map(bands))),
        ..Axis::new("time per operation", Scale::Log, Unit::Ns)
    };
    let mut charts = Vec::new();
    for (place, curves) in &by_place {
        for (part, curves) in lines::parts(curves, SERIES_MAX) {
            let id = format!("curve-{index}-{}", charts.len());
            let title = format!("{}, {}{part}", capitalised(&group.title), place.name());
            let names: Vec<&str> = curves.iter().map(|(name, _)| name.as_str()).collect();
            let description = format!(
                "{what} curves of {}: time of one operation over the share of operations that \
                 were at most as slow, pooled over trials; each further nine takes the same \
                 length. Both axes are logarithmic.",
                names.join("; ")
            );
            charts.push(chart([id, title, description], curves, (&x, &y)));
        }
    }
    Some(charts)
}

/// The points that the axes can hold: they have no place for the maximum.
fn drawn(case: &CaseResult) -> Vec<PlotPoint> {
    let holds = case.curve.iter().filter(|p| p.q > 0.0 && p.q < 1.0 && p.ns > 0.0);
    holds.map(|p| PlotPoint { x: p.q, y: p.ns, low: p.low, high: p.high, stalled: None }).collect()
}

fn chart(
    [id, title, description]: [String; 3],
    curves: &[Points],
    (x, y): (&Axis, &Axis),
) -> Chart {
    Chart {
        id,
        title,
        description,
        width: 540.0,
        x: x.clone(),
        y: Vertical::Value(y.clone(), 250.0),
        series: curves
            .iter()
            .zip(Style::DISTINCT)
            .map(|(curve, style)| lines::series(curve, style, |p| tip(&curve.0, p)))
            .collect(),
        notes: Vec::new(),
        table: lines::table("percentile", curves, quantile, |p| number::time(p.y, 3)),
    }
}

/// What a marked point says.
fn tip(name: &str, p: &PlotPoint) -> Option<String> {
    let time = |ns| number::time(ns, 3);
    let spread = match (p.low, p.high) {
        (Some(low), Some(high)) => format!("trials from {} to {}", time(low), time(high)),
        _ => "pooled over trials".to_owned(),
    };
    let is_marked = MARKED.iter().any(|m| (m - p.x).abs() < 1e-9);
    is_marked.then(|| format!("{name}\n{} {}\n{spread}", quantile(p.x), time(p.y)))
}
