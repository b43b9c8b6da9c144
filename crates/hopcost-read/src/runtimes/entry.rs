//! A case on its way into the comparison of runtimes.

use std::collections::BTreeMap;

use hopcost_model::case::{Case, Runtime, Runtimes};
use hopcost_model::document;
use hopcost_model::group::distinct;
use hopcost_model::results::{Estimate, Ratio};

use crate::case::Reading;
use crate::ratio::ratio;

document! {
    /// A mechanism in a runtime.
    pub struct RuntimeCell {
        /// Index into `results`; `null` where the plan has no such case.
        pub result: Option<u32>,
        /// p50, or the cost in batches.
        pub value: Option<Estimate>,
        /// Multiple of Rust's, paired by round.
        pub ratio: Option<Ratio>,
        /// Why there is no value.
        pub missing: Option<String>,
    }
}

/// A case that could be read, and what came of it.
pub struct Entry<'a> {
    /// Without the parameters that have their default.
    pub case: Case,
    /// What came of it.
    pub reading: &'a Reading<'a>,
}

impl Entry<'_> {
    /// The headline by round; empty where it is an upper bound only.
    pub fn by_round(&self) -> BTreeMap<u32, f64> {
        let exact = self.reading.headline().is_some_and(|value| !value.at_most);
        if exact { self.reading.headline_by_round() } else { BTreeMap::new() }
    }

    /// The multiple of another case, paired by round, where both numbers are of one kind.
    fn over(&self, base: &Entry) -> Option<Ratio> {
        let is_like = self.reading.family == base.reading.family;
        is_like.then(|| ratio(base.reading, &self.by_round(), &base.by_round()))?
    }

    /// As a cell, with its multiple of the same in Rust.
    pub fn cell(&self, rust: Option<&Entry>) -> RuntimeCell {
        let reason = self.reading.result.reason.clone();
        RuntimeCell {
            result: Some(self.reading.index),
            value: self.reading.headline().cloned(),
            ratio: rust.and_then(|rust| self.over(rust)),
            missing: reason.filter(|_| !self.reading.is_measured()),
        }
    }

    /// The runtime that both ends are of.
    pub fn runtime(&self) -> Option<&Runtime> {
        let runtimes = &self.case.runtimes;
        (!runtimes.are_mixed()).then_some(&runtimes.caller)
    }
}

/// A cell of nothing.
pub fn empty(why: String) -> RuntimeCell {
    RuntimeCell { result: None, value: None, ratio: None, missing: Some(why) }
}

/// The same case with other runtimes.
pub fn with(case: &Case, runtimes: Runtimes) -> Case {
    Case { runtimes, ..case.clone() }
}

/// Each once: Rust first, the others in the order of the plan.
pub fn in_order<'a>(runtimes: impl Iterator<Item = &'a Runtime>) -> Vec<&'a Runtime> {
    let mut found = distinct(runtimes);
    found.sort_by_key(|runtime| !runtime.is_rust());
    found
}
