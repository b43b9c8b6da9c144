//! How text is laid out: width, colour and character set, and the little that
//! all text views share (padding, wrapping, cleaning).

use hopcost_model::text::is_plain;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Which characters may be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Charset {
    /// `µs`, `≤`, `×`, block elements.
    Unicode,
    /// `us`, `<=`, `x`, `#`.
    Ascii,
}

/// Whether ANSI escape sequences may be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Color {
    /// Bold, dim and colours.
    Ansi,
    /// Nothing but the text (NO_COLOR, no terminal, `TERM=dumb`).
    Plain,
}

/// How text is laid out. The caller decides, from the terminal and the environment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TextStyle {
    /// Columns, 80 at least.
    pub width: usize,
    pub color: Color,
    pub charset: Charset,
}

/// What a piece of text looks like where colour is allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Paint {
    Plain,
    Bold,
    Dim,
    Green,
    Yellow,
    Red,
}

/// Where text stands in its column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Align {
    Left,
    Right,
}

impl TextStyle {
    /// Unicode without colour.
    pub const fn plain(width: usize) -> Self {
        Self { width, color: Color::Plain, charset: Charset::Unicode }
    }

    /// The text in its colour; an empty or blank text stays as it is.
    pub(crate) fn paint(&self, paint: Paint, text: &str) -> String {
        let code = match paint {
            Paint::Plain => return text.to_owned(),
            Paint::Bold => "1",
            Paint::Dim => "2",
            Paint::Green => "32",
            Paint::Yellow => "33",
            Paint::Red => "31",
        };
        if self.color == Color::Plain || text.trim().is_empty() {
            return text.to_owned();
        }
        format!("\x1b[{code}m{text}\x1b[0m")
    }

    /// Text from elsewhere (reasons, evidence) as it may be shown: no control
    /// characters, which could move the cursor, and nothing the terminal lacks.
    pub(crate) fn clean(&self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        for c in text.chars() {
            match c {
                c if !is_plain(c) => out.push(' '),
                c if c.is_ascii() || self.charset == Charset::Unicode => out.push(c),
                // The space within a number that does not break.
                '\u{202f}' => out.push(' '),
                c => out.push_str(spelled(c)),
            }
        }
        out
    }
}

/// Characters with their spelling in ASCII, a line for those of each.
const ASCII: &str = include_str!("ascii.txt");

fn spelled(c: char) -> &'static str {
    let mut lines = ASCII.lines().map(|line| line.split_once(' ').unwrap_or((line, "")));
    lines.find(|(of, _)| of.contains(c)).map_or("?", |(_, ascii)| ascii)
}

/// Columns the text takes on a terminal.
pub(crate) fn width_of(text: &str) -> usize {
    UnicodeWidthStr::width(text)
}

/// The text with blanks to fill the width; longer text stays as it is.
pub(crate) fn pad(text: &str, width: usize, align: Align) -> String {
    let blanks = " ".repeat(width.saturating_sub(width_of(text)));
    match align {
        Align::Left => format!("{text}{blanks}"),
        Align::Right => format!("{blanks}{text}"),
    }
}

/// Breaks text between words into lines of at most `width` columns. A longer
/// word (a case's spelling, a path) is broken too, where possible after one of
/// its separators.
pub(crate) fn wrap(text: &str, width: usize) -> Vec<String> {
    let width = width.max(1);
    let mut lines = Vec::new();
    let mut line = String::new();
    // A narrow space within a number does not break.
    for mut word in text.split([' ', '\n']).filter(|word| !word.is_empty()) {
        let joint = usize::from(!line.is_empty());
        if width_of(&line) + joint + width_of(word) > width && !line.is_empty() {
            lines.push(std::mem::take(&mut line));
        }
        let mut left = columns(word);
        while left > width {
            let (head, tail) = word.split_at(break_at(word, width));
            lines.push(head.to_owned());
            left -= columns(head);
            word = tail;
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    if !line.is_empty() || lines.is_empty() {
        lines.push(line);
    }
    lines
}

/// Columns, counted so that the parts of a word have those of the whole.
fn columns(word: &str) -> usize {
    word.chars().map(|c| c.width().unwrap_or(0)).sum()
}

/// The byte after which a word wider than `width` is broken.
fn break_at(word: &str, width: usize) -> usize {
    let (mut last, mut weak, mut strong, mut taken) = (0, 0, 0, 0);
    for (at, c) in word.char_indices() {
        let end = at + c.len_utf8();
        taken += c.width().unwrap_or(0);
        if taken > width {
            break;
        }
        last = end;
        match c {
            '/' | '?' | '&' | ':' | ',' => strong = end,
            '-' => weak = end,
            _ => {}
        }
    }
    let first = word.chars().next().map_or(1, char::len_utf8);
    [strong, weak, last].into_iter().find(|&at| at > 0).unwrap_or(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrapping_keeps_every_word_and_the_width() {
        let text =
            "roundtrip/tcp?payload=64&boundary=process failed: 文字 are wide, and so it goes";
        for width in 1..40 {
            let lines = wrap(text, width);
            // A wide character cannot be halved.
            assert!(lines.iter().all(|line| width_of(line) <= width.max(2)), "{width}: {lines:?}");
            let letters = |s: &str| s.chars().filter(|c| !c.is_whitespace()).collect::<String>();
            assert_eq!(letters(&lines.concat()), letters(text), "{width}");
        }
        assert_eq!(wrap("", 10), [""]);
        assert_eq!(wrap("spin-then-block:block", 18), ["spin-then-block:", "block"]);
        assert_eq!(wrap("spin-then-block:block", 12), ["spin-then-", "block:block"]);
    }

    #[test]
    fn nothing_from_elsewhere_reaches_the_terminal_as_a_command() {
        let unicode = TextStyle::plain(80);
        assert_eq!(unicode.clean("a\x1b[31mb\nc\u{9b}d"), "a [31mb c d");
        assert_eq!(unicode.clean("a\u{202e}b\u{2066}"), "a b ");
        let ascii = TextStyle { charset: Charset::Ascii, ..unicode };
        assert_eq!(ascii.clean("≤ 3 µs × 文"), "<= 3 us x ?");
    }
}
