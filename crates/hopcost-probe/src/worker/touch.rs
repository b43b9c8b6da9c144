//! What writing a message and comparing one take an end: the part of its case's numbers that
//! is not the mechanism's. Measured, never compiled in, and never subtracted.

use std::hint::black_box;

use hopcost_model::case::Case;
use hopcost_model::protocol::EndCounters;

use crate::clock::{Clock, Hardware};
use crate::memory::Buffer;
use crate::party::{Touched, fill};
use crate::sys;

/// Bytes of the messages between two stamps: so many that a stamp is little beside them, and
/// one message where it is long, so that writing and comparing drive each other out of the
/// cache as they do in an exchange.
const BATCH_BYTES: usize = 32 << 10;
/// Messages of few bytes between two stamps at most.
const BATCH_MAX: usize = 1024;
/// Batches of either; fewer where this takes too long, and the median is of these.
const BATCHES: usize = 201;
const BATCHES_MIN: usize = 5;
const LONG_NS: u64 = 4_000_000;

/// Times both on the calling thread.
pub fn time(case: &Case, counters: EndCounters) -> EndCounters {
    let payload = case.payload_bytes.unwrap_or(0) as usize;
    let touched = Touched::of(case);
    let (mut out, mut input) = (Buffer::new(payload), Buffer::new(payload));
    fill(&mut input, 0);
    let batch = |bytes: usize| (BATCH_BYTES / bytes.max(1)).clamp(1, BATCH_MAX) as u64;
    let written = batch(touched.to_write(&mut out, 0).len());
    let compared = batch(touched.to_compare(&input).len());
    let now = || (sys::clock_ns(libc::CLOCK_MONOTONIC_RAW), Hardware::fenced_start());
    let (mut fills, mut verifies) = (Vec::new(), Vec::new());
    let (began, mut last) = (now(), now());
    while fills.len() < BATCHES_MIN || (fills.len() < BATCHES && last.0 - began.0 < LONG_NS) {
        let start = Hardware::fenced_start();
        for sequence in 0..written {
            touched.fill(black_box(&mut out), sequence);
        }
        let middle = Hardware::fenced_end();
        for _ in 0..compared {
            black_box(touched.verify(black_box(&input), black_box(0)));
        }
        verifies.push(Hardware::fenced_end().wrapping_sub(middle));
        // Otherwise the next write would find what the last one left in the cache, and write
        // that back too, where not all of a message is compared.
        black_box(input.iter().fold(0, |all, byte| all ^ byte));
        fills.push(middle.wrapping_sub(start));
        last = now();
    }
    let ns_per_tick = (last.0 - began.0) as f64 / last.1.wrapping_sub(began.1).max(1) as f64;
    let of_one = |mut ticks: Vec<u64>, messages: u64| {
        ticks.sort_unstable();
        Some(ticks[ticks.len() / 2] as f64 * ns_per_tick / messages as f64)
    };
    let (fill_ns, verify_ns) = (of_one(fills, written), of_one(verifies, compared));
    EndCounters { fill_ns, verify_ns, ..counters }
}
