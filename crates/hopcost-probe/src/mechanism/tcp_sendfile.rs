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

use hopcost_model::mechanism::{Facts, PerOperation};

use crate::memory::{Place, Shared};
use crate::registry::Row;
use crate::shape::Attaching;
use crate::stream::facts::{TCP, block};
use crate::stream::fields::{self, Turns};
use crate::stream::sockets::{Outlet, OverSocket, moved};
use crate::sys;

/// The row.
pub static ROW: Row = Row::stream::<TcpSendfile>(Facts {
    name: "tcp-sendfile",
    about: "TCP, sendfile() out of a memfd",
    waits: &[block(
        PerOperation::Between(
            4.0,
            6.0,
            "one sendfile, the receives, and one call at either end for the acknowledgement; the \
             receiver may find a part of the message and look again for the rest",
        ),
        6.2,
    )],
    crosses: "references to the file's pages, as far as the receiving socket",
    copies: "the kernel, once a message: at the receiver, out of the file's pages",
    wakes: "the kernel: the softirq that sendfile raises delivers the segments and wakes the sleeping receiver",
    between_stamps: "one sendfile; the receiver's receives until the message is whole, its looking at every byte, its send of 8 bytes; recv of these; filling the fields is before",
    limits: "8 bytes to 16 MiB in 1 to 1024 fields, which are one after the other in the file and not allocations of their own; acknowledged (a window may take 256 MiB); between network namespaces each flow has a veth pair of its own",
    sources: &["sendfile(2)", "memfd_create(2)", "tcp(7)"],
    keeps_buffers: true,
    ..TCP
});

/// Distance of two messages in the file: whole pages.
fn stride(payload: usize) -> usize {
    payload.next_multiple_of(4096)
}

/// One end.
pub type TcpSendfile = OverSocket<InFile>;

/// Messages in a file.
pub struct InFile {
    file: OwnedFd,
    memory: Place<[u8]>,
    payload: usize,
    field_bytes: usize,
    turns: Turns,
}

impl Outlet for InFile {
    fn new(_: &OwnedFd, attaching: &Attaching<'_>) -> io::Result<Self> {
        let turns = Turns::new(attaching)?;
        let payload = attaching.payload();
        let bytes = turns.sets() * stride(payload);
        let file = Shared::create(bytes)?;
        let memory = Place::bytes(&Shared::map(&file, bytes)?, 0, bytes);
        let field_bytes = payload / fields::count(attaching);
        Ok(Self { file, memory, payload, field_bytes, turns })
    }
    #[inline(always)]
    fn claim(&mut self, _: &OwnedFd) -> io::Result<()> {
        self.turns.claim()
    }
    #[inline(always)]
    fn field(&mut self, at: usize) -> &mut [u8] {
        let offset = self.turns.current() * stride(self.payload) + at * self.field_bytes;
        // SAFETY: nobody else maps the file, and nobody reads these bytes until the message
        // is sent.
        let memory = unsafe { &mut *self.memory.as_ptr() };
        &mut memory[offset..offset + self.field_bytes]
    }
    #[inline(always)]
    fn send(&mut self, socket: &OwnedFd) -> io::Result<()> {
        let start = self.turns.current() * stride(self.payload);
        let mut offset = start as libc::off_t;
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
