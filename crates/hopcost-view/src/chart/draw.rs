//! Draws a chart as SVG. Positions are decided here and nowhere else.

use super::cells;
use super::labels::{fit, lines, width};
use super::marker::marker;
use super::model::{Cells, Chart, Legend, Mark, Rows, Series, Style, Vertical};
use super::scale::{Ruler, Tick};
use crate::markup::{Esc, Px, put};

const TEXT: f64 = 12.0;
const SMALL: f64 = 11.0;
const LEGEND_LINE: f64 = 18.0;
/// Height of a line of a note under a drawing that stands alone.
const NOTE_LINE: f64 = 15.0;
/// Room right of the plot for half a tick text and whole markers.
const RIGHT: f64 = 22.0;
/// Tick texts and the label of the x axis.
const BELOW: f64 = 40.0;

/// Room around a drawing that stands alone.
const MARGIN: u32 = 16;

/// Where a drawing is put.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Surroundings<'a> {
    /// Into a page that has the style sheet.
    Page(Heading),
    /// Into a file of its own.
    Alone {
        /// Its style sheet.
        style: &'a str,
    },
}

/// Whether the drawing shows its title itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Heading {
    /// It does.
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
    x: Ruler,
    y: Y<'a>,
    legend: Vec<(f64, f64, &'a Series)>,
    gutter: Vec<f64>,
    height: f64,
}

