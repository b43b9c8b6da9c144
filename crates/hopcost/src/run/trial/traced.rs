//! The traced phase, after all others: what the kernel's own events say of each operation.
//!
//! Tracing slows what it watches, so that nothing of it is among the measured samples. A phase
//! of as many operations without events comes right before it, to be held against it.

use std::collections::BTreeSet;
use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};
use hopcost_model::{Phase, RawTrial, Role, Stamp, Trace, TraceThread, WorkerClock, Workload};
use hopcost_probe::sys;
use hopcost_probe::trace::{self as probe, Bare, EndStamp, Ends, Recorder};

use super::keep;
use super::snapshot::Process;
use super::spec::TrialSpec;
use super::workers::{TrialWorkers, unexpected};

/// Bytes of payload that leave as many events as an operation.
const BYTES_PER_OPERATION: u64 = 16 << 10;
/// Part of a phase that warms it up.
const WARM_UP: u64 = 10;

/// The CPUs whose events are recorded: those of the ends, or all that they may use.
fn cpus(spec: &TrialSpec<'_>) -> Result<Vec<u32>> {
    let asked: Option<BTreeSet<u32>> = spec.cpus_asked().into_iter().collect();
    Ok(asked.map_or_else(sys::allowed_cpus, |cpus| Ok(cpus.into_iter().collect()))?)
}

/// What an operation may take that does not wait for something slow.
const NO_WAIT_NS: u64 = 100_000;

/// Bytes of buffer for each of these CPUs, where an operation takes about so long.
fn bytes(spec: &TrialSpec<'_>, cpus: &[u32], operations: u64, each_ns: u64) -> Result<usize> {
    let gap_ns = spec.case.gap_ns.unwrap_or(0).max(each_ns.saturating_sub(NO_WAIT_NS));
    // What a message makes happen grows with its length.
    let bytes = operations.saturating_mul(spec.case.payload_bytes.unwrap_or(0).into());
    let operations = operations.max(bytes / BYTES_PER_OPERATION);
    Ok(probe::bytes_per_cpu(cpus.len(), operations, gap_ns)?)
}

/// Both phases, where they are asked for.
pub fn trace(workers: &mut TrialWorkers<'_>, trial: &mut RawTrial) -> Result<()> {
    let Some(operations) = workers.spec.shape.traced_operations else { return Ok(()) };
    trial.trace = Some(traced(workers, operations).context("cannot be traced")?);
    Ok(())
}

fn traced(workers: &mut TrialWorkers<'_>, operations: u64) -> Result<Trace> {
    let spec = &workers.spec.clone();
    let workload = spec.case.workload;
    let is_traced = matches!(workload, Workload::Roundtrip | Workload::Wake);
    ensure!(is_traced, "only round trips and wake-ups are, not a {workload}");
    let clock = match spec.workers.foreign(Role::Caller).map(|ready| &ready.description.clock) {
        None if !spec.case.has_virtual_clock() => probe::CLOCK_MONOTONIC_RAW,
        Some(clock) if *clock == WorkerClock::default() => probe::CLOCK_MONOTONIC,
        _ => bail!("no event of the kernel has the caller's clock"),
    };
    let cpus = cpus(spec)?;
    let ends = ends(workers)?;
    workers.warm_up(operations.div_ceil(WARM_UP), Stamp::Each, None)?;
    let begun = Instant::now();
    let untraced = stamped(workers, operations)?;
    let each_ns = begun.elapsed().as_nanos() as u64 / operations.max(1);
    let bytes = bytes(spec, &cpus, operations, each_ns)?;
    let first = *cpus.first().context("no CPU")?;
    let bare = Bare::measured(first);
    // Only now: what is open slows the system calls of the whole machine, even switched off.
    let mut recorder = Recorder::open(&cpus, bytes, clock)?;
    recorder.start()?;
    let traced = stamped(workers, operations);
    recorder.stop()?;
    let traced = traced?;
    // While all is open still, because closing a tracepoint takes the kernel 30 ms.
    let cost = bare.and_then(|bare| bare.event_cost_ns());
    let recording = recorder.recorded(&ends)?;
    let untraced_ns = untraced.took().map(|ticks| recording.tie.duration_ns(ticks)).collect();
    let mut missing = recording.missing.clone();
    let event_cost_ns =
        cost.map_err(|why| missing.push(format!("the cost of an event: {why}"))).ok();
    Ok(Trace {
        operations: traced.operations.len() as u64,
        events: recording.between(&traced.of_ends(spec)),
        lost: recording.lost,
        clock_bound_ns: recording.tie.bound_ns,
        untraced_ns,
        event_cost_ns,
        missing,
    })
}

