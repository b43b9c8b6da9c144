//! One trial: fresh workers, attach, pilot, sentinel, warm-up, measurement,
//! sentinel, and everything cleaned up whatever happens in between.

pub mod dial;
mod keep;
mod open;
mod outside;
mod stage;
mod steady;

use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::Instant;

use hopcost_model::case::{Case, Placement, Role, Workload};
use hopcost_model::plan::TrialShape;
use hopcost_model::protocol::{ClockReading, GateReading, Phase, Stamp};
use hopcost_model::raw::RawTrial;
use hopcost_probe::orphans::Orphans;
use hopcost_probe::workload::roundtrip::LEAD_IN;

use super::crew::Crew;
use super::idle::Knob;
use super::pace::Pace;
use super::worker::Transcript;
pub use stage::deadline_ms;
use stage::{Ran, Stage};

/// Everything a trial depends on.
pub struct Order<'a> {
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

/// Two-way exchanges and steps of the causality test before a measurement: what
/// fio takes for its own test, and more exchanges than it takes to meet the
/// shortest round trip.
const GATE_BEFORE: (u64, u64) = (10_000, 20_000);
/// The same after it: enough to see whether the offset moved.
const GATE_AFTER: (u64, u64) = (5_000, 5_000);
/// The same in a trial of given counts, whose numbers nobody reads.
const GATE_BRIEF: (u64, u64) = (200, 200);
/// Trials of a case, from its first, after which system calls are counted: their
/// number hardly varies, and closing the kernel's tracepoint takes some 30 ms.
const COUNTED_TRIALS: u32 = 3;
/// Wake-ups of a trial where nobody says.
const WAKE_UPS: u64 = 100;
/// Messages of a flow at most where nobody says; the time ends it before.
const MESSAGES_MAX: u64 = 1 << 16;

/// Runs one trial.
pub fn run(order: &Order<'_>) -> Outcome {
    let started = Instant::now();
    let mut trial = empty_trial(order);
    let result = perform(order, &mut trial);
    order.orphans.end();
    trial.took_ns = started.elapsed().as_nanos() as u64;
    match result {
        Ok(()) => {}
        Err(Failure::Interrupted) => return Outcome::Interrupted,
        Err(Failure::Reason(reason)) => trial.error = Some(reason),
    }
    Outcome::Row(Box::new(trial))
}

fn empty_trial(order: &Order<'_>) -> RawTrial {
    let mut cpus_asked = vec![order.cpus.0];
    if order.case.two_ends() {
        cpus_asked.push(order.cpus.1);
    }
    RawTrial { cpus_asked, ..RawTrial::empty() }
}

fn perform(order: &Order<'_>, trial: &mut RawTrial) -> Result<(), Failure> {
    let receiver = order.cpus.1.or(order.cpus.0);
    // Held until the trial is over.
    let mut knob = Knob::turn(order.case.idle_knob, receiver, order)?;
    let (mut stage, pin_errors) = open::open(order)?;
    trial.pin_errors = pin_errors;
    match order.case.workload {
        Workload::Call | Workload::Roundtrip => exchange(&mut stage, order, trial)?,
        Workload::Wake => wake(&mut stage, order, trial)?,
        Workload::Stream => stream(&mut stage, order, trial)?,
    }
    knob.still_held()?;
    let counts = order.shape.counted_operations > 0 && order.number < COUNTED_TRIALS;
    if counts && order.case.two_ends() && order.exactly.is_none() {
        count(&mut stage, order, trial)?;
    }
    stage.dismiss();
    Ok(())
}

/// A `call` or a `roundtrip`: the pilot finds how many operations fit the time.
fn exchange(stage: &mut Stage<'_>, order: &Order<'_>, trial: &mut RawTrial) -> Result<(), Failure> {
    let phases = Instant::now();
    if let Some(exactly) = order.exactly {
        let stamp = order.stamp.unwrap_or(Stamp::Each);
        trial.stamp = Some(stamp);
        if exactly.warm_up > 0 {
            stage.phase(Phase::WarmUp, exactly.warm_up, stamp, None)?;
        }
        let ran = stage.phase(Phase::Measure, exactly.measure, stamp, None)?;
        trial.phases_ns = phases.elapsed().as_nanos() as u64;
        return keep::exchanges(stage, order, trial, stamp, ran);
    }
    let mut pace = Pace::new(order.case, order.clock, order.shape);
    loop {
        let count = pace.pilot_count();
        let ran = stage.phase(Phase::Pilot, count, pace.pilot_stamp(), None)?;
        if pace.learn(count, ran.ends.first().map_or(0, |end| end.elapsed_ticks)) {
            break;
        }
    }
    if order.crew.warms_up_until_steady() {
        steady::warm_up(stage, order, trial, &mut pace)?;
    }
    let stamp = order.stamp.unwrap_or_else(|| pace.choose_stamp());
    trial.stamp = Some(stamp);
    let pilot_ns = phases.elapsed();
    trial.sentinel_before_ns = stage.sentinels()?;
    let phases = Instant::now();
    stage.phase(Phase::WarmUp, pace.warm_up_count(stamp), stamp, None)?;
    let count = pace.measure_count(stamp);
    let ran = steady::measure(stage, order, trial, stamp, count)?;
    trial.phases_ns = (pilot_ns + phases.elapsed()).as_nanos() as u64;
    trial.sentinel_after_ns = stage.sentinels()?;
    keep::exchanges(stage, order, trial, stamp, ran)
}

