//! A plot of named cases: a bar for each, from zero, with its interval and what others
//! published of it.

use hopcost_model::results::Plot;

use super::beside;
use super::model::{
    Axis, Chart, Colour, Dash, Mark, Marker, Row, Rows, Series, Style, Table, Vertical,
};
use super::swept::Swept;

/// Length of the axis as a multiple of the longest bar: as far as intervals reach, but no
/// farther than the greater, or an interval without an end would leave nothing of the bars.
const LENGTH: (f64, f64) = (1.04, 2.0);

pub(super) fn chart(id: String, plot: &Plot) -> Chart {
    let value = Swept::of(&plot.y);
    let names = &plot.x.names;
    let mut rows: Vec<Row> =
        names.iter().map(|name| Row { cells: vec![name.clone()], ..Row::default() }).collect();
    let mut table = Table {
        columns: vec![plot.x.label.clone(), plot.y.label.clone()],
        rows: names.iter().map(|name| vec![name.clone()]).collect(),
    };
    let mut bars = Series::new("here", Style::of(Colour::BLUE, Marker::BAR, Dash::SOLID));
    for p in plot.series.iter().flat_map(|one| &one.points) {
        let at = p.x as usize;
        let (Some(length), Some(row)) = (value.place(p.y), rows.get_mut(at)) else { continue };
        let interval = p.low.and_then(|v| value.place(v)).zip(p.high.and_then(|v| value.place(v)));
        let says = value.point(length, interval);
        row.end = value.text(length);
        table.rows[at].push(says.clone());
        let tip = format!("{}\n{says}", names[at]);
        bars.marks.push(Mark { interval, ..Mark::at(length, at as f64 + 0.5, tip) });
    }
    let published = beside::published(
        &plot.series,
        std::iter::repeat(Colour::VERMILION),
        |of| Some((value.place(of.y)?, of.x + 0.5)),
        |ns| value.text(ns),
    );
    let series: Vec<Series> = std::iter::once(bars).chain(published).collect();
    let marks = || series.iter().flat_map(|one| &one.marks);
    let longest = marks().map(|mark| mark.x).fold(0.0, f64::max);
    let reach = marks().filter_map(|mark| mark.interval).map(|(_, high)| high).fold(0.0, f64::max);
    let length = (reach * LENGTH.0).clamp(longest * LENGTH.0, longest * LENGTH.1);
    let mut notes = plot.notes.clone();
    if reach > length {
        let reach = value.text(reach);
        notes.insert(0, format!("Intervals at the right edge end beyond it, at {reach} at most."));
    }
    Chart {
        id,
        title: plot.title.clone(),
        description: format!(
            "{} of {}, each a bar from zero with its interval. The table below holds the same \
             numbers.",
            value.axis.title(),
            names.join("; ")
        ),
        width: 660.0,
        x: Axis { domain: Some((0.0, length)), ..value.axis },
        y: Vertical::Rows(Rows {
            columns: vec![plot.x.label.clone()],
            rows,
            height: 24.0,
            ..Rows::default()
        }),
        series,
        notes,
        table,
    }
}
