//! Runs of formats 1 and 2, made by the hopcost of their time, are read as they were
//! and brought up to date when they are resumed.

use crate::common::open;

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use hopcost_file::open_for_resume;
use hopcost_model::case::Workload;
use hopcost_model::protocol::Stamp;
use hopcost_model::raw::RawRun;
use rusqlite::Connection;

fn unpacked(dir: &tempfile::TempDir, packed: &[u8]) -> PathBuf {
    let mut bytes = Vec::new();
    flate2::read::GzDecoder::new(packed).read_to_end(&mut bytes).unwrap();
    let path = dir.path().join("old.hopcost");
    fs::write(&path, bytes).unwrap();
    path
}

/// A complete run of two rounds of `roundtrip/pipe` and `call/syscall`, and an inline
/// websocket that was skipped.
fn format_1(dir: &tempfile::TempDir) -> PathBuf {
    unpacked(dir, include_bytes!("../fixtures/format-1.hopcost.gz"))
}

/// The same with a wake-up and a stream, in the next format.
fn format_2(dir: &tempfile::TempDir) -> PathBuf {
    unpacked(dir, include_bytes!("../fixtures/format-2.hopcost.gz"))
}

fn version(path: &Path) -> i64 {
    let conn = Connection::open(path).unwrap();
    conn.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap()
}

/// Reads a run of an older format, which stays as it is.
fn read(path: &Path, format: i64) -> RawRun {
    let before = fs::read(path).unwrap();
    let run = open(path).unwrap();
    assert_eq!(fs::read(path).unwrap(), before);
    assert_eq!(version(path), format);
    assert!(run.workers.is_empty() && run.yardsticks.is_empty());
    assert!(run.clocks.iter().all(|clock| clock.runtime == "rust"));
    for trial in &run.trials {
        assert_eq!((&trial.error, &trial.stamp_check), (&None, &None));
        assert!(trial.threads.is_empty() && trial.warm_up_ns.is_empty());
        assert!(trial.yardsticks.is_empty());
        assert!(run.ticks_per_second(trial).is_some_and(|rate| rate > 1e6));
    }
    run
}

/// Resumes a run of an older format with a trial that has everything of today's.
fn resume(path: &Path) -> Connection {
    let old = open(path).unwrap();
    let before = fs::read(path).unwrap();
    let (mut file, run) = open_for_resume(path).unwrap();
    assert_eq!(run, old);
    assert!(fs::read(path).unwrap() == before, "who looks and does not go on leaves it as it is");
    file.set_resumed(1).unwrap();
    assert_eq!(version(path), hopcost_file::VERSION);
    file.put_yardsticks(&crate::common::yardsticks()).unwrap();
    let mut rich = crate::common::rich(0, 2);
    rich.yardsticks = crate::common::readings();
    file.append_trial(&rich).unwrap();
    drop(file);
    let run = open(path).unwrap();
    let (last, first) = run.trials.split_last().unwrap();
    assert_eq!((first, last), (&old.trials[..], &rich));
    Connection::open(path).unwrap()
}

#[test]
fn format_1_is_read_and_left_as_it_is() {
    let dir = tempfile::tempdir().unwrap();
    let path = format_1(&dir);
    let run = read(&path, 1);
    assert_eq!((run.plan.cases.len(), run.plan.rounds, run.trials.len()), (3, 2, 4));
    assert!(run.plan.cases[1].skip.as_ref().unwrap().contains("no boundary `inline`"));
    assert_eq!((run.plan.trial.operations, run.plan.trial.counted_operations), (None, 0));
    for trial in &run.trials {
        assert!(trial.operations > 100 && !trial.samples.is_empty());
        assert!((trial.stamp == Some(Stamp::Each)) == (trial.case == 0), "{trial:?}");
        assert_eq!((trial.gates.len(), trial.counted.len(), trial.negative_samples), (0, 0, 0));
        assert_eq!(trial.ends.len(), if trial.case == 0 { 2 } else { 1 });
        for end in &trial.ends {
            assert_eq!((end.flow, end.first_tick, end.bytes, end.lost), (0, 0, 0, 0));
            assert_eq!((end.zero_copy, end.events.len()), (None, 0));
        }
    }
    // Whatever its owner has made of it since: other pages, a WAL.
    let conn = Connection::open(&path).unwrap();
    conn.execute_batch("PRAGMA page_size = 16384; VACUUM; PRAGMA journal_mode = WAL").unwrap();
    drop(conn);
    assert_eq!(open(&path).unwrap(), run);
}

#[test]
fn format_2_is_read_and_left_as_it_is() {
    let dir = tempfile::tempdir().unwrap();
    let run = read(&format_2(&dir), 2);
    assert_eq!((run.plan.cases.len(), run.plan.rounds, run.trials.len()), (5, 2, 8));
    for trial in &run.trials {
        let case = run.plan.case(trial.case).unwrap();
        assert!(case.runtimes.are_rust());
        assert_eq!(trial.gates.len(), if case.workload == Workload::Wake { 2 } else { 0 });
    }
    assert!(run.trials.iter().any(|trial| trial.ends.iter().any(|end| !end.events.is_empty())));
}

#[test]
fn resuming_brings_an_older_format_up_to_date() {
    // The old trials are in the new views, with nothing made up for them.
    let dir = tempfile::tempdir().unwrap();
    let query = "SELECT count(*), count(system_calls_per_operation), count(clock_bound_ns),
                        count(gap_ns), count(idle_knob), min(switches_per_operation) >= 0 FROM trials";
    let counts: [i64; 6] = resume(&format_1(&dir))
        .query_row(query, [], |r| {
            Ok([r.get(0)?, r.get(1)?, r.get(2)?, r.get(3)?, r.get(4)?, r.get(5)?])
        })
        .unwrap();
    assert_eq!(counts, [5, 1, 1, 0, 0, 1]);
    let dir = tempfile::tempdir().unwrap();
    let query = "SELECT count(*), (SELECT count(*) FROM thread_use) FROM trials
                  WHERE runtime_caller = 'rust' AND runtime_callee = 'rust' AND ns_per_tick > 0";
    let counts: [i64; 2] =
        resume(&format_2(&dir)).query_row(query, [], |r| Ok([r.get(0)?, r.get(1)?])).unwrap();
    assert_eq!(counts, [9, 2], "the threads are those of the new trial");
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
