//! Text on a drawing: how wide it is, how it is cut, how it is written.

use crate::markup::{Esc, Px, put};
use crate::style::wrap;

/// Size of the texts of a drawing.
pub(super) const TEXT: f64 = 12.0;

/// Width of most letters, in multiples of their size.
const LETTER: f64 = 0.62;

/// Writes words of a class at a place, if there are any.
pub(super) fn text(out: &mut String, class: &str, x: f64, y: f64, words: &str) {
    if words.is_empty() {
        return;
    }
    let class = if class.is_empty() { String::new() } else { format!(r#" class="{class}""#) };
    put!(out, r#"<text{class} x="{}" y="{}">{}</text>"#, Px(x), Px(y), Esc(words));
}

/// Estimated width in pixels of a text set in a common sans-serif face. On the
/// generous side (that of DejaVu Sans), since the face is the reader's.
pub(super) fn width(text: &str, size: f64) -> f64 {
    let em: f64 = text
        .chars()
        .map(|c| match c {
            'i' | 'j' | 'l' | '.' | ',' | ':' | ';' | '|' | '\'' | '!' => 0.30,
            'f' | 't' | 'r' | '(' | ')' | ' ' | '-' | '/' => 0.38,
            'm' | 'w' | 'M' | 'W' | '%' | '@' => 0.92,
            'A'..='Z' | '<' | '>' | '=' | '+' | '…' => 0.72,
            c if (c as u32) < 0x1100 => LETTER,
            _ => 1.05,
        })
        .sum();
    em * size
}

/// The text, without its middle where it is wider than `room`: the names of rows differ at the end.
pub(super) fn fit(text: &str, size: f64, room: f64) -> String {
    let fits = |text: &String| width(text, size) <= room;
    let letters: Vec<char> = text.chars().collect();
    let cut = |kept: usize| {
        let (head, tail) = (&letters[..kept.div_ceil(2)], &letters[letters.len() - kept / 2..]);
        head.iter().chain(&['…']).chain(tail).collect()
    };
    let cuts = (0..letters.len()).rev().map(cut);
    std::iter::once(text.to_owned()).chain(cuts).find(fits).unwrap_or_default()
}

/// The text broken between words into lines that fit into `room`.
pub(super) fn lines(text: &str, size: f64, room: f64) -> Vec<String> {
    wrap(text, (room / (LETTER * size)) as usize)
}
