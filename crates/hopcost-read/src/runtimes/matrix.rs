//! Mechanisms by runtimes, both ends of one runtime.
//!
//! What two runtimes or more were measured with stands in one matrix, what one alone
//! was in another beside it: a table that is mostly gaps compares nothing.

use std::collections::BTreeMap;

use hopcost_model::case::{Case, Runtime, Runtimes, Workload};
use hopcost_model::document;
use hopcost_model::group::{distinct, grouped};
use hopcost_model::results::{Estimate, Ratio};

use super::name;
use crate::case::Reading;
use crate::ratio::ratio;
use crate::trial::Family;

document! {
    /// Mechanisms by the runtime of both ends.
    pub struct RuntimeMatrix {
        /// What the numbers are (`round trip, 64 bytes each way, two processes, one CPU`).
        pub title: String,
        /// Runtimes, in the order of the columns.
        pub runtimes: Vec<String>,
        /// One row a mechanism.
        pub rows: Vec<RuntimeRow>,
    }

    /// A mechanism in several runtimes.
    pub struct RuntimeRow {
        /// Mechanism, with its wait and parameters where they differ.
        pub label: String,
        /// One cell a runtime.
        pub cells: Vec<RuntimeCell>,
    }

    /// A mechanism in a runtime.
    pub struct RuntimeCell {
        /// Index into `results`; `null` where the plan has no such case.
        pub result: Option<u32>,
        /// p50, or the cost in batches.
        pub value: Option<Estimate>,
        /// Multiple of Rust's, paired by round.
        pub ratio: Option<Ratio>,
    }
}

/// A case that could be read, and what came of it.
pub struct Entry<'a> {
    /// Without the parameters that have their default.
    pub case: Case,
    pub reading: &'a Reading<'a>,
}

impl Entry<'_> {
    /// The runtime that both ends are of.
    fn runtime(&self) -> Option<&Runtime> {
        let runtimes = &self.case.runtimes;
        (!runtimes.are_mixed()).then_some(&runtimes.caller)
    }
}

/// Cases that differ in their runtime alone: the case in Rust, and each runtime's.
type Row<'a> = (Case, Vec<&'a Entry<'a>>);

/// One matrix, or two, for every setting in which a runtime other than Rust takes
/// part, in the order of the plan.
pub fn matrices<'a>(entries: &'a [Entry<'a>]) -> Vec<RuntimeMatrix> {
    let alike = entries.iter().filter(|entry| entry.runtime().is_some());
    let mut matrices = Vec::new();
    for (setting, entries) in grouped(alike, |entry| name::setting(&entry.case)) {
        let rows = grouped(entries, |entry| with(&entry.case, Runtimes::RUST)).into_iter();
        let foreign = |(_, entries): &Row| entries.iter().any(|e| !e.case.runtimes.are_rust());
        let (common, alone): (Vec<Row>, Vec<Row>) =
            rows.filter(foreign).partition(|(_, entries)| entries.len() > 1);
        let title = name::title(&setting, family(common.iter().chain(&alone)));
        matrices.extend(matrix(title.clone(), common));
        matrices.extend(matrix(format!("{title}: measured in one runtime only"), alone));
    }
    matrices
}

/// Batches only where nothing was timed by itself; before anything was measured, a call
/// is expected in batches.
fn family<'a>(rows: impl Iterator<Item = &'a Row<'a>>) -> Family {
    let entries: Vec<&Entry> = rows.flat_map(|(_, entries)| entries).copied().collect();
    let mut families = entries.iter().filter_map(|entry| entry.reading.family).peekable();
    let batched = match families.peek() {
        Some(_) => families.all(|family| family == Family::Batch),
        None => entries.iter().any(|entry| entry.case.workload == Workload::Call),
    };
    if batched { Family::Batch } else { Family::Each }
}

fn matrix(title: String, mut rows: Vec<Row>) -> Option<RuntimeMatrix> {
    let all: Vec<&Entry> = rows.iter().flat_map(|(_, entries)| entries).copied().collect();
    let mut runtimes = distinct(all.into_iter().filter_map(Entry::runtime));
    // The others in the order of the plan.
    runtimes.sort_by_key(|runtime| !runtime.is_rust());
    // By the cost in the first column that has one: Rust's, where it was measured.
    let cost = |(_, entries): &Row| {
        (0..).zip(&runtimes).find_map(|(column, runtime)| {
            let entry = entries.iter().find(|entry| entry.runtime() == Some(runtime))?;
            Some((column, entry.reading.headline()?.point?))
        })
    };
    let alone = rows.iter().all(|(_, entries)| entries.len() == 1);
    rows.sort_by(|a, b| match (cost(a), cost(b)) {
        (Some((x, a)), Some((y, b))) if alone => x.cmp(&y).then(a.total_cmp(&b)),
        (Some((_, a)), Some((_, b))) => a.total_cmp(&b),
        (a, b) => b.is_some().cmp(&a.is_some()),
    });
    let shown = rows.iter().map(|row| RuntimeRow {
        label: name::mechanism(&row.0, rows.iter().map(|(case, _)| case)),
        cells: runtimes.iter().map(|runtime| cell(row, runtime)).collect(),
    });
    (!rows.is_empty()).then(|| RuntimeMatrix {
        title,
        runtimes: runtimes.iter().map(|runtime| runtime.to_string()).collect(),
        rows: shown.collect(),
    })
}

