//! Prints how often a search for a crossing on simulated hosts tells one where it is (93 % is wanted),
//! and one where there is none (3 % at most).
//!
//! `cargo run --release -p hopcost-stats --features testing --example along [SEARCHES [SEED]]`

use hopcost_stats::along::simulated::{Costs, simulate};
use hopcost_stats::hosts::Host;

fn main() -> Result<(), String> {
    let number = |at: usize, default: usize| match std::env::args().nth(at) {
        None => Ok(default),
        Some(text) => text.parse().map_err(|_| format!("`{text}` is not a whole number")),
    };
    let (searches, seed) = (number(1, 500)?, number(2, 1)?);
    let mut failed = 0;
    for (at, host) in (0..).zip(Host::ALL) {
        for (which, costs) in (0..).zip([Costs::Crossing, Costs::Multiple, Costs::Offset]) {
            let got = simulate(host, costs, searches, 1000 * seed as u64 + 10 * at + which);
            let is_good = match costs {
                Costs::Crossing => got.right >= 0.93,
                Costs::Multiple | Costs::Offset => got.none >= 0.97,
            };
            failed += usize::from(!is_good);
            println!("{} {host:?} {costs:?} {got:?}", if is_good { "yes" } else { "NO " });
        }
    }
    if failed > 0 { Err(format!("{failed} rows are not as wanted")) } else { Ok(()) }
}
