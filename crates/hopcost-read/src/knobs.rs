//! What each idle knob changes: a wake-up with it against the same wake-up without.

use std::collections::BTreeMap;

use hopcost_model::case::{Case, IdleKnob, Workload};
use hopcost_model::document;
use hopcost_model::results::Estimate;

use crate::case::Reading;
use crate::estimate::widen;
use crate::ratio::difference;

document! {
    /// A case with an idle knob against the same case without.
    pub struct KnobPrice {
        /// The case without.
        pub without: String,
        /// The case with.
        pub with: String,
        /// The knob.
        pub knob: IdleKnob,
        /// p50 without minus p50 with, paired by round: what idling costs.
        pub difference_ns: Estimate,
    }
}

/// Every pair of measured wake-ups that differ in the knob alone, in the order of the
/// plan; none without a round in which both were measured.
pub fn prices(readings: &[Reading]) -> Vec<KnobPrice> {
    let is_wake = |of: &&Reading| of.case.workload == Workload::Wake && of.is_measured();
    let wakes = || readings.iter().filter(is_wake);
    let by_case: BTreeMap<&Case, &Reading> = wakes().map(|of| (of.case, of)).collect();
    let knobs = wakes().filter(|with| with.case.idle_knob != IdleKnob::None);
    let price = |with: &Reading| {
        let same = Case { idle_knob: IdleKnob::None, ..with.case.clone() };
        price(with.case.idle_knob, by_case.get(&same)?, with)
    };
    knobs.filter_map(price).collect()
}

fn price(knob: IdleKnob, without: &Reading, with: &Reading) -> Option<KnobPrice> {
    let (longer, base) = (without.headline_by_round(), with.headline_by_round());
    let mut difference_ns = difference(&longer, &base)?;
    // Each of the two may be off by what the clocks are not known to agree by.
    let bounds_ns = [without, with].into_iter().filter_map(|of| of.result.clock_bound_ns()).sum();
    widen(&mut difference_ns, bounds_ns);
    Some(KnobPrice {
        without: without.result.id.clone(),
        with: with.result.id.clone(),
        knob,
        difference_ns,
    })
}

#[cfg(test)]
mod tests {
    use crate::testing::{Builder, WAKE, read};

    #[test]
    fn the_difference_is_paired_by_round() {
        let with = format!("{WAKE}&idle-knob=spinner");
        let elsewhere = with.replace("gap=1000000", "gap=1000");
        let raw = Builder::new()
            .case(WAKE, 8, |round, t| t.wake(&[60_000 << round; 100], 1_000_000))
            .case(&with, 8, |round, t| t.wake(&[(60_000 << round) - 5000 - round; 100], 1_000_000))
            .case(&elsewhere, 8, |_, t| t.wake(&[100; 100], 1_000_000))
            .build();
        let knobs = read(&raw).knobs;
        assert_eq!(knobs.len(), 1, "another gap is another case");
        assert_eq!((knobs[0].without.as_str(), knobs[0].with.as_str()), (WAKE, with.as_str()));
        let price = &knobs[0].difference_ns;
        assert_eq!(price.point, Some(5003.5));
        assert_eq!((price.low, price.high), (Some(5000.0), Some(5007.0)));
        assert_eq!(price.n_trials, 8);
    }
}
