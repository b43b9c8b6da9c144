//! The ratio of two cases from blocks of adjacent trials or from stored runs, and what it says
//! against a margin.
//!
//! A block holds every case twice, in a random order and then in its reverse, and leaves one
//! logarithm of a ratio: the block is the unit. If two cases take equally long, exchanging them in
//! a block exchanges the sign of its logarithm, and the draw of the order makes both equally
//! likely, whatever the host does. So the signed-rank statistic has its exact distribution
//! under the null hypothesis, and so has the interval that inverts the test, which lies between two Walsh averages.
//! The estimate is their median (Hodges and Lehmann 1963). Of stored runs the unit is the run, and
//! the same is done with the rank-sum statistic and the differences of every two runs.

pub mod check;
mod log_ratio;
#[cfg(any(test, feature = "testing"))]
pub mod simulated;

pub use log_ratio::{BLOCKS_MAX, LogRatio, RUNS_MAX, RUNS_MIN};

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
    match looks.binary_search_by_key(&blocks, |(at, _)| *at) {
        Ok(look) => looks[look].1,
        Err(before) => ERROR - looks[..before].iter().map(|(_, error)| error).sum::<f64>(),
    }
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
    /// Blocks, or runs a side, that would probably decide, where these do not; `None` where the
    /// ratio lies at the margin.
    pub n_to_decide: Option<u32>,
}

/// Answers several comparisons against one margin (the logarithm of the ratio) so that any
/// of them is wrong with this one-sided error at most (Holm 1979).
pub fn answers(comparisons: &[&LogRatio], margin: f64, error: f64) -> Vec<Answer> {
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
    let answer = |((of, (verdict, own)), level): ((&&LogRatio, &(Verdict, f64)), &f64)| {
        let verdict = if own <= level { *verdict } else { Verdict::Inconclusive };
        let interval = of.interval(*level);
        let point = of.point();
        let n_to_decide = (verdict == Verdict::Inconclusive)
            .then(|| to_decide(of, interval, *level, margin))
            .flatten();
        Answer { verdict, point, interval, error: *level, n_to_decide }
    };
    comparisons.iter().zip(&errors).zip(&levels).map(answer).collect()
}

/// The verdict that is nearest, and the error with which it is told.
fn verdict(of: &LogRatio, margin: f64) -> (Verdict, f64) {
    let (above, below) = (of.error_above(-margin), of.error_below(margin));
    let all = [
        (Verdict::Slower, of.error_above(margin)),
        (Verdict::Faster, of.error_below(-margin)),
        (Verdict::Equivalent, above.max(below)),
    ];
    let nearest = all.into_iter().min_by(|a, b| a.1.total_cmp(&b.1));
    nearest.unwrap_or((Verdict::Inconclusive, 1.0))
}

/// Blocks, or runs a side, with which the half of an interval would be as wide as the point is off
/// the margin, and as many again, for four times in five.
fn to_decide(of: &LogRatio, interval: Option<(f64, f64)>, error: f64, margin: f64) -> Option<u32> {
    let Some((low, high)) = interval else { return of.least_n(error) };
    let z = normal_quantile(1.0 - 2.0 * error);
    let more = (z + 0.84) / z;
    let widths = (high - low) / 2.0 / (of.point().abs() - margin).abs() * more;
    let factor = widths * widths;
    (factor <= FURTHER_MAX).then(|| libm::ceil(of.n() as f64 * factor.max(1.0)) as u32 + 1)
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
    fn blocks(centre: f64, spread: f64, n: u32) -> LogRatio {
        let at = |i: u32| centre + spread * (2.0 * (f64::from(i) + 0.5) / f64::from(n) - 1.0);
        LogRatio::of_blocks(&(0..n).map(at).collect::<Vec<_>>()).unwrap()
    }

    #[test]
    fn too_few_blocks_have_no_interval() {
        assert_eq!(blocks(0.0, 1.0, 5).interval(ERROR), None);
        let six = blocks(1.0, 0.6, 6);
        assert_eq!(six.interval(ERROR), Some((0.5, 1.5)));
        assert_eq!(LogRatio::of_blocks(&[]), None);
        assert_eq!(LogRatio::of_blocks(&[0.0, f64::NAN]), None);
        let many = |n: u32| LogRatio::of_blocks(&vec![0.0; n as usize]).is_some();
        assert_eq!([BLOCKS_MAX, BLOCKS_MAX + 1].map(many), [true, false]);
    }

    #[test]
    fn four_answers() {
        let told = |centre, spread, n| answers(&[&blocks(centre, spread, n)], MARGIN, ERROR)[0];
        assert_eq!(told(0.06, 0.02, 20).verdict, Verdict::Slower);
        assert_eq!(told(-0.06, 0.02, 20).verdict, Verdict::Faster);
        assert_eq!(told(0.01, 0.02, 20).verdict, Verdict::Equivalent);
        let open = told(0.05, 0.1, 20);
        assert_eq!(open.verdict, Verdict::Inconclusive);
        let half = open.interval.map(|(low, high)| (high - low) / 2.0).unwrap();
        let widths = half / (0.05 - MARGIN) * (1.96 + 0.84) / 1.96;
        assert_eq!(open.n_to_decide, Some((20.0 * widths * widths).ceil() as u32 + 1));
        assert!((60..120).contains(&open.n_to_decide.unwrap()), "{open:?}");
        assert_eq!(told(0.05, 0.1, open.n_to_decide.unwrap()).verdict, Verdict::Slower);
        assert_eq!(told(0.03, 0.1, 20).n_to_decide, None, "at the margin itself");
        assert_eq!(told(0.06, 0.02, 4).n_to_decide, Some(6));
    }

    #[test]
    fn equal_blocks_say_that_they_are_equal() {
        let same = LogRatio::of_blocks(&[0.0; 12]).unwrap();
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
    fn what_is_told_or_narrow_is_settled() {
        let of = |verdict, interval| {
            is_settled(
                &[Answer { verdict, point: 0.1, interval, error: ERROR, n_to_decide: None }],
                MARGIN,
            )
        };
        assert!(of(Verdict::Equivalent, None));
        assert!(of(Verdict::Inconclusive, Some((0.100, 0.114))));
        assert!(!of(Verdict::Inconclusive, Some((0.100, 0.116))));
        assert!(!of(Verdict::Inconclusive, None));
    }

    #[test]
    fn looks_spend_the_whole_error_once() {
        assert_eq!(looks(80).iter().map(|look| look.0).collect::<Vec<_>>(), [10, 20, 40, 80]);
        assert_eq!(looks(20).iter().map(|look| look.0).collect::<Vec<_>>(), [9, 10, 20]);
        assert_eq!(looks(3), [(3, ERROR)]);
        assert_eq!(looks(9), [(9, ERROR)], "the first look would be the last");
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
            let of = LogRatio::of_blocks(&logs).unwrap();
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
            let (one, other) = (LogRatio::of_blocks(&logs).unwrap(), LogRatio::of_blocks(&turned).unwrap());
            let ((low, high), (low_of, high_of)) =
                (one.interval(ERROR).unwrap(), other.interval(ERROR).unwrap());
            prop_assert!((low + high_of).abs() < 1e-12 && (high + low_of).abs() < 1e-12);
            prop_assert_eq!(one.error_above(0.01).to_bits(), other.error_below(-0.01).to_bits());
        }
    }
}
