use hopcost_model::{Case, Role, Stamp, Waits, Workload};

use crate::support::{alone, both_end_well, case, none_failed, phase, rows, too_slow_here};

/// Exchanges of a phase.
const EXCHANGES: u64 = 40;

/// What is wrong with a case: that each message arrives once, in order and as it was sent
/// is checked by the ends themselves.
fn wrong(case: &Case) -> Option<String> {
    let played = both_end_well(case, |role, end| {
        let mut run =
            |stamp| phase(&mut *end, EXCHANGES, stamp).map_err(|error| format!("{role}: {error}"));
        Ok([run(Stamp::Each)?, run(Stamp::Batch { n: 10 })?])
    });
    let ends = match played {
        Ok(ends) => ends,
        Err(error) => return Some(error),
    };
    for (role, phases) in [Role::Caller, Role::Callee].into_iter().zip(ends) {
        for ((seen, samples), stamped) in phases.into_iter().zip([EXCHANGES, EXCHANGES / 10]) {
            let stamped = if role == Role::Caller { stamped } else { 0 };
            if (seen.count, seen.samples) != (EXCHANGES, stamped) || samples.contains(&0) {
                return Some(format!("{role}: {seen:?}"));
            }
        }
    }
    None
}

#[test]
fn messages_arrive_where_the_ends_wait_differently() {
    let _alone = alone();
    let mut failed = Vec::new();
    for row in rows(Workload::Roundtrip) {
        let usual = case(Workload::Roundtrip, row, row.facts().waits[0]);
        for &caller in &row.facts().waits {
            for &callee in row.facts().waits.iter().filter(|callee| **callee != caller) {
                let waits = Some(Waits { caller, callee });
                let case = Case { waits, spin_budget_ns: Some(20_000), ..usual.clone() };
                if !too_slow_here(&case) {
                    failed.extend(wrong(&case).map(|error| format!("{case}: {error}")));
                }
            }
        }
    }
    none_failed(failed);
}
