//! Does a sample have one typical value or several?
//!
//! A density of the logarithms is drawn on a grid and smoothed; its peaks are
//! the candidates. Two neighbouring peaks count as two modes only if
//!
//! - the valley between them is at most half as high as the lower of the two,
//! - this is no accident of sampling: as counts in windows of equal width, peak
//!   and valley differ by at least 3.5 standard deviations,
//! - they lie at least a factor [`RATIO_MIN`] apart (or what the caller asks), and
//! - each holds at least [`SHARE_MIN`] of the samples.
//!
//! What fails is merged into its neighbour, the weakest first. A coarse clock
//! leaves empty gaps between its multiples that are not valleys: where the values
//! are multiples of one quantum, each is spread over its own cell beforehand.
//!
//! Simulated 1000 times each: of samples of 1000 and 3000 from lognormals (sigma
//! 0.03 to 1.5), an exponential and a Pareto none was split; two modes a factor 1.5
//! apart, 15 % in the smaller, were found always where each spreads 5 %, and in
//! 99.3 % of the samples of 1000 where each spreads 8 %.

use crate::sample::{products, rank};

/// One typical value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mode {
    /// Where the density peaks, in the unit of the values.
    pub at: f64,
    /// Share of the samples between the valleys around it, 0 to 1.
    pub share: f64,
}

/// The least factor between two modes that [`find_modes`] is usually asked for.
pub const RATIO_MIN: f64 = 1.3;
/// The least share of a mode.
pub const SHARE_MIN: f64 = 0.05;
/// The highest a valley may be, relative to the lower of its two peaks.
const VALLEY_MAX: f64 = 0.5;
/// Standard deviations by which peak and valley must differ as counts.
const SIGMAS_MIN: f64 = 3.5;
/// Below this many values there are no modes.
const N_MIN: usize = 50;
/// Bounds of the smoothing bandwidth in log units. The upper one keeps apart two
/// modes a factor 1.3 from each other even where a third one lies far away; the
/// lower one ignores structure finer than two per cent.
const BANDWIDTH: (f64, f64) = (0.02, 0.07);
/// Grid points to a bandwidth.
const GRID: f64 = 4.0;
/// Share of the samples at either end that is left out of the density: a mode
/// needs far more, and a far outlier would only stretch the grid.
const TRIM: f64 = 0.002;

/// The modes of the positive values among sorted ones, in ascending order: one for a
/// unimodal sample, none if there are fewer than fifty positive values.
pub fn find_modes(sorted: &[f64], ratio_min: f64) -> Vec<Mode> {
    let from = sorted.partition_point(|value| *value <= 0.0);
    let sample = &sorted[from..sorted.partition_point(|value| value.is_finite()).max(from)];
    if sample.len() < N_MIN {
        return Vec::new();
    }
    let density = Density::new(sample);
    let mut peaks = density.peaks();
    loop {
        let doubts = peaks.windows(2).map(|two| density.doubt(&two[0], &two[1], ratio_min));
        let weakest = doubts.enumerate().max_by(|a, b| a.1.total_cmp(&b.1));
        let Some((i, _)) = weakest.filter(|(_, doubt)| *doubt > 1.0) else { break };
        let right = peaks.remove(i + 1);
        let left = &mut peaks[i];
        if density.smooth[right.at] > density.smooth[left.at] {
            left.at = right.at;
        }
        left.end = right.end;
    }
    // What lies beyond the grid belongs to the nearest.
    let below = |cell: usize| match cell {
        0 => 0,
        end if end == density.smooth.len() => sample.len(),
        cell => sample.partition_point(|value| *value < density.value(cell)),
    };
    let share = |of: &Peak| (below(of.end) - below(of.start)) as f64 / sample.len() as f64;
    peaks.iter().map(|peak| Mode { at: density.value(peak.at), share: share(peak) }).collect()
}

/// A peak of the grid with the valleys on either side.
struct Peak {
    start: usize,
    at: usize,
    end: usize,
}

/// Samples per grid cell of the logarithm, raw and smoothed.
struct Density {
    origin: f64,
    step: f64,
    raw: Vec<f64>,
    smooth: Vec<f64>,
    total: f64,
}

