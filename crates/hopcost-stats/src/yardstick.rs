//! What a yardstick says about the host beside each trial, how far it can be
//! believed, and whether dividing a trial by it does what it should.
//!
//! Everything is on the scale of natural logarithms: dividing is subtracting.
//!
//! A reading has an error of its own. Whatever is computed from the plain reading
//! leans towards "the yardstick explains nothing" (errors in variables), so:
//!
//! * a trial's level is pulled back to the run's by the *reliability* λ, the share of
//!   the readings' variance that the readings before and after a trial have in common
//!   (regression calibration; Carroll et al., Measurement Error in Nonlinear Models, 4);
//! * the *elasticity* is estimated with the reading before a trial as instrument for
//!   the one after it and the reverse, which takes the reading's error out.

use hopcost_model::raw::Reference;
use hopcost_model::results::Applied;

use crate::sample::{products, trimmed_mean};

mod elasticity;
mod readings;

#[cfg(test)]
pub(crate) use elasticity::points;
pub use elasticity::{Elasticity, Point, elasticity};
pub use readings::Readings;
use readings::{preempted_above, undisturbed};

/// The level of a yardstick beside each trial of a run, as far as its readings can be
/// believed.
#[derive(Debug, Clone, PartialEq)]
pub struct Calibrated {
    /// Logarithm of the level, a trial.
    pub levels: Vec<f64>,
    /// Logarithm of the run's level.
    pub centre: f64,
    /// Standard error of `centre` from the readings' own error.
    pub centre_error: f64,
    /// Share of the variance of a trial's level, as read, that is the host's; 0 to 1.
    pub reliability: f64,
    /// Standard deviation of the host's own level over the trials.
    pub variation: f64,
}

impl Calibrated {
    /// How far the run is above a reference.
    pub fn away(&self, reference: &Reference) -> f64 {
        self.centre - libm::log(reference.operation_ns)
    }

    /// Whether that is more than the two tell apart, either way.
    pub fn differs(&self, reference: &Reference) -> bool {
        let errors = 2.0 * libm::hypot(self.centre_error, reference.log_error);
        self.away(reference).abs() > errors.max(libm::log1p(AWAY_MAX))
    }

    /// Standard error that all trials of the run share, whatever their spread, where they are
    /// put in relation to a reference so far below the run.
    pub fn shared_error(&self, decision: Applied, away: f64) -> f64 {
        let own = match decision {
            Applied::Divided => (1.0 - self.reliability) * self.centre_error,
            Applied::NotNeeded => self.centre_error,
            Applied::Refused | Applied::Shared => 0.0,
        };
        libm::hypot(own, ELASTICITY_ERROR * away)
    }
}

/// How far from 1 the elasticity of a case to a yardstick of its own kind usually is: far
/// from the reference the quotient is that much less certain.
const ELASTICITY_ERROR: f64 = 0.03;
/// Readings on either side of a trial that are tried.
const NEIGHBOURS: [usize; 3] = [1, 2, 4];
/// More neighbours are taken when they explain this much more of the level's variance.
const NEIGHBOURS_GAIN_MIN: f64 = 1.1;
/// Share of the trials left out at either end of the run's level.
const CENTRE_TRIM: f64 = 0.2;

/// The level beside each trial from the run's readings in time order; `None` without
/// readings or where one is not finite.
pub fn calibrate(readings: &[Readings]) -> Option<Calibrated> {
    if readings.iter().any(|r| !(r.before.is_finite() && r.after.is_finite())) {
        return None;
    }
    let steady = undisturbed(readings);
    let readings = without_preempted(readings);
    let better = |best: Windows, wider: Windows| {
        let gains = wider.explained() > NEIGHBOURS_GAIN_MIN * best.explained();
        if gains { wider } else { best }
    };
    let windows = NEIGHBOURS.map(|neighbours| Windows::new(&readings, &steady, neighbours));
    let windows = windows.into_iter().reduce(better)?;
    let centre = trimmed_mean(&windows.means, CENTRE_TRIM)?;
    let reliability = windows.reliability();
    let error = libm::sqrt((1.0 - reliability) * windows.variance / readings.len() as f64);
    Some(Calibrated {
        levels: windows.means.iter().map(|mean| centre + reliability * (mean - centre)).collect(),
        centre,
        centre_error: error,
        reliability,
        variation: libm::sqrt(windows.covariance.max(0.0)),
    })
}

