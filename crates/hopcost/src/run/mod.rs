//! `run`: from a plan to finished trials. Spawns, supervises, stores every finished trial. While
//! a trial is running this process is asleep in one wait.

pub mod check;
pub mod clocks;
pub mod distances;
pub mod doctor;
pub mod install;
pub mod pace;
pub mod peer;
pub mod reference;
pub mod runtimes;
pub mod scratch;
mod rounds;
mod search;
pub mod setup;
pub mod trial;
pub mod trust;
pub mod worker;
pub mod yardstick;

use std::os::unix::net::UnixStream;

use hopcost_model::Plan;
use hopcost_plan::Yardsticks;
use hopcost_probe::sys::Doing;

pub use rounds::{Ending, Progress, Rounds, Session};

/// Descriptors that a run opens beside those that it inherits, but for its yardsticks and flows.
const DESCRIPTORS: usize = 14;
/// What the workers of a yardstick keep open for the run, and what a flow or a sender of a trial has.
const DESCRIPTORS_EACH: usize = 6;

/// What planning, reading a trial and reporting take: less ends a program without a word of what to do.
const MEMORY_BYTES: usize = 32 << 20;

/// Refuses to begin where too little memory may be taken (ulimit -v).
pub fn ensure_memory() -> std::io::Result<()> {
    Vec::<u8>::new().try_reserve_exact(MEMORY_BYTES).doing(format_args!(
        "taking {} MiB of memory, which a run needs (see ulimit -v)",
        MEMORY_BYTES >> 20
    ))
}

/// Refuses to begin where too few descriptors may be opened (ulimit -n).
pub fn ensure_descriptors() -> std::io::Result<()> {
    ensure_open(DESCRIPTORS)
}

/// The same for a plan beside its yardsticks: a trial would fail when it is too late.
pub fn ensure_descriptors_for(plan: &Plan, yardsticks: &Yardsticks) -> std::io::Result<()> {
    let links = plan.live_cases().map(|case| case.flows.unwrap_or(1).max(case.senders) as usize);
    let each = yardsticks.all.len() + links.max().unwrap_or(0);
    ensure_open(DESCRIPTORS + DESCRIPTORS_EACH * each)
}

fn ensure_open(descriptors: usize) -> std::io::Result<()> {
    let open = || -> std::io::Result<()> {
        let (first, _second) = UnixStream::pair()?;
        let copies = (2..descriptors).map(|_| first.try_clone());
        copies.collect::<std::io::Result<Vec<_>>>().map(drop)
    };
    let doing = format_args!("opening {descriptors} files, which this run needs (see ulimit -n)");
    open().doing(doing)
}
