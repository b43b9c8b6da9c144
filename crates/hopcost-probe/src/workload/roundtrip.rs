//! `roundtrip`: strict request and reply, one outstanding, closed loop.

use std::io;

use hopcost_model::protocol::Stamp;

use super::Stamped;
use crate::clock::Clock;
use crate::party::Party;

/// Exchanges before the first stamp of a phase, so that the two ends' different
/// starting times are in no sample.
pub const LEAD_IN: u64 = 2;

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
    let mut sequence = first;
    for _ in 0..LEAD_IN {
        exchange(party, &mut sequence)?;
    }
    match stamp {
        Stamp::Each => stamped_each::<P, C>(party, sequence, count, out),
        Stamp::Batch { n } | Stamp::TwoLengths { n } => {
            stamped_in_batches::<P, C>(party, sequence, count, n.max(1), out)
        }
    }
}

#[inline(always)]
fn exchange<P: Party>(party: &mut P, sequence: &mut u64) -> io::Result<()> {
    party.send(*sequence)?;
    party.receive(*sequence + 1)?;
    *sequence += 2;
    Ok(())
}

/// One stamp an exchange: the end of one is the start of the next.
#[inline(always)]
fn stamped_each<P: Party, C: Clock>(
    party: &mut P,
    mut sequence: u64,
    count: u64,
    out: &mut [u64],
) -> io::Result<Stamped> {
    let mut seen = Stamped { count, ..Stamped::default() };
    let (mut before, mut cpu_before) = C::stamp();
    for _ in 0..count {
        exchange(party, &mut sequence)?;
        let (now, cpu) = C::stamp();
        seen.note(now.wrapping_sub(before), out);
        seen.cpu_changes += u64::from(cpu != cpu_before);
        (before, cpu_before) = (now, cpu);
    }
    Ok(seen)
}

/// Fenced stamps around every `n` exchanges.
#[inline(always)]
fn stamped_in_batches<P: Party, C: Clock>(
    party: &mut P,
    mut sequence: u64,
    count: u64,
    n: u64,
    out: &mut [u64],
) -> io::Result<Stamped> {
    let mut seen = Stamped::default();
    let (_, mut cpu_before) = C::stamp();
    for _ in 0..count / n {
        let start = C::fenced_start();
        for _ in 0..n {
            exchange(party, &mut sequence)?;
        }
        seen.note(C::fenced_end().wrapping_sub(start), out);
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

/// The callee's loop.
#[inline(never)]
pub fn callee<P: Party>(
    party: &mut P,
    first: u64,
    count: u64,
    stamp: Stamp,
) -> io::Result<Stamped> {
    let mut sequence = first;
    for _ in 0..answers(count, stamp) {
        party.receive(sequence)?;
        party.send(sequence + 1)?;
        sequence += 2;
    }
    Ok(Stamped { count: answers(count, stamp) - LEAD_IN, ..Stamped::default() })
}