/// The readings, in place of each preempted one the other beside the same trial or, where
/// both were, the run's level.
fn without_preempted(readings: &[Readings]) -> Vec<Readings> {
    let limit = preempted_above(readings);
    let all = readings.iter().flat_map(|r| [r.before, r.after]);
    let kept: Vec<f64> = all.filter(|reading| *reading <= limit).collect();
    let level = trimmed_mean(&kept, CENTRE_TRIM).unwrap_or(limit);
    let mended = |r: &Readings| {
        let or = |reading: f64, other: f64| match (reading <= limit, other <= limit) {
            (true, _) => reading,
            (false, true) => other,
            (false, false) => level,
        };
        Readings { before: or(r.before, r.after), after: or(r.after, r.before) }
    };
    readings.iter().map(mended).collect()
}

/// The readings before and after each trial, averaged over some neighbours.
struct Windows {
    /// The mean of before and after, a trial.
    means: Vec<f64>,
    /// Covariance of before and after: the variance of the host's level.
    covariance: f64,
    /// Variance of their mean: of the level and of the reading's error.
    variance: f64,
}

impl Windows {
    /// Only steady trials say what before and after have in common.
    fn new(readings: &[Readings], steady: &[bool], neighbours: usize) -> Self {
        let in_time_order: Vec<f64> = readings.iter().flat_map(|r| [r.before, r.after]).collect();
        let mean = |from: usize, to: usize| {
            in_time_order[from..to].iter().sum::<f64>() / (to - from) as f64
        };
        let last = in_time_order.len();
        let at = |trial: usize| 2 * trial + 1;
        let before = |trial| mean(at(trial).saturating_sub(neighbours), at(trial));
        let after = |trial| mean(at(trial), (at(trial) + neighbours).min(last));
        let middle = |trial| f64::midpoint(before(trial), after(trial));
        let steady: Vec<usize> = (0..steady.len()).filter(|trial| steady[*trial]).collect();
        let kept = |of: &dyn Fn(usize) -> f64| -> Vec<f64> {
            steady.iter().map(|trial| of(*trial)).collect()
        };
        let (before, after, both) = (kept(&before), kept(&after), kept(&middle));
        let freedom = (steady.len().max(2) - 1) as f64;
        Self {
            means: (0..readings.len()).map(middle).collect(),
            covariance: products(&before, &after) / freedom,
            variance: products(&both, &both) / freedom,
        }
    }

    fn reliability(&self) -> f64 {
        if self.variance > 0.0 { (self.covariance / self.variance).clamp(0.0, 1.0) } else { 0.0 }
    }
    /// Variance of the level that the readings explain.
    fn explained(&self) -> f64 {
        self.reliability() * self.covariance.max(0.0)
    }
}

/// By what share a run may be off the reference of its machine and count as quiet.
pub const AWAY_MAX: f64 = 0.05;

/// Two CPUs whose cache line takes so many times as long are another pair.
pub const OTHER_PAIR: f64 = 1.5;

/// Whether two times of a cache line are those of two pairs of CPUs.
pub fn is_other_pair(one_ns: f64, other_ns: f64) -> bool {
    libm::log(one_ns / other_ns).abs() > libm::log(OTHER_PAIR)
}

/// The elasticities at which dividing is right.
pub const ELASTICITIES: core::ops::RangeInclusive<f64> = 0.7..=1.3;
/// Variation of the level below which the host is steady.
pub const QUIET_VARIATION_MAX: f64 = 0.01;

