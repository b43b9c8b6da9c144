//! What a run's yardsticks say of the machine's speed beside each trial: by what each trial is
//! adjusted where cases are compared, what the quiet machine would do, and what the run teaches
//! of that.

use std::collections::{BTreeMap, BTreeSet};

use hopcost_model::{
    Applied, Moment, RawRun, RawTrial, Reference, Yardstick, YardstickClass, document, parallel,
};
use hopcost_stats::next_run::{Autocorrelation, Dependence};
use hopcost_stats::quiet::{QuietLevel, quiet_level};
use hopcost_stats::sample::{Sample, median};
use hopcost_stats::yardstick::{
    Calibrated, OTHER_PAIR, Point, Readings, calibrate, decide, elasticity, is_other_pair,
};

use crate::levels::{TwoLevels, two_levels};
use crate::sums::{foreign_share, is_never_idle, is_undisturbed};
use crate::trial::headline_ns;

document! {
    /// A yardstick over the run.
    #[derive(Default)]
    pub struct YardstickLevel {
        /// What it does.
        pub class: YardstickClass,
        /// Canonical spelling of the case that its processes played.
        pub case: String,
        /// The CPUs of its ends, the caller's first.
        pub cpus: Vec<u32>,
        /// Its speed on the quiet machine, as it was known before the run; `null` where none was.
        pub reference: Option<Reference>,
        /// How the run stands to that.
        pub speed: Speed,
        /// How many times as long as on the quiet machine its operations took; `null` where that
        /// is not known.
        pub slower: Option<f64>,
        /// The run's own speed: trimmed mean of the readings, those that were interrupted aside; where
        /// they lie at two levels, the fast one.
        pub own_ns: f64,
        /// What one operation took: median over the readings of the run.
        pub p50_ns: f64,
        /// The 5th percentile of the readings.
        pub p5_ns: f64,
        /// The 95th.
        pub p95_ns: f64,
        /// Readings.
        pub readings: u32,
        /// How much of the spread of the readings is the machine's and not their own error,
        /// 0 to 1; `null` with too few of them.
        pub reliability: Option<f64>,
        /// Its speed beside the undisturbed trials of this run; `null` with too few of them.
        pub taught: Option<Reference>,
    }

    /// How a run stands to the quiet speed of its machine.
    #[derive(Copy, Eq, Default)]
    pub enum Speed {
        /// The quiet speed is not known yet.
        #[default]
        Unknown,
        /// Within 5 % of it.
        Quiet,
        /// Slower.
        Slower,
        /// More than three times slower: too far to say what the quiet machine would do.
        TooFar,
        /// Faster, so that the stored speed is wrong and the run drops it.
        Wrong,
        /// The two CPUs are another distance apart than when the speed was learnt.
        OtherPair,
        /// Other work kept the CPUs from idling, which makes wake-ups faster or slower.
        KeptAwake,
    }

    /// Whether the trials of a class were adjusted by their yardstick, and what says so.
    pub struct Adjustment {
        /// The class.
        pub class: YardstickClass,
        /// What the ends of its cases are written in (`rust`, `python:rust`).
        pub runtime: String,
        /// Cases of the class in the run.
        pub cases: u32,
        /// Trials of these.
        pub trials: u32,
        /// What was decided.
        pub applied: Applied,
        /// Relative change of a value over that of the yardstick, the error of the readings
        /// taken out; `null` where the yardstick hardly varied.
        pub elasticity: Option<f64>,
        /// Lower end of its 95 % interval.
        pub elasticity_low: Option<f64>,
        /// Upper end.
        pub elasticity_high: Option<f64>,
        /// Share of the variance of the values between trials that dividing removes; negative
        /// where it would add to it.
        pub removed_share: Option<f64>,
    }
}

/// The least trials beside which a yardstick was read that say how fast the machine was.
const TRIALS_MIN: usize = 6;
/// The most of a typical trial that other tasks may take: beyond it they slow the short readings
/// of a yardstick down by another factor than the trials.
const SHARED_MAX: f64 = 0.1;
/// The most of a CPU's time that other work may keep from idling where wake-ups are put in relation to
/// those of the quiet machine. On a quiet guest a tenth is of no thread of a trial: interrupts, and what
/// is done before its phases.
const AWAKE_MAX: f64 = 0.15;
/// No state of a machine is so many times as fast as another of its states.
const FAR: f64 = 3.0;
/// Two speeds of a CPU are at least this factor apart.
const SPEEDS_APART: f64 = 1.2;
/// The least share of the variance that dividing removes where two speeds explain it.
const REMOVED_MIN: f64 = 0.5;

