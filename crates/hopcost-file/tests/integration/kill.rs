//! A kill at any moment loses nothing that was reported as stored, and what it leaves beside
//! the file is believed only where nobody else can have put it there.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::common::{create, made, make, open, torn, trial};
use hopcost_file::{Kind, open_for_resume};
use hopcost_model::raw::RawTrial;
use rusqlite::Connection;

const FILE: &str = "HOPCOST_TEST_FILE_TO_APPEND_TO";
const KILLS: u64 = 36;

/// Incompressible, so that a commit writes many pages and is easily hit.
fn heavy(round: u32) -> RawTrial {
    let samples = (0..8_192u32)
        .map(|i| (i ^ round).wrapping_mul(2_654_435_761).rotate_left(i % 31).into())
        .collect();
    RawTrial { samples, samples_taken: 8_192, ..trial(0, round) }
}

/// The child: does nothing but append, and says so after each trial.
#[test]
#[ignore = "run by a_kill_at_any_moment_loses_no_stored_trial, in a process of its own"]
fn append_until_killed() {
    let path = std::env::var_os(FILE).unwrap();
    let path = Path::new(&path);
    let opened = open_for_resume(path).map(|(file, _)| file);
    let mut file = opened.unwrap_or_else(|error| {
        match error.kind() {
            Kind::NotFound => {}
            Kind::Empty => fs::remove_file(path).unwrap(),
            _ => panic!("{error}"),
        }
        create(path).unwrap()
    });
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
        .args(["--exact", "kill::append_until_killed", "--ignored", "--nocapture"])
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

#[test]
fn a_kill_at_any_moment_loses_no_stored_trial() {
    let dir = tempfile::tempdir().unwrap();
    let (mut hit, mut seed) = (0, 0x2545_f491_4f6c_dd1du64);
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
        hit += u64::from(fs::metadata(&journal).is_ok_and(|meta| meta.len() > 0));
        let run = open(&path).unwrap();
        let found: BTreeSet<u32> = run.trials.iter().map(|t| t.round).collect();
        assert!(stored.is_subset(&found), "kill {kill}: reported {stored:?}, found {found:?}");
        // At most the one that was being reported is there besides.
        assert!(found.len() <= stored.len() + (kill % 6) as usize + 1, "kill {kill}");
        assert!(run.trials.iter().all(|t| *t == heavy(t.round)), "kill {kill}: a trial changed");

        assert_eq!(integrity(&path), "ok");
    }
    println!("{hit} of {KILLS} kills hit a commit");
}

/// Adds to a journal what made SQLite 3.40 delete a file when it had applied the journal
/// (<https://www.sqlite.org/atomiccommit.html>, "super-journal").
fn name_another(journal: &Path, other: &Path) {
    let name = other.to_str().unwrap().as_bytes();
    let sum: u32 = name.iter().map(|byte| u32::from(*byte)).sum();
    let mut bytes = fs::read(journal).unwrap();
    bytes.extend(0x40000001u32.to_be_bytes());
    bytes.extend(name);
    bytes.extend((name.len() as u32).to_be_bytes());
    bytes.extend(sum.to_be_bytes());
    bytes.extend([0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7]);
    fs::write(journal, bytes).unwrap();
}

fn names_in(dir: &Path) -> Vec<String> {
    let names = fs::read_dir(dir).unwrap();
    let mut names: Vec<_> =
        names.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn reading_undoes_an_unfinished_commit_and_changes_no_file() {
    let dir = tempfile::tempdir().unwrap();
    let (path, run) = torn(dir.path());
    assert!(open(&dir.path().join("bare")).ok() != Some(run.clone()), "the journal matters");
    let precious = dir.path().join("precious");
    fs::write(&precious, "precious").unwrap();
    name_another(&dir.path().join("torn-journal"), &precious);
    let before = (names_in(dir.path()), fs::read(&path).unwrap());
    assert!(open(&path).unwrap() == run);
    assert_eq!((names_in(dir.path()), fs::read(&path).unwrap()), before);
    // To resume it settles the file; that alone is the run then.
    drop(open_for_resume(&path).unwrap());
    assert!(!dir.path().join("torn-journal").exists() && open(&path).unwrap() == run);
    assert_eq!(fs::read_to_string(&precious).unwrap(), "precious");
}

#[test]
fn where_others_can_write_nothing_is_resumed() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().unwrap();
    let (path, run) = torn(dir.path());
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o777)).unwrap();
    assert!(open(&path).unwrap() == run);
    assert_eq!(open_for_resume(&path).unwrap_err().kind(), Kind::Shared);
    // Nor is an empty journal used that somebody else can fill.
    let (whole, journal) = (dir.path().join("whole"), dir.path().join("whole-journal"));
    for resumed in [true, false] {
        fs::write(&journal, "").unwrap();
        if std::os::unix::fs::lchown(&journal, Some(65_534), None).is_err() {
            return;
        }
        let refused = if resumed { open_for_resume(&whole).err() } else { create(&whole).err() };
        assert_eq!(refused.map(|error| error.kind()), Some(Kind::Shared));
        let _ = fs::remove_file(&whole);
    }
}

