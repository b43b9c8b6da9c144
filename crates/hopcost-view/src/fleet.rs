//! The report of a fleet in every format.

use hopcost_model::results::{FleetHost, FleetReport};

use crate::section::fleet::{self, PAGE, SCREEN, WHOLE};
use crate::section::fleet_host;
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

/// As Markdown.
pub fn markdown(found: &FleetReport) -> String {
    markdown::document(&fleet::document(found, WHOLE))
}

/// As a page, which leads to `hosts/NAME.html`.
pub fn html(found: &FleetReport) -> String {
    let document = fleet::document(found, PAGE);
    html::page(&document, &document.title, env!("CARGO_PKG_VERSION"), "")
}

/// The page of one host.
pub fn host_html(found: &FleetReport, host: &FleetHost) -> String {
    let document = fleet_host::document(found, host);
    html::page(&document, &document.title, env!("CARGO_PKG_VERSION"), "")
}
