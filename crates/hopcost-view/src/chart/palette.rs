//! The colours, once for paper and once for dark screens. Text colours have a
//! contrast of at least 4.5 to 1 against the ground, marks of at least 3 to 1
//! (a test computes both). The hues are Okabe and Ito's; those too pale for
//! paper are darkened there.

/// The style sheet of every drawing; colours are custom properties.
pub(crate) const CSS: &str = include_str!("chart.css");

/// A named colour.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ink {
    /// Name of the CSS custom property, without its dashes.
    pub name: &'static str,
    /// On paper.
    pub light: &'static str,
    /// On a dark screen.
    pub dark: &'static str,
}

const fn ink(name: &'static str, light: &'static str, dark: &'static str) -> Ink {
    Ink { name, light, dark }
}

/// Every colour that a style sheet here may name.
pub(crate) const PALETTE: &[Ink] = &[
    ink("paper", "#ffffff", "#15171b"),
    ink("ink", "#1b1d21", "#e4e6ea"),
    ink("muted", "#5a606b", "#a2a8b4"),
    ink("rule", "#c9cdd4", "#444a55"),
    ink("grid", "#e7e9ed", "#272b32"),
    ink("wash", "#f5f6f8", "#1d2026"),
    ink("faint", "#868c97", "#7b828e"),
    ink("blue", "#0072b2", "#56b4e9"),
    ink("vermilion", "#d55e00", "#d55e00"),
    ink("green", "#009e73", "#009e73"),
    ink("purple", "#b75b91", "#cc79a7"),
    ink("amber", "#b57b00", "#e69f00"),
    ink("good", "#00694d", "#3fc79d"),
    ink("warn", "#8a5500", "#efb544"),
    ink("bad", "#b3261e", "#ff8b7e"),
    ink("link", "#005f96", "#7cc4ef"),
    // Grounds of cells: one hue (blue) in steps of lightness, each farther from the ground
    // of the page than the one before; and the text on each.
    ink("heat0", "#e5edf5", "#1b2b36"),
    ink("heat1", "#c0d7ec", "#203d51"),
    ink("heat2", "#99c0e0", "#1c5272"),
    ink("heat3", "#6ea9d5", "#166994"),
    ink("heat4", "#3f93c6", "#348bbe"),
    ink("heat5", "#1c73ab", "#74afda"),
    ink("heat6", "#0c5282", "#bad5ec"),
    ink("on0", "#1b1d21", "#e4e6ea"),
    ink("on1", "#1b1d21", "#e4e6ea"),
    ink("on2", "#1b1d21", "#e4e6ea"),
    ink("on3", "#1b1d21", "#e4e6ea"),
    ink("on4", "#1b1d21", "#15171b"),
    ink("on5", "#ffffff", "#15171b"),
    ink("on6", "#ffffff", "#15171b"),
];

/// A style sheet with each `var(--name)` replaced by its value: some programs
/// that draw SVG know no custom properties.
pub(crate) fn resolve(css: &str, value: impl Fn(&Ink) -> &'static str) -> String {
    PALETTE
        .iter()
        .fold(css.to_owned(), |css, ink| css.replace(&format!("var(--{})", ink.name), value(ink)))
}

/// The custom properties, as the body of a CSS rule.
pub(crate) fn properties(value: impl Fn(&Ink) -> &'static str) -> String {
    PALETTE.iter().map(|ink| format!("--{}:{};", ink.name, value(ink))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

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
        for value in [(|i: &Ink| i.light) as fn(&Ink) -> &'static str, |i| i.dark] {
            let of = |name: &str| value(PALETTE.iter().find(|i| i.name == name).unwrap());
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
        for value in [(|i: &Ink| i.light) as fn(&Ink) -> &'static str, |i| i.dark] {
            let of = |name: String| value(PALETTE.iter().find(|i| i.name == name).unwrap());
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
            assert!(!resolve(css, |i| i.light).contains("var("), "unknown colour in {css}");
        }
    }
}
