//! What keeps the receiver's CPU from idling deeply, held for as long as a trial lasts.

use std::fs::File;
use std::io::Write;
use std::time::{Duration, Instant};

use hopcost_model::case::IdleKnob;
use hopcost_model::protocol::{Command, Reply};
use hopcost_probe::sys;

use super::trial::spec::{Failure, TrialSpec};
use super::worker::{ReplyError, Worker};

/// Where a wanted wake-up latency in µs is written and held for as long as the
/// file is open (Documentation/power/pm_qos_interface.rst).
pub const DMA_LATENCY: &str = "/dev/cpu_dma_latency";

/// How long a spinner may take to begin.
const PATIENCE: Duration = Duration::from_secs(2);

/// How much later than its trial a spinner gives up, which begins before it.
const OUTLIVES_MS: u64 = 5_000;

/// A knob in its turned position; dropping it turns it back.
pub enum Knob {
    /// Nothing is held.
    None,
    /// The file is held open.
    DmaLatency {
        /// Closing it ends the request.
        _file: File,
    },
    /// A process spins at idle priority; dropping it kills it.
    Spinner { worker: Worker },
}

impl Knob {
    /// Turns a knob for the CPU of the receiver.
    pub fn turn(knob: IdleKnob, cpu: Option<u32>, spec: &TrialSpec<'_>) -> Result<Knob, Failure> {
        match knob {
            IdleKnob::None => Ok(Knob::None),
            IdleKnob::DmaLatency => {
                let asked = |e: std::io::Error| {
                    Failure::from(sys::context(e, &format!("asking {DMA_LATENCY} for 0 µs")))
                };
                let mut file = File::options().write(true).open(DMA_LATENCY).map_err(asked)?;
                file.write_all(&0i32.to_ne_bytes()).map_err(asked)?;
                Ok(Knob::DmaLatency { _file: file })
            }
            IdleKnob::Spinner => {
                let cpu = cpu.ok_or_else(|| {
                    Failure::Reason(
                        "an idle spinner needs a pinned receiver; name a placement".into(),
                    )
                })?;
                let mut worker = Worker::spawn(&spec.setup.native, Vec::new(), 0)?;
                let begin = Command::IdleSpin {
                    cpu,
                    deadline_ms: spec.deadline_ms().saturating_add(OUTLIVES_MS),
                    parent: Some(std::process::id()),
                };
                let story = |error: ReplyError| match error {
                    ReplyError::Interrupted => Failure::Interrupted,
                    ReplyError::Deadline => {
                        Failure::Reason("the idle spinner did not begin".into())
                    }
                    error => Failure::Reason(format!("the idle spinner: {error}")),
                };
                worker.send(&begin);
                let until = Instant::now() + PATIENCE;
                match worker.reply(until, &spec.setup.interrupt) {
                    Ok(Reply::Spinning) => Ok(Knob::Spinner { worker }),
                    Ok(_) => Err(Failure::Reason("the idle spinner answers nonsense".into())),
                    Err(error) => Err(story(error)),
                }
            }
        }
    }

    /// Whether it was held to the end: without it the numbers are not what they say.
    pub fn still_held(&mut self) -> Result<(), Failure> {
        let Knob::Spinner { worker } = self else { return Ok(()) };
        if worker.is_alive() {
            return Ok(());
        }
        Err(Failure::Reason("the idle spinner ended before the trial did".into()))
    }
}
