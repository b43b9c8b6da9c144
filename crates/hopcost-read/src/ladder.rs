//! The ladder: results grouped by what their number means, cheapest first.
//!
//! Groups, in this order: calls; round trips in batches (spinning ends); bare
//! notifications; round trips with a payload, by size; one-way wake-ups, by gap;
//! streams, by size, flows and acknowledgement. Within a group, a row is a mechanism
//! with its boundary and wait, and has its placements side by side.

use std::collections::{BTreeMap, BTreeSet};

use hopcost_model::group::distinct;
use hopcost_model::text::bytes;
use hopcost_model::units::exact_duration;
use hopcost_model::{
    Ack, AckSize, Arrivals, Axis, Boundary, Case, IdleKnob, Placement, Rate, Sampling, Shape,
    WaitKind, Waits, Workload,
};

use crate::case::{EMPTY_LOOP, Reading};
use crate::format;
use crate::ranking::{LadderGroup, LadderRow, Place};
use crate::run::Run;
use crate::trial::Family;

/// What makes two cases one row: everything but the placement. The order is that of equal
/// costs, and has the waits by their words.
type Key = (String, Option<u32>, Boundary, Option<String>, Case);

/// Builds the ladder from the cases, which are in the order of the plan.
pub fn ladder(run: &Run, readings: &[Reading]) -> Vec<LadderGroup> {
    let mut groups: BTreeMap<Meaning, Vec<&Reading>> = BTreeMap::new();
    for reading in readings {
        let case = reading.case;
        let family = reading.family.unwrap_or_else(|| expected(case));
        let shape = run.facts(case).and_then(|facts| Some(facts.own.as_ref()?.shape));
        groups.entry(Meaning::of(case, family, shape)).or_default().push(reading);
    }
    groups.into_iter().map(|(meaning, cases)| group(run, meaning, &cases)).collect()
}

/// Where a case that was never measured would have stood: calls and pairs of
/// spinning ends on two CPUs are timed in batches.
fn expected(case: &Case) -> Family {
    let spins = case.waits == Some(Waits::both(WaitKind::Spin));
    let batched = match case.workload.spec().sampling {
        Sampling::TwoLengths => true,
        Sampling::BatchIfShort => spins,
        Sampling::Each => false,
    };
    if batched { Family::Batch } else { Family::Each }
}

fn group(run: &Run, meaning: Meaning, cases: &[&Reading]) -> LadderGroup {
    let mut by_key: BTreeMap<Key, Vec<Row>> = BTreeMap::new();
    for reading in cases {
        let rows = by_key.entry(key(reading.case)).or_default();
        let slot = Place::of(reading.case) as usize;
        // A second two-CPU placement of the same case gets a row of its own; one
        // that was not measured gives way to one that was.
        if let Some(row) = rows.iter_mut().find(|row| row.takes(slot, reading)) {
            row.0[slot] = Some(reading);
        } else if reading.is_measured() || rows.is_empty() {
            let mut row = Row::default();
            row.0[slot] = Some(reading);
            rows.push(row);
        }
    }
    let naming = Naming::new(run, cases);
    let mut rows: Vec<(Option<f64>, LadderRow)> = Vec::new();
    for found in by_key.into_values() {
        let several = found.len() > 1;
        for row in found {
            let Some(first) = row.0.iter().flatten().next() else { continue };
            let place = first.case.placement.filter(|_| several);
            // A library's usual way is called by the library's name alone.
            let usual = first.case.runtimes.caller.library().map(|_| run.plain(first.case));
            let label = naming.label(usual.as_ref().unwrap_or(first.case), place);
            let label = run.labelled(first.case, label);
            rows.push((row.cost(), row.shown(run, first.case, label)));
        }
    }
    // Stable: equal costs keep the order of their keys.
    rows.sort_by(|a, b| match (a.0, b.0) {
        (Some(a), Some(b)) => a.total_cmp(&b),
        (a, b) => b.is_some().cmp(&a.is_some()),
    });
    LadderGroup {
        title: meaning.title,
        meaning: meaning.sentence,
        batched: meaning.batched,
        rows: rows.into_iter().map(|(_, row)| row).collect(),
        rankings: Vec::new(),
    }
}

