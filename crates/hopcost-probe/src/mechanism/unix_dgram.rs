//! `unix-dgram`: two Unix datagram sockets, each bound to a path and connected to
//! the other.
//!
//! One send is one datagram, received whole by one recv. Unlike UDP nothing is
//! lost or reordered: a full receive queue makes the sender wait. The paths are
//! removed as soon as the two are connected; a connection refers to the socket
//! and not to its path.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixDatagram;
use std::path::Path;

use hopcost_model::mechanism::{Facts, Payload, Senders};

use crate::registry::{CHANNEL, Row};
use crate::shape::{Attaching, Delivery, Half, Link, Opening, PeerExit, TwoEnds};
use crate::sys;
use crate::transport::packets::Packets;
use crate::transport::waits::FD_WAITS;
use crate::wait::Every;

pub static ROW: Row = Row::channel::<UnixDgram>(Facts {
    name: "unix-dgram",
    family: "unix socket",
    waits: FD_WAITS,
    payload: Payload::Bytes { min: 0, max: 1 << 17, default: 64 },
    senders: Senders::Several {
        share: "one sending socket, which is duplicated",
        whole_bytes: 1 << 17,
    },
    revision: 3,
    ..CHANNEL
});

/// Two sockets bound to these paths and connected to each other.
fn connected(a: &Path, b: &Path) -> io::Result<[OwnedFd; 2]> {
    let caller = UnixDatagram::bind(a)?;
    let callee = UnixDatagram::bind(b)?;
    caller.connect(b)?;
    callee.connect(a)?;
    Ok([OwnedFd::from(caller), OwnedFd::from(callee)])
}

/// How its ends meet.
struct UnixDgram;

impl TwoEnds for UnixDgram {
    type End = Packets;
    type Waits = Every;
    const PEER_EXIT: PeerExit = PeerExit::NoticedBySender;
    fn open(opening: &Opening<'_>) -> io::Result<Link> {
        let (a, b) = (opening.fresh_path("dgram"), opening.fresh_path("dgram"));
        let pair = connected(&a, &b);
        for path in [&a, &b] {
            let _ = std::fs::remove_file(path);
        }
        pair.map(Link::of_pair)
            .map_err(|e| sys::context(e, &format!("connecting sockets at {}", a.display())))
    }
    fn attach(half: Half, attaching: &Attaching<'_>) -> io::Result<Packets> {
        Packets::over_socket(half, attaching, Delivery::Reliable)
    }
}
