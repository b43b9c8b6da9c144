//! The claims of the run's suite: which sentences of its document hold, and pairs of cases side by side.

use hopcost_model::results::{JudgedClaim, Results};

use super::judged::{cases, parts, record};
use super::model::{Block, Medium, Section, says};

pub(super) fn section(results: &Results, _: Medium) -> Option<Section> {
    let (judged, told): (Vec<&JudgedClaim>, Vec<_>) =
        results.checks.iter().partition(|claim| claim.verdict.is_some());
    let records = judged.into_iter().enumerate();
    let records = records.map(|(at, claim)| record(&format!("claims {}", claim.file), at, claim));
    let told = told.into_iter().flat_map(|claim| {
        let title = Block::Heading(claim.id.clone());
        [title, says(claim.sentence.clone()), parts(claim), cases(claim)]
    });
    Section::of("checks", records.chain(told))
}
