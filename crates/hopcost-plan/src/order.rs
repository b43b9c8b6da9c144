//! The order of the cases within a round: a random permutation that depends on
//! nothing but seed and round, for ever. A stored run can be resumed and checked
//! by any later version, so this file must never change what it returns; the
//! fixed vectors below hold it to that.

use hopcost_model::plan::{Plan, ROUNDS_A_BLOCK};
use hopcost_stats::rng::{SplitMix64, mix};

/// Uniform in `0..n`, by rejection: a plain remainder would favour small values.
fn below(random: &mut SplitMix64, n: u64) -> u64 {
    let limit = u64::MAX - u64::MAX % n;
    loop {
        let drawn = random.next_u64();
        if drawn < limit {
            return drawn % n;
        }
    }
}

/// The order of `n` cases in a round (counted from 0): a permutation of `0..n`,
/// uniform over all of them, independent between rounds.
pub fn order(seed: u64, round: u32, n: u32) -> Vec<u32> {
    // Mixed twice, so that neighbouring seeds and rounds share no stream.
    let mut random = SplitMix64(mix(mix(seed).wrapping_add(u64::from(round))));
    let mut cases: Vec<u32> = (0..n).collect();
    for last in (1..cases.len()).rev() {
        let drawn = below(&mut random, last as u64 + 1);
        cases.swap(last, usize::try_from(drawn).unwrap_or(last));
    }
    cases
}

/// The order of the cases in a round: of a comparison, in that of its block or, in a block's second
/// round, in its reverse.
pub fn order_of(plan: &Plan, round: u32, n: u32) -> Vec<u32> {
    if plan.comparison.is_none() {
        return order(plan.seed, round, n);
    }
    let mut order = order(plan.seed, round / ROUNDS_A_BLOCK, n);
    if !round.is_multiple_of(ROUNDS_A_BLOCK) {
        order.reverse();
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_generator_is_the_published_one() {
        // First outputs of splitmix64.c for the seed 1234567.
        let mut random = SplitMix64(1_234_567);
        let drawn: Vec<u64> = (0..5).map(|_| random.next_u64()).collect();
        assert_eq!(
            drawn,
            [
                6_457_827_717_110_365_317,
                3_203_168_211_198_807_973,
                9_817_491_932_198_370_423,
                4_593_380_528_125_082_431,
                16_408_922_859_458_223_821
            ]
        );
    }

    #[test]
    fn every_position_is_equally_likely() {
        // 5 cases, 10,000 rounds: each case expected 2,000 times in each place,
        // standard deviation 40; the limit is 5 of them.
        let mut seen = [[0u32; 5]; 5];
        for round in 0..10_000 {
            for (place, case) in order(42, round, 5).into_iter().enumerate() {
                seen[place][case as usize] += 1;
            }
        }
        for count in seen.iter().flatten() {
            assert!((1800..=2200).contains(count), "{seen:?}");
        }
    }
}
