//! Calibration of the clocks, once per run and CPU.

use std::collections::BTreeSet;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use hopcost_model::plan::Plan;
use hopcost_model::protocol::{ClockReading, Command, Reply};

use super::worker::{Program, Silence, Worker, replies};

/// Far longer than a calibration takes.
const PATIENCE: Duration = Duration::from_secs(10);

/// Calibrates the clock of every CPU that the plan uses, all at the same time;
/// `None` if the user interrupted.
pub fn calibrate(
    plan: &Plan,
    program: &Program,
    interrupt: &OwnedFd,
) -> anyhow::Result<Option<Vec<ClockReading>>> {
    let pairs = plan.pairs.values().flat_map(|&(caller, callee)| [caller, callee]);
    let cpus: BTreeSet<u32> = plan.cpus.iter().copied().chain(pairs).collect();
    let mut workers = Vec::new();
    for &cpu in &cpus {
        let mut worker = Worker::spawn(program, Vec::new(), 0)?;
        worker.send(&Command::Clock { cpu }).map_err(|_| {
            anyhow::anyhow!("the worker that calibrates CPU {cpu} takes no commands")
        })?;
        workers.push(worker);
    }
    match replies(&mut workers, Instant::now() + PATIENCE, interrupt) {
        Ok(replies) => replies
            .into_iter()
            .map(|reply| match reply {
                Reply::Clock(reading) if reading.ticks_per_second > 0.0 => Ok(reading),
                _ => bail!("the worker's reply does not answer `clock`"),
            })
            .collect::<anyhow::Result<Vec<_>>>()
            .map(Some),
        Err((_, Silence::Interrupted)) => Ok(None),
        Err((_, Silence::Deadline)) => bail!("calibrating the clock took longer than 10 s"),
        Err((at, Silence::Broken(reason))) => {
            let cpu = cpus.iter().nth(at).copied().unwrap_or_default();
            bail!("calibrating the clock of CPU {cpu}: {reason}")
        }
    }
}

/// The clock of a CPU, or of the first one where an end is not pinned.
pub fn of(clocks: &[ClockReading], cpu: Option<u32>) -> anyhow::Result<&ClockReading> {
    clocks
        .iter()
        .find(|clock| Some(clock.cpu) == cpu)
        .or_else(|| clocks.first())
        .context("no clock was calibrated")
}
