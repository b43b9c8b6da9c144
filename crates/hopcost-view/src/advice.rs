//! A recommendation in every format but JSON.

use hopcost_model::results::Advice;

use crate::section::advice::{screen, whole};
use crate::style::TextStyle;
use crate::{html, markdown, text as terminal};

/// As text, on one screen.
pub fn text(advice: &Advice, style: &TextStyle) -> String {
    terminal::document(&screen(advice), style)
}

/// As Markdown.
pub fn markdown(advice: &Advice) -> String {
    markdown::document(&whole(advice))
}

/// As one HTML file.
pub fn html(advice: &Advice) -> String {
    let document = whole(advice);
    html::page(&document, &document.title, env!("CARGO_PKG_VERSION"), "")
}
