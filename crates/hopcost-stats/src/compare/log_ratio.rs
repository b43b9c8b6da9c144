//! What was measured of the logarithm of a ratio: an error for every value that it might have, and
//! the interval that inverts them.

/// Blocks of one comparison at most: so many have half a million Walsh averages.
pub const BLOCKS_MAX: u32 = 1_000;
/// Runs a side at most: so many have a million differences.
pub const RUNS_MAX: usize = 1_000;
/// Runs a side from which they tell their spread themselves: 1 of 70 orders of four and four runs
/// has all of one side below the other.
pub const RUNS_MIN: usize = 4;
/// Blocks up to which the distribution is exact; beyond, the normal one errs to the safe side, by 7 % of
/// an error of 0.0006.
const EXACT_BLOCKS_MAX: usize = 200;
/// The same of the runs of a side.
const EXACT_RUNS_MAX: usize = 50;

/// The logarithm of the ratio of two cases.
#[derive(Debug, Clone, PartialEq)]
pub struct LogRatio {
    unit: Unit,
    n: usize,
    point: f64,
    /// None of fewer runs than tell how far they lie apart.
    ranks: Option<Ranks>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Unit {
    Block,
    Run,
}

/// A rank statistic and what it is counted over.
#[derive(Debug, Clone, PartialEq)]
struct Ranks {
    /// Walsh averages of blocks, or differences of runs, ascending. The statistic of a value is how
    /// many lie below it.
    candidates: Vec<f64>,
    /// P(W ≤ 0), P(W ≤ 1), … as far as the mean; empty where it is taken as normal.
    cdf: Vec<f64>,
    variance: f64,
}

impl LogRatio {
    /// From one finite logarithm of a ratio a block; `None` without any or with more than [`BLOCKS_MAX`].
    pub fn of_blocks(logs: &[f64]) -> Option<Self> {
        let n = logs.len();
        if n == 0 || n > BLOCKS_MAX as usize || logs.iter().any(|log| !log.is_finite()) {
            return None;
        }
        let pairs = (0..n).flat_map(|i| (0..=i).map(move |j| (i, j)));
        let walsh = pairs.map(|(i, j)| f64::midpoint(logs[i], logs[j])).collect();
        let cdf = if n <= EXACT_BLOCKS_MAX { signed_rank_cdf(n) } else { Vec::new() };
        let size = n as f64;
        let variance = size * (size + 1.0) * (2.0 * size + 1.0) / 24.0;
        let ranks = Ranks::new(walsh, cdf, variance);
        Some(Self { unit: Unit::Block, n, point: ranks.median(), ranks: Some(ranks) })
    }

    /// From one finite logarithm a run on either side; `None` where a side has none or more than
    /// [`RUNS_MAX`]. Below [`RUNS_MIN`] runs a side there is no interval.
    pub fn of_runs(baseline: &[f64], other: &[f64]) -> Option<Self> {
        let (least, most) = (baseline.len().min(other.len()), baseline.len().max(other.len()));
        let mut logs = baseline.iter().chain(other);
        if least == 0 || most > RUNS_MAX || logs.any(|log| !log.is_finite()) {
            return None;
        }
        let (m, n) = (baseline.len() as f64, other.len() as f64);
        let pairs = other.iter().flat_map(|b| baseline.iter().map(move |a| b - a));
        let cdf = match most <= EXACT_RUNS_MAX {
            true => rank_sum_cdf(baseline.len(), other.len()),
            false => Vec::new(),
        };
        let ranks = Ranks::new(pairs.collect(), cdf, m * n * (m + n + 1.0) / 12.0);
        let point = ranks.median();
        let ranks = Some(ranks).filter(|_| least >= RUNS_MIN);
        Some(Self { unit: Unit::Run, n: least, point, ranks })
    }

    /// Blocks, or the runs of the side that has fewer.
    pub fn n(&self) -> usize {
        self.n
    }

    /// The logarithm of the ratio: the median of what the statistic is counted over.
    pub fn point(&self) -> f64 {
        self.point
    }

    /// The error with which the ratio is told to be above this one: equal values count against it.
    pub fn error_above(&self, log: f64) -> f64 {
        self.ranks.as_ref().map_or(1.0, |ranks| {
            ranks.probability(ranks.candidates.partition_point(|one| *one <= log))
        })
    }

