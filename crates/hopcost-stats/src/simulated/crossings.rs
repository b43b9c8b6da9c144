//! Searches on simulated hosts: how often a crossing lies where it is reported, and how often it is
//! reported where there is none.

use std::cmp::Ordering;

use super::contrasts::{Place, settled};
use super::hosts::Host;
use super::{is_within, runs, share};
use crate::along::{crossings, next};
use crate::rng::Rng;

/// Cases within this share of each other count as equal.
const MARGIN: f64 = 0.03;
/// The ends of the axis, in bytes.
const SMALLEST: f64 = 64.0;
const LARGEST: f64 = 1_048_576.0;

/// How the costs of the two lie to each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Costs {
    /// The second has the greater fixed part and the smaller one a byte.
    Crossing,
    /// The second is a multiple of the first, from 1 to 1.5.
    Multiple,
    /// The second takes the same longer at every size.
    Offset,
}

/// A fixed part, and one a byte.
type Cost = (f64, f64);

/// The costs of both, and where they cross.
fn draw(costs: Costs, rng: &mut Rng) -> ([Cost; 2], Option<f64>) {
    let fixed = 3_000.0;
    let per_byte = 0.1 + 0.4 * rng.uniform();
    match costs {
        Costs::Crossing => {
            let at = 256.0 * libm::exp2(10.0 * rng.uniform());
            let more = fixed * (0.3 + 2.7 * rng.uniform());
            let saved = 0.2 + 0.6 * rng.uniform();
            // The first costs so much more a byte that what the second saves makes up for its start.
            let of_first = more / (at * saved);
            ([(fixed, of_first), (fixed + more, of_first * (1.0 - saved))], Some(at))
        }
        Costs::Multiple => {
            let multiple: f64 = [1.0, 1.01, 1.03, 1.1, 1.5][rng.below(5) as usize];
            ([(fixed, per_byte), (multiple * fixed, multiple * per_byte)], None)
        }
        Costs::Offset => {
            let more = fixed * (0.05 + rng.uniform());
            ([(fixed, per_byte), (fixed + more, per_byte)], None)
        }
    }
}

/// The crossings that a search tells.
fn search(host: Host, [first, second]: [Cost; 2], rng: &mut Rng) -> Vec<(f64, f64)> {
    let cost = |(fixed, per_byte): Cost, size: f64| fixed + per_byte * size;
    let mut found: Vec<(f64, Option<Ordering>)> = Vec::new();
    let mut add = |at: f64, found: &mut Vec<(f64, Option<Ordering>)>| {
        let effect = libm::log(cost(second, at) / cost(first, at));
        let here = settled(Place::On(host), effect, libm::log1p(MARGIN), rng);
        let place = found.partition_point(|(value, _)| *value < at);
        found.insert(place, (at, here.verdict.side(here.point, 0.0)));
    };
    let coarse = std::iter::successors(Some(SMALLEST), |at| Some(4.0 * at));
    coarse.take_while(|at| *at <= LARGEST).for_each(|at| add(at, &mut found));
    while let Some(at) = next(&found) {
        add(at, &mut found);
    }
    crossings(&found).iter().map(|one| (one.after, one.until)).collect()
}

#[test]
fn a_crossing_lies_where_it_is_told_to_and_none_is_told_of_parallel_costs() {
    let hosts = [
        Host::Quiet,
        Host::TwoStates(0.1),
        Host::TwoStates(1.0),
        Host::TwoStates(5.0),
        Host::Drift,
    ];
    for (costs, least) in [(Costs::Crossing, 0.93), (Costs::Multiple, 0.97), (Costs::Offset, 0.97)]
    {
        let n = runs(10);
        let right = hosts.map(|host| {
            share(n, 1, |rng| {
                let (both, crossing) = draw(costs, rng);
                match (search(host, both, rng).as_slice(), crossing) {
                    ([], None) => true,
                    ([(low, high)], Some(at)) => *low <= at && at <= *high,
                    _ => false,
                }
            })
        });
        println!("{costs:?}, {n} searches on each of {hosts:?}: {right:.3?} right");
        let in_all = right.iter().sum::<f64>() / hosts.len() as f64;
        assert!(is_within(in_all, n * hosts.len(), least, 1.0), "{costs:?} {right:?}");
    }
}
