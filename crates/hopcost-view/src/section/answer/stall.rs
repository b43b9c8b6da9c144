//! Which messages stalled, and that this is no cost of copying.

use hopcost_model::finding::Finding;
use hopcost_model::results::{CaseResult, Results};

use super::super::model::{Block, note};

/// The mark of a case whose messages stall.
pub(super) const MARK: &str = "†";

/// The share of a case's messages that stall, where some do.
pub(crate) fn stalled(case: &CaseResult) -> Option<f64> {
    case.findings.iter().find_map(Finding::stalled_share)
}

/// What the mark means, where there is one.
pub(super) fn said(results: &Results) -> Option<Block> {
    let mut streams = results.results.iter().filter(|case| case.stream.is_some());
    streams.any(|case| stalled(case).is_some()).then(|| {
        note(format!(
            "{MARK} messages stall for 40 ms (Nagle's algorithm and a delayed acknowledgement), which \
             is no cost of copying."
        ))
    })
}
