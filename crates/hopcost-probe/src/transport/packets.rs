//! A message as one packet: what datagram and sequenced-packet sockets have in common.

use std::io;
use std::os::fd::OwnedFd;
use std::time::Duration;

use hopcost_model::{Role, Workload, units::parse_duration_ns};

use super::wait_writable;
use crate::memory::Buffer;
use crate::shape::{Attaching, Channel, Delivery, End, Half};
use crate::sys::{self, Look};
use crate::ticker::Ticker;
use crate::wait::{Every, FdWait, Wait};

/// A message as one packet on a connected socket: `send` and `recv`, never split.
pub struct Packets {
    fd: OwnedFd,
    wait: FdWait,
    out: Buffer,
    input: Buffer,
    delivery: Delivery,
    /// Where an end gives up waiting for a message that may be lost.
    ticker: Option<Ticker>,
}

/// Where a case names no time-out.
const TIMEOUT: Duration = Duration::from_millis(200);

/// Ticks of the timer, two of which make a time-out, after which a receive has
/// lasted for at least a time-out and at most half as long again.
const TICKS: u32 = 3;

/// How a socket delivers packets.
fn delivery(socket: &OwnedFd, payload: usize) -> io::Result<Delivery> {
    let option = |option| sys::get_option(socket, libc::SOL_SOCKET, option);
    Ok(match (option(libc::SO_DOMAIN)?, option(libc::SO_TYPE)?) {
        (_, libc::SOCK_SEQPACKET) => Delivery::EmptyAtEnd,
        (libc::AF_UNIX, _) => Delivery::Reliable,
        _ if payload == 0 => Delivery::LossyAndAlike,
        _ => Delivery::Lossy,
    })
}

/// How long the caller of a round trip waits for a message that may be lost.
fn timeout(attaching: &Attaching<'_>) -> Duration {
    parse_duration_ns(attaching.parameter("timeout")).map_or(TIMEOUT, Duration::from_nanos)
}

impl End for Packets {
    type Waits = Every;
    fn attach(half: Half, attaching: &Attaching<'_>) -> io::Result<Self> {
        let [fd] = half.take_fds()?;
        let wait = attaching.fd_wait(&fd, |_| Look::AtSocket)?;
        let payload = attaching.payload();
        // One byte more than a message, so that a longer one is seen as such.
        let (out, input) = (Buffer::new(payload), Buffer::new(payload + 1));
        let delivery = delivery(&fd, payload)?;
        let sends_again = attaching.role == Role::Caller
            && attaching.case.workload == Workload::Roundtrip
            && delivery.loses();
        let ticker = match sends_again {
            true => Some(Ticker::start(timeout(attaching) / 2)?),
            false => None,
        };
        Ok(Self { fd, wait, out, input, delivery, ticker })
    }
}

impl Channel for Packets {
    #[inline(always)]
    fn delivery(&self) -> Delivery {
        self.delivery
    }
    #[inline(always)]
    fn slot<W: Wait>(&mut self, _: usize) -> io::Result<&mut [u8]> {
        Ok(&mut self.out)
    }
    #[inline(always)]
    fn send<W: Wait>(&mut self, _: usize) -> io::Result<()> {
        let len = self.out.len();
        loop {
            match sys::send(&self.fd, &self.out, 0) {
                Ok(n) if n == len => return Ok(()),
                Ok(n) => {
                    return Err(sys::failure_of(|| format!("only {n} of {len} bytes were sent")));
                }
                Err(error) => wait_writable(&self.fd, error).map(drop)?,
            }
        }
    }
    /// Fails with [`io::ErrorKind::TimedOut`] where the message is to be given up, which is asked after
    /// every look in vain, and after a signal.
    #[inline(always)]
    fn recv<W: Wait>(&mut self) -> io::Result<&[u8]> {
        let Self { fd, wait, input, ticker, .. } = self;
        let ticks = || ticker.as_ref().map_or(0, Ticker::ticks);
        let since = ticks();
        let len = wait.receive(W::KIND, fd, |look| {
            let flags = if look == Look::AsOpened { 0 } else { libc::MSG_DONTWAIT };
            sys::receive(fd, input, flags).map_err(|error| match error.raw_os_error() {
                Some(libc::EAGAIN | libc::EINTR) if ticks().wrapping_sub(since) >= TICKS => {
                    io::ErrorKind::TimedOut.into()
                }
                _ => error,
            })
        })?;
        // SAFETY: the kernel has written `len` bytes there.
        Ok(unsafe { self.input.first(len) })
    }
}