/// Decides for a group of cases; dividing would be wrong where they do not follow the yardstick one to
/// one, or where it would widen their spread. Where the elasticity cannot be estimated the level
/// hardly varies, and dividing changes little.
pub fn decide(calibrated: &Calibrated, elasticity: Option<&Elasticity>) -> Applied {
    match elasticity {
        _ if calibrated.variation <= QUIET_VARIATION_MAX => Applied::NotNeeded,
        Some(e) if e.high < *ELASTICITIES.start() || e.low > *ELASTICITIES.end() => {
            Applied::Refused
        }
        Some(e) if e.removed_share_high < 0.0 => Applied::Refused,
        _ => Applied::Divided,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;
    use proptest::prelude::*;

    /// A host whose level is `level(i)`, read with this error.
    fn read(n: usize, error: f64, seed: u64, level: impl Fn(usize) -> f64) -> Vec<Readings> {
        let mut rng = Rng::new(seed);
        (0..n)
            .map(|i| Readings {
                before: level(i) + error * rng.normal(),
                after: level(i) + error * rng.normal(),
            })
            .collect()
    }

    fn states(i: usize) -> f64 {
        if i % 7 < 3 { 0.4 } else { 0.0 }
    }

    /// The elasticity of two cases that follow the host's states one to one, and have noise.
    fn followed(seed: u64) -> Elasticity {
        let readings = read(54, 0.15, seed, states);
        let calibrated = calibrate(&readings).unwrap();
        let [one, other] = [1, 2].map(|case| -> Vec<f64> {
            let mut rng = Rng::new(seed + case);
            (0..54).map(|i| 3.0 + states(i) + 0.065 * rng.normal()).collect()
        });
        let case = |values: &[f64]| points(values, &readings, &calibrated.levels);
        elasticity(&[&case(&one), &case(&other)]).unwrap()
    }

    #[test]
    fn a_level_is_believed_as_far_as_its_readings_agree() {
        let sharp = calibrate(&read(54, 0.02, 1, states)).unwrap();
        assert!(sharp.reliability > 0.97, "{sharp:?}");
        assert!((sharp.levels[0] - 0.4).abs() < 0.06 && sharp.levels[5].abs() < 0.06);
        let blurred = calibrate(&read(200, 0.2, 1, states)).unwrap();
        assert!((0.55..0.78).contains(&blurred.reliability), "{}", blurred.reliability);
        let nothing = calibrate(&read(200, 0.05, 1, |_| 1.0)).unwrap();
        assert!(nothing.reliability < 0.2 && nothing.variation < 0.02, "{nothing:?}");
        assert!((nothing.centre - 1.0).abs() < 4.0 * nothing.centre_error, "{nothing:?}");
        assert!((blurred.centre_error / 0.01 - 1.0).abs() < 0.1, "0.2 / √2 / √200: {blurred:?}");
        assert_eq!(calibrate(&[]), None);
        assert_eq!(calibrate(&[Readings { before: f64::NAN, after: 0.0 }]), None);
    }

    #[test]
    fn the_other_reading_stands_in_for_a_preempted_one() {
        let of = |before: f64, after: f64| Readings { before, after };
        let mut readings = vec![of(0.0, 0.0); 10];
        let limit = core::f64::consts::LN_2;
        readings.extend([of(0.7, 0.1), of(0.2, 0.7), of(0.7, 0.7), of(limit, 0.3)]);
        let mended = [of(0.1, 0.1), of(0.2, 0.2), of(0.0, 0.0), of(limit, 0.3)];
        assert_eq!(without_preempted(&readings)[10..], mended);
    }

    #[test]
    fn disturbed_and_preempted_readings_are_no_level_and_a_slow_one_is_averaged() {
        let mut readings = read(54, 0.02, 1, states);
        for i in [3, 17, 40] {
            readings[i].after += 3.0;
        }
        assert!(calibrate(&readings).unwrap().reliability > 0.97);
        let mut readings = read(54, 0.02, 1, |_| 0.0);
        for i in (0..54).step_by(5) {
            readings[i].after += 1.5;
            readings[i + 1].before += 1.2;
            readings[i + 1].after += 1.3;
        }
        let calibrated = calibrate(&readings).unwrap();
        assert!(calibrated.variation < 0.02 && calibrated.centre.abs() < 0.01, "{calibrated:?}");
        assert!(calibrated.levels.iter().all(|level| level.abs() < 0.06), "{calibrated:?}");
        let slow = |i: usize| 0.2 * libm::sin(i as f64 / 12.0);
        // 0.3 with one reading on either side.
        assert!(calibrate(&read(200, 0.3, 1, slow)).unwrap().reliability > 0.4);
    }

    #[test]
    fn the_readings_error_does_not_lean_on_the_elasticity() {
        let found: Vec<Elasticity> = (0..40).map(|seed| followed(100 * seed)).collect();
        let mean = found.iter().map(|of| of.slope).sum::<f64>() / 40.0;
        assert!((mean - 1.0).abs() < 0.05, "{mean}: the plain slope is 0.78");
        let held = found.iter().filter(|of| of.low <= 1.0 && 1.0 <= of.high).count();
        assert!(held >= 34, "{held} of 40");
    }

    /// A run at a level, of which nothing else is known.
    fn at(centre: f64, variation: f64) -> Calibrated {
        let levels = Vec::new();
        Calibrated { levels, centre, centre_error: 0.04, reliability: 0.75, variation }
    }

    fn reference(level: f64, log_error: f64) -> Reference {
        Reference { operation_ns: libm::exp(level), log_error, ..Reference::default() }
    }

    #[test]
    fn decisions_at_their_limits() {
        let of = |variation: f64, known: Option<&Elasticity>| decide(&at(1.0, variation), known);
        assert_eq!(of(0.01, None), Applied::NotNeeded);
        assert_eq!(of(0.011, None), Applied::Divided);
        for (away, error, differs) in
            [(0.048, 0.0, false), (0.049, 0.0, true), (-0.049, 0.0, true), (0.1, 0.06, false)]
        {
            let run = Calibrated { centre_error: 0.0, ..at(1.0, 0.1) };
            assert_eq!(run.differs(&reference(1.0 - away, error)), differs, "{away}");
        }
        let error = libm::hypot(0.04, 0.048) / 2.0;
        assert!(!at(1.0, 0.1).differs(&reference(0.9, error)));
        for (low, high, removed_share_high, decision) in [
            (0.5, 0.7, 0.1, Applied::Divided),
            (0.5, 0.69, 0.1, Applied::Refused),
            (1.3, 1.5, 0.1, Applied::Divided),
            (1.31, 1.5, 0.1, Applied::Refused),
            (0.9, 1.1, 0.0, Applied::Divided),
            (0.9, 1.1, -0.1, Applied::Refused),
        ] {
            let removed_share = removed_share_high;
            let known = Elasticity { slope: 1.0, low, high, removed_share, removed_share_high };
            assert_eq!(of(0.1, Some(&known)), decision, "{known:?}");
        }
    }

    proptest! {
        #[test]
        fn whatever_was_read_nothing_breaks(
            trials in proptest::collection::vec((-30.0..30.0f64, -30.0..30.0f64), 0..40),
            coarse in 0u8..3,
            broken in proptest::option::of(0usize..40),
        ) {
            // Coarse clocks read equal values.
            let read = |x: f64| if coarse == 0 { x } else { (x / 15.0 / f64::from(coarse)).trunc() };
            let of = |&(a, b): &(f64, f64)| Readings { before: read(a), after: read(b) };
            let readings: Vec<Readings> = trials.iter().map(of).collect();
            let mut values: Vec<f64> = trials.iter().map(|(a, b)| a - b).collect();
            let calibrated = calibrate(&readings);
            prop_assert_eq!(calibrated.is_some(), !readings.is_empty());
            let Some(calibrated) = calibrated else { return Ok(()) };
            prop_assert!((0.0..=1.0).contains(&calibrated.reliability));
            prop_assert!(calibrated.levels.iter().all(|level| level.is_finite()));
            prop_assert!(calibrated.centre_error.is_finite());
            let levels = &calibrated.levels;
            let case = points(&values, &readings, levels);
            if let Some(found) = elasticity(&[&case, &case]) {
                prop_assert!(found.low <= found.slope && found.slope <= found.high);
                prop_assert!(found.removed_share <= found.removed_share_high);
            }
            if let Some(at) = broken.filter(|at| *at < values.len()) {
                values[at] = f64::NAN;
                let mut readings = readings.clone();
                readings[at].after = f64::INFINITY;
                elasticity(&[&points(&values, &readings, levels)]);
            }
        }
    }
}
