//! Values as charts, in two shapes: rows with intervals, and lines.

use hopcost_model::group::distinct;
use hopcost_read::results::Estimate;

use crate::chart::model::{Axis, Chart, Point, Row, Scale, Series, Style, Unit, Vertical, domain};
use crate::number;

/// What a chart is called, and what is to be seen on it, for those who do not see it.
pub(crate) struct About {
    pub id: String,
    pub title: String,
    pub says: String,
}

/// Intervals make an axis longer by this factor at most: one without an end would leave nothing of
/// the values.
const BEYOND: f64 = 2.0;
/// Bars begin at zero where the longest is no more than so many times the shortest.
const BARS_MAX: f64 = 50.0;
/// Lines that one chart can hold and that a reader can still distinguish.
const LINES_MAX: usize = Style::DISTINCT.len();
/// Values on an axis that each get a tick.
const TICKS_MAX: usize = 12;
/// Points of a line up to which each has a mark; of more those at a tick have one.
const MARKS_MAX: usize = 16;

/// A row: its name, its estimate, and the two levels at which its trials lie, if there are two.
pub(crate) type Drawn<'a> = (String, &'a Estimate, Option<(f64, f64)>);

/// Whether an axis has a place for a value.
fn holds(scale: Scale, value: f64) -> bool {
    value.is_finite() && (scale != Scale::Log || value > 0.0)
}

