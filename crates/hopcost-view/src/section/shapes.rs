//! Tables as charts, in three shapes: rows with intervals, lines, and a grid. A chart names the
//! columns that it draws.

use hopcost_model::group::{distinct, grouped};

use super::model::{Cell, Table, Value};
use crate::chart::model::{
    Axis, Cells, Chart, Colour, Dash, Mark, Marker, Row, Rows, STEPS, Scale, Series, Style,
    Vertical,
};
use crate::chart::{Unit, domain};

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
/// Lines that one chart can hold and still be told by their looks.
const LINES_MAX: usize = Style::DISTINCT.len();
/// Values on an axis that each get a tick.
const TICKS_MAX: usize = 12;
/// Points of a line up to which each has a mark; of more those at a tick have one.
const MARKS_MAX: usize = 16;

/// The columns of rows.
pub(crate) struct Named<'a> {
    /// What names a row.
    pub names: &'a [&'a str],
    pub value: &'a str,
    /// What the axis of the value is.
    pub axis: Axis,
    /// What orders values within a row: lines of a table with equal names are one row then.
    pub lane: Option<&'a str>,
}

/// The columns of lines.
pub(crate) struct Swept<'a> {
    /// What names a line.
    pub series: &'a str,
    /// The axis, called as its column.
    pub x: Axis,
    pub y: Axis,
    /// The values along y.
    pub value: &'a str,
}

/// A value that an axis has a place for.
struct Placed {
    point: f64,
    interval: Option<(f64, f64)>,
    at_most: bool,
}

/// A row for each line of a table, with its value and the interval of that.
pub(crate) fn rows(about: About, table: &Table, of: Named<'_>) -> Option<Chart> {
    let value = column(table, of.value)?;
    let bodies = table.rows.iter().filter(|row| !table.is_heading(row)).enumerate();
    let named = grouped(bodies, |(at, row)| {
        (texts(table, of.names, row), if of.lane.is_some() { 0 } else { *at })
    });
    let lines: Vec<Line> = named
        .into_iter()
        .map(|((names, _), rows)| (names, rows.into_iter().map(|(_, row)| row).collect()))
        .collect();
    let is_bars = of.lane.is_none() && are_bars(&lines, value);
    let (scale, look) = match is_bars {
        true => (Scale::Linear, Style::of(Colour::BLUE, Marker::BAR, Dash::SOLID)),
        false => (of.axis.scale, Style::DISTINCT[0]),
    };
    let mut series = Series::new("", look);
    for (at, (names, rows)) in lines.iter().enumerate() {
        for (nth, row) in rows.iter().enumerate() {
            let found = row.get(value).and_then(|cell| placed(cell, scale == Scale::Log));
            let Some(found) = found else { continue };
            let within = (nth as f64 + 0.5) / rows.len() as f64 * 0.76 + 0.12;
            let tip = format!("{}\n{}", names.join(", "), tip(table, &of, row));
            let mark = Mark::at(found.point, at as f64 + within, tip);
            series.marks.push(Mark { interval: found.interval, at_most: found.at_most, ..mark });
        }
    }
    series.marks.first()?;
    let zero = is_bars.then_some(0.0);
    let points: Vec<f64> = series.marks.iter().map(|mark| mark.x).chain(zero).collect();
    let ends = series.marks.iter().filter_map(|mark| mark.interval);
    let found = clipped(scale, &points, &ends.flat_map(<[f64; 2]>::from).collect::<Vec<_>>());
    let found = (zero.unwrap_or(found.0), found.1);
    let x = Axis { scale, domain: of.axis.domain.or(Some(found)), ..of.axis.clone() };
    let heads = of.names.iter().filter(|head| column(table, head).is_some());
    Some(Chart {
        id: about.id,
        title: about.title,
        description: described(&about.says, &[&x]),
        y: Vertical::Rows(Rows {
            columns: heads.map(|head| (*head).to_owned()).collect(),
            rows: lines.into_iter().map(|line| row(line, value, of.lane.is_some())).collect(),
            height: if of.lane.is_some() { 34.0 } else { 22.0 },
        }),
        x,
        series: vec![series],
        notes: quiet(table, value),
    })
}

/// The names of a row, and the lines of the table that stand in it.
type Line<'a> = (Vec<String>, Vec<&'a Vec<Cell>>);

/// Whether the values are so near each other that bars from zero show them.
fn are_bars(lines: &[Line<'_>], value: usize) -> bool {
    let cells = lines.iter().flat_map(|(_, rows)| rows).filter_map(|row| row.get(value));
    let found: Vec<f64> = cells.filter_map(|cell| Some(placed(cell, false)?.point)).collect();
    let least = found.iter().copied().fold(f64::INFINITY, f64::min);
    let most = found.iter().copied().fold(0.0, f64::max);
    least > 0.0 && most <= BARS_MAX * least
}

/// A row with its value beside it, or with the reason why it has none.
fn row((cells, rows): Line<'_>, value: usize, has_lanes: bool) -> Row {
    let own = || rows.iter().filter_map(|row| row.get(value));
    let first = own().find(|cell| placed(cell, false).is_some());
    let note = if first.is_none() { own().next().map(why) } else { None };
    let end = first.filter(|_| !has_lanes);
    Row { cells, note, end: end.map_or(String::new(), amount) }
}

/// The rows of a table that a line goes through, and its name.
type Group<'a> = (String, Vec<&'a Vec<Cell>>);

