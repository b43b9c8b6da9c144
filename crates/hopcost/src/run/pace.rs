//! How many operations a phase gets and how they are stamped. Counts, never
//! time, end a phase; the pilot turns the aimed times into counts.

use hopcost_model::{
    Case, ClockReading, PhaseLength, Sampling, Stamp, TrialShape, WaitKind, Waits, Workload,
};
use hopcost_stats::thinning;

/// A pilot run shorter than this says too little.
const PILOT_NS: f64 = 1_500_000.0;
/// Two pilot runs in a row have to agree this well: a single stall would
/// otherwise end the search with a count that is far too small.
const AGREE: f64 = 1.25;
/// Pilot runs at most; a case that never agrees gets the faster of its last two.
const PILOTS_MAX: u32 = 24;
/// How long a phase may take where operations wait for lost messages, which no pilot can tell from
/// how long the others take: together much less than a trial's deadline.
const LOSING_NS: f64 = 2e9;
const LOSING_PILOT_NS: f64 = 5e8;
/// Operations of a pilot run where messages are lost.
const LOSING_PILOT_MAX: f64 = 100.0;
/// Fewer ticks of the clock's resolution than this, and a batch is quantised.
const RESOLUTIONS_PER_BATCH: f64 = 1_000.0;
/// Aimed length of a batch: longer than any quantisation, shorter than a tick.
const BATCH_NS: f64 = 20_000.0;
/// An operation shorter than this many stamps is timed in batches. For spinning ends the limit is `SPINNING`
/// times higher: in the next run their CPUs may be several times nearer, and both runs should time alike.
const EACH_FROM_STAMPS: f64 = 20.0;
const SPINNING: f64 = 4.0;
/// Operations of a phase at most.
const COUNT_MAX: f64 = 4e9;
/// Calls that a batch of them is a multiple of.
pub const CALLS_A_BATCH: u64 = 16;
/// Samples of a phase at most, before thinning.
const SAMPLES_MAX: u64 = 1 << 22;

/// Works out counts for one trial.
pub struct Pace {
    workload: Workload,
    /// Whether each operation is timed, however short.
    times_each: bool,
    /// Whether neither end ever sleeps.
    spins: bool,
    ticks_per_ns: f64,
    stamp_ns: f64,
    resolution_ns: f64,
    shape: TrialShape,
    warm_up_ns: u64,
    count: u64,
    pilots: u32,
    last_ns: Option<f64>,
    /// What an operation takes, as far as is known.
    pub operation_ns: f64,
    /// What an operation takes in all where some lose a message and wait for it in vain.
    losing_ns: Option<f64>,
}

/// Ticks in a nanosecond of the clock that a case is timed with.
pub fn ticks_per_ns(case: &Case, clock: &ClockReading) -> f64 {
    if case.has_virtual_clock() { 1.0 } else { clock.ticks_per_second / 1e9 }
}

impl Pace {
    /// Starts with a guess of one operation.
    pub fn new(case: &Case, clock: &ClockReading, shape: TrialShape) -> Self {
        let ticks_per_ns = ticks_per_ns(case, clock);
        Self {
            workload: case.workload,
            times_each: !case.is_one_by_one(),
            spins: case.waits == Some(Waits::both(WaitKind::Spin)),
            ticks_per_ns,
            stamp_ns: clock.stamp_p50_ns,
            resolution_ns: clock.resolution_ticks as f64 / ticks_per_ns,
            shape,
            warm_up_ns: shape.warm_up_of_ns(case),
            count: if case.workload.has_two_ends() { 1 << 4 } else { 1 << 10 },
            pilots: 0,
            last_ns: None,
            operation_ns: 1.0,
            losing_ns: None,
        }
    }

    /// Takes in a phase in which messages were lost: so many operations took so long in all.
    pub fn lose(&mut self, count: u64, outside_ns: u64) {
        let mean_ns = outside_ns as f64 / count.max(1) as f64;
        self.losing_ns = Some(self.losing_ns.map_or(mean_ns, |known| known.max(mean_ns)));
    }

    /// Operations of a pilot run after one that lost messages.
    pub fn losing_pilot_count(&self) -> u64 {
        self.at_most(LOSING_PILOT_MAX, LOSING_PILOT_NS) as u64
    }

    /// So many operations, or those that take this long where messages are lost.
    fn at_most(&self, count: f64, losing_ns: f64) -> f64 {
        self.losing_ns.map_or(count, |mean_ns| count.min((losing_ns / mean_ns).max(1.0)))
    }

