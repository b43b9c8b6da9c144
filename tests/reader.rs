//! A run file is complete in itself and says the same to readers that share no code with hopcost.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use crate::support::wait::InTime;
use crate::support::{Home, hopcost_path, measured, repository, set_mode, stderr, text};

/// A run file in this home, of a run that was measured for real, stamped each and in batches.
fn small_run(home: &Home) -> PathBuf {
    static RUN: OnceLock<Vec<u8>> = OnceLock::new();
    let run = RUN.get_or_init(measured_run);
    let runs = home.path().join("data/hopcost/runs");
    fs::create_dir_all(&runs).expect("a folder");
    fs::write(runs.join("20250314-092653-7f3a.hopcost"), run).expect("to write");
    home.run_file()
}

fn measured_run() -> Vec<u8> {
    let home = Home::alone();
    let cases = ["roundtrip/pipe?place=same-cpu", "call/call", "call/syscall"];
    let arguments = [&["run", "--rounds", "6", "--measure", "10ms"], &cases[..]].concat();
    home.expect(&arguments, measured());
    fs::read(home.run_file()).expect("the run")
}

/// Runs the independent reader; its output, or what it complains about.
fn read(run: &Path, report: &Path) -> Result<String, String> {
    let mut command = Command::new("python3");
    let output = command.arg(repository("tests/support/reader.py")).args([run, report]).finish();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    if output.status.success() { Ok(said) } else { Err(stderr(&output)) }
}

#[test]
fn a_run_that_is_killed_loses_no_trial_and_counts_none_twice() {
    let output =
        Command::new(repository("scripts/kills")).arg(hopcost_path()).args(["8", "3"]).finish();
    let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    assert!(output.status.success() && said.starts_with("8 kills"), "{said}");
}

#[test]
fn python_computes_the_same_numbers_to_the_last_digit() {
    let home = Home::new();
    let run = small_run(&home);
    let report = home.path().join("report.json");
    let mut document = home.json(&["report", "--format", "json"]);
    fs::write(&report, document.to_string()).expect("to write");
    let said = read(&run, &report).unwrap_or_else(|e| panic!("{e}"));
    for statistic in ["p50_ns", "cost_ns"] {
        assert!(said.contains(statistic), "nothing was compared for {statistic}: {said}");
    }
    assert_eq!(said.lines().count(), 3, "{said}");

    // The reader notices a last digit.
    let rows = document["estimates"].as_array_mut().expect("estimates");
    let p50 = rows.iter_mut().find(|row| row["statistic"] == "p50_ns").expect("a p50");
    let point = &mut p50["point"];
    *point = point.as_f64().expect("a number").next_up().into();
    fs::write(&report, document.to_string()).expect("to write");
    let complaint = read(&run, &report).expect_err("a digit was changed");
    assert!(complaint.contains("p50_ns"), "{complaint}");
}

#[test]
fn a_report_says_what_the_run_said_of_each_outcome() {
    let home = Home::alone();
    let cases = ["roundtrip/sleep:5us?clock=virtual", "roundtrip/fault:error", "call/call"];
    let more = ["roundtrip/udp?payload=70000", "--place", "same-cpu", "--measure", "5ms"];
    let asked = [&["run", "--rounds", "2", "--format", "json"], &cases[..], &more[..]].concat();
    let ran = home.expect(&asked, 1);
    assert_eq!(ran, home.expect(&["report", "--format", "json"], 0));
    let document: serde_json::Value = serde_json::from_str(&ran).expect("JSON");
    let cases = document["cases"].as_array().expect("cases");
    for status in ["measured", "skipped", "failed"] {
        assert!(cases.iter().any(|case| case["status"] == status), "nothing was {status}");
    }
    assert!(document["findings"][0]["code"].is_string(), "{document}");
    let trials = home.expect(&["report", "--format", "csv", "--table", "trials"], 0);
    assert!(trials.starts_with("case,round,at_s,value_ns,"), "{trials}");
    home.refuses(&["report", "--format", "csv", "--table", "x"], 2, "hopcost reference tables");
    home.refuses(&["report", "--format", "csv", "--table", "rights"], 2, "no table rights");
}

#[test]
fn the_file_alone_suffices_even_where_nothing_can_be_written() {
    let home = Home::new();
    let run = small_run(&home);
    let formats = ["text", "json", "csv", "md", "html"];
    let there: Vec<String> = formats
        .iter()
        .map(|format| home.expect(&["report", text(&run), "--format", format], 0))
        .collect();

    let away = tempfile::tempdir().expect("a directory");
    let copy = away.path().join("mailed.hopcost");
    fs::copy(&run, &copy).expect("to copy");
    set_mode(&copy, 0o444);
    set_mode(away.path(), 0o555);
    let other = Home::new();
    for (format, there) in formats.iter().zip(there) {
        // Root may write anywhere, so for root this is somebody else.
        let arguments = ["report", text(&copy), "--format", format];
        let by_stranger = other.hopcost_by_stranger(&[], &arguments);
        let mut command = by_stranger.unwrap_or_else(|| other.hopcost(&arguments));
        command.env_clear().env("HOME", "/nonexistent").env("LC_ALL", "C.UTF-8");
        let output = command.current_dir("/").finish();
        assert_eq!(output.status.code(), Some(0), "{format}: {}", stderr(&output));
        let here = String::from_utf8(output.stdout).expect("UTF-8");
        // The text ends with the command that shows more of this file.
        let (here, there) = match *format {
            "text" => (before_stored(&here), before_stored(&there)),
            _ => (here.as_str(), there.as_str()),
        };
        assert_eq!(here, there, "{format}");
    }
    let names: Vec<_> = fs::read_dir(away.path()).expect("to list").collect();
    assert_eq!(names.len(), 1, "{names:?}");
    set_mode(away.path(), 0o755);
}

fn before_stored(text: &str) -> &str {
    text.split_once("\nMore: ").expect("how to see more").0
}
