//! Processes of hopcost seen from outside, and what they can leave.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Child, ExitStatus};
use std::time::{Duration, Instant};

use hopcost_model::raw::RawTrial;

use crate::support::wait::{InTime, reap};
use crate::support::{Home, stderr};

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

pub fn until(patience: Duration, what: &str, mut done: impl FnMut() -> bool) {
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

/// Sends SIGTERM, which ends a process within a second.
pub fn terminated(child: &mut Child) -> ExitStatus {
    signal(child.id(), libc::SIGTERM);
    let sent = Instant::now();
    let status = reap(child);
    assert!(sent.elapsed() < Duration::from_secs(1), "it took {:?}", sent.elapsed());
    status
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
pub fn endless_with(home: &Home, arguments: &[&str]) -> (Child, Vec<u32>) {
    let mut first = vec!["trial"];
    if !arguments.contains(&"--count") {
        first.extend(["--count", "4000000"]);
    }
    let child = home.start(&[&first, arguments].concat());
    let id = arguments.iter().find(|one| one.contains('?')).expect("a case");
    let ends = if id.contains("boundary=process") { 2 } else { 1 };
    let expected = ends + usize::from(id.contains("idle-knob="));
    let mut workers = Vec::new();
    until(Duration::from_secs(5), "workers", || {
        workers = children_of(child.id());
        // Busy or blocked in the loop: attached, and then some.
        workers.len() == expected
    });
    std::thread::sleep(Duration::from_millis(60));
    (child, workers)
}

/// Looks at the process of a trial and its two workers, and kills one of these: the trial ends soon,
/// with the reason, and leaves no process.
pub fn the_death_of_a_worker_is_told(
    home: &Home,
    id: &str,
    victim: usize,
    look: impl FnOnce(u32, &[u32]),
) {
    let (child, workers) = endless_with(home, &[id, "--deadline-ms", "20000"]);
    let control = child.id();
    look(control, &workers);
    signal(workers[victim], libc::SIGKILL);
    let killed = Instant::now();
    let output = child.finish();
    let row: RawTrial = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", stderr(&output)));
    assert!(killed.elapsed() < Duration::from_secs(2), "{id}: took {:?}", killed.elapsed());
    let error = row.error.expect("a failed row");
    assert!(error.contains("was killed by signal 9"), "{id}: {error}");
    assert!(children_of(control).is_empty());
    assert!(!alive(workers[1 - victim]), "{id}: the other worker is still there");
}
