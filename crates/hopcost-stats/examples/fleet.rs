//! Prints how often the rule for hosts that lie off tells a sound host, how many scales that takes, and whether slow
//! hosts are found: fleets of many sizes, of normal and of heavier tails, with and without the margin.
//!
//! `cargo run --release -p hopcost-stats --features testing --example fleet [FLEETS [SEED]]`

use hopcost_stats::outlier::simulated::{Kind, simulate};
use hopcost_stats::outlier::{Tail, threshold};

fn main() -> Result<(), String> {
    let number = |at: usize, default: usize| match std::env::args().nth(at) {
        None => Ok(default),
        Some(text) => text.parse().map_err(|_| format!("`{text}` is not a whole number")),
    };
    let (fleets, seed) = (number(1, 1000)?, number(2, 1)? as u64);
    let mut wrong = 0;
    for (hosts, cases) in [(8, 1), (20, 5), (100, 1), (100, 5), (100, 50), (1000, 5), (10_000, 5)] {
        let scales = threshold(hosts, cases).ok_or("too few hosts")?;
        let n = (fleets * 100 / hosts.max(100)).max(50);
        for (tail, spread, margin, slow) in [
            (Tail::Normal, 0.02, 0.0, (0, 1.0)),
            (Tail::Student5, 0.02, 0.0, (0, 1.0)),
            (Tail::Student5, 0.005, 0.03, (0, 1.0)),
            (Tail::Normal, 0.02, 0.03, (4, 1.2)),
        ] {
            let kind = Kind { hosts, cases, tail, spread, own: 0.25, margin, slow };
            let got = simulate(&kind, n, seed);
            println!("{n} fleets, {scales:.2} scales, {kind:?} {got:?}");
            let most = 0.05 + 3.0 * (0.05 * 0.95 / n as f64).sqrt();
            wrong += usize::from(tail == Tail::Normal && got.fleets_with_false > most);
        }
    }
    match wrong {
        0 => Ok(()),
        _ => Err(format!("{wrong} rows of normal fleets raise more false alarms than is said")),
    }
}
