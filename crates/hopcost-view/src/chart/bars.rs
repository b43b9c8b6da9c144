//! A plot of named cases: a bar for each, from zero, with its interval and what others
//! published of it.

use hopcost_model::results::Plot;

use super::beside;
use super::model::{
    Axis, Chart, Colour, Dash, Mark, Marker, Row, Rows, Series, Style, Table, Vertical,
};
use super::swept::Swept;

/// Length of the axis, of which the longest bar is one.
const LENGTH: f64 = 1.04;

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
    let ends = series.iter().flat_map(|one| &one.marks);
    let longest = ends.flat_map(|m| [m.x, m.interval.map_or(m.x, |(_, high)| high)]);
    let longest = longest.fold(0.0, f64::max);
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
        x: Axis { domain: Some((0.0, LENGTH * longest)), ..value.axis },
        y: Vertical::Rows(Rows {
            columns: vec![plot.x.label.clone()],
            rows,
            height: 24.0,
            ..Rows::default()
        }),
        series,
        notes: plot.notes.clone(),
        table,
    }
}
