//! The ratio of two cases from blocks of adjacent trials, and what it says against a margin.
//!
//! A block holds every case twice, in a random order and then in its reverse, and leaves one
//! logarithm of a ratio: the block is the unit. If two cases take equally long, exchanging them in
//! a block exchanges the sign of its logarithm, and the draw of the order makes both equally
//! likely, whatever the host does. So the signed-rank statistic has its exact distribution
//! under the null hypothesis, and so has the interval that inverts the test, which lies between two Walsh averages.
//! The estimate is their median (Hodges and Lehmann 1963).

pub mod simulated;

use crate::tail::normal_quantile;

/// The one-sided error of one comparison over all looks: its intervals hold 95 % together.
pub const ERROR: f64 = 0.025;
/// The one-sided error with which a case is told to differ from itself.
pub const ERROR_OF_COPY: f64 = 0.005;
/// After which shares of the planned blocks there is a look, and the error that it may spend; the
/// last look has what is left.
const LOOKS: [(f64, f64); 3] = [(0.125, 0.002), (0.25, 0.003), (0.5, 0.005)];
/// Blocks from which a first look can decide anything: 2^−9 is below its error.
const FIRST_LOOK_MIN: u32 = 9;
/// Blocks up to which the distribution is exact; beyond, the normal one errs to the safe side, by 7 % of
/// an error of 0.0006.
const EXACT_MAX: usize = 200;
/// Blocks of one comparison at most: so many have half a million Walsh averages.
pub const BLOCKS_MAX: u32 = 1_000;
/// An interval that reaches no further than this share of the margin is not worth more blocks.
const NARROW: f64 = 0.25;
/// The blocks that would decide are told up to so many times those there are.
const FURTHER_MAX: f64 = 100.0;

/// The looks of a comparison that is planned with so many blocks: after how many, and with what
/// one-sided error; the last at the end.
pub fn looks(planned: u32) -> Vec<(u32, f64)> {
    let mut looks: Vec<(u32, f64)> = Vec::new();
    for (share, error) in LOOKS {
        let blocks = ((f64::from(planned) * share) as u32).max(FIRST_LOOK_MIN);
        let is_later = looks.last().is_none_or(|(before, _)| blocks > *before);
        if is_later && blocks < planned {
            looks.push((blocks, error));
        }
    }
    let spent: f64 = looks.iter().map(|(_, error)| error).sum();
    looks.push((planned, ERROR - spent));
    looks
}

/// The one-sided error that a comparison may spend that ended after so many blocks of those that were planned:
/// that of the look there, or, where its time was up between two looks, what the looks
/// before have left.
pub fn error_at(blocks: u32, planned: u32) -> f64 {
    let looks = looks(planned);
    if let Some((_, error)) = looks.iter().find(|(at, _)| *at == blocks) {
        return *error;
    }
    ERROR - looks.iter().filter(|(at, _)| *at < blocks).map(|(_, error)| error).sum::<f64>()
}

/// The logarithms of the ratio of two cases, one a block.
#[derive(Debug, Clone, PartialEq)]
pub struct Blocks {
    n: usize,
    /// Means of every two of them and of each with itself, ascending.
    walsh: Vec<f64>,
    /// P(W ≤ 0), P(W ≤ 1), … of the signed-rank statistic, as far as its mean; empty where it is
    /// taken as normal.
    cdf: Vec<f64>,
}

impl Blocks {
    /// Takes in finite logarithms; `None` without any or with more than [`BLOCKS_MAX`].
    pub fn of(logs: &[f64]) -> Option<Self> {
        let n = logs.len();
        if n == 0 || n > BLOCKS_MAX as usize || logs.iter().any(|log| !log.is_finite()) {
            return None;
        }
        let pairs = (0..n).flat_map(|i| (0..=i).map(move |j| (i, j)));
        let mut walsh: Vec<f64> = pairs.map(|(i, j)| f64::midpoint(logs[i], logs[j])).collect();
        walsh.sort_unstable_by(f64::total_cmp);
        let cdf = if n <= EXACT_MAX { signed_rank_cdf(n) } else { Vec::new() };
        Some(Self { n, walsh, cdf })
    }

