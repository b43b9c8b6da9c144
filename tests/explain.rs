//! Where the time of a round trip goes, from the command line to the run file and back.

use crate::support::{Home, alone, measured};

/// What keeps the kernel's events from being recorded here, if anything does.
fn refused() -> Option<String> {
    hopcost_probe::trace::refused(0)
}

#[test]
fn two_cases_are_put_side_by_side_and_shown_again() {
    let _alone = alone();
    assert_eq!(refused(), None, "this test needs root and the kernel's tracepoints");
    let home = Home::new();
    let events = home.path().join("events.json");
    let events = events.to_str().unwrap();
    let asked = ["explain", "pipe", "unix-stream", "--placement", "same-cpu", "--measure", "1ms"];
    let more = ["--budget", "6s", "--tail", "p99", "--perfetto", events];
    let first = home.expect(&[&asked[..], &more[..]].concat(), measured());
    assert_eq!(home.expect(&["report", "last"], 0), first);
    assert!(first.contains("caller  a") && first.contains("callee"), "{first}");
    let csv = home.expect(&["report", "last", "--format", "csv"], 0);
    assert!(csv.starts_with("case,leg,end,segment,begins_ns,typical_ns,"), "{csv}");

    let json = home.expect(&["report", "last", "--format", "json"], 0);
    crate::schema::valid("Results", &json);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let cases = json["explanation"]["cases"].as_array().unwrap();
    assert_eq!(cases.len(), 2);
    for case in cases {
        let hops = case["hops"].as_u64().unwrap();
        let left_out = case["left_out"].as_array().unwrap().iter();
        let left_out: u64 = left_out.map(|of| of["hops"].as_u64().unwrap()).sum();
        assert!(hops > 20 * left_out, "{hops} hops, {left_out} left out: {case}");
        let kinds: Vec<&str> = case["segments"]
            .as_array()
            .unwrap()
            .iter()
            .map(|of| of["segment"]["kind"].as_str().unwrap())
            .collect();
        // A Unix socket wakes its reader before the message is there: on one CPU nobody waits for that.
        for kind in ["user", "send", "switch", "receive"] {
            assert!(kinds.iter().filter(|own| **own == kind).count() >= 2, "{kind} in {kinds:?}");
        }
    }
    assert!(json["explanation"]["difference"]["says"].as_str().unwrap().contains("unix-stream"));

    let events: serde_json::Value =
        serde_json::from_slice(&std::fs::read(events).unwrap()).unwrap();
    let events = events["traceEvents"].as_array().unwrap();
    let of = |name: &str| events.iter().filter(|of| of["ph"] == "X" && of["name"] == name).count();
    assert!(of("caller") >= 2 * 900 && of("callee") >= 2 * 900, "slices of both ends on their CPU");
}

#[test]
fn what_cannot_be_explained_is_refused() {
    let home = Home::new();
    for (asked, said) in [
        (&["pipe", "--wait", "spin", "--placement", "cross"][..], "an end that spins"),
        (&["stream/tcp"], "stream"),
        (&["pipe", "pipe", "--placement", "same-cpu"], "both cases are the same"),
        (&["pipe", "--tail", "p50"], "above the median"),
        (&["pipe", "--perfetto", "/nowhere/at/all.json"], "/nowhere/at/all.json"),
    ] {
        let output = home.run(&[&["explain"][..], asked].concat());
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{asked:?}: {error}");
        assert!(error.contains(said) && error.lines().count() == 1, "{asked:?}: {error}");
    }
}
