//! Where the time of a hop goes, from the command line to the run file and back.

use std::collections::BTreeMap;

use hopcost_probe::trace::refused;
use serde_json::Value;

use crate::runtimes::has_library;
use crate::support::{Home, cross, measured, rows_of};

/// Far more than a hop over a pipe varies by from round to round.
const DELAY_NS: f64 = 200e3;

/// An end that computes before it sends does so in user space: the difference is in that segment alone.
#[test]
fn a_known_delay_stands_beside_a_pipe_in_its_own_segment() {
    let home = Home::alone();
    assert_eq!(refused(0), None, "this test needs root and the kernel's tracepoints");
    let asked = ["explain", "pipe", "delay:200us", "--place", "same-cpu"];
    let more = ["--measure", "1ms", "--budget", "4s"];
    let first = home.expect(&[&asked[..], &more[..]].concat(), measured());
    assert_eq!(home.expect(&["report", "last"], 0), first);
    assert!(first.contains("difference [interval]"), "{first}");
    let csv = home.expect(&["report", "last", "--format", "csv"], 0);
    assert!(csv.starts_with("case,segment_leg,segment_end,segment_kind,typical_ns,"), "{csv}");

    let json = home.json(&["report", "last", "--format", "json"]);
    ensure_mostly_cut(&json);
    let [pipe, delay] = [0, 1].map(|at| typical(&json, at));
    let more = |(segment, ns): (&String, &f64)| {
        (segment.clone(), (ns - pipe.get(segment).unwrap_or(&0.0)) / DELAY_NS)
    };
    let delayed = delay.iter().map(more).filter(|(_, share)| share.abs() > 0.05);
    let delayed: Vec<(String, f64)> = delayed.collect();
    let [(segment, share)] = &delayed[..] else { panic!("{delayed:?}") };
    assert_eq!(segment, "back callee user");
    assert!((share - 1.0).abs() < 0.05, "{delayed:?}");
    let untraced = json["explanation"][0]["untraced_ratio"].as_f64().unwrap();
    assert!(untraced > 2.0, "{untraced}");
}

/// A library's threads work for the end whose process it is.
#[test]
fn the_threads_of_a_library_are_cut_too() {
    let home = Home::alone();
    assert_eq!(refused(0), None, "this test needs root and the kernel's tracepoints");
    if has_library(&home, "zeromq") {
        let asked = ["explain", "zeromq?place=same-cpu&runtime=c+zeromq", "--budget", "4s"];
        home.expect(&asked, measured());
        let json = home.json(&["report", "last", "--format", "json"]);
        ensure_mostly_cut(&json);
        assert!(typical(&json, 0)["forth caller send"] > 0.0, "{json}");
    }
}

fn ensure_mostly_cut(json: &Value) {
    for (at, of) in json["hops"].as_array().unwrap().iter().enumerate() {
        let hops = of["hops"].as_u64().unwrap();
        let left_out = rows_of(json, "hops_left_out", at).into_iter();
        let left_out: u64 = left_out.map(|of| of["hops"].as_u64().unwrap()).sum();
        assert!(hops > 10 * left_out, "{hops} hops, {left_out} left out: {of}");
    }
}

/// What each segment of a case typically takes, in nanoseconds.
fn typical(json: &Value, case: usize) -> BTreeMap<String, f64> {
    let segment = |of: &Value| {
        let word = |key: &str| of[format!("segment_{key}")].as_str().unwrap().to_owned();
        let name = [word("leg"), word("end"), word("kind")].join(" ");
        (name, of["typical_ns"].as_f64().unwrap_or(0.0))
    };
    rows_of(json, "segments", case).into_iter().map(segment).collect()
}

#[test]
fn wake_ups_are_cut_one_way_and_stand_beside_each_other() {
    let home = Home::alone();
    assert_eq!(refused(0), None, "this test needs root and the kernel's tracepoints");
    let place = if cross().is_some() { "cross" } else { "same-cpu" };
    let asked = ["explain", "wake/pipe?gap=10us", "wake/pipe?gap=100us", "--place", place];
    home.expect(&[&asked[..], &["--budget", "6s"]].concat(), measured());
    let json = home.json(&["report", "last", "--format", "json"]);
    let cases = json["hops"].as_array().unwrap();
    assert_eq!(cases.len(), 2);
    ensure_mostly_cut(&json);
    for (at, case) in cases.iter().enumerate() {
        let kinds = typical(&json, at);
        assert!(kinds.keys().all(|name| name.starts_with("forth ")), "{kinds:?}");
        let has = |kind: &&str| kinds.keys().any(|name| name.ends_with(*kind));
        assert!(["user", "send"].iter().all(has), "{kinds:?}");
        // Where others have the callee's CPU, no switch from idle is between; of some guests' idling nothing is told.
        let waits = ["switch", "other-task", "unseparated"];
        assert!(waits.iter().any(has), "{kinds:?}");
        let of = |key: &str| case[key].as_f64().unwrap();
        let share = kinds.values().sum::<f64>() / of("total_ns");
        assert!((0.95..1.0 + 1e-6).contains(&share), "{share} of {case}: {kinds:?}");
        // The same stamps bound a wake-up without events.
        let times = of("traced_p50_ns") / of("untraced_p50_ns");
        assert!((0.5..20.0).contains(&times), "{times} times as long: {case}");
    }
    assert!(!json["segment_contrasts"].as_array().unwrap().is_empty());
}
