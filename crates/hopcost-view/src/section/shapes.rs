//! Values as charts, in two shapes: rows with intervals, and lines.

use hopcost_model::group::{distinct, grouped};
use hopcost_read::results::Estimate;

use crate::chart::domain;
use crate::chart::model::{Axis, Chart, Mark, Row, Rows, Scale, Series, Style, Unit, Vertical};
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

/// A value of a line.
pub(crate) struct Point {
    /// The name of the line.
    pub line: String,
    pub x: f64,
    pub y: f64,
    /// The upper of two levels, of which `y` is the lower.
    pub other: Option<f64>,
    pub ends: Option<(f64, f64)>,
}

impl Point {
    /// An estimate, or two levels instead; of an upper bound, only the bound is known.
    pub fn of(
        line: &str,
        x: f64,
        y: Option<&Estimate>,
        levels: Option<(f64, f64)>,
    ) -> Option<Self> {
        let ends =
            y?.low.zip(y?.high).filter(|_| levels.is_none() && !y.is_some_and(|y| y.at_most));
        let (y, other) = (levels.map_or(y?.point?, |of| of.0), levels.map(|of| of.1));
        Some(Self { line: line.to_owned(), x, y, other, ends })
    }
}

/// A row: its cells, its estimate, and the two levels at which its trials lie, if there are two.
pub(crate) type Drawn<'a> = (Vec<String>, &'a Estimate, Option<(f64, f64)>);

/// Whether an axis has a place for a value.
fn holds(scale: Scale, value: f64) -> bool {
    value.is_finite() && (scale != Scale::Log || value > 0.0)
}

