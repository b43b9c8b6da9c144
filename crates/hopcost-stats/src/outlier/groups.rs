//! Groups of hosts against the others: by how much they differ, and whether that is more than chance; and what
//! is commoner in a group than elsewhere.
//!
//! The test is one of ranks and no [`contrast`](crate::contrast): in a group of four hosts one that is slow would make
//! their mean differ.

use crate::tail::normal_quantile;

/// Hosts of either side below which a group is not tested.
const HOSTS_MIN: usize = 4;
/// Hosts of the smaller side up to which the distribution of rank sums is exact.
const EXACT_MAX: usize = 20;
/// The error from which on nobody asks for it exactly.
const PLAIN: f64 = 0.05;

/// The values of a case by rank, once for all groups that are looked at.
#[derive(Debug, Clone)]
pub struct Ranked<'a> {
    values: &'a [f64],
    /// Twice the rank of each value, equal ones sharing theirs.
    ranks: Vec<u64>,
}

/// A group beside the others.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shift {
    /// By how much its logarithms are greater: the median difference (Hodges and Lehmann 1963).
    pub point: f64,
    /// Interval of 95 %.
    pub interval: Option<(f64, f64)>,
}

impl<'a> Ranked<'a> {
    /// Finite logarithms.
    pub fn of(values: &'a [f64]) -> Self {
        let mut order: Vec<usize> = (0..values.len()).collect();
        order.sort_unstable_by(|&a, &b| values[a].total_cmp(&values[b]));
        let mut ranks = vec![0; values.len()];
        let mut at = 0;
        for equal in order.chunk_by(|&a, &b| values[a] == values[b]) {
            let shared = (2 * at + 1 + equal.len()) as u64;
            equal.iter().for_each(|&one| ranks[one] = shared);
            at += equal.len();
        }
        Self { values, ranks }
    }

    /// The two-sided error with which a group is told to differ, if its hosts were drawn from all: of small groups
    /// exact where it is small, else of the normal distribution, which errs to the safe side. `None` where a side
    /// has fewer than four hosts.
    pub fn error(&self, group: &[usize]) -> Option<f64> {
        let (m, n) = (group.len(), self.values.len().saturating_sub(group.len()));
        if m.min(n) < HOSTS_MIN {
            return None;
        }
        let (size, rest) = (m as f64, n as f64);
        let sum: u64 = group.iter().map(|&host| self.ranks[host]).sum();
        let below = sum as f64 / 2.0 - size * (size + 1.0) / 2.0;
        let off = (below - size * rest / 2.0).abs() - 0.5;
        let deviation = libm::sqrt(size * rest * (size + rest + 1.0) / 12.0);
        let normal = libm::erfc(off.max(0.0) / deviation / core::f64::consts::SQRT_2);
        if m.min(n) > EXACT_MAX || normal > PLAIN {
            return Some(normal);
        }
        let tail = rank_sum_tail(m.min(n), m.max(n), libm::ceil(below.min(size * rest - below)));
        Some((2.0 * tail).min(1.0))
    }

    /// By how much it differs.
    pub fn shift(&self, group: &[usize]) -> Option<Shift> {
        let (mut group, mut rest) = self.sides(group);
        group.sort_unstable_by(f64::total_cmp);
        rest.sort_unstable_by(f64::total_cmp);
        let pairs = group.len() as u64 * rest.len() as u64;
        if pairs == 0 {
            return None;
        }
        let at = |rank: u64| difference(&group, &rest, rank);
        let point = f64::midpoint(at(pairs.div_ceil(2)), at(pairs / 2 + 1));
        let (m, n) = (group.len() as f64, rest.len() as f64);
        let half = normal_quantile(crate::LEVEL) * libm::sqrt(m * n * (m + n + 1.0) / 12.0);
        let low = libm::floor(m * n / 2.0 - half - 0.5);
        let known = low >= 1.0 && group.len().min(rest.len()) >= HOSTS_MIN;
        let interval = known.then(|| (at(low as u64), at(pairs + 1 - low as u64)));
        Some(Shift { point, interval })
    }

