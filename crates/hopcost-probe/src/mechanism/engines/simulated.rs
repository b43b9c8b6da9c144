//! Engines whose operations take a known time, so that it is known what has to come out of a run:
//! a caller without a callee. `clock=virtual` stamps them in a time that only the engine moves:
//! then every sample is exact.

use std::io;

use hopcost_model::case::Workload;
use hopcost_model::units::parse_duration_ns;

use super::{Alone, bad_argument, only_caller};
use crate::clock::{Clock, Hardware, Virtual, rough_ticks};
use crate::endpoint::roundtrip::{end, only_end};
use crate::shape::{Attaching, Call, Half};
use crate::sys;
use crate::workload::call::opaque;
use crate::workload::schedule::Random;
use crate::workload::{Endpoint, PhaseSpec, Stamped, roundtrip};

/// Attaches the only end of an engine.
pub fn attach(_: Half, attaching: &Attaching<'_>) -> io::Result<Box<dyn Endpoint>> {
    only_caller(attaching)?;
    match (attaching.case.mechanism_name(), attaching.parameter("clock")) {
        (_, "virtual") | ("replay" | "known" | "gaps", _) => {
            let engine = Simulated::new(attaching)?;
            Ok(match attaching.case.workload {
                Workload::Call => only_end::<_, Virtual>(engine),
                _ => Box::new(Alone(engine)),
            })
        }
        ("null", _) => real::<Null>(attaching),
        ("spin", _) => real::<Spin>(attaching),
        _ => real::<Sleep>(attaching),
    }
}

fn real<M: Call + 'static>(attaching: &Attaching<'_>) -> io::Result<Box<dyn Endpoint>> {
    let engine = M::new(attaching)?;
    Ok(match attaching.case.workload {
        Workload::Call => only_end::<M, Hardware>(engine),
        _ => end::<_, Hardware>(Alone(engine), attaching.role),
    })
}

/// The number of multiplications or of nanoseconds that an engine's name carries.
fn argument(attaching: &Attaching<'_>) -> io::Result<u64> {
    let argument = attaching.case.argument();
    let (number, want) = match attaching.case.mechanism_name() {
        "null" => (argument.is_none().then_some(0), "`null` without an argument"),
        "spin" => (argument.and_then(|n| n.parse().ok()), "spin:N with a whole number N"),
        _ => (
            argument.and_then(|time| parse_duration_ns(time).ok()),
            "sleep:T with a duration such as 1ms",
        ),
    };
    number.ok_or_else(|| bad_argument(attaching, want))
}

/// `null`: does nothing. What is measured is the loop and its stamps.
struct Null;

impl Call for Null {
    fn new(attaching: &Attaching<'_>) -> io::Result<Self> {
        argument(attaching).map(|_| Null)
    }
    #[inline(always)]
    fn call(&mut self, x: u64) -> u64 {
        x
    }
}

/// `spin:N`: N multiplications, each waiting for the one before, so its time is N
/// times the processor's latency of one (3 cycles on most), proportional to N and
/// to nothing else. In virtual time an operation takes N ns exactly.
struct Spin {
    multiplications: u64,
}

