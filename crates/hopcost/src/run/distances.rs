//! How far apart this machine's CPUs are: timed once a boot, and again where they have moved.

use std::ffi::OsStr;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::bail;
use hopcost_machine::{LineTimes, Root, Topology, topology};
use hopcost_model::{Command, Reply};
use serde::{Deserialize, Serialize};

use super::reference::{folder, read_file, store_file};
use super::setup::Setup;
use super::worker::Worker;

/// CPUs whose pairs are timed at most.
const CPUS_MAX: usize = 64;
/// Longer than timing them takes.
const PATIENCE: Duration = Duration::from_secs(10);
/// A pair whose cache line takes longer than this multiple of the stored time moved apart, or is busy.
const MOVED: u32 = 2;

const FILE: &str = "distances.json";

/// The times of the CPUs that a process may use, since a boot.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Stored {
    boot_id: String,
    cpus: Vec<u32>,
    line_ns: Vec<(u32, u32, u32)>,
}

impl Stored {
    /// What is known of these CPUs since this boot; nothing where it cannot be read.
    fn read(path: &Path, cpus: &[u32]) -> LineTimes {
        let stored = read_file::<Self>(path, OsStr::new(FILE)).ok().flatten();
        let stored = stored.filter(|of| of.boot_id == boot_id() && of.cpus == cpus);
        stored.map_or_else(LineTimes::new, |of| times(of.line_ns))
    }
}

fn boot_id() -> String {
    Root::default().text("/proc/sys/kernel/random/boot_id").unwrap_or_default()
}

fn times(line_ns: Vec<(u32, u32, u32)>) -> LineTimes {
    line_ns.into_iter().map(|(a, b, ns)| ((a, b), ns)).collect()
}

/// How the CPUs that this process may use are related, by what was timed where that is known.
pub fn topology_of(allowed: &[u32]) -> Topology {
    let known = folder().map_or_else(|_| LineTimes::new(), |path| Stored::read(&path, allowed));
    topology(&Root::default(), allowed).measured(known)
}

/// Times the pairs of these CPUs, unless that is known and still holds of the pair that is used;
/// says so where another one is used now.
pub fn learn(setup: &Setup, allowed: &[u32]) -> anyhow::Result<Option<String>> {
    if allowed.len() < 3 {
        return Ok(None);
    }
    let path = folder()?;
    let known = Stored::read(&path, allowed);
    let topology = topology(&Root::default(), allowed);
    let pair = |of: &LineTimes| topology.clone().measured(of.clone()).choose_pair(allowed);
    let before = pair(&known).map(|(a, b, _)| (a, b));
    if let Some((a, b)) = before.filter(|pair| known.contains_key(pair)) {
        let now = timed(setup, vec![a, b])?;
        if !has_moved(&known, &times(now)) {
            return Ok(None);
        }
    }
    let cpus = topology.spread(allowed, CPUS_MAX);
    let line_ns = timed(setup, cpus)?;
    let now = pair(&times(line_ns.clone())).map(|(a, b, _)| (a, b));
    let stored = Stored { boot_id: boot_id(), cpus: allowed.to_vec(), line_ns };
    store_file(&path, OsStr::new(FILE), &stored)?;
    let moved = before.zip(now).filter(|(before, now)| !known.is_empty() && before != now);
    Ok(moved.map(|((a, b), (c, d))| {
        format!("CPUs {a} and {b} moved apart or are busy; hopcost uses {c} and {d}")
    }))
}

fn has_moved(known: &LineTimes, now: &LineTimes) -> bool {
    now.iter().any(|(pair, ns)| known.get(pair).is_some_and(|before| *ns > MOVED * before))
}

/// What a cache line takes between every two of these CPUs.
fn timed(setup: &Setup, cpus: Vec<u32>) -> anyhow::Result<Vec<(u32, u32, u32)>> {
    let mut worker = Worker::spawn(&setup.native, Vec::new(), 0)?;
    match worker.ask(&Command::Distances { cpus }, Instant::now() + PATIENCE) {
        Ok(Reply::Distances { line_ns }) => Ok(line_ns),
        Ok(_) => bail!("the worker's reply does not answer `distances`"),
        Err(error) => bail!("timing cache lines between CPUs: {error}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_of_one_boot_and_of_the_same_cpus() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("machine");
        let stored =
            |boot_id: String| Stored { boot_id, cpus: vec![0, 1, 2], line_ns: vec![(0, 1, 40)] };
        for (boot_id, cpus, known) in [
            (boot_id(), vec![0, 1, 2], LineTimes::from([((0, 1), 40)])),
            (boot_id(), vec![0, 1], LineTimes::new()),
            ("another".to_owned(), vec![0, 1, 2], LineTimes::new()),
        ] {
            store_file(&path, OsStr::new(FILE), &stored(boot_id)).unwrap();
            assert_eq!(Stored::read(&path, &cpus), known, "{cpus:?}");
        }
        let at = |ns| LineTimes::from([((0, 1), ns)]);
        assert_eq!([10, 80, 81].map(|ns| has_moved(&at(40), &at(ns))), [false, false, true]);
    }
}
