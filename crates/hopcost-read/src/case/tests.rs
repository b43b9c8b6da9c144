use super::*;
use crate::testing::{Builder, CALL, LOAD, PIPE, TCP, TrialBuilder, read as read_run};
use hopcost_model::Statistic;

#[test]
fn an_error_is_a_row_never_a_gap() {
    let raw = Builder::new()
        .case(PIPE, 3, |_, t| t.each(&[100; 50]))
        .case(TCP, 3, |round, t| t.fails(if round == 1 { "odd" } else { "refused" }))
        .skipped("roundtrip/udp?payload=64&boundary=process&place=smt&wait=block", "no SMT")
        .case(CALL, 0, |_, _| ())
        .build();
    let results = read_run(&raw).results;
    let rows: Vec<(Status, Option<&str>)> =
        results.iter().map(|r| (r.status, r.reason.as_deref())).collect();
    assert_eq!(rows[0], (Status::Measured, None));
    assert_eq!(rows[1], (Status::Failed, Some("refused")));
    assert_eq!(rows[2], (Status::Skipped, Some("no SMT")));
    assert_eq!(rows[3].0, Status::Skipped);
    assert_eq!((results[1].n_trials, results[1].n_failed), (0, 3));
    assert!(results[1].estimates.is_none());
}

#[test]
fn a_round_trip_is_two_messages_and_is_never_halved() {
    let raw = Builder::new()
        .case(PIPE, 6, |_, t| {
            t.each(&[3000; 1000]);
            t.raw.cpu_ns = 6_000_000;
            (t.raw.ends[0].voluntary, t.raw.ends[0].involuntary) = (1000, 0);
            (t.raw.ends[1].voluntary, t.raw.ends[1].involuntary) = (0, 3000);
        })
        .case(CALL, 6, |_, t| {
            t.batch(10, &[50; 100]);
            t.raw.cpu_ns = 10_000;
        })
        .case(LOAD, 6, |_, t| {
            t.load(&[0; 1000], 3000);
            (t.raw.cpu_ns, t.raw.ends[1].thread_cpu_ns) = (200_000_000, 7_000_000);
        })
        .build();
    let results = read_run(&raw).results;
    assert_eq!(results[2].cpu_ns_per_message, Some(7000.0), "its sender spins until it is due");
    let p50 = results[0].estimates.as_ref().and_then(|all| all.get(Statistic::P50)).unwrap();
    assert_eq!(p50.point, Some(3000.0));
    assert_eq!(results[0].cpu_ns_per_message, Some(3000.0));
    assert_eq!(results[0].switches_per_operation, Some(4.0));
    assert_eq!(results[1].cpu_ns_per_message, Some(10.0));
    assert_eq!((results[0].operations, results[0].samples), (6_000, 6_000));
}

#[test]
fn a_call_that_is_no_dearer_than_the_empty_loop_is_a_bound() {
    let run = |of_call: u32| {
        let raw = Builder::new()
            .case(CALL, 8, |round, t| t.batch(100, &[of_call + round; 50]))
            .case("call/null", 8, |round, t| t.batch(100, &[200 + round; 50]))
            .case(PIPE, 8, |_, t| t.batch(1000, &[100; 50]))
            .build();
        let cost =
            |r: &CaseResult| r.estimates.clone().unwrap().get(Statistic::Cost).cloned().unwrap();
        read_run(&raw).results.iter().map(cost).collect::<Vec<_>>()
    };
    let near = run(203);
    assert!(near[0].at_most && near[0].point == Some(2.1), "{:?}", near[0]);
    assert!(!near[1].at_most, "the loop itself is what it is");
    assert!(!near[2].at_most, "a round trip is not held against the loop of a call");
    assert!(!run(300)[0].at_most);
}

#[test]
fn stamps_of_two_kinds_never_share_a_column() {
    let make = |round: u32, t: &mut TrialBuilder| match round {
        2 => t.batch(10, &[1000; 50]),
        _ => t.each(&[100; 50]),
    };
    let result = Builder::new().case(PIPE, 4, make).read().results.remove(0);
    assert_eq!((result.n_trials, result.n_failed), (3, 1));
    assert!(result.trials[2].error.as_ref().unwrap().contains("stamped"));
}

#[test]
fn two_levels_are_far_apart_and_both_have_trials() {
    let two = vec![510.0, 11_000.0, 500.0, 10_900.0, 11_100.0, 490.0, 10_800.0];
    assert_eq!(levels(two), Some((500.0, 10_950.0)));
    let outlier = vec![500.0, 510.0, 490.0, 505.0, 495.0, 500.0, 11_000.0];
    assert_eq!(levels(outlier), None);
    let spread = vec![100.0, 160.0, 250.0, 400.0, 640.0, 1_000.0, 1_600.0];
    assert_eq!(levels(spread), None);
    assert_eq!(levels(vec![500.0, 500.0, 900.0, 900.0]), None, "too few");
    assert_eq!(levels(vec![0.0, f64::NAN, 0.0, 1.0, 2.0, 3.0]), None);
    assert_eq!(levels(Vec::new()), None);
}
