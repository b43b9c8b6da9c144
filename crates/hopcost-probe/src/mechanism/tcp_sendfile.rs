//! `tcp-sendfile`: a message over TCP whose fields lie in a file in memory, from
//! which the kernel sends it with one `sendfile`.
//!
//! The sender writes its fields into a mapping of the file (memfd_create), one
//! after the other. The socket buffers hold references to the file's pages:
//! nothing is copied until the receiver's recv, which copies straight out of
//! them. Nothing tells the sender when that is but the receiver's acknowledgement,
//! so there is a place in the file for each message of the window, and it cannot
//! do without acknowledgements.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

use crate::memory::{Place, Shared};
use crate::shape::Attaching;
use crate::stream::fields::{self, Turns, unacknowledged};
use crate::stream::sockets::{Outlet, moved};
use crate::sys;

/// Distance of two messages in the file: whole pages.
fn stride(payload: usize) -> usize {
    payload.next_multiple_of(4096)
}

/// A message in the file: where it begins, and its fields.
struct Message {
    offset: usize,
    fields: Vec<Place<[u8]>>,
}

/// Messages in a file.
pub struct InFile {
    file: OwnedFd,
    payload: usize,
    turns: Turns<Message>,
}

impl Outlet for InFile {
    fn new(_: &OwnedFd, attaching: &Attaching<'_>) -> io::Result<Self> {
        let (payload, count) = (attaching.payload(), fields::count(attaching));
        let bytes = unacknowledged(attaching)? * stride(payload);
        let file = Shared::create(bytes)?;
        let memory = Shared::map(&file, bytes)?;
        let turns = Turns::new(attaching, |number| {
            let (offset, field_bytes) = (number * stride(payload), payload / count);
            let field = |at| Place::bytes(&memory, offset + at * field_bytes, field_bytes);
            Message { offset, fields: (0..count).map(field).collect() }
        })?;
        Ok(Self { file, payload, turns })
    }
    #[inline(always)]
    fn claim(&mut self, _: &OwnedFd) -> io::Result<()> {
        self.turns.claim()
    }
    #[inline(always)]
    fn fields(&mut self, mut write: impl FnMut(&mut [u8])) {
        for field in &self.turns.current().fields {
            // SAFETY: nobody else maps the file, and nobody reads these bytes until the message
            // is sent.
            write(unsafe { &mut *field.as_ptr() });
        }
    }
    #[inline(always)]
    fn send(&mut self, socket: &OwnedFd) -> io::Result<()> {
        let mut offset = self.turns.current().offset as libc::off_t;
        let mut left = self.payload;
        while left > 0 {
            // SAFETY: the offset is valid for writing.
            let sent = moved(unsafe {
                libc::sendfile(socket.as_raw_fd(), self.file.as_raw_fd(), &raw mut offset, left)
            })?;
            left = left.checked_sub(sent).ok_or_else(|| sys::failure("sendfile sent too much"))?;
        }
        self.turns.pass();
        Ok(())
    }
    #[inline(always)]
    fn acknowledged(&mut self) {
        self.turns.release();
    }
}
