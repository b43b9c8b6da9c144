//! What the integration tests share.

pub mod trace;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use hopcost_model::case::{Boundary, Case, Placement, WaitKind, Waits, Workload};
use hopcost_model::mechanism::{Facts, Payload};
use hopcost_model::raw::RawTrial;

/// The binary under test.
pub fn hopcost_path() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_hopcost"))
}

static MACHINE: RwLock<()> = RwLock::new(());

/// One machine, one measurement at a time: tests that measure, count switches or
/// look for left-overs hold this.
pub fn alone() -> RwLockWriteGuard<'static, ()> {
    MACHINE.write().unwrap_or_else(PoisonError::into_inner)
}

/// Tests that start workers and measure nothing hold this: they run beside each other, and
/// not beside one that measures.
pub fn together() -> RwLockReadGuard<'static, ()> {
    MACHINE.read().unwrap_or_else(PoisonError::into_inner)
}

/// A home of its own for each test, removed with it.
pub struct Home {
    directory: tempfile::TempDir,
}

impl Home {
    /// Makes one.
    pub fn new() -> Self {
        Self { directory: tempfile::tempdir().expect("a temporary directory") }
    }
    /// Its path.
    pub fn path(&self) -> &Path {
        self.directory.path()
    }
    /// The hopcost command, with this home, from an empty directory.
    pub fn hopcost(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(hopcost_path());
        command
            .args(arguments)
            .current_dir(self.path())
            .env("HOME", self.path())
            .env("XDG_DATA_HOME", self.path().join("data"))
            .env("XDG_CACHE_HOME", self.path().join("cache"))
            .env("TMPDIR", self.path())
            .env("LC_ALL", "C.UTF-8")
            .env_remove("COLUMNS")
            .env_remove("NO_COLOR");
        command
    }
    /// The same, to be sent signals: under nohup(1) or in the background of a shell, some
    /// would be ignored.
    pub fn interruptible(&self, arguments: &[&str]) -> Command {
        self.with_action(arguments, libc::SIG_DFL)
    }
    /// The same, started with SIGHUP and SIGINT ignored, as nohup(1) and a shell do.
    pub fn with_hangups_ignored(&self, arguments: &[&str]) -> Command {
        self.with_action(arguments, libc::SIG_IGN)
    }
    fn with_action(&self, arguments: &[&str], action: libc::sighandler_t) -> Command {
        use std::os::unix::process::CommandExt;
        let mut command = self.hopcost(arguments);
        // SAFETY: sets the action of two signals, between fork and exec.
        unsafe {
            command.pre_exec(move || {
                libc::signal(libc::SIGHUP, action);
                libc::signal(libc::SIGINT, action);
                Ok(())
            })
        };
        command
    }
    /// Runs it to its end.
    pub fn run(&self, arguments: &[&str]) -> Output {
        self.hopcost(arguments).output().expect("the binary starts")
    }
    /// Runs it and takes its stdout, which must be with exit code `code`.
    pub fn expect(&self, arguments: &[&str], code: i32) -> String {
        let output = self.run(arguments);
        assert_eq!(
            output.status.code(),
            Some(code),
            "hopcost {arguments:?}\nstdout: {}\nstderr: {}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8(output.stdout).expect("stdout is UTF-8")
    }
    /// The only run file of this home.
    pub fn run_file(&self) -> PathBuf {
        let runs = self.path().join("data/hopcost/runs");
        let mut files: Vec<_> =
            std::fs::read_dir(&runs).expect("runs").map(|e| e.expect("an entry").path()).collect();
        files.retain(|path| path.extension().is_some_and(|e| e == hopcost_file::EXTENSION));
        assert_eq!(files.len(), 1, "{files:?}");
        files.remove(0)
    }
}

/// The exit code of a run in which everything was measured: a build whose probe is not
/// optimised calls its own numbers invalid.
pub fn measured() -> i32 {
    if hopcost_probe::slow().is_empty() { 0 } else { 3 }
}

/// Runs one trial of a fixed count; a failure is an error text.
pub fn trial(home: &Home, case: &Case, count: u64) -> Result<RawTrial, String> {
    let (id, count) = (case.id(), count.to_string());
    let arguments = ["trial", &id, "--count", &count, "--ticks-per-second", "1e9"];
    let output = home.run(&arguments);
    let row: RawTrial = serde_json::from_slice(&output.stdout)
        .map_err(|e| format!("{id}: {e}: {}", String::from_utf8_lossy(&output.stderr)))?;
    match &row.error {
        Some(error) => Err(format!("{id}: {error}")),
        None => Ok(row),
    }
}

/// Context switches of every thread of a trial.
pub fn switches(row: &RawTrial) -> u64 {
    let of_ends = row.ends.iter().map(|end| end.voluntary + end.involuntary);
    let of_threads = row.threads.iter().map(|thread| thread.voluntary + thread.involuntary);
    if row.threads.is_empty() { of_ends.sum() } else { of_threads.sum() }
}

/// Whether every combination is tried (`./test --all`), or each value in one of them.
pub fn all() -> bool {
    std::env::var_os("HOPCOST_TEST").is_some_and(|word| word == "all")
}

/// Pairs in which each value of both lists occurs; every pair in `./test --all`.
pub fn pairs<A: Copy, B: Copy>(first: &[A], second: &[B]) -> Vec<(A, B)> {
    let (m, n) = (first.len(), second.len());
    match all() {
        true => first.iter().flat_map(|&a| second.iter().map(move |&b| (a, b))).collect(),
        false if m.min(n) == 0 => Vec::new(),
        false => (0..m.max(n)).map(|i| (first[i % m], second[i % n])).collect(),
    }
}

/// The nearest two-CPU relation here, if there are two CPUs.
pub fn cross() -> Option<Placement> {
    let allowed = hopcost_probe::sys::allowed_cpus().expect("an affinity mask");
    let topology = hopcost_machine::topology(&hopcost_machine::Root::default(), &allowed);
    topology.choose_pair(&allowed).map(|(_, _, relation)| relation)
}

/// A round trip case with the mechanism's defaults.
pub fn roundtrip(facts: &Facts, boundary: Boundary, place: Placement, wait: WaitKind) -> Case {
    Case {
        payload_bytes: match facts.payload {
            Payload::None => None,
            Payload::Bytes { default, .. } => Some(default),
        },
        boundary,
        placement: Some(place),
        waits: Some(Waits::both(wait)),
        spin_budget_ns: (wait == WaitKind::SpinThenBlock)
            .then_some(hopcost_model::case::SPIN_BUDGET_NS),
        parameters: facts
            .parameters
            .iter()
            .map(|parameter| (parameter.name.to_owned(), parameter.default.to_owned()))
            .collect(),
        ..Case::new(Workload::Roundtrip, facts.name)
    }
}

/// Every mechanism that users see and that works here, or panics: a skip fails.
pub fn mechanisms() -> impl Iterator<Item = &'static Facts> {
    hopcost_probe::mechanism::ALL.iter().map(|row| &row.facts).filter(|facts| {
        if let (false, Err(reason)) = (facts.hidden, (facts.available)()) {
            panic!("{} is not available here: {reason}", facts.name);
        }
        !facts.hidden
    })
}