    /// Takes it that operations take from now on what these took: so many nanoseconds each.
    pub fn correct(&mut self, count: u64, elapsed_ticks: u64) -> f64 {
        let operation_ns = elapsed_ticks as f64 / self.ticks_per_ns / count as f64;
        self.operation_ns = operation_ns.max(1e-3);
        operation_ns
    }

    /// Operations that take about this long, at most so many that a run may hold them.
    pub fn count_of(&self, ns: f64) -> u64 {
        (ns / self.operation_ns).clamp(1.0, SAMPLES_MAX as f64) as u64
    }

    /// Operations of the next pilot run.
    pub fn pilot_count(&self) -> u64 {
        self.count
    }

    /// Takes in a pilot run; says whether the length of an operation is known.
    pub fn learn(&mut self, count: u64, elapsed_ticks: u64) -> bool {
        self.pilots += 1;
        let elapsed_ns = elapsed_ticks as f64 / self.ticks_per_ns;
        let operation_ns = (elapsed_ns / count.max(1) as f64).max(1e-3);
        let long_enough = elapsed_ns >= PILOT_NS || count as f64 >= COUNT_MAX / 4.0;
        let agrees = self
            .last_ns
            .is_some_and(|last| (operation_ns / last).max(last / operation_ns) <= AGREE);
        self.operation_ns = self.last_ns.map_or(operation_ns, |last| last.min(operation_ns));
        if (long_enough && agrees) || self.pilots >= PILOTS_MAX {
            return true;
        }
        self.last_ns = long_enough.then_some(operation_ns);
        if !long_enough {
            let growth = (1.3 * PILOT_NS / elapsed_ns.max(1.0)).clamp(2.0, 16.0);
            self.count = (count as f64 * growth).min(COUNT_MAX) as u64;
        }
        false
    }

    /// How to stamp, from the cost of an operation over the cost of a stamp.
    pub fn choose_stamp(&self) -> Stamp {
        let batch_ns = BATCH_NS.max(RESOLUTIONS_PER_BATCH * self.resolution_ns);
        let n =
            ((batch_ns / self.operation_ns).ceil() as u64).clamp(16, 1 << 24).next_multiple_of(16);
        let margin = if self.spins { SPINNING } else { 1.0 };
        let is_short = self.operation_ns < margin * EACH_FROM_STAMPS * self.stamp_ns;
        match self.workload.spec().sampling {
            Sampling::TwoLengths => Stamp::TwoLengths { n },
            Sampling::BatchIfShort if is_short && !self.times_each => Stamp::Batch { n },
            Sampling::BatchIfShort | Sampling::Each => Stamp::Each,
        }
    }

    /// Operations that were asked for, where the workload goes by them.
    fn asked(&self, operations: Option<u64>) -> Option<u64> {
        operations.filter(|_| self.workload.spec().length == PhaseLength::FittedOrAsked)
    }

    /// Operations of the warm-up.
    pub fn warm_up_count(&self, stamp: Stamp) -> u64 {
        if let Some(count) = self.asked(self.shape.warm_up_operations) {
            return whole_batches(count as f64, stamp);
        }
        let count = self.warm_up_ns as f64 / self.operation_ns;
        whole_batches(self.at_most(count, LOSING_PILOT_NS), stamp)
    }

    /// Operations of the measurement: as many as were asked for, or as fit the
    /// aimed time, more up to the cap if that is too few.
    pub fn measure_count(&self, stamp: Stamp) -> u64 {
        if let Some(count) = self.asked(self.shape.operations) {
            return whole_batches(count as f64, stamp);
        }
        let aimed = self.shape.measure_ns as f64 / self.operation_ns;
        let most = (self.shape.measure_max_ns as f64 / self.operation_ns).max(1.0);
        let count = aimed.max((self.shape.operations_min as f64).min(most));
        whole_batches(self.at_most(count, LOSING_NS), stamp)
    }
}

/// A count that the stamp divides.
fn whole_batches(count: f64, stamp: Stamp) -> u64 {
    let (unit, samples_a_unit) = match stamp {
        Stamp::Each => (1, 1),
        Stamp::Batch { n } => (n, 1),
        Stamp::TwoLengths { n } => (3 * n, 2),
    };
    let units = (count.min(COUNT_MAX) / unit as f64).ceil() as u64;
    units.clamp(1, SAMPLES_MAX / samples_a_unit) * unit
}

