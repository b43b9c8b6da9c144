//! What the integration tests share.

pub mod trace;
pub mod wait;

use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Mutex, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use hopcost_model::case::{Boundary, Case, Placement, WaitKind, Waits, Workload};
use hopcost_model::mechanism::Mechanism;
use hopcost_model::raw::{RawRun, RawTrial};
use serde_json::Value;
use wait::InTime;

/// The binary under test.
pub fn hopcost_path() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_hopcost"))
}

/// A file or folder of this repository.
pub fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

/// A path as an argument.
pub fn text(path: &Path) -> &str {
    path.to_str().expect("UTF-8")
}

/// Sets the mode of a file or folder.
pub fn set_mode(path: impl AsRef<Path>, mode: u32) {
    let mode = std::fs::Permissions::from_mode(mode);
    std::fs::set_permissions(path, mode).expect("to set a mode");
}

/// Unpacks a stored run of `tests/runs`.
pub fn unpack(packed: &Path, to: &Path) {
    let packed = std::fs::File::open(packed).expect("a stored run");
    let mut file = std::fs::File::create(to).expect("a file");
    std::io::copy(&mut flate2::read::GzDecoder::new(packed), &mut file).expect("unpacked");
}

/// Starts a program, whose end brings what it printed.
pub fn start(command: &mut Command) -> Child {
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program starts")
}

/// Whether a program is here and ends well.
pub fn works(program: &str, arguments: &[&str]) -> bool {
    let output = Command::new(program).args(arguments).try_finish();
    output.is_ok_and(|output| output.status.success())
}

/// What a program printed on stderr.
pub fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
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

/// A user without rights.
const STRANGER: u32 = 65534;

/// A home of its own for each test, removed with it.
pub struct Home {
    directory: tempfile::TempDir,
    /// What it holds of the machine.
    _alone: Option<RwLockWriteGuard<'static, ()>>,
    _together: Option<RwLockReadGuard<'static, ()>>,
}

impl Home {
    /// Makes one.
    pub fn new() -> Self {
        let directory = tempfile::tempdir().expect("a temporary directory");
        Self { directory, _alone: None, _together: None }
    }
    /// The same of a test that is [`alone`].
    pub fn alone() -> Self {
        Self { _alone: Some(alone()), ..Self::new() }
    }
    /// The same of a test that is [`together`] with others.
    pub fn together() -> Self {
        Self { _together: Some(together()), ..Self::new() }
    }
    /// Its path.
    pub fn path(&self) -> &Path {
        self.directory.path()
    }
    /// The hopcost command, with this home, from an empty directory.
    pub fn hopcost(&self, arguments: &[&str]) -> Command {
        self.hopcost_by(&[], arguments)
    }
    /// The same, executed by a program that takes it after these words, if there are any.
    pub fn hopcost_by(&self, words: &[&str], arguments: &[&str]) -> Command {
        self.program(words, &[&[text(hopcost_path())], arguments].concat())
    }
    fn program(&self, by: &[&str], words: &[&str]) -> Command {
        let words = [by, words].concat();
        let mut command = Command::new(words[0]);
        command
            .args(&words[1..])
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
    /// The same by a user without rights, to whom the home is opened; `None` where this is not root.
    pub fn hopcost_by_stranger(&self, words: &[&str], arguments: &[&str]) -> Option<Command> {
        if hopcost_probe::sys::user_id() != 0 {
            return None;
        }
        set_mode(self.path(), 0o777);
        // Where the binary lies may be open to root alone.
        let program = self.path().join("copy-of-hopcost");
        std::fs::copy(hopcost_path(), &program).expect("a copy");
        let mut command = self.program(words, &[&[text(&program)], arguments].concat());
        command.uid(STRANGER).gid(STRANGER);
        Some(command)
    }
    /// Starts it.
    pub fn start(&self, arguments: &[&str]) -> Child {
        start(&mut self.hopcost(arguments))
    }
    /// Runs it to its end.
    pub fn run(&self, arguments: &[&str]) -> Output {
        self.hopcost(arguments).finish()
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
    /// Runs it and takes the document on its stdout, whatever its exit code.
    pub fn json(&self, arguments: &[&str]) -> Value {
        json_of(&mut self.hopcost(arguments))
    }
    /// Runs what it has to refuse, with this exit code and in one line that says why.
    pub fn refuses(&self, arguments: &[&str], code: i32, why: &str) {
        let output = self.run(arguments);
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {said}");
        let one_line = said.trim_end().lines().count() == 1 && output.stdout.is_empty();
        assert!(one_line && said.contains(why), "{arguments:?}: no `{why}` in: {said}");
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

/// A run file, read; nothing of it has to be copied.
pub fn stored(file: &Path) -> hopcost_file::Result<RawRun> {
    hopcost_file::open(file, &|| Ok(Box::new(tempfile::tempdir()?)))
}

/// The document that a command prints, whatever its exit code.
pub fn json_of(command: &mut Command) -> Value {
    let output = command.finish();
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| {
        panic!("{command:?}: {error}: {}", String::from_utf8_lossy(&output.stderr))
    })
}

/// The rows of a report's table that belong to a case, the case by its place.
pub fn rows_of<'a>(report: &'a Value, table: &str, case: usize) -> Vec<&'a Value> {
    let id = &report["cases"][case]["case"];
    let rows = report[table].as_array().expect("a table").iter();
    rows.filter(|row| row["case"] == *id).collect()
}

/// An estimate of a case in a report, the case by its place.
pub fn estimate<'a>(report: &'a Value, case: usize, statistic: &str) -> &'a Value {
    let mut rows = rows_of(report, "estimates", case).into_iter();
    rows.find(|row| row["statistic"] == statistic).unwrap_or(&Value::Null)
}

