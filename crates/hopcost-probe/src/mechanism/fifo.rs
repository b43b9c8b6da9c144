//! `fifo`: two named pipes, one per direction.
//!
//! Once open, a FIFO is a pipe: the same pages, the same code in the kernel, four
//! system calls a blocking round trip. What differs is how the ends meet, and
//! that is over before the first stamp. The names are removed as soon as both
//! ends are open.

use std::ffi::CString;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use hopcost_model::mechanism::{Facts, Payload, Senders};

use super::pipe::PIPE_BUF;
use crate::registry::{CHANNEL, Row};
use crate::shape::{Attaching, Half, Link, Opening, PeerExit, TwoEnds};
use crate::sys;
use crate::transport::stream::Stream;
use crate::transport::waits::FD_WAITS;
use crate::wait::Every;

pub static ROW: Row = Row::channel::<Fifo>(Facts {
    name: "fifo",
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

/// A FIFO with both ends open and its name gone: read end, write end.
fn fifo(path: &Path) -> io::Result<[OwnedFd; 2]> {
    let name = CString::new(path.as_os_str().as_bytes())
        .map_err(|_| sys::failure("a NUL in the run's directory"))?;
    // SAFETY: the name is NUL-terminated and outlives the calls; the flags are integers.
    unsafe {
        sys::check(libc::mkfifo(name.as_ptr(), 0o600))
            .map_err(|e| sys::context(e, &format!("making the FIFO {}", path.display())))?;
        let opened = open_both(&name);
        libc::unlink(name.as_ptr());
        opened.map_err(|e| sys::context(e, "opening a FIFO"))
    }
}

/// Opens the reading end without waiting for a writer (O_NONBLOCK allows that
/// for this end only), then the writing end, which finds its reader, and makes
/// the reading end a blocking one. Opened O_RDWR, an end would hold the other
/// side open too and never see end-of-file.
fn open_both(name: &CString) -> io::Result<[OwnedFd; 2]> {
    // SAFETY: the name is NUL-terminated; each new descriptor is owned at once.
    unsafe {
        let flags = libc::O_RDONLY | libc::O_NONBLOCK | libc::O_CLOEXEC;
        let read = OwnedFd::from_raw_fd(sys::check(libc::open(name.as_ptr(), flags))?);
        let flags = libc::O_WRONLY | libc::O_CLOEXEC;
        let write = OwnedFd::from_raw_fd(sys::check(libc::open(name.as_ptr(), flags))?);
        sys::check(libc::fcntl(read.as_raw_fd(), libc::F_SETFL, 0))?;
        Ok([read, write])
    }
}

/// How its ends meet.
struct Fifo;

impl TwoEnds for Fifo {
    type End = Stream;
    type Waits = Every;
    const PEER_EXIT: PeerExit = PeerExit::Noticed;
    fn open(opening: &Opening<'_>) -> io::Result<Link> {
        let one_way = || fifo(&opening.fresh_path("fifo"));
        Ok(Link::of_two_ways(one_way()?, one_way()?))
    }
    fn attach(half: Half, attaching: &Attaching<'_>) -> io::Result<Stream> {
        Stream::over_pair(half, attaching)
    }
}
