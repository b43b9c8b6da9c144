//! Test engines: mechanisms with known answers, and with known faults. They show
//! that the way from a timed loop to a printed number is right, and that the
//! supervisor notices what it must. They are not listed, and answer to their names.

use std::io;
use std::time::{Duration, Instant};

use hopcost_model::case::{Role, WaitKind};
use hopcost_model::units::parse_duration_ns;

use super::notifiers::Flag;
use crate::clock::{Shifted, rough_ticks};
use crate::endpoint::notifier;
use crate::party::{Party, fill, verify};
use crate::shape::{Attaching, Call, Channel, Delivery, End, Half};
use crate::sys;
use crate::transport::Wire;
use crate::wait::{AtRunTime, Wait};
use crate::workload::Endpoint;

pub mod server;
pub mod simulated;

/// An engine as the only party of a round trip: one exchange is one operation.
struct Alone<M>(M);

impl<M: Call> Party for Alone<M> {
    #[inline(always)]
    fn send_after<T>(&mut self, sequence: u64, before: impl FnOnce() -> T) -> io::Result<T> {
        // Or the compiler would see that nothing happens and drop the whole loop.
        std::hint::black_box(sequence);
        Ok(before())
    }
    #[inline(always)]
    fn receive_then<T>(&mut self, sequence: u64, then: impl FnOnce() -> T) -> io::Result<T> {
        std::hint::black_box(self.0.call(sequence));
        Ok(then())
    }
}

fn only_caller(attaching: &Attaching<'_>) -> io::Result<()> {
    match attaching.role {
        Role::Caller => Ok(()),
        Role::Callee => Err(sys::failure(format!(
            "{} has no callee; use boundary=inline",
            attaching.case.mechanism
        ))),
    }
}

/// The error of an argument that an engine cannot use.
fn bad_argument(attaching: &Attaching<'_>, want: &str) -> io::Error {
    sys::failure(format!("`{}` is not a test engine: want {want}", attaching.case.mechanism))
}

/// Whether an engine's name carries a duration.
pub fn is_duration(argument: Option<&str>) -> bool {
    argument.is_some_and(|time| parse_duration_ns(time).is_ok())
}

/// Whether it carries anything.
pub fn is_something(argument: Option<&str>) -> bool {
    argument.is_some_and(|text| !text.is_empty())
}

/// `skew:TIME`: the `flag` notifier, but the callee's clock is ahead of the caller's by TIME (behind,
/// with a minus sign). The clocks' comparison has to find it, and one-way times have to come out as
/// those of `flag` do.
pub fn skew(half: Half, attaching: &Attaching<'_>) -> io::Result<Box<dyn Endpoint>> {
    let ahead = attaching.case.argument().and_then(ticks_ahead);
    let ahead = ahead.ok_or_else(|| {
        bad_argument(attaching, "skew:TIME with a duration such as 500ns or -1us")
    })?;
    Shifted::set_ticks(match attaching.role {
        Role::Caller => 0,
        Role::Callee => ahead,
    });
    notifier::<Flag, Shifted>(half, attaching)
}

/// A time with or without a sign, in ticks that wrap around.
fn ticks_ahead(text: &str) -> Option<u64> {
    let (text, behind) = match text.strip_prefix('-') {
        Some(text) => (text, true),
        None => (text, false),
    };
    let ticks = rough_ticks(parse_duration_ns(text).ok()?);
    Some(if behind { ticks.wrapping_neg() } else { ticks })
}

/// The message at which an end crashes, fails or corrupts.
const AT_MESSAGE: u64 = 100;

/// What an end does before it sends, or instead.
#[derive(Debug, Clone, Copy)]
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
    /// Drops every Nth message; one that is sent again counts again.
    Lose(u64),
}

/// A link of which one end misbehaves, so that it is known what has to be noticed.
///
/// - `fault:KIND`: a pipe whose caller, or with `-callee` its callee, misbehaves: from its first message
///   on, or at message 100.
/// - `delay:20us`: a pipe of which one end computes for that long in user space: the callee when it has
///   received, before it replies, or with `at=caller` the caller, between its stamp and its send. So it is
///   known where the time of a round trip goes.
/// - `lossy:N`: UDP whose callee drops every Nth reply that it should send, or with `lossy:N-caller` whose
///   caller drops every Nth request. So it is known how many exchanges lose a message, and which.
pub struct Faulty<E> {
    end: E,
    wait: WaitKind,
    /// None at the end that behaves.
    fault: Option<Fault>,
    sent: u64,
}

/// What is wrong, and with which end.
fn fault(attaching: &Attaching<'_>) -> Option<(Fault, Role)> {
    let argument = attaching.case.argument()?;
    let (kind, other) = match argument.rsplit_once('-') {
        Some((kind, "callee")) => (kind, Some(Role::Callee)),
        Some((kind, "caller")) => (kind, Some(Role::Caller)),
        _ => (argument, None),
    };
    match attaching.case.mechanism_name() {
        "delay" => {
            let at =
                if attaching.parameter("at") == "caller" { Role::Caller } else { Role::Callee };
            let time = Duration::from_nanos(parse_duration_ns(argument).ok()?);
            return Some((Fault::Delay(time), at));
        }
        "lossy" => {
            let every = kind.parse().ok().filter(|every| *every > 0)?;
            return Some((Fault::Lose(every), other.unwrap_or(Role::Callee)));
        }
        _ => {}
    }
    let fault = match kind {
        "hang" => Fault::Hang,
        "crash" => Fault::Crash,
        "error" => Fault::Error,
        "corrupt" => Fault::Corrupt,
        "dup" => Fault::Dup,
        "reorder" => Fault::Reorder,
        _ => return None,
    };
    Some((fault, other.unwrap_or(Role::Caller)))
}

impl<E: Wire> End for Faulty<E> {
    type Waits = AtRunTime;
    fn attach(half: Half, attaching: &Attaching<'_>) -> io::Result<Self> {
        let (fault, role) = fault(attaching).ok_or_else(|| {
            let want = match attaching.case.mechanism_name() {
                "delay" => "delay:TIME",
                "lossy" => "lossy:N or lossy:N-caller with a whole number N from 1 up",
                _ => "fault:hang, crash, error, corrupt, dup or reorder, each with or without -callee",
            };
            bad_argument(attaching, want)
        })?;
        let fault = (role == attaching.role).then_some(fault);
        let end = E::attach(half, attaching)?;
        Ok(Faulty { end, wait: attaching.wait(), fault, sent: 0 })
    }
}

impl<E: Wire> Channel for Faulty<E> {
    fn delivery(&self) -> Delivery {
        Wire::delivery(&self.end)
    }
    fn slot<W: Wait>(&mut self, _: usize) -> io::Result<&mut [u8]> {
        Ok(self.end.message())
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
            Some(_) if self.sent != AT_MESSAGE => {}
            Some(Fault::Crash) => std::process::abort(),
            Some(Fault::Error) => return Err(sys::failure("this engine fails on purpose")),
            Some(Fault::Corrupt) => self.end.message()[len / 2] ^= 1,
            Some(Fault::Dup) => self.end.send_message()?,
            Some(Fault::Reorder) => {
                let message = self.end.message();
                // The contents come again after 256 messages at the latest.
                if let Some(number) = (0..256).find(|number| verify(message, *number)) {
                    fill(message, number + 2);
                }
            }
            Some(Fault::Lose(_)) => {}
        }
        self.end.send_message()
    }
    fn recv<W: Wait>(&mut self) -> io::Result<&[u8]> {
        self.end.receive_message(self.wait)
    }
}
