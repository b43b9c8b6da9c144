//! The yardsticks of a run: cases played by workers that live as long as it does, asleep in
//! read(2) except while one of them is read, right before and right after a trial.

use std::time::{Duration, Instant};

use anyhow::{Context, Error, Result, ensure};
use hopcost_machine::{Counted, Root};
use hopcost_model::{
    Case, ClockReading, Moment, Plan, RawTrial, Runtime, TrialShape, Yardstick, YardstickReading,
};
use hopcost_plan::{TRIAL_DEFAULT, Yardsticks};
use hopcost_probe::interrupt;
use hopcost_stats::sample::median;

use super::pace::{self, Pace};
use super::runtimes::Workers;
use super::setup::Setup;
use super::trial::keep;
use super::trial::open;
use super::trial::spec::TrialSpec;
use super::trial::workers::TrialWorkers;
use super::worker::Program;

/// Aimed length of a reading.
const READING_NS: f64 = 1_500_000.0;
/// Batches of a reading.
const BATCHES: u64 = 12;
/// Of which the first few find the caches as others left them, and do not count.
const BATCHES_COLD: usize = 3;
/// Readings that are taken when one is opened and not kept.
const WARM_UPS: u32 = 3;
/// What opening and sizing one may take before it is given up, and what a reading may.
const PATIENCE: Duration = Duration::from_secs(3);
const READ_WITHIN: Duration = Duration::from_secs(2);

/// The yardsticks that a plan needs. None where a stand-in plays the worker: what it says of
/// time is made up. None either where cases are compared with their neighbours in time, which are
/// nearer without.
pub fn of_plan(plan: &Plan, setup: &Setup) -> Yardsticks {
    let own = Program::own().ok();
    if own.as_ref() != Some(&setup.native) || plan.comparison.is_some() {
        return Yardsticks::default();
    }
    // With what only this binary knows of them.
    let rust = hopcost_probe::worker::mechanisms();
    hopcost_plan::yardsticks(plan, &|runtime, name| {
        let others = || setup.runtimes.description(runtime).map(|said| &said.mechanisms);
        let mechanisms = if runtime.is_rust() { Some(&rust) } else { others() };
        mechanisms?.iter().find(|mechanism| mechanism.name == name)
    })
}

/// The same for a run that is gone on with, whose readings are of these: none where it would
/// need others today.
pub fn of_resumed(plan: &Plan, setup: &Setup, earlier: &[Yardstick]) -> Yardsticks {
    let mut planned = of_plan(plan, setup);
    let same = |(new, old): (&Yardstick, &Yardstick)| {
        (new.class, &new.case, &new.cpus) == (old.class, &old.case, &old.cpus)
    };
    if earlier.is_empty() {
        return planned;
    }
    if planned.all.len() != earlier.len() || !planned.all.iter().zip(earlier).all(same) {
        return Yardsticks::default();
    }
    for (new, old) in planned.all.iter_mut().zip(earlier) {
        (new.operations, new.reference) = (old.operations, old.reference.clone());
    }
    planned
}

/// What the workers of a yardstick are started from, or why nobody plays it.
fn spec_of<'a>(
    yardstick: &Yardstick,
    setup: &'a Setup,
    clocks: &'a [ClockReading],
) -> Result<TrialSpec<'a>> {
    let case: Case = yardstick.case.parse()?;
    let workers = Workers::assemble(&case, &setup.runtimes)?;
    let caller = yardstick.cpus.first().copied();
    let cpus = (caller, yardstick.cpus.get(1).copied().or(caller));
    let clock = ClockReading::find(clocks, &Runtime::RUST, cpus.0).map_err(Error::msg)?;
    Ok(TrialSpec {
        shape: TrialShape { deadline_ms: PATIENCE.as_millis() as u64, ..TRIAL_DEFAULT },
        clock: Some(clock),
        for_run: true,
        ..TrialSpec::exactly(setup, case, workers, cpus, (0, 0))
    })
}

/// A yardstick and its workers.
struct Open<'a> {
    yardstick: Yardstick,
    workers: Option<TrialWorkers<'a>>,
}

impl<'a> Open<'a> {
    /// Starts its workers and finds out how many operations a reading has, unless that is known.
    fn open(&mut self, setup: &'a Setup, clocks: &'a [ClockReading]) -> Result<()> {
        let spec = &spec_of(&self.yardstick, setup, clocks)?;
        let mut workers = open::open(spec)?;
        workers.allow(PATIENCE);
        let known = self.yardstick.operations > 0;
        if !known {
            let clock = spec.clock.context("it has no clock")?;
            let mut pace = Pace::new(&spec.case, clock, spec.shape);
            workers.pilot(&mut pace)?;
            self.size(spec, pace.operation_ns);
        }
        self.workers = Some(workers);
        // These readings warm up; and where the pilot met a stall, they are too short.
        for _ in 0..WARM_UPS {
            let operation_ns = self.take()?;
            if !known && operation_ns * self.yardstick.operations as f64 * 1.5 < READING_NS {
                self.size(spec, operation_ns);
            }
        }
        Ok(())
    }

    /// Gives its readings as many operations as fit their aimed length.
    fn size(&mut self, spec: &TrialSpec<'_>, operation_ns: f64) {
        let batch = (READING_NS / BATCHES as f64 / operation_ns).max(1.0) as u64;
        let whole = if spec.case.two_ends() { 1 } else { pace::CALLS_A_BATCH };
        self.yardstick.operations = BATCHES * batch.next_multiple_of(whole);
    }

