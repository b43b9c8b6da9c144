//! `run`: from a plan to finished trials. Spawns, supervises, hands every
//! finished trial on to be made durable. Knows no statistics and no file
//! format; while a trial is running this process is asleep in one wait.

pub mod agent;
mod budget;
pub mod check;
pub mod clocks;
pub mod doctor;
pub mod idle;
pub mod install;
pub mod pace;
pub mod peer;
pub mod reference;
pub mod runtimes;
pub mod scratch;
mod rounds;
mod search;
mod session;
pub mod setup;
pub mod threads;
pub mod trial;
pub mod trust;
pub mod worker;
pub mod workers;
pub mod yardstick;

use std::os::unix::net::UnixStream;

use hopcost_model::case::{Case, Role};
use hopcost_model::plan::Plan;
use hopcost_model::raw::Yardstick;

use hopcost_probe::sys;
use rounds::Rounds;
pub use session::{Ending, Progress, Session, Sink};
use yardstick::OpenYardsticks;

/// Descriptors that a run opens beside those that it inherits: where not even these can be
/// opened, what cannot be done first says little of why.
const DESCRIPTORS_MIN: usize = 12;

/// What a worker that lives keeps open here: its socket, its diagnostics, its samples.
const DESCRIPTORS_A_WORKER: usize = 3;
/// The most that one end's half of a link has, and those of a meeting.
const DESCRIPTORS_A_HALF: usize = 2;
/// The run file with its journal, and what is open only while a worker is started.
const DESCRIPTORS_BESIDE: usize = 9;

/// What planning, reading a trial and reporting take: less ends a program without a word of what to do.
const MEMORY_BYTES: usize = 32 << 20;

/// Refuses to begin where too little memory may be taken (ulimit -v).
pub fn ensure_memory() -> std::io::Result<()> {
    Vec::<u8>::new().try_reserve_exact(MEMORY_BYTES).map_err(|_| {
        let doing = format!(
            "taking {} MiB of memory, which a run needs (see ulimit -v)",
            MEMORY_BYTES >> 20
        );
        sys::context(std::io::ErrorKind::OutOfMemory.into(), &doing)
    })
}

/// Refuses to begin where too few descriptors may be opened (ulimit -n).
pub fn ensure_descriptors() -> std::io::Result<()> {
    ensure_open(DESCRIPTORS_MIN)
}

/// The same for the trials of a plan, beside the workers of its yardsticks, which live for the
/// run: without these a trial would fail, or a yardstick be done without, when it is too late.
pub fn ensure_descriptors_for(plan: &Plan, yardsticks: &[Yardstick]) -> std::io::Result<()> {
    let workers = |case: &Case| if case.two_processes() { 2 } else { 1 };
    let live: usize =
        yardsticks.iter().filter_map(|one| Some(workers(&one.case.parse().ok()?))).sum();
    let trial = |case: &Case| {
        let half = DESCRIPTORS_A_HALF * case.flows.unwrap_or(1) as usize;
        let meets = case.workload.is_stamped_by(Role::Callee);
        let meeting = if meets { DESCRIPTORS_A_HALF } else { 0 };
        // The halves of both ends are open while the first of two workers is started.
        match workers(case) {
            1 => DESCRIPTORS_A_WORKER,
            n => (n * DESCRIPTORS_A_WORKER + half).max(DESCRIPTORS_A_WORKER + 2 * half) + meeting,
        }
    };
    let most = plan.live_cases().map(trial).max().unwrap_or(0);
    ensure_open(DESCRIPTORS_BESIDE + DESCRIPTORS_A_WORKER * live + most)
}

fn ensure_open(descriptors: usize) -> std::io::Result<()> {
    let open = || -> std::io::Result<()> {
        let (first, _second) = UnixStream::pair()?;
        let copies = (2..descriptors).map(|_| first.try_clone());
        copies.collect::<std::io::Result<Vec<_>>>().map(drop)
    };
    open().map_err(|error| {
        let doing = format!("opening {descriptors} files, which this run needs (see ulimit -n)");
        sys::context(error, &doing)
    })
}

/// Runs what is left of the plan.
pub fn execute(session: &Session<'_>, sink: &mut dyn Sink) -> anyhow::Result<Ending> {
    let planned = &session.yardsticks.all;
    let players = yardstick::players(planned, session.setup);
    let specs = yardstick::specs(&players, planned, session.setup, session.clocks);
    match OpenYardsticks::open(planned, &specs) {
        Ok(yardsticks) => Rounds::of(session, yardsticks)?.run(sink),
        Err(_) => Ok(Ending::Interrupted),
    }
}
