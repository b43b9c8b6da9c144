//! `tcp-gather`: a message over TCP whose fields are first copied into one buffer,
//! which is then sent with one `send`.
//!
//! This is what most serialisers do. The copy costs memory bandwidth and saves a
//! system call for each field but one, and with it Nagle's trap (see `tcp-send`):
//! a message that is one segment leaves at once.

use std::io;
use std::os::fd::OwnedFd;

use hopcost_model::mechanism::{Facts, PerOperation};

use crate::memory::Buffer;
use crate::registry::Row;
use crate::shape::Attaching;
use crate::stream::facts::{RECEIVES, TCP, block};
use crate::stream::fields::Fields;
use crate::stream::sockets::{Outlet, OverSocket, send_all};

pub static ROW: Row = Row::stream::<TcpGather>(Facts {
    name: "tcp-gather",
    waits: &[block(PerOperation::Between(4.0, 5.0, RECEIVES), 4.2)],
    ..TCP
});

pub type TcpGather = OverSocket<Gather>;

/// One copy, one send.
pub struct Gather {
    fields: Fields,
    whole: Buffer,
}

impl Outlet for Gather {
    fn new(_: &OwnedFd, attaching: &Attaching<'_>) -> io::Result<Self> {
        Ok(Self { fields: Fields::new(attaching), whole: Buffer::new(attaching.payload()) })
    }
    #[inline(always)]
    fn fields(&mut self, write: impl FnMut(&mut [u8])) {
        self.fields.each(write);
    }
    #[inline(always)]
    fn send(&mut self, socket: &OwnedFd) -> io::Result<()> {
        let mut rest: &mut [u8] = &mut self.whole;
        for field in self.fields.iter() {
            // The buffer is as long as all fields.
            let Some((part, after)) = rest.split_at_mut_checked(field.len()) else { break };
            part.copy_from_slice(field);
            rest = after;
        }
        send_all(socket, &self.whole, 0)
    }
}
