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
    about: "a pair of Unix stream sockets",
    waits: UNIX_STREAM_WAITS,
    payload: Payload::Bytes { min: 1, max: 1 << 20, default: 64 },
    crosses: "the message's bytes, in socket buffers queued at the receiving socket",
    copies: "the kernel, twice a message: from the sender into a socket buffer, from there to the receiver",
    wakes: "the kernel wakes the sleeping reader from within write(2)",
    between_stamps: "write, sleep in read, be woken, read returns; on the other side read returns, write, read",
    limits: "1 byte to 1 MiB; a message longer than the send buffer (net.core.wmem_default) is written and read in parts",
    senders: Senders::One("of a stream, a write may be mixed with that of another"),
    sources: &["socketpair(2)", "unix(7)", "read(2)", "write(2)"],
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
