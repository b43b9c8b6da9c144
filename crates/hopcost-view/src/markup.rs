//! The one place where text becomes markup.

use std::fmt::{self, Display, Write};

use hopcost_model::text::is_plain;

/// A text as it may stand in HTML and XML alike, as content or inside a quoted
/// attribute. Characters that XML forbids, and those that reorder their
/// neighbours on the screen, become U+FFFD, so that what is shown is what was
/// measured.
pub(crate) struct Esc<'a>(pub &'a str);

impl Display for Esc<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for c in self.0.chars() {
            match c {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '"' => f.write_str("&quot;")?,
                '\'' => f.write_str("&#39;")?,
                '\n' | '\t' => f.write_char(c)?,
                '\u{fffe}' | '\u{ffff}' => f.write_char('\u{fffd}')?,
                c => f.write_char(if is_plain(c) { c } else { '\u{fffd}' })?,
            }
        }
        Ok(())
    }
}

/// A coordinate: one decimal is a tenth of a pixel, and `-0` does not exist.
pub(crate) struct Px(pub f64);

impl Display for Px {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tenths = (self.0 * 10.0).round() as i64;
        if tenths % 10 == 0 {
            write!(f, "{}", tenths / 10)
        } else {
            write!(f, "{}", tenths as f64 / 10.0)
        }
    }
}

/// Appends formatted text to a `String`, which cannot fail.
macro_rules! put {
    ($out:expr, $($arg:tt)*) => {{
        use std::fmt::Write as _;
        let _ = write!($out, $($arg)*);
    }};
}
pub(crate) use put;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_breaks_out() {
        let text = Esc("\"'><script>&\u{0}\u{7}\u{202e}é").to_string();
        assert_eq!(text, "&quot;&#39;&gt;&lt;script&gt;&amp;\u{fffd}\u{fffd}\u{fffd}é");
    }

    #[test]
    fn coordinates_are_short() {
        assert_eq!(Px(12.0).to_string(), "12");
        assert_eq!(Px(12.34).to_string(), "12.3");
        assert_eq!(Px(-0.01).to_string(), "0");
        assert_eq!(Px(-0.55).to_string(), "-0.6");
    }
}
