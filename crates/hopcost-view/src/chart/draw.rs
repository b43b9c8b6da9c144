//! Draws a chart as SVG. Positions are decided here and nowhere else.

use super::labels::{TEXT, fit, lines, text, width};
use super::model::{Axis, Chart, Point, Row, Series, Style, Vertical};
use super::scale::Tick;
use crate::markup::{Esc, Px, put};

/// Width of a drawing on a page: what the narrowest telephones have, so that its texts are as large
/// there as anywhere.
const PAGE_WIDTH: f64 = 372.0;
/// Height of a plot with a value axis there.
const PAGE_HEIGHT: f64 = 230.0;
/// Width and height of a drawing that stands alone, and the room around it.
const FILE_WIDTH: f64 = 720.0;
const FILE_HEIGHT: f64 = 280.0;
const MARGIN: f64 = 16.0;

const LEGEND_LINE: f64 = 18.0;
/// Size of a title, whose letters are bold and so wider than others, and height of a line of it.
const TITLE: f64 = 15.0;
const TITLE_LINE: f64 = 16.0;
/// Width of the sample of a line in the legend.
const SAMPLE: f64 = 32.0;
/// Height of a line of a note under a drawing that stands alone.
const NOTE_LINE: f64 = 15.0;
/// Room beside the plot for half a tick text and whole markers.
const BESIDE: f64 = 24.0;
/// Tick texts and the label of the x axis.
const BELOW: f64 = 40.0;
/// Height of a named row.
const ROW: f64 = 22.0;

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
    width: f64,
    plot: Plot,
    /// The vertical axis, if it is a value axis.
    y: Option<&'a Axis>,
    /// Ticks of the horizontal axis.
    ticks: Vec<Tick>,
    height: f64,
}

/// The `<svg>` element of a chart, for a page; or for a file of its own, which needs a style sheet.
pub(crate) fn svg(chart: &Chart, style: Option<&str>) -> String {
    let (size, margin) = match style {
        None => ((PAGE_WIDTH, PAGE_HEIGHT), 0.0),
        Some(_) => ((FILE_WIDTH, FILE_HEIGHT), MARGIN),
    };
    let drawing = Drawing::new(chart, size);
    let notes = chart.notes.iter().filter(|_| style.is_some());
    let notes: Vec<String> = notes.flat_map(|note| lines(note, TEXT, drawing.width)).collect();
    let mut out = String::with_capacity(16 * 1024);
    let below = NOTE_LINE * notes.len() as f64;
    let (w, h) = (Px(drawing.width + 2.0 * margin), Px(drawing.height + below + 2.0 * margin));
    let (id, title, origin) = (Esc(&chart.id), Esc(&chart.title), Px(-margin));
    let description = Esc(&chart.description);
    put!(
        out,
        r#"<svg xmlns="http://www.w3.org/2000/svg" class="chart" id="{id}" viewBox="{origin} {origin} {w} {h}" width="{w}" height="{h}" role="img" aria-label="{title}" aria-describedby="{id}-desc"><title>{title}</title><desc id="{id}-desc">{description}</desc>"#
    );
    if let Some(style) = style {
        put!(
            out,
            r#"<style>{style}</style><rect class="paper" x="{origin}" y="{origin}" width="{w}" height="{h}"/>"#
        );
    }
    for (i, line) in lines(&chart.title, TITLE, drawing.width).iter().enumerate() {
        text(&mut out, "title", 0.0, 14.0 + TITLE_LINE * i as f64, line);
    }
    drawing.x_axis(&mut out);
    match &chart.y {
        Vertical::Value(axis) => {
            drawing.y_axis(&mut out, &axis.title());
            drawing.legend(&mut out);
        }
        Vertical::Rows(heading, rows) => drawing.rows(&mut out, heading, rows),
    }
    for series in &chart.series {
        drawing.series(&mut out, series);
    }
    for (i, note) in notes.iter().enumerate() {
        let y = drawing.height + NOTE_LINE * (i as f64 + 1.0);
        text(&mut out, "quiet", 0.0, y, note);
    }
    out.push_str("</svg>");
    out
}

