//! By how much each decile of a case lies off the same decile of the baseline.

use hopcost_model::results::{Compared, PlotPoint, Shift};

use super::lines::{self, Points};
use super::model::{Axis, Chart, Scale, Series, Style, Vertical};
use super::unit::Unit;
use crate::names::{plain_id, quantile};

/// A chart a case whose operations were timed singly.
pub(crate) fn charts(compared: &[Compared]) -> Vec<Chart> {
    let mut charts: Vec<Chart> = Vec::new();
    for of in compared.iter().filter(|of| of.deciles.len() > 1) {
        let id = lines::free_id(format!("shift-{}", plain_id(&of.case)), charts.iter());
        charts.push(chart(id, &of.case, &of.deciles));
    }
    charts
}

fn chart(id: String, name: &str, deciles: &[Shift]) -> Chart {
    let points: Points = (name.to_owned(), deciles.iter().map(point).collect());
    let ends = [deciles[0].q, deciles[deciles.len() - 1].q];
    let equal = Series {
        line: ends.iter().map(|q| (*q, 0.0)).collect(),
        ..Series::new("the baseline", Style::DISTINCT[1])
    };
    let own =
        Series { name: "difference".to_owned(), ..lines::series(&points, Style::DISTINCT[0], tip) };
    Chart {
        id,
        title: name.to_owned(),
        description: format!(
            "By how many per cent each decile of {name} lies above or below the same decile of \
             the baseline. The band holds all deciles together with 95 %; there is none where \
             there were too few blocks or runs."
        ),
        width: 540.0,
        x: Axis {
            domain: Some((ends[0], ends[1])),
            at: deciles.iter().map(|shift| shift.q).collect(),
            ..Axis::new("decile", Scale::Linear, Unit::Quantile)
        },
        y: Vertical::Value(
            Axis::new("difference, %", Scale::Linear, Unit::Named("%".to_owned())),
            200.0,
        ),
        series: vec![equal, own],
        notes: Vec::new(),
        table: lines::table("decile", &[points], quantile, written),
    }
}

fn point(shift: &Shift) -> PlotPoint {
    let per_cent = |ratio: f64| (ratio - 1.0) * 100.0;
    PlotPoint {
        x: shift.q,
        y: per_cent(shift.ratio),
        low: shift.low.map(per_cent),
        high: shift.high.map(per_cent),
        stalled: None,
    }
}

fn tip(p: &PlotPoint) -> Option<String> {
    Some(format!("{} {}", quantile(p.x), written(p)))
}

fn written(p: &PlotPoint) -> String {
    match p.low.zip(p.high) {
        Some((low, high)) => format!("{:+.1} % [{low:+.1}, {high:+.1}]", p.y),
        None => format!("{:+.1} %", p.y),
    }
}
