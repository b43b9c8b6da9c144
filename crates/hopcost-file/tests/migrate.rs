//! A run of format 1, made by the hopcost of that time, is read as it was and
//! brought up to date when it is resumed.

mod common;

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use hopcost_file::{open, open_for_resume};
use hopcost_model::protocol::Stamp;
use hopcost_model::raw::RawRun;
use rusqlite::Connection;

/// The fixture: a complete run of two rounds of `roundtrip/pipe` and
/// `call/syscall`, and an inline websocket that was skipped.
fn format_1(dir: &tempfile::TempDir) -> PathBuf {
    let packed: &[u8] = include_bytes!("fixtures/format-1.hopcost.gz");
    let mut bytes = Vec::new();
    flate2::read::GzDecoder::new(packed).read_to_end(&mut bytes).unwrap();
    let path = dir.path().join("old.hopcost");
    fs::write(&path, bytes).unwrap();
    path
}

fn version(path: &Path) -> i64 {
    let conn = Connection::open(path).unwrap();
    conn.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap()
}

fn is_the_fixture(run: &RawRun) {
    assert_eq!((run.plan.cases.len(), run.plan.rounds, run.trials.len()), (3, 2, 4));
    assert!(run.plan.cases[1].skip.as_ref().unwrap().contains("no boundary `inline`"));
    assert_eq!((run.plan.trial.operations, run.plan.trial.counted_operations), (None, 0));
    for trial in &run.trials {
        assert_eq!(trial.error, None);
        assert!(trial.operations > 100 && !trial.samples.is_empty());
        assert!((trial.stamp == Some(Stamp::Each)) == (trial.case == 0), "{trial:?}");
        assert_eq!((trial.gates.len(), trial.counted.len(), trial.negative_samples), (0, 0, 0));
        assert_eq!(trial.ends.len(), if trial.case == 0 { 2 } else { 1 });
        for end in &trial.ends {
            assert_eq!((end.flow, end.first_tick, end.bytes, end.lost), (0, 0, 0, 0));
            assert_eq!((end.zero_copy, end.events.len()), (None, 0));
        }
    }
}

#[test]
fn format_1_is_read_and_left_as_it_is() {
    let dir = tempfile::tempdir().unwrap();
    let path = format_1(&dir);
    let before = fs::read(&path).unwrap();
    let run = open(&path).unwrap();
    is_the_fixture(&run);
    assert_eq!(fs::read(&path).unwrap(), before);
    assert_eq!(version(&path), 1);
    // Whatever its owner has made of it since: other pages, a WAL.
    let conn = Connection::open(&path).unwrap();
    conn.execute_batch("PRAGMA page_size = 16384; VACUUM; PRAGMA journal_mode = WAL").unwrap();
    drop(conn);
    assert_eq!(open(&path).unwrap(), run);
}

#[test]
fn resuming_brings_format_1_up_to_date() {
    let dir = tempfile::tempdir().unwrap();
    let path = format_1(&dir);
    let old = open(&path).unwrap();
    let (mut file, run) = open_for_resume(&path).unwrap();
    assert_eq!(run, old);
    assert_eq!(version(&path), 2);
    file.set_resumed(1).unwrap();
    let rich = common::rich(0, 2);
    file.append_trial(&rich).unwrap();
    drop(file);
    let run = open(&path).unwrap();
    assert_eq!((&run.trials[..4], &run.trials[4]), (&old.trials[..], &rich));
    // The old trials are in the new views, with nothing made up for them.
    let conn = Connection::open(&path).unwrap();
    let query = "SELECT count(*), count(system_calls_per_operation), count(clock_bound_ns),
                        count(gap_ns), count(idle_knob), min(switches_per_operation) FROM trials";
    let row: (i64, i64, i64, i64, i64, f64) = conn
        .query_row(query, [], |r| {
            Ok((r.get(0)?, r.get(1)?, r.get(2)?, r.get(3)?, r.get(4)?, r.get(5)?))
        })
        .unwrap();
    assert_eq!((row.0, row.1, row.2, row.3, row.4), (5, 1, 1, 0, 0));
    assert!(row.5 >= 0.0);
}

#[test]
fn a_step_that_fails_changes_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let path = format_1(&dir);
    // A table of the owner's stands where the last part of the step wants to be.
    let conn = Connection::open(&path).unwrap();
    conn.execute_batch("CREATE TABLE event (what TEXT)").unwrap();
    drop(conn);
    let before = fs::read(&path).unwrap();
    for error in [open(&path).unwrap_err(), open_for_resume(&path).unwrap_err()] {
        let line = error.to_string();
        assert!(line.contains("table event already exists") && !line.contains('\n'), "{line}");
    }
    assert_eq!(fs::read(&path).unwrap(), before);
    assert_eq!(version(&path), 1);
}