/// A row for each value, with its interval or its two levels.
pub(crate) fn rows(
    about: About,
    heading: &str,
    values: &[Drawn<'_>],
    axis: &Axis,
) -> Option<Chart> {
    let point = |(at, (name, of, levels)): (usize, &Drawn)| {
        let said = either(*levels).unwrap_or_else(|| number::estimate(of).to_string());
        let tip = Some(format!("{name}\n{said}"));
        Some(Point { tip, ..Point::of(at as f64, of, *levels)? })
    };
    let mut points: Vec<Point> = values.iter().enumerate().filter_map(point).collect();
    let places = || points.iter().flat_map(Point::values);
    let least = places().fold(f64::INFINITY, f64::min);
    let most = places().fold(0.0, f64::max);
    let is_bars = least > 0.0 && most <= BARS_MAX * least;
    let (scale, style) = match is_bars {
        true => (Scale::Linear, Style::BARS),
        false => (axis.scale, Style::DISTINCT[0]),
    };
    points.retain(|point| holds(scale, point.value));
    points.first()?;
    let zero = is_bars.then_some(0.0);
    let places: Vec<f64> = points.iter().flat_map(Point::values).chain(zero).collect();
    let ends = points.iter().filter_map(|point| point.ends);
    let found = clipped(scale, &places, ends.flat_map(<[f64; 2]>::from));
    let x = Axis { scale, domain: (zero.unwrap_or(found.0), found.1), ..axis.clone() };
    let row = |(name, of, levels): &Drawn| Row {
        name: name.clone(),
        end: either(*levels).unwrap_or_else(|| number::estimate(of).amount()),
    };
    let is_torn = values.iter().any(|(.., levels)| levels.is_some());
    let is_adjusted = values.iter().any(|(_, of, _)| of.quiet.is_some());
    Some(Chart {
        id: about.id,
        title: about.title,
        description: described(&about.says, &[&x], is_torn),
        y: Vertical::Rows(heading.to_owned(), values.iter().map(row).collect()),
        x,
        series: vec![Series { name: String::new(), style, points }],
        notes: is_adjusted.then(|| QUIET.to_owned()).into_iter().collect(),
    })
}

/// That values on the quiet machine stand elsewhere, where some do.
const QUIET: &str =
    "Drawn is what was measured; the tables have the values of the quiet machine too.";

/// A line with its name.
pub(crate) type Line = (String, Vec<Point>);

/// Lines through their points; several charts where there are many.
pub(crate) fn lines(about: &About, mut all: Vec<Line>, x: &Axis, y: &Axis) -> Vec<Chart> {
    for (_, points) in &mut all {
        points.retain(|of| holds(x.scale, of.at) && holds(y.scale, of.value));
        points.sort_by(|a, b| a.at.total_cmp(&b.at));
    }
    all.retain(|(_, points)| !points.is_empty());
    let points = || all.iter().flat_map(|(_, points)| points);
    let xs = distinct(points().map(|point| point.at));
    let ys: Vec<f64> = points().flat_map(Point::values).collect();
    let ends = points().filter_map(|point| point.ends).flat_map(<[f64; 2]>::from);
    let at = if xs.len() <= TICKS_MAX && x.at.is_empty() { xs.clone() } else { x.at.clone() };
    let x = Axis { at, domain: domain(x.scale, xs.into_iter()), ..x.clone() };
    let y = Axis { domain: clipped(y.scale, &ys, ends), ..y.clone() };
    let parts = all.len().div_ceil(LINES_MAX).max(1);
    let size = all.len().div_ceil(parts).max(1);
    let part = |(at, lines): (usize, &[Line])| {
        let (number, of) = match parts {
            1 => Default::default(),
            _ => (format!("-{}", at + 1), format!(" ({} of {parts})", at + 1)),
        };
        let names: Vec<&str> = lines.iter().map(|(name, _)| name.as_str()).collect();
        let is_torn = lines.iter().flat_map(|(_, points)| points).any(|of| of.other.is_some());
        let said = described(&about.says, &[&x, &y], is_torn);
        let styled = Style::DISTINCT.into_iter().zip(lines);
        Chart {
            id: format!("{}{number}", about.id),
            title: format!("{}{of}", about.title),
            description: format!("{said} Lines: {}.", names.join("; ")),
            x: x.clone(),
            y: Vertical::Value(y.clone()),
            series: styled.map(|(style, of)| marked(style, of, &x, y.unit)).collect(),
            notes: Vec::new(),
        }
    };
    all.chunks(size).enumerate().map(part).collect()
}

/// A line with a mark at each point, or at the ticks where there are many.
fn marked(style: Style, (name, points): &Line, x: &Axis, unit: Unit) -> Series {
    let point = |of: &Point| {
        let is_marked = points.len() <= MARKS_MAX || of.other.is_some() || x.at.contains(&of.at);
        let or = of.other.map_or(String::new(), |other| format!(" or {}", unit.text(other)));
        let tip = format!("{name}\n{}: {}{or}", x.unit.text(of.at), unit.text(of.value));
        Point { tip: is_marked.then_some(tip), ..of.clone() }
    };
    Series { name: name.clone(), style, points: points.iter().map(point).collect() }
}

/// The ends of an axis that holds all points, and intervals as far as they leave room for these.
fn clipped(scale: Scale, points: &[f64], ends: impl Iterator<Item = f64>) -> (f64, f64) {
    let least = points.iter().copied().fold(f64::INFINITY, f64::min);
    let most = points.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let far = match scale {
        Scale::Log => (least / BEYOND, most * BEYOND),
        _ => {
            let room = (most - least).max(most.abs()) * (BEYOND - 1.0);
            (least - room, most + room)
        }
    };
    let held = ends.map(|end| end.clamp(far.0.min(far.1), far.1.max(far.0)));
    domain(scale, points.iter().copied().chain(held))
}

/// `0.88 or 65 µs`
fn either(levels: Option<(f64, f64)>) -> Option<String> {
    levels.map(|(low, high)| number::either(low, high, None, None).amount())
}

/// What is to be seen, and what two marks of a value are where some have two.
fn described(says: &str, axes: &[&Axis], is_torn: bool) -> String {
    let is_log = axes.iter().any(|axis| axis.scale == Scale::Log);
    let log = if is_log { " The axis is logarithmic." } else { "" };
    let levels = match is_torn {
        true => " Two marks that a thin line joins are the two levels at which trials lie.",
        false => "",
    };
    format!("{says}{log}{levels}")
}
