//! Two series side by side: the ratio of one to the other, how sure it is, and where it lies
//! against a region.
//!
//! Everything here is a natural logarithm, so that a ratio is a difference and a margin is the
//! same in both directions. A series has one value per unit: a round, a block, a run or a host.
//!
//! The estimate is a trimmed mean with the standard error of Yuen (Biometrika 61, 1974), judged by
//! Student's distribution. Half of the units and four more are kept: all of six or seven, where
//! Student's own test decides among a hundred pairs, and little more than the middle half of sixty,
//! where disturbed rounds and a host of two speeds fill the tails. The error grows as far as
//! neighbouring units depend on each other.
//!
//! A signed-rank test cannot replace it: its least p at nine units is 0.004, and 105 pairs need
//! 0.0005. `simulated/contrasts.rs` says how often the verdicts are right on simulated hosts.

use std::collections::BTreeMap;

use hopcost_model::results::Verdict;

use crate::dependence::SerialDependence;
use crate::tail::{normal_quantile, student_error, student_quantile};

/// The one-sided error of a question over all its contrasts and looks: its intervals hold 95 %.
pub const ERROR: f64 = 0.025;
/// Pairs below which a series has no spread to judge by.
pub const UNITS_MIN: usize = 6;
/// Runs on either side, and on both together, below which they show no spread.
pub const RUNS_MIN: (usize, usize) = (2, 5);
/// SD by which the logarithms of ratios of two runs differ beyond what either run shows.
pub const BETWEEN_RUNS: f64 = 0.008 * core::f64::consts::SQRT_2;
/// Where more than so many times as many units would be needed, no number is given.
const FURTHER_MAX: f64 = 100.0;
/// An interval that reaches no further than this share of the margin is not worth more units.
const NARROW: f64 = 0.25;

/// The logarithm of a ratio, with its standard error where the units show one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LogRatio {
    n: usize,
    n_least: usize,
    point: f64,
    doubt: Option<Doubt>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Doubt {
    error: f64,
    /// The part of the error that further units leave as it is.
    shared: f64,
    freedom: f64,
}

/// The logarithms of `a / b` of the units that both have; `None` where a value is not above zero.
pub fn log_ratios(a: &BTreeMap<u32, f64>, b: &BTreeMap<u32, f64>) -> Option<Vec<f64>> {
    let both = a.iter().filter_map(|(unit, a)| Some((*a, *b.get(unit)?)));
    both.map(|(a, b)| (a > 0.0 && b > 0.0).then(|| libm::log(a) - libm::log(b))).collect()
}

impl LogRatio {
    /// From one finite log ratio per unit, in time order; `None` without any.
    pub fn of_units(logs: &[f64], dependence: SerialDependence) -> Option<Self> {
        let trimmed = Trimmed::of(logs)?;
        let n = logs.len();
        let doubt = || {
            let variance = trimmed.squares / trimmed.freedom() / trimmed.kept;
            Doubt {
                error: libm::sqrt(variance * dependence.inflation(n)),
                shared: 0.0,
                freedom: dependence.freedom(n) - (n as f64 - trimmed.kept),
            }
        };
        let doubt = (n >= UNITS_MIN).then(doubt);
        Some(Self { n, n_least: UNITS_MIN, point: trimmed.mean, doubt })
    }

    /// Of several pairs of one run, `independent` of which are independent, and whose neighbouring
    /// units depend on each other alike.
    pub fn pooled(pairs: &[&[f64]], independent: usize) -> Vec<Option<Self>> {
        let dependence = SerialDependence::of(pairs, independent);
        pairs.iter().map(|logs| Self::of_units(logs, dependence)).collect()
    }

    /// Of one pair alone.
    pub fn alone(logs: &[f64]) -> Option<Self> {
        Self::of_units(logs, SerialDependence::of(&[logs], 1))
    }

    /// From one finite logarithm per run on either side; `None` where a side has none.
    pub fn of_runs(baseline: &[f64], other: &[f64]) -> Option<Self> {
        let (a, b) = (Trimmed::of(baseline)?, Trimmed::of(other)?);
        let n = baseline.len().min(other.len());
        let doubt = || {
            let freedom = a.freedom() + b.freedom();
            let variance = (a.squares + b.squares) / freedom;
            let error = libm::sqrt(variance * (1.0 / a.kept + 1.0 / b.kept));
            Doubt { error, shared: 0.0, freedom }
        };
        let (a_side, in_all) = RUNS_MIN;
        let doubt = (n >= a_side && baseline.len() + other.len() >= in_all).then(doubt);
        Some(Self { n, n_least: in_all.div_ceil(2), point: b.mean - a.mean, doubt })
    }

