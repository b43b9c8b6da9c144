//! The segments of a typical hop, one below the other on one time axis.

use hopcost_model::case::Role;
use hopcost_model::results::{ExplainedCase, ExplainedSegment, Explanation};

use super::lines::free_id;
use super::model::{
    Axis, Chart, Colour, Dash, Mark, Marker, Row, Rows, Scale, Series, Style, Table, Vertical,
};
use super::unit::Unit;
use crate::names::plain_id;

/// A chart a case that has segments.
pub(crate) fn charts(found: &Explanation) -> Vec<Chart> {
    let mut charts: Vec<Chart> = Vec::new();
    for case in found.cases.iter().filter(|case| !case.segments.is_empty()) {
        let id = free_id(format!("hop-{}", plain_id(&case.case)), charts.iter());
        charts.push(chart(id, case));
    }
    charts
}

fn chart(id: String, case: &ExplainedCase) -> Chart {
    let unit = Unit::Ns;
    let bar = |(row, of): (usize, &ExplainedSegment)| {
        let ns = of.typical_ns.point.unwrap_or(0.0);
        let tip = format!("{}\n{}", of.segment, unit.text(ns));
        let from = Some(of.begins_ns);
        Mark { from, ..Mark::at(of.begins_ns + ns, row as f64 + 0.5, tip) }
    };
    let of_end = |end: Role, colour: Colour| {
        let own = case.segments.iter().enumerate().filter(|(_, of)| of.segment.end == end);
        let style = Style::of(colour, Marker::BAR, Dash::SOLID);
        Series { marks: own.map(bar).collect(), ..Series::new(format!("CPU of the {end}"), style) }
    };
    let rows = case.segments.iter().map(|of| Row {
        cells: vec![of.segment.to_string()],
        end: of.typical_ns.point.map_or(String::new(), |ns| unit.text(ns)),
        ..Row::default()
    });
    let ends = case.segments.iter().map(|of| of.begins_ns + of.typical_ns.point.unwrap_or(0.0));
    let length = ends.fold(0.0, f64::max);
    Chart {
        id,
        title: case.case.clone(),
        description: format!(
            "The segments of a typical hop of {}, each a bar on one time axis from the caller's stamp to its next. \
             The table holds the same numbers.",
            case.case
        ),
        width: 660.0,
        x: Axis {
            domain: Some((0.0, length)),
            ..Axis::new("time in the hop", Scale::Linear, unit.clone())
        },
        y: Vertical::Rows(Rows {
            columns: vec!["segment".to_owned()],
            rows: rows.collect(),
            height: 22.0,
            ..Rows::default()
        }),
        series: vec![of_end(Role::Caller, Colour::BLUE), of_end(Role::Callee, Colour::VERMILION)],
        notes: Vec::new(),
        table: Table::default(),
    }
}
