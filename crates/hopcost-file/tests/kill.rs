//! A kill at any moment loses nothing that was reported as stored.

mod common;

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use common::{about, host, plan, trial};
use hopcost_file::{Error, RunFile, open, open_for_resume};
use hopcost_model::raw::RawTrial;
use rusqlite::Connection;

const FILE: &str = "HOPCOST_TEST_FILE_TO_APPEND_TO";
const KILLS: u64 = 60;

/// Incompressible, so that a commit writes many pages and is easily hit.
fn heavy(round: u32) -> RawTrial {
    let samples = (0..8_192u32)
        .map(|i| (i ^ round).wrapping_mul(2_654_435_761).rotate_left(i % 31))
        .collect();
    RawTrial { samples, samples_taken: 8_192, ..trial(0, round) }
}

/// The child: does nothing but append, and says so after each trial.
#[test]
#[ignore = "run by a_kill_at_any_moment_loses_no_stored_trial, in a process of its own"]
fn append_until_killed() {
    let path = std::env::var_os(FILE).unwrap();
    let path = Path::new(&path);
    let mut file = match open_for_resume(path) {
        Ok((file, _)) => file,
        Err(Error::NotFound(_)) => RunFile::create(path, &about(), &plan(), &host("x")).unwrap(),
        Err(Error::Empty(_)) => {
            fs::remove_file(path).unwrap();
            RunFile::create(path, &about(), &plan(), &host("x")).unwrap()
        }
        Err(error) => panic!("{error}"),
    };
    let mut round = file.finished().last().map_or(0, |(_, round)| round + 1);
    loop {
        file.append_trial(&heavy(round)).unwrap();
        // One write, straight to the pipe: reported means stored.
        std::io::stderr().write_all(format!("stored {round}\n").as_bytes()).unwrap();
        round += 1;
    }
}

fn spawn(path: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "append_until_killed", "--ignored", "--nocapture"])
        .env(FILE, path)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Lets a child append for `time_us` after its first trial, kills it and returns
/// the rounds it reported.
fn kill_after(path: &Path, time_us: u64) -> BTreeSet<u32> {
    let mut child = spawn(path);
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let mut reported = BTreeSet::new();
    let mut note = |line: String| {
        if let Some(round) = line.strip_prefix("stored ") {
            reported.insert(round.parse().unwrap());
        } else {
            panic!("the child said: {line}");
        }
    };
    note(lines.next().unwrap().unwrap());
    std::thread::sleep(Duration::from_micros(time_us));
    child.kill().unwrap();
    child.wait().unwrap();
    // A line is one write shorter than the pipe's atomic limit: none is torn.
    lines.for_each(|line| note(line.unwrap()));
    reported
}

fn integrity(path: &Path) -> String {
    Connection::open(path)
        .and_then(|c| c.query_row("PRAGMA integrity_check", [], |r| r.get(0)))
        .unwrap()
}

/// Whether the file as the kill left it can be read without its journal.
fn reads_without_journal(path: &Path, copy: &Path) -> bool {
    fs::copy(path, copy).unwrap();
    let read = open(copy).is_ok();
    fs::remove_file(copy).unwrap();
    read
}

#[test]
fn a_kill_at_any_moment_loses_no_stored_trial() {
    let dir = tempfile::tempdir().unwrap();
    let (mut settled, mut needed, mut seed) = (0, 0, 0x2545_f491_4f6c_dd1du64);
    let mut stored = BTreeSet::new();
    for kill in 0..KILLS {
        // A few kills on one file, then a new one.
        let path = dir.path().join(format!("{}.hopcost", kill / 6));
        if kill % 6 == 0 {
            stored.clear();
        }
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        stored.extend(kill_after(&path, (seed >> 33) % 20_000));

        let journal = dir.path().join(format!("{}.hopcost-journal", kill / 6));
        let cut = fs::metadata(&journal).is_ok_and(|meta| meta.len() > 0);
        settled += u64::from(cut);
        needed += u64::from(cut && !reads_without_journal(&path, &dir.path().join("bare")));
        let run = open(&path).unwrap();
        let found: BTreeSet<u32> = run.trials.iter().map(|t| t.round).collect();
        assert!(stored.is_subset(&found), "kill {kill}: reported {stored:?}, found {found:?}");
        // At most the one that was being reported is there besides.
        assert!(found.len() <= stored.len() + (kill % 6) as usize + 1, "kill {kill}");
        assert!(run.trials.iter().all(|t| *t == heavy(t.round)), "kill {kill}: a trial changed");

        // From here on, the file alone is the run.
        let alone = dir.path().join("alone");
        fs::copy(&path, &alone).unwrap();
        assert_eq!(open(&alone).unwrap(), run);
        assert_eq!(integrity(&alone), "ok");
        fs::remove_file(alone).unwrap();
    }
    println!(
        "{settled} of {KILLS} kills hit a commit; {needed} of these files needed their journal"
    );
}
