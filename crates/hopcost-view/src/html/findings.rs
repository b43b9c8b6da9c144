//! Every finding with its evidence and remedy, by code.

use hopcost_model::finding::{Code, Finding, Severity};
use hopcost_model::results::Results;

use super::parts;
use crate::chart::markup::{Esc, put};
use crate::chart::names::count;

pub(super) fn write(out: &mut String, results: &Results) {
    parts::section(out, "findings", "Findings", "");
    let mut codes: Vec<Code> = Vec::new();
    for finding in &results.findings {
        if !codes.contains(&finding.code) {
            codes.push(finding.code);
        }
    }
    if codes.is_empty() {
        put!(out, "<p>None.</p>\n");
    }
    for code in codes {
        let found: Vec<&Finding> = results.findings.iter().filter(|f| f.code == code).collect();
        one_code(out, results, code, &found);
    }
    put!(out, "</section>\n");
}

fn one_code(out: &mut String, results: &Results, code: Code, found: &[&Finding]) {
    let worst = found.iter().map(|f| f.severity).max().unwrap_or(Severity::Note);
    let (word, class) = parts::severity(worst);
    let cases = found.iter().filter(|f| f.case.is_some()).count();
    let reach = match cases {
        0 => "whole run".to_owned(),
        n => count(n, "case", "cases"),
    };
    let open = if worst > Severity::Note { " open" } else { "" };
    put!(
        out,
        "<details class=\"finding\" id=\"finding-{code}\"{open}><summary><span class=\"code\">{code}</span> \
         <span class=\"{class}\">{word}</span> <span class=\"reach\">{reach}</span> \
         <span class=\"means\">{}</span></summary>\n",
        Esc(code.means())
    );
    put!(
        out,
        "<p><b>Remedy.</b> {}</p>\n<div class=\"scroll\"><table><tbody>\n",
        Esc(code.remedy())
    );
    for finding in found {
        let whose = finding
            .case
            .as_deref()
            .map_or("whole run".to_owned(), |id| parts::case_link(results, id));
        // Most findings of a code are equally severe: the summary says how.
        let severity = if finding.severity == worst {
            String::new()
        } else {
            let (word, class) = parts::severity(finding.severity);
            format!("<span class=\"{class}\">{word}</span>: ")
        };
        let other = if finding.remedy == code.remedy() {
            String::new()
        } else {
            format!(" <b>Remedy.</b> {}", Esc(&finding.remedy))
        };
        put!(
            out,
            "<tr><td>{whose}</td><td>{severity}{}{other}</td></tr>\n",
            Esc(&finding.evidence)
        );
    }
    put!(out, "</tbody></table></div></details>\n");
}
