//! Where one way of doing something overtakes another along an axis, and which points of the axis to
//! measure next.
//!
//! At each point both ways are measured in adjacent trials, in an order that is drawn in every round,
//! and the round leaves one logarithm of the ratio of the second to the first: the exact signed-rank interval
//! of [`compare`](crate::compare) holds at any one point. All points together share one error (Bonferroni),
//! those that may still be added to refine a crossing included, and each point spends its part over its looks.
//! So the intervals are a simultaneous band, and a crossing lies between the last point at which the band tells that one way is
//! faster and the first at which it tells that the other is.

#[cfg(any(test, feature = "testing"))]
pub mod simulated;

use std::collections::BTreeSet;

use crate::compare::{ERROR, LogRatio, Verdict, answers};

/// Points that may be added to those that a search begins with.
pub const ADDED_MAX: usize = 12;
/// Points that a search begins with, at most: with more, the first look could decide nothing.
pub const COARSE_MAX: usize = 24;
/// Rounds after which a point is looked at first: 2^−12 is below its error.
pub const FIRST_LOOK: usize = 12;
/// A search is asked what it wants after so many rounds each.
pub const BETWEEN_LOOKS: usize = 4;
/// Rounds of a point at most: those of its ninth look.
pub const ROUNDS_MAX: usize = 144;
/// A crossing that is known to lie within so many steps of the grid is not searched further.
const STEPS: usize = 2;

/// Who is ahead at a point, as far as the band tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ahead {
    /// The first way is faster.
    First,
    /// The second is.
    Second,
    /// The band lies within the margin around 1.
    Equal,
    /// Not known yet.
    Open,
}

/// What the rounds of a point say.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Told {
    /// Who is ahead.
    pub ahead: Ahead,
    /// Logarithm of the ratio of the second to the first.
    pub point: f64,
    /// Its part of the band; `None` before the first look.
    pub band: Option<(f64, f64)>,
    /// Rounds that this is read from.
    pub n: usize,
    /// Rounds that would probably tell more, where it is open.
    pub n_to_decide: Option<u32>,
}

/// A search along a grid of points.
#[derive(Debug, Clone, PartialEq)]
pub struct Search {
    /// The points that it begins with, as places in the grid.
    pub coarse: BTreeSet<usize>,
    /// Logarithm of the ratio up to which two are equal.
    pub margin: f64,
}

/// A crossing, between two points of the grid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Crossed {
    /// The last point at which the other was ahead.
    pub after: usize,
    /// The first at which this one is.
    pub until: usize,
    /// Who is ahead then.
    pub ahead: Ahead,
}

impl Search {
    /// Reads a point from the logarithms of its rounds; `None` without any. Between two looks, what
    /// the last one saw counts.
    pub fn told(&self, logs: &[f64]) -> Option<Told> {
        let look = last_look(logs.len());
        let n = look.map_or(logs.len().min(FIRST_LOOK), |(_, n)| n);
        let of = LogRatio::of_blocks(logs.get(..n)?)?;
        let share = ERROR / (self.coarse.len() + ADDED_MAX) as f64;
        let error = share * look_share(look.map_or(0, |(look, _)| look));
        let answer = *answers(&[&of], 0.0, error).first()?;
        let band = answer.interval.filter(|_| look.is_some());
        let ahead = match (answer.verdict, band) {
            (_, None) => Ahead::Open,
            (Verdict::Slower, _) => Ahead::First,
            (Verdict::Faster, _) => Ahead::Second,
            (_, Some((low, high))) if -self.margin < low && high < self.margin => Ahead::Equal,
            _ => Ahead::Open,
        };
        Some(Told { ahead, point: answer.point, band, n, n_to_decide: answer.n_to_decide })
    }

    /// The points of which further rounds are wanted; none where all is known that can be. A point
    /// of the grid has who is ahead and its rounds so far, and `None` where it cannot be measured.
    pub fn wanted(&self, grid: &[Option<(Ahead, usize)>]) -> BTreeSet<usize> {
        let begun: Vec<Begun> = (grid.iter().enumerate())
            .filter_map(|(at, point)| (*point).map(|(ahead, n)| Begun { at, ahead, n }))
            .filter(|point| point.n > 0 || self.coarse.contains(&point.at))
            .collect();
        let open = begun.iter().filter(|one| one.ahead == Ahead::Open && one.n < ROUNDS_MAX);
        let mut wanted: BTreeSet<usize> = open.map(|one| one.at).collect();
        let standings: Vec<(usize, Ahead)> = begun.iter().map(|one| (one.at, one.ahead)).collect();
        let added = begun.iter().filter(|one| !self.coarse.contains(&one.at)).count();
        let mut left = ADDED_MAX.saturating_sub(added);
        for crossed in crossings(&standings) {
            let inner: Vec<&Begun> = begun
                .iter()
                .filter(|one| crossed.after < one.at && one.at < crossed.until)
                .collect();
            if crossed.until - crossed.after <= STEPS {
                wanted.retain(|at| inner.iter().all(|one| one.at != *at));
            } else if inner.iter().all(|one| one.n >= FIRST_LOOK) {
                let is_new = |at: &usize| grid[*at].is_some() && !wanted.contains(at);
                let next: Vec<usize> =
                    refinements(crossed, &inner).into_iter().filter(is_new).take(left).collect();
                left -= next.len();
                wanted.extend(next);
            }
        }
        wanted
    }
}

