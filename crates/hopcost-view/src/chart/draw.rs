//! Draws a chart as SVG. Positions are decided here and nowhere else.

use super::cells;
use super::labels::{fit, lines, text, width};
use super::model::{Chart, Fill, Mark, Marker, Names, Rows, Series, Style, Vertical};
use super::scale::{Ruler, Tick};
use crate::markup::{Esc, Px, put};

const TEXT: f64 = 12.0;
const SMALL: f64 = 11.0;
const LEGEND_LINE: f64 = 18.0;
/// Size of a title, whose letters are bold and so wider than others, and height of a line of it.
const TITLE: f64 = 15.0;
const TITLE_LINE: f64 = 16.0;
/// Height of a line of a note under a drawing that stands alone.
const NOTE_LINE: f64 = 15.0;
/// Room beside the plot for half a tick text and whole markers.
const BESIDE: f64 = 24.0;
/// Tick texts and the label of the x axis, and what a second line of the texts adds.
const BELOW: f64 = 40.0;
const TICK_LINE: f64 = 13.0;

/// Room around a drawing that stands alone.
const MARGIN: f64 = 16.0;

/// Where a drawing is put.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Surroundings<'a> {
    /// Into a page that has the style sheet.
    Page(Heading),
    /// Into the same page, beside the drawing for wide screens, which has the id.
    Narrow(Heading),
    /// Into a file of its own, which needs a style sheet.
    Alone(&'a str),
}

/// Whether the drawing shows its title itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Heading {
    Drawn,
    /// The page has it as a heading.
    Elsewhere,
}

/// The plot's rectangle.
#[derive(Debug, Clone, Copy)]
struct Plot {
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
}

/// A chart with everything placed.
struct Drawing<'a> {
    chart: &'a Chart,
    plot: Plot,
    x: Ruler<'a>,
    /// That of the vertical axis, if it is a value axis.
    y: Option<Ruler<'a>>,
    /// Ticks of the horizontal axis, with the line that the text of each stands in.
    ticks: Vec<(Tick, usize)>,
    legend: Vec<(f64, f64, &'a Series)>,
    /// Right ends of the gutter's columns.
    gutter: Vec<f64>,
    height: f64,
}

