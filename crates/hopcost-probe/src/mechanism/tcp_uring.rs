//! `tcp-uring`: a message over TCP with one io_uring submission of
//! IORING_OP_SENDMSG that names all its fields.
//!
//! The sender puts one entry into the submission queue and makes one
//! io_uring_enter, which submits it and waits for its completion. A message at a
//! time is not what io_uring is for: it saves calls where there are many
//! operations to submit. Here it shows what the way through the ring costs beside
//! the plain call of `tcp-sendmsg`. The receiver and the acknowledgements are the
//! same plain calls as everywhere.

use std::io;
use std::os::fd::OwnedFd;

use io_uring::{opcode, types::Fixed};

use crate::shape::Attaching;
use crate::stream::fields::Fields;
use crate::stream::sockets::{Outlet, all_of, message_of};
use crate::transport::tcp;
use crate::uring::{self, Ring};

/// Whether there is such a request here, or why not.
pub fn available() -> Result<(), String> {
    tcp::loopback_available()?;
    uring::available(opcode::SendMsg::CODE, "IORING_OP_SENDMSG")
}

/// One submission a message.
pub struct Submission {
    fields: Fields,
    ring: Ring,
    socket: Fixed,
}

impl Outlet for Submission {
    fn new(socket: &OwnedFd, attaching: &Attaching<'_>) -> io::Result<Self> {
        let ring = Ring::open(2, 2)?;
        let [socket] = ring.files([socket])?;
        Ok(Self { fields: Fields::new(attaching), ring, socket })
    }
    #[inline(always)]
    fn fields(&mut self, write: impl FnMut(&mut [u8])) {
        self.fields.each(write);
    }
    #[inline(always)]
    fn send(&mut self, _: &OwnedFd) -> io::Result<()> {
        let Self { fields, ring, socket } = self;
        all_of(fields.vectors(), fields.bytes(), |rest| {
            let message = message_of(rest);
            // MSG_WAITALL: a part that the socket has no room for is sent by the
            // kernel when there is, and the completion is of the whole.
            let entry = opcode::SendMsg::new(*socket, &raw const message)
                .flags((libc::MSG_NOSIGNAL | libc::MSG_WAITALL) as u32)
                .build();
            // SAFETY: the message and the fields outlive the operation, whose
            // completion is waited for below.
            unsafe { ring.push(&entry) }?;
            let mut submit = 1;
            loop {
                submit -= ring.enter(submit, 1)?;
                if let Some(completion) = ring.completed() {
                    return uring::moved(&completion);
                }
            }
        })
    }
}
