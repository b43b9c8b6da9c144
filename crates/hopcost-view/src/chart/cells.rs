//! Draws a grid of cells: what a heat map is.

use super::labels::{TEXT, fit, text, width};
use super::model::{Cell, Cells, STEPS};
use crate::markup::{Esc, Px, put};

/// Height of a cell.
const HEIGHT: f64 = 36.0;
/// Blank between two cells, so that equal neighbours are still two.
const GAP: f64 = 2.0;
/// Names of the columns, and what they are.
const HEAD: f64 = 38.0;
/// The scale of grounds under the cells, and the width of one of its steps.
const SCALE: f64 = 34.0;
const SWATCH: f64 = 18.0;
/// Longest text of a cell, and what is added at either side.
const TEXT_MAX: f64 = 120.0;
const PADDING: f64 = 2.0;
/// Least width of the whole: what the scale of grounds takes.
const WIDTH_MIN: f64 = 340.0;

/// Width of the names of the rows, and of a cell: all are alike.
fn widths(cells: &Cells) -> (f64, f64) {
    let widest = |texts: &mut dyn Iterator<Item = &String>| {
        texts.map(|text| width(text, TEXT)).fold(0.0, f64::max).min(TEXT_MAX) + 2.0 * PADDING
    };
    let names = widest(&mut cells.rows.iter().map(|(name, _)| name).chain([&cells.rows_label]));
    let texts = cells.rows.iter().flat_map(|(_, cells)| cells).map(|cell| &cell.text);
    (names, widest(&mut texts.chain(&cells.columns)))
}

/// Width of the whole.
pub(crate) fn width_of(cells: &Cells) -> f64 {
    let (left, wide) = widths(cells);
    (left + cells.columns.len() as f64 * (wide + GAP)).max(WIDTH_MIN)
}

/// Height of the whole.
pub(super) fn height_of(cells: &Cells) -> f64 {
    let scale = if cells.ends.is_some() { SCALE } else { 0.0 };
    HEAD + cells.rows.len() as f64 * (HEIGHT + GAP) + scale
}

/// Draws the cells with their names, from `top` down.
pub(super) fn draw(out: &mut String, cells: &Cells, top: f64) {
    let (left, wide) = widths(cells);
    let middle = |at: usize| left + at as f64 * (wide + GAP) + wide / 2.0;
    text(out, "quiet", left, top + 11.0, &cells.columns_label);
    text(out, "quiet", 0.0, top + 30.0, &cells.rows_label);
    for (at, name) in cells.columns.iter().enumerate() {
        text(out, "mid", middle(at), top + 30.0, &fit(name, TEXT, wide));
    }
    let mut y = top + HEAD;
    for (name, row) in &cells.rows {
        text(out, "", 0.0, y + HEIGHT / 2.0 + 4.0, &fit(name, TEXT, left - PADDING));
        for (at, cell) in row.iter().enumerate() {
            one(out, cell, (wide, middle(at), y + HEIGHT / 2.0));
        }
        y += HEIGHT + GAP;
    }
    if let Some((low, high)) = &cells.ends {
        scale(out, (low, high), y + 12.0);
    }
}

/// A cell around its middle.
fn one(out: &mut String, cell: &Cell, (wide, x, y): (f64, f64, f64)) {
    let (ground, class, quiet) = match cell.step {
        Some(step) => (format!(" h{}", step.min(STEPS - 1)), "", ""),
        None => (String::new(), r#" class="empty""#, "quiet "),
    };
    let (x, y) = (Px(x), Px(y));
    put!(out, r#"<g class="series"><g class="m cell{ground}" transform="translate({x} {y})">"#);
    if !cell.tip.is_empty() {
        put!(out, "<title>{}</title>", Esc(&cell.tip));
    }
    let (x, y) = (Px(-wide / 2.0), Px(-HEIGHT / 2.0));
    let (w, h) = (Px(wide), Px(HEIGHT));
    put!(out, r#"<rect{class} x="{x}" y="{y}" width="{w}" height="{h}" rx="2"/>"#);
    text(out, &format!("{quiet}mid"), 0.0, 4.0, &fit(&cell.text, TEXT, wide - PADDING));
    out.push_str("</g></g>");
}

/// The grounds from the least to the greatest.
fn scale(out: &mut String, (low, high): (&str, &str), y: f64) {
    text(out, "quiet", 0.0, y + 10.0, low);
    let start = width(low, TEXT) + 8.0;
    for step in 0..STEPS {
        let (x, y, w) = (Px(start + f64::from(step) * SWATCH), Px(y), Px(SWATCH));
        put!(out, r#"<g class="h{step}"><rect x="{x}" y="{y}" width="{w}" height="12"/></g>"#);
    }
    let end = start + f64::from(STEPS) * SWATCH + 8.0;
    text(out, "quiet", end, y + 10.0, &format!("{high} (log scale)"));
}
