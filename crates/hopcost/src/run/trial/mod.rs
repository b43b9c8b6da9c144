//! One trial: fresh workers, attach, pilot, yardstick, warm-up, measurement,
//! yardstick, and everything cleaned up whatever happens in between.

pub mod background;
pub mod keep;
pub mod open;
pub mod snapshot;
pub mod spec;
mod traced;
pub mod workers;

use std::time::{Duration, Instant};

use anyhow::{Result, bail, ensure};
use hopcost_machine::{Root, shared_pages};
use hopcost_model::{
    EventReading, GateReading, Moment, Phase, PhaseLength, Placement, RawTrial, Role, SHARED_PAGES,
    Stamp,
};
use hopcost_plan::COUNTED_TRIALS;
use hopcost_probe::interrupt;
use hopcost_probe::worker::events::Events;

use super::pace::Pace;
use super::peer::near::Peer;
use super::yardstick::Beside;
use background::Background;
use spec::TrialSpec;
use workers::{Ran, TrialWorkers, lost};

/// Two-way exchanges and steps of the causality test before a measurement: what
/// fio takes for its own test, and more exchanges than it takes to meet the
/// shortest round trip.
const GATE_BEFORE: (u64, u64) = (10_000, 20_000);
/// The same after it: enough to see whether the offset moved.
const GATE_AFTER: (u64, u64) = (5_000, 5_000);
/// The same in a trial of given counts, whose numbers nobody reads.
const GATE_BRIEF: (u64, u64) = (200, 200);

/// Operations after which loops are compiled that are while they run: those of Java got their last
/// 8 % between 50,000 and 70,000 round trips, and had taken the same time for a while before.
const COMPILED_AFTER: u64 = 100_000;

/// Runs one trial beside its yardstick: its row, with the reason where it failed. The only error is
/// that the user interrupted.
pub fn run(spec: &TrialSpec<'_>, beside: Beside<'_, '_>) -> Result<RawTrial> {
    let started = Instant::now();
    let row = RawTrial { cpus_asked: spec.cpus_asked(), ..RawTrial::default() };
    let mut trial = Trial { row, beside };
    let result = trial.perform(spec);
    let Trial { mut row, beside } = trial;
    let mut spared = beside.pids();
    spared.extend(spec.setup.peer.as_ref().and_then(Peer::pid));
    spec.setup.runtimes.orphans.end(&spared);
    row.took_ns = started.elapsed().as_nanos() as u64;
    match result {
        Ok(()) => {}
        // After an interrupt whatever fails does so for that.
        Err(_) if interrupt::came() => bail!("interrupted"),
        Err(why) => row.error = Some(format!("{why:#}")),
    }
    Ok(row)
}

/// A trial under way: what is known of it, and its yardstick.
struct Trial<'o, 'a> {
    row: RawTrial,
    beside: Beside<'o, 'a>,
}

impl Trial<'_, '_> {
    fn perform(&mut self, spec: &TrialSpec<'_>) -> Result<()> {
        let mut background = Background::start(spec)?;
        let mut workers = open::open(spec)?;
        self.row.pin_errors.append(&mut workers.pin_errors);
        self.row.stamp = Some(spec.stamp.unwrap_or(Stamp::Each));
        let ran = match spec.case.workload.spec().length {
            PhaseLength::Fitted | PhaseLength::FittedOrAsked => self.exchange(&mut workers)?,
            PhaseLength::Paced => self.wake(&mut workers)?,
            PhaseLength::Timed => self.stream(&mut workers)?,
            PhaseLength::Scheduled => self.load(&mut workers)?,
        };
        keep::measured(&mut workers, &mut self.row, ran)?;
        memory(&workers, &mut self.row);
        background.still_spins()?;
        drop(background);
        let counts = spec.shape.counted_operations > 0 && spec.number < COUNTED_TRIALS;
        if counts && spec.case.two_ends() && !spec.is_exact() {
            count(&mut workers, &mut self.row)?;
        }
        traced::trace(&mut workers, &mut self.row)?;
        workers.dismiss();
        Ok(())
    }

    /// What is fitted: the pilot finds how many operations fit the time.
    fn exchange(&mut self, workers: &mut TrialWorkers<'_>) -> Result<Ran> {
        let spec = &workers.spec.clone();
        let phases = Instant::now();
        let Some(clock) = spec.clock else {
            let stamp = spec.stamp.unwrap_or(Stamp::Each);
            workers.warm_up(spec.shape.warm_up_operations.unwrap_or(0), stamp, None)?;
            let operations = spec.shape.operations.unwrap_or(1);
            let ran = workers.phase(Phase::Measure, operations, stamp, None)?;
            self.row.phases_ns = phases.elapsed().as_nanos() as u64;
            return Ok(ran);
        };
        let mut pace = Pace::new(&spec.case, clock, spec.shape);
        workers.pilot(&mut pace)?;
        if spec.workers.warms_up_until_steady() {
            self.row.warm_up_ns = warm_up_until_steady(workers, &mut pace)?;
        }
        let stamp = spec.stamp.unwrap_or_else(|| pace.choose_stamp());
        self.row.stamp = Some(stamp);
        self.row.phases_ns = phases.elapsed().as_nanos() as u64;
        self.between_readings(workers, |_, workers| {
            let count = pace.warm_up_count(stamp);
            if let Some(ran) = workers.warm_up(count, stamp, None)?.filter(|ran| lost(ran) > 0) {
                pace.lose(count, ran.outside_ns);
            }
            workers.phase(Phase::Measure, pace.measure_count(stamp), stamp, None)
        })
    }

