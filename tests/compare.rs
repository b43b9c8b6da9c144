//! Comparisons with known answers, through plan, blocks, run file and view.

use std::path::Path;
use std::process::Command;

use hopcost_file::RunFile;
use hopcost_model::raw::RawRun;
use serde_json::Value;

use crate::support::wait::InTime;
use crate::support::{Home, measured, stored};

/// 4 µs of a time that passes only as the engine says, …
const BASELINE: &str = "roundtrip/spin:4000?clock=virtual";
/// … 5 % more, …
const SLOWER: &str = "roundtrip/spin:4200?clock=virtual";
/// … and 1 % less.
const AS_FAST: &str = "roundtrip/spin:3960?clock=virtual";

/// The exit code where everything was measured: a build whose probe is not optimised calls its own
/// numbers invalid.
fn ends(code: i32) -> i32 {
    if measured() == 0 { code } else { measured() }
}

fn json(home: &Home, arguments: &[&str], code: i32) -> Value {
    let mut all = vec!["compare", "--format", "json", "--seed", "1", "--measure", "1ms"];
    all.extend(arguments);
    let text = home.expect(&all, code);
    serde_json::from_str(&text).expect("JSON")
}

#[test]
fn known_differences_are_found_and_stop_the_comparison() {
    let home = Home::alone();
    let found = json(&home, &["--live", BASELINE, SLOWER, AS_FAST, BASELINE], measured());
    let of = |at: usize, key: &str| found["contrasts"][at][format!("contrast_{key}")].clone();
    for (at, verdict, ratio) in [(1, "outside", 1.05), (2, "inside", 0.99), (3, "inside", 1.0)] {
        assert_eq!(of(at, "verdict"), verdict, "{found}");
        for key in ["ratio", "low", "high"] {
            assert!((of(at, key).as_f64().unwrap() - ratio).abs() < 1e-9, "{key}: {found}");
        }
    }
    assert_eq!(found["contrasts"][0]["measurement"], "copy");
    assert_eq!(of(0, "verdict"), "inside");
    let found = &found["comparison"][0];
    assert_eq!(found["invalid"], Value::Null);
    let (made, planned) = (found["blocks"].as_u64().unwrap(), found["blocks_planned"].as_u64());
    assert!(made < planned.unwrap(), "{made} of {planned:?}");

    let run = stored(&home.run_file()).expect("the run");
    assert_eq!(run.trials.len() as u64, made * 2 * 5, "every case twice a block, and the copy");
    let cases = |round: u32| -> Vec<u32> {
        run.trials.iter().filter(|trial| trial.round == round).map(|trial| trial.case).collect()
    };
    let orders: Vec<Vec<u32>> = (0..made as u32).map(|block| cases(2 * block)).collect();
    for (block, order) in (0..).zip(&orders) {
        let back: Vec<u32> = order.iter().rev().copied().collect();
        assert_eq!(cases(2 * block + 1), back, "block {block}");
    }
    assert!(orders.iter().any(|order| *order != orders[0]), "each block has an order of its own");
    assert!(run.yardsticks.is_empty());
}

#[test]
fn a_stored_comparison_is_shown_again() {
    let home = Home::alone();
    let first =
        home.expect(&["compare", "--live", BASELINE, SLOWER, "--measure", "1ms"], measured());
    assert_eq!(home.expect(&["report", "last"], 0), first);
    let sentence = home.expect(&["report", "last", "--sentence"], 0);
    let want = "spin:4200 is slower than spin:4000, by at least 5.00 % (+5.00 % [+5.00, +5.00]";
    assert!(sentence.starts_with(want) && first.starts_with(want), "{first}{sentence}");
    assert!(first.contains("On one CPU"), "where nobody says where: {first}");
    home.refuses(&["run", "--resume", "last"], 2, "complete");
}

