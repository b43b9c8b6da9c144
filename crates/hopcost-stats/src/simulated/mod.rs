//! How often the statistics are right, on simulated samples and hosts.
//!
//! Each test prints a table and holds it to bounds, for few runs a row.
//! `HOPCOST_SIMULATE=20 cargo test --release -p hopcost-stats simulated -- --nocapture` makes twenty
//! times as many, which is what docs/evidence/tests.md quotes.

mod contrasts;
mod crossings;
mod hosts;
mod intervals;

use crate::rng::Rng;

/// A series of variance 1 in which neighbours have this correlation, as AR(1).
pub fn ar1(n: usize, rho: f64, rng: &mut Rng) -> Vec<f64> {
    let mut state = rng.normal();
    let mut next = || {
        let value = state;
        state = rho * state + libm::sqrt(1.0 - rho * rho) * rng.normal();
        value
    };
    (0..n).map(|_| next()).collect()
}

/// So many runs, or the multiple of them that is asked for.
fn runs(n: usize) -> usize {
    let times = std::env::var("HOPCOST_SIMULATE").ok();
    n * times.and_then(|times| times.parse().ok()).unwrap_or(1)
}

/// The share of so many trials in which something is so.
fn share(trials: usize, seed: u64, mut is_so: impl FnMut(&mut Rng) -> bool) -> f64 {
    let mut rng = Rng::new(seed);
    (0..trials).filter(|_| is_so(&mut rng)).count() as f64 / trials as f64
}

/// Whether a share of `of` cases lies between two others, but for three standard errors.
fn is_within(share: f64, of: usize, least: f64, most: f64) -> bool {
    let chance = |p: f64| 3.0 * libm::sqrt(p * (1.0 - p) / of as f64);
    (least - chance(least)..=most + chance(most)).contains(&share)
}
