//! Contrasts on simulated hosts: how often equals differ, and how often a difference is found.

use hopcost_model::results::Verdict;

use super::{Contrast, ERROR, LogRatio, Region, contrast, contrasts, is_settled, looks};
use crate::hosts::{Host, Statistic, levels, run};
use crate::rng::Rng;
use crate::sample::median;

/// Cases of a ranking, of which each two are a pair.
const CASES: usize = 15;
/// What a trial adds of its own.
const OWN: f64 = 0.035;
/// From the start of a trial to that of the next, in seconds: in a run, and in a comparison.
const IN_A_RUN_S: f64 = 1.0 / 3.0;
const IN_A_BLOCK_S: f64 = 0.045;
/// Trials of a case in a stored run, and what they have in common besides the host's state (SD).
const TRIALS: usize = 15;
const OF_RUN: f64 = 0.008;
/// Blocks of a comparison of 20 seconds, and its margin.
pub const PLANNED: u32 = 72;
const MARGIN: f64 = 0.03;

/// What disturbs the trials.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Place {
    /// The host; one trial in thirty takes 35 % longer besides, on every host.
    On(Host),
    /// One trial in ten takes twice as long.
    Outliers,
    /// Each case wanders by 5 % from unit to unit, as AR(1) of 0.7, on its own.
    Wandering,
}

impl Place {
    /// Every place of the table.
    pub fn all() -> impl Iterator<Item = Self> {
        Host::ALL.map(Place::On).into_iter().chain([Place::Outliers, Place::Wandering])
    }

    /// A short name.
    pub fn word(self) -> String {
        match self {
            Place::On(host) => host.word(),
            Place::Outliers => "outliers".to_owned(),
            Place::Wandering => "wandering cases".to_owned(),
        }
    }

    /// The host's level at each of so many trials, and what a trial adds.
    fn values(self, trials: usize, between_s: f64, rng: &mut Rng) -> Vec<f64> {
        let (host, of, by) = match self {
            Place::On(host) => (host, 30, 0.3),
            Place::Outliers => (Host::Quiet, 10, 0.7),
            Place::Wandering => (Host::Quiet, 30, 0.3),
        };
        let levels = levels(host, Statistic::P50, trials, between_s, rng);
        let value = |level: f64, rng: &mut Rng| {
            level + OWN * rng.normal() + if rng.below(of) == 0 { by } else { 0.0 }
        };
        levels.iter().map(|level| value(level.of_value, rng)).collect()
    }

    /// What each case adds in each unit.
    fn of_cases(self, cases: usize, units: usize, rng: &mut Rng) -> Vec<Vec<f64>> {
        let mut of_case = || {
            let mut state = rng.normal();
            let mut next = || {
                let value = if self == Place::Wandering { 0.05 * state } else { 0.0 };
                state = 0.7 * state + libm::sqrt(1.0 - 0.7 * 0.7) * rng.normal();
                value
            };
            (0..units).map(|_| next()).collect()
        };
        (0..cases).map(|_| of_case()).collect()
    }
}

/// So many places in random order.
fn shuffled(places: usize, rng: &mut Rng) -> Vec<usize> {
    let mut order: Vec<usize> = (0..places).collect();
    for last in (1..places).rev() {
        order.swap(last, rng.below(last as u64 + 1) as usize);
    }
    order
}

/// The log ratios of every pair of cases of a run: every case once a round, in random order.
fn pairs_of_run(place: Place, rounds: usize, rng: &mut Rng) -> Vec<Vec<f64>> {
    let trials = place.values(CASES * rounds, IN_A_RUN_S, rng);
    let mut values = place.of_cases(CASES, rounds, rng);
    for (round, trials) in trials.chunks_exact(CASES).enumerate() {
        for (case, trial) in shuffled(CASES, rng).into_iter().zip(trials) {
            values[case][round] += trial;
        }
    }
    let pair = |a: usize, b: usize| values[a].iter().zip(&values[b]).map(|(a, b)| a - b).collect();
    (0..CASES).flat_map(|a| (0..a).map(move |b| (a, b))).map(|(a, b)| pair(a, b)).collect()
}

