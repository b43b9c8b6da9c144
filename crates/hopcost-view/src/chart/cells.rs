//! Draws a grid of cells: what a heat map is.

use super::draw::text;
use super::labels::{fit, width};
use super::model::{CellRow, Cells, ChartCell, STEPS};
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
/// Room at either side of a text within its cell.
const PADDING: f64 = 6.0;
/// Longest name of a row.
const NAME_MAX: f64 = 160.0;

/// Width of the names of the rows.
fn left(cells: &Cells) -> f64 {
    let names = cells.rows.iter().map(|row| width(&row.name, TEXT));
    let widest = names.chain([width(&cells.rows_label, SMALL)]).fold(0.0, f64::max);
    widest.min(NAME_MAX) + 12.0
}

/// Width of a cell: all are alike.
fn cell_width(cells: &Cells) -> f64 {
    let of = |cell: &ChartCell| width(&cell.text, TEXT).max(width(&cell.small, SMALL));
    let texts = cells.rows.iter().flat_map(|row| &row.cells).map(of);
    let heads = cells.columns.iter().map(|name| width(name, TEXT));
    texts.chain(heads).fold(56.0, f64::max).min(NAME_MAX) + 2.0 * PADDING
}

/// Width of the whole.
pub(super) fn width_of(cells: &Cells) -> f64 {
    let columns = left(cells) + cells.columns.len() as f64 * (cell_width(cells) + GAP);
    columns.max(360.0)
}

/// Height of the whole.
pub(super) fn height_of(cells: &Cells) -> f64 {
    let scale = if cells.ends.is_some() { SCALE } else { 0.0 };
    HEAD + cells.rows.len() as f64 * (HEIGHT + GAP) + scale
}

/// Draws the cells with their names, from `top` down.
pub(super) fn draw(out: &mut String, cells: &Cells, top: f64) {
    let (left, wide) = (left(cells), cell_width(cells));
    text(out, "quiet small", left, top + 11.0, &cells.columns_label);
    text(out, "quiet small", 0.0, top + 30.0, &cells.rows_label);
    for (at, name) in cells.columns.iter().enumerate() {
        let x = left + at as f64 * (wide + GAP) + wide / 2.0;
        text(out, "mid", x, top + 30.0, &fit(name, TEXT, wide));
    }
    for (at, row) in cells.rows.iter().enumerate() {
        let y = top + HEAD + at as f64 * (HEIGHT + GAP);
        line(out, row, (left, wide), y);
    }
    let bottom = top + HEAD + cells.rows.len() as f64 * (HEIGHT + GAP);
    if let Some((low, high)) = &cells.ends {
        scale(out, (low, high), left, bottom + 12.0);
    }
}

fn line(out: &mut String, row: &CellRow, (left, wide): (f64, f64), y: f64) {
    let name = fit(&row.name, TEXT, left - 12.0);
    text(out, "", 0.0, y + HEIGHT / 2.0 + 4.0, &name);
    for (at, cell) in row.cells.iter().enumerate() {
        let x = left + at as f64 * (wide + GAP) + wide / 2.0;
        one(out, cell, wide, x, y + HEIGHT / 2.0);
    }
}

/// A cell around its middle.
fn one(out: &mut String, cell: &ChartCell, wide: f64, x: f64, y: f64) {
    let (w, h) = (Px(wide), Px(HEIGHT));
    let corner = (Px(-wide / 2.0), Px(-HEIGHT / 2.0));
    let ground = cell.step.map_or(String::new(), |step| format!(" h{}", step.min(STEPS - 1)));
    put!(
        out,
        r#"<g class="series"><g class="m cell{ground}" transform="translate({} {})">"#,
        Px(x),
        Px(y)
    );
    if !cell.tip.is_empty() {
        put!(out, "<title>{}</title>", Esc(&cell.tip));
    }
    let class = if cell.step.is_some() { "" } else { r#" class="empty""# };
    put!(
        out,
        r#"<rect{class} x="{}" y="{}" width="{w}" height="{h}" rx="2"/>"#,
        corner.0,
        corner.1
    );
    let room = wide - PADDING;
    let quiet = if cell.step.is_some() { "mid" } else { "quiet mid" };
    let base = if cell.small.is_empty() { 4.0 } else { -2.0 };
    text(out, quiet, 0.0, base, &fit(&cell.text, TEXT, room));
    text(out, "small mid", 0.0, 13.0, &fit(&cell.small, SMALL, room));
    out.push_str("</g></g>");
}

/// The grounds from the least to the greatest.
fn scale(out: &mut String, (low, high): (&str, &str), left: f64, y: f64) {
    text(out, "quiet small", left, y + 10.0, low);
    let start = left + width(low, SMALL) + 8.0;
    for step in 0..STEPS {
        let x = start + f64::from(step) * SWATCH;
        put!(
            out,
            r#"<g class="h{step}"><rect x="{}" y="{}" width="{}" height="12"/></g>"#,
            Px(x),
            Px(y),
            Px(SWATCH)
        );
    }
    let end = start + f64::from(STEPS) * SWATCH + 8.0;
    text(out, "quiet small", end, y + 10.0, &format!("{high} (log scale)"));
}
