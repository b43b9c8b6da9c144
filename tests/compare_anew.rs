//! `compare --fail-if-slower` with known answers: stored runs that were edited.

use std::fs;

use hopcost_model::raw::RawRun;

use crate::compare::{BASELINE, SLOWER, vary};
use crate::support::{Home, measured, stored};

/// The exit code where everything was measured: a build whose probe is not optimised calls its own
/// numbers invalid.
fn ends(code: i32) -> i32 {
    if measured() == 0 { code } else { measured() }
}

/// A directory `old` of six runs of the baseline, each of whose times is scaled by `per_mille`.
fn baseline(home: &Home, per_mille: u64) -> RawRun {
    home.expect(&["run", BASELINE, "--rounds", "3", "--measure", "1ms"], measured());
    let raw = stored(&home.run_file()).expect("the run");
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
    let home = Home::alone();
    baseline(&home, 833);
    let check = ["compare", "old", "--fail-if-slower", "5%"];
    let text = home.expect(&[&check[..], &["--runs", "4", "--format", "md"]].concat(), ends(4));
    let line = text.lines().find(|line| line.starts_with("| slower, by at least 1"));
    let line = line.unwrap_or_else(|| panic!("{text}"));
    assert!(line.matches("+19.").count() + line.matches("+20.").count() >= 4, "{line}");
    let last = home.expect(&["report", "last", "--format", "json"], 0);
    assert!(last.contains("fail-if-slower"), "the new runs are stored: {last}");
    // Two stored sides are compared once.
    fs::create_dir(home.path().join("new")).unwrap();
    let raw = stored(&home.path().join("old/a0.hopcost")).expect("a run");
    for run in 0..4 {
        vary(&raw, &home.path().join(format!("new/b{run}.hopcost")), 200 + run, |_| ());
    }
    home.expect(&["compare", "old", "new", "--fail-if-slower", "5%"], ends(4));
    home.expect(&["compare", "old", "new", "--fail-if-slower", "30%"], ends(0));
}

#[test]
fn a_live_case_fails_where_two_measurements_agree() {
    let home = Home::alone();
    let check = ["compare", "--live", BASELINE, SLOWER, "--measure", "1ms", "--fail-if-slower"];
    let text = home.expect(&[&check[..], &["3%"]].concat(), ends(4));
    assert_eq!(text.matches("+5.00 % [+5.00, +5.00]").count(), 3, "in the sentence too: {text}");
    home.expect(&[&check[..], &["10%"]].concat(), ends(0));
}

#[test]
fn what_is_as_fast_passes_and_its_runs_are_kept_where_that_is_asked() {
    let home = Home::alone();
    baseline(&home, 1000);
    let check = ["compare", "old", "--fail-if-slower", "5%", "--strict", "--out", "kept"];
    let text = home.expect(&check, ends(0));
    assert!(text.contains("as fast, within") && text.contains("5 runs against 6"), "{text}");
    assert_eq!(fs::read_dir(home.path().join("kept")).unwrap().count(), 5);
}

#[test]
fn what_cannot_be_decided_is_refused_before_anything_is_measured() {
    let home = Home::alone();
    let raw = baseline(&home, 1000);
    let kernel = |raw: &mut RawRun| {
        let release = raw.host_before.readings.iter_mut().find(|r| r.key == "kernel.release");
        release.expect("a release").value = Some("9.9".to_owned());
    };
    for run in 0..4 {
        vary(&raw, &home.path().join(format!("other/c{run}.hopcost")), run, kernel);
    }
    for (arguments, code, why) in [
        (
            &["old", "--runs", "1"][..],
            2,
            "1 run against the baseline's 6 show no spread: want 2 a side, and 5 in all",
        ),
        (&["old/a0.hopcost"], 2, "5 runs against the baseline's 1 show no spread"),
        (&["old", "tcp"], 2, "tcp selects no case of the baseline"),
        (&["old", "--seed", "1"], 2, "--live"),
        (&["old", "other", "--runs", "4"], 2, "both sides are stored"),
        (&["--live", BASELINE, SLOWER, "--runs", "4"], 2, "cannot be used with"),
    ] {
        home.refuses(&[&["compare", "--fail-if-slower", "5%"], arguments].concat(), code, why);
    }
    let check = ["compare", "other", "--fail-if-slower", "5%"];
    let said = home.run(&check);
    let across = String::from_utf8_lossy(&said.stderr).contains("--across kernel");
    assert!(said.status.code() == Some(6) && across, "{said:?}");
    home.run_file();
    home.expect(&[&check[..], &["--across", "kernel", "--runs", "4"]].concat(), ends(0));
}
