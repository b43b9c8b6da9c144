//! The findings, one paragraph a code.

use hopcost_model::finding::{Code, Finding, Validity};
use hopcost_model::results::Results;

use super::cells::paint_of;
use crate::style::{Paint, TextStyle};

/// Lines that findings may take; what is left out is named.
const LINES_MAX: usize = 25;

/// Findings of one code, worst first as in the results.
pub(crate) struct ByCode<'a> {
    pub code: Code,
    pub worst: &'a Finding,
    pub findings: Vec<&'a Finding>,
}

/// Groups findings by code in the order in which the codes first occur.
pub(crate) fn by_code(findings: &[Finding]) -> Vec<ByCode<'_>> {
    let mut groups: Vec<ByCode<'_>> = Vec::new();
    for finding in findings {
        match groups.iter_mut().find(|group| group.code == finding.code) {
            Some(group) => group.findings.push(finding),
            None => {
                groups.push(ByCode { code: finding.code, worst: finding, findings: vec![finding] })
            }
        }
    }
    groups
}

/// How far a group reaches (`8 cases`, `the whole run`).
pub(crate) fn reach(group: &ByCode<'_>) -> String {
    let mut cases: Vec<&str> = group.findings.iter().filter_map(|f| f.case.as_deref()).collect();
    cases.sort_unstable();
    cases.dedup();
    let whole = group.findings.iter().any(|finding| finding.case.is_none());
    match (whole, cases.len()) {
        (true, 0) => "the whole run".to_owned(),
        (true, n) => format!("the whole run, and {}", count(n)),
        (false, n) => count(n),
    }
}

fn count(n: usize) -> String {
    if n == 1 { "1 case".to_owned() } else { format!("{n} cases") }
}

pub(super) fn write(out: &mut String, results: &Results, style: &TextStyle) {
    let groups = by_code(&results.findings);
    out.push('\n');
    if groups.is_empty() {
        out.push_str("No findings: no detector saw anything that casts doubt on these numbers.\n");
        return;
    }
    out.push_str(&style.paint(Paint::Bold, "Findings"));
    out.push('\n');
    let mut lines = 0;
    for (index, group) in groups.iter().enumerate() {
        let text = paragraph(group, style);
        lines += text.lines().count();
        if index > 0 && lines > LINES_MAX {
            let rest: Vec<String> =
                groups[index..].iter().map(|g| format!("{} ({})", g.code, reach(g))).collect();
            style.paragraph(out, "  and ", "  ", &format!("{}: see the report.", rest.join(", ")));
            return;
        }
        out.push_str(&text);
    }
}

fn paragraph(group: &ByCode<'_>, style: &TextStyle) -> String {
    let severity = match Validity::from(group.worst.severity) {
        Validity::Valid => "note",
        other => other.word(),
    };
    let paint = match severity {
        "note" => Paint::Plain,
        _ => paint_of(Some(Validity::from(group.worst.severity))),
    };
    let mut out = format!(
        "  {} {}, {}\n",
        style.paint(paint, severity),
        style.paint(Paint::Bold, group.code.word()),
        reach(group)
    );
    style.paragraph(&mut out, "    ", "    ", group.code.means());
    let seen = match (&group.worst.case, group.findings.len()) {
        (Some(case), 1) => format!("{case}: {}", group.worst.evidence),
        (Some(case), _) => format!("Worst: {case}: {}", group.worst.evidence),
        (None, _) => group.worst.evidence.clone(),
    };
    style.paragraph(&mut out, "    ", "    ", &seen);
    style.paragraph(&mut out, style.pick("    → ", "   -> "), "      ", &group.worst.remedy);
    out
}
