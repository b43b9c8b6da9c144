//! Every finding with its evidence and remedy, by code and
//! severity.

use hopcost_model::finding::Severity;
use hopcost_model::results::Results;

use super::parts;
use crate::markup::{Esc, put};
use crate::text::{ByCode, by_code, reach};

pub(super) fn write(out: &mut String, results: &Results) {
    parts::section(out, "findings", "Findings", "");
    let groups = by_code(&results.findings);
    if groups.is_empty() {
        put!(out, "<p>None.</p>\n");
    }
    for group in groups {
        one_group(out, results, &group);
    }
    put!(out, "</section>\n");
}

fn one_group(out: &mut String, results: &Results, group: &ByCode<'_>) {
    let code = group.code;
    let (word, class) = parts::severity(group.severity);
    let open = if group.severity > Severity::Note { " open" } else { "" };
    put!(
        out,
        "<details class=\"finding\" id=\"{}\"{open}><summary><span class=\"code\">{code}</span> \
         <span class=\"{class}\">{word}</span> <span class=\"reach\">{}</span> \
         <span class=\"means\">{}</span></summary>\n",
        parts::finding_id(group.worst),
        reach(group),
        Esc(code.means())
    );
    put!(
        out,
        "<p><b>Remedy.</b> {}</p>\n<div class=\"scroll\"><table><tbody>\n",
        Esc(code.remedy())
    );
    for finding in &group.findings {
        let whose = finding
            .case
            .as_deref()
            .map_or("whole run".to_owned(), |id| parts::case_link(results, id));
        let other = if finding.remedy == code.remedy() {
            String::new()
        } else {
            format!(" <b>Remedy.</b> {}", Esc(&finding.remedy))
        };
        put!(out, "<tr><td>{whose}</td><td>{}{other}</td></tr>\n", Esc(&finding.evidence));
    }
    put!(out, "</tbody></table></div></details>\n");
}
