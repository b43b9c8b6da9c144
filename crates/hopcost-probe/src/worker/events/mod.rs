//! What the kernel counts for the threads of an end or of a process
//! (perf_event_open(2)): opened before a phase, switched on right before its loop
//! and off right after it.
//!
//! The events of a set are one group, which is counted as a whole or not at all, unless the
//! processor has fewer counters than events. A set has hardware events or the kernel's own and
//! never both, because the kernel's would take turns with the others.
//!
//! Both the kernel's side and the user's are counted. Where that is forbidden an
//! event is unavailable, with a reason: counted for the user's side alone, a
//! context switch, which happens in the kernel, would read 0.

#[cfg(test)]
mod tests;

use std::io;
use std::os::fd::OwnedFd;

use hopcost_model::EventReading;

use crate::perf::tracefs::sys_enter_id;
use crate::perf::{self, ANY, Attributes, DISABLED, TYPE_TRACEPOINT};

// include/uapi/linux/perf_event.h
const TYPE_HARDWARE: u32 = 0;
const TYPE_SOFTWARE: u32 = 1;
const TYPE_HW_CACHE: u32 = 3;
const FORMAT_TOTAL_TIME_ENABLED: u64 = 1;
const FORMAT_TOTAL_TIME_RUNNING: u64 = 2;
const INHERIT: u64 = 1 << 1;
const EXCLUDE_HYPERVISOR: u64 = 1 << 6;
/// What kernel.perf_event_paranoid is at most where the kernel's side may be counted.
const PARANOID: i32 = 1;

/// Something that is counted: its name in files and reports, and which it is to the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event {
    pub word: &'static str,
    kind: u32,
    config: u64,
}

const fn event(word: &'static str, kind: u32, config: u64) -> Event {
    Event { word, kind, config }
}

const CYCLES: Event = event("cycles", TYPE_HARDWARE, 0);
const INSTRUCTIONS: Event = event("instructions", TYPE_HARDWARE, 1);

/// The events of a stream while it is measured: what nobody but the processor can count. Each further
/// one would make every context switch of the stream longer. Misses are those of reads: the level,
/// then operation << 8 (0 is a read), then result << 16 (1 is a miss).
pub const STREAM: &[Event] = &[
    CYCLES,
    INSTRUCTIONS,
    event("l1d-misses", TYPE_HW_CACHE, 1 << 16),
    event("llc-misses", TYPE_HW_CACHE, 2 | 1 << 16),
];

/// Those of a call.
pub const CALL: &[Event] = &[CYCLES, INSTRUCTIONS];

/// All that the kernel counts: in the phase that counts system calls, which slows each of them down.
pub const KERNEL: &[Event] = &[
    // Its number is the tracepoint's in this kernel.
    event("system-calls", TYPE_TRACEPOINT, 0),
    event("context-switches", TYPE_SOFTWARE, 3),
    event("migrations", TYPE_SOFTWARE, 4),
    event("page-faults", TYPE_SOFTWARE, 2),
    event("cpu-ns", TYPE_SOFTWARE, 1),
];

impl Event {
    /// A reading that is none, because of this.
    fn unavailable(self, reason: impl Into<String>) -> EventReading {
        let (event, unavailable) = (self.word.to_owned(), Some(reason.into()));
        EventReading { event, unavailable, ..EventReading::default() }
    }
}

/// The counters of some threads, off until they are switched on.
pub struct Events {
    counters: Vec<Counter>,
    refused: Vec<(Event, String)>,
    set: &'static [Event],
}

impl Events {
    /// Opens every event of a set that can be, for the calling thread and these others of its process;
    /// the others say in their reading why they cannot.
    pub fn of_caller(set: &'static [Event], helpers: &[u32]) -> Self {
        let all = [0].into_iter().chain(helpers.iter().copied());
        Self::open(set, all, 0)
    }

    /// The same for these threads of another process, and for every thread that they start.
    pub fn of_process(set: &'static [Event], threads: &[u32]) -> Self {
        Self::open(set, threads.iter().copied(), INHERIT)
    }

    fn open(set: &'static [Event], threads: impl Iterator<Item = u32>, flags: u64) -> Self {
        let mut events = Events { counters: Vec::new(), refused: Vec::new(), set };
        for thread in threads {
            let first = events.counters.len();
            for &event in set {
                let leaders = events.counters[first..].iter().filter(|counter| counter.leads);
                match Counter::open(event, thread, flags, leaders) {
                    Ok(counter) => events.counters.extend(counter),
                    Err(reason) => events.refused.push((event, reason)),
                }
            }
        }
        events
    }

