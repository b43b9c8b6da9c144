//! Charts that stand beside no table: what was swept, percentile curves, trials over time.

use hopcost_model::results::Results;

use super::model::{Block, Frame, Section, Tone, notes};
use crate::chart;

const SWEPT: &str = "Drawn from the stored samples. A line joins measured points only, and a \
    shaded band spans their intervals.";

const PERCENTILES: &str = "All samples of a case, trials pooled; the shaded band spans the trials \
    where each alone supports the percentile. In a closed loop the next request waits for the last \
    reply, so a stall delays the requests behind it unseen: these are service times, not what \
    requests arriving on a schedule would have met.";

const TRIALS: &str = "Every trial is a fresh process. Look for slopes (drift) and steps (the host \
    changed state); marks tell the host's state where the sentinel saw several. Each row is scaled \
    around its reported value, and its edges lie at the factor written on the right.";

/// Plots over what was swept; nothing where nothing was.
pub(super) fn swept(results: &Results) -> Option<Section> {
    let charts = chart::swept::charts(results).into_iter().flat_map(|chart| {
        let below = chart.notes.clone();
        std::iter::once(Block::Charts(vec![chart], Frame::Titled)).chain(notes(below))
    });
    let blocks: Vec<Block> = charts.collect();
    (!blocks.is_empty()).then(|| Section::new("plots", "Plots", SWEPT).with(blocks))
}

pub(super) fn percentiles(results: &Results) -> Section {
    let groups = chart::percentiles::charts(results).into_iter();
    let mut blocks: Vec<Block> = groups.map(|group| Block::Charts(group, Frame::Small)).collect();
    if blocks.is_empty() {
        let none = "No case of this run has single samples.".to_owned();
        blocks.push(Block::Text(Tone::Plain, none));
    }
    Section::new("percentiles", "Percentile curves (closed loop)", PERCENTILES).with(blocks)
}

pub(super) fn trials(results: &Results) -> Section {
    let charts = chart::trials::charts(results);
    let charts = Block::Charts(charts, Frame::Titled);
    Section::new("trials", "Trials over time", TRIALS).with([charts])
}
