//! The suites that hopcost brings ask for mechanisms, workloads, boundaries, waits,
//! sizes and parameters that these really have. What a machine lacks may skip a
//! case; what a mechanism is may not.

use crate::support::Home;
use crate::support::wait::InTime;

/// What the planner says where the case, not the machine, is at fault.
pub const MISTAKES: &[&str] = &[
    "has no workload",
    "has no boundary",
    "has no wait",
    "is over the limit",
    "is under the least",
    "does not divide",
    "needs an ack",
    "spinning ends",
    "not inline",
];

#[test]
fn every_case_of_every_suite_is_one_that_its_mechanism_has() {
    let home = Home::new();
    for (name, _) in hopcost_plan::SHIPPED {
        let text = home.expect(&["run", "--suite", name, "--dry-run", "--format", "json"], 0);
        let document: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        let cases = document["plan"]["cases"].as_array().expect("cases");
        assert!(cases.len() > 8, "{name}");
        for case in cases {
            let Some(skip) = case["skip"].as_str() else { continue };
            let mistake = MISTAKES.iter().any(|mistake| skip.contains(mistake));
            assert!(!mistake, "{name}: {}: {skip}", case["id"]);
        }
    }
}

#[test]
fn every_suite_is_listed_and_described() {
    let output = Home::new().hopcost(&["list", "--suites"]).env("COLUMNS", "80").try_finish();
    let list = String::from_utf8(output.expect("hopcost").stdout).expect("UTF-8");
    assert_eq!(list.lines().count(), hopcost_plan::SHIPPED.len() + 2, "a line each:\n{list}");
    let page = include_str!("../docs/suites.md");
    for (name, _) in hopcost_plan::SHIPPED {
        assert!(page.contains(&format!("`{name}`")), "{name} is not in docs/suites.md");
        let mut lines = list.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
        let line =
            lines.find(|words| words.first() == Some(name)).unwrap_or_else(|| panic!("{list}"));
        let takes: u64 = line[1].parse().expect("a number");
        assert!(takes > 0 && ["s", "min"].contains(&line[2]), "{line:?}");
    }
}
