//! Charts: one model (`model`), drawn as SVG (`draw`). What is drawn is a table, in one of two
//! shapes (`section::shapes`).
//!
//! A drawing has classes instead of colours, a title, and a description for those who do not see it.

mod draw;
mod labels;
pub mod model;
pub(crate) mod palette;
mod scale;
#[cfg(test)]
pub(crate) mod tests;

use model::Chart;
pub use model::Unit;
pub(crate) use palette::CSS;
use palette::Ground;

/// A chart as an SVG file that stands alone: its style sheet inside, colours
/// that follow the reader's preference for light or dark, an opaque ground.
pub fn svg(chart: &Chart) -> String {
    let light = palette::resolve(CSS, Ground::Paper);
    let dark = palette::resolve(CSS, Ground::Dark);
    let style = format!("{light}@media (prefers-color-scheme:dark){{{dark}}}");
    draw::svg(chart, Some(&style))
}

/// A chart as an element of a page that has the style sheet and the colours. It is as wide as the
/// narrowest telephone; where there is more room, several stand side by side.
pub(crate) fn element(chart: &Chart) -> String {
    draw::svg(chart, None)
}
