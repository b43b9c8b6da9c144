//! `wake`: one way, after an idle gap. The sender sleeps, stamps and notifies;
//! the receiver waits, and stamps when its wait has returned.
//!
//! Both ends keep absolute stamps, each of its own clock; whoever has both takes
//! the difference. A payload is written before the sender's stamp and looked at
//! after the receiver's, so what lies between the stamps is the mechanism alone.
//!
//! The sender puts a wake-up off while the receiver has not stamped the one
//! before: otherwise a wake-up could find its receiver awake, and be none.

use std::io;
use std::num::NonZeroU64;

use hopcost_model::{Role, Workload};

use super::phase::{Endpoint, Seen, Stamped, met};
use crate::clock::Clock;
use crate::meeting::Meeting;
use crate::party::Party;
use crate::shape::Attaching;
use crate::sys::{self, Doing, ensure};

/// Wake-ups before the first stamped one of a phase.
const LEAD_IN: u64 = Workload::Wake.spec().uncounted;

/// The least that a wake-up is put off by, so that a receiver on the sender's CPU
/// gets to run.
const PUT_OFF_NS: u64 = 10_000;
/// A receiver that has not taken a wake-up after this long never will.
const STUCK_NS: u64 = 10_000_000_000;

/// How many wake-ups' numbers a phase of `count` uses.
pub fn numbers(count: u64) -> u64 {
    count.saturating_add(LEAD_IN)
}

/// The sender's loop: `count` stamped wake-ups, each `gap_ns` of sleep after the
/// one before, absolute stamps into `out` as far as it reaches. `first` numbers
/// the wake-ups. Fails if the receiver does not come for ten seconds.
#[inline(never)]
pub fn sender<P: Party, C: Clock>(
    party: &mut P,
    meeting: &Meeting,
    gap_ns: u64,
    first: u64,
    count: u64,
    out: &mut [u64],
) -> io::Result<Stamped> {
    let (gap, put_off) = (sys::timespec(gap_ns), sys::timespec(gap_ns.max(PUT_OFF_NS)));
    let mut seen = Seen::default();
    for sequence in first..first.saturating_add(numbers(count)) {
        if gap_ns > 0 {
            sys::sleep(gap);
        }
        let overrun = meeting.taken() != sequence - 1;
        if overrun {
            until_taken(meeting, sequence - 1, put_off)?;
        }
        let stamp = party.send_after(sequence, C::stamp)?;
        if sequence >= first + LEAD_IN {
            seen.note_stamp(stamp, out);
            seen.stamped.overruns += u64::from(overrun);
        }
    }
    Ok(seen.stamped)
}

/// The receiver's loop.
#[inline(never)]
pub fn receiver<P: Party, C: Clock>(
    party: &mut P,
    meeting: &Meeting,
    first: u64,
    count: u64,
    out: &mut [u64],
) -> io::Result<Stamped> {
    let mut seen = Seen::default();
    for sequence in first..first.saturating_add(numbers(count)) {
        let stamp = party.receive_then(sequence, C::stamp)?;
        if sequence >= first + LEAD_IN {
            seen.note_stamp(stamp, out);
        }
        meeting.take(sequence);
    }
    Ok(seen.stamped)
}

#[cold]
fn until_taken(meeting: &Meeting, sequence: u64, put_off: libc::timespec) -> io::Result<()> {
    let until_ns = sys::clock_ns(libc::CLOCK_MONOTONIC) + STUCK_NS;
    while meeting.taken() != sequence {
        let is_in_time = sys::clock_ns(libc::CLOCK_MONOTONIC) <= until_ns;
        ensure!(is_in_time, "the receiver did not take wake-up {sequence} within 10 s");
        sys::sleep(put_off);
    }
    Ok(())
}

/// An attached party as the sender or the receiver of a `wake`, on the thread that will run it.
pub fn end<P: Party + 'static, C: Clock>(
    mut party: P,
    attaching: &Attaching<'_>,
) -> io::Result<Box<dyn Endpoint>> {
    let Attaching { case, role, .. } = *attaching;
    let meeting = Meeting::attach(attaching, 0)?;
    let gap_ns = case.gap_ns.ok_or_else(|| sys::failure("a wake needs a gap"))?;
    if role == Role::Caller {
        // Its sleeps end when they are due, and not up to 50 us later together with others'.
        rustix::thread::set_current_timer_slack(NonZeroU64::new(1))
            .doing("setting the timer slack")?;
    }
    let mut sequence = 1u64;
    Ok(met::<C>(vec![meeting], move |meetings, spec, out| {
        let (meeting, first, count) = (&meetings[0], sequence, spec.count);
        // Both ends advance by the same amount, so the numbering runs through the whole trial.
        sequence = first.saturating_add(numbers(count));
        match role {
            Role::Caller => sender::<P, C>(&mut party, meeting, gap_ns, first, count, out),
            Role::Callee => receiver::<P, C>(&mut party, meeting, first, count, out),
        }
    }))
}
