//! The findings, by code and severity: what was seen and what can be done.

use hopcost_model::finding::{Code, Finding, Severity};
use hopcost_model::group::grouped;
use hopcost_model::text::count;
use hopcost_read::results::Results;

use super::model::{Block, Cell, Fold, Grade, Medium, Rows, Section, says, words};
use super::words::index_of;

/// Findings of one code and severity, worst first as in the results.
struct Kind<'a> {
    code: Code,
    severity: Severity,
    findings: Vec<&'a Finding>,
}

pub(super) fn section(results: &Results, _: Medium) -> Option<Section> {
    let kinds = by_code(&results.findings);
    if kinds.is_empty() {
        let none = "None: no detector saw anything that casts doubt on these numbers.";
        return Section::of("findings", [says(none)]);
    }
    let told = kinds.iter().map(|kind| kind.fold(all(kind, results)));
    Section::of("findings", told)
}

/// The findings by code and severity, the worst first and, of equally bad ones, what
/// reaches furthest; a note must not be counted under the word for a worse one.
fn by_code(findings: &[Finding]) -> Vec<Kind<'_>> {
    let groups = grouped(findings, |finding| (finding.code, finding.severity));
    let kind = |((code, severity), findings)| Kind { code, severity, findings };
    let mut kinds: Vec<Kind<'_>> = groups.into_iter().map(kind).collect();
    let reach = |kind: &Kind<'_>| match kind.findings.iter().any(|f| f.case.is_none()) {
        true => usize::MAX,
        false => kind.findings.len(),
    };
    // Stable: what reaches as far keeps its order.
    kinds.sort_by_key(|kind| std::cmp::Reverse((kind.severity, reach(kind))));
    kinds
}

impl Kind<'_> {
    fn fold(&self, blocks: Vec<Block>) -> Block {
        Block::Fold(Fold {
            id: finding_id(self.code, self.severity),
            open: self.severity > Severity::Note,
            brief: vec![
                Cell::grade(self.severity),
                Cell::code(self.code.word()),
                Cell::text(self.reach()),
                Cell::text(self.code.means()),
            ],
            blocks,
        })
    }

    /// How far it reaches (`8 cases`, `the whole run`).
    fn reach(&self) -> String {
        let mut cases: Vec<&str> = self.findings.iter().filter_map(|f| f.case.as_deref()).collect();
        cases.sort_unstable();
        cases.dedup();
        let whole = self.findings.iter().any(|finding| finding.case.is_none());
        match (whole, cases.len()) {
            (true, 0) => "the whole run".to_owned(),
            (true, n) => format!("the whole run, and {}", count(n, "case")),
            (false, n) => count(n, "case"),
        }
    }
}

/// Where the findings of this code and severity stand in a document.
pub(crate) fn finding_id(code: Code, severity: Severity) -> String {
    format!("finding-{code}-{}", Grade::from(severity).word())
}

/// Every finding; a remedy that is not that of its code follows it.
fn all(kind: &Kind<'_>, results: &Results) -> Vec<Block> {
    let remedy = kind.code.remedy();
    let table = Rows::of(&kind.findings)
        .column(words("case"), |finding| match &finding.case {
            Some(id) => Cell::code(id.clone()).of(index_of(results, id)),
            None => Cell::text("the whole run"),
        })
        .column(words("evidence"), |finding| Cell::text(finding.evidence.clone()))
        .column(words("remedy"), |finding| match finding.remedy == remedy {
            true => Cell::none(),
            false => Cell::text(finding.remedy.clone()),
        });
    vec![says(format!("Remedy: {remedy}")), table.table()]
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
            by_code(&all).iter().map(|kind| (kind.severity, kind.reach())).collect();
        let want = [(Severity::Suspect, "1 case"), (Severity::Note, "2 cases")];
        assert_eq!(groups, want.map(|(severity, reach)| (severity, reach.to_owned())));
    }
}
