//! Gates with known answers: stored runs that were edited.

use std::fs;
use std::process::Command;

use hopcost_model::raw::RawRun;

use crate::compare::{BASELINE, stored, vary};
use crate::support::wait::InTime;
use crate::support::{Home, alone, measured};

/// The exit code of a gate in which everything was measured: a build whose probe is not optimised
/// calls its own numbers invalid.
fn ends(code: i32) -> i32 {
    if measured() == 0 { code } else { measured() }
}

/// A directory `old` of six runs of the baseline, all of whose times are so many thousandths of what
/// they are now.
fn baseline(home: &Home, per_mille: u32) -> RawRun {
    home.expect(&["run", BASELINE, "--rounds", "3", "--measure", "1ms"], measured());
    let raw = stored(home);
    for run in 0..6 {
        vary(&raw, &home.path().join(format!("old/a{run}.hopcost")), run, |raw| {
            let samples = raw.trials.iter_mut().flat_map(|trial| &mut trial.samples);
            samples.for_each(|sample| *sample = *sample * per_mille / 1000);
        });
    }
    raw
}

#[test]
fn a_fifth_more_fails_and_is_measured_twice() {
    let _alone = alone();
    let home = Home::new();
    baseline(&home, 833);
    let arguments = ["gate", "--baseline", "old", "--runs", "4", "--summary", "all.md"];
    let text = home.expect(&arguments, ends(4));
    let line = text.lines().find(|line| line.trim_start().starts_with("regression"));
    let line = line.unwrap_or_else(|| panic!("{text}"));
    assert_eq!(line.matches("+19.").count() + line.matches("+20.").count(), 6, "{line}");
    let summary = fs::read_to_string(home.path().join("all.md")).unwrap();
    assert!(summary.contains("| regression |"), "{summary}");
    assert!(!home.path().join("runs").exists());
    home.run_file();
}

#[test]
fn what_is_as_fast_passes_and_its_runs_are_kept_where_that_is_asked() {
    let _alone = alone();
    let home = Home::new();
    baseline(&home, 1000);
    let text = home.expect(&["gate", "--baseline", "old", "--strict", "--keep", "kept"], ends(0));
    assert!(text.contains("unchanged") && text.contains("5 runs now against"), "{text}");
    assert_eq!(fs::read_dir(home.path().join("kept")).unwrap().count(), 5);
}

#[test]
fn a_gate_may_be_of_a_percentile() {
    let _alone = alone();
    let home = Home::new();
    let raw = baseline(&home, 1000);
    for run in 0..6 {
        vary(&raw, &home.path().join(format!("tail/t{run}.hopcost")), 0, |raw| {
            let samples = raw.trials.iter_mut().flat_map(|trial| &mut trial.samples);
            samples.step_by(5).for_each(|sample| *sample = *sample * 6 / 5);
        });
    }
    // By the p50 it is unchanged.
    let text =
        home.expect(&["gate", "--baseline", "tail", "--runs", "4", "--statistic", "90"], ends(0));
    assert!(text.contains("improvement") && text.contains("by the p90 of its runs"), "{text}");
    let none = ["gate", "--baseline", "tail", "--statistic", "99.9"];
    home.refuses(&none, 2, "no case to be gated that has a p99.9");
}

#[test]
fn what_cannot_be_decided_is_refused_before_anything_is_measured() {
    let _alone = alone();
    let home = Home::new();
    let raw = baseline(&home, 1000);
    let kernel = |raw: &mut RawRun| {
        let release = raw.host_before.readings.iter_mut().find(|r| r.key == "kernel.release");
        release.expect("a release").value = Some("9.9".to_owned());
    };
    for run in 0..4 {
        vary(&raw, &home.path().join(format!("other/c{run}.hopcost")), run, kernel);
    }
    let of = |run| format!("old/a{run}.hopcost");
    let (a, b, c, d) = (of(0), of(1), of(2), of(3));
    let few = ["--baseline", &a, "--baseline", &b, "--baseline", &c];
    let four = [&few[..], &["--baseline", &d, "--runs", "3"]].concat();
    for (arguments, code, why) in [
        (&["--baseline", "old", "--runs", "2"][..], 2, "p is 0.071, of which 0.05 is needed"),
        (&four, 2, "p is 0.057, of which 0.05 is needed; want --runs 4"),
        (&few, 2, "has 3 runs of a case, and a test over runs wants 4"),
        (&["--baseline", "old", "tcp"], 2, "tcp selects no case of the baseline"),
        (&["--baseline", "old", "--summary", "old/a0.hopcost"], 2, "would overwrite"),
        (&["--baseline", "old", "--summary", "/nowhere/x"], 2, "/nowhere"),
        (&[BASELINE], 2, "required"),
    ] {
        home.refuses(&[&["gate"][..], arguments].concat(), code, why);
    }
    let said = home.run(&["gate", "--baseline", "other"]);
    let across = String::from_utf8_lossy(&said.stderr).contains("--across kernel");
    assert!(said.status.code() == Some(6) && across, "{said:?}");
    home.run_file();
    let across = ["gate", "--baseline", "other", "--across", "kernel", "--runs", "4"];
    home.expect(&across, ends(0));
}

#[test]
fn the_workflows_are_yaml() {
    let script = "import re, sys, yaml\n\
        pages = re.findall(r'```yaml\\n(.*?)```', open(sys.argv[1]).read(), re.S)\n\
        assert len(pages) == 1, len(pages)\n\
        for page in pages: assert yaml.safe_load(page)['jobs']['gate']['steps']";
    let python = |arguments: &[&str]| Command::new("python3").args(arguments).try_finish();
    if !python(&["-c", "import yaml"]).is_ok_and(|output| output.status.success()) {
        eprintln!("python3 has no yaml here: not tried");
        return;
    }
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/gate.md");
    let output = python(&["-c", script, page]).expect("python3");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
