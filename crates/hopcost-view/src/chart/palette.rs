//! The colours, once for paper and once for dark screens. Text colours have a
//! contrast of at least 4.5 to 1 against the ground, marks of at least 3 to 1
//! (a test computes both). The hues are Okabe and Ito's; those too pale for
//! paper are darkened there. Grounds of cells (`heat0` to `heat6`) are one hue, blue, in
//! steps of lightness, each farther from the ground of the page than the one before;
//! `on0` to `on6` is the text on each.

/// The style sheet of every drawing; colours are custom properties.
pub(crate) const CSS: &str = include_str!("chart.css");

/// Every colour that a style sheet here may name: the name of its custom property, its
/// value on paper, and on a dark screen.
const PALETTE: &str = include_str!("palette.txt");

/// What is drawn on.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Ground {
    Paper,
    Dark,
}

/// Names and values.
fn colours(ground: Ground) -> impl Iterator<Item = (&'static str, &'static str)> {
    PALETTE.lines().filter_map(move |line| {
        let mut words = line.split(' ');
        let (name, paper, dark) = (words.next()?, words.next()?, words.next()?);
        let value = match ground {
            Ground::Paper => paper,
            Ground::Dark => dark,
        };
        Some((name, value))
    })
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

    fn value(ground: Ground, name: &str) -> &'static str {
        colours(ground).find(|(known, _)| *known == name).unwrap().1
    }

    fn luminance(hex: &str) -> f64 {
        let channel = |i: usize| {
            let c = f64::from(u8::from_str_radix(&hex[i..i + 2], 16).unwrap()) / 255.0;
            if c <= 0.03928 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5)
    }

    fn contrast(a: &str, b: &str) -> f64 {
        let (a, b) = (luminance(a), luminance(b));
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    #[test]
    fn colours_stand_out_from_their_ground() {
        for ground in [Ground::Paper, Ground::Dark] {
            let of = |name: &str| value(ground, name);
            for ground in [of("paper"), of("wash")] {
                for text in ["ink", "muted", "good", "warn", "bad", "link"] {
                    assert!(contrast(of(text), ground) >= 4.5, "{text} on {ground}");
                }
                for mark in ["faint", "blue", "vermilion", "green", "purple", "amber"] {
                    assert!(contrast(of(mark), ground) >= 3.0, "{mark} on {ground}");
                }
            }
        }
    }

    #[test]
    fn grounds_of_cells_are_in_order_and_their_texts_stand_out() {
        for ground in [Ground::Paper, Ground::Dark] {
            let of = |name: String| value(ground, &name);
            let mut last = contrast(of("heat0".to_owned()), of("paper".to_owned()));
            assert!(last > 1.1, "the first is no hole in the page");
            for step in 0..super::super::model::STEPS {
                let (ground, on) = (of(format!("heat{step}")), of(format!("on{step}")));
                assert!(contrast(ground, on) >= 4.5, "{on} on {ground}");
                let far = contrast(ground, of("paper".to_owned()));
                assert!(step == 0 || far > 1.15 * last, "heat{step} {far} after {last}");
                last = far;
            }
        }
    }

    #[test]
    fn every_name_in_a_style_sheet_is_a_colour() {
        for css in [CSS, crate::html::CSS] {
            assert!(!resolve(css, Ground::Paper).contains("var("), "unknown colour in {css}");
        }
    }
}
