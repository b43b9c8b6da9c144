//! Charts: one model (`model`), drawn as SVG (`draw`). What is drawn is a table, in one of three
//! shapes (`section::shapes`).
//!
//! A drawing has classes instead of colours, a title, a description and a label
//! for those who do not see it, and the same numbers as a table.

mod cells;
mod draw;
mod labels;
pub mod model;
mod narrow;
pub(crate) mod palette;
mod scale;
#[cfg(test)]
pub(crate) mod tests;
pub mod unit;

pub(crate) use cells::width_of;
pub(crate) use draw::Heading;
use draw::Surroundings;
use model::Chart;
pub(crate) use palette::CSS;
use palette::Ground;
pub(crate) use scale::domain;

/// A chart as an SVG file that stands alone: its style sheet inside, colours
/// that follow the reader's preference for light or dark, an opaque ground.
pub fn svg(chart: &Chart) -> String {
    let light = palette::resolve(CSS, Ground::Paper);
    let dark = palette::resolve(CSS, Ground::Dark);
    let style = format!("{light}@media (prefers-color-scheme:dark){{{dark}}}");
    draw::svg(chart, Surroundings::Alone(&style))
}

/// A chart as elements of a page that has the style sheet and the colours: drawn once for wide
/// screens and paper and once for narrow screens, of which the style sheet shows one.
pub(crate) fn element(chart: &Chart, heading: Heading) -> String {
    let wide = draw::svg(chart, Surroundings::Page(heading));
    wide + &draw::svg(&chart.narrow(), Surroundings::Narrow(heading))
}
