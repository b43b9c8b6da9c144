//! Plots over something that was swept (a gap, a size, a number of flows), as the
//! results hold them: lines through measured points, bands for their intervals.

use hopcost_model::results::{Plot, PlotAxis, PlotPoint, PlotSeries, Results};

use super::model::{Axis, Chart, Legend, Mark, Scale, Series, Style, Table, Unit, Vertical};
use super::percentiles::even_chunks;
use crate::number;

/// Series that one chart can hold and still be told apart.
const SERIES_MAX: usize = 12;
/// Swept values that each get a tick; more would be a ruler of their own.
const TICKS_MAX: usize = 12;

/// One chart a plot; more where a plot has more series than one chart can hold.
pub(crate) fn charts(results: &Results) -> Vec<Chart> {
    let mut charts: Vec<Chart> = Vec::new();
    for plot in &results.plots {
        for (part, of, series) in even_chunks(&plot.series, SERIES_MAX) {
            let mut id = format!("plot-{}", plain_id(&plot.id));
            let mut title = plot.title.clone();
            if of > 1 {
                id.push_str(&format!("-{}", part + 1));
                title.push_str(&format!(" ({} of {of})", part + 1));
            }
            while charts.iter().any(|chart| chart.id == id) {
                id.push_str("-again");
            }
            charts.push(chart(id, title, plot, series));
        }
    }
    charts
}

/// Letters, digits and `-` of a name: it becomes an id and a part of file names.
pub(super) fn plain_id(name: &str) -> String {
    let keep = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    let id: String = name.chars().take(80).map(keep).collect();
    match id.trim_matches('-') {
        "" => "unnamed".to_owned(),
        id => id.to_owned(),
    }
}

/// An axis of a plot with what its values are.
struct Scaled {
    label: String,
    unit: Unit,
    /// Names the unit in texts where [`Unit`] has none for it.
    suffix: String,
    /// Makes the unit of the plot that of the chart.
    factor: f64,
    scale: Scale,
}

impl Scaled {
    fn of(axis: &PlotAxis) -> Self {
        let (unit, factor, suffix) = match axis.unit.as_str() {
            "ns" => (Unit::Ns, 1.0, ""),
            "µs" | "us" => (Unit::Ns, 1e3, ""),
            "ms" => (Unit::Ns, 1e6, ""),
            "s" => (Unit::Seconds, 1.0, ""),
            "B" => (Unit::Bytes, 1.0, ""),
            "Gbit/s" => (Unit::GigabitsPerSecond, 1.0, ""),
            other => (Unit::Number, 1.0, other),
        };
        let mut label = axis.label.clone();
        if !suffix.is_empty() {
            label.push_str(&format!(" in {suffix}"));
        }
        let scale = if axis.logarithmic { Scale::Log } else { Scale::Linear };
        Self { label, unit, suffix: suffix.to_owned(), factor, scale }
    }

    /// Whether the axis has a place for a value.
    fn holds(&self, value: f64) -> bool {
        value.is_finite() && (self.scale != Scale::Log || value > 0.0)
    }

    fn axis(&self, at: Vec<f64>) -> Axis {
        let scale = if self.scale == Scale::Log { " (log scale)" } else { "" };
        Axis { at, ..Axis::new(format!("{}{scale}", self.label), self.scale, self.unit) }
    }

    fn text(&self, value: f64) -> String {
        match self.unit {
            Unit::Ns => number::time(value, 3),
            Unit::Seconds => number::time(value * 1e9, 3),
            Unit::GigabitsPerSecond => format!("{} Gbit/s", number::plain(value, 3)),
            Unit::Bytes | Unit::Number | Unit::Quantile => {
                let whole = value.fract() == 0.0 && value.abs() < 1e15;
                let text = match self.unit {
                    Unit::Bytes if whole && (0.0..=f64::from(u32::MAX)).contains(&value) => {
                        return number::bytes(value as u32);
                    }
                    Unit::Bytes => format!("{} B", number::plain(value, 3)),
                    _ if whole => format!("{value}"),
                    _ => number::plain(value, 3),
                };
                if self.suffix.is_empty() { text } else { format!("{text} {}", self.suffix) }
            }
        }
    }
}

