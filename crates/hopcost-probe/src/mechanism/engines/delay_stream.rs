//! `delay-stream:20us`: `tcp-send` of which the receiver computes for that long in user space when it has a
//! message. So it is known where the CPU time of a stream goes.

use std::io;
use std::time::{Duration, Instant};

use hopcost_model::case::{Boundary, Role, Workload};
use hopcost_model::mechanism::{Argument, Facts, Payload, Shape};
use hopcost_model::units::parse_duration_ns;

use super::{FACTS, bad_argument};
use crate::mechanism::tcp_send::TcpSend;
use crate::registry::Row;
use crate::shape::{Attaching, Half, Link, Opening, PeerExit, Stream, TwoEnds};
use crate::wait::AtRunTime;

/// The row.
pub static ROW: Row = Row::stream::<DelayStream>(Facts {
    name: "delay-stream",
    about: "delay-stream:TIME: tcp-send whose receiver computes for TIME",
    shape: Shape::Channel,
    workloads: &[Workload::Stream],
    boundaries: &[Boundary::Process],
    call_system_calls: None,
    payload: Payload::Bytes { min: 8, max: 32768, default: 32768 },
    parameters: &[],
    argument: Some(Argument {
        form: "delay-stream:20us",
        fits: |argument| argument.is_some_and(|time| parse_duration_ns(time).is_ok()),
    }),
    between_stamps: "as for tcp-send, and TIME",
    ..FACTS
});

struct DelayStream {
    inner: TcpSend,
    /// Zero at the sender.
    received: Duration,
}

impl TwoEnds for DelayStream {
    type End = Self;
    type Waits = AtRunTime;
    const PEER_EXIT: PeerExit = PeerExit::Noticed;
    fn open(opening: &Opening<'_>) -> io::Result<Link> {
        TcpSend::open(opening)
    }
    fn attach(half: Half, attaching: &Attaching<'_>) -> io::Result<Self> {
        let time = attaching.case.argument().and_then(|time| parse_duration_ns(time).ok());
        let ns = time.ok_or_else(|| bad_argument(attaching, "delay-stream:TIME"))?;
        let received = Duration::from_nanos(if attaching.role == Role::Callee { ns } else { 0 });
        Ok(Self { inner: TcpSend::attach(half, attaching)?, received })
    }
}

impl Stream for DelayStream {
    fn claim(&mut self) -> io::Result<()> {
        self.inner.claim()
    }
    fn fields(&mut self, write: impl FnMut(&mut [u8])) {
        self.inner.fields(write);
    }
    fn send(&mut self) -> io::Result<()> {
        self.inner.send()
    }
    fn receive(&mut self) -> io::Result<&[u8]> {
        let message = self.inner.receive()?;
        let begun = Instant::now();
        while begun.elapsed() < self.received {}
        Ok(message)
    }
    fn acknowledge(&mut self, sequence: u64) -> io::Result<()> {
        self.inner.acknowledge(sequence)
    }
    fn acknowledged(&mut self) -> io::Result<u64> {
        self.inner.acknowledged()
    }
}
