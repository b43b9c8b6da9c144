//! An honest worker is believed, and lies in single numbers are not.

use serde_json::Value;

use crate::support::{Home, alone};

const MOCK: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/support/mock_worker.py");

/// Runs one round of one case with the mock; the only result, and the exit code.
fn with_mock(behaviour: &str) -> (Value, i32) {
    let home = Home::new();
    let arguments = [
        "run",
        "call/syscall",
        "--rounds",
        "1",
        "--stand-in",
        MOCK,
        "--format",
        "json",
        "--measure",
        "5ms",
    ];
    let output = home
        .hopcost(&arguments)
        .env("HOPCOST_MOCK", behaviour)
        .output()
        .expect("the binary starts");
    let stderr = String::from_utf8_lossy(&output.stderr);
    let document: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{behaviour}: {error}: {stderr}"));
    (document["results"][0].clone(), output.status.code().expect("an exit code"))
}

#[test]
fn an_honest_worker_is_believed() {
    let _alone = alone();
    let (result, _) = with_mock("honest");
    assert_eq!(result["status"], "measured", "{result}");
    assert_eq!(result["estimates"]["cost_ns"]["point"], 100.0);
}

const LIAR: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/support/lying_worker.py");

/// Runs one round of a case with the real worker, one number of whose replies lies.
fn with_lie(case: &str, lie: &str) -> Value {
    let home = Home::new();
    let arguments =
        ["run", case, "--rounds", "1", "--stand-in", LIAR, "--format", "json", "--measure", "20ms"];
    let output = home
        .hopcost(&arguments)
        .env("HOPCOST_LIE", lie)
        .env("HOPCOST_REAL", env!("CARGO_BIN_EXE_hopcost"))
        .output()
        .expect("the binary starts");
    let stderr = String::from_utf8_lossy(&output.stderr);
    let document: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{lie}: {error}: {stderr}"));
    document["results"][0].clone()
}

#[test]
fn lies_of_wake_ups_and_streams_are_failed_trials() {
    let _alone = alone();
    let stream = "stream/tcp-sendmsg?field=256";
    let wake = "wake/semaphore?gap=10us&place=same-cpu";
    assert_eq!(with_lie(stream, "none:none=0")["status"], "measured", "without a lie");
    for (case, lie, reason) in [
        (stream, "ran:end.bytes=999999999999", "bytes in all"),
        (stream, "ran:end.bytes=0", "bytes in all"),
        (stream, "ran:end.count=99999999", "bytes in all"),
        (stream, "ran:wall_ns=18446744073709551615", "cannot be true"),
        (stream, "ran:end.elapsed_ticks=9223372036854775807", "cannot be true"),
        (wake, "ran:end.count=99999", "stamps"),
        (wake, "ran:end.samples=3", "promised"),
        (wake, "gate:bound_ticks=18446744073709551615", "cannot be true"),
        (wake, "gate:backward_steps=5", "ran backwards"),
        ("wake/pipe?gap=10us&place=same-cpu&idle-knob=spinner", "spinning:", "spinner ended"),
        ("load/pipe?rate=10k&background=cpu:1", "spinning:", "1 of the 1 that were to work"),
    ] {
        let result = with_lie(case, lie);
        assert_eq!(result["status"], "failed", "{case} {lie}: {}", result["estimates"]);
        let said = result["reason"].as_str().expect("a reason");
        assert!(said.contains(reason), "{lie}: {said}");
    }
}
