//! Where the time of a hop goes, from the command line to the run file and back.

use std::collections::BTreeMap;
use std::process::Command;

use crate::support::wait::InTime;
use crate::support::{Home, alone, cross, measured};

/// What keeps the kernel's events from being recorded here, if anything does.
fn refused() -> Option<String> {
    hopcost_probe::trace::refused(0)
}

/// Far more than a hop over a pipe varies by from round to round.
const DELAY_NS: f64 = 200e3;

/// An end that computes before it sends does so in user space: the difference is in that segment alone.
#[test]
fn a_known_delay_stands_beside_a_pipe_in_its_own_segment() {
    let _alone = alone();
    assert_eq!(refused(), None, "this test needs root and the kernel's tracepoints");
    let home = Home::new();
    let events = home.path().join("events.json");
    let events = events.to_str().unwrap();
    let asked = ["explain", "pipe", "delay:200us?at=callee", "--placement", "same-cpu"];
    let more = ["--measure", "1ms", "--budget", "4s", "--tail", "p99", "--perfetto", events];
    let first = home.expect(&[&asked[..], &more[..]].concat(), measured());
    assert_eq!(home.expect(&["report", "last"], 0), first);
    for said in ["caller in user space", "callee", "slow hops: the slowest 1.0 %"] {
        assert!(first.contains(said), "{said}: {first}");
    }
    let csv = home.expect(&["report", "last", "--format", "csv"], 0);
    assert!(csv.starts_with("case,leg,end,segment,begins_ns,typical_ns,"), "{csv}");

    let json = home.expect(&["report", "last", "--format", "json"], 0);
    crate::schema::valid("Results", &json);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    for case in json["explanation"]["cases"].as_array().unwrap() {
        ensure_mostly_cut(case);
    }
    let difference = &json["explanation"]["difference"];
    assert!(difference["says"].as_str().unwrap().contains("delay"), "{difference}");
    let mut delayed = Vec::new();
    for of in difference["segments"].as_array().unwrap() {
        let ns = of["ns"]["point"].as_f64().unwrap();
        if ns.abs() > 0.05 * DELAY_NS {
            delayed.push((of["segment"].clone(), (ns / DELAY_NS - 1.0).abs() < 0.05));
        }
    }
    let own = serde_json::json!({"leg": "back", "end": "callee", "kind": "user"});
    assert_eq!(delayed, [(own, true)], "{difference}");

    let reader = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/support/trace_events.py");
    let read = Command::new("python3").args([reader, events]).try_finish();
    let read = read.expect("python3");
    let tracks = String::from_utf8_lossy(&read.stdout);
    assert!(read.status.success(), "{}", String::from_utf8_lossy(&read.stderr));
    // Of each case a track for each end, which makes two calls a hop, and one for their CPU.
    let calls = tracks.lines().filter(|line| line.contains("{'system call': "));
    assert_eq!(calls.count(), 4, "{tracks}");
    let cpus = tracks.lines().filter(|line| line.contains("\tCPU "));
    assert!(
        cpus.clone().count() == 2 && cpus.clone().all(|of| of.contains("'callee': ")),
        "{tracks}"
    );
}

fn ensure_mostly_cut(case: &serde_json::Value) {
    let hops = case["hops"].as_u64().unwrap();
    let left_out = case["left_out"].as_array().unwrap().iter();
    let left_out: u64 = left_out.map(|of| of["hops"].as_u64().unwrap()).sum();
    assert!(hops > 10 * left_out, "{hops} hops, {left_out} left out: {case}");
}

/// The segments of each case of a run, by kind, in nanoseconds.
fn kinds(json: &serde_json::Value) -> Vec<BTreeMap<String, f64>> {
    let of_case = |case: &serde_json::Value| {
        let mut all = BTreeMap::new();
        for of in case["segments"].as_array().unwrap() {
            assert_eq!(of["segment"]["leg"], "forth", "{of}");
            let kind = of["segment"]["kind"].as_str().unwrap().to_owned();
            *all.entry(kind).or_default() += of["typical_ns"]["point"].as_f64().unwrap();
        }
        all
    };
    json["explanation"]["cases"].as_array().unwrap().iter().map(of_case).collect()
}

#[test]
fn wake_ups_are_cut_one_way_and_stand_beside_each_other_by_their_gap() {
    let _alone = alone();
    assert_eq!(refused(), None, "this test needs root and the kernel's tracepoints");
    let home = Home::new();
    let place = if cross().is_some() { "cross" } else { "same-cpu" };
    let asked = ["explain", "wake/pipe", "--gap", "10us,50us,100us", "--placement", place];
    let shown = home.expect(&[&asked[..], &["--budget", "3s"]].concat(), measured());
    assert!(shown.contains("gap=50000") && shown.contains("gap=100000"), "{shown}");
    let json = home.expect(&["report", "last", "--format", "json"], 0);
    crate::schema::valid("Results", &json);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let gaps = json["explanation"]["cases"].as_array().unwrap().iter();
    assert_eq!(
        gaps.map(|of| of["gap_ns"].as_u64().unwrap()).collect::<Vec<_>>(),
        [10_000, 50_000, 100_000]
    );
    for (case, kinds) in json["explanation"]["cases"].as_array().unwrap().iter().zip(kinds(&json)) {
        ensure_mostly_cut(case);
        for kind in ["user", "send"] {
            assert!(kinds.contains_key(kind), "{kind} in {kinds:?}");
        }
        // Where others have the callee's CPU, no switch from idle is between; of some guests' idling nothing is told.
        let waits = ["switch", "other-task", "unseparated"];
        assert!(waits.iter().any(|kind| kinds.contains_key(*kind)), "{kinds:?}");
        let total_ns = case["total_ns"]["point"].as_f64().unwrap();
        let sum_ns: f64 = kinds.values().sum();
        assert!((sum_ns / total_ns - 1.0).abs() < 1e-6, "{sum_ns} of {total_ns}: {kinds:?}");
        // The same stamps bound a wake-up without events.
        let of = |key: &str| case[key]["point"].as_f64().unwrap();
        let times = of("traced_p50_ns") / of("untraced_p50_ns");
        assert!((0.5..20.0).contains(&times), "{times} times as long: {case}");
    }
    let by_gap = json["explanation"]["by_gap"].as_array().unwrap();
    assert!(by_gap.iter().all(|of| of["typical_ns"].as_array().unwrap().len() == 3));
}