/// A line for each name in a table, through its values; several charts where there are many.
pub(crate) fn lines(about: &About, table: &Table, of: &Swept<'_>) -> Vec<Chart> {
    let columns = [of.series, &of.x.label, of.value].map(|head| column(table, head));
    let [Some(name), Some(along), Some(value)] = columns else { return Vec::new() };
    let named = grouped(table.rows.iter(), |row| row.get(name).map_or(String::new(), written));
    let (is_x, is_y) = (of.x.scale == Scale::Log, of.y.scale == Scale::Log);
    let point = |row: &'_ Vec<Cell>| {
        let x = placed(row.get(along)?, is_x)?.point;
        Some((x, placed(row.get(value)?, is_y)?))
    };
    let all: Vec<(f64, Placed)> = table.rows.iter().filter_map(point).collect();
    if all.is_empty() {
        return Vec::new();
    }
    let xs = distinct(all.iter().map(|(x, _)| *x));
    let points: Vec<f64> = all.iter().map(|(_, of)| of.point).collect();
    let ends: Vec<f64> =
        all.iter().filter_map(|(_, of)| of.interval).flat_map(|(low, high)| [low, high]).collect();
    let x = Axis {
        at: if xs.len() <= TICKS_MAX && of.x.at.is_empty() { xs.clone() } else { of.x.at.clone() },
        domain: of.x.domain.or(Some(domain(of.x.scale, xs.iter().copied()))),
        ..of.x.clone()
    };
    let y =
        Axis { domain: of.y.domain.or(Some(clipped(of.y.scale, &points, &ends))), ..of.y.clone() };
    let parts = named.len().div_ceil(LINES_MAX);
    let size = named.len().div_ceil(parts.max(1)).max(1);
    let part = |(at, named): (usize, &[Group<'_>])| {
        let mut series = Vec::new();
        for (style, (name, rows)) in Style::DISTINCT.into_iter().zip(named) {
            let mut one = Series::new(name.clone(), style);
            for row in rows {
                let Some((at, found)) = point(row) else { continue };
                one.line.push((at, found.point));
                one.band.extend(found.interval.map(|(low, high)| (at, low, high)));
                if rows.len() <= MARKS_MAX || x.at.contains(&at) {
                    let says = [&row[along], &row[value]].map(written).join(": ");
                    one.marks.push(Mark::at(at, found.point, format!("{name}\n{says}")));
                }
            }
            one.line.sort_by(|a, b| a.0.total_cmp(&b.0));
            one.band.sort_by(|a, b| a.0.total_cmp(&b.0));
            series.push(one);
        }
        series.retain(|one| !one.line.is_empty());
        let is_several = parts > 1;
        let names: Vec<&str> = named.iter().map(|(name, _)| name.as_str()).collect();
        Chart {
            id: if is_several { format!("{}-{}", about.id, at + 1) } else { about.id.clone() },
            title: match is_several {
                true => format!("{} ({} of {parts})", about.title, at + 1),
                false => about.title.clone(),
            },
            description: format!(
                "{} Lines: {}.",
                described(&about.says, &[&x, &y]),
                names.join("; ")
            ),
            x: x.clone(),
            y: Vertical::Value(y.clone()),
            series,
            notes: quiet(table, value),
        }
    };
    named.chunks(size).enumerate().map(part).collect()
}

/// A cell for each number of a table whose first column names its rows.
pub(crate) fn grid(about: About, table: &Table, across: &str) -> Option<Chart> {
    let key = |cell: &Cell| Some(placed(cell, true)?.point);
    let cells = || table.rows.iter().flat_map(|row| row.iter().skip(1));
    let keyed = || cells().filter_map(|cell| Some((key(cell)?, cell)));
    let least = keyed().min_by(|a, b| a.0.total_cmp(&b.0))?;
    let most = keyed().max_by(|a, b| a.0.total_cmp(&b.0))?;
    let heads: Vec<String> = table.columns.iter().map(|column| column.head.clone()).collect();
    let row = |row: &Vec<Cell>| {
        let name = row.first().map_or(String::new(), written);
        let cells = row.iter().zip(&heads).skip(1).map(|(cell, head)| {
            let text = if key(cell).is_some() { amount(cell) } else { written(cell) };
            let says = cell.hint.clone().unwrap_or_else(|| written(cell));
            crate::chart::model::Cell {
                tip: format!("{name}, {head}\n{says}"),
                text,
                step: key(cell).map(|value| step(value, (least.0, most.0))),
            }
        });
        (name.clone(), cells.collect())
    };
    let grid = Cells {
        rows_label: heads.first().cloned().unwrap_or_default(),
        columns_label: across.to_owned(),
        columns: heads.iter().skip(1).cloned().collect(),
        rows: table.rows.iter().map(row).collect(),
        ends: (most.0 > least.0).then(|| (amount(least.1), amount(most.1))),
    };
    Some(Chart {
        id: about.id,
        description: format!(
            "{} The ground of each cell is one of {STEPS} steps of a logarithmic scale. The table \
             below holds the same numbers.",
            about.says
        ),
        title: about.title,
        x: Axis::new("", Scale::Linear, Unit::Ns),
        y: Vertical::Cells(grid),
        series: Vec::new(),
        notes: Vec::new(),
    })
}