/// A runtime's, with its multiple of the same in Rust where both numbers are of one kind.
fn cell((case, entries): &Row, runtime: &Runtime) -> RuntimeCell {
    let of = |runtimes: Runtimes| {
        let same = with(case, runtimes);
        Some(entries.iter().find(|entry| entry.case == same)?.reading)
    };
    let Some(own) = of(Runtimes::both(runtime.clone())) else {
        return RuntimeCell { result: None, value: None, ratio: None };
    };
    // An upper bound has no multiple.
    let by_round = |of: &Reading| match of.headline() {
        Some(value) if !value.at_most => of.headline_by_round(),
        _ => BTreeMap::new(),
    };
    let rust = of(Runtimes::RUST).filter(|rust| rust.family == own.family);
    RuntimeCell {
        result: Some(own.index),
        value: own.headline().cloned(),
        ratio: rust.and_then(|rust| ratio(rust, &by_round(own), &by_round(rust))),
    }
}

/// The same case with other runtimes.
fn with(case: &Case, runtimes: Runtimes) -> Case {
    Case { runtimes, ..case.clone() }
}

#[cfg(test)]
mod tests {
    use crate::runtimes::matrix::{RuntimeCell, RuntimeMatrix};
    use hopcost_model::describe::WarmUp;

    use crate::testing::{Builder, PIPE, TCP, read, worker};

    fn of(id: &str, runtime: &str) -> String {
        format!("{id}&runtime={runtime}")
    }
    fn labels(matrix: &RuntimeMatrix) -> Vec<&str> {
        matrix.rows.iter().map(|row| row.label.as_str()).collect()
    }
    fn point(cell: &RuntimeCell) -> Option<f64> {
        cell.value.as_ref()?.point
    }

    fn compared() -> Vec<RuntimeMatrix> {
        let queue = PIPE.replace("pipe", "queue");
        let channel = PIPE.replace("pipe", "channel");
        let raw = Builder::new()
            .runtime(worker("python", WarmUp::Planned, &["pipe", "tcp", "queue"]))
            .runtime(worker("go", WarmUp::Planned, &["pipe", "channel"]))
            .case(&of(&queue, "python"), 8, |_, t| t.each(&[7000; 50]))
            .case(&of(PIPE, "python"), 8, |round, t| t.each(&[12_000 << round; 50]))
            .case(&of(TCP, "python"), 8, |_, t| t.fails("refused"))
            .case(&of(PIPE, "go"), 8, |round, t| t.each(&[6000 << round; 50]))
            .case(&of(&channel, "go"), 8, |_, t| t.batch(100, &[40_000; 50]))
            .case(TCP, 8, |_, t| t.each(&[9000; 50]))
            .case(PIPE, 8, |round, t| t.each(&[3000 << round; 50]))
            // What is not of one runtime, or of Rust alone, has no place here.
            .case(&of(PIPE, "python:rust"), 8, |_, t| t.each(&[5000; 50]))
            .case(&PIPE.replace("pipe", "eventfd"), 8, |_, t| t.each(&[2000; 50]))
            .case(&of(&PIPE.replace("=64", "=1024"), "go"), 8, |_, t| t.each(&[7000; 50]))
            .build();
        read(&raw).runtimes
    }

    #[test]
    fn what_several_have_stands_together() {
        let found = compared();
        let titles: Vec<&str> = found.iter().map(|m| m.title.as_str()).collect();
        assert_eq!(
            titles,
            [
                "round trip, 64 bytes each way, two processes, one CPU",
                "round trip, 64 bytes each way, two processes, one CPU: measured in one runtime only",
                "round trip, 1KiB each way, two processes, one CPU: measured in one runtime only",
            ]
        );
        let common = &found[0];
        assert_eq!(common.runtimes, ["rust", "python", "go"]);
        assert_eq!(labels(common), ["tcp", "pipe"], "by the cost in Rust");
        let pipe = &common.rows[1].cells;
        assert_eq!(pipe[1].result, Some(1));
        assert_eq!(point(&pipe[0]), Some(3000.0 * 12.0), "the median of eight doublings");
        let ratios: Vec<Option<f64>> = pipe
            .iter()
            .map(|cell| Some((cell.ratio.as_ref()?.point * 1e6).round() / 1e6))
            .collect();
        assert_eq!(ratios, [Some(1.0), Some(4.0), Some(2.0)]);
        let ratio = pipe[1].ratio.as_ref().unwrap();
        assert!((ratio.low.unwrap() - 4.0).abs() < 1e-9, "paired by round");
        assert_eq!((ratio.baseline.as_str(), ratio.n_rounds), (PIPE, 8));
        let tcp = &common.rows[0].cells;
        assert_eq!((tcp[1].result, tcp[2].result), (Some(2), None));
    }
}
