//! `hopcost doctor` on this machine: it measures what it says, and leaves nothing behind.

use std::process::Command;

use serde_json::Value;

use crate::support::wait::{InTime, Killed};
use crate::support::{Home, json_of, measured, stderr};

/// Has the first CPU alone run what follows.
const ON_ONE_CPU: [&str; 3] = ["taskset", "-c", "0"];

/// Numbers of an array's objects.
fn numbers(document: &Value, array: &str, field: &str) -> Vec<f64> {
    let all = document[array].as_array().expect("an array").iter();
    all.map(|row| row[field].as_f64().expect("a number")).collect()
}

#[test]
fn a_doctor_measures_every_cpu_and_pair_and_stores_nothing() {
    let home = Home::alone();
    let text = home.expect(&["doctor", "--format", "json"], measured());
    let found: Value = serde_json::from_str(&text).expect("JSON");
    let checkup = &found["checkup"][0];
    let cpus = checkup["cpus"].as_array().expect("cpus").len();
    assert_eq!(found["cpu_gaps"].as_array().expect("gaps").len(), cpus, "{checkup}");
    assert!(
        numbers(&found, "cpu_gaps", "lost_share").iter().all(|share| (0.0..1.0).contains(share))
    );
    // A tick of the kernel at least, and no clock's reading takes a microsecond.
    assert!(numbers(&found, "cpu_gaps", "over_1us_per_s").iter().all(|a| (0.1..1e5).contains(a)));
    assert!(numbers(&found, "cpu_gaps", "watched_ns").iter().all(|ns| *ns > 1e8));
    let pairs = cpus * (cpus - 1) / 2;
    assert!(found["cpu_pairs"].as_array().expect("pairs").len() <= pairs);
    assert!(numbers(&found, "cpu_pairs", "roundtrip_ns").iter().all(|ns| (10.0..1e6).contains(ns)));
    let blocking = &found["handovers"][0]["blocking_ns"];
    assert!(blocking.as_f64().is_some_and(|ns| (300.0..1e7).contains(&ns)), "{blocking}");
    assert!(!checkup["first"].as_str().expect("a line").is_empty());
    assert!(!home.path().join("data").exists(), "something was stored");
}

#[test]
fn gaps_are_what_another_task_takes_and_watching_takes_as_long_as_it_was_to() {
    let home = Home::alone();
    let [taskset, cpu @ ..] = ON_ONE_CPU;
    let mut busy = Command::new(taskset);
    busy.args(cpu).args(["sh", "-c", "while :; do :; done"]);
    let _busy = Killed(busy.spawn().expect("taskset"));
    let case = "roundtrip/gaps?boundary=inline&place=same-cpu&wait=block&clock=virtual";
    let trial = json_of(&mut home.hopcost_by(&ON_ONE_CPU, &["trial", case, "--count", "5000"]));
    let gaps = trial["samples"].as_array().expect("samples").iter().filter_map(Value::as_f64);
    let gaps_ns: Vec<f64> = gaps.filter(|ns| *ns > 0.0).collect();
    let watched_ns = trial["phases_ns"].as_f64().expect("a number");
    let lost = gaps_ns.iter().sum::<f64>() / watched_ns;
    assert!((0.2..1.0).contains(&lost), "{lost}");
    assert!(gaps_ns.iter().all(|ns| *ns >= 990.0), "{gaps_ns:?}");
    // 5000 times 100 µs, and the time of the messages to another process.
    let longest_ns = gaps_ns.iter().copied().fold(0.0, f64::max);
    assert!((0.49e9..0.8e9 + 2.0 * longest_ns).contains(&watched_ns), "{watched_ns}");
}

#[test]
fn one_cpu_and_no_home_are_enough() {
    let home = Home::alone();
    let mut command = home.hopcost_by(&ON_ONE_CPU, &["doctor"]);
    let output = command.env_remove("HOME").env_remove("XDG_DATA_HOME").finish();
    let said = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(measured()), "{said}{}", stderr(&output));
    assert!(said.contains(" 1 of 1 CPU, ") && said.contains("same-cpu"), "{said}");
    assert!(!said.contains("Round trip of a cache line"), "{said}");
    assert!(said.starts_with("First: ") && said.lines().count() <= 40, "{said}");
}
