//! Prints how often live comparisons on simulated hosts say what, at the default margin.
//!
//! `cargo run --release -p hopcost-stats --example compare [RUNS [BLOCKS [SEED]]]`

use hopcost_stats::compare::simulated::{simulate, table};

const MARGIN: f64 = 0.03;

fn main() -> Result<(), String> {
    let number = |at: usize, default: usize| match std::env::args().nth(at) {
        None => Ok(default),
        Some(text) => text.parse().map_err(|_| format!("`{text}` is not a whole number")),
    };
    let (runs, blocks, seed) = (number(1, 2000)?, number(2, 72)?, number(3, 1)?);
    let planned = u32::try_from(blocks).map_err(|_| format!("{blocks} blocks are too many"))?;
    println!(
        "{runs} comparisons a row of {blocks} planned blocks, margin {} %: per cent of them",
        100.0 * MARGIN
    );
    println!(
        "{:<16} {:>6} {:>8} {:>8} {:>11} {:>8} {:>8} {:>8}",
        "host", "effect", "faster", "slower", "equivalent", "missed", "invalid", "blocks"
    );
    for (row, cell) in (0..).zip(table(MARGIN, planned)) {
        let got = simulate(&cell, runs, seed as u64 * 1000 + row);
        println!(
            "{:<16} {:>5}% {:>8.2} {:>8.2} {:>11.2} {:>8.2} {:>8.2} {:>8.2}",
            cell.host.word(),
            100.0 * cell.effect,
            100.0 * got.faster,
            100.0 * got.slower,
            100.0 * got.equivalent,
            100.0 * got.missed,
            100.0 * got.invalid,
            100.0 * got.made
        );
    }
    Ok(())
}
