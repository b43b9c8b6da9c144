//! `roundtrip` with several exchanges in flight (`window`), over one connection or several, which
//! the exchanges use in turn.
//!
//! As soon as the oldest reply has come the next request leaves, so as many are in flight as the
//! window has. The stamp that ends an exchange begins the one that leaves then: a sample is the
//! response time of one, from its request to its reply, and the phase over its exchanges is the time
//! of each. Two exchanges, one after the other, come before.

use std::io;

use hopcost_model::Stamp;

use super::phase::Stamped;
use super::roundtrip::{LEAD_IN, answers};
use super::stream::Starts;
use crate::clock::{Clock, Hardware};
use crate::party::{OverChannel, Party};
use crate::transport::stream::Stream;
use crate::wait::{Ready, Wait};

/// The connections of an end.
type Connections<W> = OverChannel<Stream, W>;

/// A place among `of` places that are taken in turn.
struct Turn {
    at: usize,
    of: usize,
}

impl Turn {
    #[inline(always)]
    fn pass(&mut self) -> usize {
        let at = self.at;
        self.at = if at + 1 < self.of { at + 1 } else { 0 };
        at
    }
}

/// The exchanges in flight.
struct Flight<'a, W> {
    party: &'a mut Connections<W>,
    /// When those in flight began.
    starts: Starts<'a>,
    /// Number of the next request, and its connection.
    request: (u64, Turn),
    /// The same of the next reply.
    reply: (u64, Turn),
}

impl<'a, W: Wait> Flight<'a, W> {
    /// None is in flight yet; `first` numbers the next.
    fn new(party: &'a mut Connections<W>, stamps: &'a mut [u64], first: u64) -> Self {
        let of = party.channel.connections();
        let turn = || Turn { at: (first / 2 % of as u64) as usize, of };
        let (request, reply) = ((first, turn()), (first + 1, turn()));
        Self { party, starts: Starts::new(stamps), request, reply }
    }
    #[inline(always)]
    fn send(&mut self, start: u64) -> io::Result<()> {
        let (sequence, to) = &mut self.request;
        self.starts.push(start);
        self.party.channel.turn_to(to.pass());
        self.party.send(*sequence)?;
        *sequence += 2;
        Ok(())
    }
    /// Receives the oldest reply that is due: when its exchange began.
    #[inline(always)]
    fn receive(&mut self) -> io::Result<u64> {
        let (sequence, from) = &mut self.reply;
        self.party.channel.turn_to(from.pass());
        self.party.receive(*sequence)?;
        *sequence += 2;
        Ok(self.starts.pop())
    }
    /// Makes `count` exchanges and notes the response time of each with the CPU of its stamp. Returns
    /// the stamps before the first and after the last.
    #[inline(always)]
    fn exchange(&mut self, count: u64, mut note: impl FnMut(u64, u32)) -> io::Result<(u64, u64)> {
        let (begin, _) = Hardware::stamp();
        let mut sent = 0;
        while sent < count.min(self.starts.stamps.len() as u64) {
            self.send(if sent == 0 { begin } else { Hardware::stamp().0 })?;
            sent += 1;
        }
        let mut end = begin;
        for _ in 0..count {
            let start = self.receive()?;
            let (now, cpu) = Hardware::stamp();
            note(now.wrapping_sub(start), cpu);
            if sent < count {
                self.send(now)?;
                sent += 1;
            }
            end = now;
        }
        Ok((begin, end))
    }
}

/// The caller's loop over its connections: `count` exchanges, as [`super::roundtrip::caller`].
/// `stamps` has room for a window's.
#[inline(never)]
pub fn caller<W: Wait>(
    party: &mut Connections<W>,
    stamps: &mut [u64],
    first: u64,
    (count, stamp): (u64, Stamp),
    out: &mut [u64],
) -> io::Result<Stamped> {
    let mut flight = Flight::new(party, stamps, first);
    for _ in 0..LEAD_IN {
        flight.send(0)?;
        flight.receive()?;
    }
    let (mut seen, mut cpu_before) = (Stamped::default(), Hardware::stamp().1);
    match stamp {
        Stamp::Each => {
            let (begin, end) = flight.exchange(count, |ticks, cpu| {
                seen.note(ticks, out);
                seen.cpu_changes += u64::from(cpu != cpu_before);
                cpu_before = cpu;
            })?;
            (seen.count, seen.first_tick) = (count, begin);
            seen.elapsed_ticks = end.wrapping_sub(begin);
        }
        Stamp::Batch { n } | Stamp::TwoLengths { n } => {
            for _ in 0..count / n.max(1) {
                let (begin, end) = flight.exchange(n.max(1), |_, _| ())?;
                seen.note(end.wrapping_sub(begin), out);
                seen.count += n.max(1);
            }
        }
    }
    Ok(seen)
}

/// The callee's loop over several connections: answers whatever has come, in its order there.
/// `expected` has the number of the next message of each.
#[inline(never)]
pub fn callee<W: Wait>(
    party: &mut Connections<W>,
    ready: &mut Ready,
    expected: &mut [u64],
    (count, stamp): (u64, Stamp),
) -> io::Result<Stamped> {
    let answers = answers(count, stamp);
    let step = 2 * expected.len() as u64;
    let mut seen = Stamped { count: answers - LEAD_IN, ..Stamped::default() };
    for number in 0..answers {
        let at = ready.take()?;
        let sequence = &mut expected[at];
        party.channel.turn_to(at);
        party.receive(*sequence)?;
        if number == LEAD_IN {
            seen.first_tick = Hardware::stamp().0;
        } else if number + 1 == answers {
            seen.elapsed_ticks = Hardware::stamp().0.wrapping_sub(seen.first_tick);
        }
        party.send(*sequence + 1)?;
        *sequence += step;
    }
    Ok(seen)
}
