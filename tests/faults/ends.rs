//! Ends of a trial and hopcost itself are killed, stopped and crash.

use std::time::Duration;

use hopcost_model::case::{Boundary, Placement, Workload};

use super::processes::endless_with;
use super::{BRIEF, Fault, MEASURED, Played, alive, fault, names, said, signal, until};
use crate::support::wait::{InTime, reap};
use crate::support::{Home, hopcost_path, mechanisms, roundtrip, set_mode, text};

const PIPE: &str = "roundtrip/pipe?payload=64&boundary=process&place=free&wait=block";
const SPINNER: &str = "wake/pipe?payload=64&gap=1000000&boundary=process&place=same-cpu&wait=block\
                       &idle-knob=spinner";
const OF_PYTHON: &str =
    "roundtrip/pipe?payload=64&boundary=process&place=free&wait=block&runtime=python-skeleton:rust";
const SKELETON: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../workers/skeleton/skeleton.py");

pub const FAULTS: &[Fault] = &[
    fault("SIGKILL of either end of a round trip, by every mechanism", &[0], &[], 60, |home| {
        let all = mechanisms().filter(|facts| {
            facts.workloads.contains(&Workload::Roundtrip)
                && facts.boundaries.contains(&Boundary::Process)
        });
        for facts in all {
            let wait = facts.waits[0];
            let id = roundtrip(facts, Boundary::Process, Placement::Free, wait).id();
            std::thread::scope(|scope| {
                for victim in [0, 1] {
                    let id = &id;
                    scope.spawn(move || {
                        super::the_death_of_a_worker_is_told(home, id, victim, |_, _| ());
                    });
                }
            });
        }
        Ok(home.run(&["list"]))
    }),
    fault("SIGSEGV of the second end", &[1], &["was killed by signal 11"], 10, |home| {
        struck(home, &[PIPE], 1, libc::SIGSEGV)
    }),
    fault("SIGSTOP of the second end", &[1], &["deadline"], 10, |home| {
        struck(home, &[PIPE, "--deadline-ms", "1000"], 1, libc::SIGSTOP)
    }),
    fault("SIGKILL of an end of another runtime", &[1], &["was killed by signal 9"], 10, |home| {
        struck(home, &[OF_PYTHON, "--worker", SKELETON], 0, libc::SIGKILL)
    }),
    fault("SIGKILL of hopcost, with a trial of processes that sleep", &[137], &[], 10, |home| {
        headless(home, &[PIPE])
    }),
    fault("SIGKILL of hopcost, with a trial of another runtime", &[137], &[], 10, |home| {
        headless(home, &[OF_PYTHON, "--worker", SKELETON])
    }),
    fault("SIGKILL of hopcost, with a trial that has a spinner", &[137], &[], 10, |home| {
        headless(home, &[SPINNER])
    }),
    fault(
        "SIGSTOP of hopcost: its workers end at their deadline",
        &[1],
        &["deadline"],
        10,
        |home| {
            // Spinning, four million round trips are over before the deadline on a fast machine.
            let id = "roundtrip/tcp?payload=64&boundary=process&place=same-cpu&wait=block";
            let (child, workers) = endless_with(home, &[id, "--deadline-ms", "1000"]);
            signal(child.id(), libc::SIGSTOP);
            let over = || !workers.iter().any(|&pid| alive(pid));
            until(Duration::from_secs(3), "the deadline", over);
            signal(child.id(), libc::SIGCONT);
            Ok(child.finish())
        },
    ),
    fault(
        "SIGKILL of hopcost: the next start removes its queues, says so, and says it once",
        MEASURED,
        &[],
        30,
        |home| {
            let long = ["run", "sysv-msg?place=same-cpu", "--rounds", "100", "--measure", "1s"];
            let queues = || names(home).iter().filter(|name| name.starts_with("sysv")).count();
            let before = queues();
            let mut child = home.start(&long);
            until(Duration::from_secs(5), "message queues", || queues() > before);
            child.kill().expect("to kill it");
            reap(&mut child);
            let run = &BRIEF[..4];
            let first = said(&home.run(run));
            assert!(first.contains("removed what run"), "{first}");
            assert_eq!(queues(), before);
            let again = home.run(run);
            assert!(!said(&again).contains("removed"));
            Ok(again)
        },
    ),
    fault("SIGKILL of hopcost while the kernel's events are recorded", &[137], &[], 30, |home| {
        recording(home, libc::SIGKILL)
    }),
    fault(
        "SIGINT of hopcost while the kernel's events are recorded",
        &[130],
        &["interrupted"],
        30,
        |home| recording(home, libc::SIGINT),
    ),
    fault("a worker starts a program in a session of its own", MEASURED, &[], 30, |home| {
        let program = home.path().join("program");
        let script = "#!/bin/sh\nsetsid sh -c 'sleep 300 & sleep 300' </dev/null >/dev/null 2>&1 &";
        let script = format!("{script}\nexec '{}' worker\n", hopcost_path().display());
        std::fs::write(&program, script).expect("to write");
        set_mode(&program, 0o700);
        let case = ["run", "call/syscall", "--rounds", "2", "--measure", "5ms", "--stand-in"];
        Ok(home.run(&[&case[..], &[text(&program)]].concat()))
    }),
    fault(
        "the process of hopcost has started something before it became hopcost",
        MEASURED,
        &[],
        30,
        |home| {
            let script = "HOME=/ sleep 300 >/dev/null 2>&1 & echo $! >sleeper; exec \"$@\"";
            let output = home.hopcost_by(&["sh", "-c", script, "sh"], &BRIEF).finish();
            let sleeper = std::fs::read_to_string(home.path().join("sleeper")).expect("a file");
            let sleeper = sleeper.trim().parse().expect("a process");
            assert!(alive(sleeper), "it was ended");
            signal(sleeper, libc::SIGKILL);
            Ok(output)
        },
    ),
];

/// A trial one worker of which is sent a signal.
fn struck(home: &Home, arguments: &[&str], victim: usize, number: i32) -> Played {
    let (child, workers) = endless_with(home, arguments);
    if number == libc::SIGSEGV {
        // Rust takes the first one for its own, and then lets the next one act.
        signal(workers[victim], number);
        std::thread::sleep(Duration::from_millis(20));
    }
    signal(workers[victim], number);
    Ok(child.finish())
}

/// A trial whose hopcost is killed.
fn headless(home: &Home, arguments: &[&str]) -> Played {
    let (child, workers) = endless_with(home, arguments);
    signal(child.id(), libc::SIGKILL);
    let output = child.finish();
    let over = || !workers.iter().any(|&pid| alive(pid));
    until(Duration::from_secs(2), "workers end with their parent", over);
    Ok(output)
}

/// An explanation whose hopcost is sent a signal while it has tracepoints open. They are off with the last
/// descriptor of them, which no process that is left may have.
fn recording(home: &Home, number: i32) -> Played {
    if hopcost_probe::trace::refused(0).is_some() {
        return Err("the kernel's events cannot be recorded here");
    }
    let child = home.start(&["explain", "pipe", "--place", "same-cpu", "--budget", "15s"]);
    // To find out whether it may, it opens one on each CPU.
    until(Duration::from_secs(10), "events", || events_of(child.id()) > 5);
    signal(child.id(), number);
    Ok(child.finish())
}

/// Descriptors of the kernel's events that a process has.
fn events_of(pid: u32) -> usize {
    let all = std::fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
    let is_event = |path: std::path::PathBuf| path.to_string_lossy().contains("[perf_event]");
    all.filter(|fd| std::fs::read_link(fd.path()).is_ok_and(is_event)).count()
}
