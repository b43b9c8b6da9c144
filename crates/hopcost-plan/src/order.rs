//! The order of the cases within a round: a random permutation that depends on
//! nothing but seed and round, for ever. A stored run can be resumed and checked
//! by any later version, so this file must never change what it returns; the
//! fixed vectors of the tests hold it to that.

use hopcost_model::{Plan, Question, ROUNDS_A_BLOCK, ROUNDS_A_LOOK};
use hopcost_stats::contrast;
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

/// The round before which a plan looks at its results next; its last where it does not.
pub fn look_after(plan: &Plan, round: u32) -> u32 {
    let looks = contrast::looks(plan.rounds / ROUNDS_A_BLOCK).into_iter();
    let next = match &plan.question {
        _ if plan.comparison.is_some() => {
            looks.map(|(blocks, _)| blocks * ROUNDS_A_BLOCK).find(|at| *at > round)
        }
        Some(Question::Claims(_)) => round.checked_add(ROUNDS_A_LOOK),
        Some(Question::Explanation {}) | None => None,
    };
    next.map_or(plan.rounds, |next| next.min(plan.rounds))
}
