//! `tcp-zerocopy`: a message over TCP with one `sendmsg` and MSG_ZEROCOPY.
//!
//! The kernel pins the pages of the fields and sends from them, and says in the
//! socket's error queue when it is done with them. Until then the fields may not
//! be written, so the sender has sixteen sets of them and takes them in turn. It
//! reads the error queue when the next set is still under way, and at the end of
//! a phase. Each completion also says whether the kernel copied after all; these
//! are counted. Over loopback it always does, because a receiver in the same
//! machine might keep the pages for as long as it likes.

use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

use hopcost_model::ZeroCopySends;
use rustix::net::{AddressFamily, SocketType};

use crate::shape::Attaching;
use crate::stream::fields::{Fields, InTurn};
use crate::stream::sockets::{Outlet, all_of, send_vectors};
use crate::sys::{self, ensure, get_option, set_option};
use crate::transport::{peer_closed, tcp};

/// SO_ZEROCOPY (asm-generic/socket.h).
const SO_ZEROCOPY: i32 = 60;

/// Whether a socket takes SO_ZEROCOPY here, or why not.
pub fn available() -> Result<(), String> {
    tcp::loopback_available()?;
    let socket = rustix::net::socket(AddressFamily::INET, SocketType::STREAM, None)
        .map_err(|error| error.to_string())?;
    set_option(&socket, libc::SOL_SOCKET, SO_ZEROCOPY, 1, "SO_ZEROCOPY")
        .map_err(|error| error.to_string())
}

/// Sends from pages that are pinned meanwhile, by the numbers that the kernel gives them, from 0 on and
/// wrapping around at 2^32 (Documentation/networking/msg_zerocopy.rst).
pub struct Pinned {
    /// Number of the first send in `under_way`.
    oldest: u32,
    /// The set that each send is of; `None` once it is completed.
    under_way: VecDeque<Option<usize>>,
    /// Sends under way of each set.
    pending: Vec<u32>,
    seen: ZeroCopySends,
}

impl Outlet for Pinned {
    fn new(socket: &OwnedFd, attaching: &Attaching<'_>) -> io::Result<(Self, InTurn<Fields>)> {
        set_option(socket, libc::SOL_SOCKET, SO_ZEROCOPY, 1, "SO_ZEROCOPY")?;
        let sets = sets(attaching);
        Ok((Self::of(sets), Fields::sets(sets, attaching)))
    }
    #[inline(always)]
    fn claim(&mut self, socket: &OwnedFd, set: usize) -> io::Result<()> {
        while self.holds(set) {
            await_completion(socket, self)?;
        }
        Ok(())
    }
    #[inline(always)]
    fn send(&mut self, socket: &OwnedFd, set: usize, fields: &Fields) -> io::Result<()> {
        all_of(fields.vectors(), fields.bytes(), |rest| {
            let sent = loop {
                match send_vectors(socket, rest, libc::MSG_ZEROCOPY) {
                    Err(error) if error.raw_os_error() == Some(libc::ENOBUFS) => {
                        make_room(socket, self)?;
                    }
                    sent => break sent?,
                }
            };
            if sent > 0 {
                // The kernel numbers the calls that sent anything.
                self.began(set);
            }
            Ok(sent)
        })
    }
    fn settle(&mut self, socket: &OwnedFd) -> io::Result<Option<ZeroCopySends>> {
        while !self.under_way.is_empty() {
            await_completion(socket, self)?;
        }
        // What was completed since this was last asked.
        Ok(Some(std::mem::take(&mut self.seen)))
    }
}

/// The kernel has no memory for one more completion: one of those under way has
/// to be read first.
#[cold]
fn make_room(socket: &OwnedFd, sends: &mut Pinned) -> io::Result<()> {
    ensure!(
        !sends.under_way.is_empty(),
        "the kernel has no room for a send without a copy: raise RLIMIT_MEMLOCK (ulimit -l) or \
         net.core.optmem_max"
    );
    await_completion(socket, sends)
}

/// Sets of fields that a sender without copies takes in turn.
const SETS: usize = 16;

/// Memory that they may take together; long messages have fewer of them.
const BYTES_MAX: usize = 64 << 20;

/// How many sets a flow of these messages has: 16, or as many as 64 MiB hold,
/// and at least 2.
pub fn sets(attaching: &Attaching<'_>) -> usize {
    SETS.min(BYTES_MAX / attaching.payload().max(1)).max(2)
}