    /// The values of a group and of the others.
    fn sides(&self, group: &[usize]) -> (Vec<f64>, Vec<f64>) {
        let mut is_in = vec![false; self.values.len()];
        group.iter().for_each(|&host| is_in[host] = true);
        let (mut own, mut rest) = (Vec::with_capacity(group.len()), Vec::new());
        for (value, is_in) in self.values.iter().zip(is_in) {
            if is_in { own.push(*value) } else { rest.push(*value) }
        }
        (own, rest)
    }
}

/// The probability that of `few` and `many` hosts in random order no more than so many pairs are the other way round:
/// coefficients of the Gaussian binomial, factor by factor, so that each step counts orders.
fn rank_sum_tail(few: usize, many: usize, pairs: f64) -> f64 {
    let mut counts = vec![0.0; pairs.max(0.0) as usize + 1];
    counts[0] = 1.0;
    for host in 1..=few {
        for at in (many + host..counts.len()).rev() {
            counts[at] -= counts[at - many - host];
        }
        for at in host..counts.len() {
            counts[at] += counts[at - host];
        }
    }
    let gamma = |n: usize| libm::lgamma(n as f64 + 1.0);
    let orders = gamma(few + many) - gamma(few) - gamma(many);
    libm::exp(libm::log(counts.iter().sum::<f64>()) - orders)
}

/// The `rank`-th least difference (from 1) of a value of the one and a value of the other, both ascending.
fn difference(a: &[f64], b: &[f64], rank: u64) -> f64 {
    let up_to = |bound: f64| -> u64 {
        let mut others = b.len();
        let mut pairs = 0;
        // The greater a value, the fewer of the others lie so far below it.
        for value in a {
            while others > 0 && value - b[b.len() - others] > bound {
                others -= 1;
            }
            pairs += others as u64;
        }
        pairs
    };
    let (least, most) = (a[0] - b[b.len() - 1], a[a.len() - 1] - b[0]);
    let (mut low, mut high) = (ordered(least), ordered(most));
    while low < high {
        let middle = low + ((high as i128 - low as i128) / 2) as i64;
        if up_to(number(middle)) >= rank { high = middle } else { low = middle + 1 }
    }
    number(low)
}

/// A whole number in the order of the number, and back.
fn ordered(x: f64) -> i64 {
    let bits = x.to_bits() as i64;
    if bits < 0 { i64::MIN.wrapping_sub(bits) } else { bits }
}

fn number(ordered: i64) -> f64 {
    let bits = if ordered < 0 { i64::MIN.wrapping_sub(ordered) } else { ordered };
    f64::from_bits(bits as u64)
}

/// The error with which `with` of `of` is told to be more than chance, where `all_with` of `all` have it (Fisher's
/// exact test, one-sided).
pub fn fisher(with: u64, of: u64, all_with: u64, all: u64) -> f64 {
    let choose = |n: u64, k: u64| {
        let gamma = |x: u64| libm::lgamma(x as f64 + 1.0);
        gamma(n) - gamma(k) - gamma(n - k)
    };
    if of > all || all_with > all || with > of.min(all_with) {
        return 1.0;
    }
    let least = (of + all_with).saturating_sub(all).max(with);
    let whole = choose(all, of);
    let one = |k| libm::exp(choose(all_with, k) + choose(all - all_with, of - k) - whole);
    (least..=of.min(all_with)).map(one).sum::<f64>().min(1.0)
}

