//! What stands under the wake-ups: how many there were, how exactly two clocks are known to
//! agree, how idle CPUs are set up, and whether the mechanism made the difference.

use hopcost_model::results::{CaseResult, Results, VarianceShares};
use hopcost_model::text::count;

use crate::names::capitalised;
use crate::number;
use crate::section::idling::by_size;
use crate::section::model::{self, Block};

pub(super) fn notes(results: &Results) -> Vec<Block> {
    let spread = results.variance_of_medians.iter().map(spread);
    let notes = samples(results).into_iter().chain(idling(results).cloned()).chain(spread);
    model::notes(notes).collect()
}

/// How CPUs idle: the first remark of a run with wake-ups.
pub(super) fn idling(results: &Results) -> Option<&String> {
    let is_wake = results.results.iter().any(|case| case.wake.is_some());
    results.remarks.first().filter(|_| is_wake)
}

/// `1,200 wake-ups a case: 12 processes, each of 100 after 10 to warm up`
fn samples(results: &Results) -> Option<String> {
    let cases = results.results.iter().filter(|case| case.wake.is_some() && case.n_trials > 0);
    let fullest = cases.clone().max_by_key(|case| case.samples)?;
    let fewer = |case: &CaseResult| case.samples < fullest.samples;
    let most = if cases.clone().any(fewer) { "Up to " } else { "" };
    let (warm_up, each) = results.plan.trial.wake_ups();
    Some(
        format!(
            "{most}{} wake-ups a case: {}, each of {} after {} to warm up",
            number::grouped(fullest.samples),
            count(fullest.n_trials as usize, "trial"),
            number::grouped(each),
            number::grouped(warm_up)
        ) + &clocks(results),
    )
}

/// `; ± holds the 150 ns by which two clocks may differ`
fn clocks(results: &Results) -> String {
    let wakes = results.results.iter().filter_map(|case| case.wake.as_ref());
    let bound = wakes.filter_map(|wake| wake.clock_bound_ns).max_by(f64::total_cmp);
    bound.filter(|ns| *ns > 0.0).map_or(String::new(), |ns| {
        format!("; ± holds the {} by which two clocks may differ", number::time(ns, 2))
    })
}

/// `Shares of the variance …: gap 80 %, trial 12 %`
fn spread(variance: &VarianceShares) -> String {
    let share = |(factor, share): (&str, f64)| format!("{factor} {}", number::share(share));
    let shares: Vec<String> = by_size(variance).into_iter().map(share).collect();
    format!("{}: {}", capitalised(&variance.estimand), shares.join(", "))
}
