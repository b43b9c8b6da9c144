//! Charts: one model (`model`), drawn as SVG (`draw`) and from that as PNG (`png`),
//! and what is drawn of a run's results (`heat`, `ladder`, `swept`, `percentiles`, `trials`).
//!
//! A drawing has classes instead of colours, a title, a description and a label
//! for those who do not see it, and the same numbers as a table.

mod cells;
mod draw;
mod gutter;
pub(crate) mod heat;
mod labels;
pub(crate) mod ladder;
mod lines;
pub mod model;
mod narrow;
pub(crate) mod palette;
pub(crate) mod percentiles;
#[cfg(feature = "png")]
mod png;
mod scale;
pub(crate) mod swept;
#[cfg(test)]
pub(crate) mod tests;
pub(crate) mod trials;
pub mod unit;

use hopcost_model::results::Results;

pub(crate) use draw::Heading;
use draw::Surroundings;
use model::Chart;
pub(crate) use palette::CSS;
use palette::Ground;
#[cfg(feature = "png")]
pub use png::png;

/// A chart as an SVG file that stands alone: its style sheet inside, colours
/// that follow the reader's preference for light or dark, an opaque ground.
pub fn svg(chart: &Chart) -> String {
    let light = palette::resolve(CSS, Ground::Paper);
    let dark = palette::resolve(CSS, Ground::Dark);
    let style = format!("{light}@media (prefers-color-scheme:dark){{{dark}}}");
    draw::svg(chart, Surroundings::Alone(&style))
}

/// The plots of a run, each with the name that its files have (without ending).
pub fn plots(results: &Results) -> Vec<(String, Chart)> {
    let charts = swept::charts(results).into_iter();
    let charts = charts.chain(heat::charts(results).into_iter().flatten());
    charts.map(|chart| (chart.id.trim_start_matches("plot-").to_owned(), chart)).collect()
}

/// A chart as elements of a page that has the style sheet and the colours: drawn once for wide
/// screens and paper and once for narrow screens, of which the style sheet shows one.
pub(crate) fn element(chart: &Chart, heading: Heading) -> String {
    let wide = draw::svg(chart, Surroundings::Page(heading));
    wide + &draw::svg(&chart.narrow(), Surroundings::Narrow(heading))
}

/// Every chart of a run, in the order of the report.
pub fn charts(results: &Results) -> Vec<Chart> {
    let mut charts: Vec<Chart> = heat::charts(results).into_iter().flatten().collect();
    charts.extend(ladder::charts(results).into_iter().flatten());
    charts.extend(swept::charts(results));
    charts.extend(percentiles::charts(results).into_iter().flatten());
    charts.extend(trials::charts(results));
    charts
}
