//! Engines whose operations take a known time, so that it is known what has to come out of a run:
//! a caller without a callee. `clock=virtual` stamps them in a time that only the engine moves:
//! then every sample is exact.

use std::io;

use hopcost_model::{PhaseSpec, Workload};

use super::{Alone, time_ns};
use crate::clock::{Clock, Hardware, Virtual, rough_ticks};
use crate::shape::{Attaching, Half};
use crate::sys;
use crate::workload::call::{self, only_end, opaque};
use crate::workload::schedule::Random;
use crate::workload::{Endpoint, end_of, roundtrip};

/// Attaches the only end of an engine.
///
/// - `null` does nothing: what is measured is the loop and its stamps.
/// - `spin:N` makes N multiplications, each of which waits for the one before: N times the processor's
///   latency of one (3 cycles on most), proportional to N and to nothing else.
/// - `sleep:T` is clock_nanosleep(2): it takes at least T, and more by the timer's slack and the wake-up.
///
/// With `clock=virtual` their operations take nothing, N ns and T exactly.
pub fn attach(_: Half, attaching: &Attaching<'_>) -> io::Result<Box<dyn Endpoint>> {
    let argument = attaching.case.argument();
    let time_ns = time_ns(argument).unwrap_or(0);
    let multiplications = argument.and_then(|n| n.parse::<u64>().ok()).unwrap_or(0);
    match (attaching.case.mechanism_name(), attaching.parameter("clock")) {
        ("known", _) => simulated(attaching, known(attaching)),
        ("gaps", _) => simulated(attaching, gaps()),
        (name, "virtual") => {
            let ns = if name == "sleep" { time_ns } else { multiplications };
            simulated(attaching, move |_| ns)
        }
        ("null", _) => real(attaching, |x| x),
        ("spin", _) => real(attaching, move |mut x| {
            for _ in 0..multiplications {
                // Opaque, or two multiplications would become one.
                x = opaque(x.wrapping_mul(0x9E37_79B9_7F4A_7C15));
            }
            x
        }),
        _ => {
            let time = sys::timespec(time_ns);
            real(attaching, move |x| {
                sys::sleep(time);
                x
            })
        }
    }
}

fn real(
    attaching: &Attaching<'_>,
    call: impl FnMut(u64) -> u64 + 'static,
) -> io::Result<Box<dyn Endpoint>> {
    match attaching.case.workload {
        Workload::Call => only_end(call),
        _ => end_of::<_, Hardware>(Alone(call), attaching),
    }
}

/// An end in virtual time, of which operation `number` of a phase takes so long, the first being 0.
fn simulated(
    attaching: &Attaching<'_>,
    mut next_ns: impl FnMut(u64) -> u64 + 'static,
) -> io::Result<Box<dyn Endpoint>> {
    let workload = attaching.case.workload;
    Ok(Box::new(move |spec: &PhaseSpec, out: &mut [u64]| {
        let mut number = 0;
        let mut call = |x| {
            Virtual::advance(next_ns(number));
            number += 1;
            x
        };
        let PhaseSpec { count, stamp, .. } = *spec;
        match workload {
            Workload::Call => Ok(call::run::<_, Virtual>(&mut call, count, stamp, out)),
            _ => roundtrip::caller::<_, Virtual>(&mut Alone(call), 1, count, stamp, out),
        }
    }))
}

/// The shortest gap that is counted: longer than any two readings of the clock.
const GAP_MIN_NS: u64 = 1_000;
/// How long an operation looks for one.
const WINDOW_NS: u64 = 100_000;

/// `gaps`: reads the clock in a loop, so that whatever takes the CPU away shows as a gap between
/// two readings: other tasks, interrupts, the hypervisor (hwlat and osnoise count the same way).
///
/// An operation has the next 100 µs to find a gap of a microsecond or more. It ends with the first
/// and takes as long as that gap in virtual time, or no time at all where there is none. A gap may
/// be longer than the time of many operations, which are over at once then: a phase watches the
/// CPU for as long as it has operations, however busy that is.
fn gaps() -> impl FnMut(u64) -> u64 {
    let (gap_min, window) = (rough_ticks(GAP_MIN_NS), rough_ticks(WINDOW_NS));
    let tick_ns = 1e9 / rough_ticks(1_000_000_000).max(1) as f64;
    let (mut last, mut until) = (0, 0);
    move |number| {
        if number == 0 {
            // What lay between two phases is no gap.
            (last, _) = Hardware::stamp();
            until = last;
        }
        until += window;
        while last < until {
            let (now, _) = Hardware::stamp();
            let gap = now.saturating_sub(last);
            last = now;
            if gap >= gap_min {
                return (gap as f64 * tick_ns) as u64;
            }
        }
        0
    }
}