/// A row for each value under the names of these columns, with its interval or its two levels.
pub(crate) fn rows(
    about: About,
    columns: &[&str],
    values: &[Drawn<'_>],
    axis: &Axis,
) -> Option<Chart> {
    let places = values.iter().flat_map(|(_, of, levels)| match levels {
        Some((low, high)) => [Some(*low), Some(*high)],
        None => [of.point, None],
    });
    let points: Vec<f64> = places.flatten().collect();
    let least = points.iter().copied().fold(f64::INFINITY, f64::min);
    let most = points.iter().copied().fold(0.0, f64::max);
    let is_bars = least > 0.0 && most <= BARS_MAX * least;
    let (scale, look) = match is_bars {
        true => (Scale::Linear, Style::BARS),
        false => (axis.scale, Style::DISTINCT[0]),
    };
    let mut series = Series::new("", look);
    for (at, (names, of, levels)) in values.iter().enumerate() {
        let said = either(*levels).unwrap_or_else(|| number::estimate(of).to_string());
        let tip = format!("{}\n{said}", names.join(", "));
        let (x, other) = levels.map_or((of.point, None), |(low, high)| (Some(low), Some(high)));
        let Some(x) = x.filter(|x| holds(scale, *x)) else { continue };
        let y = at as f64 + 0.5;
        let ends = of
            .low
            .zip(of.high)
            .filter(|(low, high)| [*low, *high].iter().all(|end| holds(scale, *end)));
        let interval = ends.filter(|_| !of.at_most && levels.is_none());
        let other = other.map(|x| (x, y));
        series.marks.push(Mark { interval, other, at_most: of.at_most, ..Mark::at(x, y, tip) });
    }
    series.marks.first()?;
    let zero = is_bars.then_some(0.0);
    let marks = series.marks.iter().flat_map(|mark| [Some(mark.x), mark.other.map(|of| of.0)]);
    let points: Vec<f64> = marks.flatten().chain(zero).collect();
    let ends = series.marks.iter().filter_map(|mark| mark.interval);
    let found = clipped(scale, &points, ends.flat_map(<[f64; 2]>::from));
    let x = Axis { scale, domain: Some((zero.unwrap_or(found.0), found.1)), ..axis.clone() };
    let row = |(names, of, levels): &Drawn| Row {
        cells: names.clone(),
        end: either(*levels).unwrap_or_else(|| number::estimate(of).amount()),
    };
    let is_torn = values.iter().any(|(.., levels)| levels.is_some());
    let is_adjusted = values.iter().any(|(_, of, _)| of.quiet.is_some());
    Some(Chart {
        id: about.id,
        title: about.title,
        description: described(&about.says, &[&x], is_torn),
        y: Vertical::Rows(Rows {
            columns: columns.iter().map(|head| (*head).to_owned()).collect(),
            rows: values.iter().map(row).collect(),
        }),
        x,
        series: vec![series],
        notes: is_adjusted.then(|| QUIET.to_owned()).into_iter().collect(),
    })
}

/// That values on the quiet machine stand elsewhere, where some do.
const QUIET: &str =
    "Drawn is what was measured; the tables have the values of the quiet machine too.";

/// A line for each name, through its points; several charts where there are many.
pub(crate) fn lines(about: &About, points: Vec<Point>, x: &Axis, y: &Axis) -> Vec<Chart> {
    let fitting = points.into_iter().filter(|of| holds(x.scale, of.x) && holds(y.scale, of.y));
    let named = grouped(fitting, |point| point.line.clone());
    let all = || named.iter().flat_map(|(_, points)| points);
    let xs = distinct(all().map(|point| point.x));
    let ys: Vec<f64> = all().flat_map(|of| [Some(of.y), of.other]).flatten().collect();
    let ends = all().filter_map(|point| point.ends).flat_map(<[f64; 2]>::from);
    let at = if xs.len() <= TICKS_MAX && x.at.is_empty() { xs.clone() } else { x.at.clone() };
    let x = Axis { at, domain: Some(domain(x.scale, xs.into_iter())), ..x.clone() };
    let y = Axis { domain: Some(clipped(y.scale, &ys, ends)), ..y.clone() };
    let parts = named.len().div_ceil(LINES_MAX).max(1);
    let size = named.len().div_ceil(parts).max(1);
    let part = |(at, named): (usize, &[(String, Vec<Point>)])| {
        let (number, of) = match parts {
            1 => Default::default(),
            _ => (format!("-{}", at + 1), format!(" ({} of {parts})", at + 1)),
        };
        let looks = Style::DISTINCT.into_iter().zip(named);
        let names: Vec<&str> = named.iter().map(|(name, _)| name.as_str()).collect();
        let is_torn = named.iter().flat_map(|(_, points)| points).any(|of| of.other.is_some());
        let said = described(&about.says, &[&x, &y], is_torn);
        Chart {
            id: format!("{}{number}", about.id),
            title: format!("{}{of}", about.title),
            description: format!("{said} Lines: {}.", names.join("; ")),
            x: x.clone(),
            y: Vertical::Value(y.clone()),
            series: looks
                .map(|(look, (name, points))| line(look, name, points, &x, y.unit))
                .collect(),
            notes: Vec::new(),
        }
    };
    named.chunks(size).enumerate().map(part).collect()
}

fn line(look: Style, name: &str, points: &[Point], x: &Axis, unit: Unit) -> Series {
    let mut points: Vec<&Point> = points.iter().collect();
    points.sort_by(|a, b| a.x.total_cmp(&b.x));
    let is_marked =
        |of: &&&Point| points.len() <= MARKS_MAX || of.other.is_some() || x.at.contains(&of.x);
    let mark = |of: &&Point| {
        let or = of.other.map_or(String::new(), |other| format!(" or {}", unit.text(other)));
        let tip = format!("{name}\n{}: {}{or}", x.unit.text(of.x), unit.text(of.y));
        Mark { other: of.other.map(|other| (of.x, other)), ..Mark::at(of.x, of.y, tip) }
    };
    // A line does not lead through what has two levels.
    let lines = points.split(|of| of.other.is_some()).filter(|part| part.len() > 1);
    Series {
        lines: lines.map(|part| part.iter().map(|of| (of.x, of.y)).collect()).collect(),
        band: points.iter().filter_map(|of| of.ends.map(|(low, high)| (of.x, low, high))).collect(),
        marks: points.iter().filter(is_marked).map(mark).collect(),
        ..Series::new(name, look)
    }
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
