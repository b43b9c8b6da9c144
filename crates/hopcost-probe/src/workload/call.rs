//! `call`: one operation in one thread, in batches.

use std::io;

use hopcost_model::{PhaseSpec, Stamp};

use super::phase::{Endpoint, Stamped};
use crate::clock::{Clock, Hardware};

/// Operations unrolled in the loop's body, so that its counter weighs little.
pub const UNROLLED: u64 = 16;

/// Keeps a value in a register and its origin unknown, at no cost: without it
/// the compiler would fold a loop of additions into one.
#[inline(always)]
pub(crate) fn opaque(mut x: u64) -> u64 {
    // SAFETY: an empty instruction sequence.
    unsafe {
        std::arch::asm!("/* {0} */", inout(reg) x, options(pure, nomem, nostack, preserves_flags))
    };
    x
}

/// `count` operations (a multiple of [`UNROLLED`]), each depending on the one before.
#[inline(always)]
fn batch(call: &mut impl FnMut(u64) -> u64, mut x: u64, count: u64) -> u64 {
    for _ in 0..count / UNROLLED {
        for _ in 0..UNROLLED {
            x = opaque(call(x));
        }
    }
    x
}

/// Batches of `n` (or of `n` and `2n` in turn) until `count` operations are done. What goes into one
/// comes out of the one before, so that the processor cannot overlap them.
#[inline(never)]
pub fn run<M: FnMut(u64) -> u64, C: Clock>(
    call: &mut M,
    count: u64,
    stamp: Stamp,
    out: &mut [u64],
) -> Stamped {
    let (n, lengths) = match stamp {
        Stamp::Each => (UNROLLED, 1),
        Stamp::Batch { n } => (n.next_multiple_of(UNROLLED), 1),
        Stamp::TwoLengths { n } => (n.next_multiple_of(UNROLLED), 2),
    };
    let mut seen = Stamped::default();
    let mut x = 1;
    let (_, mut cpu_before) = C::stamp();
    while seen.count < count {
        for length in 1..=lengths {
            let start = C::fenced_start();
            x = batch(call, x, n * length);
            seen.note(C::fenced_end().wrapping_sub(start), out);
            seen.count += n * length;
        }
        let (_, cpu) = C::stamp();
        seen.cpu_changes += u64::from(cpu != cpu_before);
        cpu_before = cpu;
    }
    std::hint::black_box(x);
    seen
}

/// The end whose operation is this call.
pub fn only_end<M: FnMut(u64) -> u64 + 'static>(mut call: M) -> io::Result<Box<dyn Endpoint>> {
    Ok(Box::new(move |spec: &PhaseSpec, out: &mut [u64]| {
        Ok(run::<M, Hardware>(&mut call, spec.count, spec.stamp, out))
    }))
}
