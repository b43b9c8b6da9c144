use crate::results::Results;
use hopcost_model::{Code, CpuUse, Estimate, RawRun, Severity, Statistic, Throttling};
use hopcost_stats::rng::Rng;

use super::*;
use crate::testing::{
    Builder, PIPE, PIPE_TWO_CPUS, TCP, TrialBuilder, estimate, found, read, severity,
};

/// A machine that is half as slow again in every other stretch of three rounds.
fn two_states(round: u32) -> f64 {
    if round % 6 < 3 { 1.5 } else { 1.0 }
}

/// A machine that is never quiet, and at no two speeds.
fn wandering(round: u32) -> f64 {
    1.2 + 0.04 * f64::from(round % 10)
}

/// Twenty trials of two cases on a machine so many times slower in each round, which they follow
/// with this elasticity.
fn run_on(slower: impl Fn(u32) -> f64 + Copy, elasticity: f64) -> RawRun {
    let make = |value_ns: f64, seed: u64| {
        move |round: u32, t: &mut TrialBuilder| {
            let mut rng = Rng::new(seed + u64::from(round));
            let mut noisy = |ns: f64, by: f64| ns * libm::exp(by * rng.normal());
            let follows = libm::pow(slower(round), elasticity);
            t.each(&vec![noisy(value_ns * follows, 0.02) as u32; 2000]);
            let reading = 2000.0 * slower(round);
            t.yardstick(noisy(reading, 0.01), noisy(reading, 0.01));
        }
    };
    let builder = Builder::new().yardstick().baseline(PIPE);
    builder.case(PIPE, 20, make(3000.0, 1)).case(TCP, 20, make(2500.0, 99)).build()
}

fn p50(raw: &RawRun) -> Estimate {
    estimate(&read(raw), Statistic::P50)
}

fn speed(results: &Results) -> Speed {
    results.yardsticks[0].speed
}

fn is_near(value: f64, known: f64, by: f64) -> bool {
    (value / known - 1.0).abs() < by
}

#[test]
fn a_slow_machine_shows_what_was_met_and_what_the_quiet_one_would_do() {
    let results = read(&run_on(wandering, 1.0));
    let p50 = estimate(&results, Statistic::P50);
    let quiet = p50.quiet.unwrap();
    assert!(is_near(p50.point.unwrap(), 1.38 * 3000.0, 0.05), "{p50:?}");
    assert!(is_near(quiet.point, 3000.0, 0.02), "{p50:?}");
    assert!(quiet.high.unwrap() / quiet.low.unwrap() < 1.12, "{p50:?}");
    let ratio = results.results[1].ratio.as_ref().unwrap();
    assert!(is_near(ratio.point, 2500.0 / 3000.0, 0.02), "{ratio:?}");
    let adjustment = &results.adjustments[0];
    let decided = (adjustment.applied, adjustment.cases, adjustment.trials);
    assert_eq!(decided, (Applied::Divided, 2, 40));
    assert!(adjustment.removed_share.unwrap() > 0.85, "{adjustment:?}");
    let factors = results.results[0].trials.iter().map(|trial| trial.factor.unwrap());
    let product: f64 = factors.map(libm::log).sum();
    assert!(product.abs() < 2.0, "relative to the run's own speed: {product}");
    assert_eq!((speed(&results), results.yardsticks[0].readings), (Speed::Slower, 80));
    assert_eq!(results.disturbed.as_deref(), Some("1.4 × slower than its quiet speed"));
}

