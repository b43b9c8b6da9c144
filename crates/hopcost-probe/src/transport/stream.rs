//! A message over a byte stream: what a pipe and a stream socket have in common.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

use hopcost_model::case::WaitKind;

use super::{peer_closed, wait_writable};
use crate::memory::Buffer;
use crate::shape::{Attaching, Channel, Half, LinkBytes};
use crate::sys;
use crate::wait::{FdWait, Wait};

/// A message of fixed length over byte streams: `write` until all is written,
/// `read` until all is there. `outgoing` and `incoming` are one and the same
/// socket, or the two pipes of the two directions.
pub struct Stream {
    incoming: OwnedFd,
    outgoing: Option<OwnedFd>,
    wait: FdWait,
    payload: usize,
    out: Buffer,
    input: Buffer,
}

impl Stream {
    /// Over one bidirectional descriptor.
    pub fn over_socket(half: Half, attaching: &Attaching<'_>) -> io::Result<Self> {
        let [fd] = half.take_fds()?;
        Self::new(fd, None, attaching)
    }

    /// Over two descriptors: incoming, outgoing.
    pub fn over_pair(half: Half, attaching: &Attaching<'_>) -> io::Result<Self> {
        let [incoming, outgoing] = half.take_fds()?;
        Self::new(incoming, Some(outgoing), attaching)
    }

    fn new(
        incoming: OwnedFd,
        outgoing: Option<OwnedFd>,
        attaching: &Attaching<'_>,
    ) -> io::Result<Self> {
        let payload = attaching.payload();
        let wait = FdWait::prepare(attaching.wait(), &incoming, attaching.budget_ticks)?;
        Ok(Self {
            incoming,
            outgoing,
            wait,
            payload,
            out: Buffer::new(payload),
            input: Buffer::new(payload),
        })
    }

    /// Where the next message of `len` bytes is written.
    #[inline(always)]
    pub fn message(&mut self, len: usize) -> &mut [u8] {
        &mut self.out[..len]
    }

    /// Writes the message.
    #[inline(always)]
    pub fn write(&mut self, len: usize) -> io::Result<()> {
        let fd = self.outgoing.as_ref().unwrap_or(&self.incoming);
        let mut done = 0;
        while done < len {
            done += write_some(fd, &self.out[done..len])?;
        }
        Ok(())
    }

    /// Reads the next message, waiting for it in this way.
    #[inline(always)]
    pub fn read(&mut self, wait: WaitKind) -> io::Result<&[u8]> {
        let mut done = 0;
        while done < self.payload {
            let (fd, rest) = (&self.incoming, &mut self.input[done..]);
            done += self.wait.receive(wait, fd, || read_some(fd, rest))?;
        }
        Ok(&self.input)
    }
}

impl Channel for Stream {
    const BYTES: LinkBytes = LinkBytes::Messages;
    #[inline(always)]
    fn slot<W: Wait>(&mut self, len: usize) -> io::Result<&mut [u8]> {
        Ok(self.message(len))
    }
    #[inline(always)]
    fn send<W: Wait>(&mut self, len: usize) -> io::Result<()> {
        self.write(len)
    }
    #[inline(always)]
    fn recv<W: Wait>(&mut self) -> io::Result<&[u8]> {
        self.read(W::KIND)
    }
}

#[inline(always)]
fn read_some(fd: &OwnedFd, buffer: &mut [u8]) -> io::Result<usize> {
    // SAFETY: the buffer is valid for its length.
    let result = unsafe { libc::read(fd.as_raw_fd(), buffer.as_mut_ptr().cast(), buffer.len()) };
    match sys::check(result)? {
        0 => Err(peer_closed()),
        n => Ok(n as usize),
    }
}

#[inline(always)]
fn write_some(fd: &OwnedFd, buffer: &[u8]) -> io::Result<usize> {
    // SAFETY: the buffer is valid for its length.
    let result = unsafe { libc::write(fd.as_raw_fd(), buffer.as_ptr().cast(), buffer.len()) };
    match sys::check(result) {
        Ok(n) => Ok(n as usize),
        Err(error) => wait_writable(fd, error),
    }
}