fn chart(id: String, title: String, plot: &Plot, series: &[PlotSeries]) -> Chart {
    let (x, y) = (Scaled::of(&plot.x), Scaled::of(&plot.y));
    let mut notes = plot.notes.clone();
    let all = series.iter().map(|s| s.points.len()).sum::<usize>();
    let series: Vec<(String, Vec<PlotPoint>)> =
        series.iter().map(|s| (s.name.clone(), drawable(s, &x, &y))).collect();
    let left_out = all - series.iter().map(|(_, points)| points.len()).sum::<usize>();
    if left_out > 0 {
        notes.push(format!(
            "Not drawn: {left_out} of {all} points, for which an axis has no place."
        ));
    }
    let xs = sorted(series.iter().flat_map(|(_, points)| points).map(|p| p.x));
    let at = if xs.len() <= TICKS_MAX { xs.clone() } else { Vec::new() };
    let names: Vec<&str> = series.iter().map(|(name, _)| name.as_str()).collect();
    let banded = series.iter().flat_map(|(_, points)| points).any(|p| p.low.is_some());
    Chart {
        id,
        title,
        description: format!(
            "{} over {}: {}. A line joins the measured points of one series{}. The table below \
             holds the same numbers.",
            y.axis(Vec::new()).label,
            x.axis(Vec::new()).label,
            names.join("; "),
            if banded { "; the shaded band spans their intervals" } else { "" }
        ),
        width: 660.0,
        x: x.axis(at),
        y: Vertical::Value { axis: y.axis(Vec::new()), height: 300.0 },
        table: table(&series, &xs, &x, &y),
        series: series
            .iter()
            .zip(Style::twelve())
            .map(|((name, points), style)| line(name, points, style, &x, &y))
            .collect(),
        notes,
    }
}

/// The points that both axes have a place for, in the chart's units and in order of
/// x; a band only where its edges are on the axis too.
fn drawable(series: &PlotSeries, x: &Scaled, y: &Scaled) -> Vec<PlotPoint> {
    let band = |edge: Option<f64>| edge.map(|v| v * y.factor).filter(|v| y.holds(*v));
    let mut points: Vec<PlotPoint> = series
        .points
        .iter()
        .map(|p| PlotPoint {
            x: p.x * x.factor,
            y: p.y * y.factor,
            low: band(p.low).filter(|_| band(p.high).is_some()),
            high: band(p.high).filter(|_| band(p.low).is_some()),
        })
        .filter(|p| x.holds(p.x) && y.holds(p.y))
        .collect();
    points.sort_by(|a, b| a.x.total_cmp(&b.x));
    points
}

fn sorted(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values.dedup();
    values
}

/// `33.6 µs, from 33.1 µs to 34.0 µs`
fn value(point: &PlotPoint, y: &Scaled) -> String {
    match (point.low, point.high) {
        (Some(low), Some(high)) => {
            format!("{}, from {} to {}", y.text(point.y), y.text(low), y.text(high))
        }
        _ => y.text(point.y),
    }
}

fn line(name: &str, points: &[PlotPoint], style: Style, x: &Scaled, y: &Scaled) -> Series {
    let tip =
        |p: &PlotPoint| format!("{name}\n{} {}\n{} {}", x.label, x.text(p.x), y.label, value(p, y));
    Series {
        name: name.to_owned(),
        legend: Legend::Listed,
        style,
        line: points.iter().map(|p| (p.x, p.y)).collect(),
        band: points.iter().filter_map(|p| Some((p.x, p.low?, p.high?))).collect(),
        marks: points.iter().map(|p| Mark::at(p.x, p.y, tip(p))).collect(),
    }
}

fn table(series: &[(String, Vec<PlotPoint>)], xs: &[f64], x: &Scaled, y: &Scaled) -> Table {
    let mut columns = vec![x.label.clone()];
    columns.extend(series.iter().map(|(name, _)| name.clone()));
    let cell = |points: &[PlotPoint], at: f64| {
        let point = points.iter().find(|p| p.x == at);
        point.map_or("–".to_owned(), |p| value(p, y))
    };
    let row = |at: &f64| {
        let cells = series.iter().map(|(_, points)| cell(points, *at));
        std::iter::once(x.text(*at)).chain(cells).collect()
    };
    Table { columns, words: 1, rows: xs.iter().map(row).collect() }
}
