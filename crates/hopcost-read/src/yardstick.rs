//! What a run's yardsticks say of the machine's speed beside each trial, and what becomes of
//! the trials' times: one division each, decided for each class of cases before anything is
//! estimated from them.

use std::collections::BTreeMap;

use hopcost_model::case::{Placement, Workload};
use hopcost_model::raw::{Moment, RawRun, RawTrial, YardstickClass};
use hopcost_model::results::{Adjustment, Applied, YardstickLevel};
use hopcost_model::workload::EndsOf;
use hopcost_stats::next_run::Autocorrelation;
use hopcost_stats::sample::{Sample, median};
use hopcost_stats::yardstick::{
    Calibrated, Case, Decision, Elasticity, Readings, Reference, Refusal, calibrate, decide,
    elasticity,
};

use crate::sums::{own_cpu_ns, stolen_ns, total, withheld_ns};
use crate::trial::headline_ns;

/// The least trials beside which a yardstick was read that say how fast the machine was.
const TRIALS_MIN: usize = 6;
/// The most of a typical trial that other tasks may take: beyond it they slow the short readings
/// of a yardstick down by another factor than the trials.
const FOREIGN_MAX: f64 = 0.1;

/// A trial, by its case and round.
pub type Key = (u32, u32);

/// What becomes of a run's trials.
#[derive(Default)]
pub struct Yardsticks {
    /// What each trial's times are divided by; none where they are as met.
    pub factors: BTreeMap<Key, f64>,
    /// By case, what an interval for the next run has to allow for.
    pub doubts: BTreeMap<u32, Doubt>,
    /// The yardsticks over the run.
    pub levels: Vec<YardstickLevel>,
    /// What was decided for each class.
    pub adjustments: Vec<Adjustment>,
}

/// What the trials of a case share.
#[derive(Debug, Clone, Copy, Default)]
pub struct Doubt {
    /// Standard error, of a logarithm, that all of them have in common.
    pub shared_error: f64,
    /// How trials depend on those before them, over all cases of the class.
    pub autocorrelation: Option<Autocorrelation>,
    /// Seconds from the start of its first trial to that of its last.
    pub span_s: f64,
}

/// What trials of one run have in common, as a standard error of a logarithm, and no spread
/// within it shows: its yardsticks are played by one set of processes, and the host has
/// moods of minutes. Measured over identical runs (METHODOLOGY, section 6).
fn run_error(class: YardstickClass) -> f64 {
    match class {
        YardstickClass::Alu => 0.003,
        _ => 0.008,
    }
}

/// A trial beside readings of a yardstick.
struct Beside<'a> {
    raw: &'a RawTrial,
    /// Logarithm of its headline as met; `None` where it has none.
    value: Option<f64>,
    readings: Readings,
}

/// Trials of one case with a value, each with its level.
#[derive(Default)]
struct Series {
    keys: Vec<Key>,
    values: Vec<f64>,
    readings: Vec<Readings>,
    levels: Vec<f64>,
}

impl Series {
    fn case(&self) -> Case<'_> {
        Case { values: &self.values, readings: &self.readings, levels: &self.levels }
    }
}

