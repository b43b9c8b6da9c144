//! What is particular to a wake-up: the gap that was really slept, and how exactly
//! the clocks of both ends are known to agree.

use hopcost_model::case::{Case, Role, Workload};
use hopcost_model::document;
use hopcost_model::protocol::EndCounters;
use hopcost_model::raw::RawTrial;
use hopcost_stats::sample::median;

use crate::run::Run;
use crate::sums::total;

document! {
    /// What is particular to a wake-up. Its estimates are one-way times: the
    /// receiver's stamp minus the sender's, with the clocks' offset taken out.
    pub struct WakeResult {
        /// The gap asked for.
        pub gap_asked_ns: u64,
        /// Mean time from one notification to the next: median over trials. The gap
        /// really slept, with what the kernel's timer adds, is in it.
        pub gap_found_ns: Option<f64>,
        /// Largest error that the clocks' offset can put on every number of this
        /// case: the largest over its trials. 0 where both ends read one clock.
        pub clock_bound_ns: Option<f64>,
        /// Offset that was taken out (callee's clock minus caller's): median over trials.
        pub clock_offset_ns: Option<f64>,
        /// Largest change of the offset from before a trial to after it.
        pub clock_moved_ns: Option<f64>,
        /// Share of wake-ups that were deferred because the receiver was not yet
        /// waiting, 0 to 1.
        pub overrun_share: f64,
    }
}

/// The result of a case's measured trials; `None` unless they are wake-ups.
pub fn result(run: &Run, case: &Case, trials: &[&RawTrial]) -> Option<WakeResult> {
    if case.workload != Workload::Wake || trials.is_empty() {
        return None;
    }
    let middle = |of: Ticks| median(each_ns(run, trials, of));
    let callers: Vec<&EndCounters> = trials.iter().filter_map(|trial| caller(trial)).collect();
    let overruns = total(callers.iter().map(|end| end.overruns));
    let count = total(callers.iter().map(|end| end.count));
    Some(WakeResult {
        gap_asked_ns: case.gap_ns.unwrap_or(0),
        gap_found_ns: middle(gap_ticks),
        clock_bound_ns: clock_bound_ns(run, trials),
        clock_offset_ns: middle(|trial| Some(trial.gates.first()?.offset_ticks as f64)),
        clock_moved_ns: greatest_ns(run, trials, moved_ticks),
        overrun_share: if count == 0 { 0.0 } else { (overruns as f64 / count as f64).min(1.0) },
    })
}

/// A value in ticks of a trial that has it.
type Ticks = fn(&RawTrial) -> Option<f64>;

/// What trials have in ticks, in nanoseconds.
fn each_ns(run: &Run, trials: &[&RawTrial], of: Ticks) -> Vec<f64> {
    let values = trials.iter().filter_map(|trial| Some(of(trial)? * run.raw.tick_ns(trial)?));
    values.filter(|ns| ns.is_finite()).collect()
}

fn greatest_ns(run: &Run, trials: &[&RawTrial], of: Ticks) -> Option<f64> {
    each_ns(run, trials, of).into_iter().max_by(f64::total_cmp)
}

/// The largest error of one-way times because of the clocks.
pub fn clock_bound_ns(run: &Run, trials: &[&RawTrial]) -> Option<f64> {
    greatest_ns(run, trials, bound_ticks)
}

/// The same of a typical trial: where its CPUs moved apart, a trial's clocks are compared less exactly.
pub fn typical_bound_ns(run: &Run, trials: &[&RawTrial]) -> Option<f64> {
    median(each_ns(run, trials, bound_ticks))
}

fn bound_ticks(trial: &RawTrial) -> Option<f64> {
    let bounds = trial.gates.iter().map(|gate| gate.bound_ticks as f64);
    // A bound that is smaller than what the offset moved by was not one.
    bounds.chain(moved_ticks(trial)).max_by(f64::total_cmp)
}

/// The end that notifies.
fn caller(trial: &RawTrial) -> Option<&EndCounters> {
    trial.ends.iter().find(|end| end.role == Role::Caller)
}