#[test]
fn at_two_speeds_the_value_at_the_fast_one_stands_first_with_or_without_a_reference() {
    for speed_known in [Speed::Quiet, Speed::Unknown] {
        let mut raw = run_on(two_states, 1.0);
        raw.yardsticks[0].reference.take_if(|_| speed_known == Speed::Unknown);
        let results = read(&raw);
        let (case, p50) = (&results.results[0], estimate(&results, Statistic::P50));
        let wide = p50.low.unwrap() < 3100.0 && p50.high.unwrap() > 4400.0;
        assert!(p50.point.unwrap() > 3400.0 && wide, "the raw one lies between: {p50:?}");
        let shown = case.shown().unwrap();
        assert!(is_near(shown.point.unwrap(), 3000.0, 0.02), "{shown:?}");
        assert!(shown.high.unwrap() / shown.low.unwrap() < 1.10, "{shown:?}");
        assert_eq!((speed(&results), results.disturbed.as_ref()), (speed_known, None));
        let (_, said) = found(&results, Code::TwoSpeeds).unwrap();
        assert!(said.starts_with("CPU 0 ran at two speeds 1.5"), "{said}");
        assert!(said.contains(" × apart, in 45 % of the trials at the fast one"), "{said}");
        assert_eq!(severity(&results, Code::Multimodal), Some(Severity::Note), "explained");
    }
    let results = read(&run_on(two_states, 0.0));
    let p50 = estimate(&results, Statistic::P50);
    assert!(is_near(p50.point.unwrap(), 3000.0, 0.02) && p50.low.is_some(), "{p50:?}");
    let refused = (p50.quiet, results.adjustments[0].applied, found(&results, Code::TwoSpeeds));
    assert_eq!(refused, (None, Applied::Refused, None), "cases that do not follow are raw alone");
}

#[test]
fn no_value_is_ever_scaled_up() {
    let mut raw = run_on(|_| 1.0, 1.0);
    // Learnt when the machine was 1.4 times as slow.
    raw.yardsticks[0].reference.as_mut().unwrap().operation_ns = 2800.0;
    let results = read(&raw);
    let p50 = estimate(&results, Statistic::P50);
    assert!(is_near(p50.point.unwrap(), 3000.0, 0.02) && p50.quiet.is_none(), "{p50:?}");
    assert_eq!((speed(&results), results.yardsticks[0].slower), (Speed::Wrong, None));
}

#[test]
fn a_run_of_a_moment_says_nothing_of_the_next() {
    let builder = Builder::new().yardstick().case(PIPE, 9, |round, t| {
        t.each(&[3000 + round; 100]);
        t.yardstick(3000.0 + f64::from(round), 3001.0);
    });
    let mut raw = builder.build();
    let moment = p50(&raw);
    assert!(moment.low.is_none() && moment.quiet.unwrap().low.is_none(), "{moment:?}");
    assert!(moment.insufficient.unwrap().starts_with("this moment"), "nine trials in 0.8 s");
    for trial in &mut raw.trials {
        trial.started_ns *= 3;
    }
    assert!(p50(&raw).low.is_some() && p50(&raw).quiet.unwrap().low.is_some());
}

#[test]
fn without_a_reference_a_run_shows_what_was_met_alone() {
    let mut raw = run_on(wandering, 1.0);
    raw.yardsticks[0].reference = None;
    let results = read(&raw);
    let decided = (speed(&results), results.adjustments[0].applied);
    assert_eq!(decided, (Speed::Unknown, Applied::Divided));
    let p50 = estimate(&results, Statistic::P50);
    assert!(p50.quiet.is_none() && p50.point.unwrap() > 3900.0, "{p50:?}");
    raw.trials[0].yardsticks[0].operation_ns = f64::NAN;
    raw.trials[1].yardsticks[0].operation_ns = -1.0;
    raw.trials[2].yardsticks.clear();
    read(&raw);
}

/// Twelve trials on CPU 0, the first of them so many times disturbed; `foreign` is the share of
/// each that other work takes.
fn quiet_run(foreign: f64) -> RawRun {
    at_speeds(foreign, 12, |_| 1.0)
}

/// A run of these trials, each by its own factor slower than the quiet machine.
fn at_speeds(foreign: f64, trials: u32, slower: impl Fn(u32) -> f64) -> RawRun {
    let case = |round: u32, t: &mut TrialBuilder| {
        t.each(&[3000; 20_000]);
        t.yardstick(2000.0 * slower(round), 2010.0 * slower(round));
        let raw = &mut t.raw;
        raw.wall_ns = (60_000_000.0 / (1.0 - foreign)) as u64;
        raw.watched_ns = raw.wall_ns + 10_000_000;
        raw.ends[0].run_delay_ns = Some(raw.wall_ns - 60_000_000);
        raw.cpu_uses = vec![CpuUse { cpu: 0, interrupt_ns: Some(0), ..CpuUse::default() }];
    };
    Builder::new().yardstick().case(PIPE, trials, case).build()
}