/// A point of which there are rounds, or are to be.
struct Begun {
    at: usize,
    ahead: Ahead,
    n: usize,
}

/// The points that halve what lies between a crossing's ends and those inside that are not told.
fn refinements(crossed: Crossed, inner: &[&Begun]) -> BTreeSet<usize> {
    let first = inner.first().map_or(crossed.until, |one| one.at);
    let last = inner.last().map_or(crossed.after, |one| one.at);
    [middle(crossed.after, first), middle(last, crossed.until)].into_iter().flatten().collect()
}

/// The changes of who is ahead along the axis; points that are equal or open stand in none, but may lie
/// between.
pub fn crossings(standings: &[(usize, Ahead)]) -> Vec<Crossed> {
    let told: Vec<(usize, Ahead)> = (standings.iter().copied())
        .filter(|(_, ahead)| matches!(ahead, Ahead::First | Ahead::Second))
        .collect();
    let change = |pair: &[(usize, Ahead)]| {
        let ((after, before), (until, ahead)) = (pair[0], pair[1]);
        (before != ahead).then_some(Crossed { after, until, ahead })
    };
    told.windows(2).filter_map(change).collect()
}

/// A point between two.
fn middle(low: usize, high: usize) -> Option<usize> {
    let middle = usize::midpoint(low, high);
    (low < middle).then_some(middle)
}

/// The last look of a point of so many rounds, counted from 0, and the rounds that it sees: a third more than the
/// one before, in whole steps of [`BETWEEN_LOOKS`].
fn last_look(rounds: usize) -> Option<(u32, usize)> {
    let sizes = std::iter::successors(Some(FIRST_LOOK), |n| {
        Some((n + n.div_ceil(3)).next_multiple_of(BETWEEN_LOOKS))
    });
    (0..).zip(sizes).take_while(|(_, n)| *n <= rounds).last()
}

/// The share of a point's error that a look may spend: 1/2, 1/6, 1/12 …, in all 1.
fn look_share(look: u32) -> f64 {
    1.0 / (f64::from(look + 1) * f64::from(look + 2))
}

#[cfg(test)]
mod tests {
    use super::*;
    use Ahead::{Equal, First, Open, Second};

    fn search(coarse: &[usize]) -> Search {
        Search { coarse: coarse.iter().copied().collect(), margin: 0.03 }
    }

    /// So many rounds around a centre.
    fn rounds(centre: f64, n: usize) -> Vec<f64> {
        (0..n).map(|i| centre + 0.01 * (i % 5) as f64 - 0.02).collect()
    }

    /// A grid of so many points, of which these have been measured as often as a look needs.
    fn grid(points: usize, known: &[(usize, Ahead)]) -> Vec<Option<(Ahead, usize)>> {
        let mut grid = vec![Some((Open, 0)); points];
        known.iter().for_each(|(at, ahead)| grid[*at] = Some((*ahead, FIRST_LOOK)));
        grid
    }

    #[test]
    fn who_is_ahead_is_told_at_looks_alone() {
        let search = search(&[0, 8]);
        let told = |centre, n| search.told(&rounds(centre, n)).unwrap();
        assert_eq!(search.told(&[]), None);
        assert_eq!((told(0.2, 11).ahead, told(0.2, 11).band), (Open, None));
        assert_eq!((told(0.2, 12).ahead, told(-0.2, 12).ahead), (First, Second));
        assert_eq!(told(0.0, 12).ahead, Equal);
        assert_eq!(told(0.029, 12).ahead, First, "the margin is for equals alone");
        // What comes after a look counts from the next one on.
        let mut late = rounds(0.2, 12);
        late.extend(rounds(-0.2, 3));
        assert_eq!(search.told(&late), Some(told(0.2, 12)));
        let wide: Vec<f64> = (0..12).map(|i| f64::from(i % 3) - 0.5).collect();
        let open = search.told(&wide).unwrap();
        assert!(open.ahead == Open && open.n_to_decide.is_some(), "{open:?}");
    }

