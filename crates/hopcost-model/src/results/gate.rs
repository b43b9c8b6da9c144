//! What a gate decided.

use super::{Compared, Verdict};

/// Cases compared with a baseline, and once more where they looked slower.
#[derive(Debug, Clone, PartialEq)]
pub struct Gate {
    /// Ratios off 1 by no more than this share are those of equals.
    pub margin: f64,
    /// What was compared with what, in a sentence.
    pub sides: String,
    /// Each case.
    pub cases: Vec<GatedCase>,
    /// Why numbers do not count, in sentences.
    pub invalid: Vec<String>,
    /// What becomes of cases that are not decided.
    pub undecided: Undecided,
}

/// What becomes of cases that are not decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Undecided {
    /// They pass.
    Pass,
    /// They fail (`--strict`).
    Fail,
}

/// A case of a gate.
#[derive(Debug, Clone, PartialEq)]
pub struct GatedCase {
    /// What the first comparison found.
    pub first: Compared,
    /// What the second found, where the case looked slower in the first.
    pub again: Option<Compared>,
}

/// What a gate says of a case, the worst first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Decision {
    /// It has no value now.
    Unmeasured,
    /// It is slower, measured twice.
    Regression,
    /// It was slower once and not again.
    Unconfirmed,
    /// That is not known.
    Inconclusive,
    /// It is not slower by more than the margin; whether it is faster is not known.
    NotSlower,
    /// It is faster.
    Improvement,
    /// It takes as long as before.
    Unchanged,
}

/// How a gate ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// Nothing speaks against it.
    Passed,
    /// A case has no value.
    Unmeasured,
    /// A measurement does not count.
    Invalid,
    /// A case is slower.
    Regression,
    /// A case is not decided, where that fails.
    Inconclusive,
}

impl GatedCase {
    /// What is said of it, with this margin.
    pub fn decision(&self, margin: f64) -> Decision {
        let again = self.again.as_ref().map(|again| again.verdict);
        let values = [Some(&self.first), self.again.as_ref()];
        if values.into_iter().flatten().any(|of| of.ratio.is_none()) {
            return Decision::Unmeasured;
        }
        match (self.first.verdict, again) {
            (Verdict::Slower, Some(Verdict::Slower)) => Decision::Regression,
            (Verdict::Slower, _) => Decision::Unconfirmed,
            // All that a gate asks is whether it is slower.
            (Verdict::Inconclusive, _) if self.first.high.is_some_and(|of| of < 1.0 + margin) => {
                Decision::NotSlower
            }
            (Verdict::Inconclusive, _) => Decision::Inconclusive,
            (Verdict::Faster, _) => Decision::Improvement,
            (Verdict::Equivalent, _) => Decision::Unchanged,
        }
    }
}

impl Decision {
    /// Lower-case word.
    pub const fn word(self) -> &'static str {
        match self {
            Decision::Unmeasured => "not measured",
            Decision::Regression => "regression",
            Decision::Unconfirmed => "not confirmed",
            Decision::Inconclusive => "inconclusive",
            Decision::NotSlower => "not slower",
            Decision::Improvement => "improvement",
            Decision::Unchanged => "unchanged",
        }
    }
    /// Whether it leaves open what the case is.
    pub const fn is_open(self) -> bool {
        matches!(self, Decision::Unconfirmed | Decision::Inconclusive)
    }
}

impl Gate {
    /// How it ended.
    pub fn outcome(&self) -> Outcome {
        let any = |is_it: &dyn Fn(Decision) -> bool| {
            self.cases.iter().any(|of| is_it(of.decision(self.margin)))
        };
        match () {
            () if any(&|of| of == Decision::Unmeasured) => Outcome::Unmeasured,
            () if !self.invalid.is_empty() => Outcome::Invalid,
            () if any(&|of| of == Decision::Regression) => Outcome::Regression,
            () if self.undecided == Undecided::Fail && any(&Decision::is_open) => {
                Outcome::Inconclusive
            }
            () => Outcome::Passed,
        }
    }
}
