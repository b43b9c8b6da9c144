//! What each idle knob changes: a wake-up with it against the same wake-up without.

use std::collections::BTreeMap;

use hopcost_model::case::{Case, IdleKnob, Workload};
use hopcost_model::results::KnobPrice;

use crate::case::Reading;
use crate::estimate::over_trials;
use crate::ratio::by_round;
use crate::run::Run;

/// Every pair of measured wake-ups that differ in the knob alone, in the order of the
/// plan; none without a round in which both were measured.
pub fn prices(run: &Run, readings: &[Reading]) -> Vec<KnobPrice> {
    let measured = || {
        run.cases.iter().zip(readings).filter_map(|(case, reading)| {
            let case = case.as_ref().ok().filter(|case| case.workload == Workload::Wake)?;
            (!reading.measured.is_empty()).then_some((case, reading))
        })
    };
    let mut prices = Vec::new();
    for (case, with) in measured().filter(|(case, _)| case.idle_knob != IdleKnob::None) {
        let same = Case { idle_knob: IdleKnob::None, ..case.clone() };
        if let Some((_, without)) = measured().find(|(other, _)| **other == same) {
            prices.extend(price(case.idle_knob, without, with));
        }
    }
    prices
}

fn price(knob: IdleKnob, without: &Reading, with: &Reading) -> Option<KnobPrice> {
    let with_knob: BTreeMap<u32, f64> = by_round(with);
    let differences: Vec<f64> = by_round(without)
        .into_iter()
        .filter_map(|(round, ns)| Some(ns - with_knob.get(&round)?))
        .collect();
    (!differences.is_empty()).then(|| KnobPrice {
        without: without.result.id.clone(),
        with: with.result.id.clone(),
        knob,
        difference_ns: over_trials(
            differences,
            "median over rounds of the p50 without the knob minus the p50 with it".to_owned(),
        ),
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

    #[test]
    fn a_knob_may_cost() {
        let with = format!("{WAKE}&idle-knob=dma-latency");
        let raw = Builder::new()
            .case(&with, 5, |_, t| t.wake(&[9000; 100], 1))
            .case(WAKE, 5, |_, t| t.wake(&[8000; 100], 1))
            .build();
        let price = &read(&raw).knobs[0].difference_ns;
        assert_eq!((price.point, price.low), (Some(-1000.0), None));
        assert!(price.insufficient.is_some());
    }
}
