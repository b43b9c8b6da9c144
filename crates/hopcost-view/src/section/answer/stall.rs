//! Which messages stalled, and that this is no cost of copying.

use hopcost_model::finding::Finding;
use hopcost_model::group::{distinct, grouped};
use hopcost_model::results::{CaseResult, Results, StreamResult};

use super::super::model::{Block, note};
use crate::number::{bytes, share};

/// The mark of a case whose messages stall.
pub(super) const MARK: &str = "†";

/// The share of a case's messages that stall, where some do.
pub(crate) fn stalled(case: &CaseResult) -> Option<f64> {
    case.findings.iter().find_map(Finding::stalled_share)
}

/// Of which streams, and how many of their messages.
pub(super) fn said(results: &Results) -> Option<Block> {
    let cases = results.results.iter().filter_map(|case| {
        let stream = case.stream.as_ref()?;
        Some((stream, stalled(case)?))
    });
    let one = |(label, of): (&str, Vec<(&StreamResult, f64)>)| {
        let shares = || of.iter().map(|(_, share)| *share);
        let (least, most) = (shares().fold(1.0, f64::min), shares().fold(0.0, f64::max));
        let (least, most) = (share(least), share(most));
        let range = if least == most { most } else { format!("{least} to {most}") };
        let mut sizes = distinct(of.iter().map(|(stream, _)| stream.field_bytes));
        sizes.sort_unstable();
        let sizes: Vec<String> = sizes.into_iter().map(bytes).collect();
        format!("{range} of {label} ({})", sizes.join(", "))
    };
    let all = grouped(cases, |(stream, _)| stream.label.as_str()).into_iter().map(one);
    let all = all.collect::<Vec<_>>().join("; ");
    (!all.is_empty()).then(|| {
        note(format!(
            "{MARK} stalls of 40 ms (Nagle's algorithm and a delayed acknowledgement), which are no \
             cost of copying, of messages: {all}"
        ))
    })
}
