//! Prints what one operation of every `call` mechanism costs here, for a look
//! at the code that the compiler makes of the loops:
//! `cargo run --release -p hopcost-probe --example calls`.
//! No measurement: one process, no repetition, nothing pinned.

use hopcost_model::case::{Case, Workload};
use hopcost_model::mechanism::Payload;
use hopcost_model::protocol::Stamp;
use hopcost_probe::clock::rough_ticks;
use hopcost_probe::mechanism::ALL;
use hopcost_probe::shape::{Attaching, Half};
use hopcost_probe::workload::Order;

/// Operations in the shorter batch.
const SHORT: u64 = 1024;
/// Pairs of batches.
const PAIRS: u64 = 200;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let ticks_per_ns = rough_ticks(1_000_000) as f64 / 1e6;
    for row in ALL {
        if row.facts.hidden || !row.facts.workloads.contains(&Workload::Call) {
            continue;
        }
        let mut case: Case = format!("call/{}", row.facts.name).parse()?;
        if let Payload::Bytes { default, .. } = row.facts.payload {
            case.payload_bytes = Some(default);
        }
        let attaching = Attaching {
            case: &case,
            role: hopcost_model::case::Role::Caller,
            budget_ticks: 0,
            trial: 0,
            flow: 0,
            meeting: None,
        };
        let mut end = (row.attach)(Half::default(), &attaching)?;
        let mut out = vec![1; 2 * PAIRS as usize];
        for _ in 0..2 {
            end.run(&Order::of(3 * SHORT * PAIRS, Stamp::TwoLengths { n: SHORT }), &mut out)?;
        }
        let mut costs: Vec<f64> = out
            .chunks_exact(2)
            .map(|pair| (pair[1] as f64 - pair[0] as f64) / SHORT as f64 / ticks_per_ns)
            .collect();
        costs.sort_by(f64::total_cmp);
        println!("{:>8.2} ns  {}", costs[costs.len() / 2], case);
    }
    Ok(())
}