    /// With what runs differ by besides (SD), which no further units of this run show. The degrees
    /// of freedom of both together are those of Welch and Satterthwaite.
    pub fn between_runs(mut self, sd: f64) -> Self {
        if let Some(doubt) = &mut self.doubt {
            let own = doubt.error * doubt.error;
            let both = own + sd * sd;
            let freedom = doubt.freedom * (both / own.max(f64::MIN_POSITIVE)).powi(2);
            *doubt = Doubt { error: libm::sqrt(both), shared: sd, freedom };
        }
        self
    }

    /// The logarithm of the ratio.
    pub fn point(&self) -> f64 {
        self.point
    }

    /// The interval that misses the truth with this one-sided error to either side.
    pub fn interval(&self, error: f64) -> Option<(f64, f64)> {
        let Doubt { error: of_point, freedom, .. } = self.doubt?;
        let half = student_quantile(1.0 - 2.0 * error, freedom) * of_point;
        Some((self.point - half, self.point + half))
    }

    /// The one-sided error of placing the truth on the point's side of a value so far off.
    fn error_off(&self, off: f64) -> f64 {
        match self.doubt {
            None => 1.0,
            Some(Doubt { error: 0.0, .. }) if off >= 0.0 => 0.0,
            Some(Doubt { error: 0.0, .. }) => 1.0,
            Some(Doubt { error, freedom, .. }) => student_error(off / error, freedom),
        }
    }
}

/// A trimmed mean, and what its error comes from.
struct Trimmed {
    mean: f64,
    /// Sum of squares about their mean of all values, those cut drawn in to the last one kept.
    squares: f64,
    kept: f64,
}

impl Trimmed {
    fn of(values: &[f64]) -> Option<Self> {
        if values.is_empty() || values.iter().any(|value| !value.is_finite()) {
            return None;
        }
        let mut sorted = crate::sample::sorted(values.to_vec());
        let n = sorted.len();
        let cut = n.saturating_sub(4) / 4;
        let (least, most) = (sorted[cut], sorted[n - 1 - cut]);
        let mean_of =
            |values: &[f64]| (values.iter().sum::<f64>() / values.len() as f64).clamp(least, most);
        let mean = mean_of(&sorted[cut..n - cut]);
        sorted.iter_mut().for_each(|value| *value = value.clamp(least, most));
        let middle = mean_of(&sorted);
        let squares = sorted.iter().map(|value| (value - middle) * (value - middle)).sum();
        Some(Self { mean, squares, kept: (n - 2 * cut) as f64 })
    }

    fn freedom(&self) -> f64 {
        self.kept - 1.0
    }
}

/// Values from one end to the other, both included; an end may be infinite.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Region {
    pub low: f64,
    pub high: f64,
}

impl Region {
    /// The single value 0: a ratio of 1.
    pub const EQUAL: Self = Self { low: 0.0, high: 0.0 };

    /// The ratios off 1 by no more than this logarithm.
    pub fn around(margin: f64) -> Self {
        Self { low: -margin, high: margin }
    }
}

/// What a pair shows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Contrast {
    /// Where the ratio lies; outside, it lies on the side of the point.
    pub verdict: Verdict,
    /// Logarithm of the ratio.
    pub point: f64,
    /// Its interval, which agrees with the verdict.
    pub ends: Option<(f64, f64)>,
    /// The one-sided error of the interval.
    pub error: f64,
    /// Units, or the runs of the side that has fewer.
    pub n: usize,
    /// Units, or runs a side, that would probably decide where these do not.
    pub more: Option<u32>,
}

/// One pair against a region.
pub fn contrast(of: &LogRatio, region: Region, error: f64) -> Contrast {
    let (verdict, own) = nearest(of, region);
    let verdict = if own <= error { verdict } else { Verdict::Open };
    let more = (verdict == Verdict::Open).then(|| units_to_decide(of, region, error)).flatten();
    Contrast { verdict, point: of.point, ends: of.interval(error), error, n: of.n, more }
}

