//! The report of a fleet in every format.

use hopcost_model::results::FleetReport;

use crate::section::fleet::{self, PAGE, SCREEN, WHOLE};
use crate::style::TextStyle;
use crate::{html, markdown, text as terminal};

/// On one screen.
pub fn text(found: &FleetReport, style: &TextStyle) -> String {
    terminal::document(&fleet::document(found, SCREEN), style)
}

/// All of it as text.
pub fn details(found: &FleetReport, style: &TextStyle) -> String {
    terminal::document(&fleet::document(found, WHOLE), style)
}

pub fn markdown(found: &FleetReport) -> String {
    markdown::document(&fleet::document(found, WHOLE))
}

/// As a page.
pub fn html(found: &FleetReport) -> String {
    let document = fleet::document(found, PAGE);
    html::page(&document, &document.title, env!("CARGO_PKG_VERSION"), "")
}
