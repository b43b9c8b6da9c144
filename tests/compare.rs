//! Comparisons with known answers, through plan, blocks, run file and view.

use hopcost_model::raw::RawRun;
use serde_json::Value;

use crate::schema;
use crate::support::{Home, alone, hopcost_path, measured, together};

/// 4 µs of a time that passes only as the engine says, …
const BASELINE: &str = "roundtrip/spin:4000?clock=virtual&place=same-cpu";
/// … 5 % more, …
const SLOWER: &str = "roundtrip/spin:4200?clock=virtual&place=same-cpu";
/// … and 1 % less.
const AS_FAST: &str = "roundtrip/spin:3960?clock=virtual&place=same-cpu";

fn json(home: &Home, arguments: &[&str], code: i32) -> Value {
    let mut all = vec!["compare", "--format", "json", "--seed", "1", "--measure", "1ms"];
    all.extend(arguments);
    let text = home.expect(&all, code);
    schema::valid("Results", &text);
    serde_json::from_str(&text).expect("JSON")
}

fn stored(home: &Home) -> RawRun {
    hopcost_file::open(&home.run_file(), &|| Err(std::io::Error::other("no copy is needed")))
        .expect("the run")
}

#[test]
fn known_differences_are_found_and_stop_the_comparison() {
    let _alone = alone();
    let home = Home::new();
    let found = json(&home, &["--live", BASELINE, SLOWER, AS_FAST, BASELINE], measured());
    let found = &found["comparison"];
    let of = |at: usize, key: &str| found["compared"][at][key].clone();
    for (at, verdict, ratio) in
        [(0, "slower", 1.05), (1, "equivalent", 0.99), (2, "equivalent", 1.0)]
    {
        assert_eq!(of(at, "verdict"), verdict, "{found}");
        for key in ["ratio", "low", "high"] {
            assert!((of(at, key).as_f64().unwrap() - ratio).abs() < 1e-9, "{key}: {found}");
        }
    }
    assert_eq!(found["invalid"], Value::Null);
    assert_eq!(found["copy"]["verdict"], "equivalent");
    let (made, planned) = (found["blocks"].as_u64().unwrap(), found["blocks_planned"].as_u64());
    assert!(made < planned.unwrap(), "{made} of {planned:?}");

    let run = stored(&home);
    assert_eq!(run.trials.len() as u64, made * 2 * 5, "every case twice a block, and the copy");
    let cases = |round: u32| -> Vec<u32> {
        run.trials.iter().filter(|trial| trial.round == round).map(|trial| trial.case).collect()
    };
    let orders: Vec<Vec<u32>> = (0..made as u32).map(|block| cases(2 * block)).collect();
    for (block, order) in (0..).zip(&orders) {
        let back: Vec<u32> = order.iter().rev().copied().collect();
        assert_eq!(cases(2 * block + 1), back, "block {block}");
    }
    assert!(orders.iter().any(|order| *order != orders[0]), "each block has an order of its own");
    assert!(run.yardsticks.is_empty());
}

#[test]
fn a_stored_comparison_is_shown_again() {
    let _alone = alone();
    let home = Home::new();
    let first =
        home.expect(&["compare", "--live", BASELINE, SLOWER, "--measure", "1ms"], measured());
    assert_eq!(home.expect(&["report", "last"], 0), first);
    let line = first.lines().find(|line| line.trim_start().starts_with("slower"));
    let line = line.unwrap_or_else(|| panic!("{first}"));
    assert!(line.contains("+5.00 % [+5.00, +5.00]"), "{line}");
    assert!(line.contains("roundtrip/spin:4200"), "{line}");
    let page = home.expect(&["report", "last", "--format", "html"], 0);
    assert!(page.contains("The comparison"));
    let refused = home.run(&["run", "--resume", "last"]);
    assert_eq!(refused.status.code(), Some(2));
}

#[test]
fn two_builds_are_compared_by_one_case() {
    let _alone = alone();
    let home = Home::new();
    let own = hopcost_path().to_str().expect("a path");
    let found = json(&home, &["--live-binaries", own, own, BASELINE], measured());
    let found = &found["comparison"];
    assert_eq!(found["compared"][0]["verdict"], "equivalent");
    assert_eq!(found["compared"][0]["build"], found["baseline_build"]);
    assert_eq!(stored(&home).plan.comparison.expect("it compares").builds.len(), 3);
}

#[test]
fn a_build_that_is_none_fails_as_a_case_does() {
    let _together = together();
    let home = Home::new();
    let own = hopcost_path().to_str().expect("a path");
    let found =
        json(&home, &["--live-binaries", own, "/bin/true", BASELINE, "--duration", "3s"], 1);
    let one = &found["comparison"]["compared"][0];
    assert_eq!((&one["verdict"], &one["n_blocks"]), (&"inconclusive".into(), &0.into()));
    assert!(found["results"][2]["reason"].as_str().is_some_and(|why| !why.is_empty()));
}

#[test]
fn what_cannot_be_compared_is_refused_in_a_line() {
    let _together = together();
    let home = Home::new();
    for (arguments, code, why) in [
        (&["--live", BASELINE, "call/null"][..], 6, "the same workload"),
        (
            &["--live", "pipe?payload=64&place=same-cpu", "pipe?payload=4096&place=same-cpu"],
            6,
            "payload",
        ),
        (&["--live", BASELINE], 2, "name a second"),
        (&["--live", BASELINE, "pipe?wait=block,spin"], 2, "of which one can be compared"),
        (&[BASELINE, SLOWER], 2, "--live"),
        (&["--live-binaries", "/nowhere", "/nowhere", BASELINE], 2, "/nowhere"),
        (&["--live-binaries", "/bin/true", "/bin/true", BASELINE, SLOWER], 2, "not 2 cases"),
        (&["--live", BASELINE, SLOWER, "--margin", "3"], 2, "percentage"),
    ] {
        let all: Vec<&str> = ["compare"].iter().chain(arguments).copied().collect();
        let output = home.run(&all);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {said}");
        assert!(
            said.contains(why) && said.trim_end().lines().count() == 1,
            "{arguments:?}: {said}"
        );
    }
}
