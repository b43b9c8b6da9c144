//! Charts: one model (`model`), drawn as SVG (`draw`),
//! and what is drawn of a run's results (`heat`, `ladder`, `swept`, `percentiles`, `trials`).
//!
//! A drawing has classes instead of colours, a title, a description and a label
//! for those who do not see it, and the same numbers as a table.

mod bars;
mod beside;
mod cells;
mod draw;
mod gutter;
pub(crate) mod heat;
pub(crate) mod hosts;
pub(crate) mod pairs;
mod labels;
pub(crate) mod ladder;
mod lines;
pub mod model;
mod narrow;
pub(crate) mod palette;
pub(crate) mod percentiles;
mod scale;
pub(crate) mod shift;
mod swept;
#[cfg(test)]
pub(crate) mod tests;
pub(crate) mod trials;
pub mod unit;
pub(crate) mod waterfall;

use hopcost_model::results::Results;

pub(crate) use draw::Heading;
use draw::Surroundings;
use model::{Chart, Vertical};
pub(crate) use palette::CSS;
use palette::Ground;

use crate::names::{cpus, plain_id};

/// A chart as an SVG file that stands alone: its style sheet inside, colours
/// that follow the reader's preference for light or dark, an opaque ground.
pub fn svg(chart: &Chart) -> String {
    let light = palette::resolve(CSS, Ground::Paper);
    let dark = palette::resolve(CSS, Ground::Dark);
    let style = format!("{light}@media (prefers-color-scheme:dark){{{dark}}}");
    draw::svg(chart, Surroundings::Alone(&style))
}

/// Series that one chart can hold and still be told apart.
const SERIES_MAX: usize = 12;

/// One chart a plot; more where a plot has more series than one chart can hold.
pub(crate) fn of_plots(results: &Results) -> Vec<Chart> {
    let mut charts: Vec<Chart> = Vec::new();
    for plot in &results.plots {
        if !plot.x.names.is_empty() {
            let id = lines::free_id(format!("plot-{}", plain_id(&plot.id)), charts.iter());
            charts.push(bars::chart(id, plot));
            continue;
        }
        for (i, (part, series)) in lines::parts(&plot.series, SERIES_MAX).enumerate() {
            let part_id = if part.is_empty() { String::new() } else { format!("-{}", i + 1) };
            let id = format!("plot-{}{part_id}", plain_id(&plot.id));
            let id = lines::free_id(id, charts.iter());
            charts.push(swept::chart(id, format!("{}{part}", plot.title), plot, series));
        }
    }
    charts
}

/// The plots of a run, each with the name that its files have (without ending) and with a
/// line of what run it is of.
pub fn plots(results: &Results) -> Vec<(String, Chart)> {
    let of = origin(results);
    let shifts = results.comparison.iter().flat_map(|found| shift::charts(&found.compared));
    let shifts = shifts.map(|chart| (chart.id.clone(), chart));
    let drawn = of_plots(results).into_iter().chain(heat::charts(results).into_iter().flatten());
    let drawn = drawn.map(|chart| (chart.id.trim_start_matches("plot-").to_owned(), chart));
    let explained = results.explanation.iter().flat_map(waterfall::charts);
    let explained = explained.map(|chart| (chart.id.clone(), chart));
    let ladder = ladder::charts(results).into_iter().flatten().filter(several);
    let ladder = ladder.map(|chart| (format!("ladder-{}", plain_id(&chart.title)), chart));
    let mut plots: Vec<(String, Chart)> =
        shifts.chain(explained).chain(drawn).chain(ladder).collect();
    plots.iter_mut().for_each(|(_, chart)| chart.notes.push(of.clone()));
    plots
}

/// Whether a chart of rows compares anything.
fn several(chart: &Chart) -> bool {
    matches!(&chart.y, Vertical::Rows(rows) if rows.rows.iter().filter(|row| row.note.is_none()).count() > 1)
}

/// Run, machine and kernel, for whoever meets a drawing by itself.
fn origin(results: &Results) -> String {
    let known = |key: &str, what: &str| match results.host.get(key) {
        Some(value) => value.to_owned(),
        None => format!("{what} not known"),
    };
    let of_machine = [
        Some(known("cpu.model", "CPU model")),
        Some(format!("Linux {}", known("kernel.release", "release"))),
        results.host.get("virt.hypervisor").map(str::to_owned),
        Some(cpus(&results.plan)),
    ];
    let of_machine: Vec<String> = of_machine.into_iter().flatten().collect();
    format!("Run {}: {}.", results.about.id, of_machine.join("; "))
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
    charts.extend(of_plots(results));
    charts.extend(percentiles::charts(results).into_iter().flatten());
    charts.extend(trials::charts(results));
    charts
}