    /// The error with which it is told to be below.
    pub fn error_below(&self, log: f64) -> f64 {
        self.ranks.as_ref().map_or(1.0, |ranks| {
            let below = ranks.candidates.partition_point(|one| *one < log);
            ranks.probability(ranks.candidates.len() - below)
        })
    }

    /// The interval that misses the truth with this one-sided error to either side; `None` where
    /// there are too few blocks or runs for it.
    pub fn interval(&self, error: f64) -> Option<(f64, f64)> {
        self.ranks.as_ref()?.interval(error)
    }

    /// Whether the ratio is told not to be 1.
    pub fn differs(&self, error: f64) -> bool {
        self.error_above(0.0).min(self.error_below(0.0)) <= error
    }

    /// The blocks, or runs a side, below which nothing is told with this error; `None` where that is
    /// more than [`RUNS_MAX`].
    pub(super) fn least_n(&self, error: f64) -> Option<u32> {
        match self.unit {
            Unit::Block => Some(libm::ceil(-libm::log2(error)) as u32),
            Unit::Run => least_runs(error),
        }
    }
}

/// The runs a side below which ranks tell nothing with this error: those with which one order of
/// all is rare enough.
pub fn least_runs(error: f64) -> Option<u32> {
    (RUNS_MIN as u32..=RUNS_MAX as u32).find(|runs| orders(*runs, *runs) * error >= 1.0)
}

/// In how many orders the runs of two sides may come that do not differ.
pub(super) fn orders(m: u32, n: u32) -> f64 {
    (1..=n).fold(1.0, |orders, i| orders * f64::from(m + i) / f64::from(i))
}

impl Ranks {
    fn new(mut candidates: Vec<f64>, cdf: Vec<f64>, variance: f64) -> Self {
        candidates.sort_unstable_by(f64::total_cmp);
        Self { candidates, cdf, variance }
    }

    fn median(&self) -> f64 {
        let n = self.candidates.len();
        f64::midpoint(self.candidates[(n - 1) / 2], self.candidates[n / 2])
    }

    /// P(W ≤ w) if the ratio were 1; all that lie below the middle are enough to say 1.
    fn probability(&self, w: usize) -> f64 {
        if !self.cdf.is_empty() {
            return self.cdf.get(w).copied().unwrap_or(1.0);
        }
        let mean = self.candidates.len() as f64 / 2.0;
        let z = (w as f64 + 0.5 - mean) / libm::sqrt(self.variance);
        libm::erfc(-z / core::f64::consts::SQRT_2) / 2.0
    }

    fn interval(&self, error: f64) -> Option<(f64, f64)> {
        let (mut least, mut beyond) = (0, self.candidates.len());
        // The number of values of W that are rare enough, by halving.
        while least < beyond {
            let middle = usize::midpoint(least, beyond);
            if self.probability(middle) <= error { least = middle + 1 } else { beyond = middle }
        }
        let at = least.checked_sub(1)?;
        let upper = self.candidates.len().checked_sub(at + 1)?;
        Some((*self.candidates.get(at)?, *self.candidates.get(upper)?))
    }
}

/// P(W ≤ 0), P(W ≤ 1), … up to the mean of W, the sum of those of the ranks 1 to n whose sign
/// is positive, each with probability one half.
fn signed_rank_cdf(n: usize) -> Vec<f64> {
    let half = n * (n + 1) / 4;
    let mut density = vec![0.0; half + 1];
    density[0] = 1.0;
    for rank in 1..=n {
        for sum in (0..=half).rev() {
            let with = if sum >= rank { density[sum - rank] } else { 0.0 };
            density[sum] = (density[sum] + with) / 2.0;
        }
    }
    summed(density)
}

/// The same of the rank sum: of how many of the m × n pairs the second is below the first, all
/// orders of m + n runs being equally likely (Mann and Whitney 1947).
fn rank_sum_cdf(m: usize, n: usize) -> Vec<f64> {
    let half = m * n / 2;
    let mut first = vec![0.0; half + 1];
    first[0] = 1.0;
    // By the number of the second's; the greatest of all is one of the first's, and above all of
    // the second's, or it is one of these.
    let mut densities = vec![first; n + 1];
    for i in 1..=m {
        for j in 1..=n {
            let share = i as f64 / (i + j) as f64;
            for sum in (0..=half).rev() {
                let with = if sum >= j { densities[j][sum - j] } else { 0.0 };
                densities[j][sum] = share * with + (1.0 - share) * densities[j - 1][sum];
            }
        }
    }
    summed(densities.swap_remove(n))
}

fn summed(mut density: Vec<f64>) -> Vec<f64> {
    let mut below = 0.0;
    density.iter_mut().for_each(|term| {
        below += *term;
        *term = below;
    });
    density
}

#[cfg(test)]
mod tests {
    use super::super::{Answer, ERROR, Verdict, answers};
    use super::*;
    use proptest::prelude::*;

