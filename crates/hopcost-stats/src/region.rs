//! Whether a number lies in a region, looked at while rounds go on: one value a round, and an error
//! that all looks share.

use crate::compare::{ERROR, LogRatio};
use crate::tail::normal_quantile;

/// By how much the logarithm of a ratio differs between runs beyond what a run can see of it: SD.
/// What all trials of a run have in common, of two cases.
pub const BETWEEN_RUNS: f64 = 0.008 * core::f64::consts::SQRT_2;
/// The rounds that would decide are told up to so many times those there are.
const FURTHER_MAX: f64 = 20.0;

/// The one-sided error that may be spent after so many rounds where there is a look every so many:
/// the k-th look has 1/(k(k + 1)) of it, and between two looks, where time was up, there is what
/// those before have left.
pub fn error_after(rounds: u32, every: u32) -> f64 {
    let looks = f64::from(rounds / every.max(1));
    match rounds.is_multiple_of(every.max(1)) && looks > 0.0 {
        true => ERROR / (looks * (looks + 1.0)),
        false => ERROR / (looks + 1.0),
    }
}

/// Where a number lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// In the region.
    Inside,
    Outside,
    /// Not known.
    Open,
}

/// A number with its interval, and where it lies.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Placed {
    pub place: Place,
    pub point: f64,
    /// The interval from which it is told; the wider one where it is told to lie beside the region.
    pub interval: Option<(f64, f64)>,
    /// Rounds that would probably tell where these do not; `None` where none would.
    pub n_to_decide: Option<u32>,
}

/// One-sided errors with which it may be told where a number lies.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Errors {
    /// In the region.
    pub inside: f64,
    pub outside: f64,
}

/// Places a number of which there is a value a round; the mean of the run differs from that of
/// others by `between` (SD).
pub fn place(values: &LogRatio, region: (f64, f64), between: f64, errors: Errors) -> Placed {
    let interval = |error: f64| {
        let (low, high) = values.interval(error)?;
        let half = normal_quantile(1.0 - 2.0 * error) * between;
        let point = values.point();
        Some((point - libm::hypot(point - low, half), point + libm::hypot(high - point, half)))
    };
    let placed =
        place_interval(values.point(), interval(errors.inside), interval(errors.outside), region);
    let n_to_decide = (placed.place == Place::Open)
        .then(|| to_decide(values, region, between, errors.inside))
        .flatten();
    Placed { n_to_decide, ..placed }
}

/// The same of a number with intervals of these errors.
pub fn place_interval(
    point: f64,
    inside: Option<(f64, f64)>,
    outside: Option<(f64, f64)>,
    region: (f64, f64),
) -> Placed {
    let is_in = inside.is_some_and(|(low, high)| region.0 <= low && high <= region.1);
    let is_out = outside.is_some_and(|(low, high)| high < region.0 || region.1 < low);
    let (place, interval) = match (is_in, is_out) {
        (true, _) => (Place::Inside, inside),
        (false, true) => (Place::Outside, outside),
        (false, false) => (Place::Open, inside),
    };
    Placed { place, point, interval, n_to_decide: None }
}

