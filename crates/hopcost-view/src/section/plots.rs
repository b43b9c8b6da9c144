//! Charts that stand beside no table: what was swept, percentile curves, trials over time.

use hopcost_model::results::Results;

use super::model::{Block, Frame, Medium, Section, notes, says};
use crate::chart;

/// Plots over what was swept; nothing where nothing was.
pub(super) fn swept(results: &Results, _: Medium) -> Option<Section> {
    let charts = chart::of_plots(results);
    // Those of which the same is said stand beside each other.
    let alike = charts.chunk_by(|a, b| a.notes == b.notes && a.width == b.width);
    let blocks = alike.flat_map(|charts| {
        let frame = if charts.len() > 1 { Frame::Small } else { Frame::Titled };
        std::iter::once(Block::Charts(charts.to_vec(), frame)).chain(notes(charts[0].notes.clone()))
    });
    Section::of("plots", blocks)
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
