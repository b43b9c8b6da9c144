//! Peers that die, hang or lie; interrupts; nothing left behind.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use hopcost_model::case::{Boundary, Placement, Workload};
use hopcost_model::raw::RawTrial;

use crate::support::{Home, alone, mechanisms, roundtrip};

/// Pipes have the workers; everything that is not a zombie counts.
pub fn children_of(pid: u32) -> Vec<u32> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").expect("/proc").flatten() {
        let Ok(child) = entry.file_name().to_string_lossy().parse::<u32>() else { continue };
        let stat = std::fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        let mut fields = stat.rsplit_once(')').map_or("", |(_, rest)| rest).split_whitespace();
        let (state, parent) = (fields.next(), fields.next());
        if parent == Some(pid.to_string().as_str()) && state != Some("Z") {
            found.push(child);
        }
    }
    found
}

pub fn alive(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = stat.rsplit_once(')').and_then(|(_, rest)| rest.split_whitespace().next());
    state.is_some_and(|state| state != "Z" && state != "X")
}

fn until(patience: Duration, what: &str, mut done: impl FnMut() -> bool) {
    let end = Instant::now() + patience;
    while !done() {
        assert!(Instant::now() < end, "{what} within {patience:?}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

pub fn signal(pid: u32, signal: i32) {
    // SAFETY: kill with integer arguments, to a process that this test started.
    unsafe { libc::kill(pid as i32, signal) };
}

/// Names that hopcost could leave behind.
pub fn names(home: &Home) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for place in [Path::new("/dev/shm"), Path::new("/dev/mqueue"), home.path()] {
        for entry in std::fs::read_dir(place).into_iter().flatten().flatten() {
            names.insert(entry.path().display().to_string());
        }
    }
    let queues = std::fs::read_to_string("/proc/sysvipc/msg").unwrap_or_default();
    names.extend(
        queues.lines().skip(1).map(|line| {
            format!("sysv queue {}", line.split_whitespace().nth(1).unwrap_or_default())
        }),
    );
    names
}

/// A trial that goes on until something happens to it.
pub fn endless(home: &Home, id: &str, deadline_ms: &str) -> (Child, Vec<u32>) {
    let arguments = [
        "trial",
        id,
        "--count",
        "4000000",
        "--ticks-per-second",
        "1e9",
        "--deadline-ms",
        deadline_ms,
    ];
    let child = home
        .hopcost(&arguments)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    let expected = if id.contains("boundary=process") { 2 } else { 1 };
    let mut workers = Vec::new();
    until(Duration::from_secs(5), "workers", || {
        workers = children_of(child.id());
        // Busy or blocked in the loop: attached, and then some.
        workers.len() == expected
    });
    std::thread::sleep(Duration::from_millis(60));
    (child, workers)
}

pub fn row(child: Child) -> RawTrial {
    let output = child.wait_with_output().expect("it ends");
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|e| panic!("{e}: {}", String::from_utf8_lossy(&output.stderr)))
}

/// Kills one of the two workers of a case: its trial ends soon, with the reason, and
/// leaves no process.
pub fn the_death_of_a_worker_is_told(home: &Home, id: &str, victim: usize) {
    let (child, workers) = endless(home, id, "20000");
    let control = child.id();
    signal(workers[victim], libc::SIGKILL);
    let killed = Instant::now();
    let row = row(child);
    assert!(killed.elapsed() < Duration::from_secs(2), "{id}: took {:?}", killed.elapsed());
    let error = row.error.expect("a failed row");
    assert!(error.contains("was killed by signal 9"), "{id}: {error}");
    assert!(children_of(control).is_empty());
    assert!(!alive(workers[1 - victim]), "{id}: the other worker is still there");
}

#[test]
fn the_death_of_either_end_ends_the_trial_with_a_reason() {
    let _alone = alone();
    let home = Home::new();
    let before = names(&home);
    for facts in mechanisms().filter(|f| f.workloads.contains(&Workload::Roundtrip)) {
        if !facts.boundaries.contains(&Boundary::Process) {
            continue;
        }
        for victim in [0, 1] {
            let wait = facts.waits[0].wait;
            let id = roundtrip(facts, Boundary::Process, Placement::Free, wait).id();
            the_death_of_a_worker_is_told(&home, &id, victim);
        }
    }
    assert_eq!(names(&home), before);
}

#[test]
fn the_death_of_the_parent_ends_the_workers() {
    let _alone = alone();
    let home = Home::new();
    for id in [
        "roundtrip/pipe?payload=64&boundary=process&place=free&wait=block",
        "roundtrip/futex?payload=0&boundary=process&place=free&wait=block",
        "roundtrip/flag?payload=0&boundary=thread&place=free&wait=spin",
    ] {
        let (mut child, workers) = endless(&home, id, "20000");
        child.kill().expect("to kill it");
        child.wait().expect("to reap it");
        until(Duration::from_secs(2), id, || !workers.iter().any(|&pid| alive(pid)));
    }
}

#[test]
fn a_stopped_parent_does_not_keep_workers_beyond_their_deadline() {
    let _alone = alone();
    let home = Home::new();
    let id = "roundtrip/flag?payload=0&boundary=process&place=free&wait=spin";
    let (mut child, workers) = endless(&home, id, "1000");
    signal(child.id(), libc::SIGSTOP);
    until(Duration::from_secs(3), "the deadline", || !workers.iter().any(|&pid| alive(pid)));
    signal(child.id(), libc::SIGCONT);
    let row = row({
        let _ = child.stdin.take();
        child
    });
    assert!(row.error.expect("a failed row").contains("deadline"));
}

#[test]
fn a_stopped_worker_ends_at_the_deadline() {
    let _alone = alone();
    let home = Home::new();
    let id = "roundtrip/pipe?payload=64&boundary=process&place=free&wait=block";
    let (child, workers) = endless(&home, id, "1000");
    let started = Instant::now();
    signal(workers[1], libc::SIGSTOP);
    let error = row(child).error.expect("a failed row");
    assert!(started.elapsed() < Duration::from_secs(3), "{:?}", started.elapsed());
    assert!(error.contains("deadline"), "{error}");
    assert!(!workers.iter().any(|&pid| alive(pid)));
}

#[test]
fn what_a_killed_run_leaves_is_removed_by_the_next_start_which_says_so() {
    let _alone = alone();
    let home = Home::new();
    let before = names(&home);
    let mut child = home
        .hopcost(&["run", "sysv-msg?place=same-cpu", "--rounds", "100", "--measure", "1s"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the binary starts");
    let queues = |names: &BTreeSet<String>| names.iter().filter(|n| n.starts_with("sysv")).count();
    until(Duration::from_secs(5), "message queues", || queues(&names(&home)) > queues(&before));
    child.kill().expect("to kill it");
    child.wait().expect("to reap it");
    let run = ["run", "roundtrip/sleep:9us?clock=virtual&place=same-cpu", "--rounds", "1"];
    let output = home.run(&run);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stderr.contains("removed what run"), "{stderr}");
    let data = home.path().join("data").display().to_string();
    let after: BTreeSet<_> = names(&home).into_iter().filter(|name| *name != data).collect();
    assert_eq!(after, before);
    let again = home.run(&run);
    assert!(!String::from_utf8_lossy(&again.stderr).contains("removed"));
}

/// A process with this argument, if it lives.
fn with_argument(argument: &str) -> Option<u32> {
    std::fs::read_dir("/proc").expect("/proc").flatten().find_map(|entry| {
        let pid: u32 = entry.file_name().to_str()?.parse().ok()?;
        let line = std::fs::read(entry.path().join("cmdline")).ok()?;
        let named = line.split(|&byte| byte == 0).any(|word| word == argument.as_bytes());
        (named && alive(pid)).then_some(pid)
    })
}

#[test]
fn what_a_worker_starts_in_a_session_of_its_own_ends_with_the_trial() {
    let _alone = alone();
    let home = Home::new();
    let sleeps = format!("300.{}", std::process::id());
    let script = home.path().join("worker");
    let text = format!(
        "#!/bin/sh\nsetsid sh -c 'sleep {sleeps} & sleep {sleeps}' </dev/null >/dev/null 2>&1 &\n\
         exec '{}' worker\n",
        crate::support::hopcost_path().display()
    );
    std::fs::write(&script, text).expect("to write");
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o700)).expect("a mode");
    let path = script.to_str().expect("UTF-8");
    let case = ["run", "call/syscall", "--rounds", "2", "--measure", "5ms", "--stand-in", path];
    // `list` asks a worker what it is.
    for arguments in [&case[..], &["list", "--worker", path]] {
        let output = home.run(arguments);
        let left = with_argument(&sleeps);
        while let Some(pid) = with_argument(&sleeps) {
            signal(pid, libc::SIGKILL);
            std::thread::sleep(Duration::from_millis(10));
        }
        assert!(output.status.code().is_some_and(|code| code != 1), "{output:?}");
        assert_eq!(left, None, "it outlived {arguments:?}");
    }
}