/// The log ratios of a case and of a copy to the baseline, of blocks that hold each twice: in
/// random order and then in its reverse.
fn pairs_of_blocks(place: Place, blocks: usize, rng: &mut Rng) -> Vec<Vec<f64>> {
    let trials = place.values(6 * blocks, IN_A_BLOCK_S, rng);
    let mut values = place.of_cases(3, blocks, rng);
    for (block, trials) in trials.chunks_exact(6).enumerate() {
        for (at, case) in shuffled(3, rng).into_iter().enumerate() {
            values[case][block] += f64::midpoint(trials[at], trials[5 - at]);
        }
    }
    let to_baseline =
        |case: usize| values[case].iter().zip(&values[0]).map(|(a, b)| a - b).collect();
    [2, 1].map(to_baseline).to_vec()
}

/// The logarithm of a run's value: the median over its trials, each in relation to the two
/// readings beside it.
fn value_of_run(host: Host, rng: &mut Rng) -> f64 {
    let seen = run(host, Statistic::P50, 1.0, TRIALS, rng);
    let beside = seen.values.iter().zip(&seen.readings);
    let values = beside.map(|(value, read)| value - f64::midpoint(read.before, read.after));
    median(&values.collect::<Vec<f64>>()).unwrap_or(0.0) + OF_RUN * rng.normal()
}

/// The share of so many trials in which something is so.
fn share(trials: usize, seed: u64, mut is_so: impl FnMut(&mut Rng) -> bool) -> f64 {
    let mut rng = Rng::new(seed);
    (0..trials).filter(|_| is_so(&mut rng)).count() as f64 / trials as f64
}

/// Whether an interval of equals misses a ratio: as often as one of cases that differ so misses 1.
fn misses(ends: Option<(f64, f64)>, ratio: f64) -> bool {
    let log = libm::log(ratio);
    ends.is_some_and(|(low, high)| log < low || high < log)
}

/// Shares of simulated runs.
#[derive(Debug, Clone, Copy, Default)]
pub struct Shares {
    /// Pairs of equals that differ, each alone.
    pub equals: f64,
    /// Runs in which any of all pairs of equals differs.
    pub any: f64,
    /// Pairs that are found to differ: by 5 % and by 10 % alone, and by 10 % among all.
    pub found: [f64; 3],
}

/// How the pairs of so many runs of so many rounds fare.
pub fn of_runs(place: Place, rounds: usize, (runs, seed): (usize, u64)) -> Shares {
    let mut rng = Rng::new(seed);
    let mut shares = Shares::default();
    for _ in 0..runs {
        let pairs = pairs_of_run(place, rounds, &mut rng);
        let pairs = LogRatio::pooled(&pairs.iter().map(Vec::as_slice).collect::<Vec<_>>());
        let pairs: Vec<LogRatio> = pairs.into_iter().flatten().collect();
        let all = contrasts(&pairs.iter().collect::<Vec<_>>(), Region::EQUAL, ERROR);
        let any = all.iter().any(|one| one.verdict == Verdict::Outside);
        shares.any += f64::from(u8::from(any)) / runs as f64;
        for of in &pairs {
            let alone = of.interval(ERROR);
            let among = of.interval(ERROR / pairs.len() as f64);
            let add = |is_so: bool| f64::from(u8::from(is_so)) / (runs * pairs.len()) as f64;
            shares.equals += add(misses(alone, 1.0));
            shares.found[0] += add(misses(alone, 1.05));
            shares.found[1] += add(misses(alone, 1.1));
            shares.found[2] += add(misses(among, 1.1));
        }
    }
    shares
}

/// What a live comparison finds of a case that takes `effect` (a logarithm) more, against a margin,
/// and after how many blocks.
pub(crate) fn settled(place: Place, effect: f64, margin: f64, rng: &mut Rng) -> (Contrast, u32) {
    let pairs = pairs_of_blocks(place, PLANNED as usize, rng);
    // Equals lie to a region so far off as cases that differ so far lie to the one around 1.
    let region = Region { low: -effect - margin, high: -effect + margin };
    let look = |(units, error): (u32, f64)| {
        let parts: Vec<&[f64]> = pairs.iter().map(|logs| &logs[..units as usize]).collect();
        let of = contrast(&LogRatio::pooled(&parts)[0]?, region, error);
        let of = Contrast { point: of.point + effect, ..of };
        (units == PLANNED || is_settled(&[of], margin)).then_some((of, units))
    };
    looks(PLANNED).into_iter().find_map(look).expect("the last look ends it")
}

