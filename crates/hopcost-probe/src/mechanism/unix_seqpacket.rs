//! `unix-seqpacket`: a pair of connected Unix sockets that keep message borders.
//!
//! Like a stream socket it has a connection and an end-of-file, like a datagram
//! socket it delivers each message whole. socketpair(2) gives both ends at once.

use std::io;
use std::os::fd::{FromRawFd, OwnedFd};

use hopcost_model::mechanism::{Facts, Payload, Senders};

use crate::registry::{CHANNEL, Row};
use crate::shape::{Attaching, Delivery, Half, Link, Opening, PeerExit, TwoEnds};
use crate::sys;
use crate::transport::packets::Packets;
use crate::transport::waits::FD_WAITS;
use crate::wait::Every;

pub static ROW: Row = Row::channel::<UnixSeqpacket>(Facts {
    name: "unix-seqpacket",
    family: "unix socket",
    waits: FD_WAITS,
    payload: Payload::Bytes { min: 1, max: 1 << 17, default: 64 },
    senders: Senders::Several {
        share: "one sending socket, which is duplicated",
        whole_bytes: 1 << 17,
    },
    revision: 3,
    ..CHANNEL
});

/// How its ends meet.
struct UnixSeqpacket;

impl TwoEnds for UnixSeqpacket {
    type End = Packets;
    type Waits = Every;
    const PEER_EXIT: PeerExit = PeerExit::Noticed;
    fn open(_: &Opening<'_>) -> io::Result<Link> {
        let mut fds = [0; 2];
        // SAFETY: room for two descriptors, owned from here on.
        let pair = unsafe {
            let kind = libc::SOCK_SEQPACKET | libc::SOCK_CLOEXEC;
            sys::check(libc::socketpair(libc::AF_UNIX, kind, 0, fds.as_mut_ptr()))?;
            fds.map(|fd| OwnedFd::from_raw_fd(fd))
        };
        Ok(Link::of_pair(pair))
    }
    fn attach(half: Half, attaching: &Attaching<'_>) -> io::Result<Packets> {
        Packets::over_socket(half, attaching, Delivery::EmptyAtEnd)
    }
}
