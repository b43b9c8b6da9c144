//! Judging: what is asked is measured, stored and judged again; a gate fails; mistakes have a line.
//! A build whose probe is not optimised believes none of its times, so the claims are about counts.

use std::fs;

use serde_json::Value;

use crate::support::{Home, measured};

fn verdicts(json: &str) -> Vec<(String, String)> {
    let document: Value = serde_json::from_str(json).unwrap();
    let claims = document["claims"].as_array().unwrap().clone();
    let of = |claim: &Value, key: &str| claim[key].as_str().unwrap_or("none").to_owned();
    claims.iter().map(|claim| (of(claim, "id"), of(claim, "verdict"))).collect()
}

#[test]
fn claims_are_measured_stored_and_judged_again() {
    let home = Home::alone();
    fs::write(home.path().join("own.toml"), include_str!("support/own.toml")).unwrap();
    let arguments =
        ["judge", "own.toml", "--budget", "20s", "--measure", "1ms", "--format", "json"];
    let first = verdicts(&home.expect(&arguments, measured()));
    let of = |id: &str| first.iter().find(|(own, _)| own == id).unwrap().1.as_str();
    assert_eq!((of("four"), of("two"), of("figures")), ("holds", "fails", "holds"), "{first:?}");
    assert!(["undecided", "fails"].contains(&of("misses")));
    let again = home.expect(&["report", "last", "--format", "json"], 0);
    assert_eq!(verdicts(&again), first, "as stored");
    let stored = ["judge", "own.toml", "--run", "last", "--format", "json"];
    assert_eq!(verdicts(&home.expect(&stored, 0)), first, "of the stored run");
    let text = home.expect(&["judge", "own.toml", "--run", "last", "--question", "E1"], 0);
    assert!(text.contains("Not here: the number of system calls of pipe was 4."), "{text}");
    home.expect(&["judge", "own.toml", "--run", "last", "--gate"], 4);
    home.refuses(&["judge", "own.toml", "--question", "E9"], 2, "unknown question `E9`");
}