impl Yardsticks {
    /// Decides for each class of cases of a run.
    pub fn of(raw: &RawRun) -> Self {
        let mut all = Self::default();
        for (index, yardstick) in raw.yardsticks.iter().enumerate() {
            let beside: Vec<Beside> =
                raw.trials.iter().filter_map(|trial| of_trial(raw, trial, index)).collect();
            let readings: Vec<Readings> = beside.iter().map(|trial| trial.readings).collect();
            // One disturbed reading would decide.
            let enough = readings.len() >= TRIALS_MIN;
            let Some(calibrated) = calibrate(&readings).filter(|_| enough) else { continue };
            all.levels.push(level(raw, index, &readings, &calibrated));
            let known = yardstick.reference.as_ref();
            let reference = known.map(|reference| Reference {
                level: libm::log(reference.operation_ns),
                error: reference.log_error,
            });
            // Another run that learns its own level errs as well.
            let own = known.filter(|reference| reference.learnt_from == raw.about.id);
            let own_error = own.map_or(0.0, |reference| reference.log_error);
            for (runtime, cases) in by_runtime(raw, &beside, &calibrated) {
                let slope = elasticity(&cases.values().map(Series::case).collect::<Vec<_>>());
                let decision = reference.map(|known| decide(&calibrated, known, slope.as_ref()));
                let applied = match foreign_share(raw, &cases) > FOREIGN_MAX {
                    true => Applied::Shared,
                    false => applied(decision),
                };
                let decision = decision.filter(|_| applied != Applied::Shared);
                let divided = decision == Some(Decision::Divided);
                if let Some(reference) = reference.filter(|_| divided) {
                    all.divide(raw, &cases, calibrated.centre, reference);
                }
                let shared_error = decision
                    .zip(reference)
                    .map_or(0.0, |(decision, known)| calibrated.shared_error(decision, known));
                let shared_error = libm::hypot(shared_error, if divided { own_error } else { 0.0 });
                let shared_error = libm::hypot(shared_error, run_error(yardstick.class));
                all.doubt(&cases, divided, shared_error);
                let trials = cases.values().map(|series| series.keys.len() as u32).sum();
                all.adjustments.push(Adjustment {
                    class: yardstick.class,
                    runtime,
                    cases: cases.len() as u32,
                    trials,
                    applied,
                    elasticity: slope.map(|e: Elasticity| e.slope),
                    elasticity_low: slope.map(|e| e.low),
                    elasticity_high: slope.map(|e| e.high),
                    removed_share: slope.map(|e| e.removed_share),
                });
            }
        }
        all
    }

    /// A trial that lacks a reading is divided by the run's level, which is the best guess of
    /// its own: as met it would stand among others at the reference speed.
    fn divide(
        &mut self,
        raw: &RawRun,
        cases: &BTreeMap<u32, Series>,
        centre: f64,
        reference: Reference,
    ) {
        let factor = |level: f64| libm::exp(level - reference.level);
        let trials = raw.trials.iter().filter(|trial| cases.contains_key(&trial.case));
        self.factors.extend(trials.map(|trial| ((trial.case, trial.round), factor(centre))));
        for series in cases.values() {
            let factors = series.levels.iter().map(|level| factor(*level));
            self.factors.extend(series.keys.iter().copied().zip(factors));
        }
    }

    fn doubt(&mut self, cases: &BTreeMap<u32, Series>, divided: bool, shared_error: f64) {
        let left = |series: &Series| -> Vec<f64> {
            let levels = series.levels.iter().map(|level| if divided { *level } else { 0.0 });
            series.values.iter().zip(levels).map(|(value, level)| value - level).collect()
        };
        let left: Vec<Vec<f64>> = cases.values().map(left).collect();
        let autocorrelation = Autocorrelation::of(left.iter().map(Vec::as_slice));
        let doubt = Doubt { shared_error, autocorrelation, span_s: 0.0 };
        self.doubts.extend(cases.keys().map(|case| (*case, doubt)));
    }
}

fn applied(decision: Option<Decision>) -> Applied {
    match decision {
        None => Applied::NoReference,
        Some(Decision::Divided) => Applied::Divided,
        Some(Decision::NotNeeded) => Applied::NotNeeded,
        Some(Decision::Refused(Refusal::Far)) => Applied::Far,
        Some(Decision::Refused(_)) => Applied::Refused,
    }
}

/// What other tasks took of a typical trial of these cases, where its ends are never idle: in one
/// thread, or in turn on one CPU.
fn foreign_share(raw: &RawRun, cases: &BTreeMap<u32, Series>) -> f64 {
    let of = |trial: &RawTrial| {
        let case = raw.plan.case(trial.case)?;
        let busy = match case.placement {
            None => case.workload == Workload::Call,
            Some(place) => {
                place == Placement::SameCpu && case.workload.spec().ends == EndsOf::InTurn
            }
        };
        let known_ns = total([own_cpu_ns(trial), stolen_ns(trial), withheld_ns(trial)].into_iter());
        let foreign_ns = trial.wall_ns.saturating_sub(known_ns);
        (busy && trial.wall_ns > 0).then(|| foreign_ns as f64 / trial.wall_ns as f64)
    };
    let trials = raw.trials.iter().filter(|trial| cases.contains_key(&trial.case));
    median(&trials.filter_map(of).collect::<Vec<_>>()).unwrap_or(0.0)
}