fn taught(raw: &RawRun) -> Option<Reference> {
    read(raw).yardsticks[0].taught.clone()
}

#[test]
fn undisturbed_trials_teach_and_disturbed_ones_do_not() {
    let raw = quiet_run(0.0);
    let found = taught(&raw).unwrap();
    assert!((found.operation_ns - 2005.0).abs() < 0.1, "{found:?}");
    assert_eq!((found.trials, found.runs, found.learnt_from.as_str()), (12, 1, "test"));
    assert_eq!(taught(&quiet_run(0.01)).unwrap().trials, 12);
    assert_eq!(taught(&quiet_run(0.03)), None, "others took 3 % of each trial");
    let trials = |disturb: fn(&mut RawTrial)| {
        let mut raw = quiet_run(0.0);
        raw.trials[..5].iter_mut().for_each(disturb);
        assert_eq!(taught(&raw).unwrap().trials, 7);
        raw.trials[5..7].iter_mut().for_each(disturb);
        assert_eq!(taught(&raw), None, "five are too few");
    };
    trials(|trial| trial.cpu_uses[0].steal_ns = Some(10_000_000));
    trials(|trial| trial.cpu_uses[0].interrupt_ns = Some(30_000_000));
    trials(|trial| trial.cpu_uses.clear());
    trials(|trial| trial.throttling = Some(Throttling { times: 1, ns: 1 }));
    trials(|trial| trial.yardsticks[1].operation_ns = 2000.0 * 1.06);
}

#[test]
fn of_two_speeds_the_fast_one_is_taught_and_replaces_the_slow_one() {
    let of = |fast: u32| at_speeds(0.0, 40, move |at| if at < fast { 1.0 } else { 1.45 });
    let slow = taught(&of(3)).unwrap();
    assert!(is_near(slow.operation_ns, 1.45 * 2005.0, 0.001), "three lucky trials: {slow:?}");
    let level = &read(&of(12)).yardsticks[0];
    let fast = level.taught.clone().unwrap();
    assert!(is_near(fast.operation_ns, 2005.0, 0.001) && fast.trials == 12, "{fast:?}");
    let learnt = level.learnt(Some(Reference { runs: 2, ..slow })).unwrap();
    assert_eq!((learnt.operation_ns, learnt.runs, learnt.trials), (fast.operation_ns, 3, 52));
}

/// Twelve trials across two CPUs, each of which has so many milliseconds of 100 idle and gives
/// 30 to an end.
fn across(idle_ms: u64, distance_ns: Option<f64>) -> RawRun {
    let case = |_: u32, t: &mut TrialBuilder| {
        t.each(&[20_000; 5000]);
        t.yardstick(20_000.0, 20_000.0);
        let raw = &mut t.raw;
        for (end, cpu) in raw.ends.iter_mut().zip([0, 1]) {
            (end.thread_cpu_ns, end.cpu_after) = (30_000_000, cpu);
        }
        raw.cpu_ns = 60_000_000;
        raw.watched_ns = raw.wall_ns;
        raw.cpu_uses = [0, 1]
            .map(|cpu| CpuUse {
                cpu,
                idle_ns: Some(if cpu == 1 { idle_ms * 1_000_000 } else { 70_000_000 }),
                interrupt_ns: Some(0),
                ..CpuUse::default()
            })
            .to_vec();
    };
    let mut raw = Builder::new().yardstick().case(PIPE_TWO_CPUS, 12, case).build();
    let yardstick = &mut raw.yardsticks[0];
    (yardstick.class, yardstick.cpus) = (YardstickClass::Wake, vec![0, 1]);
    let reference = yardstick.reference.as_mut().unwrap();
    (reference.operation_ns, reference.distance_ns) = (16_000.0, distance_ns);
    raw
}

