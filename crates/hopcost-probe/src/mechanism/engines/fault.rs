//! `fault:KIND`: a pipe whose caller, or with `-callee` its callee, misbehaves:
//!
//! - `hang` never returns from its first message;
//! - `crash` aborts, `error` fails, `corrupt` flips a bit, `dup` sends twice and `reorder` sends the
//!   message that follows first, at message 100.

use std::io;

use hopcost_model::case::{Boundary, Role, WaitKind, Workload};
use hopcost_model::mechanism::{Argument, Facts, Payload, Shape};

use super::{FACTS, bad_argument};
use crate::mechanism::pipe;
use crate::party::{fill, verify};
use crate::registry::Row;
use crate::shape::{Attaching, Channel, Half, Link, Opening, PeerExit, TwoEnds};
use crate::sys;
use crate::transport::stream::Stream;
use crate::transport::waits::FD_WAITS;
use crate::wait::{AtRunTime, Wait};

pub static ROW: Row = Row::channel::<Faulty>(Facts {
    name: "fault",
    shape: Shape::Channel,
    workloads: &[Workload::Roundtrip],
    boundaries: &[Boundary::Process, Boundary::Thread],
    waits: FD_WAITS,
    call_system_calls: None,
    payload: Payload::Bytes { min: 1, max: 4096, default: 64 },
    parameters: &[],
    argument: Some(Argument {
        form: "fault:KIND",
        fits: |argument| argument.is_some_and(|kind| !kind.is_empty()),
    }),
    ..FACTS
});

/// The message at which an end crashes, fails or corrupts.
const AT_MESSAGE: u64 = 100;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    Hang,
    Crash,
    Error,
    Corrupt,
    Dup,
    Reorder,
}

/// What is wrong, and with which end.
fn parse(argument: &str) -> Option<(Fault, Role)> {
    let (kind, role) = match argument.strip_suffix("-callee") {
        Some(kind) => (kind, Role::Callee),
        None => (argument, Role::Caller),
    };
    let fault = match kind {
        "hang" => Fault::Hang,
        "crash" => Fault::Crash,
        "error" => Fault::Error,
        "corrupt" => Fault::Corrupt,
        "dup" => Fault::Dup,
        "reorder" => Fault::Reorder,
        _ => return None,
    };
    Some((fault, role))
}

struct Faulty {
    pipe: Stream,
    wait: WaitKind,
    /// None at the end that behaves.
    fault: Option<Fault>,
    sent: u64,
}

impl Faulty {
    fn misbehave(&mut self, fault: Fault, len: usize) -> io::Result<()> {
        match fault {
            Fault::Hang => loop {
                // SAFETY: no arguments; returns only after a signal that has a handler.
                unsafe { libc::pause() };
            },
            Fault::Crash if self.sent == AT_MESSAGE => std::process::abort(),
            Fault::Error if self.sent == AT_MESSAGE => {
                Err(sys::failure("this engine fails on purpose"))
            }
            Fault::Corrupt if self.sent == AT_MESSAGE => {
                self.pipe.message()[len / 2] ^= 1;
                Ok(())
            }
            Fault::Dup if self.sent == AT_MESSAGE => self.pipe.write(),
            Fault::Reorder if self.sent == AT_MESSAGE => {
                let message = self.pipe.message();
                // The contents come again after 256 messages at the latest.
                if let Some(number) = (0..256).find(|number| verify(message, *number)) {
                    fill(message, number + 2);
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }
}

impl TwoEnds for Faulty {
    type End = Self;
    type Waits = AtRunTime;
    const PEER_EXIT: PeerExit = PeerExit::Noticed;
    fn open(opening: &Opening<'_>) -> io::Result<Link> {
        (pipe::ROW.open)(opening)
    }
    fn attach(half: Half, attaching: &Attaching<'_>) -> io::Result<Self> {
        let (fault, role) = attaching.case.argument().and_then(parse).ok_or_else(|| {
            bad_argument(
                attaching,
                "fault:hang, crash, error, corrupt, dup or reorder, each with or without -callee",
            )
        })?;
        let fault = (role == attaching.role).then_some(fault);
        let pipe = Stream::over_pair(half, attaching)?;
        Ok(Faulty { pipe, wait: attaching.wait(), fault, sent: 0 })
    }
}

impl Channel for Faulty {
    fn slot<W: Wait>(&mut self, _: usize) -> io::Result<&mut [u8]> {
        Ok(self.pipe.message())
    }
    fn send<W: Wait>(&mut self, len: usize) -> io::Result<()> {
        self.sent += 1;
        if let Some(fault) = self.fault {
            self.misbehave(fault, len)?;
        }
        self.pipe.write()
    }
    fn recv<W: Wait>(&mut self) -> io::Result<&[u8]> {
        self.pipe.read(self.wait)
    }
}
