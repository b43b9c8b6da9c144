//! What the machine does on purpose while a trial is measured: something keeps it from idling, or
//! works in the background. It begins before the trial's workers, and ends with the trial.

use std::fs::File;
use std::io::Write;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::time::{Duration, Instant};

use hopcost_machine::{Root, last_level_bytes};
use hopcost_model::case::{Background as Asked, IdleKnob};
use hopcost_model::protocol::{BackgroundWork, Command, Reply};
use hopcost_probe::sys;

use super::spec::{Failure, TrialSpec};
use crate::run::worker::{ReplyError, Worker};

/// Where a wanted wake-up latency in µs is written and held for as long as the
/// file is open (Documentation/power/pm_qos_interface.rst).
pub const DMA_LATENCY: &str = "/dev/cpu_dma_latency";

/// How much later than its trial a process gives up by itself, which begins before it.
const OUTLIVES_MS: u64 = 5_000;
/// How long one may take to begin: walking through memory begins with having it.
const PATIENCE: Duration = Duration::from_secs(10);

/// What is held, and the processes; dropping it lets go and kills them.
pub struct Background {
    /// Open, it keeps CPUs from idling deeply.
    _latency: Option<File>,
    /// Spins at idle priority on the receiver's CPU, which then never idles.
    spinner: Option<Worker>,
    busy: Vec<Worker>,
    /// Where each notes how much it has done.
    progress: Vec<File>,
}

impl Background {
    /// Starts what a case asks for.
    pub fn start(spec: &TrialSpec<'_>) -> Result<Self, Failure> {
        let (case, receiver) = (&spec.case, spec.cpus.1.or(spec.cpus.0));
        let mut background = Self {
            _latency: (case.idle_knob == IdleKnob::DmaLatency).then(ask_latency).transpose()?,
            spinner: None,
            busy: Vec::new(),
            progress: Vec::new(),
        };
        if case.idle_knob == IdleKnob::Spinner {
            let cpu =
                receiver.ok_or("an idle spinner needs a pinned receiver; name a placement")?;
            let (deadline_ms, parent) = (deadline_ms(spec), Some(std::process::id()));
            let begin = Command::IdleSpin { cpu, deadline_ms, parent };
            background.spinner = Some(started(spec, &begin, Vec::new(), "the idle spinner")?);
        }
        match case.background {
            Asked::None => {}
            Asked::Cpu(processes) => {
                (0..processes).try_for_each(|_| background.add(BackgroundWork::Compute, spec))?;
            }
            Asked::Cache => {
                let bytes = last_level_bytes(&Root::default(), receiver.unwrap_or(0)).ok_or(
                    "background=cache needs the size of the last-level cache, which /sys does not \
                     report here",
                )?;
                let bytes = bytes.saturating_mul(2);
                background.add(BackgroundWork::Walk { bytes }, spec)?;
            }
        }
        Ok(background)
    }

    fn add(&mut self, work: BackgroundWork, spec: &TrialSpec<'_>) -> Result<(), Failure> {
        let progress = sys::memfd("hopcost-progress", 8)?;
        let inherited = progress.try_clone()?;
        let begin = Command::Background {
            work,
            progress_fd: inherited.as_raw_fd(),
            deadline_ms: deadline_ms(spec),
            parent: Some(std::process::id()),
        };
        self.busy.push(started(spec, &begin, vec![inherited], "the background")?);
        self.progress.push(File::from(progress));
        Ok(())
    }

    /// How much each has done so far.
    pub fn progress(&self) -> Result<Vec<u64>, Failure> {
        let read = |file: &File| {
            let mut bytes = [0; 8];
            match file.read_at(&mut bytes, 0) {
                Ok(8) => Ok(u64::from_le_bytes(bytes)),
                Ok(_) => Ok(0),
                Err(error) => Err(Failure::from(error)),
            }
        };
        self.progress.iter().map(read).collect()
    }

    /// Whether each has done something since: without it the numbers are not what they say.
    pub fn went_on_since(&self, before: &[u64]) -> Result<(), Failure> {
        let after = self.progress()?;
        let still = after.iter().zip(before).filter(|(after, before)| after <= before).count();
        if still == 0 {
            return Ok(());
        }
        Err(Failure::Reason(format!(
            "{still} of the {} background processes did no work during the measurement; measure \
             for longer, or leave them a CPU",
            before.len()
        )))
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

/// Starts a process of hopcost's own that works until it is dropped; `what` names it in reasons.
fn started(
    spec: &TrialSpec<'_>,
    begin: &Command,
    inherited: Vec<OwnedFd>,
    what: &str,
) -> Result<Worker, Failure> {
    let mut worker = Worker::spawn(&spec.setup.native, inherited, 0)?;
    worker.send(begin);
    match worker.reply(Instant::now() + PATIENCE, &spec.setup.interrupt) {
        Ok(Reply::Spinning) => Ok(worker),
        Ok(_) => Err(format!("{what} answers nonsense").into()),
        Err(ReplyError::Interrupted) => Err(Failure::Interrupted),
        Err(error) => Err(format!("{what}: {error}").into()),
    }
}

fn deadline_ms(spec: &TrialSpec<'_>) -> u64 {
    spec.deadline_ms().saturating_add(OUTLIVES_MS)
}
