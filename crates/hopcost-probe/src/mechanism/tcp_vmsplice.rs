//! `tcp-vmsplice`: a message over TCP whose fields are put into a pipe by
//! reference (`vmsplice`) and moved from there into the socket (`splice`).
//!
//! The pipe holds references to the pages of the fields, and so do the socket
//! buffers after it: nothing is copied until the receiver's recv, which copies
//! straight out of the sender's memory. Nothing tells the sender when that is but
//! the receiver's acknowledgement, so it has a set of fields for each message of
//! the window, and cannot do without acknowledgements.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

use super::pipes::pipe;
use crate::shape::Attaching;
use crate::stream::fields::{Fields, Turns};
use crate::stream::sockets::{Outlet, all_of, moved};

/// Bytes of the pipe asked for, in pages: what pipe-max-size allows unless changed.
const PIPE_BYTES: usize = 1 << 20;

/// Sets of fields that are given away by reference.
pub struct Spliced {
    turns: Turns<Fields>,
    pipe_read: OwnedFd,
    pipe_write: OwnedFd,
}

impl Outlet for Spliced {
    fn new(_: &OwnedFd, attaching: &Attaching<'_>) -> io::Result<Self> {
        let turns = Turns::new(attaching, |_| Fields::new(attaching))?;
        let [pipe_read, pipe_write] = pipe()?;
        // Where the system allows only a smaller one, a message takes more turns.
        let _ = rustix::pipe::fcntl_setpipe_size(&pipe_write, PIPE_BYTES);
        Ok(Self { turns, pipe_read, pipe_write })
    }
    #[inline(always)]
    fn claim(&mut self, _: &OwnedFd) -> io::Result<()> {
        self.turns.claim()
    }
    #[inline(always)]
    fn fields(&mut self, write: impl FnMut(&mut [u8])) {
        self.turns.current_mut().each(write);
    }
    #[inline(always)]
    fn send(&mut self, socket: &OwnedFd) -> io::Result<()> {
        let Self { turns, pipe_read, pipe_write } = self;
        let set = turns.current();
        let mut left = set.bytes();
        all_of(set.vectors(), set.bytes(), |rest| {
            // Never waits: the pipe is empty, and what it has no room for comes after.
            // SAFETY: the vectors name the fields, which are not written before the
            // message is acknowledged.
            let in_pipe = moved(unsafe {
                libc::vmsplice(
                    pipe_write.as_raw_fd(),
                    rest.as_ptr(),
                    rest.len(),
                    libc::SPLICE_F_NONBLOCK,
                )
            })?;
            left -= in_pipe;
            let more = if left > 0 { libc::SPLICE_F_MORE } else { 0 };
            empty(pipe_read, socket, in_pipe, more)?;
            Ok(in_pipe)
        })?;
        turns.pass();
        Ok(())
    }
    #[inline(always)]
    fn acknowledged(&mut self) {
        self.turns.release();
    }
}

/// Moves what the pipe holds into the socket.
#[inline(always)]
fn empty(pipe: &OwnedFd, socket: &OwnedFd, mut bytes: usize, flags: u32) -> io::Result<()> {
    while bytes > 0 {
        // SAFETY: descriptors that we hold; no offsets.
        bytes -= moved(unsafe {
            libc::splice(
                pipe.as_raw_fd(),
                std::ptr::null_mut(),
                socket.as_raw_fd(),
                std::ptr::null_mut(),
                bytes,
                flags,
            )
        })?;
    }
    Ok(())
}
