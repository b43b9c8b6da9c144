//! Prints how contrasts fare on simulated hosts: how often equals differ (5 % is nominal, 2 to 8 %
//! wanted), how often any of 105 pairs of equals does, and how often a difference is found.
//!
//! `cargo run --release -p hopcost-stats --features testing --example contrast [RUNS [SEED]]`

use hopcost_stats::contrast::simulated::{PLANNED, Place, Shares, of_looks, of_runs, of_stored};
use hopcost_stats::hosts::Host;

fn row(name: String, shares: impl IntoIterator<Item = f64>) {
    let cells: String = shares.into_iter().map(|share| format!("{:>7.1}", 100.0 * share)).collect();
    println!("{name:<16}{cells}");
}

fn main() -> Result<(), String> {
    let number = |at: usize, default: u64| match std::env::args().nth(at) {
        None => Ok(default),
        Some(text) => text.parse().map_err(|_| format!("`{text}` is not a whole number")),
    };
    let (runs, seed) = (number(1, 100)? as usize, number(2, 1)?);
    println!("Per cent of {runs} runs a row; any, and the difference marked *, of all pairs.");
    for rounds in [6, 9, 15, 60] {
        println!("\n{rounds} rounds\n{:<16} equals    any    +5%   +10%  +10%*", "");
        for place in Place::all() {
            let Shares { equals, any, found } = of_runs(place, rounds, (runs, seed));
            row(place.word(), [equals, any].into_iter().chain(found));
        }
    }
    println!("\nLive, {PLANNED} blocks; slower: by more than 3 %");
    println!("{:<16} equals    +5%  +5% slower  +10% slower", "");
    for place in Place::all() {
        row(place.word(), of_looks(place, (10 * runs, seed)));
    }
    for sides in [[2, 3], [3, 3], [4, 4], [8, 8], [2, 8]] {
        println!("\nStored runs, {sides:?} a side\n{:<16} equals    +5%   +10%", "");
        for host in Host::ALL {
            row(host.word(), of_stored(host, sides, (10 * runs, seed)));
        }
    }
    Ok(())
}