/// A trial, by its case and round.
pub type Key = (u32, u32);

/// What a run's yardsticks say.
#[derive(Default)]
pub struct Yardsticks {
    /// How much slower than at the run's own speed the machine was beside each trial; none of
    /// trials that are not adjusted.
    pub factors: BTreeMap<Key, f64>,
    /// By case, what its interval has to allow for.
    pub doubts: BTreeMap<u32, Doubt>,
    /// The yardsticks over the run.
    pub levels: Vec<YardstickLevel>,
    /// What was decided for each class.
    pub adjustments: Vec<Adjustment>,
    /// The trials that no estimate and no contrast uses: their two CPUs were another distance apart
    /// than in most, or moved meanwhile.
    pub aside: BTreeSet<Key>,
    /// The pairs of CPUs whose distance moved.
    pub moved: Vec<Moved>,
    /// How trials of the cases without a yardstick depend on those before them.
    pub unread: Dependence,
}

/// Two CPUs that were two distances apart during a run.
pub struct Moved {
    pub cpus: Vec<u32>,
    /// What a cache line took in most trials, and in the others.
    pub ns: [f64; 2],
    /// Trials at each of the two, and those during which it changed.
    pub trials: [usize; 3],
}

/// What the interval of a value is made from.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub enum Basis {
    /// The raw values: nobody knows what the quiet machine would do.
    #[default]
    Met,
    /// The adjusted values: the machine was quiet, and the next run is as this one.
    Adjusted,
    /// The raw values. The quiet machine's is the adjusted value times this.
    Slower(f64),
    /// The raw values, which lie at two speeds. The adjusted value is at the fast one, and stands first.
    Fast(TwoSpeeds),
}

impl Basis {
    /// The factor from adjusted values to the value that stands beside the raw one.
    pub fn of_quiet(self) -> Option<f64> {
        match self {
            Basis::Met | Basis::Adjusted => None,
            Basis::Slower(factor) => Some(factor),
            Basis::Fast(_) => Some(1.0),
        }
    }
}

/// Two speeds at which CPUs ran.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TwoSpeeds {
    /// What the yardstick took at each, the fast one first.
    pub ns: [f64; 2],
    /// Share of the trials at the fast one.
    pub share: f64,
}

/// What the trials of a case share.
#[derive(Debug, Clone, Copy, Default)]
pub struct Doubt {
    /// What the interval is made from.
    pub basis: Basis,
    /// How raw values depend on those before them, over all cases of the class.
    pub met: Dependence,
    /// The same of adjusted values.
    pub adjusted: Dependence,
    /// Seconds from the start of its first trial to that of its last.
    pub span_s: f64,
}

/// What trials of one run have in common, as a standard error of a logarithm, and no spread
/// within it shows: its yardsticks are played by one set of processes, and the host has
/// moods of minutes. Measured by `benches/identical_runs.py`.
fn run_error(class: YardstickClass) -> f64 {
    match class {
        YardstickClass::Alu => 0.003,
        _ => 0.008,
    }
}

/// How far apart two readings of a machine at one speed may be, as logarithms: across CPUs, identical runs
/// of a quiet guest differ by 3 % (SD).
fn apart_max(class: YardstickClass) -> f64 {
    match class {
        YardstickClass::Wake | YardstickClass::Line => 0.10,
        _ => 0.05,
    }
}

/// A yardstick with the trials beside which it was read.
struct Read<'a> {
    index: usize,
    /// Those of the distance that most trials had, where it moved.
    beside: Vec<Beside<'a>>,
    /// The other trials, and what moved.
    moved: Option<(Vec<Key>, Moved)>,
    /// The two speeds at which its CPU ran: then `calibrated` is centred at the fast one.
    speeds: Option<TwoLevels>,
    /// How far that is below the typical trial.
    below: f64,
    calibrated: Calibrated,
    /// What a cache line takes between the same CPUs, where another yardstick of the run says so.
    distance_ns: Option<f64>,
}