    const MARGIN: f64 = 0.03;

    fn answer(baseline: &[f64], other: &[f64]) -> Answer {
        answers(&[&LogRatio::of_runs(baseline, other).unwrap()], MARGIN, ERROR)[0]
    }

    #[test]
    fn the_distribution_is_the_tabulated_one() {
        // Critical values of the signed-rank statistic, one-sided 0.025 (Wilcoxon 1949): the
        // greatest W with P ≤ 0.025.
        for (n, critical) in [(6, 0), (7, 2), (8, 3), (10, 8), (15, 25), (20, 52), (25, 89)] {
            let cdf = signed_rank_cdf(n);
            assert!(cdf[critical] <= 0.025 && cdf[critical + 1] > 0.025, "{n}");
        }
        assert_eq!(signed_rank_cdf(3), [0.125, 0.25, 0.375, 0.625]);
    }

    #[test]
    fn the_distribution_of_the_rank_sum_is_the_tabulated_one() {
        // The same of Mann and Whitney's U.
        for ((m, n), critical) in [
            ((4, 4), 0),
            ((4, 5), 1),
            ((5, 5), 2),
            ((4, 8), 4),
            ((6, 6), 5),
            ((5, 8), 6),
            ((8, 8), 13),
            ((10, 10), 23),
            ((20, 20), 127),
        ] {
            let cdf = rank_sum_cdf(m, n);
            assert!(cdf[critical] <= 0.025 && cdf[critical + 1] > 0.025, "{m} {n}");
            assert_eq!(cdf.len(), rank_sum_cdf(n, m).len());
        }
        let counted = |m, n, orders: f64| -> Vec<u32> {
            rank_sum_cdf(m, n).iter().map(|p| libm::round(p * orders) as u32).collect()
        };
        assert_eq!(counted(2, 2, 6.0), [1, 2, 4]);
        assert_eq!(counted(2, 3, 10.0), [1, 2, 4, 6]);
    }

    #[test]
    fn every_order_of_a_few_runs_is_counted() {
        // Of all ways to take m of m + n ranks: how often no more than u pairs are the other way round.
        for (m, n) in [(4, 4), (4, 6), (5, 5)] {
            let mut counts = vec![0u32; m * n + 1];
            let chosen = (0u32..1 << (m + n)).filter(|set| set.count_ones() as usize == m);
            for set in chosen {
                let is_first = |at: usize| set >> at & 1 == 1;
                let below = |at: usize| (0..at).filter(|&other| !is_first(other)).count();
                counts[(0..m + n).filter(|&at| is_first(at)).map(below).sum::<usize>()] += 1;
            }
            let all = f64::from(counts.iter().sum::<u32>());
            let mut below = 0;
            for (u, p) in rank_sum_cdf(m, n).iter().enumerate() {
                below += counts[u];
                assert!((p - f64::from(below) / all).abs() < 1e-12, "{m} {n} {u}");
            }
        }
    }

    #[test]
    fn published_examples_of_runs() {
        // scipy.stats.mannwhitneyu: ages at diagnosis, two-sided 0.1111.
        let (men, women) = ([19.0, 22.0, 16.0, 29.0, 24.0], [20.0, 11.0, 17.0, 12.0]);
        let of = LogRatio::of_runs(&men, &women).unwrap();
        assert!((2.0 * of.error_below(0.0) - 1.0 / 9.0).abs() < 1e-12);
        // R, wilcox.test: permeability of membranes (Hollander and Wolfe 1973), one-sided 0.1272.
        let term = [0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46];
        let weeks = [1.15, 0.88, 0.90, 0.74, 1.21];
        let of = LogRatio::of_runs(&term, &weeks).unwrap();
        assert!((of.error_below(0.0) - 0.1272).abs() < 5e-5, "{}", of.error_below(0.0));
    }

