//! A message over a byte stream: what a pipe and a stream socket have in common.

use std::io;
use std::iter::once;
use std::os::fd::OwnedFd;

use hopcost_model::WaitKind;

use super::{peer_closed, wait_writable};
use crate::memory::Buffer;
use crate::shape::{Attaching, Channel, End, Half};
use crate::sys::{self, Look};
use crate::wait::{self, Every, FdWait, Wait};

/// Where a byte stream comes in and goes out, and how its end waits. Both are one and the same
/// socket, or the two pipes of the two directions.
pub struct Ways {
    incoming: OwnedFd,
    outgoing: Option<OwnedFd>,
    wait: FdWait,
}

impl Ways {
    fn attach(half: Half, attaching: &Attaching<'_>, kind: WaitKind) -> io::Result<Self> {
        let mut fds = half.fds.into_iter();
        let incoming = fds.next().ok_or_else(|| sys::failure("this end needs a descriptor"))?;
        let wait = FdWait::prepare(kind, &incoming, wait::look_at, attaching.budget_ticks)?;
        Ok(Self { incoming, outgoing: fds.next(), wait })
    }
    fn outgoing(&self) -> &OwnedFd {
        self.outgoing.as_ref().unwrap_or(&self.incoming)
    }
}

/// A message of fixed length over a byte stream: `write` until all is written, `read` until all
/// is there. Several streams, of which one is in use, share two buffers, since a server with
/// thousands keeps little of each.
pub struct Stream {
    /// Not empty.
    all: Vec<Ways>,
    /// That in use, one of them.
    at: usize,
    out: Buffer,
    input: Buffer,
}

impl Stream {
    /// An end of each of these halves, which waits like this.
    pub fn of(
        halves: impl Iterator<Item = Half>,
        attaching: &Attaching<'_>,
        kind: WaitKind,
    ) -> io::Result<Self> {
        let all = halves.map(|half| Ways::attach(half, attaching, kind));
        let all = all.collect::<io::Result<Vec<_>>>()?;
        all.first().ok_or_else(|| sys::failure("an end without a connection"))?;
        let payload = attaching.payload();
        Ok(Self { all, at: 0, out: Buffer::new(payload), input: Buffer::new(payload) })
    }
    /// How many there are.
    pub fn connections(&self) -> usize {
        self.all.len()
    }
    /// Uses this one from now on.
    #[inline(always)]
    pub fn turn_to(&mut self, connection: usize) {
        self.at = connection.min(self.all.len() - 1);
    }

    /// Writes what the first call has left: no part of the loop, in which most messages go in one
    /// call, so that nothing is sliced there.
    #[cold]
    #[inline(never)]
    fn write_rest(&mut self, mut done: usize) -> io::Result<()> {
        while done < self.out.len() {
            done += write_some(in_use(&self.all, self.at).outgoing(), &self.out[done..])?;
        }
        Ok(())
    }

    /// Reads what the first call has left.
    #[cold]
    #[inline(never)]
    fn read_rest(&mut self, wait: WaitKind, mut done: usize) -> io::Result<()> {
        let Ways { incoming, wait: prepared, .. } = in_use(&self.all, self.at);
        while done < self.input.len() {
            let rest = &mut self.input[done..];
            done += prepared.receive(wait, incoming, |look| read_some(incoming, rest, look))?;
        }
        Ok(())
    }
}

impl End for Stream {
    type Waits = Every;
    fn attach(half: Half, attaching: &Attaching<'_>) -> io::Result<Self> {
        Self::of(once(half), attaching, attaching.wait())
    }
}

impl Channel for Stream {
    #[inline(always)]
    fn slot<W: Wait>(&mut self, _: usize) -> io::Result<&mut [u8]> {
        Ok(&mut self.out)
    }
    #[inline(always)]
    fn send<W: Wait>(&mut self, _: usize) -> io::Result<()> {
        let done = write_some(in_use(&self.all, self.at).outgoing(), &self.out)?;
        if done < self.out.len() { self.write_rest(done) } else { Ok(()) }
    }
    #[inline(always)]
    fn recv<W: Wait>(&mut self) -> io::Result<&[u8]> {
        let (Ways { incoming, wait, .. }, input) = (in_use(&self.all, self.at), &mut self.input);
        let done = wait.receive(W::KIND, incoming, |look| read_some(incoming, input, look))?;
        if done < self.input.len() {
            self.read_rest(W::KIND, done)?;
        }
        Ok(&self.input)
    }
}

/// The byte stream that a [`Stream`] uses, by its fields.
#[inline(always)]
fn in_use(all: &[Ways], at: usize) -> &Ways {
    // SAFETY: `Stream::of` takes one at least, and `at` is 0 or what `turn_to` made of it.
    unsafe { all.get_unchecked(at) }
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
    sys::write(fd, buffer).or_else(|error| wait_writable(fd, error))
}