/// Errors of several tests so that any of them is wrong with the error that is told at most (Holm 1979).
pub fn holm(errors: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..errors.len()).collect();
    order.sort_by(|&a, &b| errors[a].total_cmp(&errors[b]));
    let mut adjusted = vec![1.0; errors.len()];
    let mut before: f64 = 0.0;
    for (rank, at) in order.into_iter().enumerate() {
        before = before.max(errors[at] * (errors.len() - rank) as f64).min(1.0);
        adjusted[at] = before;
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    #[test]
    fn differences_are_the_ranked_ones_of_all() {
        let mut rng = Rng::new(2);
        let mut draw = |n: usize| -> Vec<f64> {
            let mut values: Vec<f64> = (0..n).map(|_| rng.normal()).collect();
            values.sort_unstable_by(f64::total_cmp);
            values
        };
        let (a, b) = (draw(7), draw(12));
        let mut all: Vec<f64> = a.iter().flat_map(|x| b.iter().map(move |y| x - y)).collect();
        all.sort_unstable_by(f64::total_cmp);
        for (at, wanted) in all.iter().enumerate() {
            assert_eq!(difference(&a, &b, at as u64 + 1).to_bits(), wanted.to_bits(), "{at}");
        }
        for x in [-1e300, -1.0, -0.5, 0.0, 1e-300, 2.0] {
            assert_eq!(number(ordered(x)), x);
        }
        assert!(ordered(-1.0) < ordered(-0.5) && ordered(-0.5) < ordered(0.0));
    }

    #[test]
    fn a_group_that_differs_is_told_and_one_that_does_not_is_not() {
        let mut rng = Rng::new(3);
        for hosts in [40usize, 300] {
            let group: Vec<usize> = (0..hosts / 4).collect();
            let mut wrong = 0;
            for _ in 0..400 {
                let values: Vec<f64> = (0..hosts).map(|_| rng.normal()).collect();
                let error = Ranked::of(&values).error(&group).unwrap();
                wrong += usize::from(error <= 0.05);
            }
            // 5 % of 400, with three standard errors.
            assert!((7..=34).contains(&wrong), "{hosts}: {wrong}");
            let slow = |host: usize| if group.contains(&host) { 2.0 } else { 0.0 };
            let values: Vec<f64> = (0..hosts).map(|host| slow(host) + rng.normal()).collect();
            let ranked = Ranked::of(&values);
            assert!(ranked.error(&group).unwrap() < 1e-3);
            let shift = ranked.shift(&group).unwrap();
            let (low, high) = shift.interval.unwrap();
            assert!(
                low <= shift.point && shift.point <= high && low < 2.0 && high > 2.0,
                "{shift:?}"
            );
        }
        let few = Ranked::of(&[1.0, 2.0, 3.0, 9.0, 9.0]).error(&[3, 4]);
        assert_eq!(few, None);
    }

    #[test]
    fn errors_are_those_of_the_exact_distribution_and_pass_into_the_normal_one() {
        // scipy.stats.mannwhitneyu: ages at diagnosis, 1/9 to both sides. R, wilcox.test:
        // permeability of membranes (Hollander and Wolfe 1973), 0.1272.
        assert!((2.0 * rank_sum_tail(4, 5, 3.0) - 1.0 / 9.0).abs() < 1e-12);
        assert!((rank_sum_tail(5, 10, 15.0) - 0.1272).abs() < 5e-5);
        // Critical values of Mann and Whitney's U, one-sided 0.025.
        for ((m, n), critical) in [((4, 4), 0.0), ((5, 8), 6.0), ((8, 8), 13.0), ((20, 20), 127.0)]
        {
            let tail = |u| rank_sum_tail(m, n, u);
            assert!(tail(critical) <= 0.025 && tail(critical + 1.0) > 0.025, "{m} {n}");
        }
        // 1 of C(100, 4) orders has four hosts above all others.
        let values: Vec<f64> = (0..100).map(f64::from).collect();
        let top = Ranked::of(&values).error(&[96, 97, 98, 99]).unwrap();
        assert!((top * 3_921_225.0 / 2.0 - 1.0).abs() < 1e-9, "{top}");
        let tail = rank_sum_tail(20, 200, 1300.0);
        let z: f64 = (2000.0 - 1300.5) / libm::sqrt(20.0 * 200.0 * 221.0 / 12.0);
        let normal = libm::erfc(z / core::f64::consts::SQRT_2) / 2.0;
        assert!((tail / normal - 1.0).abs() < 0.1, "{tail} {normal}");
    }

    #[test]
    fn published_examples() {
        // Fisher's tea: 3 of 4 right by chance in 17 of 70, all in 1.
        assert!((fisher(3, 4, 4, 8) - 17.0 / 70.0).abs() < 1e-12);
        assert!((fisher(4, 4, 4, 8) - 1.0 / 70.0).abs() < 1e-12);
        assert!((fisher(0, 4, 4, 8) - 1.0).abs() < 1e-12);
        assert_eq!(fisher(5, 4, 4, 8), 1.0);
        // R: p.adjust(c(0.01, 0.04, 0.03), "holm") is 0.03 0.06 0.06.
        let adjusted = holm(&[0.01, 0.04, 0.03]);
        for (got, wanted) in adjusted.iter().zip([0.03, 0.06, 0.06]) {
            assert!((got - wanted).abs() < 1e-12, "{adjusted:?}");
        }
        assert!(holm(&[]).is_empty());
    }
}
