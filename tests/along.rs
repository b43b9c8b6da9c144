//! Two cases along an axis, from the command line to the run files and back.

use serde_json::Value;

use crate::support::{Home, measured};

#[test]
fn two_cases_are_compared_along_an_axis_and_shown_again() {
    let home = Home::alone();
    let mut words = vec!["compare", "pipe", "tcp", "--along", "payload=64..1KiB"];
    words.extend(["--place", "same-cpu", "--measure", "1ms", "--budget", "2s"]);
    words.extend(["--out", "along", "--seed", "3"]);
    let first = home.expect(&words, measured());
    let sentence = first.lines().find(|line| line.contains("takes"));
    let sentence = sentence.unwrap_or_else(|| panic!("no sentence: {first}"));
    assert!(sentence.contains("tcp with nodelay on takes"), "{first}");
    let again = ["compare", "along", "--along", "payload"];
    assert_eq!(home.expect(&again, 0), first);
    let with = |more: &[&str]| home.expect(&[&again[..], more].concat(), 0);
    let text = with(&["--format", "json", "--summary", "geomean"]);
    let found: Value = serde_json::from_str(&text).expect("JSON");
    let compared = found["contrasts"].as_array().unwrap();
    assert!(
        compared.len() >= 3 && compared.iter().all(|of| of["contrast_ratio"].is_number()),
        "{found}"
    );
    let logs: Vec<f64> =
        compared.iter().map(|of| of["contrast_ratio"].as_f64().unwrap().ln()).collect();
    let (mean, each) = logs.split_last().unwrap();
    assert!((each.iter().sum::<f64>() / each.len() as f64 - mean).abs() < 1e-9, "{found}");
    assert!(with(&["--sentence"]).contains("payload"));
    with(&["--plots", "plots"]);
    assert!(home.path().join("plots/along-payload.svg").exists());
}