    #[test]
    fn the_exact_distributions_pass_into_the_normal_one() {
        let logs = |n: usize| (0..n).map(|i| i as f64).collect::<Vec<_>>();
        let blocks = LogRatio::of_blocks(&logs(EXACT_BLOCKS_MAX)).unwrap();
        let runs = logs(EXACT_RUNS_MAX);
        let runs = LogRatio::of_runs(&runs, &runs).unwrap();
        for (of, at) in [(blocks, [7_400, 8_000, 8_400]), (runs, [780, 900, 960])] {
            let exact = of.ranks.unwrap();
            let normal = Ranks { cdf: Vec::new(), ..exact.clone() };
            for w in at {
                let (exact, normal) = (exact.probability(w), normal.probability(w));
                assert!(
                    (exact / normal - 1.0).abs() < 0.15 && normal > exact,
                    "{w}: {exact} {normal}"
                );
            }
            assert!(exact.probability(at[0]) < 0.003 && exact.probability(at[2]) > 0.02);
        }
    }

    #[test]
    fn the_middle_of_what_is_counted() {
        let of = |logs: &[f64]| LogRatio::of_blocks(logs).unwrap();
        assert_eq!(of(&[0.0, 1.0]).point(), 0.5);
        assert_eq!(of(&[0.0, 1.0, 5.0]).point(), 1.75);
        // Where the distribution is taken as normal, half of it lies below its mean.
        let blocks: Vec<f64> = (0..=EXACT_BLOCKS_MAX).map(|i| i as f64).collect();
        let ranks = of(&blocks).ranks.unwrap();
        assert_eq!(ranks.probability(ranks.candidates.len() / 2), 0.5);
    }

    #[test]
    fn four_runs_a_side_decide_and_fewer_do_not() {
        let at = |centre: f64, n: u32| -> Vec<f64> {
            (0..n).map(|run| centre + 0.001 * f64::from(run)).collect()
        };
        assert_eq!(answer(&at(0.0, 4), &at(0.1, 4)).verdict, Verdict::Slower);
        assert_eq!(answer(&at(0.0, 4), &at(-0.1, 4)).verdict, Verdict::Faster);
        assert_eq!(answer(&at(0.0, 4), &at(0.001, 5)).verdict, Verdict::Equivalent);
        let few = answer(&at(0.0, 3), &at(0.1, 9));
        assert_eq!((few.verdict, few.interval), (Verdict::Inconclusive, None));
        assert_eq!(few.n_to_decide, Some(4));
        assert!((few.point - 0.103).abs() < 1e-12);
        // Among 26 cases it takes more.
        let one = LogRatio::of_runs(&at(0.0, 4), &at(0.1, 4)).unwrap();
        let all = answers(&[&one; 26], MARGIN, ERROR);
        assert_eq!((all[0].verdict, all[0].n_to_decide), (Verdict::Inconclusive, Some(7)));
    }

    #[test]
    fn nonsense_has_no_ratio() {
        assert_eq!(LogRatio::of_runs(&[], &[1.0]), None);
        assert_eq!(LogRatio::of_runs(&[1.0], &[f64::NAN]), None);
        let many = |runs| LogRatio::of_runs(&vec![0.0; runs], &[1.0]).is_some();
        assert_eq!([RUNS_MAX, RUNS_MAX + 1].map(many), [true, false]);
        assert_eq!(least_runs(0.0), None);
    }

    proptest! {
        #[test]
        fn exchanging_the_sides_turns_the_answer_round(
            a in proptest::collection::vec(-0.1..0.1f64, 4..12),
            b in proptest::collection::vec(-0.1..0.1f64, 4..12),
        ) {
            let one = LogRatio::of_runs(&a, &b).unwrap();
            let other = LogRatio::of_runs(&b, &a).unwrap();
            let ((low, high), (low_of, high_of)) =
                (one.interval(ERROR).unwrap(), other.interval(ERROR).unwrap());
            prop_assert!((low + high_of).abs() < 1e-12 && (high + low_of).abs() < 1e-12);
            prop_assert!((one.error_above(0.01) - other.error_below(-0.01)).abs() < 1e-12);
            prop_assert!(low <= one.point() && one.point() <= high);
            prop_assert_eq!(one.differs(ERROR), low > 0.0 || high < 0.0);
        }
    }
}