#[test]
fn what_a_stranger_has_put_beside_a_run_is_not_looked_at() {
    let dir = tempfile::tempdir().unwrap();
    let (path, _) = torn(dir.path());
    // What the file holds without its journal: what an unfinished commit left of it.
    let journal = dir.path().join("torn-journal");
    let kept = fs::read(&journal).unwrap();
    if std::os::unix::fs::lchown(&journal, Some(65_534), None).is_err() {
        eprintln!("NOT CHECKED: giving a file away takes root");
        return;
    }
    let before = fs::read(&path).unwrap();
    let _ = open(&path);
    assert_eq!(fs::read(&path).unwrap(), before, "the run was changed");
    assert_eq!(fs::read(&journal).unwrap(), kept, "the journal was taken");
    assert_eq!(fs::metadata(&journal).unwrap().uid(), 65_534, "the journal was given away");
    assert_eq!(open_for_resume(&path).unwrap_err().kind(), Kind::Shared);
    // A FIFO or a link of a stranger keeps nobody from reading.
    fs::remove_file(&journal).unwrap();
    let other = dir.path().join("other");
    let run = make(&other, 1);
    for suffix in ["-journal", "-wal"] {
        let beside = dir.path().join(format!("other{suffix}"));
        std::os::unix::fs::symlink("precious", &beside).unwrap();
        std::os::unix::fs::lchown(&beside, Some(65_534), None).unwrap();
        assert!(open(&other).unwrap() == run);
        fs::remove_file(&beside).unwrap();
    }
}

#[test]
fn what_lies_beside_a_run_is_not_followed() {
    let (dir, path, _) = made(1);
    let precious = dir.path().join("precious");
    fs::write(&precious, "precious").unwrap();
    for suffix in ["-journal", "-wal"] {
        let beside = dir.path().join(format!("run{suffix}"));
        let link = |at: &Path| std::os::unix::fs::symlink("precious", at).unwrap();
        let socket = |at: &Path| drop(std::os::unix::net::UnixListener::bind(at).unwrap());
        for put in [&link as &dyn Fn(&Path), &socket] {
            put(&beside);
            for error in [open(&path).unwrap_err(), open_for_resume(&path).unwrap_err()] {
                assert!(error.to_string().contains("not a regular file"), "{suffix}: {error}");
            }
            fs::remove_file(&beside).unwrap();
        }
    }
    assert_eq!(fs::read_to_string(&precious).unwrap(), "precious");
}

#[test]
fn a_wal_is_read_and_nothing_is_left_beside_it() {
    let (dir, path, run) = made(1);
    let conn = Connection::open(&path).unwrap();
    conn.execute_batch("PRAGMA journal_mode = WAL; UPDATE run SET document = json_set(document, '$.about.resumed', 7)").unwrap();
    // As a kill leaves it: the change is in the second file alone.
    let killed = dir.path().join("killed");
    fs::copy(&path, &killed).unwrap();
    fs::copy(dir.path().join("run-wal"), dir.path().join("killed-wal")).unwrap();
    drop(conn);
    assert_eq!(names_in(dir.path()), ["killed", "killed-wal", "run"]);
    assert_eq!(open(&killed).unwrap().about.resumed, 7);
    assert_eq!(open(&path).unwrap().trials, run.trials);
    assert_eq!(names_in(dir.path()), ["killed", "killed-wal", "run"]);
    drop(open_for_resume(&path).unwrap());
    assert_eq!(fs::read(&path).unwrap()[18..20], [1, 1], "turned back");
}
