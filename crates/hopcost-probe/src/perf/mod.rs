//! perf_event_open(2): its attributes, and switching on and off what it opened.

pub mod tracefs;

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use crate::sys;

/// `struct perf_event_attr` as of its fourth version (PERF_ATTR_SIZE_VER3); a kernel that knows
/// an older one takes it where what is new is 0.
#[repr(C)]
#[derive(Debug)]
pub struct Attributes {
    /// Kind of event.
    pub kind: u32,
    pub size: u32,
    /// Which event of that kind.
    pub config: u64,
    /// Events to a record.
    pub sample_period: u64,
    /// What a record holds.
    pub sample_type: u64,
    /// What read(2) gives.
    pub read_format: u64,
    /// Bits.
    pub flags: u64,
    /// Bytes after which a reader is woken.
    pub wakeup_watermark: u32,
    pub unused: [u32; 10],
    /// The clock of records.
    pub clock: i32,
}
const _: () = assert!(size_of::<Attributes>() == 96);

impl Default for Attributes {
    fn default() -> Self {
        // SAFETY: integers alone, of which 0 is one.
        let zero: Self = unsafe { std::mem::zeroed() };
        Attributes { size: size_of::<Self>() as u32, ..zero }
    }
}

// include/uapi/linux/perf_event.h
/// A tracepoint of the kernel, by its number.
pub const TYPE_TRACEPOINT: u32 = 2;
/// Opened switched off.
pub const DISABLED: u64 = 1;
const FLAG_FD_OUTPUT: libc::c_ulong = 2;
const FLAG_FD_CLOEXEC: libc::c_ulong = 8;
const IOC_ENABLE: libc::c_ulong = 0x2400;
const IOC_DISABLE: libc::c_ulong = 0x2401;
const IOC_FLAG_GROUP: libc::c_ulong = 1;

/// Where an event is watched for.
#[derive(Debug, Clone, Copy)]
pub enum Where {
    /// In a thread, 0 for the calling one, on any CPU.
    Thread(u32),
    /// On a CPU, in any thread.
    Cpu(u32),
}

/// What an event goes with.
#[derive(Debug, Clone, Copy)]
pub enum Joins<'a> {
    /// Nothing: it is switched alone.
    Nothing,
    /// It is on whenever this one is.
    Group(&'a OwnedFd),
    /// Likewise, and its records go into the buffer of this one.
    GroupAndBuffer(&'a OwnedFd),
}

/// Opens an event.
pub fn open(attributes: &Attributes, place: Where, joins: Joins<'_>) -> io::Result<OwnedFd> {
    let (thread, cpu) = match place {
        Where::Thread(id) => (id as i32, -1),
        Where::Cpu(cpu) => (-1, cpu as i32),
    };
    let (group, flags) = match joins {
        Joins::Nothing => (-1, 0),
        Joins::Group(leader) => (leader.as_raw_fd(), 0),
        Joins::GroupAndBuffer(leader) => (leader.as_raw_fd(), FLAG_FD_OUTPUT),
    };
    // SAFETY: the attributes are plain data of the size that they state; the new descriptor is
    // owned at once.
    unsafe {
        let fd = sys::check(libc::syscall(
            libc::SYS_perf_event_open,
            std::ptr::from_ref(attributes),
            thread,
            cpu,
            group,
            flags | FLAG_FD_CLOEXEC,
        ))?;
        Ok(OwnedFd::from_raw_fd(fd as i32))
    }
}

/// Switches an event and all of its group on.
pub fn switch_on(leader: &OwnedFd) -> io::Result<()> {
    control(leader, IOC_ENABLE).map_err(|e| sys::context(e, "switching events on"))
}

/// Switches them off.
pub fn switch_off(leader: &OwnedFd) -> io::Result<()> {
    control(leader, IOC_DISABLE).map_err(|e| sys::context(e, "switching events off"))
}

fn control(leader: &OwnedFd, request: libc::c_ulong) -> io::Result<()> {
    // SAFETY: an ioctl that takes an integer.
    let result = unsafe { libc::ioctl(leader.as_raw_fd(), request as _, IOC_FLAG_GROUP) };
    sys::check(result).map(drop)
}
