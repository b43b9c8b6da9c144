//! `roundtrip`: strict request and reply, one outstanding, closed loop.
//!
//! Where a mechanism can lose a message, the caller sends again what was not
//! answered in time, and the callee answers again what it has answered already.
//! Such an exchange is counted as lost and is no sample: a time-out says nothing
//! about the mechanism's latency.

use std::io;

use hopcost_model::{PhaseSpec, Role, Stamp, Workload};

use super::phase::{Endpoint, Stamped};
use crate::clock::Clock;
use crate::party::{Party, is_stale};
use crate::shape::Delivery;
use crate::sys::ensure;

/// Exchanges before the first stamp of a phase.
pub const LEAD_IN: u64 = Workload::Roundtrip.spec().uncounted;

/// Time-outs of one message after which a trial is over.
pub const TIMEOUTS_MAX: u32 = 50;

/// Time-outs of the last message of a phase after which the caller takes it that
/// the callee has answered, that the answer was lost, and that the callee has left
/// its loop, so that nobody answers any more.
pub const LAST_TIMEOUTS: u32 = 4;

/// Messages of the past that the callee answers in a row at most.
const STALE_MAX: u32 = 10_000;

/// The numbers of a phase's exchanges.
struct Numbers {
    next: u64,
    /// The number of the last exchange.
    last: u64,
}

/// The caller's loop: `count` stamped exchanges, samples into `out` as far as
/// it reaches. `first` numbers the messages; every exchange uses two numbers.
#[inline(never)]
pub fn caller<P: Party, C: Clock>(
    party: &mut P,
    first: u64,
    count: u64,
    stamp: Stamp,
    out: &mut [u64],
) -> io::Result<Stamped> {
    let last = first.wrapping_add(2 * (answers(count, stamp) - 1));
    let mut numbers = Numbers { next: first, last };
    for _ in 0..LEAD_IN {
        exchange(party, &mut numbers)?;
    }
    match stamp {
        Stamp::Each => stamped_each::<P, C>(party, numbers, count, out),
        Stamp::Batch { n } | Stamp::TwoLengths { n } => {
            stamped_in_batches::<P, C>(party, numbers, count, n.max(1), out)
        }
    }
}

/// What became of an exchange.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    /// Request and reply came through.
    Whole,
    /// One of them had to be sent again.
    Lost,
}

#[inline(always)]
fn exchange<P: Party>(party: &mut P, numbers: &mut Numbers) -> io::Result<Outcome> {
    let sequence = numbers.next;
    numbers.next = sequence + 2;
    party.send(sequence)?;
    match party.receive(sequence + 1) {
        Ok(()) => Ok(Outcome::Whole),
        Err(error) => call_again(party, sequence, sequence == numbers.last, error),
    }
}

/// What the caller does when the reply to message `sequence` did not come, or
/// another came: sends again after a time-out, skips replies of the past, and
/// hands on every other error.
#[cold]
#[inline(never)]
fn call_again<P: Party>(
    party: &mut P,
    sequence: u64,
    last: bool,
    mut error: io::Error,
) -> io::Result<Outcome> {
    let (mut timeouts, mut skipped) = (0, 0);
    loop {
        if error.kind() == io::ErrorKind::TimedOut && party.delivery().loses() {
            timeouts += 1;
            ensure!(
                party.delivery() != Delivery::LossyAndAlike,
                "message {sequence} or its reply was lost; a message without payload looks like the \
                 next one, so use a payload of at least 1 byte"
            );
            if last && timeouts == LAST_TIMEOUTS {
                return Ok(Outcome::Lost);
            }
            ensure!(
                timeouts < TIMEOUTS_MAX,
                "message {sequence} was sent {TIMEOUTS_MAX} times and never answered in time; if \
                 shorter ones are, the path drops packets over some size (its MTU)"
            );
            party.send(sequence)?;
        } else if is_stale(&error) && skipped < STALE_MAX {
            skipped += 1;
        } else {
            return Err(error);
        }
        match party.receive(sequence + 1) {
            Ok(()) if timeouts > 0 => return Ok(Outcome::Lost),
            Ok(()) => return Ok(Outcome::Whole),
            Err(next) => error = next,
        }
    }
}