impl Density {
    fn new(sample: &[f64]) -> Self {
        let n = sample.len();
        let at = |q: f64| sample[rank(n, q) - 1];
        let groups = groups(sample);
        let bandwidth = bandwidth(&groups);
        let step = bandwidth / GRID;
        let (low, high) = (libm::log(at(TRIM)), libm::log(at(1.0 - TRIM)));
        let cell = quantum(&groups, n);
        // Room for the kernel's tails and for the spreading of a coarse clock.
        let margin = 5.0 * bandwidth + if cell > 0.0 { core::f64::consts::LN_2 } else { 0.0 };
        let origin = low - margin;
        let cells = ((high + margin - origin) / step).ceil() as usize + 1;
        let mut raw = vec![0.0; cells];
        for group in groups.iter().filter(|group| (low..=high).contains(&group.log)) {
            spread(&mut raw, origin, step, group, cell);
        }
        let smooth = smoothed(&raw);
        Self { origin, step, raw, smooth, total: n as f64 }
    }

    fn value(&self, cell: usize) -> f64 {
        libm::exp(self.origin + (cell as f64 + 0.5) * self.step)
    }

    /// Samples within `reach` cells of a cell.
    fn count(&self, cell: usize, reach: usize) -> f64 {
        let to = (cell + reach + 1).min(self.raw.len());
        self.raw[cell.saturating_sub(reach)..to].iter().sum()
    }

    /// Every local maximum, with the lowest point between neighbours as border.
    fn peaks(&self) -> Vec<Peak> {
        let s = &self.smooth;
        let tops: Vec<usize> =
            (1..s.len() - 1).filter(|i| s[*i] > s[*i - 1] && s[*i] >= s[*i + 1]).collect();
        // The lowest cell, or the middle of an empty stretch.
        let lowest = |from: usize, to: usize| {
            let least = s[from..=to].iter().copied().fold(f64::INFINITY, f64::min);
            let mut at = (from..=to).filter(|i| s[*i] == least);
            let first = at.next().unwrap_or(from);
            let middle = (first + at.next_back().unwrap_or(first)) / 2;
            if s[middle] == least { middle } else { first }
        };
        let mut start = 0;
        let mut peaks = Vec::with_capacity(tops.len());
        for (i, &at) in tops.iter().enumerate() {
            let end = tops.get(i + 1).map_or(s.len(), |next| lowest(at, *next));
            peaks.push(Peak { start, at, end });
            start = end;
        }
        peaks
    }

    /// How far two neighbours are from being two modes: above 1, they are one.
    fn doubt(&self, left: &Peak, right: &Peak, ratio_min: f64) -> f64 {
        let valley = left.end;
        let lower = self.smooth[left.at].min(self.smooth[right.at]);
        let depth = self.smooth[valley] / lower / VALLEY_MAX;
        // Windows as wide as can be without that of the valley reaching into the
        // peaks: the more samples there are to count, the less is left to chance.
        let nearer = (valley - left.at).min(right.at - valley);
        let reach = (nearer / 4).max(GRID as usize);
        let top = self.count(left.at, reach).min(self.count(right.at, reach));
        let bottom = self.count(valley, reach);
        let sigmas = (top - bottom) / libm::sqrt(top + bottom).max(1.0);
        let chance = SIGMAS_MIN / sigmas.max(0.0);
        let apart = (right.at - left.at) as f64 * self.step;
        let close = libm::log(ratio_min) / apart;
        let mass = |p: &Peak| self.raw[p.start..p.end].iter().sum::<f64>() / self.total;
        let share = SHARE_MIN / mass(left).min(mass(right)).max(f64::MIN_POSITIVE);
        depth.max(chance).max(close).max(share)
    }
}

/// A value with its logarithm, and how often it was taken.
struct Group {
    value: f64,
    log: f64,
    count: usize,
}

fn groups(sample: &[f64]) -> Vec<Group> {
    let groups = sample.chunk_by(|a, b| a == b);
    groups.map(|of| Group { value: of[0], log: libm::log(of[0]), count: of.len() }).collect()
}