fn key(case: &Case) -> Key {
    let waits = case.waits.map(|waits| waits.to_string());
    let anywhere = Case { placement: None, ..case.clone() };
    (case.mechanism.clone(), case.payload_bytes, case.boundary, waits, anywhere)
}

/// The slots of a row.
#[derive(Default)]
struct Row<'a>([Option<&'a Reading<'a>>; 4]);

impl Row<'_> {
    fn takes(&self, slot: usize, reading: &Reading) -> bool {
        self.0[slot].is_none_or(|own| reading.is_measured() && !own.is_measured())
    }
    /// On one CPU if that was measured, else on two, else free.
    fn cost(&self) -> Option<f64> {
        self.0.iter().flatten().find_map(|reading| reading.headline()?.point)
    }
    fn shown(&self, run: &Run, case: &Case, label: String) -> LadderRow {
        let busy = [WaitKind::Spin, WaitKind::SpinThenBlock, WaitKind::Yield];
        let spins_first = || run.facts(case)?.own.as_ref().map(|own| own.spins_first);
        let spins = case.waits.is_some_and(|waits| {
            busy.into_iter().any(|kind| waits.any(kind))
                || waits.any(WaitKind::Block) && spins_first() == Some(true)
        }) || case.idle_knob == IdleKnob::Spinner;
        LadderRow {
            label,
            boundary: case.boundary,
            wait: case.waits.map(|waits| waits.to_string()),
            spins,
            results: self.0.map(|reading| reading.map(|reading| reading.index)),
        }
    }
}

/// What a label needs besides the mechanism to be unique in its group.
struct Naming<'a> {
    run: &'a Run<'a>,
    cases: &'a [&'a Reading<'a>],
    payloads: bool,
    budgets: bool,
    scheds: bool,
}

impl<'a> Naming<'a> {
    fn new(run: &'a Run, cases: &'a [&'a Reading<'a>]) -> Self {
        let differ = |of: &dyn Fn(&Case) -> String| {
            cases.windows(2).any(|pair| of(pair[0].case) != of(pair[1].case))
        };
        let budgets: BTreeSet<u64> =
            cases.iter().filter_map(|reading| reading.case.spin_budget_ns).collect();
        Self {
            run,
            cases,
            payloads: differ(&|case| case.payload_bytes.unwrap_or(0).to_string()),
            budgets: budgets.len() > 1,
            scheds: differ(&|case| case.sched.to_string()),
        }
    }

    /// Whether cases of a mechanism differ in a parameter, or from what is usual.
    fn tells(&self, case: &Case, parameter: &str) -> bool {
        let same = self.cases.iter().filter(|of| of.case.mechanism == case.mechanism);
        let values = same.map(|of| of.case.parameter(parameter));
        let usual = self.run.facts(case).and_then(|facts| facts.parameter(parameter));
        let usual = usual.map(|usual| Some(usual.default.as_str()));
        distinct(values.chain(usual)).len() > 1
    }

    fn label(&self, case: &Case, place: Option<Placement>) -> String {
        // The test engine's name says nothing to a reader of the ladder.
        let mut label = match (case.workload, case.mechanism_name()) {
            (Workload::Call, EMPTY_LOOP) => "empty loop".to_owned(),
            _ => format::mechanism(case),
        };
        let mut add = |word: String| {
            label.push(' ');
            label.push_str(&word);
        };
        if let Some(payload) = case.payload_bytes.filter(|_| self.payloads) {
            add(if payload == 0 { "0 bytes".to_owned() } else { bytes(payload) });
        }
        for (name, value) in case.parameters.iter().filter(|(name, _)| self.tells(case, name)) {
            add(format!("{name}={value}"));
        }
        if let Some(budget) = case.spin_budget_ns.filter(|_| self.budgets) {
            add(format!("spin={}", format::ns(budget as f64)));
        }
        // The group's heading states the length of an acknowledgement.
        let said = |key| matches!(key, "sched" | "ack-size");
        for (axis, value) in Axis::unusual(case).filter(|(axis, _)| !said(axis.key)) {
            add(format!("{}={value}", axis.key));
        }
        if self.scheds {
            add(format!("sched={}", case.sched));
        }
        if let Some(place) = place {
            add(format!("({place})"));
        }
        label
    }
}

