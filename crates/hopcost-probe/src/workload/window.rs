//! `roundtrip` with several exchanges in flight (`window`), over one connection or several, which
//! the exchanges use in turn.
//!
//! As soon as the oldest reply has come the next request leaves, so as many are in flight as the
//! window has. The stamp that ends an exchange begins the one that leaves then: a sample is the
//! response time of one, from its request to its reply, and the phase over its exchanges is the time
//! of each. Two exchanges, one after the other, come before.

use std::io;

use hopcost_model::protocol::Stamp;

use super::Stamped;
use super::roundtrip::{LEAD_IN, answers};
use crate::clock::Clock;
use crate::party::Party;
use crate::wait::Ready;

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
struct Flight<'a, P> {
    parties: &'a mut [P],
    /// When those in flight began, as many as the window has.
    starts: &'a mut [u64],
    /// Number of the next request, its connection, and where its start is kept.
    request: (u64, Turn, Turn),
    /// The same of the next reply.
    reply: (u64, Turn, Turn),
}

impl<'a, P: Party> Flight<'a, P> {
    /// None is in flight yet; `first` numbers the next.
    fn new(parties: &'a mut [P], starts: &'a mut [u64], first: u64) -> Self {
        let (connections, window) = (parties.len(), starts.len());
        let at = connection_of(first, connections);
        let turns = || (Turn { at, of: connections }, Turn { at: 0, of: window });
        let ((to, kept), (from, taken)) = (turns(), turns());
        Self { parties, starts, request: (first, to, kept), reply: (first + 1, from, taken) }
    }
    #[inline(always)]
    fn send(&mut self, start: u64) -> io::Result<()> {
        let (sequence, to, kept) = &mut self.request;
        self.starts[kept.pass()] = start;
        self.parties[to.pass()].send(*sequence)?;
        *sequence += 2;
        Ok(())
    }
    /// Receives the oldest reply that is due: when its exchange began.
    #[inline(always)]
    fn receive(&mut self) -> io::Result<u64> {
        let (sequence, from, taken) = &mut self.reply;
        self.parties[from.pass()].receive(*sequence)?;
        *sequence += 2;
        Ok(self.starts[taken.pass()])
    }
    /// Makes `count` exchanges and notes the response time of each with the CPU of its stamp. Returns
    /// the stamps before the first and after the last.
    #[inline(always)]
    fn exchange<C: Clock>(
        &mut self,
        count: u64,
        mut note: impl FnMut(u64, u32),
    ) -> io::Result<(u64, u64)> {
        let (begin, _) = C::stamp();
        let mut sent = 0;
        while sent < count.min(self.starts.len() as u64) {
            self.send(if sent == 0 { begin } else { C::stamp().0 })?;
            sent += 1;
        }
        let mut end = begin;
        for _ in 0..count {
            let start = self.receive()?;
            let (now, cpu) = C::stamp();
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

/// The connection of the exchange whose request has this number, from 1.
fn connection_of(sequence: u64, connections: usize) -> usize {
    (sequence / 2 % connections as u64) as usize
}

/// The caller's loop over its connections: `count` exchanges, as [`super::roundtrip::caller`].
/// `starts` has room for the stamps of a window.
#[inline(never)]
pub fn caller<P: Party, C: Clock>(
    parties: &mut [P],
    starts: &mut [u64],
    first: u64,
    (count, stamp): (u64, Stamp),
    out: &mut [u64],
) -> io::Result<Stamped> {
    let mut flight = Flight::new(parties, starts, first);
    for _ in 0..LEAD_IN {
        flight.send(0)?;
        flight.receive()?;
    }
    let (mut seen, mut cpu_before) = (Stamped::default(), C::stamp().1);
    match stamp {
        Stamp::Each => {
            let (begin, end) = flight.exchange::<C>(count, |ticks, cpu| {
                seen.note(ticks, out);
                seen.cpu_changes += u64::from(cpu != cpu_before);
                cpu_before = cpu;
            })?;
            (seen.count, seen.first_tick) = (count, begin);
            seen.elapsed_ticks = end.wrapping_sub(begin);
        }
        Stamp::Batch { n } | Stamp::TwoLengths { n } => {
            for _ in 0..count / n.max(1) {
                let (begin, end) = flight.exchange::<C>(n.max(1), |_, _| ())?;
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
pub fn callee<P: Party, C: Clock>(
    parties: &mut [P],
    ready: &mut Ready,
    expected: &mut [u64],
    (count, stamp): (u64, Stamp),
) -> io::Result<Stamped> {
    let answers = answers(count, stamp);
    let step = 2 * parties.len() as u64;
    let mut seen = Stamped { count: answers - LEAD_IN, ..Stamped::default() };
    for number in 0..answers {
        let at = ready.take()?;
        let (party, sequence) = (&mut parties[at], &mut expected[at]);
        party.receive(*sequence)?;
        if number == LEAD_IN {
            seen.first_tick = C::stamp().0;
        } else if number + 1 == answers {
            seen.elapsed_ticks = C::stamp().0.wrapping_sub(seen.first_tick);
        }
        party.send(*sequence + 1)?;
        *sequence += step;
    }
    Ok(seen)
}
