//! What a trial depends on.

use std::rc::Rc;

use hopcost_model::{Boundary, Case, ClockReading, Role, ScheduleSeed, Stamp, TrialShape};
use hopcost_plan::{TRIAL_DEFAULT, traced_ns};
use hopcost_probe::clock::rough_ticks;
use hopcost_probe::sys;

use crate::run::peer::near::Peer;
use crate::run::runtimes::Workers;
use crate::run::setup::Setup;
use crate::run::worker::Transcript;

/// Messages of a flow at most where nobody says; the time ends it before.
const MESSAGES_MAX: u64 = 1 << 16;
/// How long a trial may stand still when the budget is spent.
const MOMENT_MS: u64 = 2_000;
/// What a worker of another runtime may take to start.
const START_UP_MS: u64 = 5_000;
/// What one that compiles while it runs may take to start and to warm up.
const STEADY_START_UP_MS: u64 = 20_000;

/// Stands for the token that opens a link; messages have higher numbers.
pub const TOKEN: u64 = 0;

/// Everything a trial depends on.
#[derive(Clone)]
pub struct TrialSpec<'a> {
    /// What all trials have.
    pub setup: &'a Setup,
    pub case: Rc<Case>,
    /// Who plays it.
    pub workers: Rc<Workers<'a>>,
    /// CPUs of the caller and the callee; none where free.
    pub cpus: (Option<u32>, Option<u32>),
    /// How it is shaped.
    pub shape: TrialShape,
    /// The stamp that earlier trials of this case used.
    pub stamp: Option<Stamp>,
    /// The clock of the caller, by which a pilot finds how many operations fit the shape. Without any, it has as many
    /// operations as its shape says, no yardstick and no look at the clock: for tests and for looking at
    /// one trial, maybe under a tracer that stretches it.
    pub clock: Option<&'a ClockReading>,
    /// Whether its workers live as long as the run, as those of a yardstick do; a deadline ends a
    /// reading alone.
    pub for_run: bool,
    /// What is left of the run's budget, where there is one.
    pub left_ms: Option<u64>,
    /// Where to keep the transcript of the workers.
    pub transcript: Option<&'a Transcript>,
    /// The message in which a worker changes a byte, or [`TOKEN`], to see whether the other end notices.
    pub spoil: Option<u64>,
    /// The trial's number among those of its case.
    pub number: u32,
    /// Bytes of padding in the environment.
    pub padding: usize,
    /// Seed for thinning the samples.
    pub seed: u64,
}

impl<'a> TrialSpec<'a> {
    /// A trial of given counts.
    pub fn exactly(
        setup: &'a Setup,
        case: impl Into<Rc<Case>>,
        workers: impl Into<Rc<Workers<'a>>>,
        cpus: (Option<u32>, Option<u32>),
        (warm_up, measure): (u64, u64),
    ) -> Self {
        Self {
            setup,
            case: case.into(),
            workers: workers.into(),
            cpus,
            shape: TrialShape {
                warm_up_operations: Some(warm_up),
                operations: Some(measure),
                ..TRIAL_DEFAULT
            },
            stamp: None,
            clock: None,
            for_run: false,
            left_ms: None,
            transcript: None,
            spoil: None,
            number: 0,
            padding: 0,
            seed: 0,
        }
    }

    /// The far host, whose worker is the last of a trial between hosts.
    pub fn peer(&self) -> Option<&Peer> {
        self.setup.peer.as_ref().filter(|_| self.case.boundary == Boundary::Host)
    }

    /// Whether the counts are given.
    pub fn is_exact(&self) -> bool {
        self.clock.is_none()
    }

    /// Ticks of the caller's clock in a second; where nobody has looked at it, good to a percent.
    pub fn ticks_per_second(&self) -> f64 {
        match self.clock {
            _ if self.case.has_virtual_clock() => 1e9,
            Some(clock) => clock.ticks_per_second,
            None => match self.workers.foreign(Role::Caller) {
                Some(ready) => ready.description.clock.ticks_per_second,
                None => rough_ticks(1_000_000_000) as f64,
            },
        }
    }

    /// What the times follow from at which a `load` sends.
    pub fn schedule(&self) -> ScheduleSeed {
        ScheduleSeed { seed: self.seed, ticks_per_second: self.ticks_per_second() }
    }

    /// Messages of each sender of a `load`: of the generator without a channel, of the warm-up,
    /// of the measurement.
    pub fn load_messages(&self) -> [u64; 3] {
        let of_all = self.shape.load_messages(self.case.rate.unwrap_or(1.into()));
        of_all.map(|messages| messages.div_ceil(self.case.senders.into()))
    }

    /// The CPUs of the ends, the callers' first. Senders beyond the first have those that this
    /// process may use besides; without one left they are where the scheduler puts them.
    pub fn cpus_asked(&self) -> Vec<Option<u32>> {
        let (caller, callee) = self.cpus;
        let free = if self.case.senders > 1 { sys::allowed_cpus() } else { Ok(Vec::new()) };
        let free = free.unwrap_or_default().into_iter().map(Some);
        let mut free = free.filter(|cpu| caller.is_some() && *cpu != caller && *cpu != callee);
        let mut all = vec![caller];
        all.extend((1..self.case.senders).map(|_| free.next().flatten()));
        all.extend(self.case.two_ends().then_some(callee));
        all
    }

    /// Messages of each flow at most.
    pub fn messages_max(&self) -> u64 {
        self.shape.operations.unwrap_or(MESSAGES_MAX)
    }

    /// The trial's deadline, longer where its workers need to start or its wake-ups alone
    /// take long.
    pub fn deadline_ms(&self) -> u64 {
        let start_up_ms = match () {
            () if self.workers.warms_up_until_steady() => STEADY_START_UP_MS,
            () if self.workers.has_foreign() => START_UP_MS,
            () => 0,
        };
        let (warm_up, measure) = self.shape.wake_ups();
        // Three times as long as if a wake-up took a millisecond.
        let wake_up_ns =
            self.case.gap_ns.map_or(0, |gap_ns| gap_ns.saturating_add(1_000_000).saturating_mul(3));
        let wake_ups_ms = (warm_up + measure).saturating_mul(wake_up_ns) / 1_000_000;
        // Ten times as long as the schedule.
        let messages: u64 = self.load_messages().iter().sum();
        let load_ms = self.case.rate.map_or(0, |rate| {
            let all = messages.saturating_mul(10 * u64::from(self.case.senders));
            rate.ns_of(all) / 1_000_000
        });
        let traced_ms = traced_ns(&self.shape, &self.case).saturating_mul(10) / 1_000_000;
        let beside_ms = wake_ups_ms.saturating_add(load_ms).saturating_add(traced_ms);
        let all_ms = (start_up_ms + self.shape.deadline_ms).saturating_add(beside_ms);
        // One that stands still takes what is left of the budget, and no less than a healthy one may.
        let measured_ns =
            self.shape.warm_up_of_ns(&self.case).saturating_add(self.shape.measure_max_ns);
        let least_ms = start_up_ms + MOMENT_MS + measured_ns / 1_000_000 * 4 + beside_ms / 3;
        self.left_ms.map_or(all_ms, |left_ms| all_ms.min(left_ms.max(least_ms)))
    }
}
