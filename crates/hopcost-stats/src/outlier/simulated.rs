//! Fleets without outliers, played through the whole rule: how many of them raise a false alarm.

use super::{HOSTS_MIN, Tail, Value, place, threshold};
use crate::rng::Rng;

/// A kind of fleet.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Kind {
    pub hosts: usize,
    pub cases: usize,
    /// How hosts spread.
    pub tail: Tail,
    /// How far hosts lie apart: scale of the logarithm.
    pub spread: f64,
    /// The standard error that a host knows of itself, as a share of the spread: each has between a third and
    /// three times as much.
    pub own: f64,
    /// Ratios off 1 by no more than this share are of no interest.
    pub margin: f64,
    /// The last hosts are slower by this factor.
    pub slow: (usize, f64),
}

/// What came of simulated fleets.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Told {
    /// Share of the fleets in which a sound host was told.
    pub fleets_with_false: f64,
    /// Sound hosts told in a fleet.
    pub false_a_fleet: f64,
    /// Share of the slow hosts that were told, in any case.
    pub found: f64,
}

/// Plays so many fleets.
pub fn simulate(kind: &Kind, fleets: usize, seed: u64) -> Told {
    let mut told = Told::default();
    let Some(threshold) = threshold(kind.hosts.max(HOSTS_MIN), kind.cases) else { return told };
    let (mut rng, one) = (Rng::new(seed), 1.0 / fleets.max(1) as f64);
    let sound = kind.hosts.saturating_sub(kind.slow.0);
    let margin = libm::log1p(kind.margin);
    for _ in 0..fleets {
        let mut is_told = vec![false; kind.hosts];
        for _ in 0..kind.cases {
            let values: Vec<Value> = (0..kind.hosts)
                .map(|host| {
                    let error =
                        kind.spread * kind.own * libm::exp((rng.uniform() * 2.0 - 1.0) * 1.1);
                    let slow = if host >= sound { libm::log(kind.slow.1) } else { 0.0 };
                    let log = kind.spread * kind.tail.draw(&mut rng) + error * rng.normal() + slow;
                    Value { log, error }
                })
                .collect();
            let Some(placed) = place(&values) else { continue };
            for ((told, score), value) in is_told.iter_mut().zip(&placed.scores).zip(&values) {
                let off = value.log - placed.median;
                *told |= score.abs() > threshold && off.abs() > margin;
            }
        }
        let wrong = is_told[..sound].iter().filter(|told| **told).count();
        told.fleets_with_false += if wrong > 0 { one } else { 0.0 };
        told.false_a_fleet += wrong as f64 * one;
        let found = is_told[sound..].iter().filter(|told| **told).count();
        told.found += found as f64 / kind.slow.0.max(1) as f64 * one;
    }
    told
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(hosts: usize, cases: usize) -> Kind {
        let tail = Tail::Normal;
        Kind { hosts, cases, tail, spread: 0.05, own: 0.0, margin: 0.0, slow: (0, 1.0) }
    }

    #[test]
    fn at_most_one_fleet_in_twenty_raises_a_false_alarm() {
        for (hosts, cases, fleets) in [(8, 1, 2000), (20, 3, 2000), (100, 6, 500), (400, 2, 300)] {
            let got = simulate(&kind(hosts, cases), fleets, 11);
            // 5 % with three standard errors; a rule that never tells anything is broken too.
            let error = libm::sqrt(0.05 * 0.95 / fleets as f64);
            assert!(got.fleets_with_false <= 0.05 + 3.0 * error, "{hosts} {cases} {got:?}");
            assert!(got.fleets_with_false >= 0.05 - 3.5 * error, "{hosts} {cases} {got:?}");
        }
    }

    #[test]
    fn errors_of_their_own_make_no_false_alarms() {
        let got = simulate(&Kind { own: 1.0, ..kind(100, 3) }, 400, 12);
        assert!(got.fleets_with_false <= 0.085, "{got:?}");
    }

    #[test]
    fn a_heavier_tail_raises_more_and_is_told_as_such() {
        let got = simulate(&Kind { tail: Tail::Student5, ..kind(100, 1) }, 400, 13);
        assert!((0.2..0.9).contains(&got.fleets_with_false), "{got:?}");
        // Where hosts lie close together, the margin keeps them.
        let close = Kind { tail: Tail::Student5, spread: 0.005, margin: 0.03, ..kind(100, 1) };
        let got = simulate(&close, 400, 13);
        assert!(got.fleets_with_false <= 0.15, "{got:?}");
    }

    #[test]
    fn slow_hosts_are_found() {
        for hosts in [20, 100] {
            let kind = Kind { slow: (4, 1.4), spread: 0.03, margin: 0.03, ..kind(hosts, 3) };
            let got = simulate(&kind, 100, 14);
            assert!(got.found > 0.9, "{hosts} {got:?}");
        }
    }
}