/// The threads of the ends.
fn ends(workers: &TrialWorkers<'_>) -> Result<Ends> {
    let mut ends = Ends::default();
    for (one, seat) in workers.all.iter().flat_map(|one| one.seats.iter().map(move |s| (one, s))) {
        let of_end = match seat.role {
            Role::Caller => &mut ends.caller,
            Role::Callee => &mut ends.callee,
        };
        of_end.extend(Some(seat.tid).filter(|tid| *tid != 0));
        of_end.extend(&seat.helpers);
        // A library's threads work for the end whose process it is.
        if one.foreign_ticks_per_ns.is_some() && one.has_process(seat) {
            of_end.extend(Process::look(seat.pid).threads.keys());
        }
    }
    let is_known = !ends.caller.is_empty() && !ends.callee.is_empty();
    ensure!(is_known, "a worker did not report the thread of an end");
    Ok(ends)
}

/// A phase that was run: when each of its operations began and ended, in ticks, and where.
struct Stamped {
    operations: Vec<(u64, u64)>,
    /// The end of an operation is the caller's too: it is a round trip.
    is_round: bool,
}

impl Stamped {
    /// How long each operation took, in ticks.
    fn took(&self) -> impl Iterator<Item = u64> {
        self.operations.iter().map(|(begun, ended)| ended.saturating_sub(*begun))
    }

    /// Every stamp with whose and which it is.
    fn of_ends(&self, spec: &TrialSpec<'_>) -> Vec<EndStamp> {
        let (caller, callee) = spec.cpus;
        let (thread, cpu, number) = match self.is_round {
            true => (TraceThread::Caller, caller, 1),
            false => (TraceThread::Callee, callee, 2),
        };
        let both = |&(begun, ended): &(u64, u64)| {
            [
                EndStamp { ticks: begun, thread: TraceThread::Caller, cpu: caller, number: 0 },
                EndStamp { ticks: ended, thread, cpu, number },
            ]
        };
        self.operations.iter().flat_map(both).collect()
    }
}

/// Runs a phase of so many operations, each stamped.
fn stamped(workers: &mut TrialWorkers<'_>, operations: u64) -> Result<Stamped> {
    keep::forget(workers)?;
    let ends = workers.phase(Phase::Measure, operations, Stamp::Each, None)?.ends;
    let mut stamps = keep::stamps(workers, &ends)?.into_iter();
    let (caller, first) = ends.first().zip(stamps.next()).ok_or_else(|| unexpected("run"))?;
    let lost = operations.saturating_sub(caller.samples);
    let is_whole = caller.lost == 0 && caller.samples == operations;
    ensure!(is_whole, "{lost} of {operations} operations lost a message");
    let is_round = workers.spec.case.workload == Workload::Roundtrip;
    if !is_round {
        let received = stamps.next().ok_or_else(|| unexpected("run"))?;
        let operations = first.into_iter().zip(received).collect();
        return Ok(Stamped { operations, is_round });
    }
    ensure!(caller.first_tick != 0, "the caller does not say when its first operation began");
    // The end of an operation is the begin of the next.
    let mut now = caller.first_tick;
    let each = first.into_iter().map(|ticks| {
        let begun = now;
        now = now.wrapping_add(ticks);
        (begun, now)
    });
    Ok(Stamped { operations: each.collect(), is_round })
}
