//! What the words and numbers of a report mean.

use hopcost_model::results::Results;

use super::model::{Block, Medium, Section};

/// What is particular to this run.
pub(super) fn section(results: &Results, medium: Medium) -> Option<Section> {
    let marks = (medium != Medium::Page)
        .then(|| "!: a finding casts more doubt on the row than on the run as a whole.".to_owned());
    Section::of("reading", [Block::List([horizon(results)].into_iter().chain(marks).collect())])
}

/// What the intervals are of.
fn horizon(results: &Results) -> String {
    let of = match results.yardsticks.is_empty() {
        false => {
            "An interval predicts the median of the next run of this length on this machine, with \
             a nominal 95 %. It allows for trials that depend on each other; \
             docs/evidence/tests.md says how often it held. Intervals of multiples, lines and \
             differences are of this run's rounds."
        }
        true => {
            "This file has no speed probes: its intervals come from order statistics of the trials \
             and describe this run, not the next."
        }
    };
    of.to_owned()
}