/// Several pairs against one region, so that any verdict is wrong with this one-sided error at
/// most (Holm 1979). Bonferroni's inequality, whose verdicts are among these, would make the easy
/// pairs of a ranking, nine in ten, take their share from the close ones.
pub fn contrasts(of: &[&LogRatio], region: Region, error: f64) -> Vec<Contrast> {
    let own: Vec<f64> = of.iter().map(|one| nearest(one, region).1).collect();
    let mut order: Vec<usize> = (0..of.len()).collect();
    order.sort_by(|&a, &b| own[a].total_cmp(&own[b]));
    let (mut left, mut levels) = (of.len(), vec![error; of.len()]);
    for at in order {
        levels[at] = error / left.max(1) as f64;
        // From the first one on that stays open, each has the same level.
        if own[at] <= levels[at] {
            left -= 1;
        }
    }
    of.iter().zip(levels).map(|(one, level)| contrast(one, region, level)).collect()
}

/// The verdict nearest at hand, and its one-sided error.
fn nearest(of: &LogRatio, region: Region) -> (Verdict, f64) {
    let Region { low, high } = region;
    let beside = f64::max(of.point - high, low - of.point);
    let inside = f64::min(of.point - low, high - of.point);
    match beside > 0.0 {
        true => (Verdict::Outside, of.error_off(beside)),
        false => (Verdict::Inside, of.error_off(inside)),
    }
}

/// Units with which half of an interval would be as wide as the point is off the nearest end of
/// the region, and as many again, for four times in five.
fn units_to_decide(of: &LogRatio, region: Region, error: f64) -> Option<u32> {
    let Some(doubt) = of.doubt else { return Some(of.n_least as u32) };
    let z = normal_quantile(1.0 - 2.0 * error);
    let again = (z + 0.84) / z;
    let off = f64::min((of.point - region.low).abs(), (of.point - region.high).abs());
    let room = off * off - (z * doubt.shared) * (z * doubt.shared);
    let own = doubt.error * doubt.error - doubt.shared * doubt.shared;
    let half =
        student_quantile(1.0 - 2.0 * error, doubt.freedom) * libm::sqrt(own.max(0.0)) * again;
    let factor = half * half / room;
    let is_in_reach = room > 0.0 && factor <= FURTHER_MAX;
    is_in_reach.then(|| libm::ceil(of.n as f64 * factor.max(1.0)) as u32 + 1)
}

/// Whether further units are not worth their time: each pair has its verdict, or an interval that
/// is narrow beside the margin.
pub fn is_settled(contrasts: &[Contrast], margin: f64) -> bool {
    contrasts.iter().all(|one| {
        let half = one.ends.map(|(low, high)| (high - low) / 2.0);
        one.verdict != Verdict::Open || half.is_some_and(|half| half <= NARROW * margin)
    })
}

/// After which shares of the planned units there is a look, and the error that it may spend; the
/// last look has what is left.
const LOOKS: [(f64, f64); 3] = [(0.125, 0.0005), (0.25, 0.001), (0.5, 0.0025)];
/// Units from which a first look decides anything worth its error.
const FIRST_LOOK_MIN: u32 = 9;

/// The looks of a question that is planned with so many units: after how many, and with what
/// one-sided error; the last at the end.
pub fn looks(planned: u32) -> Vec<(u32, f64)> {
    let mut looks: Vec<(u32, f64)> = Vec::new();
    for (share, error) in LOOKS {
        let units = ((f64::from(planned) * share) as u32).max(FIRST_LOOK_MIN);
        let is_later = looks.last().is_none_or(|(before, _)| units > *before);
        if is_later && units < planned {
            looks.push((units, error));
        }
    }
    let spent: f64 = looks.iter().map(|(_, error)| error).sum();
    looks.push((planned, ERROR - spent));
    looks
}

/// The one-sided error that a question may spend that ended after so many units of those planned:
/// that of the look there or, where its time was up between two looks, what those before left.
pub fn error_at(units: u32, planned: u32) -> f64 {
    let looks = looks(planned);
    match looks.binary_search_by_key(&units, |(at, _)| *at) {
        Ok(look) => looks[look].1,
        Err(before) => ERROR - looks[..before].iter().map(|(_, error)| error).sum::<f64>(),
    }
}

/// The same of a question without an end, looked at every so many units: the k-th look has
/// 1/(k(k + 1)) of the error.
pub fn error_after(units: u32, every: u32) -> f64 {
    let looks = f64::from(units / every.max(1));
    match units.is_multiple_of(every.max(1)) && looks > 0.0 {
        true => ERROR / (looks * (looks + 1.0)),
        false => ERROR / (looks + 1.0),
    }
}

#[cfg(test)]
mod tests;
