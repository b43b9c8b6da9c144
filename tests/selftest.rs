//! `hopcost selftest`: every known answer comes out, and it says so in either form.

use serde_json::Value;

use crate::support::{Home, alone};

#[test]
fn every_known_answer_comes_out() {
    let _alone = alone();
    let home = Home::new();
    let output = home.run(&["selftest", "--format", "json"]);
    let document: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|e| panic!("{e}: {}", String::from_utf8_lossy(&output.stderr)));
    let answers = document["answers"].as_array().expect("answers");
    let failed: Vec<&str> = answers
        .iter()
        .filter(|answer| answer["verdict"] == "fail")
        .map(|answer| answer["name"].as_str().expect("a name"))
        .collect();
    assert_eq!(output.status.code(), Some(i32::from(!failed.is_empty())), "{document:#}");
    // A host that has states may disturb an answer once.
    failed.iter().for_each(|name| drop(home.expect(&["selftest", name], 0)));
    assert!(answers.len() >= 15, "{document:#}");
    // What is simulated can be had everywhere.
    for name in
        ["exact", "bimodal", "stall", "drift", "two-states", "ar1", "shuffled", "dup", "reorder"]
    {
        let is_there = answers.iter().any(|a| a["name"] == name && a["verdict"] != "skip");
        assert!(is_there, "{name}: {document:#}");
    }
    assert!(!home.path().join("data/hopcost/runs").exists(), "its runs are nobody's");
}