    /// Counts from here on: the calling thread last, which then makes no further call that
    /// would be counted.
    #[inline]
    pub fn start(&self) -> io::Result<()> {
        let leaders = self.counters.iter().filter(|counter| counter.leads);
        leaders.rev().try_for_each(|leader| perf::switch(&leader.fd, true))
    }

    /// Stops counting: the calling thread first.
    #[inline]
    pub fn stop(&self) -> io::Result<()> {
        let mut leaders = self.counters.iter().filter(|counter| counter.leads);
        leaders.try_for_each(|leader| perf::switch(&leader.fd, false))
    }

    /// What was counted since this was asked last, one reading an event of the set.
    pub fn read(&mut self) -> Vec<EventReading> {
        let mut readings: Vec<EventReading> = self.counters.iter_mut().map(Counter::read).collect();
        // A thread that did not run has nothing to add.
        if readings.iter().any(|reading| reading.enabled_ns > 0) {
            readings.retain(|reading| reading.enabled_ns > 0);
        }
        let refused = self.refused.iter().map(|(event, reason)| event.unavailable(reason));
        readings.extend(refused);
        let mut readings = EventReading::totals(readings);
        readings.sort_by_key(|reading| self.set.iter().position(|of| of.word == reading.event));
        readings
    }
}

/// What read(2) gives of an event: its value, and for how long it was switched on and counted.
type Count = [u64; 3];

/// An event that is counted.
struct Counter {
    event: Event,
    fd: OwnedFd,
    /// Whether it is switched on and off itself; the others are on whenever their leader is.
    leads: bool,
    last: Count,
}

impl Counter {
    /// Opens an event for a thread, switched off, in the group of the first of these leaders that
    /// takes it, or else as a leader; `None` where the thread is gone.
    fn open<'a>(
        event: Event,
        thread: u32,
        inherit: u64,
        mut leaders: impl Iterator<Item = &'a Counter>,
    ) -> Result<Option<Self>, String> {
        let config = if event.kind == TYPE_TRACEPOINT { sys_enter_id()? } else { event.config };
        let place = (thread as i32, ANY);
        // Everything, or where the processor cannot count under the hypervisor, all but that.
        // Never the user's side alone.
        let open = |flags: u64, leader: Option<&OwnedFd>| {
            let mut attributes = Attributes {
                kind: event.kind,
                config,
                read_format: FORMAT_TOTAL_TIME_ENABLED | FORMAT_TOTAL_TIME_RUNNING,
                flags: flags | inherit,
                ..Attributes::default()
            };
            perf::open(&attributes, place, leader, 0).or_else(|error| {
                attributes.flags |= EXCLUDE_HYPERVISOR;
                perf::open(&attributes, place, leader, 0).map_err(|_| error)
            })
        };
        let joined = leaders.find_map(|leader| open(0, Some(&leader.fd)).ok());
        let leads = joined.is_none();
        let fd = match joined.map_or_else(|| open(DISABLED, None), Ok) {
            Ok(fd) => fd,
            Err(error) if error.raw_os_error() == Some(libc::ESRCH) => return Ok(None),
            Err(error) => {
                let is_hardware = matches!(event.kind, TYPE_HARDWARE | TYPE_HW_CACHE);
                return Err(perf::refused(&error, is_hardware, PARANOID));
            }
        };
        Ok(Some(Self { event, fd, leads, last: Count::default() }))
    }

    /// What was counted since the last reading.
    fn read(&mut self) -> EventReading {
        match perf::read(&self.fd) {
            Ok(now) => between(self.event, std::mem::replace(&mut self.last, now), now),
            Err(error) => self.event.unavailable(format!("reading the counters: {error}")),
        }
    }
}

/// The reading of what was counted between two moments. A raw value: where events took turns
/// (`running_ns` below `enabled_ns`), scaling is the reader's.
fn between(event: Event, before: Count, now: Count) -> EventReading {
    let [value, enabled_ns, running_ns] = [0, 1, 2].map(|at| now[at].saturating_sub(before[at]));
    let none = match (running_ns, enabled_ns) {
        (0, 0) => "never switched on while the thread ran",
        (0, _) => "never scheduled: more events than counters",
        _ => {
            let (event, value) = (event.word.to_owned(), Some(value));
            return EventReading { event, value, enabled_ns, running_ns, unavailable: None };
        }
    };
    EventReading { enabled_ns, ..event.unavailable(none) }
}
