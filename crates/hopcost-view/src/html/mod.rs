//! The report as one HTML file: no network, readable without scripts, on paper
//! and on dark screens. A strict content security policy admits the one style
//! sheet and the one script by their hashes and nothing else.

mod blocks;
mod cells;
#[cfg(test)]
mod tests;

use hopcost_read::results::{CaseResult, Results};

use crate::chart;
use crate::chart::palette::{Ground, properties};
use crate::markup::{Esc, put};
use crate::section::{
    self,
    model::{Block, Document, Medium, Section},
};

/// The page's own style sheet; the charts' comes from `chart`.
pub(crate) const CSS: &str = include_str!("report.css");
const SCRIPT: &str = include_str!("report.js");

/// SHA-256 of what [`style`] returns. A test recomputes both.
const STYLE_HASH: &str = "sha256-uvzjSUK4xhAvz1APZ7dAc/bBDx+Rj5egTomWPlEQ7Zs=";
/// SHA-256 of the script.
const SCRIPT_HASH: &str = "sha256-QsyYmpeGCrAwUl88Y4cOtzwLx6q3tJhQLpRwm4yM2LA=";

/// The whole report.
pub fn report(results: &Results) -> String {
    let facets = results.results.iter().map(facets).collect::<Vec<_>>().join("\n");
    Document { facets, ..section::report(results, Medium::Page, None) }.html()
}

impl Document {
    /// As one page.
    pub fn html(&self) -> String {
        let cases = self.facets.as_str();
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
            env!("CARGO_PKG_VERSION")
        );
        let title = Esc(&self.title);
        put!(out, "<title>{title}</title>\n<style>{}</style>\n</head>\n<body>\n", style());
        put!(out, "<header>\n<h1>{title}</h1>\n");
        blocks::head(&mut out, self);
        put!(out, "</header>\n");
        nav(&mut out, &self.sections, cases);
        put!(out, "<main>\n");
        let open = unfolded(&self.sections);
        for (at, section) in self.sections.iter().enumerate() {
            // Without cases there is little, and all of it is the answer.
            blocks::section(&mut out, section, cases.is_empty() || open.contains(&at));
        }
        put!(out, "</main>\n<script>{SCRIPT}</script>\n</body>\n</html>\n");
        out
    }
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

/// The sections that are unfolded from the beginning, by their place: the verdicts on claims, or else
/// the answer, with what stands before it, and the first table after it.
fn unfolded(sections: &[Section]) -> Vec<usize> {
    let is_table = |block: &Block| matches!(block, Block::Table(table) if !table.rows.is_empty());
    let is_answer = |section: &Section| ["answer", "document"].contains(&section.id.as_str());
    // Verdicts are the answer of a run that was made for them.
    let is_verdict =
        |section: &Section| section.id == "judged" || section.id.starts_with("claims-");
    let any_verdict = sections.iter().any(is_verdict);
    let mut others = sections.iter().filter(|section| !is_answer(section));
    let first = others.find(|section| section.blocks.iter().any(is_table)).map(|of| &of.id);
    let is_open = |section: &Section| match any_verdict {
        true => is_verdict(section),
        false => is_answer(section) || Some(&section.id) == first,
    };
    (0..sections.len()).filter(|at| is_open(&sections[*at])).collect()
}

/// The list of sections, and the filter, which is empty until the script fills it.
fn nav(out: &mut String, sections: &[Section], cases: &str) {
    put!(out, "<nav aria-label=\"Contents\"><details open><summary>Contents</summary>\n<ul>\n");
    for section in sections {
        put!(out, "<li><a href=\"#{}\">{}</a></li>\n", section.id, Esc(&section.title));
    }
    put!(out, "</ul>\n<form class=\"filter\" data-cases=\"{}\" hidden></form>\n", Esc(cases));
    put!(out, "</details></nav>\n");
}

/// What a case is filtered by: mechanism, boundary, placement and wait, in the order of its
/// number; what it has not is empty.
fn facets(case: &CaseResult) -> String {
    let parts = &case.case;
    let placement = parts.placement.map_or("", |placement| placement.word());
    let wait = parts.wait.as_deref().unwrap_or_default();
    [parts.mechanism.as_str(), parts.boundary.word(), placement, wait].join("\t")
}
