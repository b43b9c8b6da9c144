//! Prints how often the published intervals cover the truth.
//!
//! With 5000 runs a row the simulation's own standard error is 0.27 points, so a
//! shortfall of one point is not an accident of the seed (of 36 rows of 2000 runs,
//! one is expected to look like it).
//!
//! `cargo run --release -p hopcost-stats --features testing --example coverage [RUNS [TRIALS [SEED]]]`

use hopcost_stats::coverage::{simulate, table};

fn main() -> Result<(), String> {
    let number = |at: usize, default: usize| match std::env::args().nth(at) {
        None => Ok(default),
        Some(text) => text.parse().map_err(|_| format!("`{text}` is not a whole number")),
    };
    let (runs, trials, seed) = (number(1, 5000)?, number(2, 9)?, number(3, 1)?);
    let mut failed = 0;
    for (i, cell) in table(trials).iter().enumerate() {
        let Some(got) = simulate(cell, runs, seed as u64 + i as u64) else {
            return Err(format!("{trials} trials have no 95 % interval, or there are no runs"));
        };
        failed += usize::from(!got.holds());
        println!("{} {cell:?} {got:?}", if got.holds() { "yes" } else { "NO " });
    }
    if failed > 0 { Err(format!("{failed} rows do not hold what they say")) } else { Ok(()) }
}