/// A trial that has both readings of a yardstick.
fn of_trial<'a>(raw: &RawRun, trial: &'a RawTrial, yardstick: usize) -> Option<Beside<'a>> {
    let read = |moment| {
        let of = trial.yardsticks.iter().find(|reading| {
            usize::try_from(reading.yardstick) == Ok(yardstick) && reading.moment == moment
        });
        of.map(|reading| libm::log(reading.operation_ns)).filter(|log| log.is_finite())
    };
    let readings = Readings { before: read(Moment::Before)?, after: read(Moment::After)? };
    let value = raw.plan.case(trial.case).zip(raw.clock(trial));
    let value = value.and_then(|(case, clock)| headline_ns(case, trial, clock)).map(libm::log);
    Some(Beside { raw: trial, value, readings })
}

/// The trials with a value by what their ends are written in, then by case: what an
/// interpreter adds need not follow what the kernel does.
fn by_runtime(
    raw: &RawRun,
    beside: &[Beside],
    calibrated: &Calibrated,
) -> BTreeMap<String, BTreeMap<u32, Series>> {
    let mut groups: BTreeMap<String, BTreeMap<u32, Series>> = BTreeMap::new();
    for (trial, level) in beside.iter().zip(&calibrated.levels) {
        let Some((value, case)) = trial.value.zip(raw.plan.case(trial.raw.case)) else { continue };
        let group = groups.entry(case.runtimes.to_string()).or_default();
        let series = group.entry(trial.raw.case).or_default();
        series.keys.push((trial.raw.case, trial.raw.round));
        series.values.push(value);
        series.readings.push(trial.readings);
        series.levels.push(*level);
    }
    groups
}

fn level(
    raw: &RawRun,
    index: usize,
    readings: &[Readings],
    calibrated: &Calibrated,
) -> YardstickLevel {
    let yardstick = &raw.yardsticks[index];
    let all = readings.iter().flat_map(|both| [both.before, both.after]).map(libm::exp);
    let all = Sample::new(all.collect()).ok();
    let quantile = |q| all.as_ref().map_or(0.0, |all| all.quantile(q));
    YardstickLevel {
        class: yardstick.class,
        case: yardstick.case.clone(),
        cpus: yardstick.cpus.clone(),
        reference_ns: yardstick.reference.as_ref().map(|reference| reference.operation_ns),
        reference_from: yardstick.reference.as_ref().map(|reference| reference.learnt_from.clone()),
        p50_ns: quantile(0.5),
        p5_ns: quantile(0.05),
        p95_ns: quantile(0.95),
        readings: 2 * readings.len() as u32,
        reliability: Some(calibrated.reliability),
    }
}

#[cfg(test)]
mod tests {
    use hopcost_model::finding::Code;
    use hopcost_model::results::{Applied, Results, Statistic};
    use hopcost_stats::rng::Rng;

    use crate::testing::{Builder, FUTEX, PIPE, TrialBuilder, estimate, read};

    /// A machine that is half as slow again in every other stretch of three rounds.
    fn slower(round: u32) -> f64 {
        if round % 6 < 3 { 1.5 } else { 1.0 }
    }

    /// Twenty trials of two cases on it, the first of which follows it with this elasticity.
    fn run(elasticity: f64) -> Results {
        let make = |level_ns: f64, seed: u64| {
            move |round: u32, t: &mut TrialBuilder| {
                let mut rng = Rng::new(seed + u64::from(round));
                let mut noisy = |ns: f64, by: f64| ns * libm::exp(by * rng.normal());
                let follows = libm::pow(slower(round), elasticity);
                t.each(&vec![noisy(level_ns * follows, 0.02) as u32; 2000]);
                let level = 2000.0 * slower(round);
                t.yardstick(noisy(level, 0.01), noisy(level, 0.01));
            }
        };
        let builder = Builder::new().yardstick().baseline(PIPE);
        builder.case(PIPE, 20, make(3000.0, 1)).case(FUTEX, 20, make(2500.0, 99)).read()
    }