    #[test]
    fn a_point_has_its_share_of_the_error() {
        // A half of 0.025/14 is 3.7 of the 4096 signs of 12 rounds, three of which have a sum of ranks up to
        // 2; a sixth is 19.5 of 65536, and 19 have one up to 7. So the third and the eighth least average.
        for (n, centre, half) in [(12, 5.5, 4.5), (16, 7.5, 5.5)] {
            let logs: Vec<f64> = (0..n).map(|i| 0.01 * (f64::from(i) - centre)).collect();
            let (low, high) = search(&[0, 8]).told(&logs).unwrap().band.unwrap();
            assert!((low + 0.01 * half).abs() < 1e-12 && (high - 0.01 * half).abs() < 1e-12, "{n}");
        }
        // A band that reaches the margin is not within it.
        for (below, above, ahead) in [(0.03, 0.02, Open), (0.02, 0.03, Open), (0.02, 0.02, Equal)] {
            let logs = [[-below; 6], [above; 6]].concat();
            assert_eq!(search(&[0, 8]).told(&logs).unwrap().ahead, ahead, "{below} {above}");
        }
    }

    #[test]
    fn looks_spend_an_error_once() {
        let spent: f64 = (0..1000).map(look_share).sum();
        assert!((0.99..1.0).contains(&spent));
        let sizes =
            [11, 12, 15, 16, 24, 32, 44, ROUNDS_MAX].map(|n| last_look(n).map(|look| look.1));
        assert_eq!(sizes[..4], [None, Some(12), Some(12), Some(16)]);
        assert_eq!(sizes[4..], [Some(24), Some(32), Some(44), Some(ROUNDS_MAX)]);
        // The first look can decide with as many points as there may be.
        let share = ERROR / (COARSE_MAX + ADDED_MAX) as f64 * look_share(0);
        assert!(libm::exp2(-(FIRST_LOOK as f64)) <= share);
    }

    #[test]
    fn a_crossing_is_halved_until_it_is_narrow() {
        let search = search(&[0, 8, 16]);
        let of = |known: &[(usize, Ahead)]| {
            search.wanted(&grid(17, known)).into_iter().collect::<Vec<usize>>()
        };
        assert_eq!(of(&[]), [0, 8, 16], "where it begins");
        assert_eq!(of(&[(0, First), (8, First), (16, Second)]), [12]);
        assert_eq!(of(&[(0, First), (8, First), (12, Second), (16, Second)]), [10]);
        assert_eq!(of(&[(0, First), (8, First), (10, Second), (16, Second)]), [0usize; 0]);
        // What is not told inside goes on, and what lies on either side of it is halved.
        assert_eq!(of(&[(0, First), (8, Open), (16, Second)]), [4, 8, 12]);
        assert_eq!(of(&[(0, First), (8, Equal), (16, Second)]), [4, 12]);
        // Between neighbours there is nothing.
        let neighbours = [(0, First), (1, Equal), (8, Equal), (15, Equal), (16, Second)];
        assert_eq!(of(&neighbours), [0usize; 0]);
        // Narrow enough: nobody waits for the point at the crossing itself.
        assert_eq!(
            of(&[(0, First), (8, First), (9, Open), (10, Second), (16, Second)]),
            [0usize; 0]
        );
        // Without a crossing only what is not told is wanted.
        assert_eq!(of(&[(0, First), (8, Open), (16, First)]), [8]);
        assert_eq!(of(&[(0, First), (8, Equal), (16, First)]), [0usize; 0]);
    }

    #[test]
    fn what_cannot_be_measured_is_left_out_and_additions_have_an_end() {
        let search = search(&[0, 8, 16]);
        let mut all = grid(17, &[(0, First), (16, Second)]);
        (all[8], all[4]) = (None, None);
        assert_eq!(search.wanted(&all).len(), 0, "the middle is missing");
        let mut many = vec![Some((First, FIRST_LOOK)); 61];
        many[60] = Some((Second, FIRST_LOOK));
        many[20..60].fill(Some((Open, 0)));
        assert_eq!(search.wanted(&many).len(), 0, "more than {ADDED_MAX} were added");
        // Two crossings, and one more point to add.
        let mut last = vec![Some((Open, 0)); 52];
        last[40..].fill(Some((First, FIRST_LOOK)));
        (last[0], last[8], last[16]) = (last[40], Some((Second, FIRST_LOOK)), last[40]);
        last[51] = Some((Open, 0));
        assert_eq!(search.wanted(&last).into_iter().collect::<Vec<_>>(), [4]);
        let spent = vec![Some((Open, ROUNDS_MAX)); 17];
        assert_eq!(search.wanted(&spent).len(), 0);
    }

    #[test]
    fn changes_of_who_is_ahead() {
        let of = |all: &[Ahead]| -> Vec<(usize, usize, Ahead)> {
            let standings: Vec<(usize, Ahead)> = all.iter().copied().enumerate().collect();
            crossings(&standings).iter().map(|one| (one.after, one.until, one.ahead)).collect()
        };
        let none = [];
        assert_eq!(of(&[First, Equal, Open, Second]), [(0, 3, Second)]);
        assert_eq!(of(&[First, Second, Second, First]), [(0, 1, Second), (2, 3, First)]);
        assert_eq!(of(&[Equal, First, Equal, First, Open]), none);
        assert_eq!(of(&[]), none);
    }
}