/// Of so many live comparisons, the shares in which equals differ and 5 % is found, and in which a
/// case that takes 5 or 10 % more is slower by more than the margin.
pub fn of_looks(place: Place, (trials, seed): (usize, u64)) -> [f64; 4] {
    let log = libm::log;
    let margin = log(1.0 + MARGIN);
    [(0.0, 0.0), (log(1.05), 0.0), (log(1.05), margin), (log(1.1), margin)].map(
        |(effect, margin)| {
            share(trials, seed, |rng| {
                settled(place, effect, margin, rng).0.verdict == Verdict::Outside
            })
        },
    )
}

/// Of so many comparisons of stored runs, the shares in which equals differ, and in which 5 and
/// 10 % are found.
pub fn of_stored(host: Host, sides: [usize; 2], (trials, seed): (usize, u64)) -> [f64; 3] {
    [1.0, 1.05, 1.1].map(|ratio| {
        share(trials, seed, |rng| {
            let [a, b] =
                sides.map(|n| (0..n).map(|_| value_of_run(host, rng)).collect::<Vec<f64>>());
            misses(LogRatio::of_runs(&a, &b).and_then(|of| of.interval(ERROR)), ratio)
        })
    })
}

#[cfg(test)]
mod tests {
    use std::cmp::Ordering;

    use super::super::{BETWEEN_RUNS, error_after};
    use super::*;

    #[test]
    fn equals_of_a_run_differ_no_more_often_than_they_may() {
        for place in Place::all() {
            for rounds in [6, 9, 24] {
                let got = of_runs(place, rounds, (60, 1));
                let wanders = place == Place::Wandering;
                assert!((0.01..if wanders { 0.13 } else { 0.08 }).contains(&got.equals), "{got:?}");
                // 5 %, with three standard errors of a small simulation.
                assert!(wanders || got.any <= 0.05 + 3.0 * 0.028, "{place:?} {rounds} {got:?}");
            }
        }
        for (place, least) in [(Place::On(Host::Quiet), 0.9), (Place::Outliers, 0.75)] {
            let got = of_runs(place, 24, (30, 1));
            assert!(got.found[2] >= least, "{place:?} {got:?}");
        }
        // Ranks find none of these: their least p is above what 105 pairs need.
        assert!(of_runs(Place::On(Host::Quiet), 9, (30, 1)).found[2] > 0.1);
    }

    #[test]
    fn looks_do_not_make_equals_differ() {
        for place in Place::all().filter(|place| *place != Place::Wandering) {
            let [equals, five, five_slower, tenth_slower] = of_looks(place, (200, 1));
            assert!(equals <= 0.09, "{place:?} {equals}");
            // A host that is half as slow again for a tenth of a second now and then is so for
            // one half of most blocks.
            let is_restless = place == Place::On(Host::TwoStates(0.1));
            assert!(five >= if is_restless { 0.3 } else { 0.7 }, "{place:?} {five}");
            assert!(tenth_slower >= if is_restless { 0.4 } else { 0.9 }, "{place:?}");
            assert!(five_slower <= tenth_slower);
        }
    }

    #[test]
    fn stored_runs_differ_as_often_as_they_may() {
        for host in Host::ALL {
            for sides in [[2, 3], [3, 3], [5, 5], [2, 8]] {
                let [equals, ..] = of_stored(host, sides, (500, 1));
                assert!((0.015..0.09).contains(&equals), "{host:?} {sides:?} {equals}");
            }
            let [_, _, ten] = of_stored(host, [8, 8], (100, 1));
            assert!(ten >= 0.9, "{host:?} {ten}");
        }
    }

    /// Where two of many cases lie, of which one takes `effect` (a logarithm) more: looked at every
    /// eight rounds until it is known whether the effect is in the region.
    fn placed(host: Host, effect: f64, region: Region, rng: &mut Rng) -> Verdict {
        // The two share a round of six seconds, anywhere in it.
        let levels = levels(host, Statistic::P50, 8 * 48, 0.75, rng);
        let of_run = effect + BETWEEN_RUNS * rng.normal();
        let ratio = |round: &[crate::hosts::Level]| {
            let mut value = || round[rng.below(8) as usize].of_value + OWN * rng.normal();
            of_run + value() - value()
        };
        let ratios: Vec<f64> = levels.chunks_exact(8).map(ratio).collect();
        let look = |rounds: usize| {
            let of = LogRatio::alone(&ratios[..rounds]).unwrap().between_runs(BETWEEN_RUNS);
            contrast(&of, region, error_after(rounds as u32, 8)).verdict
        };
        (8..=48).step_by(8).map(look).find(|found| *found != Verdict::Open).unwrap_or(Verdict::Open)
    }

