//! A worker may be slow, silent, crashing, lying or flooding: each ends as a row
//! with a reason, never as a hang, a crash or a wrong number.

use std::time::{Duration, Instant};

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
        "--worker",
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

#[test]
fn a_slow_worker_is_waited_for() {
    let _alone = alone();
    let (result, _) = with_mock("slow@attach");
    assert_eq!(result["status"], "measured", "{result}");
}

#[test]
fn misbehaviour_ends_as_a_row_with_its_reason() {
    let _alone = alone();
    for (behaviour, reason) in [
        ("crash@attach", "killed by signal 6 (it said: mock: something dreadful)"),
        ("crash@run", "killed by signal 6"),
        ("exit@sentinel", "ended with exit code 7"),
        ("fail@run", "the mock does not feel well"),
        ("flood@run", "a line of more than 65536 bytes"),
        ("flood-lines@attach", "does not answer `attach`"),
        ("garbage@attach", "which is no reply"),
        ("wrong-reply@run", "does not answer `run`"),
        ("close@run", "closed its output"),
        ("lie-count@run", "promised"),
        ("lie-time@run", "cover only"),
        ("lie-sum@run", "add up to"),
    ] {
        let started = Instant::now();
        let (result, code) = with_mock(behaviour);
        assert_eq!(result["status"], "failed", "{behaviour}: {result}");
        let said = result["reason"].as_str().expect("a reason");
        assert!(said.contains(reason), "{behaviour}: {said}");
        assert!(!said.contains('\u{1b}'), "{behaviour}: control characters get through");
        assert_eq!(code, 1, "{behaviour}");
        assert!(
            started.elapsed() < Duration::from_secs(10),
            "{behaviour}: {:?}",
            started.elapsed()
        );
    }
}
