//! perf_event_open(2): its attributes, and switching on and off what it opened.

pub mod tracefs;

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use crate::sys::{self, Doing, Look, ensure};

/// `struct perf_event_attr` as of its fourth version (PERF_ATTR_SIZE_VER3); a kernel that knows
/// an older one takes it where what is new is 0.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub struct Attributes {
    /// Kind of event.
    pub kind: u32,
    /// Filled in where they are opened.
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

// include/uapi/linux/perf_event.h
/// A tracepoint of the kernel, by its number.
pub const TYPE_TRACEPOINT: u32 = 2;
/// Opened switched off.
pub const DISABLED: u64 = 1;
/// Its records go into the buffer of its leader.
pub const FLAG_FD_OUTPUT: libc::c_ulong = 2;
const FLAG_FD_CLOEXEC: libc::c_ulong = 8;
const IOC_ENABLE: libc::c_ulong = 0x2400;
const IOC_DISABLE: libc::c_ulong = 0x2401;
const IOC_FLAG_GROUP: libc::c_ulong = 1;

/// Any CPU, or any thread.
pub const ANY: i32 = -1;

/// Opens an event that is watched for in a thread, 0 for the calling one, and on a CPU; it is on
/// whenever its `leader` is, if it has one.
pub fn open(
    attributes: &Attributes,
    (thread, cpu): (i32, i32),
    leader: Option<&OwnedFd>,
    flags: libc::c_ulong,
) -> io::Result<OwnedFd> {
    let attributes = Attributes { size: size_of::<Attributes>() as u32, ..*attributes };
    // SAFETY: the attributes are plain data of the size that they state; the new descriptor is
    // owned at once.
    unsafe {
        let fd = sys::check(libc::syscall(
            libc::SYS_perf_event_open,
            &raw const attributes,
            thread,
            cpu,
            leader.map_or(-1, AsRawFd::as_raw_fd),
            flags | FLAG_FD_CLOEXEC,
        ))?;
        Ok(OwnedFd::from_raw_fd(fd as i32))
    }
}

/// Switches an event and all of its group on or off.
pub fn switch(leader: &OwnedFd, on: bool) -> io::Result<()> {
    let request = if on { IOC_ENABLE } else { IOC_DISABLE };
    // SAFETY: an ioctl that takes an integer.
    let result = unsafe { libc::ioctl(leader.as_raw_fd(), request as _, IOC_FLAG_GROUP) };
    sys::check(result).map(drop).doing("switching events on or off")
}

/// The numbers that read(2) gives of an event.
pub fn read<const N: usize>(event: &OwnedFd) -> io::Result<[u64; N]> {
    let mut words = [[0; 8]; N];
    let len = sys::read(event, words.as_flattened_mut(), Look::AsOpened)?;
    ensure!(len == 8 * N, "{len} bytes instead of {}", 8 * N);
    Ok(words.map(u64::from_ne_bytes))
}

/// Whom the kernel lets open events.
const PARANOID: &str = "/proc/sys/kernel/perf_event_paranoid";

/// The one line that says why perf_event_open(2) refused an event of the hardware or another, which
/// takes a `paranoid` of so much at most, and what helps.
pub fn refused(error: &io::Error, is_hardware: bool, paranoid: i32) -> String {
    match error.raw_os_error() {
        Some(libc::EACCES | libc::EPERM) => {
            let now = std::fs::read_to_string(PARANOID).unwrap_or_else(|_| "unknown".to_owned());
            format!(
                "{error}: kernel.perf_event_paranoid is {}; it takes {paranoid} or less (sysctl \
                 kernel.perf_event_paranoid={paranoid}), the capability CAP_PERFMON, or root, and in \
                 a container a seccomp profile that allows perf_event_open",
                now.trim()
            )
        }
        Some(libc::ENOENT) if is_hardware => {
            "no performance monitoring unit counts it, as in most virtual machines (ENOENT)"
                .to_owned()
        }
        Some(libc::EINVAL | libc::EOPNOTSUPP | libc::ENODEV) if is_hardware => {
            format!("this processor does not count it ({error})")
        }
        Some(libc::ENOSYS) => {
            "the kernel was built without performance events (ENOSYS, CONFIG_PERF_EVENTS)"
                .to_owned()
        }
        Some(libc::EMFILE) => {
            "too many open files (EMFILE): raise the limit with ulimit -n, or use fewer flows"
                .to_owned()
        }
        _ => format!("perf_event_open failed: {error}"),
    }
}
