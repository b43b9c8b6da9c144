//! Prints how often intervals for the next run hold its median, and how wide they are
//! (`!` where surely in less than 93 % of the pairs of runs).
//!
//! `cargo run --release -p hopcost-stats --features testing --example next_run [RUNS [SEED]]`

use hopcost_stats::coverage::{NEXT_RUN_COVERED_MIN, next_run_table, simulate_next_run};

fn main() -> Result<(), String> {
    let number = |at: usize, default: usize| match std::env::args().nth(at) {
        None => Ok(default),
        Some(text) => text.parse().map_err(|_| format!("`{text}` is not a whole number")),
    };
    let (runs, seed) = (number(1, 2000)?, number(2, 1)?);
    for trials in [6, 9, 15, 30, 54] {
        for (row, cell) in next_run_table(trials).iter().enumerate() {
            let Some(got) = simulate_next_run(cell, runs, (seed * 1000 + row) as u64) else {
                return Err("there are no runs".to_owned());
            };
            let mark = if got.covered + 2.0 * got.error < NEXT_RUN_COVERED_MIN { '!' } else { ' ' };
            println!("{mark} {cell:?} {got:?}");
        }
    }
    Ok(())
}
