//! Prints how often comparisons on simulated hosts say what, at the default margin, live and over
//! stored runs, and whether identical cases are told apart as often as they may be: in 1 to 9 % (5 % is
//! nominal, and a test that never does is broken too), and told faster or slower in 2 % at most.
//!
//! `cargo run --release -p hopcost-stats --features testing --example compare [RUNS [BLOCKS [SEED]]]`

use hopcost_stats::compare::simulated::{Cell, Shares, simulate, simulate_runs, table};
use hopcost_stats::hosts::Host;

const MARGIN: f64 = 0.03;
/// Stored runs a side.
const RUNS_A_SIDE: u32 = 8;

fn main() -> Result<(), String> {
    let number = |at: usize, default: usize| match std::env::args().nth(at) {
        None => Ok(default),
        Some(text) => text.parse().map_err(|_| format!("`{text}` is not a whole number")),
    };
    let (n, blocks, seed) = (number(1, 2000)?, number(2, 72)?, number(3, 1)? as u64);
    let planned = u32::try_from(blocks).map_err(|_| format!("{blocks} blocks are too many"))?;
    let margin = 100.0 * MARGIN;
    println!(
        "{n} comparisons a row of {planned} planned blocks, margin {margin} %: per cent of them"
    );
    let mut wrong = rows(planned, &|cell, row| simulate(cell, n, seed * 1000 + row));
    println!(
        "\n{n} comparisons a row of {RUNS_A_SIDE} stored runs with as many, margin {margin} %"
    );
    wrong += rows(RUNS_A_SIDE, &|cell, row| simulate_runs(cell, n, seed * 1000 + row));
    match wrong {
        0 => Ok(()),
        _ => Err(format!("identical cases are told apart wrongly on {wrong} hosts")),
    }
}

/// Prints a row for each cell of so many blocks or runs a side; the hosts on which identical cases are told
/// apart wrongly.
fn rows(planned: u32, simulated: &dyn Fn(&Cell, u64) -> Shares) -> usize {
    println!(
        "{:<16} {:>6} {:>8} {:>8} {:>11} {:>8} {:>8} {:>8}",
        "host", "effect", "faster", "slower", "equivalent", "missed", "invalid", "blocks"
    );
    let mut figures: Vec<(Host, Vec<Shares>)> = Vec::new();
    for (row, cell) in (0..).zip(table(MARGIN, planned)) {
        let got = simulated(&cell, row);
        match figures.last_mut().filter(|(host, _)| *host == cell.host) {
            Some((_, of_host)) => of_host.push(got),
            None => figures.push((cell.host, vec![got])),
        }
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
    println!(
        "identical cases told apart, of 200 (2 to 18), and faster or slower (2 % at most); found of +5 % and +10 %"
    );
    figures.iter().filter(|(host, of_host)| !is_right(*host, of_host)).count()
}

/// Prints what the bounds are of, and whether it keeps them.
fn is_right(host: Host, of_host: &[Shares]) -> bool {
    // In the order of the table's effects.
    let [identical, five, ten] = of_host else { return false };
    let (apart, told) = (200.0 * identical.missed, identical.faster + identical.slower);
    let is_right = (2.0..=18.0).contains(&apart) && told <= 0.02;
    println!(
        "{:<16} {apart:>5.1} {:>6.2}% {:>6.1}% {:>6.1}%  {}",
        host.word(),
        100.0 * told,
        100.0 * five.slower,
        100.0 * ten.slower,
        if is_right { "yes" } else { "NO" }
    );
    is_right
}
