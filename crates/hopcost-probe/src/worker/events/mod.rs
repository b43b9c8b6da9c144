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

mod counter;
pub(crate) mod refusal;
#[cfg(test)]
mod tests;

use std::io;

use hopcost_model::protocol::EventReading;

use crate::perf;
use counter::{Counter, Starts, Thread};

/// Something that is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    Cycles,
    Instructions,
    /// Reads that missed the first-level data cache.
    L1dMisses,
    /// Reads that missed the last-level cache.
    LlcMisses,
    /// Context switches, voluntary or not.
    ContextSwitches,
    /// Moves from one CPU to another.
    Migrations,
    /// Page faults, minor or major.
    PageFaults,
    /// Time on a CPU in nanoseconds.
    CpuNs,
    /// Entries into the kernel by a system call.
    SystemCalls,
}

impl Event {
    /// The name in files and reports.
    pub const fn word(self) -> &'static str {
        match self {
            Event::Cycles => "cycles",
            Event::Instructions => "instructions",
            Event::L1dMisses => "l1d-misses",
            Event::LlcMisses => "llc-misses",
            Event::ContextSwitches => "context-switches",
            Event::Migrations => "migrations",
            Event::PageFaults => "page-faults",
            Event::CpuNs => "cpu-ns",
            Event::SystemCalls => "system-calls",
        }
    }

    /// Whether the processor counts it, and not the kernel.
    const fn is_hardware(self) -> bool {
        matches!(self, Event::Cycles | Event::Instructions | Event::L1dMisses | Event::LlcMisses)
    }

    /// A reading that is none, because of this.
    fn unavailable(self, reason: impl Into<String>) -> EventReading {
        EventReading {
            event: self.word().to_owned(),
            value: None,
            enabled_ns: 0,
            running_ns: 0,
            unavailable: Some(reason.into()),
        }
    }
}

/// Which events are counted together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Set {
    /// While a stream is measured: what nobody but the processor can count. Each
    /// further event would make every context switch of the stream longer.
    Stream,
    /// While a call is measured.
    Call,
    /// In the phase that counts system calls, which slows each of them down: all
    /// that the kernel counts.
    Kernel,
}

impl Set {
    /// Its events, in the order of their readings.
    pub const fn events(self) -> &'static [Event] {
        match self {
            Set::Stream => {
                &[Event::Cycles, Event::Instructions, Event::L1dMisses, Event::LlcMisses]
            }
            Set::Call => &[Event::Cycles, Event::Instructions],
            Set::Kernel => &[
                Event::SystemCalls,
                Event::ContextSwitches,
                Event::Migrations,
                Event::PageFaults,
                Event::CpuNs,
            ],
        }
    }
}

/// Whose events are counted.
#[derive(Debug, Clone, Copy)]
pub enum Whose<'a> {
    /// Those of the calling thread and of these others of its process.
    Caller {
        /// Ids of the others.
        helpers: &'a [u32],
    },
    /// Those of these threads of another process, and of every thread that they start.
    Process {
        /// Ids of its threads.
        threads: &'a [u32],
    },
}

impl Whose<'_> {
    /// The threads, as perf_event_open(2) numbers them: 0 is the calling one.
    fn threads(&self) -> Vec<Thread> {
        let (own, others, starts) = match *self {
            Whose::Caller { helpers } => (Some(0), helpers, Starts::Ignored),
            Whose::Process { threads } => (None, threads, Starts::Counted),
        };
        let ids = own.into_iter().chain(others.iter().copied());
        ids.map(|id| Thread { id, starts }).collect()
    }
}

/// The counters of some threads, off until they are switched on.
pub struct Events {
    counters: Vec<Counter>,
    refused: Vec<(Event, String)>,
    order: &'static [Event],
}

impl Events {
    /// Opens every event of a set that can be; the others say in their reading
    /// why they cannot.
    pub fn open(set: Set, whose: Whose<'_>) -> Self {
        let mut events = Events { counters: Vec::new(), refused: Vec::new(), order: set.events() };
        for thread in whose.threads() {
            let first = events.counters.len();
            for &event in set.events() {
                let leaders = events.counters[first..].iter().filter(|counter| counter.leads);
                match Counter::open(event, thread, leaders) {
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
        leaders.rev().try_for_each(|leader| perf::switch_on(leader.fd()))
    }

    /// Stops counting: the calling thread first.
    #[inline]
    pub fn stop(&self) -> io::Result<()> {
        let mut leaders = self.counters.iter().filter(|counter| counter.leads);
        leaders.try_for_each(|leader| perf::switch_off(leader.fd()))
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
        let place = |reading: &EventReading| {
            self.order.iter().position(|event| event.word() == reading.event)
        };
        readings.sort_by_key(place);
        readings
    }
}