#[test]
fn what_was_started_before_hopcost_by_its_process_is_left_alone() {
    let _alone = alone();
    let home = Home::new();
    let sleeps = format!("301.{}", std::process::id());
    let mut command = std::process::Command::new("sh");
    command
        .args(["-c", &format!("sleep {sleeps} >/dev/null 2>&1 & exec \"$@\""), "sh"])
        .arg(crate::support::hopcost_path())
        .args(["run", "roundtrip/sleep:9us?clock=virtual&place=same-cpu", "--rounds", "1"])
        .current_dir(home.path())
        .env("HOME", home.path())
        .env("XDG_DATA_HOME", home.path().join("data"))
        .env("TMPDIR", home.path());
    let output = command.output().expect("sh starts");
    assert!(output.status.code().is_some_and(|code| code != 1), "{output:?}");
    let sleeper = with_argument(&sleeps);
    if let Some(pid) = sleeper {
        signal(pid, libc::SIGKILL);
    }
    assert!(sleeper.is_some(), "it was ended");
}

/// A run whose processes may have so many descriptors each.
fn with_descriptors(home: &Home, descriptors: u32, arguments: &[&str]) -> std::process::Output {
    let limit = format!("ulimit -n {descriptors}; exec \"$0\" \"$@\"");
    let inner = home.hopcost(arguments);
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", &limit]).arg(inner.get_program()).args(arguments).current_dir(home.path());
    shell.envs(inner.get_envs().filter_map(|(name, value)| Some((name, value?))));
    shell.output().expect("the shell starts")
}