    /// Nanoseconds an operation, the lower quartile over the batches of one reading.
    fn take(&mut self) -> Result<f64> {
        let workers = self.workers.as_mut().context("its workers are gone")?;
        let clock = workers.spec.clock.context("it has no clock")?;
        workers.allow(READ_WITHIN);
        let batch = (self.yardstick.operations / BATCHES).max(1);
        let mut ticks = keep::batches(workers, BATCHES, batch)?;
        let warm = ticks.get_mut(BATCHES_COLD..).unwrap_or_default();
        warm.sort_unstable();
        // The lower quartile: a task that shares the CPU makes most batches longer, and none shorter.
        let quartile = warm.get(warm.len() / 4).copied().unwrap_or(0) as f64;
        let operation_ns = quartile / pace::ticks_per_ns(&workers.spec.case, clock) / batch as f64;
        ensure!(operation_ns > 0.0, "it took no time at all");
        Ok(operation_ns)
    }

    /// Goes on without its workers, which failed; the user's interrupt is no failure.
    fn lose(&mut self, why: Error) -> Result<()> {
        self.workers = None;
        ensure!(!interrupt::came(), why);
        self.yardstick.gone = Some(format!("{why:#}"));
        Ok(())
    }
}

/// The yardsticks of a run while it lasts.
pub struct OpenYardsticks<'a>(Vec<Open<'a>>);

impl<'a> OpenYardsticks<'a> {
    /// Opens all; one that cannot be opened says why, and the run goes on without it. The only
    /// failure is that the user interrupted.
    pub fn open(
        yardsticks: &[Yardstick],
        setup: &'a Setup,
        clocks: &'a [ClockReading],
    ) -> Result<Self> {
        let open = |yardstick: &Yardstick| {
            let mut one = Open { yardstick: yardstick.clone(), workers: None };
            one.open(setup, clocks).or_else(|why| one.lose(why)).map(|()| one)
        };
        yardsticks.iter().map(open).collect::<Result<_>>().map(Self)
    }

    /// What is known of them.
    pub fn known(&self) -> Vec<Yardstick> {
        self.0.iter().map(|one| one.yardstick.clone()).collect()
    }

    /// The processes of their workers.
    fn pids(&self) -> Vec<u32> {
        let workers = self.0.iter().filter_map(|one| one.workers.as_ref());
        workers.flat_map(TrialWorkers::pids).collect()
    }

    /// A reading; none of a yardstick whose workers are lost.
    pub(super) fn read(&mut self, index: u32, moment: Moment) -> Result<Option<YardstickReading>> {
        let open = self.0.get_mut(index as usize).filter(|one| one.workers.is_some());
        let Some(one) = open else { return Ok(None) };
        match one.take() {
            Ok(operation_ns) => {
                Ok(Some(YardstickReading { yardstick: index, moment, operation_ns }))
            }
            Err(why) => one.lose(why).map(|()| None),
        }
    }
}

/// Readings that tell how fast a host is.
const READINGS: usize = 12;

/// What an operation of a yardstick takes, over some readings of it alone; none if the user
/// interrupted.
pub fn speed_ns(yardstick: Yardstick, setup: &Setup, clocks: &[ClockReading]) -> Option<f64> {
    let mut open = OpenYardsticks::open(&[yardstick], setup, clocks).ok()?;
    let mut taken = Vec::new();
    for _ in 0..READINGS {
        taken.extend(open.read(0, Moment::Before).ok()?.map(|read| read.operation_ns));
    }
    median(&taken)
}

/// What is looked at beside one trial: its yardstick, and what the kernel counts.
pub struct Beside<'o, 'a> {
    open: Option<&'o mut OpenYardsticks<'a>>,
    index: Option<u32>,
    counted: Option<(Counted, Instant)>,
}

impl<'o, 'a> Beside<'o, 'a> {
    /// None, as beside trials of given counts.
    pub const NONE: Self = Self { open: None, index: None, counted: None };

    /// That of this index, if there is one.
    pub fn of(open: &'o mut OpenYardsticks<'a>, index: Option<u32>) -> Self {
        Self { open: Some(open), index, counted: None }
    }

    /// Takes a reading. What the kernel counts is looked at before the first and after the
    /// last, because that takes a while.
    pub fn read(
        &mut self,
        moment: Moment,
        spec: &TrialSpec<'_>,
        trial: &mut RawTrial,
    ) -> Result<()> {
        let Some(open) = &mut self.open else { return Ok(()) };
        if spec.case.has_virtual_clock() && self.index.is_none() {
            return Ok(());
        }
        let mut cpus: Vec<u32> = trial.cpus_asked.iter().copied().flatten().collect();
        cpus.dedup();
        if moment == Moment::Before {
            self.counted = Some((Counted::now(&Root::default(), &cpus), Instant::now()));
        }
        if let Some(index) = self.index {
            trial.yardsticks.extend(open.read(index, moment)?);
        }
        if let (Moment::After, Some((before, since))) = (moment, &self.counted) {
            trial.watched_ns = since.elapsed().as_nanos() as u64;
            let after = Counted::now(&Root::default(), &cpus);
            trial.cpu_uses = after.cpus_since(before);
            trial.throttling = after.throttled_since(before);
        }
        Ok(())
    }

    /// Processes that live on when the trial is over.
    pub fn pids(&self) -> Vec<u32> {
        self.open.as_ref().map_or(Vec::new(), |open| open.pids())
    }
}