/// The sentences about each kind of group, with their names.
const SENTENCES: &str = include_str!("ladder.txt");

/// What the numbers of a group mean; its order is that of the ladder.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Meaning {
    kind: u8,
    by: By,
    pub title: String,
    /// What a number means, in a sentence.
    pub sentence: String,
    /// Whether the numbers are costs in batches.
    pub batched: bool,
}

/// What groups of one kind are sorted by.
type By =
    (Option<(Ack, AckSize)>, Option<(Rate, Arrivals)>, u32, Option<u32>, Option<u32>, Option<u64>);

impl Meaning {
    /// The group of a case.
    pub fn of(case: &Case, family: Family, shape: Option<Shape>) -> Self {
        let bytes_each = case.payload_bytes.unwrap_or(0);
        let of_any_size = |kind, name, title: &str| (kind, name, 0, title.to_owned());
        let (kind, name, payload_bytes, title) = match (case.workload, family) {
            (Workload::Call, Family::Batch) => of_any_size(0, "calls", "one call"),
            (Workload::Call, Family::Each) => of_any_size(1, "call", "one call, each timed"),
            (Workload::Roundtrip, Family::Batch) => {
                of_any_size(2, "roundtrips", "round trip, spinning, in batches")
            }
            (Workload::Wake, _) => {
                let gap = exact_duration(case.gap_ns.unwrap_or(0));
                of_any_size(5, "wake", &format!("one-way wake-up after a gap of {gap}"))
            }
            (Workload::Load, _) => {
                let (rate, size) = (case.rate.unwrap_or_default().brief(), bytes(bytes_each));
                let arrivals = case.arrivals;
                let title =
                    format!("load of {rate} messages of {size} a second, {arrivals} arrivals");
                (6, "load", bytes_each, title)
            }
            (Workload::Stream, _) => (
                7,
                if is_acknowledged(case) { "acknowledged" } else { "stream" },
                bytes_each,
                stream(case, bytes_each),
            ),
            (other, _) if other != Workload::Roundtrip => {
                of_any_size(8, "", &format!("one {}", other.spec().operation))
            }
            _ if bytes_each == 0 && shape != Some(Shape::Channel) => {
                of_any_size(3, "notification", "round trip, bare notification")
            }
            _ if bytes_each == 0 => of_any_size(4, "roundtrip", "round trip, empty messages"),
            _ => {
                let title = format!("round trip, {} each way", bytes(bytes_each));
                (4, "roundtrip", bytes_each, title)
            }
        };
        let mut sentences = SENTENCES.lines().filter_map(|line| line.split_once(": "));
        let sentence = match sentences.find(|(known, _)| *known == name) {
            Some((_, sentence)) => sentence.replace("BYTES", &bytes(payload_bytes)),
            None => format!("Duration of one {}.", case.workload.spec().operation),
        };
        let ack = case.ack.map(|ack| (ack, case.ack_size));
        let rate = case.rate.map(|rate| (rate, case.arrivals));
        let by = (ack, rate, payload_bytes, case.fields, case.flows, case.gap_ns);
        let batched = matches!(name, "calls" | "roundtrips" | "stream");
        Self { kind, by, title, sentence, batched }
    }
}

fn is_acknowledged(case: &Case) -> bool {
    case.ack.is_some_and(|ack| ack != Ack::None)
}

