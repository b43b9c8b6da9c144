//! What a loop saw, and an end that runs phases of it.

use std::io;

use hopcost_model::{GateReading, PhaseSpec, Stamp, ZeroCopySends};

use super::lateness;
use crate::clock::Clock;
use crate::meeting::Meeting;
use crate::sys::{self, ensure};

/// What a loop saw.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Stamped {
    /// Operations done.
    pub count: u64,
    pub samples: u64,
    /// The longest sample in ticks.
    pub max_ticks: u64,
    /// Ticks from the first stamp to the last.
    pub elapsed_ticks: u64,
    /// Stamps whose CPU differed from the one before.
    pub cpu_changes: u64,
    /// The clock when the first operation began.
    pub first_tick: u64,
    /// Bytes of message moved.
    pub bytes: u64,
    /// Exchanges that lost a message or timed out.
    pub lost: u64,
    /// Wake-ups that were put off.
    pub overruns: u64,
    /// Sends that were to be without a copy.
    pub zero_copy: Option<ZeroCopySends>,
}

impl Stamped {
    /// Counts a sample, and keeps it if there is room.
    #[inline(always)]
    pub(super) fn keep(&mut self, word: u64, out: &mut [u64]) {
        if let Some(place) = out.get_mut(self.samples as usize) {
            *place = word;
        }
        self.samples += 1;
    }

    /// Notes a sample that is a time.
    #[inline(always)]
    pub(super) fn note(&mut self, ticks: u64, out: &mut [u64]) {
        self.keep(ticks, out);
        self.max_ticks = self.max_ticks.max(ticks);
        self.elapsed_ticks += ticks;
    }
}

/// What an end of a `wake` or a `load` has stamped so far, by absolute stamps.
#[derive(Default)]
pub(super) struct Seen {
    pub(super) stamped: Stamped,
    cpu: Option<u32>,
}

impl Seen {
    pub(super) fn from(first_tick: u64) -> Self {
        Self { stamped: Stamped { first_tick, ..Stamped::default() }, cpu: None }
    }

    #[inline(always)]
    pub(super) fn note(&mut self, word: u64, (ticks, cpu): (u64, u32), out: &mut [u64]) {
        let stamped = &mut self.stamped;
        stamped.keep(word, out);
        stamped.count += 1;
        stamped.elapsed_ticks = ticks.wrapping_sub(stamped.first_tick);
        stamped.cpu_changes += u64::from(self.cpu.replace(cpu).is_some_and(|before| before != cpu));
    }

    #[inline(always)]
    pub(super) fn sent(&mut self, (ticks, cpu, came_late): (u64, u32, bool), out: &mut [u64]) {
        self.note(lateness::sent(ticks, came_late), (ticks, cpu), out);
        self.stamped.overruns += u64::from(came_late);
    }

    /// An absolute stamp; the first begins the phase.
    #[inline(always)]
    pub(super) fn note_stamp(&mut self, stamp: (u64, u32), out: &mut [u64]) {
        if self.stamped.count == 0 {
            self.stamped.first_tick = stamp.0;
        }
        self.note(stamp.0, stamp, out);
    }

    #[cold]
    pub(super) fn lost(&mut self, messages: u64, out: &mut [u64]) {
        (0..messages).for_each(|_| self.stamped.keep(0, out));
        self.stamped.lost += messages;
    }
}

/// An end that is attached and can run phases.
pub trait Endpoint {
    /// Runs one phase; samples go into `out` as far as it reaches.
    fn run(&mut self, spec: &PhaseSpec, out: &mut [u64]) -> io::Result<Stamped>;
    /// Compares clocks with the other end, which does so at the same time; the
    /// caller's end knows the outcome.
    fn gate(&mut self, _exchanges: u64, _steps: u64) -> io::Result<Option<GateReading>> {
        Err(sys::failure("the ends of this workload do not compare clocks"))
    }
}

/// An end whose loop meets the other end, or several of them, beside the mechanism.
struct Met<F> {
    meetings: Vec<Meeting>,
    run: F,
    compare: fn(&mut Meeting, u64, u64) -> io::Result<Option<GateReading>>,
}

/// One that runs like this, and whose stamps are of this clock.
pub(super) fn met<C: Clock>(
    meetings: Vec<Meeting>,
    run: impl FnMut(&[Meeting], &PhaseSpec, &mut [u64]) -> io::Result<Stamped> + 'static,
) -> Box<dyn Endpoint> {
    Box::new(Met { meetings, run, compare: Meeting::compare::<C> })
}

impl<F: FnMut(&[Meeting], &PhaseSpec, &mut [u64]) -> io::Result<Stamped>> Endpoint for Met<F> {
    fn run(&mut self, spec: &PhaseSpec, out: &mut [u64]) -> io::Result<Stamped> {
        ensure!(spec.stamp == Stamp::Each, "every message one way is stamped: it has no batches");
        (self.run)(&self.meetings, spec, out)
    }
    fn gate(&mut self, exchanges: u64, steps: u64) -> io::Result<Option<GateReading>> {
        let compared = self.meetings.iter_mut().map(|one| (self.compare)(one, exchanges, steps));
        let readings = compared.collect::<io::Result<Vec<_>>>()?;
        Ok(readings.into_iter().flatten().reduce(GateReading::joined))
    }
}

/// An end that is nothing but its loop.
impl<F: FnMut(&PhaseSpec, &mut [u64]) -> io::Result<Stamped>> Endpoint for F {
    fn run(&mut self, spec: &PhaseSpec, out: &mut [u64]) -> io::Result<Stamped> {
        self(spec, out)
    }
}
