//! The report as one HTML file: no network, readable without scripts, on paper
//! and on dark screens. A strict content security policy admits the one style
//! sheet and the one script by their hashes and nothing else.

mod blocks;
mod cells;
#[cfg(test)]
mod tests;

use crate::chart;
use crate::chart::palette::{Ground, properties};
use crate::markup::{Esc, put};
use crate::section::model::{Block, Document, Section};

/// The page's own style sheet; the charts' comes from `chart`.
pub(crate) const CSS: &str = include_str!("report.css");
const SCRIPT: &str = include_str!("report.js");

/// SHA-256 of what [`style`] returns. A test recomputes both.
const STYLE_HASH: &str = "sha256-dkIHipz0SS2N7stleW1uDLrKroUct2LxYiZzmoLY6r8=";
/// SHA-256 of the script.
const SCRIPT_HASH: &str = "sha256-amQibi0usUC/U3+foObW1x1Z7DuM5dVFnQq5C+VzakM=";

impl Document {
    /// As one page.
    pub fn html(&self) -> String {
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
        nav(&mut out, &self.sections);
        put!(out, "<main>\n");
        let open = unfolded(&self.sections);
        for (at, section) in self.sections.iter().enumerate() {
            // Without a banner there is little, and all of it is the answer.
            blocks::section(&mut out, section, self.banner.is_empty() || open.contains(&at));
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

/// The sections that are unfolded from the beginning, by their place: verdicts on claims, the answer,
/// and the first table after it.
fn unfolded(sections: &[Section]) -> Vec<usize> {
    let is_table = |block: &Block| matches!(block, Block::Table(table) if !table.rows.is_empty());
    let is_answer = |section: &Section| {
        let answers = ["answer", "document", "judged"];
        answers.contains(&section.id.as_str()) || section.id.starts_with("claims-")
    };
    let has_table = |section: &Section| section.blocks.iter().any(is_table);
    let first = sections.iter().position(|of| !is_answer(of) && has_table(of));
    (0..sections.len()).filter(|at| is_answer(&sections[*at]) || Some(*at) == first).collect()
}

/// The list of sections.
fn nav(out: &mut String, sections: &[Section]) {
    put!(out, "<nav aria-label=\"Contents\"><details open><summary>Contents</summary>\n<ul>\n");
    for section in sections {
        put!(out, "<li><a href=\"#{}\">{}</a></li>\n", section.id, Esc(&section.title));
    }
    put!(out, "</ul>\n</details></nav>\n");
}