/// At most `keep` samples, chosen at random, in time order; a pair of batches
/// stays together.
pub fn thin(ticks: &[u64], keep: usize, stamp: Stamp, seed: u64) -> Vec<u64> {
    let group = if matches!(stamp, Stamp::TwoLengths { .. }) { 2 } else { 1 };
    let kept = thinning::kept(ticks.len() / group, keep / group, seed);
    kept.flat_map(|at| &ticks[at * group..(at + 1) * group]).copied().collect()
}

#[cfg(test)]
mod tests {
    use hopcost_plan::TRIAL_DEFAULT;

    use super::*;

    fn clock() -> ClockReading {
        let known = ClockReading::of_rate("rust", "tsc", 2e9);
        ClockReading { resolution_ticks: 20, stamp_p50_ns: 10.0, ..known }
    }

    fn shape() -> TrialShape {
        TrialShape {
            measure_ns: 50_000_000,
            measure_max_ns: 100_000_000,
            operations_min: 200,
            warm_up_ns: 5_000_000,
            ..TRIAL_DEFAULT
        }
    }

    fn pace_of(id: &str, operation_ns: f64) -> Pace {
        let case: Case = id.parse().unwrap();
        let mut pace = Pace::new(&case, &clock(), shape());
        let took = |count: u64| (count as f64 * operation_ns * 2.0) as u64;
        while !pace.learn(pace.pilot_count(), took(pace.pilot_count())) {}
        pace
    }

    const PIPE: &str = "roundtrip/pipe?payload=64&boundary=process&place=same-cpu&wait=block";

    #[test]
    fn the_pilot_finds_the_length_of_an_operation() {
        for ns in [80.0, 2_600.0, 1e6, 2e8] {
            let pace = pace_of(PIPE, ns);
            assert!((pace.operation_ns / ns - 1.0).abs() < 0.01, "{ns}: {}", pace.operation_ns);
        }
    }

    #[test]
    fn one_stall_does_not_end_the_pilot() {
        let mut pace = Pace::new(&PIPE.parse().unwrap(), &clock(), shape());
        assert!(!pace.learn(16, 2 * 86_000_000));
        while !pace.learn(pace.pilot_count(), pace.pilot_count() * 2 * 2_600) {}
        assert!((pace.operation_ns / 2_600.0 - 1.0).abs() < 0.01);
    }

    #[test]
    fn counts_reach_the_minimum_within_the_cap_and_cheap_operations_are_batched() {
        assert_eq!(pace_of(PIPE, 2_500.0).measure_count(Stamp::Each), 20_000);
        // 1 ms: 50 fit the aim, 200 are wanted, 100 fit the cap.
        let count = pace_of(PIPE, 1e6).measure_count(Stamp::Each);
        assert!((99..=101).contains(&count), "{count}");
        assert_eq!(pace_of(PIPE, 3e8).measure_count(Stamp::Each), 1);
        assert_eq!(pace_of(PIPE, 2_500.0).choose_stamp(), Stamp::Each);
        assert!(matches!(pace_of(PIPE, 100.0).choose_stamp(), Stamp::Batch { n } if n >= 200));
        let ring = "roundtrip/shm-ring?payload=64&boundary=process&place=same-llc&wait=spin";
        assert!(matches!(pace_of(ring, 790.0).choose_stamp(), Stamp::Batch { .. }));
        assert_eq!(pace_of(ring, 810.0).choose_stamp(), Stamp::Each);
        let call = pace_of("call/syscall", 1.0);
        let Stamp::TwoLengths { n } = call.choose_stamp() else { panic!("two lengths") };
        assert!((20_000..21_000).contains(&n));
        assert_eq!(call.measure_count(Stamp::TwoLengths { n }) % (3 * n), 0);
    }

    #[test]
    fn thinning_keeps_order_pairs_and_number() {
        let ticks: Vec<u64> = (0..10_000).collect();
        let kept = thin(&ticks, 1_000, Stamp::Each, 7);
        assert_eq!(kept.len(), 1_000);
        assert!(kept.is_sorted());
        let mean = kept.iter().sum::<u64>() as f64 / 1_000.0;
        assert!((mean - 5_000.0).abs() < 400.0, "{mean}");
        let pairs = thin(&ticks, 1_000, Stamp::TwoLengths { n: 16 }, 7);
        assert_eq!(pairs.len(), 1_000);
        assert!(pairs.chunks(2).all(|pair| pair[0] % 2 == 0 && pair[1] == pair[0] + 1));
        assert_eq!(thin(&ticks, 20_000, Stamp::Each, 7).len(), 10_000);
        assert_eq!(thin(&[u64::MAX], 1, Stamp::Each, 7), [u64::MAX]);
    }
}
