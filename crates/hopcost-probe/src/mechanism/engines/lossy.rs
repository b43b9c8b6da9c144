//! `lossy:N`: UDP whose callee drops every Nth reply that it should send, or with
//! `lossy:N-caller` whose caller drops every Nth request, those that are sent again
//! included. So it is known how many exchanges lose a message, and which.

use std::io;

use hopcost_model::case::{Boundary, Role, WaitKind, Workload};
use hopcost_model::mechanism::{Facts, Loss, Parameter, Payload, Shape};

use super::{FACTS, bad_argument};
use crate::mechanism::udp::Udp;
use crate::registry::Row;
use crate::shape::{Attaching, Channel, Delivery, Half, Link, Opening, PeerExit, TwoEnds};
use crate::transport::packets::Packets;
use crate::transport::waits::FD_WAITS;
use crate::wait::{AtRunTime, Wait};

pub static ROW: Row = Row::channel::<Lossy>(Facts {
    name: "lossy",
    shape: Shape::Channel,
    workloads: &[Workload::Roundtrip],
    boundaries: &[Boundary::Process, Boundary::Thread],
    waits: FD_WAITS,
    call_system_calls: None,
    payload: Payload::Bytes { min: 0, max: 65_507, default: 64 },
    parameters: &[Parameter {
        name: "timeout",
        values: &["200ms", "10ms"],
        default: "200ms",
        about: "as for udp",
    }],
    loss: Loss::Possible,
    ..FACTS
});

struct Lossy {
    packets: Packets,
    wait: WaitKind,
    /// None at the end that loses nothing.
    every: Option<u64>,
    sent: u64,
}

/// Which messages are lost, and of which end.
fn parse(argument: &str) -> Option<(u64, Role)> {
    let (number, role) = match argument.strip_suffix("-caller") {
        Some(number) => (number, Role::Caller),
        None => (argument, Role::Callee),
    };
    number.parse().ok().filter(|&every| every > 0).map(|every| (every, role))
}

impl TwoEnds for Lossy {
    type End = Self;
    type Waits = AtRunTime;
    const PEER_EXIT: PeerExit = PeerExit::NoticedBySender;
    fn open(opening: &Opening<'_>) -> io::Result<Link> {
        Udp::open(opening)
    }
    fn attach(half: Half, attaching: &Attaching<'_>) -> io::Result<Self> {
        let (every, role) = attaching.case.argument().and_then(parse).ok_or_else(|| {
            bad_argument(attaching, "lossy:N or lossy:N-caller with a whole number N from 1 up")
        })?;
        let every = (role == attaching.role).then_some(every);
        let packets = Udp::attach(half, attaching)?;
        Ok(Lossy { packets, wait: attaching.wait(), every, sent: 0 })
    }
}

impl Channel for Lossy {
    fn delivery(&self) -> Delivery {
        Delivery::Lossy
    }
    fn slot<W: Wait>(&mut self, _: usize) -> io::Result<&mut [u8]> {
        Ok(self.packets.message())
    }
    fn send<W: Wait>(&mut self, _: usize) -> io::Result<()> {
        self.sent += 1;
        match self.every {
            Some(every) if self.sent.is_multiple_of(every) => Ok(()),
            _ => self.packets.send_packet(),
        }
    }
    fn recv<W: Wait>(&mut self) -> io::Result<&[u8]> {
        self.packets.receive_packet(self.wait)
    }
}
