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
            "Intervals are for the next run as long as this one on this machine: they are to hold \
             its median with a nominal 95 %, and allow for trials that depend on each other. How \
             often they did is in docs/evidence/tests.md. That of a multiple, a line or a \
             difference is of this run's rounds."
        }
        true => {
            "This file has no yardsticks: intervals, from order statistics of the trials, cover \
             this run in the states that it met, not the next run."
        }
    };
    of.to_owned()
}
