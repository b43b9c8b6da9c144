//! Engines with an end that misbehaves, so that it is known what has to be noticed.

use std::io;
use std::time::{Duration, Instant};

use hopcost_model::case::{Role, WaitKind};
use hopcost_model::units::parse_duration_ns;

use super::bad_argument;
use crate::party::{fill, verify};
use crate::shape::{Attaching, Channel, Delivery, End, Half};
use crate::sys;
use crate::transport::packets::Packets;
use crate::transport::stream::Stream;
use crate::wait::{AtRunTime, Wait};

/// The message at which an end crashes, fails or corrupts.
const AT_MESSAGE: u64 = 100;

/// What an end does before it sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    /// Never returns from its first message.
    Hang,
    Crash,
    Error,
    /// Flips a bit.
    Corrupt,
    /// Sends twice.
    Dup,
    /// Sends the message that follows.
    Reorder,
    /// Computes for so long.
    Delay(Duration),
}

/// `fault:KIND`: a pipe whose caller, or with `-callee` its callee, misbehaves: from its first message on, or at
/// message 100.
///
/// `delay:20us`: a pipe of which one end computes for that long in user space: the callee when it
/// has received, before it replies, or with `at=caller` the caller, between its stamp and its
/// send. So it is known where the time of a round trip goes.
pub struct FaultyPipe {
    pipe: Stream,
    wait: WaitKind,
    /// None at the end that behaves.
    fault: Option<Fault>,
    sent: u64,
}

/// What is wrong, and with which end.
fn fault(attaching: &Attaching<'_>) -> Option<(Fault, Role)> {
    let argument = attaching.case.argument()?;
    if attaching.case.mechanism_name() == "delay" {
        let at = if attaching.parameter("at") == "caller" { Role::Caller } else { Role::Callee };
        let time = Duration::from_nanos(parse_duration_ns(argument).ok()?);
        return Some((Fault::Delay(time), at));
    }
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

impl FaultyPipe {
    fn misbehave(&mut self, fault: Fault, len: usize) -> io::Result<()> {
        match fault {
            Fault::Hang => loop {
                // SAFETY: no arguments; returns only after a signal that has a handler.
                unsafe { libc::pause() };
            },
            Fault::Delay(time) => {
                let begun = Instant::now();
                while begun.elapsed() < time {}
                Ok(())
            }
            _ if self.sent != AT_MESSAGE => Ok(()),
            Fault::Crash => std::process::abort(),
            Fault::Error => Err(sys::failure("this engine fails on purpose")),
            Fault::Corrupt => {
                self.pipe.message()[len / 2] ^= 1;
                Ok(())
            }
            Fault::Dup => self.pipe.write(),
            Fault::Reorder => {
                let message = self.pipe.message();
                // The contents come again after 256 messages at the latest.
                if let Some(number) = (0..256).find(|number| verify(message, *number)) {
                    fill(message, number + 2);
                }
                Ok(())
            }
        }
    }
}

impl End for FaultyPipe {
    type Waits = AtRunTime;
    fn attach(half: Half, attaching: &Attaching<'_>) -> io::Result<Self> {
        let (fault, role) = fault(attaching).ok_or_else(|| {
            let want = match attaching.case.mechanism_name() {
                "delay" => "delay:TIME",
                _ => "fault:hang, crash, error, corrupt, dup or reorder, each with or without -callee",
            };
            bad_argument(attaching, want)
        })?;
        let fault = (role == attaching.role).then_some(fault);
        let pipe = Stream::attach(half, attaching)?;
        Ok(FaultyPipe { pipe, wait: attaching.wait(), fault, sent: 0 })
    }
}

impl Channel for FaultyPipe {
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

/// `lossy:N`: UDP whose callee drops every Nth reply that it should send, or with
/// `lossy:N-caller` whose caller drops every Nth request, those that are sent again
/// included. So it is known how many exchanges lose a message, and which.
pub struct LossyUdp {
    packets: Packets,
    wait: WaitKind,
    /// None at the end that loses nothing.
    every: Option<u64>,
    sent: u64,
}

/// Which messages are lost, and of which end.
fn loss(argument: &str) -> Option<(u64, Role)> {
    let (number, role) = match argument.strip_suffix("-caller") {
        Some(number) => (number, Role::Caller),
        None => (argument, Role::Callee),
    };
    number.parse().ok().filter(|&every| every > 0).map(|every| (every, role))
}

impl End for LossyUdp {
    type Waits = AtRunTime;
    fn attach(half: Half, attaching: &Attaching<'_>) -> io::Result<Self> {
        let (every, role) = attaching.case.argument().and_then(loss).ok_or_else(|| {
            bad_argument(attaching, "lossy:N or lossy:N-caller with a whole number N from 1 up")
        })?;
        let every = (role == attaching.role).then_some(every);
        let packets = Packets::attach(half, attaching)?;
        Ok(LossyUdp { packets, wait: attaching.wait(), every, sent: 0 })
    }
}

impl Channel for LossyUdp {
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
