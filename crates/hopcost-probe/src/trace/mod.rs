//! The kernel's own events of a trial, recorded: perf_event_open(2) on each CPU concerned, a
//! buffer of memory for each, and nobody awake until all is over.
//!
//! The events are those of every thread that runs on these CPUs: who is woken by whom, what
//! interrupts it, and what idles in between is not seen from the ends' threads alone. They are
//! on for a phase of its own. Whatever becomes of this process, the kernel drops them with its
//! descriptors.

mod buffer;
mod cost;
mod event;
mod format;
mod record;
mod tie;

#[cfg(test)]
mod tests;

use std::io;

use hopcost_model::{TraceEvent, TraceThread};
use libc::clockid_t;

use crate::perf::tracefs::Tracefs;
use crate::sys::{self, ensure};
use buffer::Buffer;
pub use cost::Bare;
use event::{EVENTS, Source};
use format::Tracepoint;
pub use libc::{CLOCK_MONOTONIC, CLOCK_MONOTONIC_RAW};
pub use tie::BOUND_MAX_NS;
use tie::Tie;

/// Memory that the buffers of all CPUs may take.
pub const BYTES_MAX: usize = 64 << 20;
/// Memory that the buffer of a CPU takes at least.
const BYTES_MIN: usize = 16 << 10;
/// Events of an operation on one CPU: enough for a round trip over NNG, whose ends have 14 threads each.
const BYTES_PER_OPERATION: u64 = 16 << 10;
/// What timers and other tasks may leave there in a second in which the ends wait: a task that makes system calls all
/// the time leaves as much.
const BYTES_PER_SECOND: u64 = 64 << 20;

/// How far the kernel is locked down, the level in force in brackets (kernel_lockdown(7)).
const LOCKDOWN: &str = "/sys/kernel/security/lockdown";
/// What a refusal says where that hides events from everybody: no right helps.
const HIDDEN: &str = "this kernel is in lockdown (confidentiality), which hides its events from \
                      root too; boot without it";

/// Whether the kernel's lockdown is the one that keeps its events from root.
fn hides_events(lockdown: &str) -> bool {
    lockdown.contains("[confidentiality]")
}

/// Threads of the ends, by their ids as this process sees them.
#[derive(Debug, Clone, Default)]
pub struct Ends {
    pub caller: Vec<u32>,
    pub callee: Vec<u32>,
}

/// A stamp that an end has taken.
#[derive(Debug, Clone, Copy)]
pub struct EndStamp {
    pub ticks: u64,
    /// Whose: the caller's or the callee's.
    pub thread: TraceThread,
    /// Where; absent where the end was free to move.
    pub cpu: Option<u32>,
    /// Which, as in [`hopcost_model::TraceKind::Stamp`].
    pub number: u8,
}

/// Events that are ready to be recorded, off until they are switched on.
pub struct Recorder {
    buffers: Vec<Buffer>,
    tracepoints: Vec<Tracepoint>,
    missing: Vec<String>,
    tie: Tie,
}

/// What was recorded.
pub struct Recording {
    /// In time order; `at_ns` is that of the recorder's clock.
    pub events: Vec<TraceEvent>,
    /// Events that the kernel dropped.
    pub lost: u64,
    /// Tracepoints that this kernel has not, with the reason.
    pub missing: Vec<String>,
    /// How stamps and events lie to each other.
    pub tie: Tie,
}

/// Bytes of buffer for each of so many CPUs, a power of two, that so many operations need, each after
/// a gap of this length.
///
/// # Errors
/// If there are too many CPUs for a useful buffer of each.
pub fn bytes_per_cpu(cpus: usize, operations: u64, gap_ns: u64) -> io::Result<usize> {
    let share = BYTES_MAX / cpus.max(1);
    ensure!(
        share >= BYTES_MIN,
        "the buffers of {cpus} CPUs would share {} MiB; pin the two ends (place=same-llc), so that \
         only their CPUs are traced",
        BYTES_MAX >> 20
    );
    let waits = gap_ns.saturating_mul(BYTES_PER_SECOND) / 1_000_000_000;
    let wanted = operations.saturating_mul(BYTES_PER_OPERATION.saturating_add(waits));
    let wanted = wanted.clamp(1 << 18, BYTES_MAX as u64);
    let least = wanted.next_power_of_two() as usize;
    // The power of two below a number that is none.
    Ok(least.min((share / 2 + 1).next_power_of_two()))
}