/// A trial beside readings of a yardstick.
struct Beside<'a> {
    raw: &'a RawTrial,
    /// Logarithm of its headline; `None` where it has none.
    value: Option<f64>,
    readings: Readings,
}

/// Trials of one case with a value, each with its level.
type Series = Vec<(Key, Point)>;

impl Yardsticks {
    /// Decides for each class of cases of a run.
    pub fn of(raw: &RawRun) -> Self {
        let mut all = Self::default();
        for read in reads(raw) {
            let level = read.level(raw);
            for (runtime, cases) in by_runtime(raw, &read) {
                let adjustment = all.adjust(raw, &read, &level, runtime, &cases);
                all.adjustments.push(adjustment);
            }
            all.levels.push(level);
            if let Some((aside, moved)) = read.moved {
                all.aside.extend(aside);
                all.moved.push(moved);
            }
        }
        let mut unread: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
        for trial in raw.trials.iter().filter(|trial| !all.doubts.contains_key(&trial.case)) {
            unread.entry(trial.case).or_default().extend(log_value(raw, trial));
        }
        all.unread.autocorrelation = Autocorrelation::of(unread.values().map(Vec::as_slice));
        all
    }

    fn adjust(
        &mut self,
        raw: &RawRun,
        read: &Read,
        level: &YardstickLevel,
        runtime: String,
        cases: &BTreeMap<u32, Series>,
    ) -> Adjustment {
        let calibrated = &read.calibrated;
        let points = |series: &Series| series.iter().map(|(_, point)| *point).collect();
        let points: Vec<Vec<Point>> = cases.values().map(points).collect();
        let slope = elasticity(&points.iter().map(Vec::as_slice).collect::<Vec<_>>());
        let applied = match shared(raw, cases) > SHARED_MAX {
            true => Applied::Shared,
            false => decide(calibrated, slope.as_ref()),
        };
        let divided = applied == Applied::Divided;
        if divided {
            self.divide(raw, cases, calibrated.centre);
        }
        let away = level.slower.map_or(0.0, libm::log);
        let own = calibrated.shared_error(applied, away + read.below);
        let is_explained = divided && slope.is_some_and(|of| of.removed_share >= REMOVED_MIN);
        let (basis, shared_error) = match (applied, level.speed) {
            (Applied::Shared | Applied::Refused, _) => (Basis::Met, 0.0),
            (_, Speed::Slower) => (Basis::Slower(libm::exp(-away)), own),
            _ if read.speeds.is_some() => match read.two_speeds().filter(|_| is_explained) {
                Some(speeds) => (Basis::Fast(speeds), own),
                None => (Basis::Met, 0.0),
            },
            // The next quiet run may be at the reference itself.
            (_, Speed::Quiet) => (Basis::Adjusted, libm::hypot(own, away / 2.0)),
            _ => (Basis::Met, 0.0),
        };
        let run_error = run_error(level.class);
        let dependence = |divided: bool, shared_error: f64| Dependence {
            shared_error: libm::hypot(shared_error, run_error),
            autocorrelation: autocorrelation(cases, divided),
        };
        let (met, adjusted) = (dependence(false, 0.0), dependence(divided, shared_error));
        let doubt = Doubt { basis, met, adjusted, span_s: 0.0 };
        self.doubts.extend(cases.keys().map(|case| (*case, doubt)));
        Adjustment {
            class: level.class,
            runtime,
            cases: cases.len() as u32,
            trials: cases.values().map(|series| series.len() as u32).sum(),
            applied,
            elasticity: slope.map(|e| e.slope),
            elasticity_low: slope.map(|e| e.low),
            elasticity_high: slope.map(|e| e.high),
            removed_share: slope.map(|e| e.removed_share),
        }
    }

    /// A trial that lacks a reading is taken to be at the run's own speed.
    fn divide(&mut self, raw: &RawRun, cases: &BTreeMap<u32, Series>, centre: f64) {
        let trials = raw.trials.iter().filter(|trial| cases.contains_key(&trial.case));
        self.factors.extend(trials.map(|trial| ((trial.case, trial.round), 1.0)));
        let read = cases.values().flatten();
        self.factors.extend(read.map(|(key, point)| (*key, libm::exp(point.level - centre))));
    }
}

