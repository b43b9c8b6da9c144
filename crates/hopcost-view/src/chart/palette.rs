//! The colours, once for paper and once for dark screens. Text colours have a
//! contrast of at least 4.5 to 1 against the ground, marks of at least 3 to 1.
//! The hues are Okabe and Ito's; those too pale for
//! paper are darkened there.

/// The style sheet of every drawing; colours are custom properties.
pub(crate) const CSS: &str = include_str!("chart.css");

/// Every colour that a style sheet here may name: the name of its custom property, its
/// value on paper, and on a dark screen.
const PALETTE: &str = include_str!("palette.txt");

/// What is drawn on: the place of its column in the palette.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Ground {
    Paper = 1,
    Dark = 2,
}

/// Names and values.
fn colours(ground: Ground) -> impl Iterator<Item = (&'static str, &'static str)> {
    let of =
        move |line: &'static str| line.split(' ').next().zip(line.split(' ').nth(ground as usize));
    PALETTE.lines().filter_map(of)
}

/// A style sheet with each `var(--name)` replaced by its value: some programs
/// that draw SVG know no custom properties.
pub(crate) fn resolve(css: &str, ground: Ground) -> String {
    colours(ground)
        .fold(css.to_owned(), |css, (name, value)| css.replace(&format!("var(--{name})"), value))
}

/// The custom properties, as the body of a CSS rule.
pub(crate) fn properties(ground: Ground) -> String {
    colours(ground).map(|(name, value)| format!("--{name}:{value};")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_in_a_style_sheet_is_a_colour() {
        for css in [CSS, crate::html::CSS] {
            assert!(!resolve(css, Ground::Paper).contains("var("), "unknown colour in {css}");
        }
    }
}
