//! Test engines: mechanisms with known answers, and with known faults. They show
//! that the way from a timed loop to a printed number is right, and that the
//! supervisor notices what it must. They are not listed, and answer to their names.

use std::io;
use std::time::{Duration, Instant};

use hopcost_model::{Role, units::parse_duration_ns};

use super::notifiers::Flag;
use crate::clock::{Shifted, rough_ticks};
use crate::endpoint::channel;
use crate::party::{Party, fill, verify};
use crate::shape::{Attaching, Channel, Delivery, End, Half};
use crate::sys;
use crate::transport::beside::Beside;
use crate::transport::by_role;
use crate::wait::{Block, Wait};
use crate::workload::Endpoint;

pub mod server;
pub mod simulated;

/// An engine as the only party of a round trip: one exchange is one operation.
struct Alone<M>(M);

impl<M: FnMut(u64) -> u64> Party for Alone<M> {
    #[inline(always)]
    fn send_after<T>(&mut self, sequence: u64, before: impl FnOnce() -> T) -> io::Result<T> {
        // Or the compiler would see that nothing happens and drop the whole loop.
        std::hint::black_box(sequence);
        Ok(before())
    }
    #[inline(always)]
    fn receive_then<T>(&mut self, sequence: u64, then: impl FnOnce() -> T) -> io::Result<T> {
        std::hint::black_box(self.0(sequence));
        Ok(then())
    }
}

/// The time that an engine's name carries.
pub fn time_ns(argument: Option<&str>) -> Option<u64> {
    parse_duration_ns(argument?).ok()
}

/// `skew:TIME`: the `flag` notifier, but the callee's clock is ahead of the caller's by TIME (behind,
/// with a minus sign). The clocks' comparison has to find it, and one-way times have to come out as
/// those of `flag` do.
pub fn skew(half: Half, attaching: &Attaching<'_>) -> io::Result<Box<dyn Endpoint>> {
    let ahead = ticks_ahead(attaching.case.argument()).unwrap_or(0);
    Shifted::set_ticks(by_role(attaching.role, 0, ahead));
    channel::<Beside<Flag>, Shifted>(half, attaching)
}

/// A time with or without a sign, in ticks that wrap around.
pub fn ticks_ahead(argument: Option<&str>) -> Option<u64> {
    let behind = argument?.strip_prefix('-');
    let ticks = rough_ticks(time_ns(behind.or(argument))?);
    Some(if behind.is_some() { ticks.wrapping_neg() } else { ticks })
}

/// The message at which an end crashes, fails or corrupts.
const AT_MESSAGE: u64 = 100;

/// What an end does before it sends, or instead.
#[derive(Debug, Clone, Copy)]
pub enum Fault {
    /// Never returns from its first message.
    Hang,
    Crash,
    Error,
    /// Flips a bit of its Nth message.
    Corrupt(u64),
    /// Sends twice.
    Dup,
    /// Sends the message that follows.
    Reorder,
    /// Computes for so long.
    Delay(Duration),
    /// Drops every Nth message; one that is sent again counts again.
    Lose(u64),
}

/// A link of which one end misbehaves, so that it is known what has to be noticed.
///
/// - `fault:KIND`: a pipe whose caller, or with `-callee` its callee, misbehaves: from its first message
///   on, at message 100, or at its third.
/// - `delay:20us`: a pipe of which one end computes for that long in user space: the callee when it has
///   received, before it replies, or with `-caller` the caller, between its stamp and its send. So it is
///   known where the time of a round trip goes.
/// - `lossy:N`: UDP whose callee drops every Nth reply that it should send, or with `lossy:N-caller` whose
///   caller drops every Nth request. So it is known how many exchanges lose a message, and which.
pub struct Faulty<E> {
    end: E,
    /// None at the end that behaves.
    fault: Option<Fault>,
    sent: u64,
}

/// What the argument of an engine says is wrong, and with which end.
pub fn fault(engine: &str, argument: Option<&str>) -> Option<(Fault, Role)> {
    let argument = argument?;
    let (kind, role) = match argument.rsplit_once('-') {
        Some((kind, "callee")) => (kind, Role::Callee),
        Some((kind, "caller")) => (kind, Role::Caller),
        _ => (argument, if engine == "fault" { Role::Caller } else { Role::Callee }),
    };
    let fault = match (engine, kind) {
        ("delay", time) => Fault::Delay(Duration::from_nanos(time_ns(Some(time))?)),
        ("lossy", every) => Fault::Lose(every.parse().ok().filter(|every| *every > 0)?),
        (_, "hang") => Fault::Hang,
        (_, "crash") => Fault::Crash,
        (_, "error") => Fault::Error,
        (_, "corrupt") => Fault::Corrupt(AT_MESSAGE),
        (_, "corrupt-third") => Fault::Corrupt(3),
        (_, "dup") => Fault::Dup,
        (_, "reorder") => Fault::Reorder,
        _ => return None,
    };
    Some((fault, role))
}

impl<E: Channel + End> End for Faulty<E> {
    type Waits = (Block,);
    fn attach(half: Half, attaching: &Attaching<'_>) -> io::Result<Self> {
        let wrong = fault(attaching.case.mechanism_name(), attaching.case.argument());
        let fault = wrong.filter(|(_, role)| *role == attaching.role).map(|(fault, _)| fault);
        Ok(Faulty { end: E::attach(half, attaching)?, fault, sent: 0 })
    }
}

impl<E: Channel> Channel for Faulty<E> {
    fn delivery(&self) -> Delivery {
        self.end.delivery()
    }
    fn slot<W: Wait>(&mut self, len: usize) -> io::Result<&mut [u8]> {
        self.end.slot::<W>(len)
    }
    fn send<W: Wait>(&mut self, len: usize) -> io::Result<()> {
        self.sent += 1;
        match self.fault {
            None => {}
            Some(Fault::Hang) => loop {
                // SAFETY: no arguments; returns only after a signal that has a handler.
                unsafe { libc::pause() };
            },
            Some(Fault::Delay(time)) => {
                let begun = Instant::now();
                while begun.elapsed() < time {}
            }
            Some(Fault::Lose(every)) if self.sent.is_multiple_of(every) => return Ok(()),
            Some(Fault::Corrupt(at)) if self.sent == at => self.end.slot::<W>(len)?[len / 2] ^= 1,
            Some(_) if self.sent != AT_MESSAGE => {}
            Some(Fault::Crash) => std::process::abort(),
            Some(Fault::Error) => return Err(sys::failure("this engine fails on purpose")),
            Some(Fault::Dup) => self.end.send::<W>(len)?,
            Some(Fault::Reorder) => {
                let message = self.end.slot::<W>(len)?;
                // The contents come again after 256 messages at the latest.
                if let Some(number) = (0..256).find(|number| verify(message, *number)) {
                    fill(message, number + 2);
                }
            }
            Some(Fault::Lose(_) | Fault::Corrupt(_)) => {}
        }
        self.end.send::<W>(len)
    }
    fn recv<W: Wait>(&mut self) -> io::Result<&[u8]> {
        self.end.recv::<W>()
    }
}