impl Pinned {
    /// Nothing under way.
    fn of(sets: usize) -> Self {
        Self {
            oldest: 0,
            under_way: VecDeque::with_capacity(4 * sets),
            pending: vec![0; sets],
            seen: ZeroCopySends::default(),
        }
    }
    /// A send of this set has begun.
    #[inline(always)]
    fn began(&mut self, set: usize) {
        self.under_way.push_back(Some(set));
        if let Some(sends) = self.pending.get_mut(set) {
            *sends += 1;
        }
    }
    /// What the error queue says of them: an inclusive range of numbers, which may wrap around, is
    /// completed.
    fn completed(&mut self, said: &libc::sock_extended_err) -> io::Result<()> {
        let (origin, error) = (said.ee_origin, said.ee_errno);
        let is_completion = origin == ORIGIN_ZEROCOPY && error == 0;
        ensure!(is_completion, "the error queue holds error {error} of origin {origin}");
        let (first, last, copied) = (said.ee_info, said.ee_data, said.ee_code & CODE_COPIED != 0);
        let count = u64::from(last.wrapping_sub(first)) + 1;
        let at = first.wrapping_sub(self.oldest) as usize;
        if at as u64 + count > self.under_way.len() as u64 {
            return Err(unknown(first, last));
        }
        for send in self.under_way.range_mut(at..at + count as usize) {
            let set = send.take().ok_or_else(|| unknown(first, last))?;
            self.pending[set] -= 1;
            self.seen.completed += 1;
            self.seen.copied += u64::from(copied);
        }
        while let Some(None) = self.under_way.front() {
            self.under_way.pop_front();
            self.oldest = self.oldest.wrapping_add(1);
        }
        Ok(())
    }
    /// Whether any send of this set is under way.
    #[inline(always)]
    fn holds(&self, set: usize) -> bool {
        self.pending.get(set).is_some_and(|sends| *sends > 0)
    }
}

#[cold]
fn unknown(first: u32, last: u32) -> io::Error {
    sys::failure(format!("the kernel completed sends {first} to {last}, which were not under way"))
}

/// Values of `ee_origin` and `ee_code` (linux/errqueue.h).
const ORIGIN_ZEROCOPY: u8 = 5;
const CODE_COPIED: u8 = 1;

/// The control message that comes with a completion, and more room than it takes.
#[repr(C, align(8))]
struct Control {
    header: libc::cmsghdr,
    error: libc::sock_extended_err,
    rest: [u8; 128],
}

/// The next completion; `None` if there is none yet. Never waits.
fn next_completion(socket: &OwnedFd) -> io::Result<Option<libc::sock_extended_err>> {
    // SAFETY: all-zero is valid for each, and an empty message; the control message is valid for
    // its length.
    let (result, control) = unsafe {
        let mut control: Control = std::mem::zeroed();
        let mut message: libc::msghdr = std::mem::zeroed();
        message.msg_control = (&raw mut control).cast();
        message.msg_controllen = size_of::<Control>() as _;
        (libc::recvmsg(socket.as_raw_fd(), &mut message, libc::MSG_ERRQUEUE), control)
    };
    if let Err(error) = sys::check(result) {
        return match error.raw_os_error() {
            Some(libc::EAGAIN | libc::EINTR) => Ok(None),
            _ => Err(sys::context(error, "reading the error queue")),
        };
    }
    match (control.header.cmsg_level, control.header.cmsg_type) {
        (libc::SOL_IP, libc::IP_RECVERR) | (libc::SOL_IPV6, libc::IPV6_RECVERR) => {
            Ok(Some(control.error))
        }
        _ => Err(sys::failure("a message in the error queue that says nothing")),
    }
}

/// Looks in vain after which a socket that says it has news is given up.
const LOOKS_MAX: u32 = 1000;

/// Waits for a completion and notes it.
fn await_completion(socket: &OwnedFd, sends: &mut Pinned) -> io::Result<()> {
    let mut is_closed = false;
    for _ in 0..LOOKS_MAX {
        if let Some(completion) = next_completion(socket)? {
            return sends.completed(&completion);
        }
        if is_closed {
            return Err(peer_closed());
        }
        // Nothing is asked for: POLLERR and POLLHUP come unasked.
        is_closed = sys::poll_one(socket, 0)? & libc::POLLHUP != 0
            || get_option(socket, libc::SOL_SOCKET, libc::SO_ERROR)? != 0;
    }
    Err(sys::failure("the error queue announces completions and has none"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(first: u32, last: u32, copied: bool) -> libc::sock_extended_err {
        libc::sock_extended_err {
            ee_errno: 0,
            ee_origin: ORIGIN_ZEROCOPY,
            ee_type: 0,
            ee_code: u8::from(copied),
            ee_pad: 0,
            ee_info: first,
            ee_data: last,
        }
    }

    #[test]
    fn ranges_complete_out_of_order_and_across_the_end_of_the_numbers() {
        let mut sends = Pinned::of(3);
        sends.oldest = u32::MAX - 1;
        for set in [0, 0, 1, 2] {
            sends.began(set);
        }
        // The second, third and fourth are numbers 2^32 - 1, 0 and 1.
        sends.completed(&of(u32::MAX, 0, true)).unwrap();
        assert!(sends.holds(0) && !sends.holds(1) && sends.holds(2));
        sends.completed(&of(1, 1, false)).unwrap();
        assert!(!sends.holds(2) && !sends.under_way.is_empty());
        sends.completed(&of(u32::MAX - 1, u32::MAX - 1, true)).unwrap();
        assert!(sends.under_way.is_empty() && !sends.holds(0));
        assert_eq!(sends.seen, ZeroCopySends { completed: 4, copied: 3 });
        assert_eq!(sends.oldest, 2);
    }

    #[test]
    fn what_was_not_under_way_cannot_be_completed() {
        let mut sends = Pinned::of(2);
        sends.began(0);
        sends.began(1);
        for (first, last) in [(0, 2), (2, 2), (1, 0), (u32::MAX, 0)] {
            assert!(sends.completed(&of(first, last, false)).is_err(), "{first} to {last}");
        }
        sends.completed(&of(1, 1, false)).unwrap();
        assert!(sends.completed(&of(1, 1, false)).is_err());
        assert!(sends.holds(0));
    }
}