/// One of the grounds between the least number and the greatest.
fn step(value: f64, (least, most): (f64, f64)) -> u8 {
    let range = (most / least).ln();
    let share = if range > 0.0 { (value / least).ln() / range } else { 0.0 };
    // A share of 1 belongs to the last step.
    ((share * f64::from(STEPS)) as u8).min(STEPS - 1)
}

/// The ends of an axis that holds all points, and intervals as far as they leave room for these.
fn clipped(scale: Scale, points: &[f64], ends: &[f64]) -> (f64, f64) {
    let least = points.iter().copied().fold(f64::INFINITY, f64::min);
    let most = points.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let far = match scale {
        Scale::Log => (least / BEYOND, most * BEYOND),
        _ => {
            let room = (most - least).max(most.abs()) * (BEYOND - 1.0);
            (least - room, most + room)
        }
    };
    let held = ends.iter().map(|end| end.clamp(far.0.min(far.1), far.1.max(far.0)));
    domain(scale, points.iter().copied().chain(held))
}

fn described(says: &str, axes: &[&Axis]) -> String {
    let is_log = axes.iter().any(|axis| axis.scale == Scale::Log);
    let log = if is_log { " The axis is logarithmic." } else { "" };
    format!("{says}{log}")
}

/// That values on the quiet machine stand elsewhere, where some do.
fn quiet(table: &Table, value: usize) -> Vec<String> {
    let has = table.rows.iter().filter_map(|row| row.get(value)).any(|cell| cell.quiet().is_some());
    let note = "Drawn is what was measured; the tables have the values of the quiet machine too.";
    has.then(|| note.to_owned()).into_iter().collect()
}

fn column(table: &Table, head: &str) -> Option<usize> {
    table.columns.iter().position(|column| column.head == head)
}

fn texts(table: &Table, heads: &[&str], row: &[Cell]) -> Vec<String> {
    let known = heads.iter().filter_map(|head| column(table, head));
    let cells = known.map(|at| row.get(at).filter(|cell| !cell.is_empty()));
    cells.map(|cell| cell.map_or(String::new(), written)).collect()
}

/// What a mark says: each value with its interval.
fn tip(table: &Table, of: &Named<'_>, row: &[Cell]) -> String {
    let is_shown = |head: &str| of.value == head || of.lane == Some(head);
    let cells = table.columns.iter().zip(row).filter(|(column, _)| is_shown(&column.head));
    let cells = cells.filter(|(_, cell)| !cell.is_empty());
    let shown = cells.map(|(column, cell)| format!("{} {}", column.head, written(cell)));
    shown.collect::<Vec<_>>().join("\n")
}

/// Of several values in one cell the first.
fn first(cell: &Cell) -> &Cell {
    match &cell.value {
        Value::Several(cells) => cells.first().unwrap_or(cell),
        _ => cell,
    }
}

fn placed(cell: &Cell, is_log: bool) -> Option<Placed> {
    let holds = |value: &f64| value.is_finite() && (!is_log || *value > 0.0);
    let cell = first(cell);
    let point = cell.value.key().filter(holds)?;
    let (low, high, at_most) = match &cell.value {
        Value::Estimate(of) => (of.estimate.low, of.estimate.high, of.estimate.at_most),
        Value::Ratio(of, _) => (of.low, of.high, false),
        Value::Grade(_) | Value::Ruling(_) => return None,
        _ => (None, None, false),
    };
    // Of an upper bound, only the bound is known.
    let interval = low.filter(holds).zip(high.filter(holds)).filter(|_| !at_most);
    Some(Placed { point, interval, at_most })
}

/// A number without its interval.
fn amount(cell: &Cell) -> String {
    first(cell).value.shown().map_or(String::new(), |shown| shown.amount())
}

/// Why there is no number.
fn why(cell: &Cell) -> String {
    let text = written(cell);
    cell.hint.as_ref().map_or(text.clone(), |hint| format!("{text}: {hint}"))
}

/// A cell in words.
fn written(cell: &Cell) -> String {
    match &cell.value {
        Value::Words(text) | Value::Code(text) => text.clone(),
        Value::Several(cells) => cells.iter().map(written).collect::<Vec<_>>().join(" "),
        Value::Finding(code, _) => code.word().to_owned(),
        value => match (value.shown(), value.verdict()) {
            (Some(shown), _) => shown.to_string(),
            (None, Some((_, word))) => word.to_owned(),
            (None, None) => "–".to_owned(),
        },
    }
}
