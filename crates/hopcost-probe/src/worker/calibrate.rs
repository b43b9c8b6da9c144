//! Calibration of a CPU's clock: its rate against CLOCK_MONOTONIC_RAW, its
//! resolution, and what a stamp costs. Measured, never compiled in.

use std::io;

use hopcost_model::ClockReading;

use crate::clock::{Clock, Hardware, Pair};
use crate::sys::{self, Doing};

/// Length of each of the two parts of the rate calibration.
const PART_NS: u64 = 50_000_000;
/// Tries at a reading of both clocks.
const TRIES: u32 = 16;
/// Pairs of readings for the cost of a stamp.
const PAIRS: usize = 10_000;

/// Calibrates the clock of this CPU.
pub fn clock(cpu: u32) -> io::Result<ClockReading> {
    sys::pin(cpu).doing(format_args!("pinning to CPU {cpu}"))?;
    crate::clock::available().map_err(sys::failure)?;
    let (first, middle) = (Pair::read(TRIES), wait_for(PART_NS));
    let last = wait_for(PART_NS);
    let rate = |a: Pair, b: Pair| (b.ticks - a.ticks) as f64 / (b.ns - a.ns) as f64 * 1e9;
    let (part_1, part_2, whole) = (rate(first, middle), rate(middle, last), rate(first, last));
    let per_ns = whole / 1e9;
    let costs = sorted(|| ());
    let with_call = sorted(|| _ = std::hint::black_box(sys::clock_ns(libc::CLOCK_MONOTONIC)));
    let at = |values: &[u64], q: f64| {
        let rank = ((q * values.len() as f64).ceil() as usize).clamp(1, values.len());
        values[rank - 1] as f64 / per_ns
    };
    Ok(ClockReading {
        cpu,
        runtime: "rust".to_owned(),
        source: Hardware::SOURCE.to_owned(),
        ticks_per_second: whole,
        rate_spread_ppm: (part_1 - part_2).abs() / whole * 1e6,
        // The smallest difference between two readings that is not zero.
        resolution_ticks: costs.iter().copied().find(|ticks| *ticks > 0).unwrap_or(0),
        stamp_min_ns: at(&costs, 0.0),
        stamp_p50_ns: at(&costs, 0.5),
        stamp_p99_ns: at(&costs, 0.99),
        // A pair of stamps around the call holds one stamp's cost besides it.
        clock_gettime_p50_ns: (at(&with_call, 0.5) - at(&costs, 0.5)).max(0.0),
    })
}

fn wait_for(ns: u64) -> Pair {
    let end = sys::clock_ns(libc::CLOCK_MONOTONIC_RAW) + ns;
    while sys::clock_ns(libc::CLOCK_MONOTONIC_RAW) < end {
        std::hint::spin_loop();
    }
    Pair::read(TRIES)
}

/// What pairs of stamps take with this between them.
fn sorted(between: impl Fn()) -> Vec<u64> {
    let pair = |_| {
        let (a, _) = Hardware::stamp();
        between();
        let (b, _) = Hardware::stamp();
        b.wrapping_sub(a)
    };
    let mut values: Vec<u64> = (0..PAIRS).map(pair).collect();
    values.sort_unstable();
    values
}