/// The `<svg>` element of a chart.
pub(crate) fn svg(chart: &Chart, surroundings: Surroundings<'_>) -> String {
    let (heading, margin, notes) = match surroundings {
        Surroundings::Page(heading) | Surroundings::Narrow(heading) => (heading, 0.0, Vec::new()),
        Surroundings::Alone(_) => {
            let notes = chart.notes.iter().flat_map(|note| lines(note, SMALL, chart.width));
            (Heading::Drawn, MARGIN, notes.collect())
        }
    };
    let drawing = Drawing::new(chart, heading);
    let mut out = String::with_capacity(16 * 1024);
    let below = NOTE_LINE * notes.len() as f64;
    let (w, h) = (Px(chart.width + 2.0 * margin), Px(drawing.height + below + 2.0 * margin));
    let (id, title, origin) = (Esc(&chart.id), Esc(&chart.title), Px(-margin));
    let (class, own_id) = match surroundings {
        Surroundings::Page(_) => ("chart wide", format!(r#" id="{id}""#)),
        Surroundings::Narrow(_) => ("chart narrow", String::new()),
        Surroundings::Alone(_) => ("chart", format!(r#" id="{id}""#)),
    };
    put!(
        out,
        r#"<svg xmlns="http://www.w3.org/2000/svg" class="{class}"{own_id} viewBox="{origin} {origin} {w} {h}" width="{w}" height="{h}" role="img" aria-label="{title}" aria-describedby="{id}-desc">"#
    );
    if !own_id.is_empty() {
        let description = Esc(&chart.description);
        put!(out, r#"<title>{title}</title><desc id="{id}-desc">{description}</desc>"#);
    }
    if let Surroundings::Alone(style) = surroundings {
        put!(
            out,
            r#"<style>{style}</style><rect class="paper" x="{origin}" y="{origin}" width="{w}" height="{h}"/>"#
        );
    }
    for (i, line) in title_lines(chart, heading).iter().enumerate() {
        text(&mut out, "title", 0.0, 14.0 + TITLE_LINE * i as f64, line);
    }
    drawing.legend(&mut out);
    match &chart.y {
        Vertical::Value(axis, _) => {
            drawing.x_axis(&mut out);
            drawing.y_axis(&mut out, &axis.title());
        }
        Vertical::Rows(rows) => {
            drawing.x_axis(&mut out);
            drawing.rows(&mut out, rows);
        }
        Vertical::Cells(grid) => cells::draw(&mut out, grid, drawing.plot.top),
    }
    for series in &chart.series {
        drawing.series(&mut out, series);
    }
    for (i, note) in notes.iter().enumerate() {
        let y = drawing.height + NOTE_LINE * (i as f64 + 1.0);
        text(&mut out, "quiet small", 0.0, y, note);
    }
    out.push_str("</svg>");
    out
}

impl<'a> Drawing<'a> {
    fn new(chart: &'a Chart, heading: Heading) -> Self {
        let top = match title_lines(chart, heading).len() {
            0 => 0.0,
            lines => 6.0 + TITLE_LINE * lines as f64,
        };
        let mut drawing = Self {
            chart,
            plot: Plot { left: 0.0, right: chart.width - BESIDE, top, bottom: top },
            x: Ruler::new(&chart.x, chart.series.iter().flat_map(places).map(|p| p.0)),
            y: None,
            ticks: Vec::new(),
            legend: Vec::new(),
            gutter: Vec::new(),
            height: 0.0,
        };
        let plot = &mut drawing.plot;
        match &chart.y {
            Vertical::Value(axis, height) => {
                let ruler = Ruler::new(axis, chart.series.iter().flat_map(places).map(|p| p.1));
                plot.left = widest(ruler.ticks(6).iter().map(|tick| &tick.text), TEXT) + 10.0;
                plot.top = top + 24.0;
                plot.bottom = plot.top + height;
                drawing.ticks = drawing.place_ticks();
                // The legend stands below, so that plots side by side align.
                let below = drawing.plot.bottom + drawing.below();
                (drawing.legend, drawing.height) = place_legend(chart, below);
                drawing.y = Some(ruler);
            }
            Vertical::Rows(rows) => {
                // The legend stands above: the end of a long plot may be out of sight.
                let (legend, end) = place_legend(chart, top);
                plot.top = end + 22.0;
                plot.bottom = plot.top + rows.height * rows.rows.len() as f64;
                let ends = rows.rows.iter().map(|row| &row.end).chain([&rows.end]);
                plot.right -= widest(ends, SMALL);
                drawing.gutter = match rows.names {
                    Names::Beside => gutter_columns(rows, chart.width * 0.55),
                    Names::Above => Vec::new(),
                };
                plot.left = drawing.gutter.last().copied().unwrap_or(BESIDE);
                drawing.height = plot.bottom + BELOW;
                drawing.legend = legend;
                drawing.ticks = drawing.place_ticks();
            }
            Vertical::Cells(grid) => drawing.height = top + cells::height_of(grid),
        }
        drawing
    }

    fn at_x(&self, value: f64) -> f64 {
        self.plot.left + self.x.place(value) * (self.plot.right - self.plot.left)
    }

    fn at_y(&self, value: f64) -> f64 {
        match (&self.y, &self.chart.y) {
            (Some(y), _) => self.plot.bottom - y.place(value) * (self.plot.bottom - self.plot.top),
            (None, Vertical::Rows(rows)) => {
                let (row, above) = (value.floor(), rows.names.height());
                let within = above + (value - row) * (rows.height - above);
                self.plot.top + row * rows.height + within
            }
            (None, _) => self.plot.top,
        }
    }

    /// Ticks of the x axis. Those of values that were swept have two lines for their texts.
    fn place_ticks(&self) -> Vec<(Tick, usize)> {
        let wanted = ((self.plot.right - self.plot.left) / 64.0) as usize;
        let lines = if self.chart.x.at.is_empty() { 1 } else { 2 };
        without_collisions(self.x.ticks(wanted), lines, |v| self.at_x(v))
    }

    /// Height of what stands below the plot.
    fn below(&self) -> f64 {
        let lines = self.ticks.iter().map(|(_, line)| *line).max().unwrap_or(0);
        BELOW + TICK_LINE * lines as f64
    }

    fn legend(&self, out: &mut String) {
        for (x, y, series) in &self.legend {
            let sample = sample(series);
            open_group(out, "entry", series.style);
            if !series.line.is_empty() {
                put!(out, r#"<path class="l" d="M{} {}h26"/>"#, Px(*x), Px(y - 4.0));
            }
            // One that has neither a line nor a mark explains those of others.
            if series.line.is_empty() || !series.marks.is_empty() {
                let (x, y) = (Px(x + (sample - 6.0) / 2.0), Px(y - 4.0));
                let shape = series.style.marker.0;
                put!(out, r#"<path class="{}" d="M{x} {y}{shape}"/>"#, marked(series));
            }
            text(out, "", x + sample, *y, &fit(&series.name, TEXT, self.chart.width - x - sample));
            out.push_str("</g>");
        }
    }

    /// Grid lines, tick texts below (and above a tall plot), and the label.
    fn x_axis(&self, out: &mut String) {
        let Plot { left, right, top, bottom } = self.plot;
        let line = |x| format!("M{} {}V{}", Px(x), Px(top), Px(bottom));
        grid(out, self.ticks.iter().map(|(tick, _)| line(self.at_x(tick.value))));
        put!(out, r#"<path class="rule" d="M{} {}H{}"/>"#, Px(left), Px(bottom), Px(right));
        for (tick, line) in &self.ticks {
            let x = self.at_x(tick.value);
            text(out, "quiet mid", x, bottom + 15.0 + TICK_LINE * *line as f64, &tick.text);
            if bottom - top > 420.0 {
                text(out, "quiet mid", x, top - 6.0, &tick.text);
            }
        }
        let title = fit(&self.chart.x.title(), SMALL, self.chart.width);
        // Below the middle of the plot, as far as it has room there.
        let half = width(&title, SMALL) / 2.0;
        let middle = ((left + right) / 2.0).clamp(half, (self.chart.width - half).max(half));
        text(out, "quiet small mid", middle, bottom + self.below() - 8.0, &title);
    }

    fn y_axis(&self, out: &mut String, label: &str) {
        let Plot { left, right, top, bottom } = self.plot;
        let ticks = self.y.as_ref().map_or_else(Vec::new, |y| y.ticks(6));
        for tick in &ticks {
            text(out, "quiet end", left - 6.0, self.at_y(tick.value) + 4.0, &tick.text);
        }
        let line = |y| format!("M{} {}H{}", Px(left), Px(y), Px(right));
        grid(out, ticks.iter().map(|tick| line(self.at_y(tick.value))));
        put!(out, r#"<path class="rule" d="M{} {}V{}"/>"#, Px(left), Px(top), Px(bottom));
        text(out, "quiet small", 0.0, top - 10.0, &fit(label, SMALL, self.chart.width));
    }

    fn rows(&self, out: &mut String, rows: &Rows) {
        let Plot { left, right, top, .. } = self.plot;
        // Where each column of the gutter begins and ends.
        let starts = std::iter::once(0.0).chain(self.gutter.iter().copied());
        let columns: Vec<(f64, f64)> = starts.zip(self.gutter.iter().copied()).collect();
        for ((start, _), heading) in columns.iter().zip(&rows.columns) {
            text(out, "quiet small", *start, top - 6.0, heading);
        }
        text(out, "quiet small", right + 10.0, top - 6.0, &rows.end);
        for (r, row) in rows.rows.iter().enumerate() {
            let (above, start) = (rows.names.height(), top + rows.height * r as f64);
            let base = start + (above + rows.height) / 2.0 + 4.0;
            if rows.names == Names::Above {
                let name = row.cells.iter().filter(|cell| !cell.is_empty());
                let name = name.map(String::as_str).collect::<Vec<_>>().join(" · ");
                text(out, "", 0.0, start + 12.0, &fit(&name, TEXT, self.chart.width));
            }
            for (i, ((start, end), cell)) in columns.iter().zip(&row.cells).enumerate() {
                let class = if i == 0 { "" } else { "quiet" };
                text(out, class, *start, base, &fit(cell, TEXT, end - start - 8.0));
            }
            text(out, "quiet small", right + 10.0, base, &row.end);
            if let Some(note) = &row.note {
                let room = right - left - 12.0;
                text(out, "quiet small", left + 8.0, base, &fit(note, SMALL, room));
            }
        }
        let line = |r: usize| format!("M0 {}H{}", Px(top + rows.height * r as f64), Px(right));
        grid(out, (0..rows.rows.len()).map(line));
    }

    fn series(&self, out: &mut String, series: &Series) {
        open_group(out, "series", series.style);
        let upper = series.band.iter().map(|(x, _, high)| (*x, *high));
        let lower = series.band.iter().rev().map(|(x, low, _)| (*x, *low));
        self.path(out, "b", upper.chain(lower), "Z");
        self.path(out, "l", series.line.iter().copied(), "");
        let mut silent = String::new();
        for mark in &series.marks {
            self.around(out, mark);
            let (x, y, shape) =
                (Px(self.at_x(mark.x)), Px(self.at_y(mark.y)), self.shape(series, mark));
            match mark.tip.as_str() {
                "" => put!(silent, "M{x} {y}{shape}"),
                tip => put!(
                    out,
                    r#"<path class="{}" transform="translate({x} {y})" d="{shape}"><title>{}</title></path>"#,
                    marked(series),
                    Esc(tip)
                ),
            }
        }
        if !silent.is_empty() {
            put!(out, r#"<path class="{}" d="{silent}"/>"#, marked(series));
        }
        out.push_str("</g>");
    }

    /// A path through points, if there are any.
    fn path(
        &self,
        out: &mut String,
        class: &str,
        points: impl Iterator<Item = (f64, f64)>,
        close: &str,
    ) {
        let at = |(x, y): (f64, f64)| format!("{} {}", Px(self.at_x(x)), Px(self.at_y(y)));
        let points: Vec<String> = points.map(at).collect();
        if !points.is_empty() {
            put!(out, r#"<path class="{class}" d="M{}{close}"/>"#, points.join("L"));
        }
    }

    /// A marker from its middle; one that is an upper bound has an arrow to the left.
    fn shape(&self, series: &Series, mark: &Mark) -> String {
        if series.style.marker == Marker::BAR {
            let from = mark.from.map_or(self.plot.left, |from| self.at_x(from));
            let length = Px(self.at_x(mark.x) - from);
            return format!("m0-6v12h-{length}v-12z");
        }
        let arrow = if mark.at_most { "m-6 0h-10m4-3l-4 3l4 3m12-3" } else { "" };
        format!("{arrow}{}", series.style.marker.0)
    }

    /// What leads from a mark to its other values.
    fn around(&self, out: &mut String, mark: &Mark) {
        let (x, y) = (self.at_x(mark.x), self.at_y(mark.y));
        if let Some(tail) = mark.tail {
            put!(out, r#"<path class="t" d="M{} {}H{}"/>"#, Px(x), Px(y), Px(self.at_x(tail)));
        }
        if let Some((low, high)) = mark.interval {
            let (a, b, at) = (Px(self.at_x(low)), Px(self.at_x(high)), Px(y));
            let (up, down) = (Px(y - 3.5), Px(y + 3.5));
            // An end beyond the axis is an arrow.
            let end = |value: f64, inwards: f64| {
                let x = self.at_x(value);
                let back = Px(if self.x.is_beyond(value) { x + inwards } else { x });
                format!("M{back} {up}L{} {at}L{back} {down}", Px(x))
            };
            let (left, right) = (end(low, 5.0), end(high, -5.0));
            put!(out, r#"<path class="i" d="{left}M{a} {at}H{b}{right}"/>"#);
        }
    }
}

/// The class of a series' markers.
fn marked(series: &Series) -> &'static str {
    match (series.style.fill, series.style.marker) {
        (_, Marker::BAR) => "m bar",
        (Fill::Open, _) => "m o",
        (Fill::Filled, _) => "m",
    }
}

fn grid(out: &mut String, lines: impl Iterator<Item = String>) {
    put!(out, r#"<path class="grid" d="{}"/>"#, lines.collect::<String>());
}

fn open_group(out: &mut String, class: &str, style: Style) {
    put!(out, r#"<g class="{class} {} {}">"#, style.colour.0, style.dash.0);
}

/// A title in as many lines as it needs; none where the page has it.
fn title_lines(chart: &Chart, heading: Heading) -> Vec<String> {
    match heading {
        Heading::Drawn => lines(&chart.title, TITLE, chart.width),
        Heading::Elsewhere => Vec::new(),
    }
}

/// Every place that a series takes.
fn places(series: &Series) -> impl Iterator<Item = (f64, f64)> {
    let marks = series.marks.iter().flat_map(|m| {
        let (low, high) = m.interval.unwrap_or((m.x, m.x));
        [m.x, low, high, m.tail.unwrap_or(m.x)].map(|x| (x, m.y))
    });
    let band = series.band.iter().flat_map(|(x, low, high)| [(*x, *low), (*x, *high)]);
    marks.chain(series.line.iter().copied()).chain(band)
}

/// Room for a legend entry's sample.
fn sample(series: &Series) -> f64 {
    match series.style.marker {
        _ if !series.line.is_empty() => 32.0,
        Marker::BAR => 22.0,
        _ => 16.0,
    }
}

/// Places the legend's entries from `top` in as many lines as they need; with
/// the height at which they end.
fn place_legend(chart: &Chart, top: f64) -> (Vec<(f64, f64, &Series)>, f64) {
    let mut placed = Vec::new();
    let (mut x, mut y) = (0.0, top + 14.0);
    for series in chart.series.iter().filter(|s| !s.name.is_empty()) {
        let needed = sample(series) + width(&series.name, TEXT);
        if x > 0.0 && x + needed > chart.width {
            x = 0.0;
            y += LEGEND_LINE;
        }
        placed.push((x, y, series));
        x += needed + 16.0;
    }
    let end = if placed.is_empty() { top } else { y + 8.0 };
    (placed, end)
}

/// Width of the widest of some texts.
fn widest<'t>(texts: impl Iterator<Item = &'t String>, size: f64) -> f64 {
    texts.map(|text| width(text, size)).fold(0.0, f64::max)
}

/// Right ends of the gutter's columns, together no wider than `room`.
fn gutter_columns(rows: &Rows, room: f64) -> Vec<f64> {
    let column = |(i, heading): (usize, &String)| {
        let cells = rows.rows.iter().filter_map(|row| row.cells.get(i));
        widest(cells, TEXT).max(width(heading, SMALL)) + 14.0
    };
    let mut widths: Vec<f64> = rows.columns.iter().enumerate().map(column).collect();
    let total: f64 = widths.iter().sum();
    if let (true, Some(widest)) = (total > room, widths.iter_mut().max_by(|a, b| a.total_cmp(b))) {
        *widest = (*widest - (total - room)).max(60.0);
    }
    let mut end = 0.0;
    let ends = widths.into_iter().map(|width| {
        end += width;
        end
    });
    ends.collect()
}

/// The ticks, each with the first of so many lines in which its text touches no other; one
/// that has no room in any loses its text.
fn without_collisions(
    ticks: Vec<Tick>,
    lines: usize,
    at: impl Fn(f64) -> f64,
) -> Vec<(Tick, usize)> {
    let mut free_from = vec![f64::NEG_INFINITY; lines];
    let place = |mut tick: Tick| {
        let (x, half) = (at(tick.value), width(&tick.text, TEXT) / 2.0);
        let line = free_from.iter().position(|from| x - half >= *from);
        match line {
            Some(line) => free_from[line] = x + half + 8.0,
            None => tick.text.clear(),
        }
        (tick, line.unwrap_or(0))
    };
    ticks.into_iter().map(place).collect()
}
