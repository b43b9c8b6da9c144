//! Prints how often comparisons on simulated hosts say what, at the default margin, live and over
//! stored runs, and whether identical cases are told apart as often as they may be: in 1 to 9 % (5 % is
//! nominal, and a test that never does is broken too), and told faster or slower in 2 % at most.
//!
//! `cargo run --release -p hopcost-stats --features testing --example compare [RUNS [BLOCKS [SEED]]]`

use hopcost_stats::compare::simulated::{Cell, Shares, simulate, simulate_runs, table};

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
    println!("Live, {planned} planned blocks:");
    let mut wrong = rows(planned, &|cell, row| simulate(cell, n, seed * 1000 + row));
    println!("{RUNS_A_SIDE} stored runs with as many:");
    wrong += rows(RUNS_A_SIDE, &|cell, row| simulate_runs(cell, n, seed * 1000 + row));
    match wrong {
        0 => Ok(()),
        _ => Err(format!("identical cases are told apart wrongly on {wrong} hosts")),
    }
}

/// Prints a row for each cell of so many blocks or runs a side; the hosts on which identical cases are told
/// apart wrongly.
fn rows(planned: u32, simulated: &dyn Fn(&Cell, u64) -> Shares) -> usize {
    let mut wrong = 0;
    for (row, cell) in (0..).zip(table(MARGIN, planned)) {
        let got = simulated(&cell, row);
        let told = got.faster + got.slower;
        let is_right = (0.01..=0.09).contains(&got.missed) && told <= 0.02;
        let is_wrong = cell.effect == 0.0 && !is_right;
        wrong += usize::from(is_wrong);
        println!("{} {cell:?} {got:?}", if is_wrong { "NO " } else { "yes" });
    }
    wrong
}
