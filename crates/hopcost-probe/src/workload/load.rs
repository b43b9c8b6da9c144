//! `load`: one way, at a fixed rate, whatever the receiver does (open loop).
//!
//! The sender spins on its clock until each intended time, stamps, writes the message and sends it.
//! One whose time has passed is sent at once; none is skipped, and no later time is moved. The
//! receiver stamps when it has received a message and compared it, because in memory that both
//! share only these two carry the payload across. Both keep absolute stamps: the response is
//! received minus *intended*, so what a message waited for a sender that was held up counts.
//!
//! Where messages may be lost the first is sent again and again until the receiver has it, and
//! an end marker follows the last in the same way.

use std::io;

use hopcost_model::{Phase, PhaseSpec, Role, Workload};

use super::phase::{Endpoint, Seen, Stamped, met};
use super::schedule;
use crate::clock::Clock;
use crate::meeting::Meeting;
use crate::party::Party;
use crate::shape::{Attaching, Delivery};
use crate::sys::{self, ensure};
use crate::transport::by_role;

/// Messages before the first of the schedule.
const LEAD_IN: u64 = Workload::Load.spec().uncounted;
/// How far apart a first message that may be lost is sent again.
const FIRST_NS: u64 = 10_000_000;
/// How far apart end markers are sent, at first and at most: a receiver that has no CPU should not
/// find its queue full of them.
const MARKER_NS: (u64, u64) = (1_000_000, 16_000_000);

/// How many numbers of messages a phase of `count` uses, the end marker's with them.
pub fn numbers(count: u64) -> u64 {
    count.saturating_add(LEAD_IN + 1)
}

/// The schedule without a channel: how exactly this sender keeps it.
#[inline(never)]
pub fn generator<C: Clock>(offsets: &[u64], out: &mut [u64]) -> Stamped {
    let mut seen = Seen::from(C::stamp().0);
    for offset in offsets {
        let stamp = C::until(seen.stamped.first_tick.wrapping_add(*offset));
        seen.sent(stamp, out);
    }
    seen.stamped
}

/// The sender's loop: a word for each message ([`lateness`]) into `out`, as far as it reaches.
#[inline(never)]
pub fn sender<P: Party, C: Clock>(
    party: &mut P,
    meeting: &Meeting,
    first: u64,
    offsets: &[u64],
    out: &mut [u64],
) -> io::Result<Stamped> {
    let delivery = party.delivery();
    if delivery.loses() {
        meeting.until_had(first, FIRST_NS, || party.send(first))?;
    } else {
        party.send(first)?;
        meeting.until_taken(first)?;
    }
    C::reach(meeting.released());
    let mut seen = Seen::from(C::stamp().0);
    let mut sequence = first + LEAD_IN;
    for offset in offsets {
        let intended = seen.stamped.first_tick.wrapping_add(*offset);
        if delivery == Delivery::OneByOne {
            meeting.until_taken(sequence - 1)?;
        }
        let stamp = C::until(intended);
        party.send(sequence)?;
        seen.sent(stamp, out);
        sequence += 1;
    }
    if delivery.loses() {
        // A receiver that may have lost the last message is told that it was the last. This end
        // sleeps meanwhile: other senders may not be done.
        let (mut apart_ns, most_ns) = MARKER_NS;
        meeting.until_had(sequence, 0, || {
            party.send(sequence)?;
            sys::sleep(sys::timespec(apart_ns));
            apart_ns = most_ns.min(2 * apart_ns);
            Ok(())
        })?;
    }
    Ok(seen.stamped)
}

/// The receiver's loop: when each message came into `out`, 0 where it did not.
#[inline(never)]
pub fn receiver<P: Party, C: Clock>(
    party: &mut P,
    meeting: &Meeting,
    first: u64,
    count: u64,
    out: &mut [u64],
) -> io::Result<Stamped> {
    // An end marker of the phase before may still be there.
    let skipped = party.receive_any(first)?;
    if skipped > 0 {
        return Err(unexpected(first + skipped, first));
    }
    meeting.take(first);
    let delivery = party.delivery();
    let (loses, tells) = (delivery.loses(), delivery == Delivery::OneByOne);
    let (begin, end) = (first + LEAD_IN, first + LEAD_IN + count);
    let mut seen = Seen::default();
    let mut next = begin;
    while next < end + u64::from(loses) {
        let skipped = party.receive_any(next)?;
        let stamp = C::stamp();
        if skipped > 0 {
            if !loses || skipped > end - next {
                return Err(unexpected(next + skipped, next));
            }
            seen.lost(skipped, out);
            next += skipped;
        }
        if next < end {
            seen.note_stamp(stamp, out);
        }
        if tells || next == end {
            meeting.take(next);
        }
        next += 1;
    }
    Ok(seen.stamped)
}