/// Mean ticks from one notification to the next.
fn gap_ticks(trial: &RawTrial) -> Option<f64> {
    let end = caller(trial).filter(|end| end.count > 1)?;
    Some(end.elapsed_ticks as f64 / (end.count - 1) as f64)
}

/// How far the offset was off the first gate's at any later one.
fn moved_ticks(trial: &RawTrial) -> Option<f64> {
    let (first, later) = trial.gates.split_first()?;
    let moved = later.iter().map(|gate| gate.offset_ticks.abs_diff(first.offset_ticks));
    Some(moved.max()? as f64)
}

#[cfg(test)]
mod tests {
    use hopcost_model::results::Statistic;

    use crate::testing::{Builder, TrialBuilder, WAKE, estimate, noisy, read};

    #[test]
    fn the_gap_and_the_clocks() {
        let raw = Builder::new()
            .case(WAKE, 7, |round, t| {
                t.wake(&noisy(100, round), 1_001_000 + u64::from(round));
                t.gates(40, 15, 100);
                if round == 3 {
                    t.gates(60, 130, 55);
                    t.raw.ends[0].overruns = 7;
                }
            })
            .build();
        let wake = read(&raw).results[0].wake.clone().unwrap();
        assert_eq!(wake.gap_asked_ns, 1_000_000);
        assert!((wake.gap_found_ns.unwrap() - 1_001_003.0).abs() < 1e-6, "{wake:?}");
        assert_eq!(wake.clock_offset_ns, Some(40.0));
        assert_eq!(wake.clock_moved_ns, Some(130.0));
        assert_eq!(wake.clock_bound_ns, Some(130.0), "no less than an offset moved by");
        assert!((wake.overrun_share - 0.01).abs() < 1e-12);
    }

    #[test]
    fn what_the_clocks_leave_open_is_part_of_the_interval() {
        let of = |bound: u64| {
            let make = |round: u32, t: &mut TrialBuilder| {
                t.wake(&noisy(2_000, round), 1_000_000);
                t.gates(0, 0, bound);
            };
            let raw = Builder::new().baseline(WAKE).case(WAKE, 8, make);
            raw.case(&WAKE.replace("pipe", "futex"), 8, make).read()
        };
        let (exact, bounded) = (of(0), of(100));
        let all =
            [Statistic::P50, Statistic::P99, Statistic::Min, Statistic::Mean, Statistic::Stdev];
        for statistic in all {
            let (exact, bounded) = (estimate(&exact, statistic), estimate(&bounded, statistic));
            assert_eq!(exact.point, bounded.point);
            assert_eq!(exact.low.map(|ns| ns - 100.0), bounded.low, "{statistic:?}");
            assert_eq!(exact.high.map(|ns| ns + 100.0), bounded.high, "{statistic:?}");
        }
        assert_eq!(estimate(&of(5_000), Statistic::P50).low, Some(0.0), "no time is negative");
        let ratio = |results: &crate::results::Results| results.results[1].ratio.clone().unwrap();
        let (exact, bounded) = (ratio(&exact), ratio(&bounded));
        assert!(bounded.low < exact.low && bounded.high > exact.high, "{bounded:?} {exact:?}");
        assert!((bounded.high.unwrap() - exact.high.unwrap() * (31.0 / 29.0)).abs() < 0.01);
    }

    #[test]
    fn a_wake_up_has_its_own_statistics() {
        let make = |round: u32, t: &mut TrialBuilder| t.wake(&noisy(100, round), 9);
        let many = Builder::new().case(WAKE, 8, make).read();
        let p95 = estimate(&many, Statistic::P95);
        assert!(p95.pooled && p95.point.is_some(), "100 samples are too few for a p95: {p95:?}");
        let stdev = estimate(&many, Statistic::Stdev);
        assert!(stdev.low < stdev.point && stdev.point < stdev.high, "{stdev:?}");
        assert!(stdev.pooled && estimate(&many, Statistic::Mean).pooled);
        assert_eq!(estimate(&many, Statistic::P99).point, None, "800 samples are too few");
    }
}
