//! An io_uring of one end: how it is set up, entered and let go of, for every mechanism that
//! has one.
//!
//! The crate `io-uring` maps the queues and builds the entries. The ring is entered here,
//! because a registered descriptor would have to be registered anew for every call of the
//! crate's.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

use io_uring::{IoUring, Probe, cqueue, squeue, types};

use crate::sys;

/// A ring that one thread enters.
pub struct Ring {
    ring: IoUring,
    /// Its place among those that the thread has registered.
    number: u32,
}

/// Flags of io_uring_enter(2) and operations of io_uring_register(2).
const ENTER_GETEVENTS: libc::c_uint = 1;
const ENTER_REGISTERED_RING: libc::c_uint = 1 << 4;
const REGISTER_RING_FDS: libc::c_uint = 20;
const UNREGISTER_RING_FDS: libc::c_uint = 21;

/// A `struct io_uring_rsrc_update` of linux/io_uring.h.
#[repr(C)]
struct Update {
    offset: u32,
    reserved: u32,
    data: u64,
}

impl Ring {
    /// A ring for so many submissions at a time and so many completions outstanding, on the
    /// thread that will use it. Requests are completed only in the call that waits for them.
    pub fn open(submissions: usize, completions: usize) -> io::Result<Self> {
        let ring = IoUring::builder()
            .setup_single_issuer()
            .setup_defer_taskrun()
            .setup_cqsize(completions.next_power_of_two() as u32)
            .build(submissions.next_power_of_two() as u32)
            .map_err(refused)?;
        // Its descriptor is registered, so that no call has to look it up.
        let mut ring = Self { ring, number: 0 };
        let fd = ring.ring.as_raw_fd() as u64;
        let mut update = Update { offset: u32::MAX, reserved: 0, data: fd };
        ring.register(REGISTER_RING_FDS, &mut update)
            .map_err(|error| sys::context(error, "registering the ring's descriptor"))?;
        ring.number = update.offset;
        Ok(ring)
    }

    fn register(&self, operation: libc::c_uint, update: &mut Update) -> io::Result<()> {
        // SAFETY: one update is passed as one; the kernel may write its offset.
        let result = unsafe {
            libc::syscall(
                libc::SYS_io_uring_register,
                self.ring.as_raw_fd(),
                operation,
                &raw mut *update,
                1,
            )
        };
        sys::check(result).map(drop)
    }

    /// Registers the descriptors that entries will name.
    pub fn files<const N: usize>(&self, fds: [&OwnedFd; N]) -> io::Result<[types::Fixed; N]> {
        self.ring
            .submitter()
            .register_files(&fds.map(|fd| fd.as_raw_fd()))
            .map_err(|error| sys::context(error, "registering descriptors"))?;
        Ok(std::array::from_fn(|at| types::Fixed(at as u32)))
    }

    /// Registers the memory of entries.
    ///
    /// # Safety
    /// It lives as long as the ring.
    pub unsafe fn register_buffers(&self, vectors: &[libc::iovec]) -> io::Result<()> {
        // SAFETY: as the caller promises.
        unsafe { self.ring.submitter().register_buffers(vectors) }
    }

    /// Queues an entry.
    ///
    /// # Safety
    /// What it names lives until it is completed.
    #[inline(always)]
    pub unsafe fn push(&mut self, entry: &squeue::Entry) -> io::Result<()> {
        // SAFETY: as the caller promises.
        unsafe { self.ring.submission().push(entry) }
            .map_err(|_| sys::failure("the submission queue is full"))
    }

    /// Submits so many entries, waits until there are so many completions or a signal comes,
    /// and says how many were submitted.
    #[inline(always)]
    pub fn enter(&self, submit: usize, completions: usize) -> io::Result<usize> {
        let get = if completions > 0 { ENTER_GETEVENTS } else { 0 };
        loop {
            // SAFETY: the ring is open; no signal mask.
            let result = unsafe {
                libc::syscall(
                    libc::SYS_io_uring_enter,
                    self.number,
                    submit as libc::c_uint,
                    completions as libc::c_uint,
                    ENTER_REGISTERED_RING | get,
                    std::ptr::null::<libc::sigset_t>(),
                    0,
                )
            };
            match sys::check(result) {
                Ok(submitted) => return Ok(submitted as usize),
                // Before anything was submitted.
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(sys::context(error, "io_uring_enter")),
            }
        }
    }

    /// The next completion, if there is one already.
    #[inline(always)]
    pub fn completed(&self) -> Option<cqueue::Entry> {
        // SAFETY: one thread uses the ring, and this is the only view of its completions.
        unsafe { self.ring.completion_shared() }.next()
    }
}

impl Drop for Ring {
    /// Lets go of what is registered: the kernel would hold on to it until it frees the ring, some
    /// time later, and the other end would wait for an end of file until then.
    fn drop(&mut self) {
        // Where no files are registered the kernel says so.
        let _ = self.ring.submitter().unregister_files();
        let mut update = Update { offset: self.number, reserved: 0, data: 0 };
        let _ = self.register(UNREGISTER_RING_FDS, &mut update);
    }
}

/// Why there is no ring.
fn refused(error: io::Error) -> io::Error {
    let disabled = std::fs::read_to_string("/proc/sys/kernel/io_uring_disabled");
    match disabled.as_deref().map(str::trim) {
        Ok(value @ ("1" | "2")) => sys::failure(format!(
            "io_uring_setup(2): {error} (kernel.io_uring_disabled is {value})"
        )),
        _ if error.raw_os_error() == Some(libc::EINVAL) => {
            sys::context(error, "io_uring_setup(2) (DEFER_TASKRUN needs Linux 6.1)")
        }
        _ => sys::refused(error, "io_uring_setup(2)"),
    }
}

/// Whether an io_uring can be had here that knows this operation, or why not.
pub fn available(code: u8, name: &str) -> Result<(), String> {
    crate::clock::available()?;
    let ring = Ring::open(2, 2).map_err(|error| error.to_string())?;
    let mut probe = Probe::new();
    ring.ring
        .submitter()
        .register_probe(&mut probe)
        .map_err(|error| format!("asking io_uring for its operations: {error}"))?;
    match probe.is_supported(code) {
        true => Ok(()),
        false => Err(format!("this kernel's io_uring has no {name}")),
    }
}

/// The bytes that a completed request moved.
#[inline(always)]
pub fn moved(completion: &cqueue::Entry) -> io::Result<usize> {
    match completion.result() {
        bytes @ 0.. => Ok(bytes as usize),
        error => Err(failed(-error)),
    }
}

#[cold]
fn failed(error: i32) -> io::Error {
    match error {
        libc::EPIPE | libc::ECONNRESET => crate::transport::peer_closed(),
        libc::ENOMEM => sys::failure(
            "a request of io_uring found no memory: the pages that a send without a copy pins are \
             limited (see ulimit -l)",
        ),
        _ => io::Error::from_raw_os_error(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A descriptor that a ring held on to would keep its partner waiting for the end of file.
    #[test]
    fn a_dropped_ring_has_let_go_of_what_it_registered() {
        let ring = match Ring::open(2, 2) {
            Ok(ring) => ring,
            Err(reason) => return eprintln!("skipped: {reason}"),
        };
        let (ours, theirs) = std::os::unix::net::UnixStream::pair().unwrap();
        let ours = OwnedFd::from(ours);
        ring.files([&ours]).unwrap();
        drop((ring, ours));
        theirs.set_nonblocking(true).unwrap();
        let end_of_file = std::io::Read::read(&mut &theirs, &mut [0]).unwrap();
        assert_eq!(end_of_file, 0);
    }
}
