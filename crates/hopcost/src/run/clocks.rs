//! Calibration of the clocks, once per run and CPU; of other runtimes, what their
//! stamps cost, once per run.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use hopcost_model::{ClockReading, Command, Plan, Reply, Runtime};
use hopcost_probe::interrupt;
use hopcost_probe::orphans::Launch;

use super::runtimes::Ready;
use super::setup::Setup;
use super::worker::{ReplyError, Worker, replies};

/// Far longer than a calibration takes.
const PATIENCE: Duration = Duration::from_secs(10);

/// Calibrates the clock of every CPU that the plan uses, all at the same time, and
/// asks every other runtime that calls what a stamp costs it.
pub fn calibrate(plan: &Plan, setup: &Setup) -> Result<Vec<ClockReading>> {
    let mut clocks = of_cpus(&plan.local_cpus(), setup)?;
    let callers = plan.live_cases().map(|case| &case.runtimes.caller);
    let callers: BTreeSet<&Runtime> = callers.filter(|runtime| !runtime.is_rust()).collect();
    for runtime in callers {
        let gone = || format!("runtime {runtime} is no longer available");
        let ready = setup.runtimes.ready(runtime).with_context(gone)?;
        let cpu = plan.cpus.first().copied().unwrap_or(0);
        clocks.push(foreign(runtime, ready, cpu)?);
    }
    Ok(clocks)
}

/// The same of Rust's clocks alone, of these CPUs in ascending order.
pub fn of_cpus(cpus: &BTreeSet<u32>, setup: &Setup) -> Result<Vec<ClockReading>> {
    let mut workers = Vec::new();
    for &cpu in cpus {
        let mut worker = Worker::spawn(&setup.native, Vec::new(), 0)?;
        worker.send(&Command::Clock { cpu });
        workers.push(worker);
    }
    let mut workers: Vec<&mut Worker> = workers.iter_mut().collect();
    match replies(&mut workers, Instant::now() + PATIENCE, interrupt::event()) {
        Ok(replies) => {
            let reading = |reply| match reply {
                Reply::Clock(reading) if reading.ticks_per_second > 0.0 => Ok(reading),
                _ => bail!("the worker's reply does not answer `clock`"),
            };
            replies.into_iter().map(reading).collect()
        }
        Err((_, ReplyError::Deadline)) => bail!("calibrating the clock took longer than 10 s"),
        Err((at, error)) => {
            let cpu = cpus.iter().nth(at).copied().unwrap_or_default();
            bail!("calibrating the clock of CPU {cpu}: {error}")
        }
    }
}

/// What a stamp costs a runtime. The rate is the one it has described: a worker may
/// answer nothing here, and then the cost is not known and said to be 0.
fn foreign(runtime: &Runtime, ready: &Ready, cpu: u32) -> Result<ClockReading, ReplyError> {
    let described = &ready.description.clock;
    let rate = described.ticks_per_second;
    let unknown =
        ClockReading { cpu, ..ClockReading::of_rate(runtime.word(), &described.source, rate) };
    let launch = Launch { deadline_ms: PATIENCE.as_millis() as u64, cpus: vec![cpu], fifo: None };
    let Ok(mut worker) = Worker::launch(&ready.program, launch, Vec::new(), 0) else {
        return Ok(unknown);
    };
    match worker.ask(&Command::Clock { cpu }, Instant::now() + PATIENCE) {
        Ok(Reply::Clock(reading)) => {
            let sound = |ns: f64| if ns.is_finite() && (0.0..1e9).contains(&ns) { ns } else { 0.0 };
            Ok(ClockReading {
                stamp_min_ns: sound(reading.stamp_min_ns),
                stamp_p50_ns: sound(reading.stamp_p50_ns),
                stamp_p99_ns: sound(reading.stamp_p99_ns),
                ..unknown
            })
        }
        Err(ReplyError::Interrupted) => Err(ReplyError::Interrupted),
        _ => Ok(unknown),
    }
}
