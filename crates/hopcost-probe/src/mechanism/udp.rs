//! `udp`: two UDP sockets on the loopback interface, connected to each other.
//!
//! One send is one datagram and one recv takes it whole. Being connected, the
//! sockets skip the route look-up of sendto(2), and each drops what comes from
//! anybody else. Strict round trips have at most one datagram in flight, so
//! nothing can be reordered and the receive buffer cannot overflow.

use std::io;
use std::net::{Ipv4Addr, UdpSocket};
use std::os::fd::OwnedFd;

use hopcost_model::case::{Boundary, Workload};
use hopcost_model::mechanism::{Facts, Payload, Shape};

use super::tcp::loopback_available;
use crate::registry::Row;
use crate::shape::{Attaching, Channel, Half, Link, Opening};
use crate::sys;
use crate::transport::{FD_WAITS, Packets, halves};
use crate::wait::Wait;

/// The row.
pub static ROW: Row = Row::channel::<Udp>(Facts {
    name: "udp",
    family: "inet socket",
    about: "two connected UDP sockets over loopback (127.0.0.1)",
    shape: Shape::Channel,
    workloads: &[Workload::Roundtrip],
    boundaries: &[Boundary::Process, Boundary::Thread],
    waits: FD_WAITS,
    call_system_calls: None,
    payload: Payload::Bytes { min: 0, max: 65_507, default: 64 },
    parameters: &[],
    crosses: "one datagram a message, through the loopback device",
    copies: "the kernel, twice a message: from the sender into a socket buffer, from there to the receiver",
    wakes: "the kernel: the softirq that the send raises delivers the datagram and wakes the sleeping receiver",
    between_stamps: "send (with the whole way through the network stack), sleep in recv, be woken, recv returns; on the other side recv returns, send, recv",
    limits: "0 to 65,507 bytes, the most that one datagram holds; nothing is sent again and there is no time-out, so a lost datagram, like waiting for a dead partner, is ended by the supervisor's deadline (an end that sends to a dead partner gets ECONNREFUSED)",
    sources: &["udp(7)", "ip(7)", "send(2)", "recv(2)"],
    hidden: false,
    available: loopback_available,
});

/// One end.
pub struct Udp(Packets);

impl Channel for Udp {
    fn open(_: &Opening<'_>) -> io::Result<Link> {
        let bind = || {
            UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))
                .map_err(|e| sys::context(e, "binding a UDP socket to 127.0.0.1"))
        };
        let (caller, callee) = (bind()?, bind()?);
        caller.connect(callee.local_addr()?)?;
        callee.connect(caller.local_addr()?)?;
        Ok(halves([OwnedFd::from(caller), OwnedFd::from(callee)]))
    }
    fn attach(half: Half, attaching: &Attaching<'_>) -> io::Result<Self> {
        Packets::over_socket(half, attaching).map(Udp)
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