/// How trials of these cases depend on those before them, adjusted or raw.
fn autocorrelation(cases: &BTreeMap<u32, Series>, divided: bool) -> Option<Autocorrelation> {
    let left = |series: &Series| -> Vec<f64> {
        let level = |point: &Point| if divided { point.level } else { 0.0 };
        series.iter().map(|(_, point)| point.value - level(point)).collect()
    };
    let left: Vec<Vec<f64>> = cases.values().map(left).collect();
    Autocorrelation::of(left.iter().map(Vec::as_slice))
}

/// What other tasks took of a typical trial of these cases, where its ends are never idle.
fn shared(raw: &RawRun, cases: &BTreeMap<u32, Series>) -> f64 {
    let of = |trial: &RawTrial| {
        let case = raw.plan.case(trial.case).filter(|case| is_never_idle(case))?;
        foreign_share(case, trial)
    };
    let trials = raw.trials.iter().filter(|trial| cases.contains_key(&trial.case));
    median(trials.filter_map(of)).unwrap_or(0.0)
}

/// The yardsticks that were read often enough: one disturbed reading would decide.
fn reads(raw: &RawRun) -> Vec<Read<'_>> {
    let values = parallel::each(raw.trials.len(), |at| log_value(raw, &raw.trials[at]));
    let read = |index| {
        let trials = raw.trials.iter().zip(&values);
        let trials = trials.filter_map(|(trial, value)| of_trial(trial, *value, index));
        let (beside, moved) = at_one_distance(&raw.yardsticks[index], trials.collect());
        let readings: Vec<Readings> = beside.iter().map(|trial| trial.readings).collect();
        let mut calibrated = calibrate(&readings).filter(|_| readings.len() >= TRIALS_MIN)?;
        // How fast CPUs wake up wanders, and has no levels.
        let has_levels =
            !matches!(raw.yardsticks[index].class, YardstickClass::Wake | YardstickClass::Line);
        let speeds = has_levels.then(|| two_levels(&readings, SPEEDS_APART)).flatten();
        let speeds = speeds.filter(|of| of.trials()[0] >= TRIALS_MIN);
        let below = speeds.as_ref().map_or(0.0, |of| calibrated.centre - of.levels[0]);
        calibrated.centre -= below;
        Some(Read { index, beside, moved, speeds, below, calibrated, distance_ns: None })
    };
    let mut reads: Vec<Read> = (0..raw.yardsticks.len()).filter_map(read).collect();
    let of = |read: &Read| &raw.yardsticks[read.index];
    let lines = reads.iter().filter(|read| of(read).class == YardstickClass::Line);
    let lines: Vec<(Vec<u32>, f64)> =
        lines.map(|line| (of(line).cpus.clone(), libm::exp(line.calibrated.centre))).collect();
    for read in reads.iter_mut().filter(|read| of(read).class == YardstickClass::Wake) {
        let line = lines.iter().find(|(cpus, _)| *cpus == of(read).cpus);
        read.distance_ns = line.map(|(_, ns)| *ns);
    }
    reads
}

/// The trials of the distance that most had, where the CPUs of a yardstick moved and each case keeps
/// trials enough for an interval; else all of them.
fn at_one_distance<'a>(
    yardstick: &Yardstick,
    beside: Vec<Beside<'a>>,
) -> (Vec<Beside<'a>>, Option<(Vec<Key>, Moved)>) {
    let readings: Vec<Readings> = beside.iter().map(|trial| trial.readings).collect();
    let found = Some(&readings).filter(|_| yardstick.class == YardstickClass::Line);
    let Some(found) = found.and_then(|readings| two_levels(readings, OTHER_PAIR)) else {
        return (beside, None);
    };
    let trials = found.trials();
    let TwoLevels { levels, held } = found;
    let main = usize::from(trials[1] > trials[0]);
    let mut kept: BTreeMap<u32, usize> = BTreeMap::new();
    for (of, held) in beside.iter().zip(&held) {
        *kept.entry(of.raw.case).or_default() += usize::from(*held == Some(main));
    }
    if kept.values().any(|kept| *kept < TRIALS_MIN) {
        return (beside, None);
    }
    let moved = Moved {
        cpus: yardstick.cpus.clone(),
        ns: [levels[main], levels[1 - main]].map(libm::exp),
        trials: [trials[main], trials[1 - main], trials[2]],
    };
    let (kept, others): (Vec<_>, Vec<_>) =
        beside.into_iter().zip(held).partition(|(_, held)| *held == Some(main));
    let aside = others.iter().map(|(of, _)| (of.raw.case, of.raw.round)).collect();
    (kept.into_iter().map(|(of, _)| of).collect(), Some((aside, moved)))
}

