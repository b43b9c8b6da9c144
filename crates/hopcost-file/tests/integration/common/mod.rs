//! Runs made up for tests.

use std::fs;
use std::path::{Path, PathBuf};

use hopcost_file::RunFile;
use hopcost_model::{ClockReading, CpuAccounting, Host, PlannedCase, RawRun, RawTrial, Stamp};
use rusqlite::Connection;
use tempfile::TempDir;

pub const PIPE: &str = "roundtrip/pipe?payload=64&boundary=process&place=same-cpu&wait=block";
pub const SYSCALL: &str = "call/syscall";

pub const WAKE: &str =
    "wake/pipe?payload=1&gap=10000&boundary=process&place=same-llc&wait=block&idle-knob=spinner";
pub const MIXED: &str =
    "roundtrip/pipe?payload=64&boundary=process&place=same-llc&wait=block&runtime=python:rust";
pub const STREAM: &str = "stream/tcp-send?payload=64&fields=8&flows=2&ack=window:16&boundary=process&place=free&wait=block&more=off";

/// A run of which no trial is stored yet, as its document.
pub fn stored() -> RawRun {
    serde_json::from_str(include_str!("run.json")).unwrap()
}

pub fn host(model: &str) -> Host {
    let mut host = stored().host_before;
    host.readings[0].value = Some(model.into());
    host
}

pub fn clock(cpu: u32) -> ClockReading {
    ClockReading { cpu, ..stored().clocks[1].clone() }
}

/// Makes a run's file.
pub fn create(path: &Path) -> hopcost_file::Result<RunFile> {
    let RawRun { about, plan, yardsticks, .. } = stored();
    let mut file = RunFile::create(path, &about, &plan, &host("before"))?;
    file.change("store yardsticks", |run| run.yardsticks = yardsticks)?;
    Ok(file)
}

/// A trial with everything in it that one can have.
pub fn rich(case: u32, round: u32) -> RawTrial {
    let trial: RawTrial = serde_json::from_str(include_str!("rich.json")).unwrap();
    RawTrial { case, round, position: case, ..trial }
}

/// A trial whose numbers follow from its place.
pub fn trial(case: u32, round: u32) -> RawTrial {
    let unit = u64::from(18_000 + 100 * round + 7 * case);
    let plain: RawTrial = serde_json::from_str(include_str!("plain.json")).unwrap();
    let longest = if round == 2 { 1 << 33 } else { 90_000 };
    let samples = vec![unit, unit + 2, longest, unit - 4, unit + 600];
    let started_ns = 1_000_000 * u64::from(round + 1);
    RawTrial { case, round, position: case, started_ns, samples, ..plain }
}

pub fn failed(case: u32, round: u32) -> RawTrial {
    let error = Some("the callee was killed by signal 9".into());
    let pin_errors = vec!["CPU 1 is offline".into()];
    RawTrial { case, round, position: case, error, pin_errors, ..RawTrial::default() }
}

pub fn batched(case: u32, round: u32) -> RawTrial {
    RawTrial { stamp: Some(Stamp::TwoLengths { n: 64 }), ..trial(case, round) }
}

/// Where a run file may be made, gone with the directory.
pub fn fresh() -> (TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run");
    (dir, path)
}

/// A run begun there.
pub fn begun() -> (TempDir, PathBuf, RunFile) {
    let (dir, path) = fresh();
    let file = create(&path).unwrap();
    (dir, path, file)
}

/// A finished run there, and what it should read as.
pub fn made(rounds: u32) -> (TempDir, PathBuf, RawRun) {
    let (dir, path) = fresh();
    let run = make(&path, rounds, &[]);
    (dir, path, run)
}

/// A finished run of two cases and `rounds` rounds, and of further cases, each with one rich trial, and what
/// it should read as.
pub fn make(path: &Path, rounds: u32, further: &[&str]) -> RawRun {
    let mut run = stored();
    run.plan.cases.extend(further.iter().map(|id| PlannedCase::live(id.parse().unwrap())));
    run.host_before = host("before");
    let mut file = RunFile::create(path, &run.about, &run.plan, &run.host_before).unwrap();
    for round in 0..rounds {
        run.trials.push(trial(0, round));
        run.trials.push(if round == 1 { failed(1, round) } else { batched(1, round) });
    }
    run.trials.extend((4..run.plan.cases.len() as u32).map(|case| rich(case, 0)));
    for trial in &run.trials {
        file.append_trial(trial.clone()).unwrap();
    }
    run.clocks_after = vec![ClockReading { ticks_per_second: 2.1e9, ..clock(1) }];
    run.accounting =
        vec![CpuAccounting { round: 0, cpu: 0, wall_ns: 5_000_000, steal_ns: 10_000_000 }];
    run.about.ended = Some("2026-11-20T20:16:30Z".to_owned());
    run.host_after = Some(host("after"));
    let known = RawRun { trials: Vec::new(), ..run.clone() };
    file.change("finish it", |stored| *stored = known).unwrap();
    run
}

/// Reads a run; a copy, where one is needed, lies in a folder of this test's.
pub fn open(path: &Path) -> hopcost_file::Result<RawRun> {
    hopcost_file::open(path, &|| Ok(Box::new(tempfile::tempdir()?)))
}

/// A run and its journal as a kill in the middle of a commit leaves them: pages
/// of the file overwritten, the journal that undoes it complete.
pub fn torn(dir: &Path) -> (PathBuf, RawRun) {
    let whole = dir.join("whole");
    let run = make(&whole, 100, &[]);
    let conn = Connection::open(&whole).unwrap();
    // A cache of one page makes SQLite write before the commit.
    conn.execute_batch("PRAGMA cache_size = 1; BEGIN; UPDATE trial SET samples = zeroblob(9000);")
        .unwrap();
    let path = dir.join("torn");
    fs::copy(&whole, &path).unwrap();
    fs::copy(dir.join("whole-journal"), dir.join("torn-journal")).unwrap();
    fs::copy(&whole, dir.join("bare")).unwrap();
    (path, run)
}
