//! Searches on simulated hosts: how often a crossing lies where it is told to, and how often one is
//! told where there is none.

use super::{Side, crossings, next};
use crate::contrast::simulated::{Place, settled};
use crate::hosts::Host;
use crate::rng::Rng;

/// Ratios off 1 by no more than this share are those of equals.
const MARGIN: f64 = 0.03;
/// The ends of the axis, in bytes.
const SMALLEST: f64 = 64.0;
const LARGEST: f64 = 1_048_576.0;

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
    let mut found: Vec<(f64, Side)> = Vec::new();
    let mut trials = 0;
    let mut add = |at: f64, found: &mut Vec<(f64, Side)>| {
        let (found_here, blocks) = settled(Place::On(host), ratio(at), libm::log1p(MARGIN), rng);
        trials += 6 * blocks as usize;
        let place = found.partition_point(|(value, _)| *value < at);
        found.insert(place, (at, found_here.verdict.side(found_here.point, 0.0)));
    };
    let coarse = std::iter::successors(Some(SMALLEST), |at| Some(4.0 * at));
    coarse.take_while(|at| *at <= LARGEST).for_each(|at| add(at, &mut found));
    while let Some(at) = next(&found) {
        add(at, &mut found);
    }
    (crossings(&found).iter().map(|one| (one.after, one.until)).collect(), trials)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOSTS: [Host; 3] = [Host::TwoStates(0.1), Host::TwoStates(5.0), Host::Drift];

    #[test]
    fn a_crossing_lies_where_it_is_told_to() {
        for host in HOSTS {
            let got = simulate(host, Costs::Crossing, 12, 1);
            assert!(got.wrong == 0.0 && got.right >= 0.9, "{host:?} {got:?}");
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
