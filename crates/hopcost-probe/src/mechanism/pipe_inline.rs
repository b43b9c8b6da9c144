//! `pipe-inline`: a message goes into a pipe and comes out again in the same thread: what
//! write(2) and read(2) of a pipe cost where nobody sleeps, is woken or is switched to.
//!
//! An operation makes the message, writes it, reads it and compares it, each byte, as one hop
//! of the round trip of `pipe` does. So two operations are that round trip without its two
//! wake-ups and its two switches, and with warmer caches.

use std::io;
use std::os::fd::OwnedFd;

use super::pipes::pipe;
use crate::memory::Buffer;
use crate::party;
use crate::shape::{Attaching, Call};
use crate::sys;
use crate::transport::stream::{read_some, write_some};
use crate::worker::lines::give_up_after;

pub struct PipeInline {
    incoming: OwnedFd,
    outgoing: OwnedFd,
    out: Buffer,
    input: Buffer,
    /// Messages so far.
    sequence: u64,
}

impl PipeInline {
    fn of(payload: usize) -> io::Result<Self> {
        let [incoming, outgoing] = pipe()?;
        let holds = rustix::pipe::fcntl_getpipe_size(&outgoing)?;
        if holds < payload {
            return Err(sys::failure(format!(
                "the kernel gives this user pipes of {holds} bytes, because it has too many (pipe(7))"
            )));
        }
        let (out, input) = (Buffer::new(payload), Buffer::new(payload));
        Ok(Self { incoming, outgoing, out, input, sequence: 0 })
    }

    #[inline(always)]
    fn pass(&mut self) -> io::Result<usize> {
        self.sequence += 1;
        party::fill(&mut self.out, self.sequence);
        write_some(&self.outgoing, &self.out)?;
        let done = read_some(&self.incoming, &mut self.input, sys::Look::AsOpened)?;
        match party::verify(&self.input, self.sequence) {
            true => Ok(done),
            false => Err(sys::failure("the pipe gave another message than it was given")),
        }
    }
}

impl Call for PipeInline {
    fn new(attaching: &Attaching<'_>) -> io::Result<Self> {
        Self::of(attaching.payload())
    }
    #[inline(always)]
    fn call(&mut self, x: u64) -> u64 {
        match self.pass() {
            Ok(done) => x.wrapping_add(done as u64),
            Err(error) => give_up_after(&error),
        }
    }
}