    /// How many.
    pub fn len(&self) -> usize {
        self.n
    }

    /// Never: without a block there is no value of this type.
    pub fn is_empty(&self) -> bool {
        self.n == 0
    }

    /// The logarithm of the ratio: the median of the Walsh averages.
    pub fn point(&self) -> f64 {
        let n = self.walsh.len();
        f64::midpoint(self.walsh[(n - 1) / 2], self.walsh[n / 2])
    }

    /// P(W ≤ w) if the ratio were 1; all the averages below the middle are enough to say 1.
    fn probability(&self, w: usize) -> f64 {
        if !self.cdf.is_empty() {
            return self.cdf.get(w).copied().unwrap_or(1.0);
        }
        let n = self.n as f64;
        let (mean, variance) = (n * (n + 1.0) / 4.0, n * (n + 1.0) * (2.0 * n + 1.0) / 24.0);
        let z = (w as f64 + 0.5 - mean) / libm::sqrt(variance);
        libm::erfc(-z / core::f64::consts::SQRT_2) / 2.0
    }

    /// The error with which the ratio is told to be above this one: equal averages count against it.
    pub fn error_above(&self, log: f64) -> f64 {
        self.probability(self.walsh.partition_point(|average| *average <= log))
    }

    /// The error with which it is told to be below.
    pub fn error_below(&self, log: f64) -> f64 {
        self.probability(self.walsh.len() - self.walsh.partition_point(|average| *average < log))
    }

    /// The interval that misses the truth with this one-sided error to either side; `None` where
    /// there are too few blocks for it.
    pub fn interval(&self, error: f64) -> Option<(f64, f64)> {
        let (mut least, mut beyond) = (0, self.walsh.len() / 2 + 1);
        // The number of values of W that are rare enough, by halving.
        while least < beyond {
            let middle = usize::midpoint(least, beyond);
            if self.probability(middle) <= error { least = middle + 1 } else { beyond = middle }
        }
        let at = least.checked_sub(1)?;
        Some((*self.walsh.get(at)?, *self.walsh.get(self.walsh.len().checked_sub(at + 1)?)?))
    }

    /// Whether the ratio is told not to be 1.
    pub fn differs(&self, error: f64) -> bool {
        self.error_above(0.0).min(self.error_below(0.0)) <= error
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
    let mut below = 0.0;
    density.iter_mut().for_each(|term| {
        below += *term;
        *term = below;
    });
    density
}

/// What a comparison says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Below the baseline by more than the margin.
    Faster,
    /// Above it by more than the margin.
    Slower,
    /// Within the margin.
    Equivalent,
    /// Not known.
    Inconclusive,
}

/// What the blocks of a comparison say.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Answer {
    /// In a word.
    pub verdict: Verdict,
    /// Logarithm of the ratio.
    pub point: f64,
    /// Its interval, from which the verdict is read.
    pub interval: Option<(f64, f64)>,
    /// The one-sided error of the interval.
    pub error: f64,
    /// Blocks that would probably decide, where this one does not; `None` where the ratio lies at
    /// the margin.
    pub blocks_to_decide: Option<u32>,
}

/// Answers several comparisons against one margin (the logarithm of the ratio) so that any
/// of them is wrong with this one-sided error at most (Holm 1979).
pub fn answers(comparisons: &[&Blocks], margin: f64, error: f64) -> Vec<Answer> {
    let errors: Vec<(Verdict, f64)> = comparisons.iter().map(|of| verdict(of, margin)).collect();
    let mut order: Vec<usize> = (0..errors.len()).collect();
    order.sort_by(|&a, &b| errors[a].1.total_cmp(&errors[b].1));
    let (mut left, mut levels) = (errors.len(), vec![error; errors.len()]);
    for at in order {
        levels[at] = error / left.max(1) as f64;
        // From the first on that is not told, each has to meet its level.
        if errors[at].1 <= levels[at] {
            left -= 1;
        }
    }
    let answer = |((of, (verdict, own)), level): ((&&Blocks, &(Verdict, f64)), &f64)| {
        let verdict = if own <= level { *verdict } else { Verdict::Inconclusive };
        let interval = of.interval(*level);
        let point = of.point();
        let blocks_to_decide = (verdict == Verdict::Inconclusive)
            .then(|| to_decide(of.len(), point, interval, *level, margin))
            .flatten();
        Answer { verdict, point, interval, error: *level, blocks_to_decide }
    };
    comparisons.iter().zip(&errors).zip(&levels).map(answer).collect()
}

