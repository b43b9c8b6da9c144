//! `tcp-zerocopy`: a message over TCP with one `sendmsg` and MSG_ZEROCOPY.
//!
//! The kernel pins the pages of the fields and sends from them, and says in the
//! socket's error queue when it is done with them. Until then the fields may not
//! be written, so the sender has sixteen sets of them and takes them in turn. It
//! reads the error queue when the next set is still under way, and at the end of
//! a phase. Each completion also says whether the kernel copied after all; these
//! are counted. Over loopback it always does, because a receiver in the same
//! machine might keep the pages for as long as it likes.

use std::io;
use std::os::fd::OwnedFd;

use hopcost_model::protocol::ZeroCopySends;

use crate::shape::Attaching;
use crate::stream::error_queue;
use crate::stream::fields::{Fields, InTurn};
use crate::stream::outstanding::{self, Outstanding};
use crate::stream::sockets::{Outlet, all_of, moved, send_vectors};
use crate::sys::{self, set_option};
use crate::transport::tcp;

/// SO_ZEROCOPY (asm-generic/socket.h).
const SO_ZEROCOPY: i32 = 60;

/// Whether a socket takes SO_ZEROCOPY here, or why not.
pub fn available() -> Result<(), String> {
    tcp::loopback_available()?;
    let [socket, _] = tcp::connected(false).map_err(|error| error.to_string())?;
    set_option(&socket, libc::SOL_SOCKET, SO_ZEROCOPY, 1, "SO_ZEROCOPY")
        .map_err(|error| error.to_string())
}

/// Sets of fields whose pages are pinned while they are sent.
pub struct Pinned {
    sets: InTurn<Fields>,
    sends: Outstanding,
}

impl Pinned {
    fn wait_for_completion(&mut self, socket: &OwnedFd) -> io::Result<()> {
        let completion = error_queue::wait(socket)?;
        self.sends.completed(completion.first, completion.last, completion.copied)
    }
}

impl Outlet for Pinned {
    fn new(socket: &OwnedFd, attaching: &Attaching<'_>) -> io::Result<Self> {
        set_option(socket, libc::SOL_SOCKET, SO_ZEROCOPY, 1, "SO_ZEROCOPY")?;
        let sets = outstanding::sets(attaching);
        Ok(Self {
            sets: InTurn::new(sets, |_| Fields::new(attaching)),
            sends: Outstanding::new(sets),
        })
    }
    #[inline(always)]
    fn claim(&mut self, socket: &OwnedFd) -> io::Result<()> {
        while self.sends.holds(self.sets.number()) {
            self.wait_for_completion(socket)?;
        }
        Ok(())
    }
    #[inline(always)]
    fn fields(&mut self, write: impl FnMut(&mut [u8])) {
        self.sets.current_mut().each(write);
    }
    #[inline(always)]
    fn send(&mut self, socket: &OwnedFd) -> io::Result<()> {
        let Self { sets, sends } = self;
        let (vectors, bytes) = (sets.current().vectors(), sets.current().bytes());
        all_of(vectors, bytes, |rest| {
            let sent = loop {
                match moved(send_vectors(socket, rest, libc::MSG_ZEROCOPY)) {
                    Err(error) if error.raw_os_error() == Some(libc::ENOBUFS) => {
                        make_room(socket, sends)?;
                    }
                    sent => break sent?,
                }
            };
            if sent > 0 {
                // The kernel numbers the calls that sent anything.
                sends.began(sets.number());
            }
            Ok(sent)
        })?;
        sets.pass();
        Ok(())
    }
    fn settle(&mut self, socket: &OwnedFd) -> io::Result<Option<ZeroCopySends>> {
        while !self.sends.is_empty() {
            self.wait_for_completion(socket)?;
        }
        Ok(Some(self.sends.take_seen()))
    }
}

/// The kernel has no memory for one more completion: one of those under way has
/// to be read first.
#[cold]
fn make_room(socket: &OwnedFd, sends: &mut Outstanding) -> io::Result<()> {
    if sends.is_empty() {
        return Err(sys::failure(
            "the kernel has no room for a send without a copy: raise RLIMIT_MEMLOCK (ulimit -l) or \
             net.core.optmem_max",
        ));
    }
    let completion = error_queue::wait(socket)?;
    sends.completed(completion.first, completion.last, completion.copied)
}
