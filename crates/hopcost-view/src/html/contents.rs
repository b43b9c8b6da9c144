//! What stands beside the sections: their list, and the filter of the rows of all tables.

use hopcost_model::results::{CaseResult, Results};

use crate::markup::{Esc, put};
use crate::section::model::{Block, Section};

/// What a run found, on one screen, and the table of the document that its suite is about.
const ANSWER: [&str; 2] = ["answer", "document"];

/// The sections that are unfolded from the beginning, by their place: the verdicts on claims, or else the answer, with what
/// stands before it, and the first table after it.
pub(super) fn unfolded(sections: &[Section]) -> Vec<usize> {
    let has_table = |section: &Section| {
        section
            .blocks
            .iter()
            .any(|block| matches!(block, Block::Table(table) if !table.rows.is_empty()))
    };
    let is_answer = |section: &Section| ANSWER.contains(&section.id.as_str());
    // Verdicts are the answer of a run that was made for them.
    let is_verdict =
        |section: &Section| section.id == "judged" || section.id.starts_with("claims-");
    if sections.iter().any(is_verdict) {
        return (0..sections.len()).filter(|at| is_verdict(&sections[*at])).collect();
    }
    let first = sections.iter().position(|section| !is_answer(section) && has_table(section));
    (0..sections.len()).filter(|at| is_answer(&sections[*at]) || Some(*at) == first).collect()
}

/// The list of sections, and the filter, which is empty until the script fills it.
pub(super) fn nav(out: &mut String, sections: &[Section], cases: &str) {
    put!(out, "<nav aria-label=\"Contents\"><details open><summary>Contents</summary>\n<ul>\n");
    for section in sections {
        put!(out, "<li><a href=\"#{}\">{}</a></li>\n", section.id, Esc(&section.title));
    }
    put!(out, "</ul>\n<form class=\"filter\" data-cases=\"{}\" hidden></form>\n", Esc(cases));
    put!(out, "</details></nav>\n");
}

/// What the cases of a run are filtered by, a line each.
pub(super) fn cases(results: &Results) -> String {
    results.results.iter().map(facets).collect::<Vec<_>>().join("\n")
}

/// What a case is filtered by: mechanism, boundary, placement and wait, in the order of its
/// number; what it has not is empty.
fn facets(case: &CaseResult) -> String {
    let parts = &case.case;
    let placement = parts.placement.map_or("", |placement| placement.word());
    let wait = parts.wait.as_deref().unwrap_or_default();
    [parts.mechanism.as_str(), parts.boundary.word(), placement, wait].join("\t")
}
