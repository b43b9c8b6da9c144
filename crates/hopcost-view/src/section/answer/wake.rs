//! What stands under the wake-ups: what keeping CPUs awake saves, and how they idle.

use hopcost_model::results::{KnobPrice, Results};

use crate::number;
use crate::section::model::{self, Block};
use crate::section::words::index_of;

pub(super) fn notes(results: &Results) -> Vec<Block> {
    model::notes(knobs(results).into_iter().chain(idling(results).cloned())).collect()
}

/// `Idle knobs: pipe, 1 ms: spinner saves 22 µs [11 µs, 29 µs]`, where a difference was shown.
fn knobs(results: &Results) -> Option<String> {
    let one = |price: &KnobPrice| {
        let case = results.results.get(index_of(results, &price.without)?)?;
        let saved = &price.difference_ns;
        let ends = [saved.point?, saved.low?, saved.high?];
        let [point, low, high] = ends.map(|ns| number::time(ns, 2));
        let gap = number::exact(case.wake.as_ref()?.gap_asked_ns);
        let (mechanism, knob) = (&case.case.mechanism, price.knob.word());
        let said = format!("{mechanism}, {gap}: {knob} saves {point} [{low}, {high}]");
        (ends[1] > 0.0 || ends[2] < 0.0).then_some(said)
    };
    let list: Vec<String> = results.knobs.iter().filter_map(one).collect();
    (!list.is_empty()).then(|| format!("Idle knobs: {}", list.join("; ")))
}

/// How CPUs idle: the first remark of a run with wake-ups.
pub(super) fn idling(results: &Results) -> Option<&String> {
    let is_wake = results.results.iter().any(|case| case.wake.is_some());
    results.remarks.first().filter(|_| is_wake)
}