#[test]
fn a_live_case_fails_where_two_measurements_agree() {
    let home = Home::alone();
    let check = ["compare", "--live", BASELINE, SLOWER, "--measure", "1ms", "--fail-if-slower"];
    let text = home.expect(&[&check[..], &["3%"]].concat(), ends(4));
    assert_eq!(text.matches("+5.00 % [+5.00, +5.00]").count(), 3, "in the sentence too: {text}");
    home.expect(&[&check[..], &["10%"]].concat(), ends(0));
}

/// The run with every time that much longer, stored in a file of its own.
fn vary(raw: &RawRun, file: &Path, per_mille: u32, change: impl Fn(&mut RawRun)) {
    let mut raw = raw.clone();
    raw.about.id = file.file_stem().unwrap().to_string_lossy().into_owned();
    for sample in raw.trials.iter_mut().flat_map(|trial| &mut trial.samples) {
        *sample += *sample * u64::from(per_mille) / 1000;
    }
    change(&mut raw);
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    let mut out = RunFile::create(file, &raw.about, &raw.plan, &raw.host_before).unwrap();
    raw.trials.iter().for_each(|trial| out.append_trial(trial.clone()).unwrap());
    out.change("finish it", |run| {
        run.clocks = raw.clocks;
        run.workers = raw.workers;
        run.host_after = Some(raw.host_before);
        run.about.ended = Some("2026-01-01T00:00:01Z".to_owned());
    })
    .unwrap();
}

/// A run, and directories of `runs` that follow it: two equal ones, one that takes 10 % longer, and
/// one 30 %.
fn two_sides(home: &Home, runs: u32) -> RawRun {
    home.expect(&["run", BASELINE, "--rounds", "3", "--measure", "1ms"], measured());
    let raw = stored(&home.run_file()).expect("the run");
    for run in 0..runs {
        vary(&raw, &home.path().join(format!("old/a{run}.hopcost")), run, |_| ());
        vary(&raw, &home.path().join(format!("new/b{run}.hopcost")), 100 + run, |_| ());
        vary(&raw, &home.path().join(format!("slow/c{run}.hopcost")), 300 + run, |_| ());
        vary(&raw, &home.path().join(format!("old2/d{run}.hopcost")), run, |_| ());
    }
    raw
}

#[test]
fn stored_runs_are_compared_in_every_format_and_nothing_is_stored() {
    let home = Home::alone();
    two_sides(&home, 6);
    let of = |arguments: &[&str]| {
        let mut all = vec!["compare", "--format", "json"];
        all.extend(arguments);
        home.json(&all)
    };
    let found = of(&["old", "new"]);
    let one = &found["contrasts"][0];
    let of_case = |key: &str| one[format!("contrast_{key}")].as_f64().unwrap();
    assert_eq!((&one["contrast_verdict"], of_case("n")), (&"outside".into(), 6.0));
    assert!((of_case("ratio") - 1.1).abs() < 0.003, "{one}");
    assert!(of_case("low") > 1.09 && of_case("high") < 1.11, "{one}");
    let files: Vec<String> = (0..6).map(|run| format!("old/a{run}.hopcost")).collect();
    let mut words: Vec<&str> = files.iter().map(String::as_str).collect();
    words.extend(["--", "new"]);
    assert_eq!(of(&words), found);
    let wide = of(&["old", "new", "--margin", "20%"]);
    assert_eq!(wide["contrasts"][0]["contrast_verdict"], "inside");

    for (arguments, want) in [
        (["old", "new", "--format=text"], "slower, by at least 9."),
        (["old", "new", "--sentence"], "spin:4000 is slower than in the baseline, by at least 9."),
        (["new", "old", "--sentence"], "spin:4000 is faster than in the baseline, by at least "),
        (["old", "new", "--format=md"], "| slower, by at least 9."),
        (["old", "new", "--format=csv"], "measurement,case,baseline,contrast_ratio,"),
    ] {
        let text = home.expect(&[&["compare"][..], &arguments].concat(), measured());
        assert!(text.contains(want), "{text}");
    }
    let all = ["compare", "old", "slow", "new", "--summary=geomean"];
    let text = home.expect(&all, measured());
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let first = "Beside 6 runs, a0 to a5: slow: slower, by at least ";
    assert!(text.starts_with(first) && text.contains("; new: slower, by at least 9."), "{text}");
    let text = home.expect(&["compare", "old", "new", "slow", "--format=csv"], measured());
    let sides = |side: &str| text.lines().filter(|line| line.contains(side)).count();
    assert_eq!((sides(",new"), sides(",slow")), (1, 1), "{text}");
    home.expect(&["compare", "old", "old2", "slow", "--fail-if-slower", "20%"], ends(4));
    home.expect(&["compare", "old", "new", "--html", "page.html"], measured());
    let page = std::fs::read_to_string(home.path().join("page.html")).unwrap();
    assert!(page.contains("slower, by at least 9."), "{page}");
    home.run_file();
}

