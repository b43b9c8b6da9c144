//! Yardsticks: read beside every trial, asleep in between, gone with the run.

use std::collections::BTreeSet;
use std::process::{Child, Output, Stdio};
use std::time::{Duration, Instant};

use hopcost_model::protocol::ClockReading;
use hopcost_model::raw::{CpuUse, Moment, RawRun, Reference, YardstickClass};

use crate::faults::{alive, children_of, signal};
use crate::support::wait::reap;
use crate::support::{Home, alone};

fn stored(home: &Home) -> RawRun {
    hopcost_file::open(&home.run_file(), &|| Ok(Box::new(tempfile::tempdir()?)))
        .expect("a run file")
}

fn started(home: &Home, arguments: &[&str]) -> Child {
    let mut command = home.hopcost(arguments);
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the binary starts")
}

/// How often a process was switched from, and its CPU time in clock ticks.
fn used(pid: u32) -> Option<(u64, u64)> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let switches = status.lines().filter(|line| line.contains("ctxt_switches"));
    let switches = switches.filter_map(|line| line.split_whitespace().last()?.parse::<u64>().ok());
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let mut times = stat.rsplit_once(')')?.1.split_whitespace().skip(11);
    let mut time = || times.next()?.parse::<u64>().ok();
    Some((switches.sum(), time()? + time()?))
}

#[test]
fn every_pinned_trial_has_a_reading_before_and_after() {
    let _alone = alone();
    let home = Home::new();
    let output = home.run(&[
        "run",
        "call/call",
        "call/syscall",
        "roundtrip/pipe?place=same-cpu,free",
        "--rounds",
        "2",
        "--measure",
        "5ms",
        "--group",
        "of this test",
    ]);
    assert!(output.status.code().is_some_and(|code| code != 1), "{output:?}");
    let run = stored(&home);
    let classes: Vec<_> = run.yardsticks.iter().map(|one| one.class).collect();
    assert_eq!(classes, [YardstickClass::Alu, YardstickClass::Syscall, YardstickClass::Switch]);
    for yardstick in &run.yardsticks {
        assert!(yardstick.operations > 0 && yardstick.gone.is_none(), "{yardstick:?}");
    }
    assert_eq!(run.about.group.as_deref(), Some("of this test"));
    let clocks = |clocks: &[ClockReading]| clocks.iter().map(|one| one.cpu).collect::<Vec<_>>();
    assert_eq!(clocks(&run.clocks_after), clocks(&run.clocks));
    assert!(run.host_before.get("kernel.boot_id").is_some_and(|id| id.len() == 36));
    assert_eq!(run.trials.len(), 8);
    for trial in &run.trials {
        assert!(trial.watched_ns > trial.wall_ns && trial.watched_ns < trial.took_ns, "{trial:?}");
        let used: Vec<u32> = trial.cpu_uses.iter().map(|used| used.cpu).collect();
        assert_eq!(used, Vec::from_iter(trial.cpus_asked[0]));
        let counted = |used: &CpuUse| used.interrupts.is_some() && used.softirqs.is_some();
        assert!(trial.cpu_uses.iter().all(counted), "{:?}", trial.cpu_uses);
        let moments: Vec<_> = trial.yardsticks.iter().map(|read| read.moment).collect();
        let pinned = trial.cpus_asked[0].is_some();
        let expected: &[Moment] = if pinned { &[Moment::Before, Moment::After] } else { &[] };
        assert_eq!(moments, expected);
        assert!(trial.yardsticks.iter().all(|read| read.operation_ns > 0.0));
    }
}

#[test]
fn a_yardstick_sleeps_while_a_trial_is_measured_and_ends_with_the_run() {
    let _alone = alone();
    let home = Home::new();
    let mut run = started(&home, &["run", "call/syscall", "--rounds", "1", "--measure", "1500ms"]);
    let until = Instant::now() + Duration::from_secs(10);
    // The yardstick's worker and the trial's, which is the one that runs.
    let (parked, busy) = loop {
        assert!(Instant::now() < until, "no trial beside a worker that sleeps");
        let before: Vec<_> =
            children_of(run.id()).into_iter().map(|pid| (pid, used(pid))).collect();
        std::thread::sleep(Duration::from_millis(300));
        let did: Vec<_> = before.iter().map(|&(pid, then)| (pid, then, used(pid))).collect();
        let busy = did
            .iter()
            .find(|(_, then, now)| then.zip(*now).is_some_and(|(then, now)| now.1 >= then.1 + 2));
        let parked = did.iter().find(|(_, then, now)| then.is_some() && then == now);
        if let (Some(parked), Some(busy)) = (parked, busy) {
            break (parked.0, busy.0);
        }
    };
    assert_ne!(parked, busy);
    let system_call = std::fs::read_to_string(format!("/proc/{parked}/wchan")).unwrap_or_default();
    assert!(!system_call.contains("futex"), "it waits in {system_call}");
    run.kill().expect("to kill it");
    reap(&mut run);
    let until = Instant::now() + Duration::from_secs(2);
    while alive(parked) {
        assert!(Instant::now() < until, "its yardstick outlived the run");
        std::thread::sleep(Duration::from_millis(2));
    }
}

