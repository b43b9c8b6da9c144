//! What keeps a CPU from idling while a trial is measured. It begins before the trial's workers, and
//! ends with the trial.

use std::fs::File;
use std::io::Write;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use hopcost_model::{Command, IdleKnob, Reply};

use super::spec::TrialSpec;
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
    pub fn start(spec: &TrialSpec<'_>) -> Result<Self> {
        let (case, receiver) = (&spec.case, spec.cpus.1.or(spec.cpus.0));
        let mut background = Self {
            _latency: (case.idle_knob == IdleKnob::DmaLatency).then(ask_latency).transpose()?,
            spinner: None,
        };
        if case.idle_knob == IdleKnob::Spinner {
            let cpu =
                receiver.context("an idle spinner needs a pinned receiver; name a placement")?;
            background.spinner = Some(spinner(spec, cpu)?);
        }
        Ok(background)
    }

    /// Whether the spinner spun to the end: without it the numbers are not what they say.
    pub fn still_spins(&mut self) -> Result<()> {
        let spins = self.spinner.as_mut().is_none_or(Worker::is_alive);
        ensure!(spins, "the idle spinner ended before the trial did");
        Ok(())
    }
}

/// Asks for wake-ups without latency, for as long as what is returned is open.
fn ask_latency() -> Result<File> {
    let opened = File::options().write(true).open(DMA_LATENCY);
    let asked = opened.and_then(|mut file| file.write_all(&0i32.to_ne_bytes()).map(|()| file));
    asked.with_context(|| format!("asking {DMA_LATENCY} for 0 µs"))
}

/// Starts a process of hopcost's own that spins on a CPU until it is dropped.
fn spinner(spec: &TrialSpec<'_>, cpu: u32) -> Result<Worker> {
    let deadline_ms = spec.deadline_ms().saturating_add(OUTLIVES_MS);
    let mut worker = Worker::spawn(&spec.setup.native, Vec::new(), 0)?;
    let spin = Command::IdleSpin { cpu, deadline_ms, parent: Some(std::process::id()) };
    match worker.ask(&spin, Instant::now() + PATIENCE) {
        Ok(Reply::Spinning) => Ok(worker),
        Ok(_) => bail!("the idle spinner answers nonsense"),
        Err(error) => bail!("the idle spinner: {error}"),
    }
}
