//! `eventfd`: a counter in the kernel per direction. Writing adds to it, reading
//! takes what is there and sets it to 0; both move 8 bytes.
//!
//! A blocking round trip is write, read, read, write: four system calls, as for
//! a pipe, but with no page, no lock on one, and no buffer to manage. In a closed
//! loop the count read is always 1, and anything else is an error.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

use crate::shape::{Attaching, End, Half, Link, Notifier, Opening};
use crate::sys;
use crate::wait::{self, Every, FdWait, Wait};

pub struct EventFd {
    incoming: OwnedFd,
    outgoing: OwnedFd,
    wait: FdWait,
}

/// Makes the link.
pub fn open(_: &Opening<'_>) -> io::Result<Link> {
    let (request, reply) = (sys::eventfd()?, sys::eventfd()?);
    let (request_in, reply_out) = (request.try_clone()?, reply.try_clone()?);
    Ok(Link::of_two_ways([request_in, request], [reply, reply_out]))
}

impl End for EventFd {
    type Waits = Every;
    fn attach(half: Half, attaching: &Attaching<'_>) -> io::Result<Self> {
        let [incoming, outgoing] = half.take_fds()?;
        let wait =
            FdWait::prepare(attaching.wait(), &incoming, wait::look_at, attaching.budget_ticks)?;
        Ok(Self { incoming, outgoing, wait })
    }
}

impl Notifier for EventFd {
    #[inline(always)]
    fn notify<W: Wait>(&mut self) -> io::Result<()> {
        let one = 1u64;
        // SAFETY: 8 bytes are read from a live value. Never EAGAIN or EINTR, even where the other
        // end made this descriptor non-blocking: the count is far from its maximum.
        let result = unsafe { libc::write(self.outgoing.as_raw_fd(), (&raw const one).cast(), 8) };
        sys::check(result).map(drop)
    }

    #[inline(always)]
    fn wait<W: Wait>(&mut self) -> io::Result<()> {
        let (fd, mut count) = (&self.incoming, [0; 8]);
        self.wait.receive(W::KIND, fd, |look| sys::read(fd, &mut count, look))?;
        let count = u64::from_ne_bytes(count);
        if count == 1 { Ok(()) } else { Err(miscounted(count)) }
    }
}

#[cold]
fn miscounted(count: u64) -> io::Error {
    sys::failure(format!("the eventfd counted {count} notifications instead of 1"))
}
