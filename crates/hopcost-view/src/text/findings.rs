//! The findings, one paragraph a code and severity.

use hopcost_model::finding::{Code, Finding, Severity, Validity};
use hopcost_model::results::Results;

use super::cells::paint_of;
use crate::style::{Paint, TextStyle};

/// Lines that findings told in full may take.
const LINES_FULL: usize = 18;
/// Lines that all of them may take; what is left out is named.
const LINES_MAX: usize = 26;

/// Findings of one code and severity, worst first as in the results.
pub(crate) struct ByCode<'a> {
    pub code: Code,
    pub severity: Severity,
    pub worst: &'a Finding,
    pub findings: Vec<&'a Finding>,
}

/// Groups findings by code and severity, the worst first and, of equally bad ones,
/// what reaches furthest; a note must not be counted under the word for a worse one.
pub(crate) fn by_code(findings: &[Finding]) -> Vec<ByCode<'_>> {
    let mut groups: Vec<ByCode<'_>> = Vec::new();
    for finding in findings {
        match groups
            .iter_mut()
            .find(|group| (group.code, group.severity) == (finding.code, finding.severity))
        {
            Some(group) => group.findings.push(finding),
            None => groups.push(ByCode {
                code: finding.code,
                severity: finding.severity,
                worst: finding,
                findings: vec![finding],
            }),
        }
    }
    let reach = |group: &ByCode<'_>| match group.findings.iter().any(|f| f.case.is_none()) {
        true => usize::MAX,
        false => group.findings.len(),
    };
    // Stable: what reaches as far keeps its order.
    groups.sort_by_key(|group| std::cmp::Reverse((group.severity, reach(group))));
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
    let (mut told_in_brief, mut left_out) = (0, Vec::new());
    for (index, group) in groups.iter().enumerate() {
        let (full, brief) = (paragraph(group, style), brief(group, style));
        let mut fits = |text: &str, most: usize| {
            let fits = lines + text.lines().count() <= most;
            lines += if fits { text.lines().count() } else { 0 };
            fits
        };
        // The worst is always told in full. After the first brief one all are.
        if index == 0 || (told_in_brief == 0 && fits(&full, LINES_FULL)) {
            out.push_str(&full);
            lines = lines.max(full.lines().count());
        } else {
            told_in_brief += 1;
            if fits(&brief, LINES_MAX) {
                out.push_str(&brief);
            } else {
                left_out.push(group.code.word());
            }
        }
    }
    if !left_out.is_empty() {
        style.paragraph(out, "  ", "  ", &format!("Also: {}.", left_out.join(", ")));
    }
    if told_in_brief > 0 {
        let text = format!("Evidence and remedies of the last {told_in_brief}: see the report.");
        style.paragraph(out, "  ", "  ", &text);
    }
}

/// A code with its meaning alone.
fn brief(group: &ByCode<'_>, style: &TextStyle) -> String {
    let mut out = String::new();
    let text =
        format!("{} {}, {}: {}", severity(group).0, group.code, reach(group), group.code.means());
    style.paragraph(&mut out, "  ", "    ", &text);
    out
}

/// How bad a group is, and how that looks.
fn severity(group: &ByCode<'_>) -> (&'static str, Paint) {
    match Validity::from(group.severity) {
        Validity::Valid => ("note", Paint::Plain),
        other => (other.word(), paint_of(Some(other))),
    }
}

fn paragraph(group: &ByCode<'_>, style: &TextStyle) -> String {
    let (severity, paint) = severity(group);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_is_not_counted_under_a_worse_word() {
        let mut findings = crate::fixture::example_results().findings;
        let case = findings.iter().position(|f| f.severity == Severity::Suspect).expect("one");
        let suspect = findings.swap_remove(case);
        let note = |case: &str| Finding {
            severity: Severity::Note,
            case: Some(case.to_owned()),
            ..suspect.clone()
        };
        let all = [suspect.clone(), note("a"), note("b")];
        let groups: Vec<_> =
            by_code(&all).iter().map(|group| (group.severity, reach(group))).collect();
        let want = [(Severity::Suspect, "1 case"), (Severity::Note, "2 cases")];
        assert_eq!(groups, want.map(|(severity, reach)| (severity, reach.to_owned())));
    }
}
