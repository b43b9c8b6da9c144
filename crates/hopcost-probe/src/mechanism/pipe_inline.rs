//! `pipe-inline`: a message goes into a pipe and comes out again in the same thread: what
//! write(2) and read(2) of a pipe cost where nobody sleeps, is woken or is switched to.
//!
//! An operation makes the message, writes it, reads it and compares it, each byte, as one hop
//! of the round trip of `pipe` does. So two operations are that round trip without its two
//! wake-ups and its two switches, and with warmer caches.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

use hopcost_model::mechanism::{Facts, Payload, PerOperation};

use super::pipe::pipe;
use crate::memory::Buffer;
use crate::party;
use crate::registry::{CALL, Row};
use crate::shape::{Attaching, Call};
use crate::sys;
use crate::transport::stream::{read_some, write_some};
use crate::worker::lines::give_up_after;

pub static ROW: Row = Row::call::<PipeInline>(Facts {
    name: "pipe-inline",
    call_system_calls: Some(PerOperation::Exactly(2.0)),
    payload: Payload::Bytes { min: 1, max: CAPACITY, default: 64 },
    ..CALL
});

/// What a pipe holds (pipe(7)), unless the user has too many of them.
const CAPACITY: u32 = 65_536;

struct PipeInline {
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
        // SAFETY: the descriptor is open, and the call takes no pointer.
        let holds = unsafe { libc::fcntl(outgoing.as_raw_fd(), libc::F_GETPIPE_SZ) };
        if (sys::check(holds)? as usize) < payload {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_message_comes_out_whole_before_the_next_goes_in() {
        for payload in [1, 64, 4097, CAPACITY as usize] {
            let mut own = PipeInline::of(payload).unwrap();
            assert_eq!((0..100).fold(0, |x, _| own.call(x)), 100 * payload as u64);
            assert!(party::verify(&own.input, 100) && !party::verify(&own.input, 99));
            // Nothing is left in it.
            let mut left: libc::c_int = -1;
            // SAFETY: the value is valid for writing.
            unsafe { libc::ioctl(own.incoming.as_raw_fd(), libc::FIONREAD, &raw mut left) };
            assert_eq!(left, 0);
        }
        assert!(PipeInline::of(CAPACITY as usize + 1).is_err());
    }
}
