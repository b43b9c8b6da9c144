//! The ladder as a dot plot: one row a mechanism, medians with their intervals,
//! tails as open markers.

use hopcost_model::results::{CaseResult, Estimate, LadderGroup, LadderRow, Results, Status};

use super::model::{
    Axis, Chart, Colour, Dash, Legend, Mark, Marker, Row, Rows, Scale, Series, Style, Table, Unit,
    Vertical,
};
use crate::names::{Place, capitalised, headline, row_label, row_name};
use crate::number;
use crate::section::covers;

/// One chart a ladder group; `None` where nothing in the group was measured, or
/// where it stands in a section of its own.
pub(crate) fn charts(results: &Results) -> Vec<Option<Chart>> {
    results.ladder.iter().enumerate().map(|(i, group)| chart(i, group, results)).collect()
}

fn chart(index: usize, group: &LadderGroup, results: &Results) -> Option<Chart> {
    if covers(group, results) {
        return None;
    }
    let places: Vec<Place> = Place::ALL
        .into_iter()
        .filter(|place| group.rows.iter().any(|row| place.of(row, results).is_some()))
        .collect();
    let mut series = Vec::new();
    for (lane, place) in places.iter().enumerate() {
        let lane = (lane as f64 + 0.5) / places.len() as f64 * 0.76 + 0.12;
        let (mut middle, mut tail) = (Vec::new(), Vec::new());
        for (r, row) in group.rows.iter().enumerate() {
            let Some((_, case)) = place.of(row, results) else { continue };
            marks(
                &format!("{}, {}", row_name(row, results), place.name()),
                case,
                r as f64 + lane,
                &mut middle,
                &mut tail,
            );
        }
        let of_place = if group.batched { String::new() } else { format!("{}, ", place.name()) };
        let what = if group.batched { "cost" } else { "p50" };
        series.push(dots(format!("{of_place}{what}"), look(*place), middle));
        series.push(dots(format!("{of_place}p99"), look(*place).open(), tail));
    }
    series.retain(|s| !s.marks.is_empty());
    if series.is_empty() {
        return None;
    }
    Some(Chart {
        id: format!("ladder-{index}"),
        title: capitalised(&group.title),
        description: description(group, &places),
        width: 780.0,
        x: Axis {
            label: axis_label(group).to_owned(),
            scale: Scale::Log,
            unit: Unit::Ns,
            domain: None,
            at: Vec::new(),
        },
        y: Vertical::Rows(rows(group, results, places.len())),
        series,
        notes: Vec::new(),
        table: table(group, results),
    })
}

fn axis_label(group: &LadderGroup) -> &'static str {
    if group.batched { "time per operation (log scale)" } else { "time per round trip (log scale)" }
}

fn description(group: &LadderGroup, places: &[Place]) -> String {
    let places: Vec<&str> = places.iter().map(|p| p.name()).collect();
    let what = if group.batched {
        "A filled marker is the cost of one operation; the bar through it is its interval."
            .to_owned()
    } else {
        format!(
            "One row a mechanism, {}. A filled marker is the median (p50), an open one the 99th \
             percentile; the bar through a marker is its interval, the dotted line joins the two.",
            places.join(" above ")
        )
    };
    format!(
        "{} {what} The axis is logarithmic. The table below holds the same numbers.",
        group.meaning
    )
}

/// How the marks of a place look.
fn look(place: Place) -> Style {
    match place {
        Place::One => Style::of(Colour::Blue, Marker::Circle, Dash::Solid),
        Place::Two => Style::of(Colour::Vermilion, Marker::Square, Dash::Long),
        Place::Free => Style::of(Colour::Green, Marker::Triangle, Dash::Short),
    }
}

fn dots(name: String, style: Style, marks: Vec<Mark>) -> Series {
    Series { name, legend: Legend::Listed, style, line: Vec::new(), band: Vec::new(), marks }
}

/// The marks of one case: its headline, and its p99 where there is one.
fn marks(name: &str, case: &CaseResult, y: f64, middle: &mut Vec<Mark>, tail: &mut Vec<Mark>) {
    let p99 = case.estimates.as_ref().and_then(|e| e.p99_ns.as_ref());
    let p99 = p99.and_then(|e| e.point.map(|point| (e, point)));
    let Some((what, estimate)) = headline(case) else { return };
    let Some(point) = estimate.point else { return };
    let mut tip = format!("{name}\n{what} {}", number::estimate_text(estimate));
    if let Some((estimate, _)) = p99 {
        tip.push_str(&format!("\np99 {}", number::estimate_text(estimate)));
    }
    let with = |estimate: &Estimate, x: f64, tail: Option<f64>| Mark {
        // Of an upper bound, only the bound is known.
        interval: estimate.low.zip(estimate.high).filter(|_| !estimate.at_most),
        at_most: estimate.at_most,
        tail,
        ..Mark::at(x, y, tip.clone())
    };
    middle.push(with(estimate, point, p99.map(|(_, x)| x)));
    tail.extend(p99.map(|(estimate, x)| with(estimate, x, None)));
}

fn rows(group: &LadderGroup, results: &Results, lanes: usize) -> Rows {
    let waits = group.rows.iter().any(|row| row.wait.is_some());
    let mut columns = vec!["mechanism".to_owned()];
    if waits {
        columns.extend(["boundary".to_owned(), "wait".to_owned()]);
    }
    let row = |row: &LadderRow| {
        let mut cells = vec![row_label(row, results)];
        if waits {
            cells.extend([row.boundary.to_string(), row.wait.clone().unwrap_or_default()]);
        }
        Row { cells, note: note(row, results), end: String::new() }
    };
    let rows = group.rows.iter().map(row).collect();
    Rows { columns, end: String::new(), rows, height: 10.0 + 10.0 * lanes as f64 }
}

/// Why a row has no mark at all.
fn note(row: &LadderRow, results: &Results) -> Option<String> {
    let cases: Vec<&CaseResult> =
        Place::ALL.iter().filter_map(|p| p.of(row, results)).map(|(_, case)| case).collect();
    if cases.iter().any(|case| case.status == Status::Measured) {
        return None;
    }
    let case = cases.first()?;
    let word = if case.status == Status::Skipped { "skipped" } else { "failed" };
    Some(format!("{word}: {}", case.reason.as_deref().unwrap_or("no reason was stored")))
}

fn table(group: &LadderGroup, results: &Results) -> Table {
    let columns = ["mechanism", "place", "p50 or cost", "p99"].map(str::to_owned).to_vec();
    let mut rows = Vec::new();
    for row in &group.rows {
        for place in Place::ALL {
            let Some((_, case)) = place.of(row, results) else { continue };
            let p99 = case.estimates.as_ref().and_then(|e| e.p99_ns.as_ref());
            let text = |e: Option<&Estimate>| e.map_or("–".to_owned(), number::estimate_text);
            rows.push(vec![
                row_name(row, results),
                place.name().to_owned(),
                text(headline(case).map(|(_, e)| e)),
                text(p99),
            ]);
        }
    }
    Table { columns, words: 2, rows }
}