    #[test]
    fn values_are_those_of_the_reference_speed() {
        let results = run(1.0);
        let p50 = estimate(&results, Statistic::P50);
        assert!((p50.point.unwrap() / 3000.0 - 1.0).abs() < 0.02, "{p50:?}");
        assert!(p50.as_met.unwrap() > 3400.0, "half of the trials were met 1.5 times slower");
        assert!(p50.low < p50.this_run_low && p50.this_run_high < p50.high, "{p50:?}");
        assert!(p50.high.unwrap() / p50.low.unwrap() < 1.10, "{p50:?}");
        let adjustment = &results.adjustments[0];
        assert_eq!(
            (adjustment.applied, adjustment.cases, adjustment.trials),
            (Applied::Divided, 2, 40)
        );
        assert!(adjustment.removed_share.unwrap() > 0.9, "{adjustment:?}");
        assert!(results.results[0].trials.iter().all(|trial| trial.factor.is_some()));
        assert!(results.remarks.join(" ").contains("1.5"), "{:?}", results.remarks);
        assert_eq!(results.yardsticks[0].readings, 80);
    }

    #[test]
    fn what_does_not_follow_stays_as_met() {
        let results = run(0.0);
        let p50 = estimate(&results, Statistic::P50);
        assert!((p50.point.unwrap() / 3000.0 - 1.0).abs() < 0.02, "{p50:?}");
        assert_eq!((p50.as_met, results.adjustments[0].applied), (None, Applied::Refused));
        assert!(results.findings.iter().any(|found| found.code == Code::NotAdjusted));
        assert!(p50.this_run_low.is_some(), "the interval is for the next run all the same");
    }

    #[test]
    fn a_trial_without_readings_is_divided_with_the_others() {
        let case = |round: u32, t: &mut TrialBuilder| {
            t.each(&[4500; 2000]);
            if round >= 3 {
                t.yardstick(3000.0, 3000.0);
            }
        };
        let results = Builder::new().yardstick().case(PIPE, 9, case).read();
        let p50 = estimate(&results, Statistic::P50);
        assert!((p50.point.unwrap() - 3000.0).abs() < 1.0, "{p50:?}");
        assert!((p50.as_met.unwrap() - 4500.0).abs() < 1.0, "{p50:?}");
    }

    #[test]
    fn a_pooled_tail_has_the_interval_of_the_next_run_too() {
        let noisy = |round: u32, t: &mut TrialBuilder| {
            t.each(&crate::testing::noisy(400, round));
            t.yardstick(2000.0, 2000.0);
        };
        let results = Builder::new().yardstick().case(PIPE, 16, noisy).read();
        let p99 = estimate(&results, Statistic::P99);
        assert!(
            p99.pooled && p99.low < p99.this_run_low && p99.this_run_high < p99.high,
            "{p99:?}"
        );
    }

    #[test]
    fn a_run_of_a_moment_says_nothing_of_the_next() {
        let builder = Builder::new().yardstick().case(PIPE, 9, |round, t| {
            t.each(&[3000 + round; 100]);
            t.yardstick(2000.0 + f64::from(round), 2001.0);
        });
        let mut raw = builder.build();
        let p50 = estimate(&read(&raw), Statistic::P50);
        assert!(p50.low.is_none() && p50.this_run_low.is_some(), "{p50:?}");
        assert!(p50.insufficient.unwrap().starts_with("this moment"), "nine trials in 0.8 s");
        for trial in &mut raw.trials {
            trial.started_ns *= 3;
        }
        assert!(estimate(&read(&raw), Statistic::P50).low.is_some());
    }

    #[test]
    fn a_file_without_yardsticks_is_read_as_before() {
        let raw = Builder::new().case(PIPE, 9, |round, t| t.each(&[3000 + round; 100])).build();
        let p50 = estimate(&read(&raw), Statistic::P50);
        assert_eq!((p50.as_met, p50.this_run_low, p50.low), (None, None, Some(3001.0)));
    }

    #[test]
    fn without_a_reference_nothing_is_divided() {
        let builder = Builder::new().yardstick().case(PIPE, 9, |_, t| {
            t.each(&[3000; 100]);
            t.yardstick(3000.0, 3000.0);
        });
        let mut raw = builder.build();
        raw.yardsticks[0].reference = None;
        let results = read(&raw);
        assert_eq!(results.adjustments[0].applied, Applied::NoReference);
        assert_eq!(estimate(&results, Statistic::P50).point, Some(3000.0));
        raw.trials[0].yardsticks[0].operation_ns = f64::NAN;
        raw.trials[1].yardsticks[0].operation_ns = -1.0;
        raw.trials[2].yardsticks.clear();
        read(&raw);
    }
}
