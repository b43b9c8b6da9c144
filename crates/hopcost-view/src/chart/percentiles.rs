//! Percentile curves: value over quantile, few series a chart.

use hopcost_model::case::Workload;
use hopcost_model::results::{CaseResult, CurvePoint, LadderGroup, LadderRow, Results};

use super::model::{Axis, Chart, Legend, Mark, Scale, Series, Style, Table, Unit, Vertical};
use super::scale;
use crate::names::capitalised;
use crate::names::{Place, cases_at, quantile, row_name};
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
    let with_curve = |(row, case): (&LadderRow, _)| {
        (drawn(case).count() > 1).then(|| (row_name(row, results), case))
    };
    let by_place: Vec<(Place, Vec<(String, &CaseResult)>)> = Place::ALL
        .into_iter()
        .map(|place| (place, cases_at(group, place, results)))
        .map(|(place, cases)| (place, cases.into_iter().filter_map(with_curve).collect()))
        .collect();
    let points = || by_place.iter().flat_map(|(_, cases)| cases).flat_map(|(_, case)| drawn(case));
    points().next()?;
    let x = scale::domain(Scale::Nines, points().map(|p| p.q));
    let bands = |p: &CurvePoint| [p.ns, p.low.unwrap_or(p.ns), p.high.unwrap_or(p.ns)];
    let y = scale::domain(Scale::Log, points().flat_map(bands));
    let mut charts = Vec::new();
    for (place, cases) in &by_place {
        for (part, of, chunk) in even_chunks(cases, SERIES_MAX) {
            let part = if of > 1 { format!(" ({} of {of})", part + 1) } else { String::new() };
            let title = format!("{}, {}{part}", capitalised(&group.title), place.name());
            charts.push(chart(format!("curve-{index}-{}", charts.len()), title, chunk, x, y));
        }
    }
    Some(charts)
}

/// The points that the axis can hold: it has no place for the maximum.
fn drawn(case: &CaseResult) -> impl Iterator<Item = &CurvePoint> {
    case.curve.iter().filter(|p| p.q > 0.0 && p.q < 1.0 && p.ns > 0.0)
}

/// Parts of about equal length, none longer than `max`: (part, of how many, items).
pub(super) fn even_chunks<T>(
    items: &[T],
    max: usize,
) -> impl Iterator<Item = (usize, usize, &[T])> {
    let parts = items.len().div_ceil(max);
    let size = items.len().div_ceil(parts.max(1)).max(1);
    items.chunks(size).enumerate().map(move |(i, chunk)| (i, parts, chunk))
}

fn chart(
    id: String,
    title: String,
    cases: &[(String, &CaseResult)],
    x: (f64, f64),
    y: (f64, f64),
) -> Chart {
    let series: Vec<Series> = cases
        .iter()
        .zip(Style::DISTINCT)
        .map(|((name, case), style)| series(name, case, style))
        .collect();
    let names: Vec<&str> = cases.iter().map(|(name, _)| name.as_str()).collect();
    // A wake-up waits for nothing but its gap.
    let closed = cases.iter().all(|(_, case)| case.case.workload != Workload::Wake);
    let loops = if closed { "Closed-loop percentile" } else { "Percentile" };
    Chart {
        id,
        title,
        description: format!(
            "{loops} curves of {}: time of one operation over the share of \
             operations that were at most as slow, pooled over trials; each further nine takes \
             the same length. Both axes are logarithmic.",
            names.join("; ")
        ),
        width: 540.0,
        x: Axis {
            label: format!(
                "percentile, spaced by 1/(1−q){}",
                if closed { "; closed loop" } else { "" }
            ),
            scale: Scale::Nines,
            unit: Unit::Quantile,
            domain: Some(x),
            at: Vec::new(),
        },
        y: Vertical::Value {
            axis: Axis {
                label: "time per operation (log scale)".to_owned(),
                scale: Scale::Log,
                unit: Unit::Ns,
                domain: Some(y),
                at: Vec::new(),
            },
            height: 250.0,
        },
        series,
        notes: Vec::new(),
        table: table(cases),
    }
}

fn series(name: &str, case: &CaseResult, style: Style) -> Series {
    let is_marked = |q: f64| MARKED.iter().any(|m| (m - q).abs() < 1e-9);
    let tip = |p: &CurvePoint| {
        let spread = match (p.low, p.high) {
            (Some(low), Some(high)) => {
                format!("\ntrials from {} to {}", number::time(low, 3), number::time(high, 3))
            }
            _ => "\npooled over trials".to_owned(),
        };
        format!("{name}\n{} {}{spread}", quantile(p.q), number::time(p.ns, 3))
    };
    Series {
        name: name.to_owned(),
        legend: Legend::Listed,
        style,
        line: drawn(case).map(|p| (p.q, p.ns)).collect(),
        band: drawn(case).filter_map(|p| Some((p.q, p.low?, p.high?))).collect(),
        marks: drawn(case)
            .filter(|p| is_marked(p.q))
            .map(|p| Mark::at(p.q, p.ns, tip(p)))
            .collect(),
    }
}

fn table(cases: &[(String, &CaseResult)]) -> Table {
    let mut quantiles: Vec<f64> = cases.iter().flat_map(|(_, c)| drawn(c)).map(|p| p.q).collect();
    quantiles.sort_by(f64::total_cmp);
    quantiles.dedup();
    let mut columns = vec!["percentile".to_owned()];
    columns.extend(cases.iter().map(|(name, _)| name.clone()));
    let cell = |case: &CaseResult, q: f64| {
        let point = case.curve.iter().find(|p| p.q == q);
        point.map_or("–".to_owned(), |p| number::time(p.ns, 3))
    };
    let row = |q: f64| {
        let cells = cases.iter().map(|(_, case)| cell(case, q));
        std::iter::once(quantile(q)).chain(cells).collect()
    };
    Table { columns, words: 1, rows: quantiles.into_iter().map(row).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_part_is_left_with_a_crumb() {
        let sizes = |n: usize| -> Vec<usize> {
            let items = vec![(); n];
            even_chunks(&items, 6).map(|(_, _, c)| c.len()).collect()
        };
        assert_eq!(sizes(0), [0; 0]);
        assert_eq!(sizes(6), [6]);
        assert_eq!(sizes(7), [4, 3]);
        assert_eq!(sizes(13), [5, 5, 3]);
    }
}