/// Changes a run file as nobody should.
pub fn edit(run: &Path, sql: &str) {
    let script = "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); \
                  c.executescript(sys.argv[2]); c.commit()";
    let output = Command::new("python3").args(["-c", script]).arg(run).arg(sql).finish();
    assert!(output.status.success(), "{sql}: {output:?}");
}

/// The exit code of a run in which everything was measured: a build whose probe is not
/// optimised calls its own numbers invalid.
pub fn measured() -> i32 {
    if hopcost_probe::slow().is_empty() { 0 } else { 3 }
}

/// Runs one trial of a fixed count; a failure is an error text.
pub fn trial(home: &Home, case: &Case, count: u64) -> Result<RawTrial, String> {
    let (id, count) = (case.id(), count.to_string());
    let arguments = ["trial", &id, "--count", &count];
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

/// Does each of these, two at a time and each on a CPU of its own, and says what all of them say: for
/// what is counted, of ends that share a CPU.
pub fn two_at_a_time<T: Send, S: Send>(
    these: Vec<T>,
    each: impl Fn(T) -> Option<S> + Sync,
) -> Vec<S> {
    let these = Mutex::new(these.into_iter());
    let (next, each) = (|| these.lock().expect("no panic").next(), &each);
    let cpus = hopcost_probe::sys::allowed_cpus().expect("an affinity mask");
    std::thread::scope(|scope| {
        let on = |cpu| {
            let work = move || {
                hopcost_probe::sys::pin(cpu).expect("an allowed CPU");
                std::iter::from_fn(next).filter_map(each).collect::<Vec<S>>()
            };
            scope.spawn(work)
        };
        let threads: Vec<_> = cpus.into_iter().take(2).map(on).collect();
        let said =
            threads.into_iter().map(|thread| thread.join().unwrap_or_else(|p| resume_unwind(p)));
        said.flatten().collect()
    })
}

/// Fails with what is wrong with any of these cases. Those whose ends sleep and share a CPU are played two
/// at a time: what an end that spins or yields does in between depends on what else there is to run.
pub fn none_wrong(
    cases: Vec<(&'static Mechanism, Case)>,
    wrong: impl Fn(&'static Mechanism, &Case) -> Option<String> + Sync,
) {
    let sleeps = |case: &Case| {
        let waits = case.waits.is_none_or(|waits| !waits.any(WaitKind::Yield));
        waits && case.placement.is_none_or(|place| place == Placement::SameCpu)
    };
    let (asleep, busy): (Vec<_>, Vec<_>) = cases.into_iter().partition(|(_, case)| sleeps(case));
    let mut all = two_at_a_time(asleep, |(facts, case)| wrong(facts, &case));
    all.extend(busy.iter().filter_map(|(facts, case)| wrong(facts, case)));
    assert!(all.is_empty(), "{} wrong:\n{}", all.len(), all.join("\n"));
}

/// Answers a system call with the first of these from now on, and every other with the second (seccomp(2)).
/// It allocates nothing, so that it may be called between fork and exec.
pub fn filter(call: i64, answers: [u32; 2]) -> std::io::Result<()> {
    let load_number = libc::sock_filter { code: 0x20, jt: 0, jf: 0, k: 0 };
    let is_it = libc::sock_filter { code: 0x15, jt: 0, jf: 1, k: call as u32 };
    let [it, other] = answers.map(|k| libc::sock_filter { code: 0x06, jt: 0, jf: 0, k });
    let mut program = [load_number, is_it, it, other];
    let filter = libc::sock_fprog { len: 4, filter: program.as_mut_ptr() };
    // SAFETY: the program is valid for reading during the call.
    let result = unsafe {
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
        libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const filter)
    };
    if result == 0 { Ok(()) } else { Err(std::io::Error::last_os_error()) }
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
pub fn roundtrip(facts: &Mechanism, boundary: Boundary, place: Placement, wait: WaitKind) -> Case {
    Case {
        payload_bytes: facts.payload.map(|payload| payload.default),
        boundary,
        placement: Some(place),
        waits: Some(Waits::both(wait)),
        spin_budget_ns: (wait == WaitKind::SpinThenBlock)
            .then_some(hopcost_model::case::SPIN_BUDGET_NS),
        parameters: facts
            .parameters
            .iter()
            .map(|parameter| (parameter.name.clone(), parameter.default.clone()))
            .collect(),
        ..Case::new(Workload::Roundtrip, &facts.name)
    }
}

/// A mechanism or an engine by its name.
pub fn mechanism(name: &str) -> &'static Mechanism {
    hopcost_probe::mechanism::find(name).expect("of this build").facts()
}

/// Every mechanism that users see and that works here, or panics: a skip fails.
pub fn mechanisms() -> impl Iterator<Item = &'static Mechanism> {
    hopcost_probe::mechanism::ALL.iter().map(|row| row.facts()).filter(|facts| {
        if let (false, Err(reason)) = (facts.hidden(), (facts.here.available)()) {
            panic!("{} is not available here: {reason}", facts.name);
        }
        !facts.hidden()
    })
}