impl Call for Spin {
    fn new(attaching: &Attaching<'_>) -> io::Result<Self> {
        Ok(Spin { multiplications: argument(attaching)? })
    }
    #[inline(always)]
    fn call(&mut self, mut x: u64) -> u64 {
        for _ in 0..self.multiplications {
            // Opaque, or two multiplications would become one.
            x = opaque(x.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        }
        x
    }
}

/// `sleep:T`: clock_nanosleep(2) for T. Takes at least T; what it takes more is
/// the timer's slack and the wake-up. In virtual time it takes T exactly.
struct Sleep {
    time: libc::timespec,
}

impl Call for Sleep {
    fn new(attaching: &Attaching<'_>) -> io::Result<Self> {
        Ok(Sleep { time: sys::timespec(argument(attaching)?) })
    }
    #[inline(always)]
    fn call(&mut self, x: u64) -> u64 {
        sys::sleep(self.time);
        x
    }
}

/// How long operation `number` of a phase takes, the first being 0.
type NextNs = Box<dyn FnMut(u64) -> u64>;

/// Operations in virtual time.
struct Simulated {
    next_ns: NextNs,
    number: u64,
}

impl Call for Simulated {
    fn new(attaching: &Attaching<'_>) -> io::Result<Self> {
        let next_ns: NextNs = match attaching.case.mechanism_name() {
            "replay" => replay(attaching)?,
            "known" => known(attaching)?,
            "gaps" => gaps(),
            _ => {
                let ns = argument(attaching)?;
                Box::new(move |_| ns)
            }
        };
        Ok(Simulated { next_ns, number: 0 })
    }
    #[inline(always)]
    fn call(&mut self, x: u64) -> u64 {
        Virtual::advance((self.next_ns)(self.number));
        self.number += 1;
        x
    }
}

impl Endpoint for Alone<Simulated> {
    fn run(&mut self, spec: &PhaseSpec, out: &mut [u64]) -> io::Result<Stamped> {
        self.0.number = 0;
        roundtrip::caller::<_, Virtual>(self, 1, spec.count, spec.stamp, out)
    }
}

/// `replay:FILE`: latencies from a file, so that what comes out of statistics and reports can be
/// compared with what went in.
///
/// The file has one latency in whole nanoseconds per line; lines that begin with
/// `#` are comments; a blank line starts a new block. Trial t replays block t
/// modulo the number of blocks. Every phase starts so that its first stamped
/// operation is the block's first line, and begins again after the last line.
fn replay(attaching: &Attaching<'_>) -> io::Result<NextNs> {
    let file = attaching.case.argument().filter(|file| !file.is_empty());
    let file = file.ok_or_else(|| bad_argument(attaching, "replay:FILE"))?;
    let text = std::fs::read_to_string(file)
        .map_err(|error| sys::context(error, &format!("reading {file} to replay it")))?;
    let mut blocks = blocks(&text).map_err(|error| sys::failure(format!("{file}:{error}")))?;
    if blocks.is_empty() {
        return Err(sys::failure(format!(
            "{file}: nothing to replay; write one latency in ns per line"
        )));
    }
    let all_ns = blocks.swap_remove(attaching.trial as usize % blocks.len());
    let lines = all_ns.len() as u64;
    let first = lines - roundtrip::LEAD_IN % lines;
    Ok(Box::new(move |number| all_ns[((first + number) % lines) as usize]))
}

/// The blocks of a file, none of them empty; or the line and what is wrong there.
fn blocks(text: &str) -> Result<Vec<Vec<u64>>, String> {
    let mut blocks = vec![Vec::new()];
    for (at, line) in text.lines().map(str::trim).enumerate() {
        if line.is_empty() {
            blocks.push(Vec::new());
        } else if !line.starts_with('#') {
            let ns = line.parse().map_err(|_| {
                format!("{}: `{line}` is not a whole number of nanoseconds", at + 1)
            })?;
            blocks.last_mut().into_iter().for_each(|block| block.push(ns));
        }
    }
    blocks.retain(|block| !block.is_empty());
    Ok(blocks)
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
fn gaps() -> NextNs {
    let (gap_min, window) = (rough_ticks(GAP_MIN_NS), rough_ticks(WINDOW_NS));
    let tick_ns = 1e9 / rough_ticks(1_000_000_000).max(1) as f64;
    let (mut last, mut until) = (0, 0);
    Box::new(move |number| {
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
    })
}

/// What an operation of `known` takes, where nothing changes that.
const LEVEL_NS: f64 = 10_000.0;

/// By how much an operation and a trial are longer than the level.
struct Kind {
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
    // Each trial by 3.5 %, whenever it is measured.
    Kind { name: "noisy", trial: |_, chance| (0.035 * normal(chance)).exp(), ..LEVEL },
    Kind { name: "noisy+5", trial: |_, chance| 1.05 * (0.035 * normal(chance)).exp(), ..LEVEL },
    Kind { name: "noisy+10", trial: |_, chance| 1.1 * (0.035 * normal(chance)).exp(), ..LEVEL },
];

/// The kind of `known` of this name.
fn kind(name: &str) -> Option<&'static Kind> {
    KINDS.iter().find(|kind| kind.name == name)
}

/// Whether `known` may be named with this argument.
pub fn is_kind(argument: Option<&str>) -> bool {
    argument.is_some_and(|name| kind(name).is_some())
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
fn known(attaching: &Attaching<'_>) -> io::Result<NextNs> {
    let kind = attaching.case.argument().and_then(kind).ok_or_else(|| {
        let names: Vec<&str> = KINDS.iter().map(|kind| kind.name).collect();
        bad_argument(attaching, &format!("known: and one of {}", names.join(", ")))
    })?;
    let host = attaching.parameter("host").to_owned();
    let now_ns = sys::clock_ns(libc::CLOCK_MONOTONIC);
    let mut chance = Random(now_ns ^ u64::from(std::process::id()) << 40);
    let trial_ns = LEVEL_NS * (kind.trial)(attaching.trial, &mut chance);
    Ok(Box::new(move |number| {
        let longer = (kind.operation)(number, &mut chance) * slower(&host);
        (trial_ns * longer) as u64
    }))
}
