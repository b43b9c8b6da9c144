//! A message over a stream socket by io_uring.
//!
//! An answer and the wait for the next message are submitted together: one
//! io_uring_enter(2) sends, and returns when a message was received. So a round trip is two
//! system calls where write(2) and read(2) are four. The send completes without a trace
//! (IOSQE_CQE_SKIP_SUCCESS) unless it failed. Only the last answer of a phase is submitted by
//! itself, in a third call. With MSG_WAITALL the kernel goes on until all of a message is moved.

use std::io;
use std::os::fd::OwnedFd;

use io_uring::{cqueue, opcode, squeue, types::Fixed};

use super::{peer_closed, tcp};
use crate::memory::Buffer;
use crate::shape::{Attaching, Channel, End, Half};
use crate::sys;
use crate::uring::{self, Ring};
use crate::wait::{Block, Wait};

/// Whether sockets can be written and read in this way here, or why not.
pub fn available() -> Result<(), String> {
    uring::available(opcode::Send::CODE, "IORING_OP_SEND")
}

/// The same over TCP.
pub fn available_over_tcp() -> Result<(), String> {
    tcp::loopback_available()?;
    available()
}

/// What a completion is of.
const RECEIVED: u64 = 0;
const SENT: u64 = 1;

pub struct Submitted {
    // Dropped first: its requests name the buffers.
    ring: Ring,
    socket: Fixed,
    /// What `socket` is.
    _fd: OwnedFd,
    out: Buffer,
    input: Buffer,
    /// Whether a message leaves with the next receive.
    unsent: bool,
}

impl End for Submitted {
    type Waits = (Block,);
    fn attach(half: Half, attaching: &Attaching<'_>) -> io::Result<Self> {
        let ring = Ring::open(4, 8)?;
        let [fd] = half.take_fds()?;
        let [socket] = ring.files([&fd])?;
        let [out, input] = [(); 2].map(|()| Buffer::new(attaching.payload()));
        Ok(Self { ring, socket, _fd: fd, out, input, unsent: false })
    }
}

impl Submitted {
    /// Queues the message that has been put off, if there is one; says how many entries
    /// that were.
    #[inline(always)]
    fn queue_unsent(&mut self, flags: squeue::Flags) -> io::Result<usize> {
        if !std::mem::take(&mut self.unsent) {
            return Ok(0);
        }
        let entry = opcode::Send::new(self.socket, self.out.as_ptr(), self.out.len() as u32)
            .flags(libc::MSG_NOSIGNAL | libc::MSG_WAITALL)
            .build()
            .flags(flags)
            .user_data(SENT);
        // SAFETY: the buffer outlives the ring, and is not written before the answer has come.
        unsafe { self.ring.push(&entry) }.map(|()| 1)
    }

    /// Sees that a request has moved a whole message.
    #[inline(always)]
    fn whole(&self, completion: &cqueue::Entry) -> io::Result<()> {
        let moved = uring::moved(completion)?;
        if moved == self.out.len() { Ok(()) } else { Err(in_part(moved, self.out.len())) }
    }
}

#[cold]
fn in_part(moved: usize, bytes: usize) -> io::Error {
    match moved {
        0 => peer_closed(),
        _ => sys::failure(format!("io_uring moved {moved} of {bytes} bytes")),
    }
}

impl Channel for Submitted {
    #[inline(always)]
    fn slot<W: Wait>(&mut self, _: usize) -> io::Result<&mut [u8]> {
        Ok(&mut self.out)
    }
    #[inline(always)]
    fn send<W: Wait>(&mut self, _: usize) -> io::Result<()> {
        self.unsent = true;
        Ok(())
    }
    #[inline(always)]
    fn recv<W: Wait>(&mut self) -> io::Result<&[u8]> {
        let mut queued = self.queue_unsent(squeue::Flags::SKIP_SUCCESS)? + 1;
        let (at, bytes) = (self.input.as_mut_ptr(), self.input.len() as u32);
        let entry = opcode::Recv::new(self.socket, at, bytes).flags(libc::MSG_WAITALL).build();
        // SAFETY: the buffer outlives the ring, and is lent only when the receive is completed.
        unsafe { self.ring.push(&entry.user_data(RECEIVED)) }?;
        loop {
            queued -= self.ring.enter(queued, 1)?;
            while let Some(completion) = self.ring.completed() {
                self.whole(&completion)?;
                if completion.user_data() == RECEIVED {
                    return Ok(&self.input);
                }
            }
        }
    }
    fn flush(&mut self) -> io::Result<()> {
        let mut queued = self.queue_unsent(squeue::Flags::empty())?;
        while queued > 0 {
            queued -= self.ring.enter(queued, 1)?;
        }
        match self.ring.completed() {
            Some(completion) => self.whole(&completion),
            None => Ok(()),
        }
    }
}