    /// What is paced: as many as were asked for, between two comparisons of the clocks.
    fn wake(&mut self, workers: &mut TrialWorkers<'_>) -> Result<Ran> {
        let (warm_up, measure) = workers.spec.shape.wake_ups();
        self.between_readings(workers, |trial, workers| {
            trial.between_gates(workers, |workers| {
                workers.warm_up(warm_up, Stamp::Each, None)?;
                workers.phase(Phase::Measure, measure, Stamp::Each, None)
            })
        })
    }

    /// What is timed: until the time is up or the messages are sent.
    fn stream(&mut self, workers: &mut TrialWorkers<'_>) -> Result<Ran> {
        let stamp = Stamp::Each;
        let (spec, most) = (&workers.spec.clone(), workers.spec.messages_max());
        let warm_up = match spec.shape.warm_up_ns {
            0 => 0,
            _ => spec.shape.warm_up_operations.unwrap_or(most),
        };
        let cap = |ns: u64| Some(ns).filter(|_| !spec.is_exact());
        self.between_readings(workers, |_, workers| {
            workers.warm_up(warm_up, stamp, cap(spec.shape.warm_up_ns))?;
            workers.phase(Phase::Measure, most, stamp, cap(spec.shape.measure_ns))
        })
    }

    /// What is scheduled: the generator by itself, then the schedule over the channel.
    fn load(&mut self, workers: &mut TrialWorkers<'_>) -> Result<Ran> {
        let stamp = Stamp::Each;
        let [alone, mut warm_up, measure] = workers.spec.load_messages();
        if workers.spec.workers.warms_up_until_steady() && !workers.spec.is_exact() {
            warm_up = warm_up.max(COMPILED_AFTER);
        }
        let phases = Instant::now();
        let ran = workers.phase(Phase::Pilot, alone, stamp, None)?;
        let load = keep::generator(workers, ran)?;
        let ran = self.between_gates(workers, |workers| {
            workers.warm_up(warm_up, stamp, None)?;
            workers.phase(Phase::Measure, measure, stamp, None)
        })?;
        self.row.phases_ns = phases.elapsed().as_nanos() as u64;
        self.row.load = Some(load);
        Ok(ran)
    }