/// One stamp an exchange: the end of one is the start of the next.
#[inline(always)]
fn stamped_each<P: Party, C: Clock>(
    party: &mut P,
    mut numbers: Numbers,
    count: u64,
    out: &mut [u64],
) -> io::Result<Stamped> {
    let mut seen = Stamped { count, ..Stamped::default() };
    let (mut before, mut cpu_before) = C::stamp();
    for _ in 0..count {
        let outcome = exchange(party, &mut numbers)?;
        let (now, cpu) = C::stamp();
        match outcome {
            Outcome::Whole => seen.note(now.wrapping_sub(before), out),
            Outcome::Lost => seen.lost += 1,
        }
        seen.cpu_changes += u64::from(cpu != cpu_before);
        (before, cpu_before) = (now, cpu);
    }
    // Not kept through the loop. Exchanges that lost a message are in none of the samples.
    if seen.lost == 0 {
        seen.first_tick = before.wrapping_sub(seen.elapsed_ticks);
    }
    Ok(seen)
}

/// Fenced stamps around every `n` exchanges; a batch with a lost one is no sample.
#[inline(always)]
fn stamped_in_batches<P: Party, C: Clock>(
    party: &mut P,
    mut numbers: Numbers,
    count: u64,
    n: u64,
    out: &mut [u64],
) -> io::Result<Stamped> {
    let mut seen = Stamped::default();
    let (_, mut cpu_before) = C::stamp();
    for _ in 0..count / n {
        let mut lost = 0;
        let start = C::fenced_start();
        for _ in 0..n {
            lost += u64::from(exchange(party, &mut numbers)? == Outcome::Lost);
        }
        let ticks = C::fenced_end().wrapping_sub(start);
        if lost == 0 {
            seen.note(ticks, out);
        }
        seen.lost += lost;
        seen.count += n;
        let (_, cpu) = C::stamp();
        seen.cpu_changes += u64::from(cpu != cpu_before);
        cpu_before = cpu;
    }
    Ok(seen)
}

/// Exchanges that the callee has to answer so that the caller can do `count`.
pub fn answers(count: u64, stamp: Stamp) -> u64 {
    let stamped = match stamp {
        Stamp::Each => count,
        Stamp::Batch { n } | Stamp::TwoLengths { n } => count / n.max(1) * n.max(1),
    };
    stamped + LEAD_IN
}

/// The callee's loop. Two stamps, when the first counted message has come and when
/// the last has, tell how long the exchanges between them took by its clock.
#[inline(never)]
pub fn callee<P: Party, C: Clock>(
    party: &mut P,
    first: u64,
    count: u64,
    stamp: Stamp,
) -> io::Result<Stamped> {
    let answers = answers(count, stamp);
    let mut seen = Stamped { count: answers - LEAD_IN, ..Stamped::default() };
    let mut sequence = first;
    for number in 0..answers {
        if let Err(error) = party.receive(sequence) {
            answer_again(party, sequence, error)?;
        }
        // Before the answer: on one CPU the caller runs on as soon as it has that, and after the
        // last answer it does so for good.
        if number == LEAD_IN {
            seen.first_tick = C::stamp().0;
        } else if number + 1 == answers {
            seen.elapsed_ticks = C::stamp().0.wrapping_sub(seen.first_tick);
        }
        party.send(sequence + 1)?;
        sequence += 2;
    }
    Ok(seen)
}

/// What the callee does when another message came than `sequence`: answers again
/// the one it has answered before, until `sequence` comes.
#[cold]
#[inline(never)]
fn answer_again<P: Party>(party: &mut P, sequence: u64, mut error: io::Error) -> io::Result<()> {
    for _ in 0..STALE_MAX {
        if !is_stale(&error) {
            break;
        }
        party.send(sequence - 1)?;
        match party.receive(sequence) {
            Ok(()) => return Ok(()),
            Err(next) => error = next,
        }
    }
    Err(error)
}

/// An attached party as an end of a round trip.
pub fn end<P: Party + 'static, C: Clock>(mut party: P, role: Role) -> Box<dyn Endpoint> {
    let mut sequence = 1;
    Box::new(move |spec: &PhaseSpec, out: &mut [u64]| {
        let PhaseSpec { count, stamp, .. } = *spec;
        let first = sequence;
        // Both ends advance by the same amount, so the numbering runs through the whole trial.
        sequence += 2 * answers(count, stamp);
        match role {
            Role::Caller => caller::<P, C>(&mut party, first, count, stamp, out),
            Role::Callee => callee::<P, C>(&mut party, first, count, stamp),
        }
    })
}