/// What an operation of `known` takes, where nothing changes that.
const LEVEL_NS: f64 = 10_000.0;

/// By how much an operation and a trial are longer than the level.
pub struct Kind {
    name: &'static str,
    /// From the operation's number and from chance.
    operation: fn(u64, &mut Random) -> f64,
    /// From the trial's number and from chance.
    trial: fn(u32, &mut Random) -> f64,
}

const LEVEL: Kind = Kind { name: "level", operation: |_, _| 1.0, trial: |_, _| 1.0 };

const KINDS: &[Kind] = &[
    LEVEL,
    // 30 % half as long again, each within 2 %.
    Kind {
        name: "bimodal",
        operation: |_, chance| {
            let at = if chance.uniform() < 0.3 { 1.5 } else { 1.0 };
            at * (0.98 + 0.04 * chance.uniform())
        },
        ..LEVEL
    },
    // Each of 1 to 2,000 ns as often, in a scrambled order.
    Kind {
        name: "ramp",
        operation: |number, _| ((number * 777 % 2_000) as f64 + 1.5) / LEVEL_NS,
        ..LEVEL
    },
    // Every tenth a hundred times as long.
    Kind {
        name: "stall",
        operation: |number, _| if number % 10 == 9 { 100.0 } else { 1.0 },
        ..LEVEL
    },
    // A hundredth a trial.
    Kind { name: "drift", trial: |trial, _| 1.0 + 0.01 * f64::from(trial), ..LEVEL },
    // Each trial depends on the one before with a correlation of 0.7.
    Kind { name: "ar1", trial: |trial, _| (0.1 * ar1(trial)).exp(), ..LEVEL },
    // The trials of `ar1`, sixty at a time, in an order in which neighbours were far apart.
    Kind {
        name: "shuffled",
        trial: |trial, _| (0.1 * ar1(trial / 60 * 60 + trial * 23 % 60)).exp(),
        ..LEVEL
    },
];

/// The kind of `known` of this name.
pub fn kind(name: Option<&str>) -> Option<&'static Kind> {
    KINDS.iter().find(|kind| Some(kind.name) == name)
}

/// A standard normal deviate, as a sum of twelve.
fn normal(chance: &mut Random) -> f64 {
    (0..12).map(|_| chance.uniform()).sum::<f64>() - 6.0
}

/// An AR(1) series of standard deviates at this trial, the same in every run.
fn ar1(trial: u32) -> f64 {
    const RHO: f64 = 0.7;
    let mut chance = Random(SEED);
    let mut state = normal(&mut chance);
    for _ in 0..trial {
        state = RHO * state + (1.0 - RHO * RHO).sqrt() * normal(&mut chance);
    }
    state
}

/// Sixty trials of it correlate by 0.69 and 0.50 with those one and two before, shuffled by 0.01, with a
/// standard deviation of 1.01.
const SEED: u64 = 787;

/// How much slower the simulated host is now than at its reference: with `host=two-states` everything
/// takes half as long again for 60 % of the real time, in stretches of 60 and 120 ms, as on a host
/// that has two speeds.
fn slower(host: &str) -> f64 {
    const STRETCH_NS: u64 = 60_000_000;
    if host != "two-states" {
        return 1.0;
    }
    let stretch = sys::clock_ns(libc::CLOCK_MONOTONIC) / STRETCH_NS;
    // Multiples of the golden ratio are spread evenly over whatever time one looks at.
    let place = stretch.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
    if place < (1 << 32) * 4 / 10 { 1.0 } else { 1.5 }
}

/// `known:KIND`: operations that take what [`KINDS`] says: two typical durations, stalls, a drift,
/// trials that depend on the one before, or trials that vary by chance alone.
///
/// A case with a host has a yardstick that is simulated too: `known:level` on the same host.
fn known(attaching: &Attaching<'_>) -> impl FnMut(u64) -> u64 + use<> {
    let kind = kind(attaching.case.argument()).unwrap_or(&LEVEL);
    let host = attaching.parameter("host").to_owned();
    let now_ns = sys::clock_ns(libc::CLOCK_MONOTONIC);
    let mut chance = Random(now_ns ^ u64::from(std::process::id()) << 40);
    let trial_ns = LEVEL_NS * (kind.trial)(attaching.trial, &mut chance);
    move |number| {
        let longer = (kind.operation)(number, &mut chance) * slower(&host);
        (trial_ns * longer) as u64
    }
}
