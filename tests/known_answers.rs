//! Known answers through plan, run, file, read and view.

use serde_json::Value;

use crate::support::{Home, estimate, rows_of};

fn results(home: &Home, arguments: &[&str]) -> Value {
    let mut all = vec!["run", "--format", "json", "--seed", "1"];
    all.extend(arguments);
    home.json(&all)
}

/// The point estimate of a case, the case by its place.
pub fn point(document: &Value, case: usize, statistic: &str) -> f64 {
    let point = estimate(document, case, statistic)["point"].as_f64();
    point.unwrap_or_else(|| panic!("no {statistic}: {}", document["cases"][case]))
}

#[test]
fn every_known_answer_of_the_self_test_comes_out() {
    let home = Home::alone();
    let output = home.run(&["doctor", "--self-test"]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{text}");
    // What is simulated can be had everywhere; a probe that is not optimised decides no times.
    let document = home.json(&["report", "last", "--format", "json"]);
    for claim in document["claims"].as_array().expect("claims") {
        let is_simulated =
            ["drift", "corrupt", "dup", "reorder"].iter().any(|id| claim["id"] == *id);
        assert!(!is_simulated || claim["verdict"] == "holds", "{claim:#}");
    }
}

/// p50 of a case with its ends, and the value of each trial.
fn with_trials(document: &Value, case: usize) -> (&Value, Vec<f64>) {
    let trials = rows_of(document, "trials", case).into_iter();
    let values = trials.filter_map(|trial| trial["value_ns"].as_f64()).collect();
    (estimate(document, case, "p50_ns"), values)
}

/// How many times as wide an interval is as that of independent trials of their spread, whose half
/// width is 1.96 standard errors of the difference of two medians.
fn times_as_wide(document: &Value, result: usize) -> f64 {
    let (p50, values) = with_trials(document, result);
    let logs: Vec<f64> = values.iter().map(|value| value.ln()).collect();
    let n = logs.len() as f64;
    let mean = logs.iter().sum::<f64>() / n;
    let sd = (logs.iter().map(|log| (log - mean) * (log - mean)).sum::<f64>() / (n - 1.0)).sqrt();
    let (low, high) = (p50["low"].as_f64().unwrap(), p50["high"].as_f64().unwrap());
    (high / low).ln() / (2.0 * 1.96 * 1.2533 * sd / (n / 2.0).sqrt())
}

#[test]
fn a_slow_state_is_told_from_the_quiet_host_and_correlated_trials_widen_an_interval() {
    let home = Home::alone();
    let time = ["--rounds", "60", "--measure", "5ms"];
    let of_host = ["roundtrip/known:level?host=two-states", "roundtrip/known:ar1?host=steady"];
    let document = results(&home, &[&of_host[..], &time[..]].concat());
    // It is slow for 60 % of the time, in which other work may put fewer than half of the trials.
    let (p50, mut each) = with_trials(&document, 0);
    each.sort_by(f64::total_cmp);
    let point = p50["point"].as_f64().unwrap();
    assert!((point / each[each.len() / 2] - 1.0).abs() < 0.001, "{p50:#}");
    let slow = each.iter().filter(|ns| (**ns / 15e3 - 1.0).abs() < 0.01).count();
    assert!(4 * slow >= each.len(), "{each:?}");
    let of = |key: &str| p50[key].as_f64().unwrap_or_else(|| panic!("{p50:#}"));
    assert!(of("quiet_low") <= 10_050.0 && 9_950.0 <= of("quiet_high"), "{p50:#}");
    assert!((of("quiet") / 10e3 - 1.0).abs() < 0.1, "{p50:#}");

    let wider = times_as_wide(&document, 1);
    assert!((1.8..3.2).contains(&wider), "{wider}");
    let shuffled = [&["roundtrip/known:shuffled?host=steady"][..], &time[..]].concat();
    let wider = times_as_wide(&results(&home, &shuffled), 0);
    assert!((0.8..1.4).contains(&wider), "{wider}");
}