/// The logarithm of a trial's headline.
fn log_value(raw: &RawRun, trial: &RawTrial) -> Option<f64> {
    headline_ns(raw.plan.case(trial.case)?, trial, raw.clock(trial)?).map(libm::log)
}

/// A trial that has both readings of a yardstick, and this value.
fn of_trial(trial: &RawTrial, value: Option<f64>, yardstick: usize) -> Option<Beside<'_>> {
    let read = |moment| {
        let of = trial.yardsticks.iter().find(|reading| {
            usize::try_from(reading.yardstick) == Ok(yardstick) && reading.moment == moment
        });
        of.map(|reading| libm::log(reading.operation_ns)).filter(|log| log.is_finite())
    };
    let readings = Readings { before: read(Moment::Before)?, after: read(Moment::After)? };
    Some(Beside { raw: trial, value, readings })
}

/// The trials with a value by what their ends are written in, then by case: what an
/// interpreter adds need not follow what the kernel does.
fn by_runtime(raw: &RawRun, read: &Read) -> BTreeMap<String, BTreeMap<u32, Series>> {
    let mut groups: BTreeMap<String, BTreeMap<u32, Series>> = BTreeMap::new();
    for (trial, level) in read.beside.iter().zip(&read.calibrated.levels) {
        let Some((value, case)) = trial.value.zip(raw.plan.case(trial.raw.case)) else { continue };
        let group = groups.entry(case.runtimes.to_string()).or_default();
        let point = Point { value, readings: trial.readings, level: *level };
        let series = group.entry(trial.raw.case).or_default();
        series.push(((trial.raw.case, trial.raw.round), point));
    }
    groups
}