/// The verdict that is nearest, and the error with which it is told.
fn verdict(of: &Blocks, margin: f64) -> (Verdict, f64) {
    let (above, below) = (of.error_above(-margin), of.error_below(margin));
    let all = [
        (Verdict::Slower, of.error_above(margin)),
        (Verdict::Faster, of.error_below(-margin)),
        (Verdict::Equivalent, above.max(below)),
    ];
    all.into_iter().fold(
        (Verdict::Inconclusive, 1.0),
        |best, one| {
            if one.1 < best.1 { one } else { best }
        },
    )
}

/// Blocks with which the half of an interval would be as wide as the point is off the margin,
/// and as many again, for four times in five.
fn to_decide(
    n: usize,
    point: f64,
    interval: Option<(f64, f64)>,
    error: f64,
    margin: f64,
) -> Option<u32> {
    let Some((low, high)) = interval else {
        return Some(libm::ceil(-libm::log2(error)) as u32);
    };
    let z = normal_quantile(1.0 - 2.0 * error);
    let more = (z + 0.84) / z;
    let widths = (high - low) / 2.0 / (point.abs() - margin).abs() * more;
    let factor = widths * widths;
    (factor <= FURTHER_MAX).then(|| libm::ceil(n as f64 * factor.max(1.0)) as u32 + 1)
}