/// Why nothing can be traced here, or on this CPU, if it cannot.
pub fn refused(cpu: u32) -> Option<String> {
    let tie = Tie::begin(&[cpu], CLOCK_MONOTONIC_RAW);
    let opened = tie.and_then(|tie| Recorder::opened(tie, BYTES_MIN, &EVENTS[..1]));
    opened.err().map(|error| error.to_string())
}

impl Recorder {
    /// Opens every event on each of these CPUs, with so many bytes of buffer for each, a power
    /// of two. Their clock is CLOCK_MONOTONIC where the stamps are nanoseconds of that, and
    /// CLOCK_MONOTONIC_RAW where they are ticks of the processor's counter.
    ///
    /// # Errors
    /// With what to do.
    pub fn open(cpus: &[u32], bytes: usize, clock: clockid_t) -> io::Result<Self> {
        Self::opened(Tie::begin(cpus, clock)?, bytes, EVENTS)
    }

    fn opened(tie: Tie, bytes: usize, sources: &'static [Source]) -> io::Result<Self> {
        let lockdown = std::fs::read_to_string(LOCKDOWN).unwrap_or_default();
        ensure!(!hides_events(&lockdown), "{HIDDEN}");
        let tracefs = Tracefs::open().map_err(sys::failure)?;
        let (mut tracepoints, mut missing) = (Vec::new(), Vec::new());
        for source in sources {
            match Tracepoint::of(source, &tracefs) {
                Ok(tracepoint) => tracepoints.push(tracepoint),
                Err(reason) => missing.push(reason),
            }
        }
        let ids: Vec<u64> = tracepoints.iter().map(|one| u64::from(one.id)).collect();
        let buffers = tie.cpus.iter().map(|cpu| Buffer::open(*cpu, bytes, &ids, tie.clock));
        let buffers = buffers.collect::<io::Result<_>>()?;
        Ok(Self { buffers, tracepoints, missing, tie })
    }

    /// Records from here on.
    pub fn start(&mut self) -> io::Result<()> {
        self.tie.read()?;
        self.buffers.iter().try_for_each(|buffer| buffer.switch(true))
    }

    /// Records no more.
    pub fn stop(&mut self) -> io::Result<()> {
        self.buffers.iter().try_for_each(|buffer| buffer.switch(false))?;
        self.tie.read()
    }

    /// What was recorded, with the threads of these ends named.
    ///
    /// # Errors
    /// If the clocks of events and stamps cannot be tied, or if the kernel's records
    /// are not what they should be.
    pub fn recorded(self, ends: &Ends) -> io::Result<Recording> {
        let tie = self.tie.tied()?;
        let (mut events, mut lost) = (Vec::new(), 0u64);
        let mut samples = Vec::new();
        for buffer in &self.buffers {
            let (of_cpu, dropped) = buffer.samples()?;
            samples.push(of_cpu);
            lost = lost.saturating_add(dropped.max(buffer.lost()?));
        }
        let whose = record::Whose::of(samples.iter().flatten(), ends, &self.tracepoints);
        for sample in samples.iter().flatten() {
            events.push(record::event(sample, &self.tracepoints, &whose).map_err(sys::failure)?);
        }
        // Those of each CPU are in order.
        events.sort_by_key(|event| event.at_ns);
        Ok(Recording { events, lost, missing: self.missing, tie })
    }
}

impl Recording {
    /// Events and stamps together, from the first stamp, where time begins, to the last.
    pub fn between(&self, stamps: &[EndStamp]) -> Vec<TraceEvent> {
        tie::merged(&self.events, stamps, &self.tie)
    }
}
