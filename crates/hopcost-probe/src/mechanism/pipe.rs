//! `pipe`: two pipes, one per direction.
//!
//! The writer copies into a page of the kernel, the reader copies out of it. A
//! blocking round trip is write, read, read, write: four system calls.

use std::io;
use std::os::fd::{FromRawFd, OwnedFd};

use hopcost_model::mechanism::{Facts, Payload, Senders};

use crate::registry::{CHANNEL, Row};
use crate::shape::{Attaching, Half, Link, Opening, PeerExit, TwoEnds};
use crate::sys;
use crate::transport::stream::Stream;
use crate::transport::waits::FD_WAITS;
use crate::wait::Every;

pub static ROW: Row = Row::channel::<Pipe>(Facts {
    name: "pipe",
    family: "pipe",
    waits: FD_WAITS,
    payload: Payload::Bytes { min: 1, max: 1 << 20, default: 64 },
    senders: Senders::Several {
        share: "the pipe, whose writing end is duplicated",
        whole_bytes: PIPE_BUF,
    },
    revision: 3,
    ..CHANNEL
});

/// The longest message that write(2) does not mix with those of others (pipe(7)).
pub(super) const PIPE_BUF: u32 = 4096;

/// A pipe: read end, write end, both close-on-exec.
pub(super) fn pipe() -> io::Result<[OwnedFd; 2]> {
    let mut fds = [0; 2];
    // SAFETY: room for two descriptors, owned from here on.
    unsafe {
        sys::check(libc::pipe2(fds.as_mut_ptr(), libc::O_CLOEXEC))?;
        Ok(fds.map(|fd| OwnedFd::from_raw_fd(fd)))
    }
}

/// How its ends meet.
pub(super) struct Pipe;

impl TwoEnds for Pipe {
    type End = Stream;
    type Waits = Every;
    const PEER_EXIT: PeerExit = PeerExit::Noticed;
    fn open(_: &Opening<'_>) -> io::Result<Link> {
        Ok(Link::of_two_ways(pipe()?, pipe()?))
    }
    fn attach(half: Half, attaching: &Attaching<'_>) -> io::Result<Stream> {
        Stream::over_pair(half, attaching)
    }
}