/// The vertical axis with its ruler.
enum Y<'a> {
    Value(Ruler, &'a str),
    Rows(&'a Rows),
    Cells(&'a Cells),
}

/// The `<svg>` element of a chart.
pub(crate) fn svg(chart: &Chart, surroundings: Surroundings<'_>) -> String {
    let (heading, margin) = match surroundings {
        Surroundings::Page(heading) => (heading, 0),
        Surroundings::Alone { .. } => (Heading::Drawn, MARGIN),
    };
    let drawing = Drawing::new(chart, heading);
    let mut out = String::with_capacity(16 * 1024);
    let notes: Vec<String> = match surroundings {
        Surroundings::Page(_) => Vec::new(),
        Surroundings::Alone { .. } => {
            chart.notes.iter().flat_map(|note| lines(note, SMALL, chart.width)).collect()
        }
    };
    let around = f64::from(2 * margin);
    let below = NOTE_LINE * notes.len() as f64;
    let (w, h) = (Px(chart.width + around), Px(drawing.height + below + around));
    put!(
        out,
        r#"<svg xmlns="http://www.w3.org/2000/svg" class="chart" id="{id}" viewBox="{origin} {origin} {w} {h}" width="{w}" height="{h}" role="img" aria-label="{title}" aria-describedby="{id}-desc">"#,
        id = Esc(&chart.id),
        origin = Px(-f64::from(margin)),
        title = Esc(&chart.title),
    );
    put!(out, "<title>{}</title>", Esc(&chart.title));
    put!(out, r#"<desc id="{}-desc">{}</desc>"#, Esc(&chart.id), Esc(&chart.description));
    if let Surroundings::Alone { style } = surroundings {
        put!(
            out,
            r#"<style>{style}</style><rect class="paper" x="-{MARGIN}" y="-{MARGIN}" width="{w}" height="{h}"/>"#
        );
    }
    if heading == Heading::Drawn {
        let title = fit(&chart.title, 13.5, chart.width);
        put!(out, r#"<text class="title" x="0" y="14">{}</text>"#, Esc(&title));
    }
    drawing.legend(&mut out);
    match &drawing.y {
        Y::Value(ruler, label) => {
            drawing.x_axis(&mut out);
            drawing.y_axis(&mut out, ruler, label);
        }
        Y::Rows(rows) => {
            drawing.x_axis(&mut out);
            drawing.rows(&mut out, rows);
        }
        Y::Cells(grid) => cells::draw(&mut out, grid, drawing.plot.top),
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
        let x = Ruler::new(&chart.x, chart.series.iter().flat_map(series_xs));
        let top = if heading == Heading::Drawn { 22.0 } else { 0.0 };
        let mut right = chart.width - RIGHT;
        match &chart.y {
            Vertical::Value { axis, height } => {
                // The legend stands below, so that plots side by side align.
                let top = top + 24.0;
                let bottom = top + height;
                let (legend, end) = place_legend(chart, bottom + BELOW);
                let ruler = Ruler::new(axis, chart.series.iter().flat_map(series_ys));
                let texts = ruler.ticks(6);
                let widest = texts.iter().map(|t| width(&t.text, TEXT)).fold(0.0, f64::max);
                let plot = Plot { left: widest + 10.0, right, top, bottom };
                let y = Y::Value(ruler, &axis.label);
                Self { chart, plot, x, y, legend, gutter: Vec::new(), height: end }
            }
            Vertical::Rows(rows) => {
                // The legend stands above: the end of a long plot may be out of sight.
                let (legend, end) = place_legend(chart, top);
                let top = end + 22.0;
                let bottom = top + rows.height * rows.rows.len() as f64;
                let gutter = gutter_columns(rows, chart.width * 0.55);
                right -= end_room(rows);
                let plot = Plot { left: gutter.last().copied().unwrap_or(0.0), right, top, bottom };
                Self { chart, plot, x, y: Y::Rows(rows), legend, gutter, height: bottom + BELOW }
            }
            Vertical::Cells(grid) => {
                let bottom = top + cells::height_of(grid);
                let plot = Plot { left: 0.0, right, top, bottom };
                let (legend, gutter) = (Vec::new(), Vec::new());
                Self { chart, plot, x, y: Y::Cells(grid), legend, gutter, height: bottom }
            }
        }
    }

    fn at_x(&self, value: f64) -> f64 {
        self.plot.left + self.x.place(value) * (self.plot.right - self.plot.left)
    }

    fn at_y(&self, value: f64) -> f64 {
        let height = self.plot.bottom - self.plot.top;
        match &self.y {
            Y::Value(ruler, _) => self.plot.bottom - ruler.place(value) * height,
            Y::Rows(rows) => self.plot.top + value * rows.height,
            Y::Cells(_) => self.plot.top,
        }
    }

    fn legend(&self, out: &mut String) {
        for (x, y, series) in &self.legend {
            let sample = sample(series);
            open_group(out, "entry", series.style);
            if !series.line.is_empty() {
                put!(out, r#"<path class="l" d="M{} {}h26"/>"#, Px(*x), Px(y - 4.0));
            }
            if !series.marks.is_empty() {
                let mark = Mark::at(0.0, 0.0, "");
                marker(out, series.style, x + (sample - 6.0) / 2.0, y - 4.0, &mark);
            }
            text(out, "", x + sample, *y, &series.name);
            out.push_str("</g>");
        }
    }

    /// Grid lines, tick texts below (and above a tall plot), and the label.
    fn x_axis(&self, out: &mut String) {
        let Plot { left, right, top, bottom } = self.plot;
        let wanted = ((right - left) / 64.0) as usize;
        let ticks = without_collisions(self.x.ticks(wanted), |v| self.at_x(v));
        let mut lines = String::new();
        for tick in &ticks {
            put!(lines, "M{} {}V{}", Px(self.at_x(tick.value)), Px(top), Px(bottom));
        }
        put!(out, r#"<path class="grid" d="{lines}"/>"#);
        put!(out, r#"<path class="rule" d="M{} {}H{}"/>"#, Px(left), Px(bottom), Px(right));
        for tick in &ticks {
            let x = self.at_x(tick.value);
            text(out, "quiet mid", x, bottom + 15.0, &tick.text);
            if bottom - top > 420.0 {
                text(out, "quiet mid", x, top - 6.0, &tick.text);
            }
        }
        text(out, "quiet small mid", (left + right) / 2.0, bottom + 32.0, &self.chart.x.label);
    }

    fn y_axis(&self, out: &mut String, ruler: &Ruler, label: &str) {
        let Plot { left, right, top, bottom } = self.plot;
        let mut lines = String::new();
        for tick in ruler.ticks(6) {
            let y = self.at_y(tick.value);
            put!(lines, "M{} {}H{}", Px(left), Px(y), Px(right));
            text(out, "quiet end", left - 6.0, y + 4.0, &tick.text);
        }
        put!(out, r#"<path class="grid" d="{lines}"/>"#);
        put!(out, r#"<path class="rule" d="M{} {}V{}"/>"#, Px(left), Px(top), Px(bottom));
        text(out, "quiet small", 0.0, top - 10.0, label);
    }

    fn rows(&self, out: &mut String, rows: &Rows) {
        let Plot { left, right, top, .. } = self.plot;
        for (i, heading) in rows.columns.iter().enumerate() {
            text(out, "quiet small", self.column(i), top - 6.0, heading);
        }
        text(out, "quiet small", right + 10.0, top - 6.0, &rows.end);
        let mut lines = String::new();
        for (r, row) in rows.rows.iter().enumerate() {
            let y = top + rows.height * r as f64;
            put!(lines, "M0 {}H{}", Px(y), Px(right));
            let base = y + rows.height / 2.0 + 4.0;
            for (i, cell) in row.cells.iter().enumerate() {
                let room = self.gutter.get(i).map_or(0.0, |end| end - self.column(i) - 8.0);
                text(
                    out,
                    if i == 0 { "" } else { "quiet" },
                    self.column(i),
                    base,
                    &fit(cell, TEXT, room),
                );
            }
            text(out, "quiet small", right + 10.0, base, &row.end);
            if let Some(note) = &row.note {
                let room = right - left - 12.0;
                text(out, "quiet small", left + 8.0, base, &fit(note, SMALL, room));
            }
        }
        put!(out, r#"<path class="grid" d="{lines}"/>"#);
    }

    fn column(&self, i: usize) -> f64 {
        if i == 0 { 0.0 } else { self.gutter.get(i - 1).copied().unwrap_or(0.0) }
    }

    fn series(&self, out: &mut String, series: &Series) {
        open_group(out, "series", series.style);
        if let Some((first, rest)) = series.band.split_first() {
            let mut d = format!("M{} {}", Px(self.at_x(first.0)), Px(self.at_y(first.2)));
            for (x, _, high) in rest {
                put!(d, "L{} {}", Px(self.at_x(*x)), Px(self.at_y(*high)));
            }
            for (x, low, _) in series.band.iter().rev() {
                put!(d, "L{} {}", Px(self.at_x(*x)), Px(self.at_y(*low)));
            }
            put!(out, r#"<path class="b" d="{d}Z"/>"#);
        }
        for (i, (x, y)) in series.line.iter().enumerate() {
            let start = if i == 0 { r#"<path class="l" d="M"# } else { "L" };
            put!(out, "{start}{} {}", Px(self.at_x(*x)), Px(self.at_y(*y)));
        }
        if !series.line.is_empty() {
            out.push_str(r#""/>"#);
        }
        for mark in &series.marks {
            self.mark(out, series.style, mark);
        }
        out.push_str("</g>");
    }

    fn mark(&self, out: &mut String, style: Style, mark: &Mark) {
        let (x, y) = (self.at_x(mark.x), self.at_y(mark.y));
        if let Some(tail) = mark.tail {
            put!(out, r#"<path class="t" d="M{} {}H{}"/>"#, Px(x), Px(y), Px(self.at_x(tail)));
        }
        if let Some((low, high)) = mark.interval {
            let (a, b) = (self.at_x(low), self.at_x(high));
            let (up, down) = (Px(y - 3.5), Px(y + 3.5));
            put!(
                out,
                r#"<path class="i" d="M{a} {up}V{down}M{a} {y}H{b}M{b} {up}V{down}"/>"#,
                a = Px(a),
                b = Px(b),
                y = Px(y)
            );
        }
        marker(out, style, x, y, mark);
    }
}

fn series_xs(series: &Series) -> impl Iterator<Item = f64> {
    let marks = series.marks.iter().flat_map(|m| {
        let (low, high) = m.interval.unwrap_or((m.x, m.x));
        [m.x, low, high, m.tail.unwrap_or(m.x)]
    });
    marks.chain(series.line.iter().map(|p| p.0)).chain(series.band.iter().map(|b| b.0))
}

fn series_ys(series: &Series) -> impl Iterator<Item = f64> {
    let band = series.band.iter().flat_map(|b| [b.1, b.2]);
    series.marks.iter().map(|m| m.y).chain(series.line.iter().map(|p| p.1)).chain(band)
}

/// Room for a legend entry's sample.
fn sample(series: &Series) -> f64 {
    if series.line.is_empty() { 16.0 } else { 32.0 }
}

/// Places the legend's entries from `top` in as many lines as they need; with
/// the height at which they end.
fn place_legend(chart: &Chart, top: f64) -> (Vec<(f64, f64, &Series)>, f64) {
    let mut placed = Vec::new();
    let (mut x, mut y) = (0.0, top + 14.0);
    for series in chart.series.iter().filter(|s| s.legend == Legend::Listed) {
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

/// Room that the texts right of the rows need.
fn end_room(rows: &Rows) -> f64 {
    let texts = rows.rows.iter().map(|row| &row.end).chain([&rows.end]);
    texts.map(|text| width(text, SMALL)).fold(0.0, f64::max)
}

/// Right ends of the gutter's columns, together no wider than `room`.
fn gutter_columns(rows: &Rows, room: f64) -> Vec<f64> {
    let columns = rows.rows.iter().map(|r| r.cells.len()).max().unwrap_or(0);
    let mut widths: Vec<f64> = (0..columns)
        .map(|i| {
            let cells = rows.rows.iter().filter_map(|r| r.cells.get(i));
            let widest = cells.map(|c| width(c, TEXT)).fold(0.0, f64::max);
            let heading = rows.columns.get(i).map_or(0.0, |h| width(h, SMALL));
            widest.max(heading) + 14.0
        })
        .collect();
    let total: f64 = widths.iter().sum();
    if let (true, Some(widest)) = (total > room, widths.iter_mut().max_by(|a, b| a.total_cmp(b))) {
        *widest = (*widest - (total - room)).max(60.0);
    }
    widths
        .iter()
        .scan(0.0, |end, w| {
            *end += w;
            Some(*end)
        })
        .collect()
}

/// Drops the text of ticks that would touch the one before.
fn without_collisions(ticks: Vec<Tick>, at: impl Fn(f64) -> f64) -> Vec<Tick> {
    let mut free_from = f64::NEG_INFINITY;
    ticks
        .into_iter()
        .map(|mut tick| {
            let (x, half) = (at(tick.value), width(&tick.text, TEXT) / 2.0);
            if x - half < free_from {
                tick.text.clear();
            } else {
                free_from = x + half + 8.0;
            }
            tick
        })
        .collect()
}

pub(super) fn text(out: &mut String, class: &str, x: f64, y: f64, words: &str) {
    if words.is_empty() {
        return;
    }
    let class = if class.is_empty() { String::new() } else { format!(r#" class="{class}""#) };
    put!(out, r#"<text{class} x="{}" y="{}">{}</text>"#, Px(x), Px(y), Esc(words));
}

fn open_group(out: &mut String, class: &str, style: Style) {
    put!(out, r#"<g class="{class} {} {}">"#, style.colour.class(), style.dash.class());
}
