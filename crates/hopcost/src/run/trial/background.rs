//! What keeps a CPU from idling while a trial is measured. It begins before the trial's workers, and
//! ends with the trial.

use std::fs::File;
use std::io::Write;
use std::time::{Duration, Instant};

use hopcost_model::case::IdleKnob;
use hopcost_model::protocol::{Command, Reply};
use hopcost_probe::sys;

use super::spec::{Failure, TrialSpec};
use crate::run::worker::Worker;

/// Where a wanted wake-up latency in µs is written and held for as long as the
/// file is open (Documentation/power/pm_qos_interface.rst).
pub const DMA_LATENCY: &str = "/dev/cpu_dma_latency";

/// How much later than its trial a process gives up by itself, which begins before it.
const OUTLIVES_MS: u64 = 5_000;
/// How long one may take to begin.
const PATIENCE: Duration = Duration::from_secs(10);

/// What is held, and the process; dropping it lets go and kills it.
pub struct Background {
    /// Open, it keeps CPUs from idling deeply.
    _latency: Option<File>,
    /// Spins at idle priority on the receiver's CPU, which then never idles.
    spinner: Option<Worker>,
}

impl Background {
    /// Starts what a case asks for.
    pub fn start(spec: &TrialSpec<'_>) -> Result<Self, Failure> {
        let (case, receiver) = (&spec.case, spec.cpus.1.or(spec.cpus.0));
        let mut background = Self {
            _latency: (case.idle_knob == IdleKnob::DmaLatency).then(ask_latency).transpose()?,
            spinner: None,
        };
        if case.idle_knob == IdleKnob::Spinner {
            let cpu =
                receiver.ok_or("an idle spinner needs a pinned receiver; name a placement")?;
            background.spinner = Some(spinner(spec, cpu)?);
        }
        Ok(background)
    }

    /// Whether the spinner spun to the end: without it the numbers are not what they say.
    pub fn still_spins(&mut self) -> Result<(), Failure> {
        match self.spinner.as_mut().is_some_and(|spinner| !spinner.is_alive()) {
            true => Err("the idle spinner ended before the trial did".into()),
            false => Ok(()),
        }
    }
}

/// Asks for wake-ups without latency, for as long as what is returned is open.
fn ask_latency() -> Result<File, Failure> {
    let opened = File::options().write(true).open(DMA_LATENCY);
    let asked = opened.and_then(|mut file| file.write_all(&0i32.to_ne_bytes()).map(|()| file));
    asked.map_err(|e| sys::context(e, &format!("asking {DMA_LATENCY} for 0 µs")).into())
}

/// Starts a process of hopcost's own that spins on a CPU until it is dropped.
fn spinner(spec: &TrialSpec<'_>, cpu: u32) -> Result<Worker, Failure> {
    let deadline_ms = spec.deadline_ms().saturating_add(OUTLIVES_MS);
    let mut worker = Worker::spawn(&spec.setup.native, Vec::new(), 0)?;
    worker.send(&Command::IdleSpin { cpu, deadline_ms, parent: Some(std::process::id()) });
    match worker.reply(Instant::now() + PATIENCE) {
        Ok(Reply::Spinning) => Ok(worker),
        Ok(_) => Err("the idle spinner answers nonsense".into()),
        Err(error) => Err(format!("the idle spinner: {error}").into()),
    }
}
