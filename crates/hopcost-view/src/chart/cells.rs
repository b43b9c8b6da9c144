//! Draws a grid of cells: what a heat map is.

use super::labels::{fit, text, width};
use super::model::{Cell, Cells, Fit, STEPS};
use crate::markup::{Esc, Px, put};

const TEXT: f64 = 12.0;
const SMALL: f64 = 11.0;
/// Height of a cell.
const HEIGHT: f64 = 42.0;
/// Blank between two cells, so that equal neighbours are still two.
const GAP: f64 = 2.0;
/// Names of the columns, and what they are.
const HEAD: f64 = 38.0;
/// The scale of grounds under the cells.
const SCALE: f64 = 34.0;
/// Width of one of its steps.
const SWATCH: f64 = 22.0;
/// Longest name of a row.
const NAME_MAX: f64 = 160.0;

/// Width of the names of the rows, and of a cell: all are alike.
fn widths(cells: &Cells) -> (f64, f64) {
    let Look { size, least, padding, .. } = Look::of(cells.fit);
    let widest = |texts: &mut dyn Iterator<Item = (&String, f64)>| {
        texts.map(|(text, size)| width(text, size)).fold(0.0, f64::max)
    };
    let label = std::iter::once((&cells.rows_label, SMALL));
    let names = widest(&mut cells.rows.iter().map(|(name, _)| (name, size)).chain(label));
    let texts = cells.rows.iter().flat_map(|(_, cells)| cells);
    let texts = texts.flat_map(|cell| [(&cell.text, size), (small(cell, cells.fit), SMALL)]);
    let texts = widest(&mut texts.chain(cells.columns.iter().map(|name| (name, size))));
    (names.min(NAME_MAX) + 2.0 * padding, texts.clamp(least, NAME_MAX) + 2.0 * padding)
}

/// How a grid is set.
struct Look {
    /// Size of its texts, and the class that has it.
    size: f64,
    class: &'static str,
    /// Least room for the text of a cell, and what is added at either side.
    least: f64,
    padding: f64,
    /// Least width of the whole: what the scale of grounds takes.
    whole: f64,
}

impl Look {
    fn of(fit: Fit) -> Self {
        match fit {
            Fit::Whole => Self { size: TEXT, class: "", least: 56.0, padding: 6.0, whole: 360.0 },
            Fit::Texts => {
                Self { size: SMALL, class: "small ", least: 24.0, padding: 2.0, whole: 328.0 }
            }
        }
    }
}

/// The interval of a cell, where it is drawn.
fn small(cell: &Cell, fit: Fit) -> &String {
    const NONE: &String = &String::new();
    if fit == Fit::Whole { &cell.small } else { NONE }
}

/// Width of the whole.
pub(crate) fn width_of(cells: &Cells) -> f64 {
    let (left, wide) = widths(cells);
    (left + cells.columns.len() as f64 * (wide + GAP)).max(Look::of(cells.fit).whole)
}

/// Height of the whole.
pub(super) fn height_of(cells: &Cells) -> f64 {
    let scale = if cells.ends.is_some() { SCALE } else { 0.0 };
    HEAD + cells.rows.len() as f64 * (HEIGHT + GAP) + scale
}

/// Draws the cells with their names, from `top` down.
pub(super) fn draw(out: &mut String, cells: &Cells, top: f64) {
    let (left, wide) = widths(cells);
    let look = Look::of(cells.fit);
    let mid = format!("{}mid", look.class);
    let middle = |at: usize| left + at as f64 * (wide + GAP) + wide / 2.0;
    text(out, "quiet small", left, top + 11.0, &cells.columns_label);
    text(out, "quiet small", 0.0, top + 30.0, &cells.rows_label);
    for (at, name) in cells.columns.iter().enumerate() {
        text(out, &mid, middle(at), top + 30.0, &fit(name, look.size, wide));
    }
    let mut y = top + HEAD;
    for (name, row) in &cells.rows {
        let name = fit(name, look.size, left - look.padding);
        text(out, look.class.trim_end(), 0.0, y + HEIGHT / 2.0 + 4.0, &name);
        for (at, cell) in row.iter().enumerate() {
            one(out, cell, cells.fit, (wide, middle(at), y + HEIGHT / 2.0));
        }
        y += HEIGHT + GAP;
    }
    if let Some((low, high)) = &cells.ends {
        let left = if cells.fit == Fit::Whole { left } else { 0.0 };
        scale(out, (low, high), left, y + 12.0);
    }
}

/// A cell around its middle.
fn one(out: &mut String, cell: &Cell, cut: Fit, (wide, x, y): (f64, f64, f64)) {
    let look = Look::of(cut);
    let (ground, class, quiet) = match cell.step {
        Some(step) => (format!(" h{}", step.min(STEPS - 1)), "", ""),
        None => (String::new(), r#" class="empty""#, "quiet "),
    };
    let (x, y) = (Px(x), Px(y));
    put!(out, r#"<g class="series"><g class="m cell{ground}" transform="translate({x} {y})">"#);
    if !cell.tip.is_empty() && cut == Fit::Whole {
        put!(out, "<title>{}</title>", Esc(&cell.tip));
    }
    let (x, y) = (Px(-wide / 2.0), Px(-HEIGHT / 2.0));
    let (w, h) = (Px(wide), Px(HEIGHT));
    put!(out, r#"<rect{class} x="{x}" y="{y}" width="{w}" height="{h}" rx="2"/>"#);
    let small = small(cell, cut);
    let base = if small.is_empty() { 4.0 } else { -2.0 };
    let room = wide - look.padding;
    let class = format!("{quiet}{}mid", look.class);
    text(out, &class, 0.0, base, &fit(&cell.text, look.size, room));
    text(out, "small mid", 0.0, 13.0, &fit(small, SMALL, room));
    out.push_str("</g></g>");
}

/// The grounds from the least to the greatest.
fn scale(out: &mut String, (low, high): (&str, &str), left: f64, y: f64) {
    text(out, "quiet small", left, y + 10.0, low);
    let start = left + width(low, SMALL) + 8.0;
    for step in 0..STEPS {
        let (x, y, w) = (Px(start + f64::from(step) * SWATCH), Px(y), Px(SWATCH));
        put!(out, r#"<g class="h{step}"><rect x="{x}" y="{y}" width="{w}" height="12"/></g>"#);
    }
    let end = start + f64::from(STEPS) * SWATCH + 8.0;
    text(out, "quiet small", end, y + 10.0, &format!("{high} (log scale)"));
}
