//! `unix-stream`: a Unix stream socket that was connected by path.
//!
//! The caller connects, the callee's end is accepted, and the path is removed
//! before anything is timed. From there on it is the same code in the kernel as
//! `socketpair`: any difference between the two is noise.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::{UnixListener, UnixStream};

use hopcost_model::mechanism::{Facts, Payload, Senders};

use crate::registry::{CHANNEL, Row};
use crate::shape::{Attaching, Half, Link, Opening, PeerExit, TwoEnds};
use crate::sys;
use crate::transport::stream::Stream;
use crate::transport::waits::UNIX_STREAM_WAITS;
use crate::wait::Every;

pub static ROW: Row = Row::channel::<UnixStreamSocket>(Facts {
    name: "unix-stream",
    family: "unix socket",
    waits: UNIX_STREAM_WAITS,
    payload: Payload::Bytes { min: 1, max: 1 << 20, default: 64 },
    senders: Senders::One("of a stream, a write may be mixed with that of another"),
    address: Some("unix-stream"),
    revision: 3,
    ..CHANNEL
});

/// How its ends meet.
struct UnixStreamSocket;

impl TwoEnds for UnixStreamSocket {
    type End = Stream;
    type Waits = Every;
    const PEER_EXIT: PeerExit = PeerExit::Noticed;
    fn open(opening: &Opening<'_>) -> io::Result<Link> {
        let path = opening.fresh_path("stream");
        let listener = UnixListener::bind(&path)
            .map_err(|e| sys::context(e, &format!("binding a socket to {}", path.display())))?;
        // The connection is complete before it is accepted, so one thread can do both.
        let joined =
            UnixStream::connect(&path).and_then(|caller| Ok((caller, listener.accept()?.0)));
        let removed = std::fs::remove_file(&path);
        let (caller, callee) = joined?;
        removed?;
        Ok(Link::of_pair([OwnedFd::from(caller), OwnedFd::from(callee)]))
    }
    fn attach(half: Half, attaching: &Attaching<'_>) -> io::Result<Stream> {
        Stream::over_socket(half, attaching)
    }
}
