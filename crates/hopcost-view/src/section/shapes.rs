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
    pub ends: Option<(f64, f64)>,
}

impl Point {
    /// An estimate; of an upper bound, only the bound is known.
    pub fn of(line: &str, x: f64, y: Option<&Estimate>) -> Option<Self> {
        let ends = y?.low.zip(y?.high).filter(|_| !y.is_some_and(|of| of.at_most));
        Some(Self { line: line.to_owned(), x, y: y?.point?, ends })
    }
}

/// Whether an axis has a place for a value.
fn holds(scale: Scale, value: f64) -> bool {
    value.is_finite() && (scale != Scale::Log || value > 0.0)
}

/// A row for each value under the names of these columns, with its interval.
pub(crate) fn rows(
    about: About,
    columns: &[&str],
    values: &[(Vec<String>, &Estimate)],
    axis: &Axis,
) -> Option<Chart> {
    let points: Vec<f64> = values.iter().filter_map(|(_, of)| of.point).collect();
    let least = points.iter().copied().fold(f64::INFINITY, f64::min);
    let most = points.iter().copied().fold(0.0, f64::max);
    let is_bars = least > 0.0 && most <= BARS_MAX * least;
    let (scale, look) = match is_bars {
        true => (Scale::Linear, Style::BARS),
        false => (axis.scale, Style::DISTINCT[0]),
    };
    let mut series = Series::new("", look);
    for (at, (names, of)) in values.iter().enumerate() {
        let tip = format!("{}\n{}", names.join(", "), number::estimate(of));
        let Some(x) = of.point.filter(|x| holds(scale, *x)) else { continue };
        let ends = of
            .low
            .zip(of.high)
            .filter(|(low, high)| [*low, *high].iter().all(|end| holds(scale, *end)));
        let interval = ends.filter(|_| !of.at_most);
        series.marks.push(Mark {
            interval,
            at_most: of.at_most,
            ..Mark::at(x, at as f64 + 0.5, tip)
        });
    }
    series.marks.first()?;
    let zero = is_bars.then_some(0.0);
    let points: Vec<f64> = series.marks.iter().map(|mark| mark.x).chain(zero).collect();
    let ends = series.marks.iter().filter_map(|mark| mark.interval);
    let found = clipped(scale, &points, ends.flat_map(<[f64; 2]>::from));
    let x = Axis { scale, domain: Some((zero.unwrap_or(found.0), found.1)), ..axis.clone() };
    let row = |(names, of): &(Vec<String>, &Estimate)| Row {
        cells: names.clone(),
        end: number::estimate(of).amount(),
    };
    let is_adjusted = values.iter().any(|(_, of)| of.quiet.is_some());
    Some(Chart {
        id: about.id,
        title: about.title,
        description: described(&about.says, &[&x]),
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
    let ys: Vec<f64> = all().map(|point| point.y).collect();
    let ends = all().filter_map(|point| point.ends).flat_map(<[f64; 2]>::from);
    let at = if xs.len() <= TICKS_MAX && x.at.is_empty() { xs.clone() } else { x.at.clone() };
    let x_ends = x.domain.unwrap_or_else(|| domain(x.scale, xs.iter().copied()));
    let x = Axis { at, domain: Some(x_ends), ..x.clone() };
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
        let said = described(&about.says, &[&x, &y]);
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
    let marked = points.iter().filter(|of| points.len() <= MARKS_MAX || x.at.contains(&of.x));
    let tip = |of: &Point| format!("{name}\n{}: {}", x.unit.text(of.x), unit.text(of.y));
    Series {
        line: points.iter().map(|of| (of.x, of.y)).collect(),
        band: points.iter().filter_map(|of| of.ends.map(|(low, high)| (of.x, low, high))).collect(),
        marks: marked.map(|of| Mark::at(of.x, of.y, tip(of))).collect(),
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

fn described(says: &str, axes: &[&Axis]) -> String {
    let is_log = axes.iter().any(|axis| axis.scale == Scale::Log);
    let log = if is_log { " The axis is logarithmic." } else { "" };
    format!("{says}{log}")
}
