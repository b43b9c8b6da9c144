//! Plots over something that was swept (a gap, a size, a number of flows), as the
//! results hold them: lines through measured points, bands for their intervals.

use hopcost_model::results::{Plot, PlotAxis, PlotPoint, PlotSeries};

use super::beside;
use super::lines::{self, Points};
use super::model::{Axis, Chart, Scale, Style, Vertical};
use super::unit::Unit;

/// Swept values that each get a tick; more would be a ruler of their own.
const TICKS_MAX: usize = 12;

/// An axis of a plot.
pub(super) struct Swept {
    pub axis: Axis,
    /// Makes the unit of the plot that of the chart.
    factor: f64,
}

impl Swept {
    pub fn of(axis: &PlotAxis) -> Self {
        let (unit, factor) = Unit::of(&axis.unit);
        let label = match &unit {
            Unit::Named(name) if !name.is_empty() => format!("{} in {name}", axis.label),
            _ => axis.label.clone(),
        };
        let scale = if axis.logarithmic { Scale::Log } else { Scale::Linear };
        Self { axis: Axis::new(label, scale, unit), factor }
    }

    /// A value in the chart's unit, if the axis has a place for it.
    pub fn place(&self, value: f64) -> Option<f64> {
        let value = value * self.factor;
        let holds = value.is_finite() && (self.axis.scale != Scale::Log || value > 0.0);
        holds.then_some(value)
    }

    pub fn text(&self, value: f64) -> String {
        self.axis.unit.text(value)
    }

    /// `33.6 µs, from 33.1 µs to 34.0 µs`
    pub fn point(&self, value: f64, interval: Option<(f64, f64)>) -> String {
        let interval = interval.map_or(String::new(), |(low, high)| {
            format!(", from {} to {}", self.text(low), self.text(high))
        });
        self.text(value) + &interval
    }
}

pub(super) fn chart(id: String, title: String, plot: &Plot, series: &[PlotSeries]) -> Chart {
    let (mut x, y) = (Swept::of(&plot.x), Swept::of(&plot.y));
    let all: usize = series.iter().map(|s| s.points.len()).sum();
    let place = |at_x: f64, at_y: f64| Some((x.place(at_x)?, y.place(at_y)?));
    let (rings, stalled) = beside::stalled(series, |p| place(p.x, p.y)).unzip();
    let means = match plot.x.unit.as_str() {
        "1/s" => "knee",
        _ => "faster than another way from here on",
    };
    let (boxes, crossed) = beside::crossings(&plot.crossings, means, place).unzip();
    let published = beside::published(
        series,
        Style::twelve().map(|style| style.colour).collect::<Vec<_>>().into_iter(),
        |of| place(of.x, of.y),
        |value| y.text(value * y.factor),
    );
    let series: Vec<Points> =
        series.iter().map(|s| (s.name.clone(), drawable(s, &x, &y))).collect();
    let points = || series.iter().flat_map(|(_, points)| points);
    let mut notes = plot.notes.clone();
    let left_out = all - points().count();
    if left_out > 0 {
        notes.push(format!(
            "Not drawn: {left_out} of {all} points, for which an axis has no place."
        ));
    }
    let xs = lines::xs(&series);
    x.axis.at = if xs.len() <= TICKS_MAX { xs } else { Vec::new() };
    let names: Vec<&str> = series.iter().map(|(name, _)| name.as_str()).collect();
    let banded = points().any(|p| p.low.is_some());
    let say = |p: &PlotPoint| y.point(p.y, p.low.zip(p.high));
    let tip = |name: &str, p: &PlotPoint| {
        format!("{name}\n{} {}\n{} {}", x.axis.label, x.text(p.x), y.axis.label, say(p))
    };
    let drawn = series.iter().zip(Style::twelve());
    let drawn = drawn.map(|(one, style)| lines::series(one, style, |p| Some(tip(&one.0, p))));
    let under = boxes.into_iter().chain(rings);
    let over = stalled.into_iter().chain(crossed).chain(published);
    Chart {
        id,
        title,
        description: format!(
            "{} over {}: {}. A line joins the measured points of one series{}. The table below \
             holds the same numbers.",
            y.axis.title(),
            x.axis.title(),
            names.join("; "),
            if banded { "; what the shaded band spans is noted below it" } else { "" }
        ),
        width: 660.0,
        series: under.chain(drawn).chain(over).collect(),
        table: lines::table(&x.axis.label, &series, |at| x.text(at), say),
        notes,
        x: x.axis.clone(),
        y: Vertical::Value(y.axis.clone(), 300.0),
    }
}

/// The points that both axes have a place for, in the chart's units and in order of
/// x; a band only where both its edges are on the axis.
fn drawable(series: &PlotSeries, x: &Swept, y: &Swept) -> Vec<PlotPoint> {
    let placed = series.points.iter().filter_map(|p| {
        let edges = p.low.and_then(|v| y.place(v)).zip(p.high.and_then(|v| y.place(v)));
        let (low, high) = edges.unzip();
        Some(PlotPoint { x: x.place(p.x)?, y: y.place(p.y)?, low, high, stalled: p.stalled })
    });
    let mut points: Vec<PlotPoint> = placed.collect();
    points.sort_by(|a, b| a.x.total_cmp(&b.x));
    points
}
