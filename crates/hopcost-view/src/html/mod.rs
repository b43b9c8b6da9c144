//! The report as one HTML file: no network, readable without scripts, on paper
//! and on dark screens. A strict content security policy admits the one style
//! sheet and the one script by their hashes and nothing else.

mod cases;
mod findings;
mod head;
mod host;
mod ladder;
mod parts;
mod plots;
mod reading;
mod section;
#[cfg(test)]
mod tests;
mod threads;

use hopcost_model::results::Results;

use crate::chart;
use crate::chart::palette::properties;
use crate::markup::{Esc, put};
use crate::section::Detail;

/// The page's own style sheet; the charts' comes from `chart`.
pub(crate) const CSS: &str = include_str!("report.css");
const SCRIPT: &str = include_str!("report.js");

/// SHA-256 of what [`style`] returns. A test recomputes both.
const STYLE_HASH: &str = "sha256-cp3LrHpP/YwEo2CTwsby4DO+zgglQ5XoS48HTZ36E58=";
/// SHA-256 of the script.
const SCRIPT_HASH: &str = "sha256-F8CQl3KM0udo3wTjYzix7POnhQPyVkaEWqEOintbEQM=";

/// The whole report.
pub fn report(results: &Results) -> String {
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
        Esc(&results.about.version)
    );
    put!(
        out,
        "<title>hopcost: {}, run {}</title>\n",
        Esc(&results.plan.suite),
        Esc(&results.about.id)
    );
    put!(out, "<style>{}</style>\n</head>\n<body>\n", style());
    head::write(&mut out, results);
    out.push_str("<main>\n");
    for section in crate::section::runtimes::all(results, Detail::Whole) {
        section::write(&mut out, &section, results);
    }
    ladder::write(&mut out, results);
    for section in crate::section::all(results, Detail::Whole) {
        section::write(&mut out, &section, results);
    }
    plots::swept(&mut out, results);
    plots::percentiles(&mut out, results);
    plots::trials(&mut out, results);
    findings::write(&mut out, results);
    host::write(&mut out, results);
    cases::write(&mut out, results);
    reading::write(&mut out, results);
    put!(out, "</main>\n<script>{SCRIPT}</script>\n</body>\n</html>\n");
    out
}

/// The style sheet: colours, charts, page. Paper is always light.
fn style() -> String {
    let (light, dark) = (properties(|ink| ink.light), properties(|ink| ink.dark));
    format!(
        ":root{{color-scheme:light dark;{light}}}\n\
         @media screen and (prefers-color-scheme:dark){{:root{{{dark}}}}}\n{}{CSS}",
        chart::CSS
    )
}
