//! An io_uring for one flow's sender.

use std::io;

use io_uring::{IoUring, Probe, cqueue};

use crate::sys;

/// A ring for `submissions` at a time and `completions` outstanding.
pub fn open(submissions: usize, completions: usize) -> io::Result<IoUring> {
    IoUring::builder()
        .setup_cqsize(completions.next_power_of_two() as u32)
        .build(submissions.next_power_of_two() as u32)
        .map_err(|error| sys::context(error, "io_uring_setup"))
}

/// Whether an io_uring can be had here and knows this operation, or why not.
pub fn available(code: u8, name: &str) -> Result<(), String> {
    let ring = IoUring::new(2).map_err(|error| {
        let disabled = std::fs::read_to_string("/proc/sys/kernel/io_uring_disabled");
        match disabled.as_deref().map(str::trim) {
            Ok("1") => format!("io_uring_setup: {error} (kernel.io_uring_disabled is 1)"),
            Ok("2") => format!("io_uring_setup: {error} (kernel.io_uring_disabled is 2)"),
            _ => format!("io_uring_setup: {error}"),
        }
    })?;
    let mut probe = Probe::new();
    ring.submitter()
        .register_probe(&mut probe)
        .map_err(|error| format!("asking io_uring for its operations: {error}"))?;
    if probe.is_supported(code) {
        Ok(())
    } else {
        Err(format!("this kernel's io_uring has no {name}"))
    }
}

/// Submits what is queued and waits until there is a completion; an interrupted
/// call is made again.
pub fn enter(ring: &IoUring, completions: usize) -> io::Result<()> {
    loop {
        match ring.submit_and_wait(completions) {
            Ok(_) => return Ok(()),
            Err(error) if error.raw_os_error() == Some(libc::EINTR) => {}
            Err(error) => return Err(sys::context(error, "io_uring_enter")),
        }
    }
}

/// The bytes that a completed send sent.
#[inline(always)]
pub fn sent(completion: &cqueue::Entry) -> io::Result<usize> {
    match completion.result() {
        bytes @ 0.. => Ok(bytes as usize),
        error => Err(failed(-error)),
    }
}

#[cold]
fn failed(error: i32) -> io::Error {
    match error {
        libc::EPIPE | libc::ECONNRESET => crate::transport::peer_closed(),
        _ => io::Error::from_raw_os_error(error),
    }
}
