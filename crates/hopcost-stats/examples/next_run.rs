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
    let counts = [6, 9, 15, 30, 54];
    println!(
        "next run's median within a 95 % interval (median width), {runs} pairs of runs a cell"
    );
    print!("{:<17} {:<16} {:<4}", "treatment", "host", "");
    for trials in counts {
        print!(" {:>15}", format!("{trials} trials"));
    }
    println!();
    let per_count: Vec<_> = counts.iter().map(|trials| next_run_table(*trials)).collect();
    for row in 0..per_count[0].len() {
        let first = per_count[0][row];
        print!(
            "{:<17} {:<16} {:<4}",
            first.treatment.word(),
            first.host.word(),
            first.statistic.word()
        );
        for cells in &per_count {
            let Some(got) = simulate_next_run(&cells[row], runs, (seed * 1000 + row) as u64) else {
                return Err("there are no runs".to_owned());
            };
            let mark = if got.covered + 2.0 * got.error < NEXT_RUN_COVERED_MIN { '!' } else { ' ' };
            print!(" {:>5.1}%{mark}({:>5.1}%)", 100.0 * got.covered, 100.0 * got.width);
        }
        println!();
    }
    Ok(())
}
