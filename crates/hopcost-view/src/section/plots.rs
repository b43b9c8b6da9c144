//! Charts that stand beside no table: what was swept, percentile curves, trials over time.

use hopcost_model::results::Results;

use super::model::{Block, Frame, Medium, Section, notes, says};
use crate::chart;

/// Plots over what was swept; nothing where nothing was.
pub(super) fn swept(results: &Results, _: Medium) -> Option<Section> {
    let charts = chart::swept::charts(results).into_iter().flat_map(|chart| {
        let below = chart.notes.clone();
        std::iter::once(Block::Charts(vec![chart], Frame::Titled)).chain(notes(below))
    });
    Section::of("plots", charts)
}

pub(super) fn percentiles(results: &Results, _: Medium) -> Option<Section> {
    let groups = chart::percentiles::charts(results).into_iter();
    let blocks: Vec<Block> = groups.map(|group| Block::Charts(group, Frame::Small)).collect();
    let none = says("No case of this run has single samples.");
    Section::of("percentiles", if blocks.is_empty() { vec![none] } else { blocks })
}

pub(super) fn trials(results: &Results, _: Medium) -> Option<Section> {
    Section::of("trials", [Block::Charts(chart::trials::charts(results), Frame::Titled)])
}
