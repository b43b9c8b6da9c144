//! Runtimes compared: the same mechanisms in several languages, both ends of one runtime.
//!
//! Everything is paired by round, and only equal cases are compared: cases that differ
//! in their runtimes alone. What was measured in one runtime only stands in the ladder.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use hopcost_model::group::{distinct, grouped};
use hopcost_model::text::bytes;
use hopcost_model::{
    Axis, Boundary, Case, Description, Estimate, Placement, Ratio, RawRun, Runtime, Runtimes,
    Workload, document,
};

use crate::case::Reading;
use crate::ladder::Meaning;
use crate::ratio::ratio;
use crate::run::Run;
use crate::trial::Family;

document! {
    /// A worker that took part, in brief.
    pub struct WorkerBrief {
        /// Runtime.
        pub runtime: String,
        /// Version of the worker.
        pub version: String,
        /// Language and libraries with their versions.
        pub libraries: BTreeMap<String, String>,
        /// What of the runtime shapes its numbers.
        pub remarks: Vec<String>,
    }

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

/// The comparison; none where every end of every case is in Rust. A library is no language: its
/// mechanisms stand in the ladder.
pub fn comparison(run: &Run, readings: &[Reading]) -> Vec<RuntimeMatrix> {
    let all = readings.iter().filter(|of| of.case.runtimes.caller.library().is_none());
    let entries: Vec<Entry> =
        all.map(|reading| Entry { case: run.plain(reading.case), reading }).collect();
    matrices(&entries)
}

/// The workers of other runtimes that took part, in brief.
pub fn workers(raw: &RawRun) -> Vec<WorkerBrief> {
    let brief = |worker: &Description| WorkerBrief {
        runtime: worker.runtime.clone(),
        version: worker.version.clone(),
        libraries: worker.libraries.clone(),
        remarks: worker.remarks.clone(),
    };
    raw.workers.iter().filter(|worker| !worker.is_rust()).map(brief).collect()
}

/// A case that could be read, and what came of it.
struct Entry<'a> {
    /// Without the parameters that have their default.
    case: Case,
    reading: &'a Reading<'a>,
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

/// A matrix for every setting in which two runtimes were measured, in the order of the plan.
fn matrices<'a>(entries: &'a [Entry<'a>]) -> Vec<RuntimeMatrix> {
    let alike = entries.iter().filter(|entry| entry.runtime().is_some());
    let mut matrices = Vec::new();
    for (setting, entries) in grouped(alike, |entry| setting(&entry.case)) {
        let rows = grouped(entries, |entry| with(&entry.case, Runtimes::RUST)).into_iter();
        let common: Vec<Row> = rows.filter(|(_, entries)| entries.len() > 1).collect();
        matrices.extend(matrix(title(&setting, family(&common)), common));
    }
    matrices
}

/// Batches only where nothing was timed by itself; before anything was measured, a call
/// is expected in batches.
fn family(rows: &[Row]) -> Family {
    let entries: Vec<&Entry> = rows.iter().flat_map(|(_, entries)| entries).copied().collect();
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
        let mut costs = runtimes.iter().filter_map(|runtime| {
            let entry = entries.iter().find(|entry| entry.runtime() == Some(runtime))?;
            entry.reading.headline()?.point
        });
        costs.next().unwrap_or(f64::INFINITY)
    };
    rows.sort_by(|a, b| cost(a).total_cmp(&cost(b)));
    let shown = rows.iter().map(|row| RuntimeRow {
        label: label(&row.0, rows.iter().map(|(case, _)| case)),
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

/// What cases must share to stand in one table: everything but the mechanism with its
/// parameters and waits, and the runtimes. Calls of all sizes stand together.
fn setting(case: &Case) -> Case {
    let payload_bytes = case.payload_bytes.filter(|_| case.workload.has_two_ends());
    Case {
        mechanism: String::new(),
        payload_bytes: payload_bytes.filter(|bytes| *bytes > 0),
        parameters: Default::default(),
        waits: None,
        spin_budget_ns: None,
        runtimes: Default::default(),
        ..case.clone()
    }
}

/// A setting in words: `round trip, 64 bytes each way, two processes, one CPU`.
fn title(setting: &Case, family: Family) -> String {
    let mut title = Meaning::of(setting, family, None).title;
    if let Some(place) = place(setting) {
        title.push_str(&format!(", {place}"));
    }
    title
}

/// Where the ends are: `two processes, one CPU`; nothing for a call.
fn place(case: &Case) -> Option<String> {
    let boundary = match case.boundary {
        Boundary::Inline => "one thread",
        Boundary::Thread => "two threads",
        Boundary::Process => "two processes",
        Boundary::Namespace => "two network namespaces",
        Boundary::Host => "two hosts",
    };
    let cpus = match case.placement? {
        Placement::SameCpu => "one CPU".to_owned(),
        Placement::Free => "not pinned".to_owned(),
        Placement::Pinned => "pinned".to_owned(),
        place => format!("two CPUs ({place})"),
    };
    let mut words = format!("{boundary}, {cpus}");
    for (axis, value) in Axis::unusual(case) {
        words.push_str(&format!(", {}={value}", axis.key));
    }
    Some(words)
}

/// The mechanism of a case, with its wait and parameters where those of the same
/// mechanism differ among `all`, and the size of a call's payload.
fn label<'a>(case: &Case, all: impl Iterator<Item = &'a Case>) -> String {
    let same: Vec<&Case> = all.filter(|other| other.mechanism == case.mechanism).collect();
    let mut name = case.mechanism.clone();
    if let Some(payload) = case.payload_bytes.filter(|_| !case.workload.has_two_ends()) {
        name.push_str(&format!(" {}", bytes(payload)));
    }
    let differ = same
        .iter()
        .any(|other| (other.waits, other.spin_budget_ns) != (case.waits, case.spin_budget_ns));
    if let Some(waits) = case.waits.filter(|_| differ) {
        name.push_str(&format!(" wait={waits}"));
    }
    for (key, value) in &case.parameters {
        if same.iter().any(|other| other.parameters.get(key) != Some(value)) {
            name.push_str(&format!(" {key}={value}"));
        }
    }
    name
}