impl<'a> Drawing<'a> {
    fn new(chart: &'a Chart, (width, height): (f64, f64)) -> Self {
        let top = 6.0 + TITLE_LINE * lines(&chart.title, TITLE, width).len() as f64;
        let mut drawing = Self {
            chart,
            width,
            plot: Plot { left: 0.0, right: width - BESIDE, top, bottom: top },
            y: None,
            ticks: Vec::new(),
            height: 0.0,
        };
        let plot = &mut drawing.plot;
        match &chart.y {
            Vertical::Value(axis) => {
                plot.left = widest(axis.ticks(6).iter().map(|tick| &tick.text)) + 10.0;
                plot.top = top + 24.0;
                plot.bottom = plot.top + height;
                drawing.ticks = drawing.place_ticks();
                // The legend stands below, so that plots side by side align.
                let legend = LEGEND_LINE * chart.series.len() as f64 + 4.0;
                drawing.height = drawing.plot.bottom + BELOW + legend;
                drawing.y = Some(axis);
            }
            Vertical::Rows(heading, rows) => {
                plot.top = top + 22.0;
                plot.bottom = plot.top + ROW * rows.len() as f64;
                plot.right -= widest(rows.iter().map(|row| &row.end));
                let names = rows.iter().map(|row| &row.name).chain([heading]);
                plot.left = (widest(names) + 14.0).min(width * 0.5);
                drawing.height = plot.bottom + BELOW;
                drawing.ticks = drawing.place_ticks();
            }
        }
        drawing
    }

    fn at_x(&self, value: f64) -> f64 {
        self.plot.left + self.chart.x.place(value) * (self.plot.right - self.plot.left)
    }

    fn at_y(&self, value: f64) -> f64 {
        match &self.y {
            Some(y) => self.plot.bottom - y.place(value) * (self.plot.bottom - self.plot.top),
            None => self.plot.top + (value + 0.5) * ROW,
        }
    }

    /// Ticks of the x axis; one whose text would touch another's loses it.
    fn place_ticks(&self) -> Vec<Tick> {
        let wanted = ((self.plot.right - self.plot.left) / 64.0).max(3.0) as usize;
        let mut free_from = f64::NEG_INFINITY;
        let place = |mut tick: Tick| {
            let (x, half) = (self.at_x(tick.value), width(&tick.text, TEXT) / 2.0);
            if x - half >= free_from {
                free_from = x + half + 8.0;
            } else {
                tick.text.clear();
            }
            tick
        };
        self.chart.x.ticks(wanted).into_iter().map(place).collect()
    }