#[test]
fn too_few_descriptors_for_a_trial_are_said_before_the_first() {
    let _alone = alone();
    let cases = [
        "call/syscall",
        "roundtrip/pipe?place=same-cpu",
        "wake/pipe?gap=1ms&place=same-cpu",
        "stream/tcp-writev?flows=8",
    ];
    for case in cases {
        let home = Home::new();
        let out = home.path().join("run");
        let out_name = out.to_str().expect("UTF-8");
        let arguments = ["run", case, "--rounds", "1", "--measure", "1ms", "--out", out_name];
        let mut descriptors = 12;
        let output = loop {
            let output = with_descriptors(&home, descriptors, &arguments);
            if output.status.code() != Some(2) {
                break output;
            }
            let stderr = String::from_utf8_lossy(&output.stderr);
            assert_eq!(stderr.lines().count(), 1, "{case} {descriptors}: {stderr}");
            assert!(!out.exists(), "{case} {descriptors}: refused, and left a file");
            descriptors += 1;
            assert!(descriptors < 60, "{case}: {stderr}");
        };
        let run = hopcost_file::open(&out, &|| Ok(Box::new(tempfile::tempdir()?)));
        let run = run.unwrap_or_else(|error| panic!("{case} {descriptors}: {error} {output:?}"));
        let errors: Vec<_> = run.trials.iter().filter_map(|trial| trial.error.clone()).collect();
        assert_eq!((run.trials.len(), errors), (1, vec![]), "{case} {descriptors}");
        let gone: Vec<_> = run.yardsticks.iter().filter_map(|one| one.gone.clone()).collect();
        assert_eq!(gone, Vec::<String>::new(), "{case} {descriptors}");
    }
}