impl Read<'_> {
    fn level(&self, raw: &RawRun) -> YardstickLevel {
        let yardstick = &raw.yardsticks[self.index];
        let all = self.beside.iter().flat_map(|of| [of.readings.before, of.readings.after]);
        let all = Sample::new(all.map(libm::exp).collect());
        let quantile = |q| all.as_ref().map_or(0.0, |all| all.quantile(q));
        let class = yardstick.class;
        let is_awake = class == YardstickClass::Wake && self.is_kept_awake(raw);
        let (speed, slower) = match &yardstick.reference {
            _ if is_awake => (Speed::KeptAwake, None),
            None => (Speed::Unknown, None),
            Some(known) => self.speed(class, known),
        };
        YardstickLevel {
            class,
            case: yardstick.case.clone(),
            cpus: yardstick.cpus.clone(),
            reference: yardstick.reference.clone(),
            speed,
            slower,
            own_ns: libm::exp(self.calibrated.centre),
            p50_ns: quantile(0.5),
            p5_ns: quantile(0.05),
            p95_ns: quantile(0.95),
            readings: 2 * self.beside.len() as u32,
            reliability: Some(self.calibrated.reliability),
            taught: self.taught(raw, class).filter(|_| !is_awake),
        }
    }

    /// How the run stands to a reference, and how many times slower it is.
    fn speed(&self, class: YardstickClass, known: &Reference) -> (Speed, Option<f64>) {
        let slower = libm::exp(self.calibrated.away(known));
        match () {
            () if is_elsewhere(class, slower, known, self.distance_ns) => (Speed::OtherPair, None),
            () if !self.calibrated.differs(known)
                || libm::log(slower).abs() <= apart_max(class) =>
            {
                (Speed::Quiet, Some(slower))
            }
            () if slower < 1.0 => (Speed::Wrong, None),
            () if slower > FAR => (Speed::TooFar, Some(slower)),
            () => (Speed::Slower, Some(slower)),
        }
    }

    /// Whether other work kept a CPU of these trials from idling.
    fn is_kept_awake(&self, raw: &RawRun) -> bool {
        let share = |of: &Beside| foreign_share(raw.plan.case(of.raw.case)?, of.raw);
        let shares: Vec<f64> = self.beside.iter().filter_map(share).collect();
        // The mean, because one trial is too short for the ticks of /proc/stat.
        shares.iter().sum::<f64>() > AWAKE_MAX * shares.len() as f64
    }

    /// The speeds of a CPU that ran at two.
    fn two_speeds(&self) -> Option<TwoSpeeds> {
        let of = self.speeds.as_ref()?;
        let share = of.trials()[0] as f64 / of.held.len() as f64;
        Some(TwoSpeeds { ns: of.levels.map(libm::exp), share })
    }

    /// What undisturbed trials say of the quiet machine, where there are enough of them. Of two speeds the
    /// slow one is that of a core which others use.
    fn taught(&self, raw: &RawRun, class: YardstickClass) -> Option<Reference> {
        let is_quiet = |of: &&Beside| {
            let case = raw.plan.case(of.raw.case);
            (of.readings.after - of.readings.before).abs() <= apart_max(class)
                && case.is_some_and(|case| is_undisturbed(case, of.raw))
        };
        let mean = |of: &Beside| libm::exp(f64::midpoint(of.readings.before, of.readings.after));
        let is_fast = |at: usize| self.speeds.as_ref().is_none_or(|of| of.held[at] == Some(0));
        let fast = self.beside.iter().enumerate().filter(|(at, _)| is_fast(*at));
        let levels: Vec<f64> = fast.map(|(_, of)| of).filter(is_quiet).map(mean).collect();
        let QuietLevel { level, log_error } = quiet_level(&levels)?;
        Some(Reference {
            operation_ns: level,
            log_error,
            trials: levels.len() as u64,
            runs: 1,
            learnt_from: raw.about.id.clone(),
            learnt_on: raw.about.started.clone(),
            distance_ns: self.distance_ns,
        })
    }
}

/// Whether the CPUs of a yardstick, `slower` times as slow as its reference, are another pair
/// than when that was learnt.
fn is_elsewhere(
    class: YardstickClass,
    slower: f64,
    known: &Reference,
    distance_ns: Option<f64>,
) -> bool {
    let distances = known.distance_ns.zip(distance_ns);
    match class {
        YardstickClass::Line => slower > 1.0 && is_other_pair(slower, 1.0),
        _ => distances.is_some_and(|(then, now)| is_other_pair(then, now)),
    }
}

/// A run is faster than the floor, and not by luck, if it is faster by this many standard errors of
/// both and by this share.
const ERRORS: f64 = 3.0;
const FASTER: f64 = 1.02;

impl YardstickLevel {
    /// What is known of a yardstick after a run: what is faster replaces it at once, and what is
    /// slower or less exact never does, unless the CPUs are another pair.
    pub fn learnt(&self, known: Option<Reference>) -> Option<Reference> {
        let (known, taught) = match (known, &self.taught) {
            (Some(known), Some(taught)) => (known, taught),
            (known, None) => return known.filter(|_| self.speed != Speed::Wrong),
            (None, Some(taught)) => return Some(taught.clone()),
        };
        let faster = known.operation_ns / taught.operation_ns;
        let is_other = is_elsewhere(self.class, 1.0 / faster, &known, taught.distance_ns);
        let luck = ERRORS * taught.log_error.hypot(known.log_error);
        let is_faster = faster.ln() > luck.max(FASTER.ln());
        if is_other || (self.speed == Speed::Wrong && !is_faster) {
            return Some(taught.clone());
        }
        let (trials, runs) = (known.trials + taught.trials, known.runs + 1);
        let distance_ns = known.distance_ns.or(taught.distance_ns);
        let kept = if is_faster { taught.clone() } else { known };
        Some(Reference { trials, runs, distance_ns, ..kept })
    }
}

#[cfg(test)]
mod tests;