#[test]
fn cpus_that_other_work_keeps_from_idling_say_nothing_of_quiet_wake_ups() {
    let idle = read(&across(70, None));
    assert_eq!(speed(&idle), Speed::Slower);
    assert!(is_near(estimate(&idle, Statistic::P50).quiet.unwrap().point, 16_000.0, 0.01));
    assert_eq!(taught(&across(70, None)).unwrap().trials, 12);
    let shares = [58, 54].map(|idle_ms| speed(&read(&across(idle_ms, None))));
    assert_eq!(shares, [Speed::Slower, Speed::KeptAwake], "12 and 16 % of the time");
    let awake = read(&across(0, None));
    assert_eq!((speed(&awake), awake.yardsticks[0].taught.as_ref()), (Speed::KeptAwake, None));
    assert_eq!(estimate(&awake, Statistic::P50).quiet, None);
    assert_eq!(awake.disturbed.as_deref(), Some("CPUs kept from idling"));
    let mut faster = across(0, None);
    faster.yardsticks[0].reference.as_mut().unwrap().operation_ns = 30_000.0;
    assert_eq!(speed(&read(&faster)), Speed::KeptAwake, "the reference is not wrong");
}

#[test]
fn a_pair_of_cpus_at_another_distance_is_another_pair() {
    let with_line = |line_ns: f64| {
        let mut raw = across(70, Some(60.0));
        let line = raw.yardsticks[0].clone();
        raw.yardsticks.push(hopcost_model::raw::Yardstick {
            class: YardstickClass::Line,
            reference: None,
            ..line
        });
        for trial in &mut raw.trials {
            let mut of_line = trial.yardsticks.clone();
            of_line.iter_mut().for_each(|read| {
                (read.yardstick, read.operation_ns) = (1, line_ns);
            });
            trial.yardsticks.extend(of_line);
        }
        raw
    };
    let results = read(&with_line(85.0));
    assert_eq!(speed(&results), Speed::Slower);
    let taught = results.yardsticks[0].taught.clone().unwrap();
    assert!(is_near(taught.distance_ns.unwrap(), 85.0, 0.001), "{taught:?}");
    for far in [95.0, 39.0] {
        let results = read(&with_line(far));
        let p50 = estimate(&results, Statistic::P50);
        assert_eq!((speed(&results), p50.quiet), (Speed::OtherPair, None), "{far}");
    }
}

#[test]
fn a_pair_of_cpus_that_moves_has_the_value_of_the_distance_that_most_trials_had() {
    let moving = |round: u32, t: &mut TrialBuilder| {
        let mut rng = Rng::new(u64::from(round));
        let distance_ns = if round.is_multiple_of(3) { 110.0 } else { 55.0 };
        let mut noisy = |ns: f64| ns * libm::exp(0.02 * rng.normal());
        t.each(&vec![noisy(40.0 * distance_ns) as u32; 2000]);
        t.yardstick(noisy(distance_ns), noisy(distance_ns));
    };
    let mut raw = Builder::new().yardstick().case(PIPE_TWO_CPUS, 24, moving).build();
    let yardstick = &mut raw.yardsticks[0];
    (yardstick.class, yardstick.cpus, yardstick.reference) =
        (YardstickClass::Line, vec![0, 1], None);
    let results = read(&raw);
    let (case, p50) = (&results.results[0], estimate(&results, Statistic::P50));
    assert!(is_near(p50.point.unwrap(), 40.0 * 55.0, 0.03), "{p50:?}");
    assert!(p50.high.unwrap() / p50.low.unwrap() < 1.1, "{p50:?}");
    assert_eq!((case.n_trials, case.n_failed, case.trials.len()), (16, 0, 24));
    let found = results.findings.iter().find(|found| found.code == Code::DistanceMoved).unwrap();
    assert!(found.evidence.contains("beside 16 trials") && found.evidence.contains("beside 8,"));
    // Of too few trials at the distance of most, nothing is left out.
    raw.trials.truncate(8);
    let few = read(&raw);
    assert_eq!(few.results[0].n_trials, 8);
    assert!(few.findings.iter().all(|found| found.code != Code::DistanceMoved));
}
