//! Which samples of a trial are kept where there were more than a run file is to hold: as many
//! as wanted, each as likely as any other, in time order. The choice follows from a seed alone,
//! so that the time index of a stored sample follows from the seed.

use crate::rng::SplitMix64;

/// The seed of a trial: of everything in it that is left to chance.
pub fn trial_seed(plan_seed: u64, case: u32, round: u32) -> u64 {
    plan_seed ^ (u64::from(round) << 32) ^ u64::from(case)
}

/// A trial's seed taken apart: bytes of padding in its environment, and the seed of [`kept`].
pub fn trial_draws(seed: u64) -> (usize, u64) {
    let mut random = SplitMix64(seed);
    let padding = (random.next_u64() % 4096) as usize;
    (padding, random.0)
}

/// The indices of `keep` out of `all`, in ascending order; every one where there are no more.
///
/// Selection sampling (Knuth 3.4.2, algorithm S): each is taken with probability wanted over
/// left.
pub fn kept(all: usize, keep: usize, seed: u64) -> impl Iterator<Item = usize> {
    let mut wanted = keep.min(all);
    let mut random = SplitMix64(seed);
    (0..all).filter(move |at| {
        let left = all - at;
        let takes =
            wanted > 0 && (wanted == left || (random.next_u64() % left as u64) < wanted as u64);
        wanted -= usize::from(takes);
        takes
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_are_kept_as_wanted_in_order() {
        assert!(kept(5, 9, 1).eq(0..5));
        assert_eq!(kept(0, 9, 1).count(), 0);
        assert_eq!(kept(9, 0, 1).count(), 0);
        let some: Vec<usize> = kept(10_000, 1_000, 7).collect();
        assert_eq!(some.len(), 1_000);
        assert!(some.is_sorted_by(|a, b| a < b) && some[999] < 10_000);
        assert!(kept(10_000, 1_000, 7).eq(some));
    }

    /// Stored runs hold what this has chosen: it must never choose differently.
    #[test]
    fn the_choice_is_that_of_stored_runs() {
        let (padding, seed) = trial_draws(trial_seed(42, 3, 1));
        assert_eq!(padding, 1377);
        assert_eq!(kept(12, 4, seed).collect::<Vec<_>>(), [2, 4, 6, 11]);
    }
}
