//! What a kill leaves beside a file is believed only where nobody else can have put it there.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::common::{create, made, make, open, torn};
use hopcost_file::open_for_resume;
use rusqlite::Connection;

const SHARED: &str = "other users may write this";

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
    assert!(open_for_resume(&path).unwrap_err().to_string().contains(SHARED));
    // Nor is an empty journal used that somebody else can fill.
    let (whole, journal) = (dir.path().join("whole"), dir.path().join("whole-journal"));
    for resumed in [true, false] {
        fs::write(&journal, "").unwrap();
        if std::os::unix::fs::lchown(&journal, Some(65_534), None).is_err() {
            return;
        }
        let refused = if resumed { open_for_resume(&whole).err() } else { create(&whole).err() };
        assert!(refused.is_some_and(|error| error.to_string().contains(SHARED)));
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
    assert!(open_for_resume(&path).unwrap_err().to_string().contains(SHARED));
    // A FIFO or a link of a stranger keeps nobody from reading.
    fs::remove_file(&journal).unwrap();
    let other = dir.path().join("other");
    let run = make(&other, 1, &[]);
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
fn a_write_ahead_log_is_refused() {
    let (dir, path, _) = made(1);
    let conn = Connection::open(&path).unwrap();
    conn.execute_batch("PRAGMA journal_mode = WAL; UPDATE run SET position = 7").unwrap();
    // As a kill leaves it: the change is in the second file alone.
    let killed = dir.path().join("killed");
    fs::copy(&path, &killed).unwrap();
    fs::copy(dir.path().join("run-wal"), dir.path().join("killed-wal")).unwrap();
    drop(conn);
    for path in [&killed, &path] {
        for error in [open(path).unwrap_err(), open_for_resume(path).unwrap_err()] {
            assert!(error.to_string().contains("PRAGMA journal_mode = DELETE"), "{error}");
        }
    }
    // Nor is one believed that lies beside a run which has none.
    let (dir, path, _) = made(1);
    fs::copy(killed.with_file_name("killed-wal"), dir.path().join("run-wal")).unwrap();
    assert!(open(&path).unwrap_err().to_string().contains("write-ahead log"));
}