#[test]
fn a_yardstick_that_dies_is_started_again_once_and_then_done_without() {
    let _alone = alone();
    let home = Home::new();
    let mut run = started(&home, &["run", "call/syscall", "--rounds", "12", "--measure", "50ms"]);
    let (mut seen, mut killed) = (BTreeSet::new(), 0);
    let until = Instant::now() + Duration::from_secs(60);
    while run.try_wait().expect("to look").is_none() {
        assert!(Instant::now() < until, "the run does not end");
        let now: BTreeSet<u32> = children_of(run.id()).into_iter().collect();
        seen.extend(&now);
        // The worker that has outlived those of two trials.
        let outlived =
            |pid: u32| seen.range(pid + 1..).filter(|later| !now.contains(later)).count();
        if let Some(&pid) = now.iter().find(|&&pid| outlived(pid) >= 2 && killed < 2) {
            signal(pid, libc::SIGKILL);
            killed += 1;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(killed, 2);
    let run = stored(&home);
    assert_eq!(run.trials.len(), 12);
    assert!(run.trials.iter().all(|trial| trial.error.is_none()), "the trials do not suffer");
    let read = |from: usize| run.trials[from..].iter().filter(|t| t.yardsticks.len() == 2).count();
    assert!(read(0) >= 1 && read(0) <= 11, "{}", read(0));
    let gone = run.yardsticks[0].gone.as_deref().expect("a reason");
    assert!(gone.contains("was killed by signal 9"), "{gone}");
    assert!(run.trials.last().expect("a trial").yardsticks.is_empty());
}

/// As many rounds as a level takes to be learnt.
const SHORT: [&str; 6] = ["run", "call/syscall", "--rounds", "6", "--measure", "2ms"];

/// The stored levels of a home, as text.
fn levels(home: &Home) -> String {
    let folder = home.path().join("data/hopcost/machine");
    let files = std::fs::read_dir(folder).expect("the machine's folder");
    let files: Vec<_> = files.map(|entry| entry.expect("an entry").path()).collect();
    assert_eq!(files.len(), 1, "{files:?}");
    std::fs::read_to_string(&files[0]).expect("a file")
}

/// Makes the stored levels so many times as long.
fn change_levels(home: &Home, factor: f64) {
    let path = std::fs::read_dir(home.path().join("data/hopcost/machine")).expect("a folder");
    let path = path.map(|entry| entry.expect("an entry").path()).next().expect("a file");
    let mut stored: serde_json::Value =
        serde_json::from_slice(&std::fs::read(&path).expect("levels")).expect("JSON");
    for level in stored["levels"].as_array_mut().expect("levels") {
        let ns = level["reference"]["operation_ns"].as_f64().expect("a time");
        level["reference"]["operation_ns"] = (ns * factor).into();
    }
    std::fs::write(&path, stored.to_string()).expect("to write");
}

/// How often something is tried that wants to be left alone. Where others compute all the time it is not
/// checked, and that is told: hopcost has to refuse then.
const TRIES: usize = 20;

fn not_checked() {
    eprintln!("NOT CHECKED: others used the CPUs in each of {TRIES} tries, so nothing was learnt");
}

/// What `calibrate` prints; nothing on a busy machine, where it leaves the stored levels as they are.
fn calibrated(home: &Home, more: &[&str]) -> Option<String> {
    let arguments = [&["calibrate", "--budget", "1s"], more].concat();
    let stored = || {
        let is_there = home.path().join("data/hopcost/machine").exists();
        let text = if is_there { levels(home) } else { r#"{"levels":[]}"#.to_owned() };
        serde_json::from_str::<serde_json::Value>(&text).expect("JSON")["levels"].clone()
    };
    let before = stored();
    let is_refused = |one: &Output| {
        let refused = String::from_utf8_lossy(&one.stderr).contains("busy with other work");
        if refused {
            assert_eq!((one.status.code(), one.stdout.len()), (Some(1), 0), "{one:?}");
            assert_eq!(stored(), before);
        }
        refused
    };
    let mut ended = std::iter::repeat_with(|| home.run(&arguments)).take(TRIES);
    let Some(output) = ended.find(|one| !is_refused(one)) else {
        not_checked();
        return None;
    };
    assert!(output.status.success(), "{output:?}");
    Some(String::from_utf8(output.stdout).expect("UTF-8"))
}

/// The id and the reference of a short run, and what it said on stderr.
fn reference(home: &Home, out: &str) -> (String, Reference, String) {
    let out = home.path().join(out);
    std::fs::remove_file(&out).ok();
    let mut arguments = SHORT.to_vec();
    arguments.extend(["--out", out.to_str().expect("UTF-8")]);
    let output = home.run(&arguments);
    assert!(output.status.code().is_some_and(|code| code != 1), "{output:?}");
    let run = hopcost_file::open(&out, &|| Ok(Box::new(tempfile::tempdir()?)));
    let run = run.expect("a run file");
    let stderr = String::from_utf8(output.stderr).expect("UTF-8");
    (run.about.id, run.yardsticks[0].reference.clone().expect("a reference"), stderr)
}

#[test]
fn a_level_of_a_machine_that_was_not_quiet_is_replaced_by_a_run_that_finds_it_faster() {
    let _alone = alone();
    let home = Home::new();
    if calibrated(&home, &[]).is_none() {
        return;
    }
    change_levels(&home, 2.5);
    let stored = levels(&home);
    let (id, found, stderr) = reference(&home, "first");
    assert_eq!(found.learnt_from, id, "{stderr}");
    assert!(stderr.contains("faster than its stored reference speed (syscall "), "{stderr}");
    let out = home.path().join("first");
    let shown = ["report", out.to_str().expect("UTF-8"), "--format", "json"];
    let results = home.expect(&shown, 0);
    let results: serde_json::Value = serde_json::from_str(&results).expect("JSON");
    let cost = &results["results"][0]["estimates"]["cost_ns"];
    let (point, as_met) = (cost["point"].as_f64(), cost["as_met"].as_f64());
    let times = point.expect("a cost") / as_met.or(point).expect("a cost");
    assert!(times < 1.5, "at a speed that nobody met: {cost}");
    assert_eq!(levels(&home) == stored, stderr.contains("the machine was busy"), "{stderr}");
}

#[test]
fn a_first_run_learns_the_level_and_later_ones_refer_to_it() {
    let _alone = alone();
    let home = Home::new();
    let mut firsts = std::iter::repeat_with(|| reference(&home, "first")).take(TRIES);
    let is_stored = |(.., said): &(_, _, String)| !said.contains("the machine was busy");
    let Some((first_id, first, _)) = firsts.find(is_stored) else { return not_checked() };
    assert_eq!((first.readings, &first.learnt_from), (12, &first_id));
    assert!(first.operation_ns > 1.0 && first.log_error >= 0.0);
    // So short that no later run finds the machine faster, which would replace it.
    change_levels(&home, 0.5);
    let stored = levels(&home);
    let (second_id, second, _) = reference(&home, "second");
    assert!((second.operation_ns / first.operation_ns - 0.5).abs() < 1e-9, "{second:?}");
    assert_eq!(Reference { operation_ns: first.operation_ns, ..second }, first);
    assert!(second_id != first_id && levels(&home) == stored);
    let Some(said) = calibrated(&home, &["--format", "json"]) else { return };
    let said: serde_json::Value = serde_json::from_str(&said).expect("JSON");
    let syscall = &said["yardsticks"][1];
    assert_eq!(syscall["previous"]["learnt_from"], first_id.as_str(), "{said}");
    assert_eq!(syscall["reference"]["learnt_from"], "calibrate");
    assert_ne!(levels(&home), stored);
    let shown = home.expect(&["calibrate", "--show"], 0);
    assert!(shown.starts_with("class ") && shown.contains("syscall"), "{shown}");
    change_levels(&home, 0.5);
    assert_eq!(reference(&home, "third").1.learnt_from, "calibrate");
}

#[test]
fn where_levels_cannot_be_stored_or_believed_a_line_says_so_and_the_run_goes_on() {
    let _alone = alone();
    let home = Home::new();
    let machine = home.path().join("data/hopcost/machine");
    std::fs::create_dir_all(machine.parent().expect("a parent")).expect("to create");
    std::fs::write(&machine, "").expect("to write");
    let output = home.run(&SHORT);
    assert!(output.status.code().is_some_and(|code| code != 1), "{output:?}");
    let stderr = String::from_utf8_lossy(&output.stderr);
    let lines = stderr.lines().filter(|line| line.contains("machine"));
    assert_eq!(lines.count(), 2, "{stderr}");
    let run = stored(&home);
    assert!(run.yardsticks[0].reference.is_some(), "the run has its own");
    let refused = home.run(&["calibrate", "--show"]);
    assert_eq!(refused.status.code(), Some(2), "{refused:?}");
}
