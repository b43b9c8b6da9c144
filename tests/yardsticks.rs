//! Yardsticks: read beside every trial, asleep in between, gone with the run.

use std::collections::BTreeSet;
use std::time::Duration;

use hopcost_model::raw::{CpuUse, Moment, YardstickClass};

use crate::faults::{alive, children_of, signal, until};
use crate::support::wait::reap;
use crate::support::{Home, estimate, stored};

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
    let home = Home::alone();
    let brief = ["run", "--rounds", "2", "--measure", "5ms"];
    let cases = ["call/call", "call/syscall", "roundtrip/pipe?place=same-cpu,free"];
    let output = home.run(&[&brief[..], &cases[..]].concat());
    assert!(output.status.code().is_some_and(|code| code != 1), "{output:?}");
    let run = stored(&home.run_file()).expect("a run");
    let classes: Vec<_> = run.yardsticks.iter().map(|one| one.class).collect();
    assert_eq!(classes, [YardstickClass::Alu, YardstickClass::Syscall, YardstickClass::Switch]);
    for yardstick in &run.yardsticks {
        assert!(yardstick.operations > 0 && yardstick.gone.is_none(), "{yardstick:?}");
    }
    assert_eq!(run.trials.len(), 8);
    for trial in &run.trials {
        assert!(trial.watched_ns > trial.wall_ns && trial.watched_ns < trial.took_ns, "{trial:?}");
        let used: Vec<u32> = trial.cpu_uses.iter().map(|used| used.cpu).collect();
        assert_eq!(used, Vec::from_iter(trial.cpus_asked[0]));
        let counted = |used: &CpuUse| used.network_softirqs.is_some();
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
    let home = Home::alone();
    let mut run = home.start(&["run", "call/syscall", "--rounds", "1", "--measure", "1000ms"]);
    // The yardstick's worker and the trial's, which is the one that runs.
    let mut parked = None;
    until(Duration::from_secs(10), "a trial beside a worker that sleeps", || {
        let before: Vec<_> =
            children_of(run.id()).into_iter().map(|pid| (pid, used(pid))).collect();
        std::thread::sleep(Duration::from_millis(300));
        let did: Vec<_> = before.iter().map(|&(pid, then)| (pid, then, used(pid))).collect();
        let ran = |then: &(u64, u64), now: &(u64, u64)| now.1 >= then.1 + 2;
        let is_busy = did.iter().any(|(_, then, now)| {
            then.as_ref().zip(now.as_ref()).is_some_and(|(then, now)| ran(then, now))
        });
        let asleep = did.iter().find(|(_, then, now)| then.is_some() && then == now);
        parked = asleep.filter(|_| is_busy).map(|(pid, ..)| *pid);
        parked.is_some()
    });
    let parked = parked.expect("found");
    run.kill().expect("to kill it");
    reap(&mut run);
    until(Duration::from_secs(2), "its yardstick ends with the run", || !alive(parked));
}

#[test]
fn a_run_goes_on_without_a_yardstick_that_dies() {
    let home = Home::alone();
    let mut run = home.start(&["run", "call/syscall", "--rounds", "8", "--measure", "50ms"]);
    let (mut seen, mut is_killed) = (BTreeSet::new(), false);
    until(Duration::from_secs(60), "the run ends", || {
        let now: BTreeSet<u32> = children_of(run.id()).into_iter().collect();
        seen.extend(&now);
        // The worker that has outlived those of two trials.
        let outlived =
            |pid: u32| seen.range(pid + 1..).filter(|later| !now.contains(later)).count();
        if let Some(&pid) = now.iter().find(|&&pid| outlived(pid) >= 2 && !is_killed) {
            signal(pid, libc::SIGKILL);
            is_killed = true;
        }
        run.try_wait().expect("to look").is_some()
    });
    let run = stored(&home.run_file()).expect("a run");
    assert_eq!(run.trials.len(), 8);
    assert!(run.trials.iter().all(|trial| trial.error.is_none()), "the trials do not suffer");
    assert!(run.trials.iter().any(|trial| trial.yardsticks.len() == 2));
    let gone = run.yardsticks[0].gone.as_deref().expect("a reason");
    assert!(gone.contains("was killed by signal 9"), "{gone}");
    assert!(run.trials.last().expect("a trial").yardsticks.is_empty());
}

/// A run that teaches the speed of the machine where nothing disturbs it.
const TEACHING: [&str; 6] = ["run", "call/syscall", "--rounds", "14", "--measure", "20ms"];

/// How often something is tried that wants to be left alone.
const TRIES: usize = 5;

/// Where the quiet speeds of a home are stored, once there are some.
fn stored_speeds(home: &Home) -> Option<std::path::PathBuf> {
    let files = std::fs::read_dir(home.path().join("data/hopcost/machine")).ok()?;
    let files: Vec<_> = files.map(|entry| entry.expect("an entry").path()).collect();
    assert_eq!(files.len(), 1, "{files:?}");
    files.into_iter().next()
}

/// The stored speed of getppid, where there is one.
fn floor(home: &Home) -> Option<serde_json::Value> {
    let text = std::fs::read_to_string(stored_speeds(home)?).expect("a file");
    let stored: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let floors = stored["floors"].as_array().expect("floors");
    let of_call = floors.iter().find(|floor| floor["case"] == "call/syscall")?;
    Some(of_call["reference"].clone())
}

/// Makes the stored speed so many nanoseconds.
fn change_floor(home: &Home, ns: f64) {
    let path = stored_speeds(home).expect("speeds");
    let text = std::fs::read_to_string(&path).expect("a file");
    let mut stored: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    for floor in stored["floors"].as_array_mut().expect("floors") {
        floor["reference"]["operation_ns"] = ns.into();
    }
    std::fs::write(&path, stored.to_string()).expect("to write");
}

/// The JSON document of a run.
fn measured(home: &Home) -> serde_json::Value {
    let output = home.run(&[&TEACHING[..], &["--format", "json"]].concat());
    assert!(output.status.code().is_some_and(|code| code != 1), "{output:?}");
    serde_json::from_slice(&output.stdout).expect("JSON")
}

#[test]
fn runs_teach_the_quiet_speed_and_a_wrong_one_does_not_last() {
    let home = Home::alone();
    let is_known = |floor: &serde_json::Value| floor["runs"].as_u64() >= Some(2);
    let mut tries = 0;
    while !floor(&home).is_some_and(|floor| is_known(&floor)) {
        if tries == TRIES {
            return eprintln!("NOT CHECKED: others used the CPU in each of {TRIES} runs");
        }
        measured(&home);
        tries += 1;
    }
    let known = floor(&home).expect("a floor");
    let ns = known["operation_ns"].as_f64().expect("a time");
    assert!(known["trials"].as_u64() >= Some(12) && known["learnt_on"].is_string(), "{known}");
    // Beside a floor half as high the machine is slow.
    change_floor(&home, ns / 2.0);
    let slow = measured(&home);
    assert!(slow["runs"][0]["disturbed"].as_str().expect("words").contains("× slower"), "{slow}");
    // As learnt beside other work: it makes no number wrong, and goes.
    change_floor(&home, ns * 2.5);
    let poisoned = measured(&home);
    let cost = estimate(&poisoned, 0, "cost_ns");
    assert!(cost["quiet"].is_null(), "{cost}");
    if poisoned["speed_probes"][0]["speed"] == "wrong" {
        let known = floor(&home).and_then(|floor| floor["operation_ns"].as_f64());
        assert!(known.is_none_or(|known| known < 2.0 * ns), "{poisoned}");
    }
}
