//! Engines with known answers, through plan, run, file, read and view.

use serde_json::Value;

use crate::support::{Home, alone, measured};

fn results(home: &Home, arguments: &[&str]) -> Value {
    let mut all = vec!["run", "--format", "json", "--seed", "1"];
    all.extend(arguments);
    let output = home.run(&all);
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|e| panic!("{e}: {}", String::from_utf8_lossy(&output.stderr)))
}

fn point(document: &Value, result: usize, estimate: &str) -> f64 {
    document["results"][result]["estimates"][estimate]["point"]
        .as_f64()
        .unwrap_or_else(|| panic!("no {estimate}: {}", document["results"][result]))
}

#[test]
fn a_virtual_sleep_takes_exactly_that_long() {
    let _alone = alone();
    let home = Home::new();
    let document =
        results(&home, &["roundtrip/sleep:250us?clock=virtual&place=same-cpu", "--rounds", "6"]);
    for estimate in ["p50_ns", "min_ns", "mean_ns"] {
        assert_eq!(point(&document, 0, estimate), 250_000.0, "{estimate}");
    }
    let p50 = &document["results"][0]["estimates"]["p50_ns"];
    assert_eq!((p50["low"].as_f64(), p50["high"].as_f64()), (Some(250_000.0), Some(250_000.0)));
    assert_eq!(p50["n_trials"], 6);
    assert_eq!(
        document["results"][0]["validity"],
        if measured() == 0 { "valid" } else { "invalid" }
    );
}

#[test]
fn a_real_sleep_takes_at_least_that_long() {
    let _alone = alone();
    let home = Home::new();
    let document = results(
        &home,
        &["roundtrip/sleep:1ms?place=same-cpu", "--rounds", "2", "--measure", "20ms"],
    );
    assert!(point(&document, 0, "min_ns") >= 1_000_000.0);
}

#[test]
fn twice_the_work_takes_twice_as_long_and_none_takes_next_to_nothing() {
    let _alone = alone();
    let home = Home::new();
    let document = results(
        &home,
        &[
            "roundtrip/spin:4000",
            "roundtrip/spin:8000",
            "roundtrip/null",
            "--placement",
            "same-cpu",
            "--rounds",
            "3",
            "--measure",
            "5ms",
        ],
    );
    let value = |at: usize| {
        let estimates = &document["results"][at]["estimates"];
        let p50 = estimates["p50_ns"]["point"].as_f64();
        p50.or(estimates["cost_ns"]["point"].as_f64()).unwrap_or_else(|| panic!("{estimates}"))
    };
    let (once, twice, null) = (value(0), value(1), value(2));
    assert!((1.6..2.4).contains(&(twice / once)), "{once} and {twice}");
    assert!(null < once / 10.0, "{null} beside {once}");
    // A loop that the compiler dropped would be a thousand times faster still.
    assert!(null > once / 1e6, "{null} beside {once}");
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
    let _alone = alone();
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

#[test]
fn the_same_seed_gives_the_same_numbers() {
    let _alone = alone();
    let case = "roundtrip/sleep:3us?clock=virtual&place=same-cpu";
    let estimates = || {
        let home = Home::new();
        results(&home, &[case, "--rounds", "6"])["results"][0]["estimates"].clone()
    };
    assert_eq!(estimates(), estimates());
}

#[test]
fn what_loses_one_message_in_two_hundred_is_measured_and_says_so() {
    let _alone = alone();
    let home = Home::new();
    // As many messages as fit a phase, each lost one waited for 200 ms, would take minutes.
    let case = "roundtrip/lossy:200?place=same-cpu";
    let document = results(&home, &[case, "--rounds", "1"]);
    let result = &document["results"][0];
    assert_eq!(result["status"], "measured", "{result}");
    let (lost, operations) =
        (result["lost"].as_u64().unwrap(), result["operations"].as_u64().unwrap());
    assert!(lost > 0 && operations > 200, "{lost} of {operations}");
    let says = result["findings"].as_array().unwrap().iter().map(|f| f["code"].as_str().unwrap());
    assert!(says.collect::<Vec<_>>().iter().any(|code| code.contains("LOST")), "{result}");
}

#[test]
fn a_faulty_mechanism_is_a_row_and_does_not_stop_the_others() {
    let _alone = alone();
    let home = Home::new();
    let document = results(
        &home,
        &[
            "roundtrip/fault:error?place=same-cpu",
            "roundtrip/sleep:5us?clock=virtual&place=same-cpu",
            "--rounds",
            "2",
        ],
    );
    let status =
        |at: usize| document["results"][at]["status"].as_str().unwrap_or_default().to_owned();
    assert_eq!((status(0), status(1)), ("failed".into(), "measured".into()));
    assert!(document["results"][0]["reason"].is_string());
}
