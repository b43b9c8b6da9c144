//! A gate as text, and as Markdown for a pull request.

use hopcost_model::results::Gate;

use crate::section::gate::document;
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

#[cfg(test)]
mod tests {
    use hopcost_model::results::{Compared, Decision, GatedCase, Outcome, Undecided, Verdict};

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
}
