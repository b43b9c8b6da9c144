//! Known answers that `hopcost selftest` (selftest.rs) has not, through plan, run, file, read and view.

use serde_json::Value;

use crate::support::{Home, alone, together};

fn results(home: &Home, arguments: &[&str]) -> Value {
    let mut all = vec!["run", "--format", "json", "--seed", "1"];
    all.extend(arguments);
    home.json(&all)
}

fn point(document: &Value, result: usize, estimate: &str) -> f64 {
    document["results"][result]["estimates"][estimate]["point"]
        .as_f64()
        .unwrap_or_else(|| panic!("no {estimate}: {}", document["results"][result]))
}

#[test]
fn what_writing_and_comparing_takes_is_what_a_round_trip_loses_without_them() {
    let _alone = alone();
    let home = Home::new();
    let case = "pipe?payload=32KiB&place=same-cpu&touch=verify,write,none";
    let document = results(&home, &[case, "--rounds", "9", "--measure", "20ms"]);
    let said = |at: usize| {
        let said = &document["results"][at]["touch"]["operation_ns"];
        said.as_f64().unwrap_or_else(|| panic!("no cost: {}", document["results"][at]))
    };
    assert!(said(0) > said(1) && said(1) > said(2), "{} {} {}", said(0), said(1), said(2));
    // Messages that are not touched are in no cache either, so that the mechanism gains too.
    let ratio =
        (point(&document, 0, "p50_ns") - point(&document, 2, "p50_ns")) / (said(0) - said(2));
    assert!((0.3..4.0).contains(&ratio), "{ratio} times what is said");
}

#[test]
fn replayed_latencies_come_back() {
    let _together = together();
    let home = Home::new();
    // 1 to 2000 ns in a scrambled order: p50 is 1000, p99 is 1980, whatever the order.
    let text: String = (0..2000u32).map(|i| format!("{}\n", i * 777 % 2000 + 1)).collect();
    let file = home.path().join("latencies");
    std::fs::write(&file, text).expect("to write");
    let case = format!("roundtrip/replay:{}?place=same-cpu", file.display());
    let document = results(&home, &[&case, "--rounds", "6", "--measure", "8ms"]);
    assert!((point(&document, 0, "p50_ns") - 1000.0).abs() <= 20.0);
    assert!((point(&document, 0, "p99_ns") - 1980.0).abs() <= 5.0);
    assert_eq!(point(&document, 0, "min_ns"), 1.0);
    assert_eq!(document["results"][0]["estimates"]["max_ns"], 2000.0);
}
