//! What goes wrong while hopcost measures: a row a fault, and what must be so after each of
//! them. It ends in time, with a documented exit code; no process of it is left, and no name;
//! every finished trial is in its file, and reported.

mod ends;
mod files;
pub mod hosts;
mod little;
mod processes;
mod workers;

use std::collections::BTreeSet;
use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};
use std::process::Output;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use std::os::unix::process::ExitStatusExt;

pub use processes::{
    alive, children_of, names, signal, terminated, the_death_of_a_worker_is_told, until,
};

use crate::support::wait::InTime;
use crate::support::{Home, alone, stored, works};

/// A fault.
struct Fault {
    name: &'static str,
    /// Exit codes that it may end with; those of a shell (128 and more) where a signal is the
    /// fault itself.
    codes: &'static [i32],
    /// What hopcost prints about it, on either stream.
    says: &'static [&'static str],
    within_s: u64,
    play: Play,
}

/// How it is played.
enum Play {
    By(fn(&Home) -> Played),
    /// A command with something of the machine taken away.
    Little(&'static little::Little),
    /// A worker, or a peer, that does what the word says.
    Told(fn(&Home, &str) -> Played, &'static str),
}

/// A row: name, exit codes, the output, the most seconds that it takes, and how it is played.
const fn fault(
    name: &'static str,
    codes: &'static [i32],
    says: &'static [&'static str],
    within_s: u64,
    play: fn(&Home) -> Played,
) -> Fault {
    Fault { name, codes, says, within_s, play: Play::By(play) }
}

/// How hopcost ended, or why this machine cannot tell.
type Played = Result<Output, &'static str>;

/// Those of the README.
const DOCUMENTED: [i32; 6] = [0, 1, 2, 3, 6, 130];
/// A run in which everything was measured: the build under test may call itself slow.
const MEASURED: &[i32] = &[0, 3];

const TABLES: [&[Fault]; 4] = [workers::FAULTS, little::FAULTS, files::FAULTS, hosts::FAULTS];

/// HOPCOST_FAULT picks the rows whose name contains it.
#[test]
fn faults_are_survived() {
    let _alone = alone();
    let only = std::env::var("HOPCOST_FAULT").unwrap_or_default();
    let is_chosen = |fault: &&Fault| fault.name.contains(&only);
    let (tried, failed) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let play = |fault: &Fault| {
        let home = Home::new();
        let begun = Instant::now();
        let played = std::panic::catch_unwind(AssertUnwindSafe(|| survived(fault, &home)));
        let left = ended(&home);
        let told = match played {
            Ok(Err(untried)) => {
                println!("NOT TRIED: {}: {untried}", fault.name);
                return;
            }
            Ok(Ok(())) if left.is_empty() => "survived",
            _ => "NOT SURVIVED",
        };
        println!("{told} in {:.1} s: {}", begun.elapsed().as_secs_f64(), fault.name);
        tried.fetch_add(1, Ordering::Relaxed);
        if told != "survived" {
            let failure = format!("{} (processes left: {left:?})", fault.name);
            failed.lock().expect("no panic").push(failure);
        }
    };
    // These look at how soon something ends, and at every queue of the machine.
    ends::FAULTS.iter().filter(is_chosen).for_each(&play);
    // The others wait more than they work: two at a time.
    let little = little::faults();
    let others = TABLES.into_iter().flatten().chain(&little);
    let others = Mutex::new(others.filter(is_chosen));
    let next = || others.lock().expect("no panic").next();
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| std::iter::from_fn(&next).for_each(&play));
        }
    });
    let (tried, failed) = (tried.into_inner(), failed.into_inner().expect("no panic"));
    println!("{} of {tried} faults survived", tried - failed.len());
    assert!(failed.is_empty(), "not survived: {failed:#?}");
}

