//! `delay:20us`: a pipe of which one end computes for that long in user space: the callee when it
//! has received, before it replies, or with `at=caller` the caller, between its stamp and its
//! send. So it is known where the time of a round trip goes.

use std::io;
use std::time::{Duration, Instant};

use hopcost_model::case::{Boundary, Role, Workload};
use hopcost_model::mechanism::{Argument, Facts, Parameter, Payload, Shape};
use hopcost_model::units::parse_duration_ns;

use super::{FACTS, bad_argument};
use crate::mechanism::pipe::Pipe;
use crate::registry::Row;
use crate::shape::{Attaching, Channel, Half, Link, Opening, PeerExit, TwoEnds};
use crate::transport::stream::Stream;
use crate::wait::{AtRunTime, Wait};

pub static ROW: Row = Row::channel::<Delay>(Facts {
    name: "delay",
    shape: Shape::Channel,
    workloads: &[Workload::Roundtrip],
    boundaries: &[Boundary::Process],
    call_system_calls: None,
    payload: Payload::Bytes { min: 1, max: 4096, default: 64 },
    parameters: &[Parameter {
        name: "at",
        values: &["callee", "caller"],
        default: "callee",
        about: "which end computes",
    }],
    argument: Some(Argument {
        form: "delay:20us",
        fits: |argument| argument.is_some_and(|time| parse_duration_ns(time).is_ok()),
    }),
    ..FACTS
});

struct Delay {
    pipe: Stream,
    /// Zero at the end that does not compute.
    before_send: Duration,
}

impl TwoEnds for Delay {
    type End = Self;
    type Waits = AtRunTime;
    const PEER_EXIT: PeerExit = PeerExit::Noticed;
    fn open(opening: &Opening<'_>) -> io::Result<Link> {
        Pipe::open(opening)
    }
    fn attach(half: Half, attaching: &Attaching<'_>) -> io::Result<Self> {
        let time = attaching.case.argument().and_then(|time| parse_duration_ns(time).ok());
        let ns = time.ok_or_else(|| bad_argument(attaching, "delay:TIME"))?;
        let at = match attaching.parameter("at") {
            "caller" => Role::Caller,
            _ => Role::Callee,
        };
        let before_send = Duration::from_nanos(if at == attaching.role { ns } else { 0 });
        Ok(Delay { pipe: Pipe::attach(half, attaching)?, before_send })
    }
}

impl Channel for Delay {
    fn slot<W: Wait>(&mut self, len: usize) -> io::Result<&mut [u8]> {
        self.pipe.slot::<W>(len)
    }
    fn send<W: Wait>(&mut self, len: usize) -> io::Result<()> {
        let begun = Instant::now();
        while begun.elapsed() < self.before_send {}
        self.pipe.send::<W>(len)
    }
    fn recv<W: Wait>(&mut self) -> io::Result<&[u8]> {
        self.pipe.recv::<W>()
    }
}
