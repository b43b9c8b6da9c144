//! Searches on simulated hosts: how often a crossing lies where it is told to, and how often one is told where
//! there is none.

use super::{Ahead, BETWEEN_LOOKS, Search, crossings};
use crate::hosts::{Host, Statistic, levels};
use crate::rng::Rng;

/// From the start of a trial to that of the next, in seconds.
const BETWEEN_S: f64 = 0.045;
/// Trials of a search at most: a minute of them.
const TRIALS: usize = 1_333;
/// What a trial adds of its own: neighbours' ratio then spreads by 5 %.
const OWN: f64 = 0.035;
/// One trial in so many is disturbed, …
const DISTURBED_OF: u64 = 30;
/// … and this much slower.
const DISTURBED_BY: f64 = 0.3;
/// The grid: from 64 bytes to 1 MiB, so many points from one power of two to the next.
const SMALLEST: f64 = 64.0;
const AN_OCTAVE: usize = 4;
const OCTAVES: usize = 14;

/// How the costs of the two lie to each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Costs {
    /// The second has the greater fixed part and the smaller one a byte.
    Crossing,
    /// The second is a multiple of the first, from 1 to 1.5.
    Multiple,
    /// The second takes the same longer at every size.
    Offset,
}

/// The shares of the searches that ended so.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Shares {
    /// One crossing was told, and it is there.
    pub right: f64,
    /// One was told that is not there.
    pub wrong: f64,
    /// None was told.
    pub none: f64,
    /// Mean of the ratio of an interval's ends, where there is one.
    pub width: f64,
    /// Mean of the trials made.
    pub trials: f64,
}

/// Makes so many searches.
pub fn simulate(host: Host, costs: Costs, searches: usize, seed: u64) -> Shares {
    let mut rng = Rng::new(seed);
    let (mut sums, mut told) = (Shares::default(), 0.0);
    for _ in 0..searches {
        let (first, second, crossing) = draw(costs, &mut rng);
        let (found, trials) = search(host, &|x| libm::log(second(x) / first(x)), &mut rng);
        let holds = |(low, high): &(f64, f64)| crossing.is_some_and(|at| *low <= at && at <= *high);
        match found.as_slice() {
            [] => sums.none += 1.0,
            [one] if holds(one) => sums.right += 1.0,
            _ => sums.wrong += 1.0,
        }
        sums.trials += trials as f64 / searches as f64;
        told += found.len() as f64;
        sums.width += found.iter().map(|(low, high)| high / low).sum::<f64>();
    }
    let share = |count: f64| count / searches.max(1) as f64;
    Shares {
        right: share(sums.right),
        wrong: share(sums.wrong),
        none: share(sums.none),
        width: sums.width / told.max(1.0),
        trials: sums.trials,
    }
}

type Cost = Box<dyn Fn(f64) -> f64>;

/// Both costs by size, and where they cross.
fn draw(costs: Costs, rng: &mut Rng) -> (Cost, Cost, Option<f64>) {
    let fixed = 3_000.0;
    let per_byte = 0.1 + 0.4 * rng.uniform();
    let first = move |x: f64| fixed + per_byte * x;
    match costs {
        Costs::Crossing => {
            let at = 256.0 * libm::exp2(10.0 * rng.uniform());
            let more = fixed * (0.3 + 2.7 * rng.uniform());
            let saved = 0.2 + 0.6 * rng.uniform();
            // The first costs so much more a byte that what the second saves makes up for its start.
            let of_first = more / (at * saved);
            let first = move |x: f64| fixed + of_first * x;
            let second = move |x: f64| fixed + more + of_first * (1.0 - saved) * x;
            (Box::new(first), Box::new(second), Some(at))
        }
        Costs::Multiple => {
            let multiple = [1.0, 1.01, 1.03, 1.1, 1.5][rng.below(5) as usize];
            (Box::new(first), Box::new(move |x| multiple * first(x)), None)
        }
        Costs::Offset => {
            let more = fixed * (0.05 + rng.uniform());
            (Box::new(first), Box::new(move |x| more + first(x)), None)
        }
    }
}

/// The crossings that a search tells, and the trials that it took.
fn search(host: Host, ratio: &dyn Fn(f64) -> f64, rng: &mut Rng) -> (Vec<(f64, f64)>, usize) {
    let size = |at: usize| SMALLEST * libm::exp2(at as f64 / AN_OCTAVE as f64);
    let last = AN_OCTAVE * OCTAVES;
    let search =
        Search { coarse: (0..=last).step_by(2 * AN_OCTAVE).collect(), margin: libm::log1p(0.03) };
    let mut levels = levels(host, Statistic::P50, TRIALS, BETWEEN_S, rng).into_iter();
    let mut value = |rng: &mut Rng| {
        let disturbed = if rng.below(DISTURBED_OF) == 0 { DISTURBED_BY } else { 0.0 };
        Some(levels.next()?.of_value + OWN * rng.normal() + disturbed)
    };
    let mut logs: Vec<Vec<f64>> = vec![Vec::new(); last + 1];
    let mut grid = vec![Some((Ahead::Open, 0)); last + 1];
    let mut trials = 0;
    'looks: loop {
        let wanted = search.wanted(&grid);
        if wanted.is_empty() {
            break;
        }
        for _ in 0..BETWEEN_LOOKS {
            for &at in &wanted {
                let sign = if rng.below(2) == 0 { 1.0 } else { -1.0 };
                let (Some(one), Some(other)) = (value(rng), value(rng)) else { break 'looks };
                trials += 2;
                logs[at].push(ratio(size(at)) + sign * (one - other));
            }
        }
        for at in wanted {
            let told = search.told(&logs[at]).map_or(Ahead::Open, |told| told.ahead);
            grid[at] = Some((told, logs[at].len()));
        }
    }
    let standings: Vec<(usize, Ahead)> =
        grid.iter().enumerate().filter_map(|(at, told)| Some((at, (*told)?.0))).collect();
    let found =
        crossings(&standings).iter().map(|one| (size(one.after), size(one.until))).collect();
    (found, trials)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOSTS: [Host; 3] = [Host::TwoStates(0.1), Host::TwoStates(5.0), Host::Drift];

    #[test]
    fn a_crossing_lies_where_it_is_told_to() {
        for host in HOSTS {
            let got = simulate(host, Costs::Crossing, 12, 1);
            assert!(got.right >= 0.9 && got.width < 3.0, "{host:?} {got:?}");
        }
    }

    #[test]
    fn none_is_told_of_parallel_costs() {
        for costs in [Costs::Multiple, Costs::Offset] {
            for host in HOSTS {
                let got = simulate(host, costs, 6, 2);
                assert_eq!(got.none, 1.0, "{host:?} {costs:?} {got:?}");
            }
        }
    }
}