fn stream(case: &Case, bytes_each: u32) -> String {
    let fields = case.fields.unwrap_or(1).max(1);
    let acknowledged = match case.ack {
        None | Some(Ack::None) => "not acknowledged".to_owned(),
        Some(Ack::PerMessage) => "acknowledged per message".to_owned(),
        Some(Ack::Window(messages)) => format!("up to {messages} messages not yet acknowledged"),
    };
    format!(
        "stream of {fields} x {} B, {}, {acknowledged}{}",
        bytes_each / fields,
        format::count(case.flows.unwrap_or(1) as usize, "flow"),
        if case.ack_size == AckSize::Field { " with a field" } else { "" }
    )
}

#[cfg(test)]
mod tests {
    use crate::ranking::LadderGroup;
    use crate::testing::{Builder, CALL, read};

    const ONE: &str = "&boundary=process&place=same-cpu&wait=block";
    const TWO: &str = "&boundary=process&place=same-llc&wait=block";
    fn id(head: &str, tail: &str) -> String {
        format!("roundtrip/{head}{tail}")
    }
    fn labels(group: &LadderGroup) -> Vec<&str> {
        group.rows.iter().map(|row| row.label.as_str()).collect()
    }

    #[test]
    fn groups_come_in_the_order_of_meaning() {
        let raw = Builder::new()
            .case(&id("pipe?payload=4096", ONE), 6, |_, t| t.each(&[5000; 50]))
            .case(&id("pipe?payload=64", ONE), 6, |_, t| t.each(&[3000; 50]))
            .case(&id("futex?payload=0", ONE), 6, |_, t| t.each(&[2000; 50]))
            .case(&id("futex?payload=64", ONE), 6, |_, t| t.each(&[2100; 50]))
            .case(CALL, 6, |_, t| t.batch(10, &[1000; 50]))
            .case(
                "roundtrip/flag?payload=0&boundary=process&place=same-llc&wait=spin",
                6,
                |_, t| t.batch(10, &[3000; 50]),
            )
            .build();
        let ladder = read(&raw).ladder;
        let titles: Vec<&str> = ladder.iter().map(|group| group.title.as_str()).collect();
        assert_eq!(
            titles,
            [
                "one call",
                "round trip, spinning, in batches",
                "round trip, bare notification",
                "round trip, 64 bytes each way",
                "round trip, 4 KiB each way",
            ]
        );
        assert_eq!(labels(&ladder[3]), ["futex", "pipe"]);
        assert!(ladder[1].batched && !ladder[2].batched);
        assert_eq!(ladder[1].rows[0].results[1], Some(5));
    }

    #[test]
    fn placements_share_a_row_and_the_missing_come_last() {
        let raw = Builder::new()
            .skipped(&id("tcp?payload=64", ONE), "no network")
            .case(&id("pipe?payload=64", TWO), 6, |_, t| t.each(&[60_000; 50]))
            .case(&id("pipe?payload=64", ONE), 6, |_, t| t.each(&[3000; 50]))
            .case(&id("udp?payload=64", TWO), 6, |_, t| t.each(&[4000; 50]))
            .build();
        let group = &read(&raw).ladder[0];
        assert_eq!(labels(group), ["pipe", "udp", "tcp"], "by the cost on one CPU");
        assert_eq!(group.rows[0].results, [Some(2), Some(1), None, None]);
        assert_eq!(group.rows[2].results[0], Some(0));
    }

    #[test]
    fn labels_say_what_differs() {
        // The heading also states what is unusual of a case alone in its group.
        let (on, off) = ("tcp?payload=64&nodelay=on", "tcp?payload=64&nodelay=off");
        for (cases, expected) in [
            (&[on, off, "pipe?payload=64"][..], &["tcp nodelay=on", "tcp nodelay=off", "pipe"][..]),
            (&[on], &["tcp"]),
            (&[off], &["tcp nodelay=off"]),
        ] {
            let builder = (3..).zip(cases).fold(Builder::new(), |builder, (us, case)| {
                builder.case(&id(case, ONE), 6, move |_, t| t.each(&[1000 * us; 50]))
            });
            assert_eq!(labels(&builder.read().ladder[0]), expected);
        }
    }
}