/// Whether further blocks are not worth their time: each has its answer, or an interval that is
/// narrow beside the margin.
pub fn is_settled(answers: &[Answer], margin: f64) -> bool {
    answers.iter().all(|answer| {
        let half = answer.interval.map(|(low, high)| (high - low) / 2.0);
        answer.verdict != Verdict::Inconclusive || half.is_some_and(|half| half <= NARROW * margin)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MARGIN: f64 = 0.03;

    /// Blocks around a centre, spread evenly and symmetrically.
    fn blocks(centre: f64, spread: f64, n: u32) -> Blocks {
        let at = |i: u32| centre + spread * (2.0 * (f64::from(i) + 0.5) / f64::from(n) - 1.0);
        Blocks::of(&(0..n).map(at).collect::<Vec<_>>()).unwrap()
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
    fn the_exact_distribution_passes_into_the_normal_one() {
        let exact = blocks(0.0, 1.0, EXACT_MAX as u32);
        let normal = Blocks { cdf: Vec::new(), ..exact.clone() };
        for w in [7_400, 8_000, 8_400] {
            let (exact, normal) = (exact.probability(w), normal.probability(w));
            assert!((exact / normal - 1.0).abs() < 0.07 && normal > exact, "{w}: {exact} {normal}");
        }
        assert!(exact.probability(7_400) < 0.003 && exact.probability(8_400) > 0.02);
    }

    #[test]
    fn too_few_blocks_have_no_interval() {
        assert_eq!(blocks(0.0, 1.0, 5).interval(ERROR), None);
        let six = blocks(1.0, 0.6, 6);
        assert_eq!(six.interval(ERROR), Some((0.5, 1.5)));
        assert_eq!(Blocks::of(&[]), None);
        assert_eq!(Blocks::of(&[0.0, f64::NAN]), None);
        assert_eq!(Blocks::of(&vec![0.0; BLOCKS_MAX as usize + 1]), None);
    }

    #[test]
    fn four_answers() {
        let told = |centre, spread, n| answers(&[&blocks(centre, spread, n)], MARGIN, ERROR)[0];
        assert_eq!(told(0.06, 0.02, 20).verdict, Verdict::Slower);
        assert_eq!(told(-0.06, 0.02, 20).verdict, Verdict::Faster);
        assert_eq!(told(0.01, 0.02, 20).verdict, Verdict::Equivalent);
        let open = told(0.05, 0.1, 20);
        assert_eq!(open.verdict, Verdict::Inconclusive);
        assert!((60..120).contains(&open.blocks_to_decide.unwrap()), "{open:?}");
        assert_eq!(told(0.05, 0.1, open.blocks_to_decide.unwrap()).verdict, Verdict::Slower);
        assert_eq!(told(0.03, 0.1, 20).blocks_to_decide, None, "at the margin itself");
        assert_eq!(told(0.06, 0.02, 4).blocks_to_decide, Some(6));
    }

    #[test]
    fn equal_blocks_say_that_they_are_equal() {
        let same = Blocks::of(&[0.0; 12]).unwrap();
        assert!(!same.differs(ERROR));
        assert_eq!(answers(&[&same], MARGIN, ERROR)[0].verdict, Verdict::Equivalent);
        assert_eq!(same.interval(ERROR), Some((0.0, 0.0)));
    }

    #[test]
    fn several_share_the_error() {
        // 7 blocks on one side have an error of 1/128: told alone, not among four.
        let (one, wide) = (blocks(1.0, 0.5, 7), blocks(0.0, 1.0, 7));
        assert_eq!(answers(&[&one], MARGIN, ERROR)[0].verdict, Verdict::Slower);
        let four = answers(&[&one, &wide, &wide, &wide], MARGIN, ERROR);
        assert_eq!(four[0].verdict, Verdict::Inconclusive);
        // Those that are told leave their share to the others.
        let far = blocks(1.0, 0.5, 12);
        let four = answers(&[&one, &far, &far, &far], MARGIN, ERROR);
        assert!(four.iter().all(|answer| answer.verdict == Verdict::Slower));
        assert_eq!((four[1].error, four[0].error), (ERROR / 4.0, ERROR));
    }

    #[test]
    fn looks_spend_the_whole_error_once() {
        assert_eq!(looks(80).iter().map(|look| look.0).collect::<Vec<_>>(), [10, 20, 40, 80]);
        assert_eq!(looks(20).iter().map(|look| look.0).collect::<Vec<_>>(), [9, 10, 20]);
        assert_eq!(looks(3), [(3, ERROR)]);
        for planned in [3, 20, 80, 1000] {
            let sum: f64 = looks(planned).iter().map(|(_, error)| error).sum();
            assert!((sum - ERROR).abs() < 1e-12);
        }
        assert_eq!(error_at(10, 80).to_bits(), 0.002f64.to_bits());
        assert!((error_at(30, 80) - (ERROR - 0.005)).abs() < 1e-12, "its time was up");
        assert_eq!(error_at(2, 80).to_bits(), ERROR.to_bits());
    }

    proptest! {
        #[test]
        fn a_verdict_is_read_from_its_interval(
            logs in proptest::collection::vec(-0.1..0.1f64, 6..60),
            shift in -0.1..0.1f64,
        ) {
            let logs: Vec<f64> = logs.iter().map(|log| log + shift).collect();
            let of = Blocks::of(&logs).unwrap();
            let answer = answers(&[&of], MARGIN, ERROR)[0];
            let (low, high) = answer.interval.unwrap();
            let read = match () {
                () if low > MARGIN => Verdict::Slower,
                () if high < -MARGIN => Verdict::Faster,
                () if low > -MARGIN && high < MARGIN => Verdict::Equivalent,
                () => Verdict::Inconclusive,
            };
            prop_assert_eq!(answer.verdict, read);
            prop_assert!(low <= answer.point && answer.point <= high);
            prop_assert_eq!(of.differs(ERROR), low > 0.0 || high < 0.0);
        }

        #[test]
        fn exchanging_both_turns_the_answer_round(
            logs in proptest::collection::vec(-0.1..0.1f64, 6..40)
        ) {
            let turned: Vec<f64> = logs.iter().map(|log| -log).collect();
            let (one, other) = (Blocks::of(&logs).unwrap(), Blocks::of(&turned).unwrap());
            let ((low, high), (low_of, high_of)) =
                (one.interval(ERROR).unwrap(), other.interval(ERROR).unwrap());
            prop_assert!((low + high_of).abs() < 1e-12 && (high + low_of).abs() < 1e-12);
            prop_assert_eq!(one.error_above(0.01).to_bits(), other.error_below(-0.01).to_bits());
        }
    }
}
