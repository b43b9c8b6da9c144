//! Round trips with what was counted in them: system calls, switches, losses.

use hopcost_model::case::Workload;
use hopcost_model::results::{
    CaseResult, Estimate, LadderGroup, LadderRow, Results, Statistic, Status,
};

use super::{Cell, Column, Part, Row, Section, counters, time};
use crate::names::{Place, row_label};

const LEAD: &str = "System calls and context switches of both ends together in one round trip; \
    system calls were counted in exchanges of their own, which are in no time shown here. The \
    total time of so many round trips is their number times the mean.";

pub(super) fn section(results: &Results) -> Option<Section> {
    let parts: Vec<Part> = results.ladder.iter().filter_map(|group| part(group, results)).collect();
    (!parts.is_empty()).then(|| Section {
        id: "counted",
        title: "Round trips, counted",
        lead: LEAD.to_owned(),
        parts,
    })
}

fn part(group: &LadderGroup, results: &Results) -> Option<Part> {
    let cases: Vec<(&LadderRow, usize, &CaseResult)> = group
        .rows
        .iter()
        .flat_map(|row| {
            let places = Place::ALL.into_iter();
            places.filter_map(move |place| place.of(row, results).map(|(i, case)| (row, i, case)))
        })
        .filter(|(_, _, case)| {
            case.case.workload == Workload::Roundtrip && case.status == Status::Measured
        })
        .collect();
    let counted = |case: &CaseResult| case.counters.iter().any(|c| c.event == "system-calls");
    let lost = cases.iter().any(|(_, _, case)| case.lost > 0);
    if !lost && !cases.iter().any(|(_, _, case)| counted(case)) {
        return None;
    }
    let mut columns = vec![
        Column::words("mechanism"),
        Column::words("how").fold(1),
        Column::number("mean [interval]"),
        Column::number("p50").fold(3),
        Column::number("p99").fold(2),
        Column::number("multiple [interval]").fold(4),
        Column::number("system calls"),
        Column::number("switches"),
    ];
    if lost {
        columns.push(Column::number("lost"));
    }
    columns.push(Column::words("valid?"));
    let rows = cases.iter().map(|(row, index, case)| Row {
        cells: cells(row_label(row, results), case, lost),
        case: Some(*index),
    });
    let notes = counters::unavailable(cases.iter().map(|(_, _, case)| *case));
    Some(Part {
        title: group.title.clone(),
        columns,
        rows: rows.collect(),
        notes,
        ..Part::default()
    })
}

fn cells(label: String, case: &CaseResult, lost: bool) -> Vec<Cell> {
    let estimates = case.estimates.as_ref();
    let of = |pick: fn(&hopcost_model::results::Estimates) -> Option<&Estimate>| {
        estimates.and_then(pick)
    };
    let mut cells = vec![
        Cell::Text(label),
        Cell::Text(super::setting(case).join(", ")),
        Cell::estimate(of(|e| e.get(Statistic::Mean).or(e.get(Statistic::Cost))), time),
        Cell::point(of(|e| e.get(Statistic::P50)), time),
        Cell::point(of(|e| e.get(Statistic::P99)), time),
        Cell::ratio(case.ratio.as_ref(), Some(&case.id)),
        Cell::maybe(counters::sum(case, "system-calls", |c| c.per_operation), counters::count),
        Cell::maybe(case.switches_per_operation, counters::count),
    ];
    if lost {
        cells.push(Cell::Number(case.lost.to_string(), case.lost as f64));
    }
    cells.push(Cell::Validity(case.validity));
    cells
}
