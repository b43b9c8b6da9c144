//! The ladder as a dot plot: one row a mechanism, medians with their intervals,
//! tails as open markers.

use hopcost_model::results::{
    CaseResult, Estimate, LadderGroup, LadderRow, Results, Statistic, Status,
};

use super::gutter::Gutter;
use super::model::{Axis, Chart, Mark, Row, Rows, Scale, Series, Style, Table, Vertical};
use super::unit::Unit;
use crate::names::{Place, at, capitalised, case_of, cases_of, covers, headline, row_name};
use crate::number;

/// One chart a ladder group; `None` where nothing in the group was measured, or
/// where it stands in a section of its own.
pub(crate) fn charts(results: &Results) -> Vec<Option<Chart>> {
    results.ladder.iter().enumerate().map(|(i, group)| chart(i, group, results)).collect()
}

fn chart(index: usize, group: &LadderGroup, results: &Results) -> Option<Chart> {
    if covers(group, results) {
        return None;
    }
    let is_used = |place: &Place| group.rows.iter().any(|row| at(row, *place, results).is_some());
    let places: Vec<Place> = Place::ALL.into_iter().filter(is_used).collect();
    let mut series = Vec::new();
    for (lane, place) in places.iter().enumerate() {
        let lane = (lane as f64 + 0.5) / places.len() as f64 * 0.76 + 0.12;
        series.extend(dots(group, *place, lane, results));
    }
    series.retain(|s| !s.marks.is_empty());
    if series.is_empty() {
        return None;
    }
    let per = if group.batched { "operation" } else { "round trip" };
    Some(Chart {
        id: format!("ladder-{index}"),
        title: capitalised(&group.title),
        description: description(group, &places),
        width: 780.0,
        x: Axis::new(format!("time per {per}"), Scale::Log, Unit::Ns),
        y: Vertical::Rows(rows(group, results, places.len())),
        series,
        notes: Vec::new(),
        table: Table::default(),
    })
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

/// The headlines and the tails of a group's cases at one place, `lane` within each row.
fn dots(group: &LadderGroup, place: Place, lane: f64, results: &Results) -> [Series; 2] {
    let (of_place, what) = match group.batched {
        true => (String::new(), "cost"),
        false => (format!("{}, ", place.name()), "p50"),
    };
    let look = Style::DISTINCT[place as usize];
    let mut middle = Series::new(format!("{of_place}{what}"), look);
    let mut tail = Series::new(format!("{of_place}p99"), look.open());
    for (r, row) in group.rows.iter().enumerate() {
        let Some(case) = case_of(row, place, results) else { continue };
        let Some((what, estimate)) = headline(case) else { continue };
        let p99 = case.estimates.as_ref().and_then(|e| e.get(Statistic::P99));
        let p99 = p99.filter(|estimate| estimate.point.is_some());
        let mut tip = format!("{}, {}", row_name(row, results), place.name());
        for (what, estimate) in [(what, estimate)].into_iter().chain(p99.map(|p99| ("p99", p99))) {
            tip.push_str(&format!("\n{what} {}", number::estimate_text(estimate)));
        }
        let mark = |estimate: &Estimate| {
            Some(Mark {
                // Of an upper bound, only the bound is known.
                interval: estimate.low.zip(estimate.high).filter(|_| !estimate.at_most),
                at_most: estimate.at_most,
                ..Mark::at(estimate.point?, r as f64 + lane, tip.clone())
            })
        };
        let Some(headline) = mark(estimate) else { continue };
        middle.marks.push(Mark { tail: p99.and_then(|p99| p99.point), ..headline });
        tail.marks.extend(p99.and_then(mark));
    }
    [middle, tail]
}

fn rows(group: &LadderGroup, results: &Results, lanes: usize) -> Rows {
    let gutter = Gutter::of(group.rows.iter());
    let row = |row: &LadderRow| Row {
        cells: gutter.cells(row, results),
        note: note(row, results),
        ..Row::default()
    };
    Rows {
        columns: gutter.heads(),
        rows: group.rows.iter().map(row).collect(),
        height: 10.0 + 10.0 * lanes as f64,
        ..Rows::default()
    }
}

/// Why a row has no mark at all.
fn note(row: &LadderRow, results: &Results) -> Option<String> {
    let cases: Vec<&CaseResult> = cases_of(row, results).map(|(.., case)| case).collect();
    if cases.iter().any(|case| case.status == Status::Measured) {
        return None;
    }
    let case = cases.first()?;
    let reason = case.reason.as_deref().unwrap_or("no reason was stored");
    Some(format!("{}: {reason}", case.status.word()))
}