/// Bits of a message's number that count; those above say whose it is.
const COUNTED_BITS: u32 = 56;

/// Message `sequence` as this sender numbers it.
pub fn numbered(sender: u32, sequence: u64) -> u64 {
    u64::from(sender) << COUNTED_BITS | sequence
}

/// The receiver's loop for several senders, each with `count` messages: when each came into
/// `out`, one sender after the other. `meetings` are those with each.
#[inline(never)]
pub fn receiver_of_many<P: Party, C: Clock>(
    party: &mut P,
    meetings: &[Meeting],
    first: u64,
    count: u64,
    out: &mut [u64],
) -> io::Result<Stamped> {
    out.fill(0);
    let loses = party.delivery().loses();
    let (begin, end) = (first + LEAD_IN, first + LEAD_IN + count);
    let all = (1 << meetings.len()) - 1;
    let (mut next, mut awaited) = (vec![first; meetings.len()], all);
    let came = |number: u64, next: &mut [u64], last: u64| {
        let (sender, sequence) =
            ((number >> COUNTED_BITS) as usize, number & ((1 << COUNTED_BITS) - 1));
        let Some(next) = next.get_mut(sender) else { return Err(unexpected(number, first)) };
        let (want, is_old) = (*next, sequence < *next);
        if sequence != want && !(loses && (is_old || sequence <= last)) {
            return Err(unexpected(sequence, want));
        }
        *next = (*next).max(sequence + 1);
        // An end marker comes again and again.
        Ok((!is_old).then_some((sender, sequence, sequence - want.min(sequence))))
    };
    // None begins before all are here.
    while awaited != 0 {
        let number = party.receive_numbered(awaited)?;
        if let Some((sender, ..)) = came(number, &mut next, first)? {
            awaited &= !(1 << sender);
        }
    }
    for (sender, meeting) in (0..).zip(meetings) {
        meeting.release(numbered(sender, first), C::stamp().0);
    }
    awaited = all;
    let mut seen = Seen::default();
    while awaited != 0 {
        let number = party.receive_numbered(awaited)?;
        let stamp = C::stamp();
        let last = if loses { end } else { end - 1 };
        let Some((sender, sequence, skipped)) = came(number, &mut next, last)? else { continue };
        seen.stamped.lost += skipped;
        if sequence < end {
            // As many as before it in its sender's part, which are set already.
            seen.stamped.samples = sender as u64 * count + (sequence - begin);
            seen.note_stamp(stamp, out);
        }
        if sequence == last {
            awaited &= !(1 << sender);
            meetings[sender].take(number);
        }
    }
    seen.stamped.samples = meetings.len() as u64 * count;
    Ok(seen.stamped)
}

#[cold]
fn unexpected(got: u64, want: u64) -> io::Error {
    sys::failure(format!("message {got} came where message {want} was to come"))
}

/// The shortest message that tells its number where others may be lost.
const NUMBER_BYTES: usize = 8;

/// An attached party as a sender or the receiver of a `load`, on the thread that will run it.
pub fn end<P: Party + 'static, C: Clock>(
    mut party: P,
    attaching: &Attaching<'_>,
) -> io::Result<Box<dyn Endpoint>> {
    let Attaching { case, role, schedule, flow, .. } = *attaching;
    let senders = case.senders;
    ensure!(flow < senders, "there is no sender {flow} of {senders}");
    ensure!(
        !party.delivery().loses() || attaching.payload() >= NUMBER_BYTES,
        "messages that may be lost have to tell their number: payload={NUMBER_BYTES} or more"
    );
    let mine = by_role(role, flow..flow + 1, 0..senders);
    let meetings = mine.map(|one| Meeting::attach(attaching, one)).collect::<io::Result<_>>()?;
    let schedule = schedule.ok_or_else(|| sys::failure("a load needs a schedule"))?;
    let (case, mut sequence) = (case.clone(), 1u64);
    Ok(met::<C>(meetings, move |meetings, spec, out| {
        let PhaseSpec { phase, count, .. } = *spec;
        let offsets = match role {
            Role::Caller => schedule::offsets(&case, schedule, flow, count),
            Role::Callee => Vec::new(),
        };
        if phase == Phase::Pilot {
            return Ok(generator::<C>(&offsets, out));
        }
        let (first, party) = (sequence, &mut party);
        // Both ends advance by the same amount, so the numbering runs through the whole trial.
        sequence = first.saturating_add(numbers(count));
        match (role, meetings) {
            (Role::Caller, [meeting, ..]) => {
                sender::<P, C>(party, meeting, numbered(flow, first), &offsets, out)
            }
            (Role::Callee, [meeting]) => receiver::<P, C>(party, meeting, first, count, out),
            (_, meetings) => receiver_of_many::<P, C>(party, meetings, first, count, out),
        }
    }))
}
