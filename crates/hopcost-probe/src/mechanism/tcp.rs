//! `tcp`: one TCP connection over the loopback interface.
//!
//! A write copies into a socket buffer and runs, in the sender's own context, the
//! whole way down through IP to the loopback device and up again to the receiving
//! socket; the reader copies out. A blocking round trip is write, read, read,
//! write; acknowledgements ride on the replies.

use std::io;

use hopcost_model::case::Boundary;
use hopcost_model::mechanism::{Facts, Parameter, Payload, Senders};

use crate::registry::{CHANNEL, Row};
use crate::shape::{Attaching, Half, Link, Opening, PeerExit, TwoEnds};
use crate::transport::stream::Stream;
use crate::transport::tcp;
use crate::transport::waits::FD_WAITS;
use crate::wait::Every;

pub static ROW: Row = Row::channel::<Tcp>(Facts {
    name: "tcp",
    family: "inet socket",
    boundaries: &[Boundary::Process, Boundary::Thread, Boundary::Namespace, Boundary::Host],
    waits: FD_WAITS,
    payload: Payload::Bytes { min: 1, max: 1 << 20, default: 64 },
    parameters: &[Parameter {
        name: "nodelay",
        values: &["on", "off"],
        default: "on",
        about: "TCP_NODELAY at both ends; off leaves Nagle's algorithm on, which in a strict \
                round trip has nothing to wait for unless a message is longer than a segment",
    }],
    senders: Senders::One("a connection has one, and a write may be mixed with that of another"),
    available: tcp::loopback_available,
    address: Some("tcp"),
    revision: 3,
    ..CHANNEL
});

/// How its ends meet.
pub(super) struct Tcp;

impl TwoEnds for Tcp {
    type End = Stream;
    type Waits = Every;
    const PEER_EXIT: PeerExit = PeerExit::Noticed;
    fn open(opening: &Opening<'_>) -> io::Result<Link> {
        tcp::open(opening)
    }
    fn attach(half: Half, attaching: &Attaching<'_>) -> io::Result<Stream> {
        Stream::over_socket(half, attaching)
    }
}
