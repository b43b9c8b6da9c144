//! `udp`: two UDP sockets on the loopback interface, connected to each other.
//!
//! One send is one datagram and one recv takes it whole. Being connected, the
//! sockets skip the route look-up of sendto(2), and each drops what comes from
//! anybody else. Strict round trips have at most one datagram in flight, so
//! nothing can be reordered and the receive buffer cannot overflow. A datagram
//! may still be lost: then the caller's receive times out, the exchange is counted
//! as lost and is no sample, and the caller sends again.

use std::io;
use std::net::{Ipv4Addr, UdpSocket};
use std::os::fd::OwnedFd;
use std::time::Duration;

use hopcost_model::case::{Boundary, Role, Workload};
use hopcost_model::mechanism::{Facts, Loss, Parameter, Payload, Senders};
use hopcost_model::units::parse_duration_ns;

use crate::namespace::{self, Pair};
use crate::registry::{CHANNEL, Row};
use crate::shape::{Attaching, Delivery, Half, Link, Opening, PeerExit, TwoEnds};
use crate::sys;
use crate::transport::packets::Packets;
use crate::transport::tcp::loopback_available;
use crate::transport::waits::FD_WAITS;
use crate::wait::Every;

pub static ROW: Row = Row::channel::<Udp>(Facts {
    name: "udp",
    family: "inet socket",
    boundaries: &[Boundary::Process, Boundary::Thread, Boundary::Namespace, Boundary::Host],
    waits: FD_WAITS,
    payload: Payload::Bytes { min: 0, max: 65_507, default: 64 },
    parameters: &[Parameter {
        name: "timeout",
        values: &["200ms", "1s"],
        default: "200ms",
        about: "how long the caller of a round trip waits for a reply, and at most half as long again, \
                before it counts the exchange as lost and sends again",
    }],
    senders: Senders::Several {
        share: "one sending socket, which is duplicated",
        whole_bytes: 65_507,
    },
    available: loopback_available,
    loss: Loss::Possible,
    address: Some("udp"),
    revision: 3,
    ..CHANNEL
});

fn connected() -> io::Result<[UdpSocket; 2]> {
    let bind = || {
        UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))
            .map_err(|e| sys::context(e, "binding a UDP socket to 127.0.0.1"))
    };
    join([bind()?, bind()?])
}

/// Connects two sockets to each other.
fn join([caller, callee]: [UdpSocket; 2]) -> io::Result<[UdpSocket; 2]> {
    caller.connect(callee.local_addr()?)?;
    callee.connect(caller.local_addr()?)?;
    // Any process of this machine could have sent to them before they were connected.
    for end in [&caller, &callee] {
        end.set_nonblocking(true)?;
        while end.recv(&mut [0]).is_ok() {}
        end.set_nonblocking(false)?;
    }
    Ok([caller, callee])
}

/// How its ends meet.
pub struct Udp;

/// How long the caller of a round trip waits for a message that may be lost.
fn timeout(attaching: &Attaching<'_>) -> io::Result<Option<Duration>> {
    if attaching.role == Role::Callee || attaching.case.workload != Workload::Roundtrip {
        return Ok(None);
    }
    let timeout = match attaching.parameter("timeout") {
        "" => ROW.facts.parameters[0].default,
        given => given,
    };
    let ns = parse_duration_ns(timeout).ok().filter(|&ns| ns > 0);
    let ns = ns.ok_or_else(|| sys::failure(format!("`{timeout}` is no time-out such as 200ms")))?;
    Ok(Some(Duration::from_nanos(ns)))
}

impl TwoEnds for Udp {
    type End = Packets;
    type Waits = Every;
    const PEER_EXIT: PeerExit = PeerExit::NoticedBySender;
    fn open(opening: &Opening<'_>) -> io::Result<Link> {
        let ends = match opening.case.boundary {
            Boundary::Namespace => {
                let Pair { caller, callee } = namespace::udp_pair()?;
                [caller, callee]
            }
            Boundary::Inline | Boundary::Thread | Boundary::Process => connected()?,
            Boundary::Host => {
                return Err(sys::failure("a link between two hosts is opened from both"));
            }
        };
        Ok(Link::of_pair(ends.map(OwnedFd::from)))
    }
    fn attach(half: Half, attaching: &Attaching<'_>) -> io::Result<Packets> {
        let packets = Packets::over_socket(half, attaching, Delivery::Lossy)?;
        match timeout(attaching)? {
            Some(timeout) => packets.giving_up_after(timeout),
            None => Ok(packets),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_strangers_sent_before_the_sockets_were_connected_is_no_message() {
        let bind = || UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let (ends, stranger) = ([bind(), bind()], bind());
        for end in &ends {
            for bytes in [&b""[..], b"xyz", &[0; 3000]] {
                stranger.send_to(bytes, end.local_addr().unwrap()).unwrap();
            }
        }
        let [caller, callee] = join(ends).unwrap();
        for (from, to) in [(&caller, &callee), (&callee, &caller)] {
            from.send(b"message").unwrap();
            let mut got = [0; 16];
            let len = to.recv(&mut got).unwrap();
            assert_eq!(&got[..len], b"message");
        }
    }
}
