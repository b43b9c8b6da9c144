//! The events of one CPU and the memory that the kernel writes them to.
//!
//! Nothing is read before all is over: what does not fit is dropped, and counted by the kernel.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicU64, Ordering};

use libc::clockid_t;
use rustix::param::page_size;

use super::record::{self, Layout, Sample};
use crate::memory::{Place, Shared};
use crate::perf::{self, ANY, Attributes, DISABLED, FLAG_FD_OUTPUT, TYPE_TRACEPOINT};
use crate::sys::{self, Doing};

// include/uapi/linux/perf_event.h
const SAMPLE_TID: u64 = 1 << 1;
const SAMPLE_TIME: u64 = 1 << 2;
const SAMPLE_RAW: u64 = 1 << 10;
/// read(2) tells how many records of an event were dropped (Linux 6.0).
const FORMAT_LOST: u64 = 1 << 4;
/// `wakeup_watermark` counts, in bytes.
const WATERMARK: u64 = 1 << 14;
const USE_CLOCK: u64 = 1 << 25;
/// What kernel.perf_event_paranoid is at most where events of whole CPUs may be recorded.
const PARANOID: i32 = -1;
/// Where `data_head` and `data_offset` lie in `struct perf_event_mmap_page`.
const DATA_HEAD: usize = 1024;
const DATA_OFFSET: usize = 1040;
/// More than any record here takes.
const RECORD_BYTES_MAX: usize = 256;

/// See above.
pub struct Buffer {
    leader: OwnedFd,
    /// Kept open: an event is recorded as long as its descriptor lives.
    members: Vec<OwnedFd>,
    /// A page that says how far it is filled, and the records.
    memory: Place<[u8]>,
    bytes: usize,
    tells_lost: bool,
    cpu: u32,
    layout: Layout,
}

impl Buffer {
    /// Opens these tracepoints on a CPU, switched off, and maps the buffer of `bytes` bytes.
    pub fn open(cpu: u32, bytes: usize, ids: &[u64], clock: clockid_t) -> io::Result<Self> {
        let layout = layout();
        let own_ids = if layout == Layout::OwnIds { SAMPLE_TID } else { 0 };
        let mut read_format = FORMAT_LOST;
        let open = |id: u64, read_format, flags, leader: Option<&OwnedFd>| {
            let attributes = Attributes {
                kind: TYPE_TRACEPOINT,
                config: id,
                sample_period: 1,
                sample_type: own_ids | SAMPLE_TIME | SAMPLE_RAW,
                read_format,
                flags: flags | WATERMARK | USE_CLOCK,
                // A reader is never woken: that would be an interrupt of our own.
                wakeup_watermark: u32::MAX,
                clock,
                ..Attributes::default()
            };
            let output = leader.map_or(0, |_| FLAG_FD_OUTPUT);
            perf::open(&attributes, (ANY, cpu as i32), leader, output)
        };
        let none = || sys::failure("this kernel has none of the tracepoints");
        let (first, rest) = ids.split_first().ok_or_else(none)?;
        let mut leader = open(*first, read_format, DISABLED, None);
        if leader.as_ref().is_err_and(|error| error.raw_os_error() == Some(libc::EINVAL)) {
            read_format = 0;
            leader = open(*first, read_format, DISABLED, None);
        }
        let refused = |error| sys::failure(perf::refused(&error, false, PARANOID));
        let leader = leader.map_err(refused)?;
        let memory = map(&leader, bytes)?;
        let tells_lost = read_format == FORMAT_LOST;
        let members = Vec::new();
        let mut buffer = Self { leader, members, memory, bytes, tells_lost, cpu, layout };
        for id in rest {
            let member = open(*id, read_format, 0, Some(&buffer.leader));
            buffer.members.push(member.map_err(refused)?);
        }
        Ok(buffer)
    }

    /// Switches all on or off.
    pub fn switch(&self, on: bool) -> io::Result<()> {
        perf::switch(&self.leader, on)
    }

    /// The records, once all is off, and how many events are missing by what they say.
    pub fn samples(&self) -> io::Result<(Vec<Sample<'_>>, u64)> {
        record::samples(self.bytes(), self.cpu, self.layout).map_err(sys::failure)
    }

    fn bytes(&self) -> &[u8] {
        // SAFETY: both words lie in the first page of the mapping, aligned, and are written by
        // nobody but the kernel. What is before `data_head` was written before it and is not
        // written again, because nothing is ever marked as read.
        unsafe {
            let base = self.memory.as_ptr().cast::<u8>();
            let head = &*base.add(DATA_HEAD).cast::<AtomicU64>();
            let offset = base.add(DATA_OFFSET).cast::<u64>().read_volatile() as usize;
            let len = (head.load(Ordering::Acquire) as usize).min(self.bytes);
            std::slice::from_raw_parts(base.add(offset.min(page_size())), len)
        }
    }

    /// How many events the kernel dropped; before Linux 6.0 it cannot be asked, and a buffer that
    /// is full counts as one.
    pub fn lost(&self) -> io::Result<u64> {
        if !self.tells_lost {
            return Ok(u64::from(self.bytes().len() + RECORD_BYTES_MAX > self.bytes));
        }
        let all = std::iter::once(&self.leader).chain(&self.members);
        // Of each its count, and how many of its records were dropped.
        let lost = all.map(|event| perf::read(event).map(|[_, lost]| lost));
        lost.sum::<io::Result<u64>>().doing("reading events")
    }
}

/// What a record has to hold so that the ends are known.
fn layout() -> Layout {
    // PROC_PID_INIT_INO: the number of the first pid namespace.
    match std::fs::read_link("/proc/self/ns/pid")
        .is_ok_and(|ns| ns.as_os_str() == "pid:[4026531836]")
    {
        true => Layout::Data,
        false => Layout::OwnIds,
    }
}

/// Maps an event's buffer, with a page before it that says how far it is filled.
fn map(event: &OwnedFd, bytes: usize) -> io::Result<Place<[u8]>> {
    let len = page_size() + bytes;
    let mapped = Shared::map(event, len).map_err(|error| {
        sys::failure(format!(
            "no memory for {} KiB of events ({error}): raise kernel.perf_event_mlock_kb or \
             ulimit -l, or run as root",
            bytes >> 10
        ))
    });
    Ok(Place::bytes(&mapped?, 0, len))
}
