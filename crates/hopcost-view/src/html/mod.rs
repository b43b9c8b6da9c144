//! The report as one HTML file: no network, readable without scripts, on paper
//! and on dark screens. A strict content security policy admits the one style
//! sheet and the one script by their hashes and nothing else.

mod blocks;
mod cells;
mod contents;
#[cfg(test)]
mod tests;

use hopcost_model::results::Results;

use crate::chart;
use crate::chart::palette::{Ground, properties};
use crate::markup::{Esc, put};
use crate::section::{
    self,
    model::{Document, Medium},
};

/// The page's own style sheet; the charts' comes from `chart`.
pub(crate) const CSS: &str = include_str!("report.css");
const SCRIPT: &str = include_str!("report.js");

/// SHA-256 of what [`style`] returns. A test recomputes both.
const STYLE_HASH: &str = "sha256-T2C+sYxl3XQaAVABTnFJN0E2rKXf99WgTn+trksly7o=";
/// SHA-256 of the script.
const SCRIPT_HASH: &str = "sha256-pRH7P1Sg+itPbSQdNLJjr6pR9VMmICHyDVWe6a2xTw0=";

/// The whole report.
pub fn report(results: &Results) -> String {
    let document = section::report(results, Medium::Page, None);
    let title = format!("{}, run {}", document.title, results.about.id);
    page(&document, &title, &results.about.version, &contents::cases(results))
}

/// A document as a page, with a filter for the rows of these cases.
pub(crate) fn page(document: &Document, title: &str, version: &str, cases: &str) -> String {
    let mut out = String::with_capacity(512 * 1024);
    put!(
        out,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; \
         style-src '{STYLE_HASH}'; script-src '{SCRIPT_HASH}'; base-uri 'none'; \
         form-action 'none'\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <meta name=\"generator\" content=\"hopcost {}\">\n",
        Esc(version)
    );
    let (title, heading) = (Esc(title), Esc(&document.title));
    put!(out, "<title>{title}</title>\n<style>{}</style>\n</head>\n<body>\n", style());
    put!(out, "<header>\n<h1>{heading}</h1>\n");
    blocks::head(&mut out, &document.head);
    put!(out, "</header>\n");
    contents::nav(&mut out, &document.sections, cases);
    put!(out, "<main>\n");
    let open = contents::unfolded(&document.sections);
    for (at, section) in document.sections.iter().enumerate() {
        // Without cases there is little, and all of it is the answer.
        blocks::section(&mut out, section, cases.is_empty() || open.contains(&at));
    }
    put!(out, "</main>\n<script>{SCRIPT}</script>\n</body>\n</html>\n");
    out
}

/// The style sheet: colours, charts, page. Paper is always light.
fn style() -> String {
    let (light, dark) = (properties(Ground::Paper), properties(Ground::Dark));
    format!(
        ":root{{color-scheme:light dark;{light}}}\n\
         @media screen and (prefers-color-scheme:dark){{:root{{{dark}}}}}\n{}{CSS}",
        chart::CSS
    )
}
