//! One event of one thread, as perf_event_open(2) counts it.

use std::os::fd::{AsRawFd, OwnedFd};

use hopcost_model::protocol::EventReading;

use super::Event;
use super::refusal::{self, Circumstances};
use crate::perf::tracefs::sys_enter_id;
use crate::perf::{self, Attributes, DISABLED, Joins, TYPE_TRACEPOINT, Where};
use crate::sys;

// include/uapi/linux/perf_event.h
const TYPE_HARDWARE: u32 = 0;
const TYPE_SOFTWARE: u32 = 1;
const TYPE_HW_CACHE: u32 = 3;
const HW_CPU_CYCLES: u64 = 0;
const HW_INSTRUCTIONS: u64 = 1;
const SW_TASK_CLOCK: u64 = 1;
const SW_PAGE_FAULTS: u64 = 2;
const SW_CONTEXT_SWITCHES: u64 = 3;
const SW_CPU_MIGRATIONS: u64 = 4;
/// Level, then operation << 8 (0 is a read), then result << 16 (1 is a miss).
const CACHE_L1D_READ_MISS: u64 = 1 << 16;
const CACHE_LL_READ_MISS: u64 = 2 | 1 << 16;
const FORMAT_TOTAL_TIME_ENABLED: u64 = 1;
const FORMAT_TOTAL_TIME_RUNNING: u64 = 2;
const INHERIT: u64 = 1 << 1;
const EXCLUDE_HYPERVISOR: u64 = 1 << 6;

/// Which event, to the kernel.
fn kind_and_config(event: Event) -> Result<(u32, u64), String> {
    Ok(match event {
        Event::Cycles => (TYPE_HARDWARE, HW_CPU_CYCLES),
        Event::Instructions => (TYPE_HARDWARE, HW_INSTRUCTIONS),
        Event::L1dMisses => (TYPE_HW_CACHE, CACHE_L1D_READ_MISS),
        Event::LlcMisses => (TYPE_HW_CACHE, CACHE_LL_READ_MISS),
        Event::ContextSwitches => (TYPE_SOFTWARE, SW_CONTEXT_SWITCHES),
        Event::Migrations => (TYPE_SOFTWARE, SW_CPU_MIGRATIONS),
        Event::PageFaults => (TYPE_SOFTWARE, SW_PAGE_FAULTS),
        Event::CpuNs => (TYPE_SOFTWARE, SW_TASK_CLOCK),
        Event::SystemCalls => (TYPE_TRACEPOINT, sys_enter_id()?),
    })
}

/// Whether the threads that a thread starts are counted with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Starts {
    /// They are not.
    Ignored,
    /// They are, and those that they start.
    Counted,
}

/// A thread that is counted.
#[derive(Debug, Clone, Copy)]
pub struct Thread {
    /// Its id; 0 for the calling one.
    pub id: u32,
    /// What of those that it starts.
    pub starts: Starts,
}

/// What read(2) gives of an event: its value, and for how long it was switched on and counted.
#[derive(Debug, Clone, Copy, Default)]
pub struct Count {
    pub value: u64,
    pub enabled_ns: u64,
    pub running_ns: u64,
}

/// An event that is counted.
pub struct Counter {
    event: Event,
    fd: OwnedFd,
    /// Whether it is switched on and off itself; the others are on whenever their leader is.
    pub leads: bool,
    last: Count,
}

impl Counter {
    /// Opens an event for a thread, switched off, in the group of the first of these leaders that
    /// takes it, or else as a leader; `None` where the thread is gone.
    pub fn open<'a>(
        event: Event,
        thread: Thread,
        mut leaders: impl Iterator<Item = &'a Counter>,
    ) -> Result<Option<Self>, String> {
        let (kind, config) = kind_and_config(event)?;
        let inherit = match thread.starts {
            Starts::Ignored => 0,
            Starts::Counted => INHERIT,
        };
        let place = Where::Thread(thread.id);
        // Everything, or where the processor cannot count under the hypervisor, all but that.
        // Never the user's side alone.
        let open = |flags: u64, joins: Joins<'_>| {
            let mut attributes = Attributes {
                kind,
                config,
                read_format: FORMAT_TOTAL_TIME_ENABLED | FORMAT_TOTAL_TIME_RUNNING,
                flags: flags | inherit,
                ..Attributes::default()
            };
            perf::open(&attributes, place, joins).or_else(|error| {
                attributes.flags |= EXCLUDE_HYPERVISOR;
                perf::open(&attributes, place, joins).map_err(|_| error)
            })
        };
        let joined = leaders.find_map(|leader| open(0, Joins::Group(&leader.fd)).ok());
        let leads = joined.is_none();
        let fd = match joined.map_or_else(|| open(DISABLED, Joins::Nothing), Ok) {
            Ok(fd) => fd,
            Err(error) => match error.raw_os_error() {
                Some(libc::ESRCH) => return Ok(None),
                errno => {
                    return Err(refusal::reason(event, errno.unwrap_or(0), Circumstances::here()));
                }
            },
        };
        Ok(Some(Self { event, fd, leads, last: Count::default() }))
    }

    /// The leader, to be switched.
    pub fn fd(&self) -> &OwnedFd {
        &self.fd
    }

    /// What was counted since the last reading.
    pub fn read(&mut self) -> EventReading {
        let mut words = [0u64; 3];
        let bytes = size_of_val(&words);
        // SAFETY: the buffer is valid for its length.
        let got = unsafe { libc::read(self.fd.as_raw_fd(), words.as_mut_ptr().cast(), bytes) };
        match sys::check(got) {
            Ok(len) if len as usize == bytes => {
                let [value, enabled_ns, running_ns] = words;
                let now = Count { value, enabled_ns, running_ns };
                between(self.event, std::mem::replace(&mut self.last, now), now)
            }
            Ok(len) => self
                .event
                .unavailable(format!("the kernel's answer has {len} bytes instead of {bytes}")),
            Err(error) => self.event.unavailable(format!("reading the counters: {error}")),
        }
    }
}

/// The reading of what was counted between two moments. A raw value: where events took turns
/// (`running_ns` below `enabled_ns`), scaling is the reader's.
pub fn between(event: Event, before: Count, now: Count) -> EventReading {
    let enabled_ns = now.enabled_ns.saturating_sub(before.enabled_ns);
    let running_ns = now.running_ns.saturating_sub(before.running_ns);
    let none = match (running_ns, enabled_ns) {
        (0, 0) => "never switched on while the thread ran",
        (0, _) => "never scheduled: more events than counters",
        _ => {
            let value = Some(now.value.saturating_sub(before.value));
            let event = event.word().to_owned();
            return EventReading { event, value, enabled_ns, running_ns, unavailable: None };
        }
    };
    EventReading { enabled_ns, ..event.unavailable(none) }
}