/// Plays a fault and looks at what is so after it; panics where it is not survived.
fn survived(fault: &Fault, home: &Home) -> Result<(), &'static str> {
    let before = names(home);
    let begun = Instant::now();
    let output = match fault.play {
        Play::By(play) => play(home)?,
        Play::Little(row) => little::played(home, row)?,
        Play::Told(play, word) => play(home, word)?,
    };
    let took = begun.elapsed();
    let said = said(&output);
    let code = output.status.code().unwrap_or(128 + output.status.signal().unwrap_or(0));
    assert!(fault.codes.contains(&code), "exit code {code}: {}", briefly(&said));
    assert!(DOCUMENTED.contains(&code) || output.status.code().is_none(), "exit code {code}");
    assert!(took < Duration::from_secs(fault.within_s), "it took {took:?}");
    assert!(!said.contains("panicked") && !said.contains("BACKTRACE"), "{said}");
    for part in fault.says {
        assert!(said.contains(part), "no `{part}` in: {}", briefly(&said));
    }
    // Of what was killed itself, its parent's death ends the workers.
    let gone = || processes_of(home).is_empty();
    until(Duration::from_secs(2), "no process of it is left", gone);
    if output.status.code().is_none() {
        let next = home.run(&BRIEF);
        assert!(MEASURED.contains(&next.status.code().unwrap_or(-1)), "{next:?}");
    }
    for path in run_files(home) {
        intact(home, &path);
    }
    let own = |name: &&String| name.contains("/hopcost-") || !name.starts_with(&shown(home.path()));
    // Other users' queues come and go; what this one has left stays.
    let mut left: BTreeSet<_> = names(home).difference(&before).filter(own).cloned().collect();
    let gone = || {
        left = left.intersection(&names(home)).cloned().collect();
        left.is_empty()
    };
    until(Duration::from_secs(5), "no name is left", gone);
    Ok(())
}

/// Runs it in a namespace of its own (unshare(1)), changed by a script.
fn in_namespace(home: &Home, option: &str, change: &str, arguments: &[&str]) -> Played {
    let options: Vec<&str> = option.split(' ').collect();
    if !works("unshare", &[&options[..], &["true"]].concat()) {
        return Err("this user may make no namespaces");
    }
    let script = format!("{change} && exec \"$@\"");
    let words = [&["unshare"], &options[..], &["sh", "-c", &script, "sh"]].concat();
    Ok(home.hopcost_by(&words, arguments).finish())
}

/// A run that is over at once, and removes what those before it were killed with.
const BRIEF: [&str; 6] =
    ["run", "roundtrip/sleep:9us?clock=virtual&place=same-cpu", "--rounds", "1", "--out", "next"];

fn shown(path: &Path) -> String {
    path.display().to_string()
}

fn said(output: &Output) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    format!("{}{}", text(&output.stderr), text(&output.stdout))
}

/// As much of it as a failed test needs.
fn briefly(said: &str) -> String {
    said.chars().take(600).collect()
}

/// Processes that were started with this home, in any session.
pub fn processes_of(home: &Home) -> Vec<u32> {
    let own = format!("HOME={}", home.path().display());
    let pids = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = pids.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let has = |pid: &u32| {
        let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        environment.split(|&byte| byte == 0).any(|one| one == own.as_bytes())
    };
    pids.filter(has).collect()
}

/// Ends them, and says which there were.
fn ended(home: &Home) -> Vec<u32> {
    let left = processes_of(home);
    left.iter().for_each(|&pid| signal(pid, libc::SIGKILL));
    left
}

/// Every run file in a home and in its runs directory, but those that a row wants broken.
fn run_files(home: &Home) -> Vec<PathBuf> {
    let places = [home.path().to_owned(), home.path().join("data/hopcost/runs")];
    let files = places.iter().flat_map(|place| std::fs::read_dir(place).into_iter().flatten());
    let paths = files.flatten().map(|entry| entry.path());
    paths.filter(|path| path.extension().is_some_and(|e| e == hopcost_file::EXTENSION)).collect()
}

/// A run file can be read, each of its trials is measured or has a reason, and a report has
/// them all; so many they are.
fn intact(home: &Home, path: &Path) -> usize {
    let run = stored(path).unwrap_or_else(|error| panic!("{error}"));
    for trial in run.trials.iter().filter(|trial| trial.error.is_none()) {
        assert!(trial.operations > 0 && !trial.ends.is_empty(), "{trial:?}");
    }
    let report = home.run(&["report", &shown(path), "--format", "json"]);
    assert!(report.status.code().is_some_and(|code| DOCUMENTED.contains(&code)), "{report:?}");
    let document: serde_json::Value = serde_json::from_slice(&report.stdout).expect("JSON");
    assert_eq!(document["runs"][0]["trials_done"], run.trials.len(), "{}", document["runs"]);
    run.trials.len()
}
