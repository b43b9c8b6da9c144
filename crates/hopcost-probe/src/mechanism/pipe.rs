//! `pipe`: two pipes, one per direction.
//!
//! The writer copies into a page of the kernel, the reader copies out of it. A
//! blocking round trip is write, read, read, write: four system calls.

use std::io;
use std::os::fd::{FromRawFd, OwnedFd};

use hopcost_model::case::{Boundary, Workload};
use hopcost_model::mechanism::{Facts, Payload, Shape};

use crate::registry::{Row, always_available};
use crate::shape::{Attaching, Channel, Half, Link, Opening};
use crate::sys;
use crate::transport::{FD_WAITS, Stream, two_ways};
use crate::wait::Wait;

/// The row.
pub static ROW: Row = Row::channel::<Pipe>(Facts {
    name: "pipe",
    family: "pipe",
    about: "two pipes, one per direction",
    shape: Shape::Channel,
    workloads: &[Workload::Roundtrip, Workload::Wake],
    boundaries: &[Boundary::Process, Boundary::Thread],
    waits: FD_WAITS,
    call_system_calls: None,
    payload: Payload::Bytes { min: 1, max: 1 << 20, default: 64 },
    parameters: &[],
    crosses: "the message's bytes, through a kernel buffer of 64 KiB per direction",
    copies: "the kernel, twice a message: from the sender into the pipe's pages, from there to the receiver",
    wakes: "the kernel wakes the sleeping reader from within write(2)",
    between_stamps: "write, sleep in read, be woken, read returns; on the other side read returns, write, read",
    limits: "1 byte to 1 MiB; a message over 64 KiB is written and read in parts",
    sources: &["pipe(2)", "pipe(7)", "read(2)", "write(2)"],
    hidden: false,
    available: always_available,
});

/// One end.
pub struct Pipe(Stream);

/// A pipe: read end, write end, both close-on-exec.
fn pipe() -> io::Result<[OwnedFd; 2]> {
    let mut fds = [0; 2];
    // SAFETY: room for two descriptors, owned from here on.
    unsafe {
        sys::check(libc::pipe2(fds.as_mut_ptr(), libc::O_CLOEXEC))?;
        Ok(fds.map(|fd| OwnedFd::from_raw_fd(fd)))
    }
}

impl Channel for Pipe {
    fn open(_: &Opening<'_>) -> io::Result<Link> {
        Ok(two_ways(pipe()?, pipe()?))
    }
    fn attach(half: Half, attaching: &Attaching<'_>) -> io::Result<Self> {
        Stream::over_pair(half, attaching).map(Pipe)
    }
    #[inline(always)]
    fn slot<W: Wait>(&mut self, len: usize) -> io::Result<&mut [u8]> {
        Ok(self.0.slot(len))
    }
    #[inline(always)]
    fn send<W: Wait>(&mut self, len: usize) -> io::Result<()> {
        self.0.send(len)
    }
    #[inline(always)]
    fn recv<W: Wait>(&mut self) -> io::Result<&[u8]> {
        self.0.recv::<W>()
    }
}
