//! What stands beside the points of a plot: rings around what stalled, and what others
//! published.

use hopcost_model::group::distinct;
use hopcost_model::results::{PlotCrossing, PlotPoint, PlotSeries, PublishedPoint};

use super::model::{Colour, Dash, Mark, Marker, Series, Style};
use crate::number;

/// Rings around the points that stalled, where each is placed, and what the legend says of
/// them.
pub(super) fn stalled(
    series: &[PlotSeries],
    place: impl Fn(&PlotPoint) -> Option<(f64, f64)>,
) -> Option<(Series, Series)> {
    let ring = |p: &PlotPoint| {
        let tip = format!("{} of the messages stalled", number::percent(p.stalled?));
        place(p).map(|(x, y)| Mark::at(x, y, tip))
    };
    let marks: Vec<Mark> = series.iter().flat_map(|one| &one.points).filter_map(ring).collect();
    let style = Style::of(Colour::INK, Marker::RING, Dash::SOLID).open();
    let legend = Series::new("stalled by a delayed acknowledgement (NAGLE_DELACK)", style);
    (!marks.is_empty()).then(|| (Series { marks, ..Series::new("", style) }, legend))
}

/// Boxes around the points from which on a way is faster than another, where each is placed,
/// and what the legend says of them.
pub(super) fn crossings(
    crossings: &[PlotCrossing],
    means: &'static str,
    place: impl Fn(f64, f64) -> Option<(f64, f64)>,
) -> Option<(Series, Series)> {
    let boxed = |of: &PlotCrossing| place(of.x, of.y).map(|(x, y)| Mark::at(x, y, &*of.says));
    let marks: Vec<Mark> = crossings.iter().filter_map(boxed).collect();
    let style = Style::of(Colour::INK, Marker::BOX, Dash::SOLID).open();
    let legend = Series::new(means, style);
    (!marks.is_empty()).then(|| (Series { marks, ..Series::new("", style) }, legend))
}

/// What others published, where each is placed, in the colours of the series that it belongs
/// to, with a shape for each source.
pub(super) fn published(
    series: &[PlotSeries],
    colours: impl Iterator<Item = Colour> + Clone,
    place: impl Fn(&PublishedPoint) -> Option<(f64, f64)>,
    text: impl Fn(f64) -> String,
) -> Vec<Series> {
    let published = series.iter().flat_map(|one| &one.published);
    let sources = distinct(published.map(|of| (&of.source, &of.machine)));
    let shapes = [Marker::PLUS, Marker::ASTERISK].into_iter().cycle();
    let mut drawn = Vec::new();
    for ((source, machine), shape) in sources.into_iter().zip(shapes) {
        let name = match machine.as_str() {
            "" => "published".to_owned(),
            machine => format!("published: {machine}"),
        };
        let of_source = |(one, colour): (&PlotSeries, Colour)| {
            let own =
                one.published.iter().filter(|of| (&of.source, &of.machine) == (source, machine));
            let mark = |of: &PublishedPoint| {
                let (x, y) = place(of)?;
                Some(Mark::at(x, y, format!("{}\n{name}\n{}", one.name, text(of.y))))
            };
            let marks: Vec<Mark> = own.filter_map(mark).collect();
            let style = Style::of(colour, shape, Dash::SOLID);
            (!marks.is_empty()).then(|| Series { marks, ..Series::new("", style) })
        };
        let before = drawn.len();
        drawn.extend(series.iter().zip(colours.clone()).filter_map(of_source));
        if drawn.len() > before {
            drawn.push(Series::new(name, Style::of(Colour::INK, shape, Dash::SOLID)));
        }
    }
    drawn
}
