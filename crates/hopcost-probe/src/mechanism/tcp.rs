//! `tcp`: one TCP connection over the loopback interface.
//!
//! A write copies into a socket buffer and runs, in the sender's own context, the
//! whole way down through IP to the loopback device and up again to the receiving
//! socket; the reader copies out. A blocking round trip is write, read, read,
//! write; acknowledgements ride on the replies.

use std::io;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::os::fd::OwnedFd;

use hopcost_model::case::{Boundary, Workload};
use hopcost_model::mechanism::{Facts, Parameter, Payload, Shape};

use crate::namespace::{self, Pair};
use crate::registry::Row;
use crate::shape::{Attaching, Channel, Half, Link, Opening};
use crate::sys;
use crate::transport::{FD_WAITS, Stream, halves};
use crate::wait::Wait;

/// The row.
pub static ROW: Row = Row::channel::<Tcp>(Facts {
    name: "tcp",
    family: "inet socket",
    about: "a TCP connection over loopback (127.0.0.1)",
    shape: Shape::Channel,
    workloads: &[Workload::Roundtrip, Workload::Wake],
    boundaries: &[Boundary::Process, Boundary::Thread, Boundary::Namespace],
    waits: FD_WAITS,
    call_system_calls: None,
    payload: Payload::Bytes { min: 1, max: 1 << 20, default: 64 },
    parameters: &[Parameter {
        name: "nodelay",
        values: &["on", "off"],
        default: "on",
        about: "TCP_NODELAY at both ends; off leaves Nagle's algorithm on, which in a strict \
                round trip has nothing to wait for unless a message is longer than a segment",
    }],
    crosses: "the message's bytes, as segments through the loopback device",
    copies: "the kernel, twice a message: from the sender into a socket buffer, from there to the receiver; no checksum is computed on loopback",
    wakes: "the kernel: the softirq that the write raises delivers the segment and wakes the sleeping reader",
    between_stamps: "write (with the whole way through the network stack), sleep in read, be woken, read returns; on the other side read returns, write, read; the handshake is over before",
    limits: "1 byte to 1 MiB; a message longer than the send buffer is written and read in parts; firewall rules are part of the number; boundary=namespace puts the ends into two network namespaces joined by a veth pair, which needs CAP_SYS_ADMIN",
    sources: &["tcp(7)", "ip(7)", "read(2)", "write(2)", "veth(4)", "network_namespaces(7)"],
    hidden: false,
    available: loopback_available,
});

/// Whether sockets can be bound to 127.0.0.1, or why not.
pub(super) fn loopback_available() -> Result<(), String> {
    crate::registry::always_available()?;
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
        .map(drop)
        .map_err(|e| format!("no socket can be bound to 127.0.0.1: {e}"))
}

/// Two ends of one connection, both with this TCP_NODELAY: caller, callee.
pub(super) fn connected(nodelay: bool) -> io::Result<[TcpStream; 2]> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
        .map_err(|e| sys::context(e, "listening on 127.0.0.1"))?;
    let caller = TcpStream::connect(listener.local_addr()?)
        .map_err(|e| sys::context(e, "connecting to 127.0.0.1"))?;
    // Any process of this machine could have connected first.
    let callee = loop {
        let (stream, from) = listener.accept()?;
        if from == caller.local_addr()? {
            break stream;
        }
    };
    with_nodelay([caller, callee], nodelay)
}

/// The same between two network namespaces.
fn connected_across_namespaces(nodelay: bool) -> io::Result<[TcpStream; 2]> {
    let Pair { caller, callee } = namespace::tcp_pair()?;
    with_nodelay([caller, callee], nodelay)
}

fn with_nodelay(ends: [TcpStream; 2], nodelay: bool) -> io::Result<[TcpStream; 2]> {
    for end in &ends {
        end.set_nodelay(nodelay)?;
        if end.nodelay()? != nodelay {
            return Err(sys::failure("the kernel did not take the setting of TCP_NODELAY"));
        }
    }
    Ok(ends)
}

/// A connection across the case's boundary, with the case's TCP_NODELAY at both
/// ends, or with `nodelay` where it does not say.
pub(crate) fn open(opening: &Opening<'_>, nodelay: bool) -> io::Result<Link> {
    let nodelay = match opening.case.parameters.get("nodelay").map(String::as_str) {
        None => nodelay,
        Some("on") => true,
        Some("off") => false,
        Some(other) => {
            return Err(sys::failure(format!("nodelay is `on` or `off`, not `{other}`")));
        }
    };
    let ends = match opening.case.boundary {
        Boundary::Namespace => connected_across_namespaces(nodelay)?,
        Boundary::Inline | Boundary::Thread | Boundary::Process => connected(nodelay)?,
    };
    Ok(halves(ends.map(OwnedFd::from)))
}

/// One end.
pub struct Tcp(Stream);

impl Channel for Tcp {
    fn open(opening: &Opening<'_>) -> io::Result<Link> {
        open(opening, true)
    }
    fn attach(half: Half, attaching: &Attaching<'_>) -> io::Result<Self> {
        Stream::over_socket(half, attaching).map(Tcp)
    }
    #[inline(always)]
    fn slot<W: Wait>(&mut self, len: usize) -> io::Result<&mut [u8]> {
        Ok(self.0.slot(len))
    }
    #[inline(always)]
    fn send<W: Wait>(&mut self, len: usize) -> io::Result<()> {
        self.0.send(len)
    }
    #[inline(always)]
    fn recv<W: Wait>(&mut self) -> io::Result<&[u8]> {
        self.0.recv::<W>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodelay_is_what_was_asked_for_at_both_ends() {
        for nodelay in [true, false] {
            for end in connected(nodelay).unwrap() {
                assert_eq!(end.nodelay().unwrap(), nodelay);
            }
        }
    }
}
