//! What is different in the slowest hops of a case.

use std::collections::BTreeSet;

use hopcost_model::results::{ExplainedTail, Segment, TailOccurrence, TailSegment};
use hopcost_stats::sample::rank;

use super::cut::{Hop, Occurrence};
use super::traced::{Traced, mean, ns};
use crate::format;

/// Slow hops from which on something is said of them.
const SLOW_MIN: usize = 20;
/// Segments and occurrences that a sentence names.
const NAMED_MAX: usize = 2;

/// The slow hops of all trials beside the typical ones; `None` where there are too few.
pub fn of(trials: &[&Traced], quantile: f64) -> Option<ExplainedTail> {
    let slow = |trial: &&Traced| {
        let from = rank(trial.hops.len(), quantile) - 1;
        trial.hops[from..].to_vec()
    };
    let slow: Vec<Hop> = trials.iter().flat_map(slow).collect();
    let typical: Vec<Hop> = trials.iter().flat_map(|trial| trial.typical().to_vec()).collect();
    if slow.len() < SLOW_MIN {
        return None;
    }
    let both = |of: &dyn Fn(&Hop) -> f64| [&slow, &typical].map(|hops| mean(hops, of));
    let all: BTreeSet<Segment> =
        slow.iter().chain(&typical).flat_map(|hop| hop.parts.keys().copied()).collect();
    let segments = all.into_iter().map(|segment| {
        let [slow_ns, typical_ns] = both(&|hop| ns(hop, segment) as f64);
        TailSegment { segment, slow_ns, typical_ns }
    });
    let mut segments: Vec<TailSegment> = segments.collect();
    let longer = |one: &TailSegment| one.slow_ns - one.typical_ns;
    segments.sort_by(|a, b| longer(b).total_cmp(&longer(a)));
    let occurrences = Occurrence::ALL.into_iter().map(|what| {
        let has = |hop: &Hop| if hop.seen.contains(&what) { 1.0 } else { 0.0 };
        let [slow_share, typical_share] = both(&has);
        TailOccurrence { what: what.words().to_owned(), slow_share, typical_share }
    });
    let mut occurrences: Vec<TailOccurrence> =
        occurrences.filter(|of| of.slow_share > 0.0 || of.typical_share > 0.0).collect();
    let oftener = |one: &TailOccurrence| one.slow_share - one.typical_share;
    occurrences.sort_by(|a, b| oftener(b).total_cmp(&oftener(a)));
    let [slow_ns, typical_ns] = both(&|hop| hop.total_ns as f64);
    let says = sentence(slow_ns - typical_ns, quantile, &segments, &occurrences);
    let hops = slow.len() as u64;
    Some(ExplainedTail { quantile, hops, slow_ns, typical_ns, segments, occurrences, says })
}

/// `the slowest 1 % take 9.10 µs longer than typical hops: 5.20 µs in softirq (back); a timer in 34 % of them …`
fn sentence(
    longer_ns: f64,
    quantile: f64,
    segments: &[TailSegment],
    occurrences: &[TailOccurrence],
) -> String {
    let told = segments.iter().map(|one| (one, one.slow_ns - one.typical_ns));
    let told = told.filter(|(_, ns)| *ns >= 0.1 * longer_ns && *ns > 0.0).take(NAMED_MAX);
    let told = told.map(|(one, ns)| format!("{} in “{}”", format::ns(ns), one.segment));
    let told: Vec<String> = told.collect();
    let oftener = occurrences.iter().filter(|one| one.slow_share > 2.0 * one.typical_share);
    let oftener = oftener.take(NAMED_MAX).map(|one| {
        let (slow, typical) = (format::percent(one.slow_share), format::percent(one.typical_share));
        format!("; {} in {slow} of them and {typical} of typical ones", one.what)
    });
    let colon = if told.is_empty() { "" } else { ": " };
    format!(
        "the slowest {} take {} longer than typical hops{colon}{}{}",
        format::percent(1.0 - quantile),
        format::ns(longer_ns),
        told.join(", "),
        oftener.collect::<String>()
    )
}