    /// A line for each series.
    fn legend(&self, out: &mut String) {
        let mut y = self.plot.bottom + BELOW - 4.0;
        for series in &self.chart.series {
            y += LEGEND_LINE;
            open_group(out, "entry", series.style);
            put!(out, r#"<path class="l" d="M0 {}h26"/>"#, Px(y - 4.0));
            if series.points.iter().any(|point| point.tip.is_some()) {
                let (x, y) = (Px((SAMPLE - 6.0) / 2.0), Px(y - 4.0));
                let shape = series.style.marker;
                put!(out, r#"<path class="m" d="M{x} {y}{shape}"/>"#);
            }
            text(out, "", SAMPLE, y, &fit(&series.name, TEXT, self.width - SAMPLE));
            out.push_str("</g>");
        }
    }

    /// Grid lines, tick texts, and the label.
    fn x_axis(&self, out: &mut String) {
        let Plot { left, right, top, bottom } = self.plot;
        let line = |x| format!("M{} {}V{}", Px(x), Px(top), Px(bottom));
        grid(out, self.ticks.iter().map(|tick| line(self.at_x(tick.value))));
        put!(out, r#"<path class="rule" d="M{} {}H{}"/>"#, Px(left), Px(bottom), Px(right));
        for tick in &self.ticks {
            let x = self.at_x(tick.value);
            text(out, "quiet mid", x, bottom + 15.0, &tick.text);
        }
        let title = fit(&self.chart.x.title(), TEXT, self.width);
        // Below the middle of the plot, as far as it has room there.
        let half = width(&title, TEXT) / 2.0;
        let middle = ((left + right) / 2.0).clamp(half, (self.width - half).max(half));
        text(out, "quiet mid", middle, bottom + BELOW - 8.0, &title);
    }

    fn y_axis(&self, out: &mut String, label: &str) {
        let Plot { left, right, top, bottom } = self.plot;
        let ticks = self.y.map_or_else(Vec::new, |y| y.ticks(6));
        for tick in &ticks {
            text(out, "quiet end", left - 6.0, self.at_y(tick.value) + 4.0, &tick.text);
        }
        let line = |y| format!("M{} {}H{}", Px(left), Px(y), Px(right));
        grid(out, ticks.iter().map(|tick| line(self.at_y(tick.value))));
        put!(out, r#"<path class="rule" d="M{} {}V{}"/>"#, Px(left), Px(top), Px(bottom));
        text(out, "quiet", 0.0, top - 10.0, &fit(label, TEXT, self.width));
    }

    fn rows(&self, out: &mut String, heading: &str, rows: &[Row]) {
        let Plot { left, right, top, .. } = self.plot;
        text(out, "quiet", 0.0, top - 6.0, heading);
        for (r, row) in rows.iter().enumerate() {
            let base = top + ROW * (r as f64 + 0.5) + 4.0;
            text(out, "", 0.0, base, &fit(&row.name, TEXT, left - 8.0));
            text(out, "quiet", right + 10.0, base, &row.end);
        }
        let line = |r: usize| format!("M0 {}H{}", Px(top + ROW * r as f64), Px(right));
        grid(out, (0..rows.len()).map(line));
    }

    fn series(&self, out: &mut String, series: &Series) {
        open_group(out, "series", series.style);
        let is_row = self.y.is_none();
        if !is_row {
            self.line(out, &series.points);
        }
        for point in &series.points {
            let Some(tip) = &point.tip else { continue };
            if let Some(ends) = point.ends.filter(|_| is_row) {
                self.interval(out, self.at_y(point.at), ends);
            }
            let place = |value| if is_row { (value, point.at) } else { (point.at, value) };
            let levels = point.other.iter().flat_map(|_| point.values());
            self.path(out, "thin", levels.map(place), "");
            let (class, shape) = self.shape(series, point);
            for (x, y) in point.values().map(place) {
                let (x, y, tip) = (Px(self.at_x(x)), Px(self.at_y(y)), Esc(tip));
                put!(
                    out,
                    r#"<path class="{class}" transform="translate({x} {y})" d="{shape}"><title>{tip}</title></path>"#
                );
            }
        }
        out.push_str("</g>");
    }

    /// A band of intervals, and a line that does not lead through what has two levels.
    fn line(&self, out: &mut String, points: &[Point]) {
        let bounded = points.iter().filter_map(|of| Some((of.at, of.ends?)));
        let upper = bounded.clone().map(|(at, (_, high))| (at, high));
        let lower = bounded.rev().map(|(at, (low, _))| (at, low));
        self.path(out, "b", upper.chain(lower), "Z");
        for part in points.split(|of| of.other.is_some()).filter(|part| part.len() > 1) {
            self.path(out, "l", part.iter().map(|of| (of.at, of.value)), "");
        }
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

    /// A marker from its middle, and its class; in a row an upper bound has an arrow to the left.
    fn shape(&self, series: &Series, point: &Point) -> (&'static str, String) {
        if series.style == Style::BARS && point.other.is_none() {
            let length = Px(self.at_x(point.value) - self.plot.left);
            return ("m bar", format!("m0-6v12h-{length}v-12z"));
        }
        let has_arrow = point.at_most && self.y.is_none();
        let arrow = if has_arrow { "m-6 0h-10m4-3l-4 3l4 3m12-3" } else { "" };
        ("m", format!("{arrow}{}", series.style.marker))
    }

    /// The interval of a row at this height.
    fn interval(&self, out: &mut String, y: f64, (low, high): (f64, f64)) {
        let (a, b, at) = (Px(self.at_x(low)), Px(self.at_x(high)), Px(y));
        let (up, down) = (Px(y - 3.5), Px(y + 3.5));
        // An end beyond the axis is an arrow.
        let end = |value: f64, inwards: f64| {
            let x = self.at_x(value);
            let back = Px(if self.chart.x.is_beyond(value) { x + inwards } else { x });
            format!("M{back} {up}L{} {at}L{back} {down}", Px(x))
        };
        let (left, right) = (end(low, 5.0), end(high, -5.0));
        put!(out, r#"<path class="i" d="{left}M{a} {at}H{b}{right}"/>"#);
    }
}

fn grid(out: &mut String, lines: impl Iterator<Item = String>) {
    put!(out, r#"<path class="grid" d="{}"/>"#, lines.collect::<String>());
}

fn open_group(out: &mut String, class: &str, style: Style) {
    put!(out, r#"<g class="{class} {} {}">"#, style.colour, style.dash);
}

/// Width of the widest of some texts.
fn widest<'t>(texts: impl Iterator<Item = &'t String>) -> f64 {
    texts.map(|text| width(text, TEXT)).fold(0.0, f64::max)
}
