//! Lines through measured points: what percentile curves and swept plots share.

use hopcost_model::results::PlotPoint;

use super::model::{Chart, Mark, Series, Style, Table};

/// A series' name and its points, in order of x and in the units of the axes.
pub(super) type Points = (String, Vec<PlotPoint>);

/// Parts of about equal length, none longer than `max`, each with what its title says
/// of it where there are several: ` (1 of 2)`.
pub(super) fn parts<T>(items: &[T], max: usize) -> impl Iterator<Item = (String, &[T])> {
    let parts = items.len().div_ceil(max);
    let size = items.len().div_ceil(parts.max(1)).max(1);
    items.chunks(size).enumerate().map(move |(i, chunk)| {
        let part = if parts > 1 { format!(" ({} of {parts})", i + 1) } else { String::new() };
        (part, chunk)
    })
}

/// An id that no chart has: this one, or with the first number that makes it so.
pub(super) fn free_id<'a>(id: String, charts: impl Iterator<Item = &'a Chart>) -> String {
    let taken: Vec<&str> = charts.map(|chart| chart.id.as_str()).collect();
    let numbered = (2..=taken.len() + 1).map(|n| format!("{id}-{n}"));
    let mut all = std::iter::once(id.clone()).chain(numbered);
    all.find(|id| !taken.contains(&id.as_str())).unwrap_or(id)
}

/// A series with its line, the band of its intervals, and a mark at each point that
/// `tip` has words for.
pub(super) fn series(
    (name, points): &Points,
    style: Style,
    tip: impl Fn(&PlotPoint) -> Option<String>,
) -> Series {
    Series {
        line: points.iter().map(|p| (p.x, p.y)).collect(),
        band: points.iter().filter_map(|p| Some((p.x, p.low?, p.high?))).collect(),
        marks: points.iter().filter_map(|p| Some(Mark::at(p.x, p.y, tip(p)?))).collect(),
        ..Series::new(name, style)
    }
}

/// Every x of any series, once, ascending.
pub(super) fn xs(all: &[Points]) -> Vec<f64> {
    let mut xs: Vec<f64> = all.iter().flat_map(|(_, points)| points).map(|p| p.x).collect();
    xs.sort_by(f64::total_cmp);
    xs.dedup();
    xs
}

/// A row an x, a column a series.
pub(super) fn table(
    head: &str,
    all: &[Points],
    x: impl Fn(f64) -> String,
    y: impl Fn(&PlotPoint) -> String,
) -> Table {
    let cell = |points: &[PlotPoint], at: f64| {
        points.iter().find(|p| p.x == at).map_or("–".to_owned(), &y)
    };
    let row = |at: f64| {
        let cells = all.iter().map(|(_, points)| cell(points, at));
        std::iter::once(x(at)).chain(cells).collect()
    };
    let names = all.iter().map(|(name, _)| name.clone());
    Table {
        columns: std::iter::once(head.to_owned()).chain(names).collect(),
        rows: xs(all).into_iter().map(row).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_part_is_left_with_a_crumb() {
        let sizes = |n: usize| -> Vec<usize> {
            parts(&vec![(); n], 6).map(|(_, part)| part.len()).collect()
        };
        assert_eq!(
            [sizes(0), sizes(6), sizes(7), sizes(13)],
            [vec![], vec![6], vec![4, 3], vec![5, 5, 3]]
        );
        let titles: Vec<String> = parts(&[(); 7], 6).map(|(title, _)| title).collect();
        assert_eq!(titles, [" (1 of 2)", " (2 of 2)"]);
    }
}
