use super::*;
use crate::testing::{Builder, PIPE, TrialBuilder, clock, noisy, read_changed};

fn of(trials: u32, make: impl Fn(u32, &mut TrialBuilder)) -> Estimates {
    let raw = Builder::new().case(PIPE, trials, make).build();
    let clock = clock(0, 1e9);
    let reduced: Vec<Trial> = raw
        .trials
        .iter()
        .map(|t| Trial::new(&raw.plan.cases[0].case, t, Some(&clock)).unwrap())
        .collect();
    let family = Family::of(raw.trials[0].stamp.unwrap());
    let (trials, workload) = (reduced.iter().collect(), Workload::Roundtrip);
    estimates(&Measured { trials, family, workload, doubt: None, seeds: (0, 0) }).unwrap()
}

fn one(trials: u32, statistic: Statistic, make: impl Fn(u32, &mut TrialBuilder)) -> Estimate {
    of(trials, make).get(statistic).unwrap().clone()
}

#[test]
fn the_interval_is_that_of_the_ranks() {
    let p50 = one(9, Statistic::P50, |round, t| t.each(&vec![1000 + 10 * round; 2000]));
    assert_eq!((p50.point, p50.low, p50.high), (Some(1040.0), Some(1010.0), Some(1070.0)));
    assert!((p50.level.unwrap() - 0.960_937_5).abs() < 1e-12);
    assert!(!p50.pooled && p50.insufficient.is_none());
    assert_eq!((p50.n_trials, p50.digits), (9, 3));
}

#[test]
fn few_trials_have_a_point_and_no_interval() {
    let p50 = one(5, Statistic::P50, |_, t| t.each(&[1000; 2000]));
    assert_eq!((p50.point, p50.low, p50.level), (Some(1000.0), None, None));
    assert!(p50.insufficient.unwrap().contains("5 trials"));
}

#[test]
fn tails_go_from_trials_to_pooled_to_insufficient() {
    let enough = one(8, Statistic::P99, |round, t| t.each(&noisy(2_000, round)));
    assert!(!enough.pooled && enough.point.is_some() && enough.level.is_some());
    let pooled = one(8, Statistic::P99, |round, t| t.each(&noisy(400, round)));
    assert!(pooled.pooled && pooled.low.is_some() && pooled.level.is_none());
    assert!(pooled.low <= pooled.point && pooled.point <= pooled.high);
    let none = one(8, Statistic::P99, |round, t| t.each(&noisy(100, round)));
    assert_eq!((none.point, none.low), (None, None));
    assert!(none.insufficient.unwrap().contains("needs 1000"), "says what it needs");
}

#[test]
fn batches_have_a_cost_and_nothing_else() {
    let estimates = of(8, |round, t| t.batch(100, &[7_000 + 100 * round; 30]));
    assert_eq!(estimates.get(Statistic::Cost).unwrap().clone().point, Some(73.5));
    assert!(estimates.get(Statistic::P50).is_none() && estimates.get(Statistic::P99).is_none());
    assert!(estimates.get(Statistic::Min).is_none() && estimates.exact(Statistic::Max).is_none());
}

#[test]
fn what_cannot_be_told_from_the_loop_is_a_bound() {
    let near_zero = one(8, Statistic::Cost, |round, t| {
        let two = 10_000 + 30 * round;
        t.two_lengths(1000, &[10_090, two, 10_090, two, 10_090, two]);
    });
    assert!(near_zero.at_most, "{near_zero:?}");
    assert_eq!(near_zero.point, Some(0.12));
    assert!(near_zero.low.unwrap() < 0.0, "the raw sign stays");
    // Its point is clear of the clock's resolution (0.02 ns), its interval not of zero.
    let wide =
        one(8, Statistic::Cost, |round, t| t.two_lengths(1000, &[10_000, 9_700 + 100 * round]));
    assert!(wide.at_most && wide.point == Some(0.4) && wide.low == Some(-0.3), "{wide:?}");
    let clear = one(8, Statistic::Cost, |round, t| {
        t.two_lengths(1000, &[10_000, 12_000 + round, 10_000, 12_000 + round]);
    });
    assert!(!clear.at_most && (clear.point.unwrap() - 2.0035).abs() < 1e-9, "{clear:?}");
}

#[test]
fn the_time_of_each_is_that_of_the_phase_where_several_are_in_flight() {
    let id = PIPE.replace("wait=block", "wait=block&window=4");
    let of = |id: &str| {
        let results = read_changed(id, |_, t| t.raw.ends[0].elapsed_ticks = 1_000_000);
        results.results[0].estimates.clone().unwrap()
    };
    let found = of(&id);
    assert_eq!(found.get(Statistic::PerTrip).unwrap().point, Some(1000.0));
    assert_eq!(found.get(Statistic::P50).unwrap().point, Some(3000.0), "the response time");
    assert!(of(PIPE).get(Statistic::PerTrip).is_none());
}
