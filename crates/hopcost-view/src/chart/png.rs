//! A chart as a PNG file, drawn from its SVG with a font that is compiled in: a bare
//! machine has none.

use resvg::{tiny_skia, usvg};

use super::draw::{self, Surroundings};
use super::model::Chart;
use super::palette::{self, CSS, Ground};

/// A subset of DejaVu Sans Condensed; `scripts/subset-font` makes it.
const FONT: &[u8] = include_bytes!("../../assets/fonts/chart.ttf");

/// Pixels of the file for one of the drawing.
const ZOOM: f32 = 2.0;

/// A chart as a PNG file, as on paper, two pixels for each of the drawing's.
///
/// # Errors
/// What the renderer says of a drawing that it cannot draw, in one line.
pub fn png(chart: &Chart) -> Result<Vec<u8>, String> {
    let mut options = usvg::Options::default();
    let fonts = options.fontdb_mut();
    fonts.load_font_data(FONT.to_vec());
    let family = fonts.faces().next().and_then(|face| face.families.first());
    let family = family.map(|(name, _)| name.clone()).ok_or("the font compiled in is none")?;
    fonts.set_sans_serif_family(family.clone());
    options.font_family = family;
    // The renderer knows no media queries, and none of the reader's fonts.
    let style = palette::resolve(CSS, Ground::Paper);
    let (start, rest) = style.split_once("font-family:").ok_or("the style names no font")?;
    let rest = rest.split_once(';').map_or("", |(_, rest)| rest);
    let style = format!("{start}font-family:sans-serif;{rest}");
    let drawing = draw::svg(chart, Surroundings::Alone(&style));
    let tree = usvg::Tree::from_str(&drawing, &options).map_err(|e| e.to_string())?;
    let size = tree.size().to_int_size().scale_by(ZOOM).ok_or("the drawing has no size")?;
    let mut pixels =
        tiny_skia::Pixmap::new(size.width(), size.height()).ok_or("the drawing is too large")?;
    let zoom = tiny_skia::Transform::from_scale(ZOOM, ZOOM);
    resvg::render(&tree, zoom, &mut pixels.as_mut());
    pixels.encode_png().map_err(|e| e.to_string())
}
