//! Pieces of markup that several sections share.

use hopcost_model::finding::{Finding, Severity, Validity};
use hopcost_model::results::{CaseResult, Estimate, Results, Status};

use crate::chart::model::{Chart, Table};
use crate::chart::{self, Heading};
use crate::markup::{Esc, put};
use crate::number::{self, DIGITS_MAX, Shown, UNICODE};

/// What a cell without a value shows.
pub(super) const NONE: &str = "<td class=\"n none\">–</td>";

/// A section's start; closed by `</section>`.
pub(super) fn section(out: &mut String, id: &str, heading: &str, lead: &str) {
    put!(out, "<section id=\"{id}\">\n<h2>{}</h2>\n", Esc(heading));
    if !lead.is_empty() {
        put!(out, "<p class=\"lead\">{}</p>\n", Esc(lead));
    }
}

/// A chart, with its table folded underneath where asked for.
pub(super) fn figure(out: &mut String, drawn: &Chart, heading: Heading, twin: Twin) {
    put!(out, "<figure>{}", chart::element(drawn, heading));
    if twin == Twin::Folded {
        put!(
            out,
            "<details class=\"twin\"><summary>Numbers of this chart<span class=\"unseen\">: {}</span></summary>",
            Esc(&drawn.title)
        );
        table(out, &drawn.table);
        out.push_str("</details>");
    }
    out.push_str("</figure>\n");
}

/// Whether a chart brings its table along.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Twin {
    /// Folded under the chart.
    Folded,
    /// A fuller table stands beside it.
    Elsewhere,
}

fn table(out: &mut String, table: &Table) {
    out.push_str("<div class=\"scroll\"><table><thead><tr>");
    let class = |i: usize| if i < table.words { "" } else { " class=\"n\"" };
    for (i, column) in table.columns.iter().enumerate() {
        put!(out, "<th scope=\"col\"{}>{}</th>", class(i), Esc(column));
    }
    out.push_str("</tr></thead><tbody>\n");
    for row in &table.rows {
        out.push_str("<tr>");
        for (i, cell) in row.iter().enumerate() {
            put!(out, "<td{}>{}</td>", class(i), Esc(cell));
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody></table></div>");
}

/// A duration as a table cell: digits right, unit in a column of its own.
pub(super) fn time_cell(ns: f64, digits: u8) -> String {
    let Shown { value, unit, .. } = number::quantity(ns, digits, UNICODE);
    format!("<td class=\"n\" data-v=\"{ns}\">{value}<i>{unit}</i></td>")
}

/// An estimate as two cells: value and interval.
pub(super) fn estimate_cells(out: &mut String, estimate: Option<&Estimate>) {
    let Some(estimate) = estimate else {
        put!(out, "{NONE}{NONE}");
        return;
    };
    let why = estimate.insufficient.as_deref().unwrap_or("no interval");
    let shown = number::estimate(estimate, DIGITS_MAX, UNICODE);
    match estimate.point {
        Some(point) => {
            let Shown { value, unit, .. } = &shown;
            let pooled = if estimate.pooled { "<small>pooled</small> " } else { "" };
            put!(out, "<td class=\"n\" data-v=\"{point}\">{pooled}{value}<i>{unit}</i></td>");
        }
        None => put!(out, "<td class=\"n none\" title=\"{}\">–</td>", Esc(why)),
    }
    match shown.interval {
        Some(interval) => {
            let level = estimate.level.map_or(String::new(), |level| {
                let (level, n) = (number::percent(level), estimate.n_trials);
                format!(" title=\"covers with {level}, {n} trials\"")
            });
            let wide = if number::is_wide(estimate) { "<small>wide</small> " } else { "" };
            put!(out, "<td class=\"n iv\"{level}>{wide}{interval}</td>");
        }
        None => put!(out, "<td class=\"n none\" title=\"{}\">–</td>", Esc(why)),
    }
}

/// A validity as a word.
pub(super) fn validity(validity: Validity) -> String {
    let word = validity.word();
    format!("<span class=\"v-{word}\">{word}</span>")
}

/// The word for a severity and the class it is set in.
pub(super) fn severity(severity: Severity) -> (&'static str, &'static str) {
    match severity {
        Severity::Note => ("note", "v-note"),
        Severity::Suspect => ("suspect", "v-suspect"),
        Severity::Invalid => ("invalid", "v-invalid"),
    }
}

/// The word for what became of a case.
pub(super) fn status(status: Status) -> &'static str {
    match status {
        Status::Measured => "measured",
        Status::Skipped => "skipped",
        Status::Failed => "failed",
    }
}

/// Where the findings of this code and severity stand on the page.
pub(super) fn finding_id(finding: &Finding) -> String {
    format!("finding-{}-{}", finding.code, severity(finding.severity).0)
}

/// Links to the findings, one a code and severity.
pub(super) fn finding_links(findings: &[Finding]) -> String {
    let link =
        |f: &Finding| format!("<a class=\"code\" href=\"#{}\">{}</a>", finding_id(f), f.code);
    let mut links: Vec<String> = findings.iter().map(link).collect();
    links.dedup();
    links.join(" ")
}

/// A link to a case's details, by its id; the id alone if there is no such case.
pub(super) fn case_link(results: &Results, id: &str) -> String {
    match results.results.iter().position(|case| case.id == id) {
        Some(index) => format!("<a class=\"case\" href=\"#case-{index}\">{}</a>", Esc(id)),
        None => format!("<span class=\"case\">{}</span>", Esc(id)),
    }
}

/// Trials that succeeded, of those that were tried.
pub(super) fn trials(case: &CaseResult) -> String {
    match case.n_failed {
        0 => case.n_trials.to_string(),
        failed => format!("{} of {}", case.n_trials, case.n_trials + failed),
    }
}

/// A command to paste. Selecting it takes one click even without the script.
pub(super) fn command(out: &mut String, command: &str) {
    put!(out, "<pre class=\"command\"><code>{}</code></pre>\n", Esc(command));
}

/// A row of a list of facts.
pub(super) fn fact(out: &mut String, name: &str, value: &str) {
    put!(out, "<div><dt>{}</dt><dd>{}</dd></div>\n", Esc(name), Esc(value));
}
