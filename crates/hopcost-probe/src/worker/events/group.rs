//! Events that are switched on and read together.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

use hopcost_model::protocol::EventReading;

use super::Event;
use super::reading::{self, Counts};
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
const FORMAT_GROUP: u64 = 8;
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
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Thread {
    /// Its id; 0 for the calling one.
    pub id: u32,
    /// What of those that it starts.
    pub starts: Starts,
}

/// A leader and its members.
pub struct Group {
    thread: Thread,
    leader: OwnedFd,
    /// Kept open: an event is counted as long as its descriptor lives.
    members: Vec<OwnedFd>,
    events: Vec<Event>,
    last: Counts,
}

/// How an event was opened.
pub enum Opened {
    /// In a group that was there.
    Joined,
    /// As the leader of a group of its own.
    Alone(Group),
}

/// Opens an event for a thread, switched off, in the first of these groups that
/// takes it, or else in a new one; `None` where the thread is gone.
pub fn open<'a>(
    event: Event,
    thread: Thread,
    groups: impl Iterator<Item = &'a mut Group>,
) -> Result<Option<Opened>, String> {
    let (kind, config) = kind_and_config(event)?;
    for group in groups {
        // A member is on whenever its leader is.
        if let Ok(fd) = open_for(thread, kind, config, 0, Some(&group.leader)) {
            group.members.push(fd);
            group.events.push(event);
            group.last.values.push(0);
            return Ok(Some(Opened::Joined));
        }
    }
    let leader = match open_for(thread, kind, config, DISABLED, None) {
        Ok(leader) => leader,
        Err(error) => match error.raw_os_error() {
            Some(libc::ESRCH) => return Ok(None),
            errno => {
                return Err(refusal::reason(event, errno.unwrap_or(0), Circumstances::here()));
            }
        },
    };
    let last = Counts { values: vec![0], ..Counts::default() };
    let (members, events) = (Vec::new(), vec![event]);
    Ok(Some(Opened::Alone(Group { thread, leader, members, events, last })))
}

/// Opens with everything counted, or where the processor cannot count under the
/// hypervisor, without that. Never for the user's side alone.
fn open_for(
    thread: Thread,
    kind: u32,
    config: u64,
    flags: u64,
    leader: Option<&OwnedFd>,
) -> io::Result<OwnedFd> {
    let inherit = match thread.starts {
        Starts::Ignored => 0,
        Starts::Counted => INHERIT,
    };
    let attempt = |flags| {
        let attributes = Attributes {
            kind,
            config,
            read_format: FORMAT_GROUP | FORMAT_TOTAL_TIME_ENABLED | FORMAT_TOTAL_TIME_RUNNING,
            flags: flags | inherit,
            ..Attributes::default()
        };
        perf::open(
            &attributes,
            Where::Thread(thread.id),
            leader.map_or(Joins::Nothing, Joins::Group),
        )
    };
    attempt(flags)
        .or_else(|error: io::Error| attempt(flags | EXCLUDE_HYPERVISOR).map_err(|_| error))
}

impl Group {
    /// Whether it counts this thread.
    pub fn counts(&self, thread: Thread) -> bool {
        self.thread == thread
    }

    /// Whether its events are the processor's.
    pub fn is_hardware(&self) -> bool {
        self.events[0].is_hardware()
    }

    /// Switches all on.
    pub fn start(&self) -> io::Result<()> {
        perf::switch_on(&self.leader)
    }

    /// Switches all off.
    pub fn stop(&self) -> io::Result<()> {
        perf::switch_off(&self.leader)
    }

    /// What was counted since the last reading.
    pub fn read(&mut self) -> Vec<EventReading> {
        let members = self.events.len();
        let mut answer = vec![0u8; reading::bytes_of(members)];
        // SAFETY: the buffer is valid for its length.
        let got = unsafe {
            libc::read(self.leader.as_raw_fd(), answer.as_mut_ptr().cast(), answer.len())
        };
        let now = sys::check(got)
            .map_err(|error| format!("reading the counters: {error}"))
            .and_then(|len| reading::decode(&answer[..len as usize], members));
        match now {
            Ok(now) => {
                let readings = reading::between(&self.last, &now, &self.events);
                self.last = now;
                readings
            }
            Err(reason) => self.events.iter().map(|event| event.unavailable(&reason)).collect(),
        }
    }
}
