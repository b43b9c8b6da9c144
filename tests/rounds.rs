//! When a run has enough trials: its rounds, its budget, and how far apart in time the trials of a
//! case are.

use serde_json::Value;

use crate::support::{Home, alone, rows_of, together};

/// Trials of each case, and the starts of the first case's.
fn trials(report: &Value) -> (Vec<u64>, Vec<f64>) {
    let cases = report["cases"].as_array().expect("cases");
    let counts = cases.iter().map(|case| case["n_trials"].as_u64().expect("trials"));
    let starts = rows_of(report, "trials", 0).into_iter();
    let starts = starts.map(|trial| trial["at_s"].as_f64().expect("a time"));
    (counts.collect(), starts.collect())
}

fn run(arguments: &[&str]) -> (Vec<u64>, Vec<f64>) {
    let home = Home::new();
    trials(&home.json(&[&["run"], arguments, &["--format", "json"]].concat()))
}

const EXACT: &str = "roundtrip/sleep:1ms?clock=virtual&place=same-cpu";

#[test]
fn trials_of_a_case_are_apart_in_time() {
    let _alone = alone();
    let (_, starts) = run(&["pipe", "--place", "same-cpu", "--rounds", "4"]);
    assert!(starts.windows(2).all(|two| two[1] - two[0] > 0.29), "{starts:?}");
}

#[test]
fn the_rounds_of_an_interval_are_shortened_before_they_are_given_up() {
    let _alone = alone();
    // Unshortened, six rounds would take 8 s.
    let long = ["--place", "same-cpu", "--measure", "400ms", "--budget", "5s"];
    let (counts, starts) = run(&[&["pipe,socketpair,unix-stream"], &long[..]].concat());
    assert!(counts.iter().all(|n| *n >= 6), "{counts:?}");
    assert!(starts.iter().all(|at_s| *at_s < 5.0), "{starts:?}");
}

#[test]
fn values_are_said_while_a_run_goes_on() {
    let home = Home::alone();
    let said = |more: &[&str]| {
        let output = home.run(&[&["run", EXACT, "--rounds", "3"], more].concat());
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    let lines = said(&["--progress", "json"]);
    let trials: Vec<Value> =
        lines.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(trials.len(), 3, "{lines}");
    for (round, trial) in trials.iter().enumerate() {
        assert_eq!((&trial["round"], &trial["value"]), (&round.into(), &1e6.into()), "{trial}");
        assert!(trial["remaining_s"].is_number() && trial["error"].is_null(), "{trial}");
    }
    let text = said(&["--interval", "1ms"]);
    assert_eq!(text.lines().filter(|line| line.contains(": round ")).count(), 3, "{text}");
    assert!(text.contains(": round 3: 1.00 ms; median of 3 trials: 1.00 ms"), "{text}");
}

#[test]
fn what_a_budget_cannot_hold_is_said_before_anything_is_measured() {
    let _together = together();
    let said = |budget: &str| {
        let words = ["run", "load/pipe", "--budget", budget, "--dry-run"];
        let output = Home::new().run(&words);
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    let short = said("1s");
    assert!(short.starts_with("hopcost: the budget of 1 s has time for "), "{short}");
    assert!(short.contains(" of the 6 that an interval needs") && short.lines().count() == 1);
    assert_eq!(said("5m"), "");
}