/// A third more than Silverman's rule on the logarithms with a robust spread,
/// within bounds.
fn bandwidth(groups: &[Group]) -> f64 {
    let logs = groups.iter().flat_map(|of| std::iter::repeat_n(of.log, of.count));
    let logs: Vec<f64> = logs.collect();
    let n = logs.len() as f64;
    let deviation = libm::sqrt(products(&logs, &logs) / n);
    let at = |q: f64| logs[rank(logs.len(), q) - 1];
    let quartiles = (at(0.75) - at(0.25)) / 1.349;
    let spread = if quartiles > 0.0 { deviation.min(quartiles) } else { deviation };
    (1.2 * spread * libm::pow(n, -0.2)).clamp(BANDWIDTH.0, BANDWIDTH.1)
}

/// The quantum of a coarse clock: the typical distance from a value to the next
/// larger one, if nine in ten samples are multiples of it; otherwise 0.
fn quantum(groups: &[Group], n: usize) -> f64 {
    let mut gaps: Vec<(f64, usize)> =
        groups.windows(2).map(|two| (two[1].value - two[0].value, two[0].count)).collect();
    gaps.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let weight: usize = gaps.iter().map(|g| g.1).sum();
    let mut seen = 0;
    let typical = gaps.iter().find(|gap| {
        seen += gap.1;
        2 * seen >= weight
    });
    let Some(&(gap, _)) = typical else { return 0.0 };
    let is_multiple = |of: &&Group| {
        let (in_gaps, times) = (of.value / gap, (of.value / gap).round());
        // What is next to nothing beside the gap is no multiple of it.
        times > 0.0 && (in_gaps - times).abs() < 0.1
    };
    let multiples: usize = groups.iter().filter(is_multiple).map(|of| of.count).sum();
    if multiples as f64 >= 0.9 * n as f64 { gap } else { 0.0 }
}

/// Adds the samples of a value, evenly in the logarithm over the cell of a
/// coarse clock, or at one place if there is none.
fn spread(raw: &mut [f64], origin: f64, step: f64, of: &Group, cell: f64) {
    let place = |log: f64| ((log - origin) / step).max(0.0);
    let (last, count) = (raw.len() - 1, of.count as f64);
    let half = (cell / 2.0).min(of.value / 2.0);
    // No logarithm grows by more than its value does, as a share.
    let is_narrow = 2.0 * half < 0.9 * step * (of.value - half);
    let ends = || [-half, half].map(|off| place(libm::log(of.value + off)));
    let [from, to] = if is_narrow { [0.0; 2] } else { ends() };
    if to - from < 1.0 {
        raw[(place(of.log) as usize).min(last)] += count;
        return;
    }
    let cells = raw.iter_mut().enumerate().take((to as usize).min(last) + 1).skip(from as usize);
    for (i, cell) in cells {
        let overlap = to.min(i as f64 + 1.0) - from.max(i as f64);
        *cell += count * overlap.max(0.0) / (to - from);
    }
}