    /// Phases between two readings of the yardstick.
    fn between_readings(
        &mut self,
        workers: &mut TrialWorkers<'_>,
        phases: impl FnOnce(&mut Self, &mut TrialWorkers<'_>) -> Result<Ran>,
    ) -> Result<Ran> {
        self.beside.read(Moment::Before, &workers.spec, &mut self.row)?;
        let began = Instant::now();
        let ran = phases(self, workers)?;
        self.row.phases_ns += began.elapsed().as_nanos() as u64;
        self.beside.read(Moment::After, &workers.spec, &mut self.row)?;
        Ok(ran)
    }

    /// Phases between two comparisons of the clocks.
    fn between_gates(
        &mut self,
        workers: &mut TrialWorkers<'_>,
        phases: impl FnOnce(&mut TrialWorkers<'_>) -> Result<Ran>,
    ) -> Result<Ran> {
        let before = gate(workers, GATE_BEFORE)?;
        let ran = phases(workers)?;
        let after = gate(workers, GATE_AFTER)?;
        self.row.gates = vec![before, after];
        let moved = after.offset_ticks.abs_diff(before.offset_ticks);
        ensure!(
            moved <= before.bound_ticks.saturating_add(after.bound_ticks),
            "one-way times refused: the offset between the two ends' clocks went from {} to {} \
             ticks during the trial, further than both bounds (±{} and ±{}) allow",
            before.offset_ticks,
            after.offset_ticks,
            before.bound_ticks,
            after.bound_ticks
        );
        Ok(ran)
    }
}

/// Looks where the memory lies that both ends share, once nothing is timed any more.
fn memory(workers: &TrialWorkers<'_>, trial: &mut RawTrial) {
    let pages = workers.pids().next().map(|pid| shared_pages(&Root::default(), pid));
    let reading = |(node, pages): (u32, u64)| {
        EventReading::read_at_once(format!("{SHARED_PAGES}{node}"), pages)
    };
    if let Some(end) = trial.ends.first_mut() {
        end.events.extend(pages.unwrap_or_default().into_iter().map(reading));
    }
}

/// Aimed length of one part of such a warm-up.
const PART_NS: f64 = 40_000_000.0;
/// It is over when this many parts in a row agree this well.
const PARTS_AGREE: usize = 4;
const AGREE: f64 = 1.05;
/// After half of this time it no longer waits until the least number of operations is done. It ends
/// after this long or this many parts; the reader of the run judges whether it was steady then.
const TIME_MAX: Duration = Duration::from_millis(2_000);
const PARTS_MAX: usize = 60;

/// Warms up in parts until they agree, and sets the pace by the last of them; what an
/// operation took in each, in nanoseconds.
fn warm_up_until_steady(workers: &mut TrialWorkers<'_>, pace: &mut Pace) -> Result<Vec<f64>> {
    let started = Instant::now();
    let (mut parts, mut done) = (Vec::<f64>::new(), 0);
    let is_compiled = |done: u64| done >= COMPILED_AFTER || started.elapsed() > TIME_MAX / 2;
    while parts.len() < PARTS_MAX
        && started.elapsed() < TIME_MAX
        && !(is_compiled(done) && agree(&parts))
    {
        let count = pace.count_of(PART_NS);
        done += count;
        let ran = workers.phase(Phase::WarmUp, count, Stamp::Batch { n: count }, None)?;
        parts.push(pace.correct(count, ran.ends.first().map_or(0, |end| end.elapsed_ticks)));
    }
    Ok(parts)
}

/// Whether the last parts agree.
fn agree(parts: &[f64]) -> bool {
    let Some(last) = parts.len().checked_sub(PARTS_AGREE).map(|from| &parts[from..]) else {
        return false;
    };
    let (least, most) =
        last.iter().fold((f64::MAX, 0.0f64), |(low, high), &x| (low.min(x), high.max(x)));
    most <= least * AGREE
}

/// Compares the two ends' clocks, and refuses what runs against causality.
fn gate(workers: &mut TrialWorkers<'_>, aimed: (u64, u64)) -> Result<GateReading> {
    let spec = &workers.spec.clone();
    if spec.workers.has_foreign() {
        // Both stamp by CLOCK_MONOTONIC, which is one clock on all CPUs.
        return Ok(GateReading::default());
    }
    let (exchanges, steps) = if spec.is_exact() { GATE_BRIEF } else { aimed };
    let reading = workers.gate(exchanges, steps)?;
    let GateReading { exchanges, steps, backward_steps, bound_ticks, .. } = reading;
    let one_cpu = spec.case.placement == Some(Placement::SameCpu);
    let did_compare = one_cpu || exchanges > 0 && steps > 0;
    ensure!(did_compare, "one-way times refused: the two ends did not compare their clocks");
    ensure!(
        backward_steps == 0,
        "one-way times refused: {backward_steps} of {steps} steps from one end's clock to the \
         other's ran backwards by more than the bound of ±{bound_ticks} ticks"
    );
    Ok(reading)
}

/// The phase in which the kernel counts system calls. Ends of another runtime are counted from
/// outside, with the command and the reply: twice, so that these are not in the difference.
fn count(workers: &mut TrialWorkers<'_>, trial: &mut RawTrial) -> Result<()> {
    let counted = workers.spec.shape.counted_operations;
    let mut outside = workers.kernel_events();
    outside.iter().try_for_each(Events::start)?;
    if outside.is_empty() {
        (trial.counted_operations, trial.counted) = count_phase(workers, counted, &mut outside)?;
        return Ok(());
    }
    let (few, before) = count_phase(workers, 1, &mut outside)?;
    let (more, all) = count_phase(workers, 1 + counted, &mut outside)?;
    trial.counted_operations = more.saturating_sub(few);
    trial.counted = EventReading::differences(all, &before);
    Ok(())
}

/// A phase with what was counted in it at both ends, and its operations.
fn count_phase(
    workers: &mut TrialWorkers<'_>,
    count: u64,
    outside: &mut [Events],
) -> Result<(u64, Vec<EventReading>)> {
    let (case, shape) = (workers.spec.case.clone(), workers.spec.shape);
    let is_timed = case.workload.spec().length == PhaseLength::Timed;
    let cap_ns = is_timed.then_some(shape.measure_ns);
    let ran = workers.phase(Phase::Count, count, Stamp::Each, cap_ns)?;
    // What a phase does besides its operations was counted with them.
    let besides = case.workload.spec().uncounted;
    let callers = ran.ends.iter().filter(|end| end.role == Role::Caller);
    let operations = callers.map(|end| end.count + besides).sum();
    let counted = ran.ends.into_iter().flat_map(|end| end.events);
    let all = counted.chain(outside.iter_mut().flat_map(Events::read));
    Ok((operations, EventReading::totals(all)))
}

#[cfg(test)]
mod tests {
    use super::agree;

    #[test]
    fn parts_agree_when_the_last_four_do() {
        assert!(!agree(&[1.0, 1.0, 1.0]));
        assert!(agree(&[9.0, 1.0, 1.04, 1.0, 1.02]));
        assert!(!agree(&[1.0, 1.0, 1.06, 1.0]));
    }
}
