//! A message over a byte stream: what a pipe and a stream socket have in common.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

use hopcost_model::case::WaitKind;

use super::{peer_closed, wait_writable};
use crate::memory::Buffer;
use crate::shape::{Attaching, Channel, End, Half};
use crate::sys::{self, Look};
use crate::wait::{self, Every, FdWait, Wait};

/// A message of fixed length over byte streams: `write` until all is written,
/// `read` until all is there. `outgoing` and `incoming` are one and the same
/// socket, or the two pipes of the two directions.
pub struct Stream {
    incoming: OwnedFd,
    outgoing: Option<OwnedFd>,
    wait: FdWait,
    out: Buffer,
    input: Buffer,
}

impl Stream {
    fn outgoing(&self) -> &OwnedFd {
        self.outgoing.as_ref().unwrap_or(&self.incoming)
    }

    /// Writes what the first call has left: no part of the loop, in which most messages go in one
    /// call, so that nothing is sliced there.
    #[cold]
    #[inline(never)]
    fn write_rest(&mut self, mut done: usize) -> io::Result<()> {
        while done < self.out.len() {
            done += write_some(self.outgoing(), &self.out[done..])?;
        }
        Ok(())
    }

    /// Reads what the first call has left.
    #[cold]
    #[inline(never)]
    fn read_rest(&mut self, wait: WaitKind, mut done: usize) -> io::Result<()> {
        while done < self.input.len() {
            let (fd, rest) = (&self.incoming, &mut self.input[done..]);
            done += self.wait.receive(wait, fd, |look| read_some(fd, rest, look))?;
        }
        Ok(())
    }
}

impl End for Stream {
    type Waits = Every;
    fn attach(half: Half, attaching: &Attaching<'_>) -> io::Result<Self> {
        let (incoming, outgoing) = half.take_ways()?;
        let payload = attaching.payload();
        let wait =
            FdWait::prepare(attaching.wait(), &incoming, wait::look_at, attaching.budget_ticks)?;
        let (out, input) = (Buffer::new(payload), Buffer::new(payload));
        Ok(Self { incoming, outgoing, wait, out, input })
    }
}

impl Channel for Stream {
    #[inline(always)]
    fn slot<W: Wait>(&mut self, _: usize) -> io::Result<&mut [u8]> {
        Ok(&mut self.out)
    }
    #[inline(always)]
    fn send<W: Wait>(&mut self, _: usize) -> io::Result<()> {
        let done = write_some(self.outgoing(), &self.out)?;
        if done < self.out.len() { self.write_rest(done) } else { Ok(()) }
    }
    #[inline(always)]
    fn recv<W: Wait>(&mut self) -> io::Result<&[u8]> {
        let (fd, input) = (&self.incoming, &mut self.input);
        let done = self.wait.receive(W::KIND, fd, |look| read_some(fd, input, look))?;
        if done < self.input.len() {
            self.read_rest(W::KIND, done)?;
        }
        Ok(&self.input)
    }
}

/// Reads what is there, up to the length of the buffer; an error at the end of the stream.
#[inline(always)]
pub fn read_some(fd: &OwnedFd, buffer: &mut [u8], look: Look) -> io::Result<usize> {
    match sys::read(fd, buffer, look)? {
        0 => Err(peer_closed()),
        n => Ok(n),
    }
}

/// Writes as much as the stream takes at once.
#[inline(always)]
pub fn write_some(fd: &OwnedFd, buffer: &[u8]) -> io::Result<usize> {
    // SAFETY: the buffer is valid for its length.
    let result = unsafe { libc::write(fd.as_raw_fd(), buffer.as_ptr().cast(), buffer.len()) };
    match sys::check(result) {
        Ok(n) => Ok(n as usize),
        Err(error) => wait_writable(fd, error),
    }
}