/// Gaussian smoothing with a bandwidth of [`GRID`] cells, cut at four bandwidths.
fn smoothed(raw: &[f64]) -> Vec<f64> {
    let reach = (4.0 * GRID) as usize;
    let kernel: Vec<f64> =
        (0..=reach).map(|i| libm::exp(-0.5 * (i as f64 / GRID) * (i as f64 / GRID))).collect();
    let mut smooth = vec![0.0; raw.len()];
    for (i, count) in raw.iter().enumerate().filter(|(_, count)| **count > 0.0) {
        let from = i.saturating_sub(reach);
        let to = (i + reach + 1).min(raw.len());
        for (j, cell) in smooth[from..to].iter_mut().enumerate() {
            *cell += count * kernel[i.abs_diff(from + j)];
        }
    }
    smooth
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;
    use crate::sample::sorted;

    /// The modes of samples of several sizes and seeds.
    fn modes_of(ratio: f64, one: impl Fn(&mut Rng) -> f64) -> Vec<Vec<Mode>> {
        let mut all = Vec::new();
        for (n, seeds) in [(1_000, 20), (3_000, 20), (10_000, 20), (100_000, 2)] {
            for seed in 0..seeds {
                let mut rng = Rng::new(seed);
                let values = sorted((0..n).map(|_| one(&mut rng)).collect());
                all.push(find_modes(&values, ratio));
            }
        }
        all
    }

    #[test]
    fn simulated_samples_of_one_mode_have_one() {
        let has_one = |what: &str, one: &dyn Fn(&mut Rng) -> f64| {
            assert!(modes_of(1.05, one).iter().all(|modes| modes.len() == 1), "{what}");
        };
        for sigma in [0.03, 0.2, 0.6, 1.5] {
            has_one("lognormal", &|r| 2_000.0 * libm::exp(sigma * r.normal()));
        }
        has_one("exponential", &|r| -2_000.0 * libm::log(r.uniform()));
        has_one("Pareto", &|r| 100.0 * libm::pow(r.uniform(), -1.0 / 1.5));
    }

    #[test]
    fn simulated_coarse_clocks_make_no_modes() {
        for (quantum, centre) in [(41.666_67, 100.0), (41.666_67, 300.0), (8.0, 60.0)] {
            for sigma in [0.1, 0.3, 0.8] {
                let lognormal = |r: &mut Rng| centre * libm::exp(sigma * r.normal());
                let found = modes_of(1.3, |r| quantum * (lognormal(r) / quantum).round());
                assert!(found.iter().all(|of| of.len() <= 1), "{quantum} {centre} {sigma}");
            }
            let exponential = |r: &mut Rng| -centre * libm::log(r.uniform());
            let found = modes_of(1.3, |r| quantum * (exponential(r) / quantum).ceil());
            assert!(found.iter().all(|of| of.len() == 1), "exponential {quantum} {centre}");
        }
    }

    #[test]
    fn simulated_samples_of_two_modes_have_two() {
        for (share, sigma) in
            [0.15, 0.5, 0.85].map(|of| [0.02, 0.05, 0.07].map(|sd| (of, sd))).concat()
        {
            let all = modes_of(RATIO_MIN, |r| {
                let at = if r.uniform() < share { 3_000.0 } else { 2_000.0 };
                at * libm::exp(sigma * r.normal())
            });
            for modes in all {
                let [low, high] = &modes[..] else { panic!("{share} {sigma}: {modes:?}") };
                assert!((low.at / 2_000.0 - 1.0).abs() < 0.1, "{modes:?}");
                assert!((high.at / 3_000.0 - 1.0).abs() < 0.1, "{modes:?}");
                assert!((high.share - share).abs() < 0.05, "{modes:?}");
            }
        }
    }

    #[test]
    fn modes_at_their_limits() {
        let of = |of: &[(f64, usize)]| {
            let values = of.iter().flat_map(|(value, n)| std::iter::repeat_n(*value, *n));
            find_modes(&values.collect::<Vec<f64>>(), RATIO_MIN)
        };
        assert_eq!(of(&[(100.0, 950), (355.0, 50)]).len(), 2, "a share of 5 %");
        assert_eq!(of(&[(100.0, 951), (355.0, 49)]).len(), 1);
        // Of two that are one and as high the first, …
        let one = of(&[(100.0, 60), (104.9, 60)]);
        assert!(one.len() == 1 && (one[0].at - 100.0).abs() < 1.0, "{one:?}");
        // … and what lies beyond the grid belongs to the nearest.
        let shares = of(&[(1e-3, 1), (100.0, 499), (355.0, 499), (1e9, 1)]);
        assert_eq!(shares.iter().map(|mode| mode.share).collect::<Vec<_>>(), [0.5, 0.5]);
    }

    #[test]
    fn edges() {
        assert!(find_modes(&[], 1.3).is_empty());
        for none in [-1.0, 0.0, f64::INFINITY] {
            assert!(find_modes(&[none; 100], 1.3).is_empty());
        }
        assert_eq!([49, 50, 100].map(|n| find_modes(&vec![7.0; n], 1.3).len()), [0, 1, 1]);
        let two = [vec![100.0; 60], vec![155.0; 60]].concat();
        assert_eq!(find_modes(&two, 1.3).len(), 2, "two values that are no multiples of their gap");
    }
}
