//! An honest worker is believed, and lies in single numbers are not.

use serde_json::Value;

use crate::support::{Home, estimate, json_of, together};

const MOCK: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/support/mock_worker.py");

/// What a round of a case comes to with a worker in the place of hopcost's own, told so by its environment.
fn with(worker: &str, case: &str, told: (&str, &str)) -> Value {
    let home = Home::new();
    let arguments = [
        "run",
        case,
        "--rounds",
        "1",
        "--stand-in",
        worker,
        "--format",
        "json",
        "--measure",
        "20ms",
    ];
    let mut command = home.hopcost(&arguments);
    command.env(told.0, told.1).env("HOPCOST_REAL", env!("CARGO_BIN_EXE_hopcost"));
    json_of(&mut command)
}

#[test]
fn an_honest_worker_is_believed() {
    let _together = together();
    let report = with(MOCK, "call/syscall", ("HOPCOST_MOCK", "honest"));
    assert_eq!(report["cases"][0]["status"], "measured", "{report}");
    assert_eq!(estimate(&report, 0, "cost_ns")["point"], 100.0);
}

const LIAR: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/support/lying_worker.py");

/// The same with the real worker, one number of whose replies lies.
fn with_lie(case: &str, lie: &str) -> Value {
    with(LIAR, case, ("HOPCOST_LIE", lie))["cases"][0].clone()
}

#[test]
fn lies_of_wake_ups_and_streams_are_failed_trials() {
    let _together = together();
    let stream = "stream/tcp-sendmsg?field=256";
    let wake = "wake/semaphore?gap=10us&place=same-cpu";
    assert_eq!(with_lie(stream, "none:none=0")["status"], "measured", "without a lie");
    for (case, lie, reason) in [
        (stream, "ran:end.bytes=999999999999", "bytes in all"),
        (stream, "ran:end.bytes=0", "bytes in all"),
        (stream, "ran:end.count=99999999", "bytes in all"),
        (stream, "ran:wall_ns=18446744073709551615", "is impossible"),
        (stream, "ran:end.elapsed_ticks=9223372036854775807", "is impossible"),
        (wake, "ran:end.count=99999", "stamps"),
        (wake, "ran:end.samples=3", "promised"),
        (wake, "gate:bound_ticks=18446744073709551615", "is impossible"),
        (wake, "gate:backward_steps=5", "ran backwards"),
        ("wake/pipe?gap=10us&place=same-cpu&idle-knob=spinner", "spinning:", "spinner ended"),
        ("load/pipe?rate=10k&background=cpu:1", "spinning:", "1 of the 1 background processes"),
    ] {
        let result = with_lie(case, lie);
        assert_eq!(result["status"], "failed", "{case} {lie}: {result}");
        let said = result["reason"].as_str().expect("a reason");
        assert!(said.contains(reason), "{lie}: {said}");
    }
}
