//! A gate as text, as Markdown for a pull request, and as JUnit XML.

use hopcost_model::results::{Decision, Gate, GatedCase, Outcome, Undecided};

use crate::markup::{Esc, put};
use crate::section::gate::{document, why};
use crate::style::TextStyle;
use crate::{markdown, text as terminal};

/// As text.
pub fn text(gate: &Gate, style: &TextStyle) -> String {
    terminal::document(&document(gate), style)
}

/// As Markdown.
pub fn markdown(gate: &Gate) -> String {
    markdown::document(&document(gate))
}

/// What JUnit has for a case that did not simply pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Element {
    Failure,
    Error,
    Skipped,
}

impl Element {
    const fn name(self) -> &'static str {
        match self {
            Element::Failure => "failure",
            Element::Error => "error",
            Element::Skipped => "skipped",
        }
    }
}

fn element(gate: &Gate, of: &GatedCase) -> Option<Element> {
    match of.decision(gate.margin) {
        Decision::Unmeasured => Some(Element::Error),
        _ if gate.outcome() == Outcome::Invalid => Some(Element::Error),
        Decision::Regression => Some(Element::Failure),
        open if open.is_open() => Some(match gate.undecided {
            Undecided::Fail => Element::Failure,
            Undecided::Pass => Element::Skipped,
        }),
        _ => None,
    }
}

/// As JUnit XML: a test case a case.
pub fn junit(gate: &Gate) -> String {
    let elements: Vec<Option<Element>> = gate.cases.iter().map(|of| element(gate, of)).collect();
    let of = |one| elements.iter().filter(|element| **element == Some(one)).count();
    let counts = format!(
        "name=\"hopcost gate\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\"",
        gate.cases.len(),
        of(Element::Failure),
        of(Element::Error),
        of(Element::Skipped)
    );
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    put!(out, "<testsuites {counts}>\n<testsuite {counts}>\n");
    for (of, element) in gate.cases.iter().zip(&elements) {
        put!(out, "<testcase classname=\"hopcost.gate\" name=\"{}\"", Esc(&of.first.case));
        let Some(element) = element else {
            out.push_str("/>\n");
            continue;
        };
        let why: Vec<String> = gate.invalid.iter().cloned().chain(why(of, gate.margin)).collect();
        let (name, why) = (element.name(), why.join(" "));
        let kind = of.decision(gate.margin).word();
        put!(out, ">\n<{name} message=\"{}\"", Esc(&format!("{kind}: {why}")));
        // `skipped` has a message and no type.
        if *element != Element::Skipped {
            put!(out, " type=\"{kind}\"");
        }
        put!(out, "/>\n</testcase>\n");
    }
    put!(out, "<system-out>{}</system-out>\n", Esc(&text(gate, &TextStyle::plain(100))));
    out.push_str("</testsuite>\n</testsuites>\n");
    out
}

#[cfg(test)]
mod tests {
    use hopcost_model::results::{Compared, Verdict};

    use super::*;

    const CASE: &str = "roundtrip/pipe?payload=64&place=same-cpu";

    fn compared(verdict: Verdict, ratio: f64) -> Compared {
        Compared {
            case: CASE.to_owned(),
            verdict,
            ratio: Some(ratio),
            low: Some(ratio - 0.01),
            high: Some(ratio + 0.01),
            coverage: 0.95,
            value_ns: Some(2_000.0),
            n_blocks: 20,
            blocks_to_decide: Some(80),
            seconds_to_decide: Some(33.2),
            deciles: Vec::new(),
            runs: None,
        }
    }

    fn gate(cases: &[(Verdict, Option<Verdict>)], undecided: Undecided) -> Gate {
        let case = |(first, again): &(Verdict, Option<Verdict>)| GatedCase {
            first: compared(*first, 1.2),
            again: again.map(|verdict| compared(verdict, 1.19)),
        };
        let cases = cases.iter().map(case).collect();
        let sides = "Baseline: 5 runs.".to_owned();
        Gate { margin: 0.05, sides, cases, invalid: Vec::new(), undecided }
    }

    const ALL: &[(Verdict, Option<Verdict>)] = &[
        (Verdict::Equivalent, None),
        (Verdict::Faster, None),
        (Verdict::Inconclusive, None),
        (Verdict::Slower, Some(Verdict::Inconclusive)),
        (Verdict::Slower, Some(Verdict::Slower)),
    ];

    #[test]
    fn a_regression_is_one_that_was_measured_twice() {
        use Outcome::{Inconclusive, Invalid, Passed, Regression, Unmeasured};
        for (cases, passes, strict) in [
            (&ALL[..2], Passed, Passed),
            (&ALL[..3], Passed, Inconclusive),
            (&ALL[3..4], Passed, Inconclusive),
            (ALL, Regression, Regression),
        ] {
            assert_eq!(gate(cases, Undecided::Pass).outcome(), passes);
            assert_eq!(gate(cases, Undecided::Fail).outcome(), strict);
        }
        let mut wide = gate(&ALL[2..3], Undecided::Fail);
        wide.cases[0].first.high = Some(1.06);
        assert_eq!(wide.outcome(), Inconclusive);
        wide.cases[0].first.high = Some(1.04);
        assert_eq!(wide.cases[0].decision(0.05), Decision::NotSlower);
        assert_eq!(wide.outcome(), Passed);
        let mut all = gate(ALL, Undecided::Pass);
        all.invalid.push("the build is slow".to_owned());
        assert_eq!(all.outcome(), Invalid);
        all.cases[0].first.ratio = None;
        assert_eq!(all.outcome(), Unmeasured);
    }

    #[test]
    fn the_worst_stands_first() {
        let shown = text(&gate(ALL, Undecided::Pass), &TextStyle::plain(100));
        let at = |word: &str| shown.find(word).unwrap_or_else(|| panic!("{word}: {shown}"));
        assert!(shown.starts_with("hopcost · gate · failed: 1 regression · 5 cases"), "{shown}");
        let order = ["\n  regression", "\n  not confirmed", "\n  inconclusive", "\n  improvement"];
        assert!(order.map(at).is_sorted(), "{shown}");
        let summary = markdown(&gate(ALL, Undecided::Pass));
        assert!(
            summary.starts_with("# hopcost") && summary.contains("| regression |"),
            "{summary}"
        );
    }

    #[test]
    fn junit_has_a_test_case_a_case_and_nothing_breaks_out() {
        let xml = junit(&gate(ALL, Undecided::Pass));
        assert!(xml.contains("tests=\"5\" failures=\"1\" errors=\"0\" skipped=\"2\""), "{xml}");
        assert_eq!(xml.matches("<testcase ").count(), 5);
        assert!(xml.contains("name=\"roundtrip/pipe?payload=64&amp;place=same-cpu\""), "{xml}");
        assert!(junit(&gate(ALL, Undecided::Fail)).contains("failures=\"3\""));
        let mut hostile = gate(ALL, Undecided::Pass);
        hostile.cases[4].first.case = "a\"/><b>\u{0}]]>".to_owned();
        hostile.invalid.push("<c>".to_owned());
        let xml = junit(&hostile);
        assert!(xml.contains("errors=\"5\""), "{xml}");
        assert!(!xml.contains("<b>") && !xml.contains("<c>") && !xml.contains('\u{0}'), "{xml}");
    }
}