/// Rounds with which the half of the interval would be as wide as the point is off the nearest end
/// of the region, and as many again, for four times in five.
fn to_decide(values: &LogRatio, region: (f64, f64), between: f64, error: f64) -> Option<u32> {
    let least = libm::ceil(-libm::log2(error));
    let Some((low, high)) = values.interval(error) else { return Some(least as u32) };
    let point = values.point();
    let z = normal_quantile(1.0 - 2.0 * error);
    let off = (point - region.0).abs().min((point - region.1).abs());
    let room = off * off - (z * between) * (z * between);
    let half = (high - low) / 2.0 * (z + 0.84) / z;
    let factor = half * half / room.max(0.0);
    (factor <= FURTHER_MAX).then(|| libm::ceil(values.n() as f64 * factor.max(1.0)) as u32 + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hosts::{Host, Statistic, levels};
    use crate::rng::Rng;

    const EVERY: u32 = 8;
    const ROUNDS: u32 = 48;

    #[test]
    fn looks_share_the_error() {
        let looks: f64 = (1..1000).map(|look| error_after(look * EVERY, EVERY)).sum();
        assert!(looks < ERROR && looks > 0.99 * ERROR);
        // Time was up after the second look.
        let left = ERROR - error_after(8, EVERY) - error_after(16, EVERY);
        assert!((error_after(21, EVERY) - left).abs() < 1e-12);
        for rounds in [0, 5] {
            assert_eq!(error_after(rounds, EVERY).to_bits(), ERROR.to_bits());
        }
    }

    /// What is told of two cases, of which one takes `effect` (a logarithm) more, on a host: looked at every
    /// eight rounds until it is known whether the effect is in the region.
    fn told(host: Host, effect: f64, region: (f64, f64), rng: &mut Rng) -> Place {
        // Two of many cases that share a round of six seconds, anywhere in it.
        let levels = levels(host, Statistic::P50, 8 * ROUNDS as usize, 0.75, rng);
        let of_run = [rng.normal(), rng.normal()].map(|own| own * BETWEEN_RUNS / 2.0_f64.sqrt());
        let ratio = |round: &[crate::hosts::Level]| {
            let mut value = |of: f64| {
                let level = round[rng.below(8) as usize];
                of + level.of_value + 0.035 * rng.normal()
            };
            value(effect + of_run[0]) - value(of_run[1])
        };
        let ratios: Vec<f64> = levels.chunks_exact(8).map(ratio).collect();
        for rounds in (EVERY..=ROUNDS).step_by(EVERY as usize) {
            let error = error_after(rounds, EVERY);
            let errors = Errors { inside: error, outside: error };
            let values = LogRatio::of_blocks(&ratios[..rounds as usize]).unwrap();
            let placed = place(&values, region, BETWEEN_RUNS, errors);
            if placed.place != Place::Open {
                return placed.place;
            }
        }
        Place::Open
    }

    fn share(host: Host, effect: f64, region: (f64, f64), what: Place) -> f64 {
        let mut rng = Rng::new(11);
        let runs = 300;
        let count = (0..runs).filter(|_| told(host, effect, region, &mut rng) == what).count();
        // METHODOLOGY.md quotes these.
        println!("{host:?}, {effect} in {region:?}: {what:?} {count} of {runs}");
        count as f64 / f64::from(runs)
    }

    #[test]
    fn simulated_runs_tell_the_truth_to_be_false_at_most_one_time_in_twenty_and_the_reverse() {
        // At the very end of the region, where it is hardest.
        for host in [Host::Quiet, Host::TwoStates(1.0), Host::TwoStates(5.0), Host::Drift] {
            let less = (f64::NEG_INFINITY, 0.0);
            assert!(share(host, 0.0, less, Place::Outside) <= 0.05, "{host:?}");
            assert!(share(host, 1e-9, less, Place::Inside) <= 0.05, "{host:?}");
            let about = (-0.1, 0.1);
            assert!(share(host, 0.1, about, Place::Outside) <= 0.05, "{host:?}");
            assert!(share(host, 0.1 + 1e-9, about, Place::Inside) <= 0.05, "{host:?}");
        }
    }

    #[test]
    fn simulated_runs_tell_what_is_clearly_so() {
        for host in [Host::Quiet, Host::TwoStates(1.0), Host::TwoStates(5.0)] {
            let less = (f64::NEG_INFINITY, 0.0);
            assert!(share(host, -0.7, less, Place::Inside) >= 0.95, "{host:?}");
            assert!(share(host, 0.7, less, Place::Outside) >= 0.95, "{host:?}");
        }
    }

    #[test]
    fn rounds_that_would_decide() {
        let values: Vec<f64> = (0..16).map(|i| 0.1 + 0.02 * (f64::from(i) - 7.5)).collect();
        let of = LogRatio::of_blocks(&values).unwrap();
        let errors = Errors { inside: 0.01, outside: 0.01 };
        let at = |end: f64| place(&of, (f64::NEG_INFINITY, end), 0.0, errors);
        assert_eq!((at(0.3).place, at(-0.1).place), (Place::Inside, Place::Outside));
        let open = at(0.13);
        assert_eq!(open.place, Place::Open);
        assert!((20..200).contains(&open.n_to_decide.unwrap()), "{open:?}");
        assert_eq!(at(0.1).n_to_decide, None, "at the end itself");
        let few = LogRatio::of_blocks(&values[..4]).unwrap();
        assert_eq!(place(&few, (0.0, 1.0), 0.0, errors).n_to_decide, Some(7));
    }

    #[test]
    fn what_runs_differ_by_widens_and_is_not_made_up_for_by_rounds() {
        // Of 16 evenly spread rounds the thirtieth least of the Walsh averages is 0.06 from the middle.
        let values: Vec<f64> = (0..16).map(|i| 0.1 + 0.02 * (f64::from(i) - 7.5)).collect();
        let of = LogRatio::of_blocks(&values).unwrap();
        let errors = Errors { inside: 0.025, outside: 0.0125 };
        let at = |region, half| place(&of, region, half / 1.959_963_984_540_054, errors);
        let (low, high) = at((-1.0, 1.0), 0.08).interval.unwrap();
        assert!(low.abs() < 1e-12 && (high - 0.2).abs() < 1e-12, "{low} {high}");
        assert!((BETWEEN_RUNS * BETWEEN_RUNS - 2.0 * 0.008 * 0.008).abs() < 1e-12);
        // 16 · ((0.06 · (1.96 + 0.84) / 1.96)² / (0.05² − 0.03²)) is 73.5.
        for (region, half, rounds) in [
            ((-1.0, 0.15), 0.03, Some(75)),
            ((0.05, 1.0), 0.03, Some(75)),
            ((0.05, 1.0), 0.055, None),
            ((0.066, 1.0), 0.03, None),
            ((-1.0, 1.0), 0.08, None),
        ] {
            assert_eq!(at(region, half).n_to_decide, rounds, "{region:?} {half}");
        }
    }

    #[test]
    fn an_interval_that_touches_the_region_is_not_beside_it() {
        let at = |low, high| place_interval(1.5, None, Some((1.0, 2.0)), (low, high)).place;
        assert_eq!([at(2.0, 3.0), at(0.0, 1.0)], [Place::Open; 2]);
        assert_eq!([at(2.1, 3.0), at(0.0, 0.9)], [Place::Outside; 2]);
    }

    #[test]
    fn counts_that_never_vary_lie_at_the_end_of_a_region() {
        let of = LogRatio::of_blocks(&[4.0; 8]).unwrap();
        let errors = Errors { inside: 0.0125, outside: 0.0125 };
        let at = |low, high| place(&of, (low, high), 0.0, errors).place;
        assert_eq!((at(4.0, 4.0), at(4.0f64.next_up(), 9.0)), (Place::Inside, Place::Outside));
    }
}