#[test]
fn what_runs_differ_in_is_told_and_nothing_is_compared() {
    let home = Home::alone();
    let raw = two_sides(&home, 2);
    let file = home.path().join("other.hopcost");
    vary(&raw, &file, 0, |raw| {
        let kernel = raw.host_before.readings.iter_mut().find(|r| r.key == "kernel.release");
        kernel.expect("a release").value = Some("9.9".to_owned());
    });
    let output = home.run(&["compare", "old/a0.hopcost", "other.hopcost"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!((output.status.code(), output.stdout.len()), (Some(6), 0), "{said}");
    let lines: Vec<&str> = said.trim_end().lines().collect();
    assert!(lines[0].starts_with("kernel: kernel.release was ") && lines[0].ends_with("is 9.9"));
    assert!(lines.len() == 2 && lines[1].contains("--across kernel"), "{said}");
    let across = ["compare", "old/a0.hopcost", "other.hopcost", "--across", "cpu,kernel"];
    assert!(home.expect(&across, 6).contains("Across kernel"));
    for (arguments, why) in [
        (&["old", "old/a1.hopcost"][..], "named twice"),
        (&["old", "nowhere"], "nowhere"),
        (&["old"], "--live"),
        (&["old", "--fail-if-slower", "5%"], "--live"),
        (&["old", "data"], "no run in data"),
        (&["old", "new", "--across", "colour"], "known: cpu, "),
        (&["old", "new", "--payload", "64"], "goes with --live"),
        (&["old", "new", "--seed", "1"], "go with --live"),
        (&["old", "new", "--percentiles", "50"], "--statistic"),
        (&["old", "new", "--table", "contrasts"], "--table goes with --format csv"),
    ] {
        home.refuses(&[&["compare"][..], arguments].concat(), 2, why);
    }
}

#[test]
fn two_builds_of_a_worker_are_compared_by_one_case() {
    let home = Home::alone();
    let skeleton = concat!(env!("CARGO_MANIFEST_DIR"), "/../../workers/skeleton/skeleton.c");
    let source = std::fs::read_to_string(skeleton).unwrap();
    let writes = "(writes ? write(";
    assert!(source.contains(writes));
    // 100 µs of sleep more per message.
    let sleep = "(writes ? nanosleep(&(struct timespec){0, 100000}, 0), write(";
    let slow = source.replace(writes, sleep);
    for (name, source) in [("old", &source), ("new", &slow)] {
        let file = home.path().join(format!("{name}.c"));
        std::fs::write(&file, source).unwrap();
        let mut compiler = Command::new("cc");
        compiler.arg("-O2").arg(&file).arg("-o").arg(home.path().join(name)).arg("-pthread");
        assert!(compiler.finish().status.success());
    }
    let compare = |new: &str, code: i32| {
        let words = ["compare", "--worker", "./old", "--worker", new, "pipe?place=same-cpu"];
        let all = [&words[..], &["--fail-if-slower", "20%", "--measure", "1ms"]].concat();
        home.expect(&all, ends(code))
    };
    let text = compare("./new", 4);
    assert!(text.contains("slower, by ") && text.contains("runtime=c-skeleton+2"), "{text}");
    assert!(!compare("./old", 0).contains("slower, by "));
}
