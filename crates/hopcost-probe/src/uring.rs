//! An io_uring of one end: how it is set up and entered, for every mechanism that has one.

use std::io;

use io_uring::{IoUring, Probe, cqueue, squeue};

use crate::sys;

/// A ring that one thread enters.
pub struct Ring(IoUring);

impl Ring {
    /// A ring for this number of submissions at a time and of completions outstanding, on the
    /// thread that will use it. Requests are completed only in the call that waits for them.
    pub fn open(submissions: usize, completions: usize) -> io::Result<Self> {
        IoUring::builder()
            .setup_single_issuer()
            .setup_defer_taskrun()
            .setup_cqsize(completions.next_power_of_two() as u32)
            .build(submissions.next_power_of_two() as u32)
            .map(Self)
            .map_err(refused)
    }

    /// Registers the memory of entries.
    ///
    /// # Safety
    /// It lives as long as the ring.
    pub unsafe fn register_buffers(&self, vectors: &[libc::iovec]) -> io::Result<()> {
        // SAFETY: as the caller promises.
        unsafe { self.0.submitter().register_buffers(vectors) }
    }

    /// Queues an entry.
    ///
    /// # Safety
    /// What it names lives until it is completed.
    #[inline(always)]
    pub unsafe fn push(&mut self, entry: &squeue::Entry) -> io::Result<()> {
        // SAFETY: as the caller promises.
        unsafe { self.0.submission().push(entry) }
            .map_err(|_| sys::failure("the submission queue is full"))
    }

    /// Submits what is queued, and waits until this number of completions is there or a signal comes.
    #[inline(always)]
    pub fn enter(&self, completions: usize) -> io::Result<()> {
        match self.0.submitter().submit_and_wait(completions) {
            Err(error) if error.kind() != io::ErrorKind::Interrupted => {
                Err(sys::context(error, "io_uring_enter"))
            }
            _ => Ok(()),
        }
    }

    /// The next completion, if there is one already.
    #[inline(always)]
    pub fn completed(&mut self) -> Option<cqueue::Entry> {
        self.0.completion().next()
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
    ring.0
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
