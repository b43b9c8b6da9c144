//! A document as each view writes it.

use crate::section::Document;
use crate::style::TextStyle;
use crate::{html, markdown, text};

impl Document {
    /// For a terminal.
    pub fn text(&self, style: &TextStyle) -> String {
        text::document(self, style)
    }

    pub fn markdown(&self) -> String {
        markdown::document(self)
    }

    /// As one page.
    pub fn html(&self) -> String {
        html::page(self)
    }
}
