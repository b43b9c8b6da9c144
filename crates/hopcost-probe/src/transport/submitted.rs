//! A message over a byte stream by io_uring: what pipes and stream sockets have in common.
//!
//! An answer and the wait for the next message are submitted together: one
//! io_uring_enter(2) writes, and returns when something was read. So a round trip is two
//! system calls where write(2) and read(2) are four. The write completes without a trace
//! (IOSQE_CQE_SKIP_SUCCESS) unless it failed or the kernel took a part. Only the last answer
//! of a phase is submitted by itself, in a third call.

use std::io;
use std::os::fd::OwnedFd;

use io_uring::{cqueue, opcode, squeue, types::Fixed};

use super::{peer_closed, tcp};
use crate::memory::Buffer;
use crate::shape::{Attaching, Channel, End, Half};
use crate::uring::{self, Ring};
use crate::wait::{Block, Wait};

/// Whether sockets and pipes can be written and read in this way here, or why not.
pub fn available() -> Result<(), String> {
    uring::available(opcode::Send::CODE, "IORING_OP_SEND")
}

/// The same over TCP.
pub fn available_over_tcp() -> Result<(), String> {
    tcp::loopback_available()?;
    available()
}

/// Which requests move bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Requests {
    /// SEND and RECV with MSG_WAITALL, each of a whole message.
    OfSockets,
    /// WRITE and READ, each of what there is room for, or of what is there.
    OfPipes,
}

/// What a completion is of.
const READ: u64 = 0;
const WRITE: u64 = 1;

pub struct Submitted {
    // Dropped first: its requests name the buffers.
    ring: Ring,
    requests: Requests,
    incoming: Fixed,
    outgoing: Fixed,
    /// What `incoming` and `outgoing` are.
    _fds: (OwnedFd, Option<OwnedFd>),
    out: Buffer,
    input: Buffer,
    /// Bytes of a message that leaves with the next read; 0 where there is none.
    unsent: usize,
    /// Bytes of the message that is being written, and how many of them the kernel took.
    writing: usize,
    written: usize,
}

impl End for Submitted {
    type Waits = (Block,);
    fn attach(half: Half, attaching: &Attaching<'_>) -> io::Result<Self> {
        let ring = Ring::open(4, 8)?;
        let (first, second) = half.take_ways()?;
        let (requests, incoming, outgoing) = match &second {
            None => {
                let [socket] = ring.files([&first])?;
                (Requests::OfSockets, socket, socket)
            }
            Some(second) => {
                let [incoming, outgoing] = ring.files([&first, second])?;
                (Requests::OfPipes, incoming, outgoing)
            }
        };
        let [out, input] = [(); 2].map(|()| Buffer::new(attaching.payload()));
        Ok(Self {
            ring,
            requests,
            incoming,
            outgoing,
            _fds: (first, second),
            out,
            input,
            unsent: 0,
            writing: 0,
            written: 0,
        })
    }
}

impl Submitted {
    /// Queues a write of this part of the message, with these flags.
    #[inline(always)]
    fn queue_write(&mut self, part: *const [u8], flags: squeue::Flags) -> io::Result<()> {
        let (fd, at, bytes) = (self.outgoing, part.cast::<u8>(), part.len() as u32);
        let entry = match self.requests {
            Requests::OfSockets => opcode::Send::new(fd, at, bytes)
                .flags(libc::MSG_NOSIGNAL | libc::MSG_WAITALL)
                .build(),
            Requests::OfPipes => opcode::Write::new(fd, at, bytes).build(),
        };
        let entry = entry.flags(flags).user_data(WRITE);
        // SAFETY: the buffer outlives the ring, and is not written before the answer has come.
        unsafe { self.ring.push(&entry) }
    }

    /// Queues a read into this part of a message.
    #[inline(always)]
    fn queue_read(&mut self, part: *mut [u8]) -> io::Result<()> {
        let (fd, at, bytes) = (self.incoming, part.cast::<u8>(), part.len() as u32);
        let entry = match self.requests {
            Requests::OfSockets => {
                opcode::Recv::new(fd, at, bytes).flags(libc::MSG_WAITALL).build()
            }
            Requests::OfPipes => opcode::Read::new(fd, at, bytes).build(),
        };
        let entry = entry.user_data(READ);
        // SAFETY: the buffer outlives the ring, and is lent only when the read is completed.
        unsafe { self.ring.push(&entry) }
    }

    /// Queues a read of all but the first `done` bytes of a message.
    #[cold]
    #[inline(never)]
    fn queue_rest(&mut self, done: usize) -> io::Result<()> {
        let rest = &raw mut self.input[done..];
        self.queue_read(rest)
    }

    /// Queues the message that has been put off, if there is one; says how many entries
    /// that were.
    #[inline(always)]
    fn queue_unsent(&mut self, flags: squeue::Flags) -> io::Result<usize> {
        if self.unsent == 0 {
            return Ok(0);
        }
        (self.writing, self.written) = (std::mem::take(&mut self.unsent), 0);
        let message = &raw const *self.out;
        self.queue_write(message, flags).map(|()| 1)
    }

    /// A write failed, or the kernel took a part, or the last part: queues the rest, and says
    /// how many entries that were.
    #[cold]
    #[inline(never)]
    fn wrote(&mut self, completion: &cqueue::Entry) -> io::Result<usize> {
        self.written += uring::moved(completion)?;
        if self.written >= self.writing {
            return Ok(0);
        }
        let rest = &raw const self.out[self.written..];
        self.queue_write(rest, squeue::Flags::empty()).map(|()| 1)
    }
}

impl Channel for Submitted {
    #[inline(always)]
    fn slot<W: Wait>(&mut self, _: usize) -> io::Result<&mut [u8]> {
        Ok(&mut self.out)
    }
    #[inline(always)]
    fn send<W: Wait>(&mut self, len: usize) -> io::Result<()> {
        self.unsent = len;
        Ok(())
    }
    #[inline(always)]
    fn recv<W: Wait>(&mut self) -> io::Result<&[u8]> {
        let mut queued = self.queue_unsent(squeue::Flags::SKIP_SUCCESS)? + 1;
        let message = &raw mut *self.input;
        self.queue_read(message)?;
        let mut done = 0;
        while done < self.input.len() {
            queued -= self.ring.enter(queued, 1)?;
            while let Some(completion) = self.ring.completed() {
                if completion.user_data() == WRITE {
                    queued += self.wrote(&completion)?;
                    continue;
                }
                match uring::moved(&completion)? {
                    0 => return Err(peer_closed()),
                    read => done += read,
                }
                if done < self.input.len() {
                    self.queue_rest(done)?;
                    queued += 1;
                }
            }
        }
        Ok(&self.input)
    }
    fn flush(&mut self) -> io::Result<()> {
        let mut queued = self.queue_unsent(squeue::Flags::empty())?;
        if queued == 0 {
            return Ok(());
        }
        while self.written < self.writing {
            queued -= self.ring.enter(queued, 1)?;
            while let Some(completion) = self.ring.completed() {
                queued += self.wrote(&completion)?;
            }
        }
        Ok(())
    }
}