    #[test]
    fn claims_are_wrong_at_most_one_time_in_twenty() {
        use Verdict::{Inside, Outside};
        let (less, about) =
            (Region { low: f64::NEG_INFINITY, high: 0.0 }, Region { low: -0.1, high: 0.1 });
        for host in [Host::Quiet, Host::TwoStates(1.0), Host::TwoStates(5.0), Host::Drift] {
            for (effect, region, verdict, is_right) in [
                // At the very end of the region, where it is hardest.
                (0.0, less, Outside, false),
                (1e-9, less, Inside, false),
                (0.1, about, Outside, false),
                (0.1 + 1e-9, about, Inside, false),
                (-0.7, less, Inside, true),
                (0.7, less, Outside, true),
            ] {
                let got = share(300, 11, |rng| placed(host, effect, region, rng) == verdict);
                println!("{host:?}, {effect} in {region:?}: {verdict:?} {got}");
                let is_as_it_may_be = if is_right { got >= 0.95 } else { got <= 0.05 };
                assert!(is_as_it_may_be || host == Host::Drift, "{host:?} {effect} {got}");
            }
        }
    }

    #[test]
    fn checks_fail_what_is_slower_and_a_second_measurement_stops_a_chance_hit() {
        // Runs that spread so far, one in ten of them a fifth slower; cases that look slower by
        // more than 5 % are measured again.
        let runs = |n: usize, spread: f64, effect: f64, rng: &mut Rng| -> Vec<f64> {
            let disturbed = |rng: &mut Rng| if rng.below(10) == 0 { 0.2 } else { 0.0 };
            (0..n).map(|_| effect + spread * rng.normal() + disturbed(rng)).collect()
        };
        let region = Region::around(libm::log1p(0.05));
        for (cases, effect, spread, looks, fails) in [
            (8, 0.0, 0.01, 0.0..=0.01, 0.0..=0.005),
            (8, 0.0, 0.05, 0.0..=0.02, 0.0..=0.005),
            (8, 0.0, 0.2, 0.0..=0.03, 0.0..=0.005),
            // At the margin itself as many look slower by chance as there can be.
            (1, 0.05, 0.05, 0.01..=0.05, 0.0..=0.02),
            (4, 0.2, 0.01, 0.9..=1.0, 0.85..=1.0),
            (4, 0.2, 0.03, 0.8..=1.0, 0.6..=1.0),
        ] {
            let mut looked = 0.0;
            let failed = share(1_000, 4, |rng| {
                let baselines: Vec<Vec<f64>> =
                    (0..cases).map(|_| runs(8, spread, 0.0, rng)).collect();
                let mut slower = |among: &[usize]| -> Vec<usize> {
                    let new = |case: &usize| {
                        (runs(8, spread, libm::log1p(effect), rng), &baselines[*case])
                    };
                    let new: Vec<_> = among.iter().map(new).collect();
                    let of: Vec<LogRatio> =
                        new.iter().filter_map(|(b, a)| LogRatio::of_runs(a, b)).collect();
                    let found = contrasts(&of.iter().collect::<Vec<_>>(), region, ERROR);
                    let found = among.iter().zip(found);
                    let is_slower = |of: &Contrast| of.verdict.side(of.point, 0.0) == Some(Ordering::Greater);
                    found.filter(|(_, of)| is_slower(of)).map(|(case, _)| *case).collect()
                };
                let first = slower(&(0..cases).collect::<Vec<_>>());
                looked += f64::from(u8::from(!first.is_empty())) / 1_000.0;
                !first.is_empty() && !slower(&first).is_empty()
            });
            println!(
                "{cases} cases, {effect:+}, spread {spread}: looked {looked}, failed {failed}"
            );
            assert!(
                looks.contains(&looked) && fails.contains(&failed),
                "{cases} {effect} {spread}"
            );
        }
    }
}