/// A `wake`: as many as were asked for, between two comparisons of the clocks.
fn wake(stage: &mut Stage<'_>, order: &Order<'_>, trial: &mut RawTrial) -> Result<(), Failure> {
    let stamp = Stamp::Each;
    trial.stamp = Some(stamp);
    let (warm_up, measure) = match order.exactly {
        Some(exactly) => (exactly.warm_up, exactly.measure),
        None => {
            let measure = order.shape.operations.unwrap_or(WAKE_UPS);
            (order.shape.warm_up_operations.unwrap_or(measure.div_ceil(10)), measure)
        }
    };
    let brief = order.exactly.is_some();
    if !brief {
        trial.sentinel_before_ns = stage.sentinels()?;
    }
    let phases = Instant::now();
    let before = gate(stage, order, if brief { GATE_BRIEF } else { GATE_BEFORE })?;
    if warm_up > 0 {
        stage.phase(Phase::WarmUp, warm_up, stamp, None)?;
    }
    let ran = stage.phase(Phase::Measure, measure, stamp, None)?;
    let after = gate(stage, order, if brief { GATE_BRIEF } else { GATE_AFTER })?;
    trial.phases_ns = phases.elapsed().as_nanos() as u64;
    if !brief {
        trial.sentinel_after_ns = stage.sentinels()?;
    }
    trial.gates = vec![before, after];
    let moved = after.offset_ticks.abs_diff(before.offset_ticks);
    if moved > before.bound_ticks.saturating_add(after.bound_ticks) {
        return Err(Failure::Reason(format!(
            "one-way times refused: the offset between the two ends' clocks went from {} to {} \
             ticks during the trial, further than both bounds (±{} and ±{}) allow",
            before.offset_ticks, after.offset_ticks, before.bound_ticks, after.bound_ticks
        )));
    }
    keep::wakes(stage, order, trial, ran)
}

/// Compares the two ends' clocks, and refuses what runs against causality.
fn gate(
    stage: &mut Stage<'_>,
    order: &Order<'_>,
    (exchanges, steps): (u64, u64),
) -> Result<GateReading, Failure> {
    let reading = stage.gate(exchanges, steps)?;
    let one_cpu = order.case.placement == Some(Placement::SameCpu);
    if !one_cpu && (reading.exchanges == 0 || reading.steps == 0) {
        return Err(Failure::Reason(
            "one-way times refused: the two ends did not compare their clocks".into(),
        ));
    }
    if reading.backward_steps > 0 {
        return Err(Failure::Reason(format!(
            "one-way times refused: {} of {} steps from one end's clock to the other's ran \
             backwards by more than the bound of ±{} ticks",
            reading.backward_steps, reading.steps, reading.bound_ticks
        )));
    }
    Ok(reading)
}

/// A `stream`: until the time is up or the messages are sent.
fn stream(stage: &mut Stage<'_>, order: &Order<'_>, trial: &mut RawTrial) -> Result<(), Failure> {
    let stamp = Stamp::Each;
    trial.stamp = Some(stamp);
    let phases = Instant::now();
    let ran: Ran;
    if let Some(exactly) = order.exactly {
        if exactly.warm_up > 0 {
            stage.phase(Phase::WarmUp, exactly.warm_up, stamp, None)?;
        }
        ran = stage.phase(Phase::Measure, exactly.measure, stamp, None)?;
        trial.phases_ns = phases.elapsed().as_nanos() as u64;
    } else {
        trial.sentinel_before_ns = stage.sentinels()?;
        let phases = Instant::now();
        let most = order.shape.operations.unwrap_or(MESSAGES_MAX);
        let warm_up = order.shape.warm_up_operations.unwrap_or(most);
        if warm_up > 0 && order.shape.warm_up_ns > 0 {
            stage.phase(Phase::WarmUp, warm_up, stamp, Some(order.shape.warm_up_ns))?;
        }
        ran = stage.phase(Phase::Measure, most, stamp, Some(order.shape.measure_ns))?;
        trial.phases_ns = phases.elapsed().as_nanos() as u64;
        trial.sentinel_after_ns = stage.sentinels()?;
    }
    keep::messages(stage, order, trial, ran)
}

/// The phase in which the kernel counts system calls.
fn count(stage: &mut Stage<'_>, order: &Order<'_>, trial: &mut RawTrial) -> Result<(), Failure> {
    let cap_ns = (order.case.workload == Workload::Stream).then_some(order.shape.measure_ns);
    let ran = stage.phase(Phase::Count, order.shape.counted_operations, Stamp::Each, cap_ns)?;
    // What a phase does besides its operations was counted with them.
    let besides = match order.case.workload {
        Workload::Stream => 2,
        Workload::Wake => 1,
        Workload::Call | Workload::Roundtrip => LEAD_IN,
    };
    let callers = ran.ends.iter().filter(|end| end.role == Role::Caller);
    trial.counted_operations = callers.map(|end| end.count + besides).sum();
    trial.counted = keep::together(ran.ends);
    Ok(())
}
