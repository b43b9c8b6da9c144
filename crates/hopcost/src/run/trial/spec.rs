//! What a trial depends on, and how it may end.

use std::os::fd::OwnedFd;
use std::path::Path;

use hopcost_model::case::Case;
use hopcost_model::plan::TrialShape;
use hopcost_model::protocol::{ClockReading, Stamp};
use hopcost_model::raw::RawTrial;
use hopcost_probe::orphans::Orphans;

use crate::run::crew::Crew;
use crate::run::pace;
use crate::run::worker::Transcript;

/// Messages of a flow at most where nobody says; the time ends it before.
const MESSAGES_MAX: u64 = 1 << 16;
/// What a worker of another runtime may take to start.
const START_UP_MS: u64 = 5_000;
/// What one that compiles while it runs may take to start and to warm up.
const STEADY_START_UP_MS: u64 = 20_000;

/// Everything a trial depends on.
pub struct TrialSpec<'a> {
    /// The case.
    pub case: &'a Case,
    /// Who plays it.
    pub crew: &'a Crew<'a>,
    /// CPUs of the caller and the callee; none where free.
    pub cpus: (Option<u32>, Option<u32>),
    /// How it is shaped.
    pub shape: TrialShape,
    /// The stamp that earlier trials of this case used.
    pub stamp: Option<Stamp>,
    /// Run exactly these counts, without pilot and sentinel.
    pub exactly: Option<Exactly>,
    /// The caller's clock, on its CPU.
    pub clock: &'a ClockReading,
    /// The clock of an end in Rust on the callee's CPU.
    pub callee_clock: &'a ClockReading,
    /// Where to write down what is said to the workers and what they answer.
    pub transcript: Option<&'a Transcript>,
    /// Directory for names.
    pub scratch: &'a Path,
    /// The trial's number among those of its case.
    pub number: u32,
    /// Bytes of padding in the environment.
    pub padding: usize,
    /// Seed for thinning the samples.
    pub seed: u64,
    /// Readable once the user has interrupted.
    pub interrupt: &'a OwnedFd,
    /// What workers leave behind.
    pub orphans: &'a Orphans,
}

/// Counts given from outside instead of found by a pilot.
#[derive(Debug, Clone, Copy)]
pub struct Exactly {
    /// Operations of the warm-up; none if 0.
    pub warm_up: u64,
    /// Operations of the measurement.
    pub measure: u64,
}

/// How a trial ended.
pub enum Outcome {
    /// As a row: measured, or failed with its reason.
    Row(Box<RawTrial>),
    /// The user interrupted: no row.
    Interrupted,
}

/// Why a trial has no numbers.
pub enum Failure {
    /// For this reason.
    Reason(String),
    /// The user interrupted.
    Interrupted,
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        Failure::Reason(error.to_string())
    }
}

impl From<String> for Failure {
    fn from(reason: String) -> Self {
        Failure::Reason(reason)
    }
}

impl From<&str> for Failure {
    fn from(reason: &str) -> Self {
        Failure::Reason(reason.to_owned())
    }
}

impl TrialSpec<'_> {
    /// Ticks in a nanosecond of the caller's clock.
    pub fn ticks_per_ns(&self) -> f64 {
        pace::ticks_per_ns(self.case, self.clock)
    }

    /// Wake-ups of the warm-up and of the measurement.
    pub fn wake_ups(&self) -> (u64, u64) {
        match self.exactly {
            Some(exactly) => (exactly.warm_up, exactly.measure),
            None => self.shape.wake_ups(),
        }
    }

    /// Messages of each flow at most.
    pub fn messages_max(&self) -> u64 {
        match self.exactly {
            Some(exactly) => exactly.measure,
            None => self.shape.operations.unwrap_or(MESSAGES_MAX),
        }
    }

    /// The trial's deadline, longer where its workers need to start or its wake-ups alone
    /// take long.
    pub fn deadline_ms(&self) -> u64 {
        let start_up_ms = match () {
            () if self.crew.warms_up_until_steady() => STEADY_START_UP_MS,
            () if self.crew.has_foreign() => START_UP_MS,
            () => 0,
        };
        let (warm_up, measure) = self.wake_ups();
        // Three times as long as if a wake-up took a millisecond.
        let wake_up_ns =
            self.case.gap_ns.map_or(0, |gap_ns| gap_ns.saturating_add(1_000_000).saturating_mul(3));
        let wake_ups_ms = (warm_up + measure).saturating_mul(wake_up_ns) / 1_000_000;
        (start_up_ms + self.shape.deadline_ms).saturating_add(wake_ups_ms)
    }
}
