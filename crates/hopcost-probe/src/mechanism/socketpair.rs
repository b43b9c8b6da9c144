//! `socketpair`: one pair of connected Unix stream sockets.
//!
//! The writer copies into a socket buffer that is queued at the receiving
//! socket; the reader copies out of it. No name, no handshake: socketpair(2)
//! gives both ends at once. A blocking round trip is write, read, read, write.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;

use hopcost_model::mechanism::{Facts, Payload, Senders};

use crate::registry::{CHANNEL, Row};
use crate::shape::{Attaching, Half, Link, Opening, PeerExit, TwoEnds};
use crate::transport::stream::Stream;
use crate::transport::waits::UNIX_STREAM_WAITS;
use crate::wait::Every;

pub static ROW: Row = Row::channel::<SocketPair>(Facts {
    name: "socketpair",
    family: "unix socket",
    waits: UNIX_STREAM_WAITS,
    payload: Payload::Bytes { min: 1, max: 1 << 20, default: 64 },
    senders: Senders::One("of a stream, a write may be mixed with that of another"),
    revision: 3,
    ..CHANNEL
});

/// How its ends meet.
pub(super) struct SocketPair;

impl TwoEnds for SocketPair {
    type End = Stream;
    type Waits = Every;
    const PEER_EXIT: PeerExit = PeerExit::Noticed;
    fn open(_: &Opening<'_>) -> io::Result<Link> {
        let (caller, callee) = UnixStream::pair()?;
        Ok(Link::of_pair([OwnedFd::from(caller), OwnedFd::from(callee)]))
    }
    fn attach(half: Half, attaching: &Attaching<'_>) -> io::Result<Stream> {
        Stream::over_socket(half, attaching)
    }
}
