//! Prints what one operation of every `call` mechanism costs here, for a look
//! at the code that the compiler makes of the loops:
//! `cargo run --release -p hopcost-probe --example calls`; or of the cases that
//! are given (`'call/ring-inline?payload=0&reply=on'`).
//! No measurement: one process, no repetition, nothing pinned.

use hopcost_model::case::{Case, CaseError, Workload};
use hopcost_model::mechanism::Payload;
use hopcost_model::protocol::Stamp;
use hopcost_probe::clock::rough_ticks;
use hopcost_probe::mechanism::{ALL, find};
use hopcost_probe::registry::Row;
use hopcost_probe::shape::{Attaching, Half};
use hopcost_probe::workload::Order;

/// Operations in the shorter batch.
const SHORT: u64 = 1024;
/// Pairs of batches.
const PAIRS: u64 = 200;

/// The case of a call with every default.
fn default_case(row: &Row) -> Result<Option<Case>, CaseError> {
    if row.facts.hidden || !row.facts.workloads.contains(&Workload::Call) {
        return Ok(None);
    }
    let mut case: Case = format!("call/{}", row.facts.name).parse()?;
    if let Payload::Bytes { default, .. } = row.facts.payload {
        case.payload_bytes = Some(default);
    }
    Ok(Some(case))
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let ticks_per_ns = rough_ticks(1_000_000) as f64 / 1e6;
    let mut cases =
        std::env::args().skip(1).map(|id| id.parse()).collect::<Result<Vec<Case>, _>>()?;
    if cases.is_empty() {
        cases =
            ALL.iter().filter_map(|row| default_case(row).transpose()).collect::<Result<_, _>>()?;
    }
    for case in cases {
        let row = find(case.mechanism_name()).ok_or("no such mechanism")?;
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
