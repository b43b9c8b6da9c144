//! Caller by callee: what it costs when the two ends are of different runtimes.

use hopcost_model::case::{Case, Runtime, Runtimes, Waits};
use hopcost_model::group::grouped;
use hopcost_model::results::{RuntimeMatrix, RuntimeRow};

use super::entry::{Entry, empty, in_order, with};
use super::name;
use crate::trial::Family;

/// Mixed pairs that make a map.
const PAIRS_MIN: usize = 2;

/// One map for every mechanism and setting with enough measured pairs, in the order of
/// the plan.
pub fn maps(entries: &[Entry]) -> Vec<RuntimeMatrix> {
    // A runtime may have but one way of waiting, and mixed pairs then have two.
    let setting = |entry: &&Entry| Case {
        waits: None,
        spin_budget_ns: None,
        ..with(&entry.case, Runtimes::RUST)
    };
    let groups = grouped(entries, setting);
    let all: Vec<&Case> = groups.iter().map(|(case, _)| case).collect();
    let enough = |entries: &[&Entry]| {
        let mixed =
            |entry: &&&Entry| entry.case.runtimes.are_mixed() && entry.reading.is_measured();
        entries.iter().filter(mixed).count() >= PAIRS_MIN
    };
    let maps = groups.iter().filter(|(_, entries)| enough(entries));
    maps.map(|(case, entries)| map(case, &all, entries)).collect()
}

fn map(case: &Case, all: &[&Case], entries: &[&Entry]) -> RuntimeMatrix {
    let usual = usual_waits(entries);
    let cell = |caller: &Runtime, callee: &Runtime| {
        let of_pair = |entry: &&Entry| {
            entry.case.runtimes.caller == *caller && entry.case.runtimes.callee == *callee
        };
        let of_pair = || entries.iter().copied().filter(of_pair);
        of_pair().find(|entry| entry.case.waits == usual).or_else(|| of_pair().next())
    };
    let rust = cell(&Runtime::RUST, &Runtime::RUST);
    let ends = entries.iter().map(|entry| &entry.case.runtimes);
    let runtimes = in_order(ends.flat_map(|ends| [&ends.caller, &ends.callee]));
    let row = |caller: &&Runtime| {
        let cells = runtimes.iter().map(|callee| match cell(caller, callee) {
            Some(entry) => entry.cell(rust),
            None => empty("not in the plan".to_owned()),
        });
        RuntimeRow { label: caller.to_string(), cells: cells.collect() }
    };
    let mut title = format!("{}: ", name::mechanism(case, all.iter().copied()));
    title.push_str(&name::title(&name::setting(case), Family::Each));
    RuntimeMatrix {
        title,
        runtimes: runtimes.iter().map(|runtime| runtime.to_string()).collect(),
        rows: runtimes.iter().map(row).collect(),
    }
}

/// The wait of most cells; where cases of one pair differ in it, theirs is shown.
fn usual_waits(entries: &[&Entry]) -> Option<Waits> {
    let count = |waits| entries.iter().filter(|entry| entry.case.waits == waits).count();
    // The first of those that are equally frequent.
    entries.iter().map(|entry| entry.case.waits).rev().max_by_key(|waits| count(*waits))?
}

#[cfg(test)]
mod tests {
    use crate::testing::{Builder, PIPE, TCP, read};

    fn of(id: &str, runtimes: &str) -> String {
        format!("{id}&runtime={runtimes}")
    }

    #[test]
    fn callers_by_callees() {
        let spin = PIPE.replace("block", "spin");
        let raw = Builder::new()
            .case(&spin, 8, |_, t| t.each(&[700; 50]))
            .case(PIPE, 8, |round, t| t.each(&[3000 + round; 50]))
            .case(&of(PIPE, "python:rust"), 8, |round, t| t.each(&[2 * (3000 + round); 50]))
            .case(&of(PIPE, "rust:python"), 8, |round, t| t.each(&[3 * (3000 + round); 50]))
            .case(&of(PIPE, "python"), 8, |round, t| t.each(&[4 * (3000 + round); 50]))
            .case(&of(PIPE, "go:python"), 8, |_, t| t.fails("x"))
            // One mixed pair is no map.
            .case(&of(TCP, "python:rust"), 8, |_, t| t.each(&[9000; 50]))
            .case(&of(TCP, "rust:python"), 8, |_, t| t.fails("y"))
            .build();
        let maps = read(&raw).runtimes.unwrap().pairs;
        assert_eq!(maps.len(), 1);
        let map = &maps[0];
        assert_eq!(map.title, "pipe: round trip, 64 bytes each way, two processes, one CPU");
        assert_eq!(map.runtimes, ["rust", "python", "go"]);
        let ratios: Vec<Vec<Option<f64>>> = map
            .rows
            .iter()
            .map(|row| {
                row.cells.iter().map(|c| c.ratio.as_ref().map(|r| r.point.round())).collect()
            })
            .collect();
        let row = |a: f64, b: f64| vec![Some(a), Some(b), None];
        assert_eq!(ratios, [row(1.0, 3.0), row(2.0, 4.0), vec![None; 3]]);
        assert_eq!(map.rows[0].cells[0].result, Some(1), "of the wait that the others have");
        assert_eq!(map.rows[2].cells[1].missing.as_deref(), Some("x"));
        assert_eq!(map.rows[2].cells[2].missing.as_deref(), Some("not in the plan"));
    }
}
