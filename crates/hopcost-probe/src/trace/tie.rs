//! The clock of the stamps and that of the events tied to each other.
//!
//! Stamps are ticks of the processor's counter, events are in nanoseconds of
//! CLOCK_MONOTONIC_RAW, at which the kernel reads them off the same counter where it trusts it.
//! Both are read together on every CPU concerned, before and after: one line has to go through
//! all of these readings. Where the stamps are of CLOCK_MONOTONIC, the events are too.

use std::collections::BTreeMap;
use std::io;

use hopcost_model::{TraceEvent, TraceKind, TraceThread};
use libc::{CLOCK_MONOTONIC, clockid_t};

use super::EndStamp;
use crate::clock::{Clock, Hardware, Pair};
use crate::sys::{self, Doing, ensure};

/// If events and stamps may be further apart than this, there is no trace.
pub const BOUND_MAX_NS: u64 = 1_000;
/// Tries at a reading, of which the shortest counts: the others were interrupted.
const TRIES: u32 = 100;

/// What a refusal says.
const UNTIED: &str = "the clocks of events and stamps cannot be tied";

/// What the own time namespace adds to the clocks (time_namespaces(7)).
const TIME_NAMESPACE: &str = "/proc/self/timens_offsets";

/// Whether such a file says that CLOCK_MONOTONIC, and with it CLOCK_MONOTONIC_RAW, is shifted.
pub fn is_shifted(offsets: &str) -> bool {
    let words = offsets.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    words.into_iter().any(|line| matches!(line[..], ["monotonic", s, ns] if (s, ns) != ("0", "0")))
}

/// A line from ticks to nanoseconds.
#[derive(Debug, Clone)]
pub struct Tie {
    pub cpus: Vec<u32>,
    /// Of the events.
    pub clock: clockid_t,
    pairs: Vec<Pair>,
    /// Nanoseconds in a tick.
    rate: f64,
    /// How far events and stamps can be apart.
    pub bound_ns: u64,
}

impl Tie {
    /// Reads both clocks on these CPUs for the first time; `clock` is that of the events.
    pub fn begin(cpus: &[u32], clock: clockid_t) -> io::Result<Self> {
        ensure!(
            !is_shifted(&std::fs::read_to_string(TIME_NAMESPACE).unwrap_or_default()),
            "{UNTIED}: this time namespace shifts CLOCK_MONOTONIC for programs and not for events; \
             run outside of it"
        );
        let mut tie = Tie { cpus: cpus.to_vec(), clock, pairs: Vec::new(), rate: 0.0, bound_ns: 0 };
        tie.read()?;
        Ok(tie)
    }

    /// Reads both clocks on every CPU once more, in a thread of its own, so that the affinity of
    /// the calling one stays as it is.
    pub fn read(&mut self) -> io::Result<()> {
        if self.clock == CLOCK_MONOTONIC {
            // It is that of the stamps too: any two points of the line will do.
            self.pairs = [0, 1 << 32].map(|at| Pair { ticks: at, ns: at, half_ticks: 0 }).into();
            return Ok(());
        }
        let cpus = &self.cpus;
        let read = || -> io::Result<Vec<Pair>> {
            cpus.iter().map(|cpu| sys::pin(*cpu).map(|()| Pair::read(TRIES))).collect()
        };
        self.pairs.extend(sys::on_a_thread(read).doing("reading the clocks of the CPUs")?);
        Ok(())
    }

    /// Lays the line through the first and the last reading.
    ///
    /// # Errors
    /// If the others are too far from it.
    pub fn tied(mut self) -> io::Result<Self> {
        let ends = self.pairs.first().zip(self.pairs.last());
        let (first, last) = ends.ok_or_else(|| sys::failure("the clocks were never read"))?;
        let (ticks, ns) = (last.ticks.wrapping_sub(first.ticks), last.ns.wrapping_sub(first.ns));
        let moved = [ticks, ns].iter().all(|moved| (1..=i64::MAX as u64).contains(moved));
        ensure!(moved, "{UNTIED}: one stands still");
        self.rate = ns as f64 / ticks as f64;
        let off = |pair: &Pair| {
            let off_ns = self.ns(pair.ticks).abs_diff(pair.ns);
            off_ns.saturating_add((pair.half_ticks as f64 * self.rate).ceil() as u64)
        };
        self.bound_ns = self.pairs.iter().map(off).max().unwrap_or(0);
        ensure!(
            self.bound_ns <= BOUND_MAX_NS,
            "{UNTIED}: readings of both lie up to {} ns from one line, more than {BOUND_MAX_NS}; is \
             the kernel's clock source {}?",
            self.bound_ns,
            Hardware::SOURCE
        );
        Ok(self)
    }

    /// CLOCK_MONOTONIC_RAW when the processor's counter was at this.
    pub fn ns(&self, ticks: u64) -> u64 {
        let Some(first) = self.pairs.first() else { return 0 };
        let since = ticks.wrapping_sub(first.ticks) as i64;
        first.ns.saturating_add_signed((since as f64 * self.rate).round() as i64)
    }

    /// So many ticks in nanoseconds.
    pub fn duration_ns(&self, ticks: u64) -> u64 {
        (ticks as f64 * self.rate).round() as u64
    }

    /// For tests: of readings that were made up.
    #[cfg(test)]
    pub fn of(pairs: &[Pair]) -> Self {
        let (cpus, clock) = (Vec::new(), libc::CLOCK_MONOTONIC_RAW);
        Tie { cpus, clock, pairs: pairs.to_vec(), rate: 0.0, bound_ns: 0 }
    }
}

/// Events and stamps in one order, from the first stamp, at which time begins, to the last.
pub fn merged(events: &[TraceEvent], stamps: &[EndStamp], tie: &Tie) -> Vec<TraceEvent> {
    let mut stamps: Vec<(u64, EndStamp)> =
        stamps.iter().map(|stamp| (tie.ns(stamp.ticks), *stamp)).collect();
    // Those of one moment keep their order.
    stamps.sort_by_key(|(at_ns, _)| *at_ns);
    let Some(&(begin_ns, _)) = stamps.first() else { return Vec::new() };
    let mut out = Vec::with_capacity(events.len() + stamps.len());
    let mut events = events.iter().peekable();
    // Where each thread ran last.
    let mut cpus: BTreeMap<TraceThread, u32> = BTreeMap::new();
    for (at_ns, stamp) in stamps {
        while let Some(event) = events.next_if(|event| event.at_ns <= at_ns) {
            let runs = match event.kind {
                TraceKind::Switch { to, .. } => to,
                _ => event.thread,
            };
            cpus.insert(runs, event.cpu);
            if event.at_ns >= begin_ns {
                out.push(TraceEvent { at_ns: event.at_ns - begin_ns, ..*event });
            }
        }
        let known = stamp.cpu.or_else(|| cpus.get(&stamp.thread).copied());
        let ahead = || events.peek().map(|event| event.cpu);
        out.push(TraceEvent {
            at_ns: at_ns - begin_ns,
            cpu: known.or_else(ahead).unwrap_or(0),
            thread: stamp.thread,
            kind: TraceKind::Stamp(stamp.number),
        });
    }
    out
}
