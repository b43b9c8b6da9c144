//! The findings, by code and severity: what was seen and what can be done.

use hopcost_model::group::{distinct, grouped};
use hopcost_model::text::count;
use hopcost_model::{Code, Finding, Severity};
use hopcost_read::results::Results;

use super::model::{Block, Cell, Fold, Medium, Rows, Section, says, words};
use super::words::index_of;

/// Findings of one code and severity, worst first as in the results.
type Kind<'a> = ((Code, Severity), Vec<&'a Finding>);

pub(super) fn section(results: &Results, _: Medium) -> Option<Section> {
    let kinds = by_code(&results.findings);
    if kinds.is_empty() {
        let none = "None: no detector saw anything that casts doubt on these numbers.";
        return Section::of("findings", [says(none)]);
    }
    Section::of("findings", kinds.iter().map(|kind| fold(kind, results)))
}

/// The findings by code and severity: a note must not be counted under the word for a worse one.
fn by_code(findings: &[Finding]) -> Vec<Kind<'_>> {
    grouped(findings, |finding| (finding.code, finding.severity))
}

/// How far findings reach (`8 cases`, `the whole run`).
fn reach(findings: &[&Finding]) -> String {
    let cases = distinct(findings.iter().filter_map(|finding| finding.case.as_deref()));
    let whole = findings.iter().any(|finding| finding.case.is_none());
    match (whole, cases.len()) {
        (true, 0) => "the whole run".to_owned(),
        (true, n) => format!("the whole run, and {}", count(n, "case")),
        (false, n) => count(n, "case"),
    }
}

/// Where the findings of this code and severity stand in a document.
pub(crate) fn finding_id(code: &str, severity: Severity) -> String {
    format!("finding-{code}-{severity}")
}

/// Every finding; a remedy that is not that of its code follows it.
fn fold(((code, severity), findings): &Kind, results: &Results) -> Block {
    let remedy = code.remedy();
    let table = Rows::of(findings)
        .column(words("case"), |finding| match &finding.case {
            Some(id) => Cell::code(id.clone()).of(index_of(results, id)),
            None => Cell::text("the whole run"),
        })
        .column(words("evidence"), |finding| Cell::text(finding.evidence.clone()))
        .column(words("remedy"), |finding| match finding.remedy == remedy {
            true => Cell::none(),
            false => Cell::text(finding.remedy.clone()),
        });
    let brief = [Cell::code(code.word()), Cell::text(reach(findings)), Cell::text(code.means())];
    Block::Fold(Fold {
        id: finding_id(code.word(), *severity),
        open: *severity > Severity::Note,
        brief: [Cell::severity(*severity)].into_iter().chain(brief).collect(),
        blocks: vec![says(format!("Remedy: {remedy}")), table.table()],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_is_not_counted_under_a_worse_word() {
        let mut findings = crate::stored::worn().findings;
        let case = findings.iter().position(|f| f.severity == Severity::Suspect).expect("one");
        let suspect = Finding { case: Some("c".to_owned()), ..findings.swap_remove(case) };
        let note = |case: &str| Finding {
            severity: Severity::Note,
            case: Some(case.to_owned()),
            ..suspect.clone()
        };
        let all = [suspect.clone(), note("a"), note("b")];
        let groups: Vec<_> =
            by_code(&all).iter().map(|((_, grave), of)| (*grave, reach(of))).collect();
        let want = [(Severity::Suspect, "1 case"), (Severity::Note, "2 cases")];
        assert_eq!(groups, want.map(|(severity, reach)| (severity, reach.to_owned())));
    }
}
