//! The host's fingerprint, what changed, and the clocks.

use hopcost_model::group::grouped;
use hopcost_model::host::Reading;
use hopcost_model::protocol::ClockReading;
use hopcost_model::results::Results;

use super::model::{Block, Cell, Medium, Rows, Section, Unit, facts, numbers, says, words};

pub(super) fn section(results: &Results, _: Medium) -> Option<Section> {
    let changed = match (results.host_changes.is_empty(), results.plan.complete) {
        (false, _) => changes(results),
        (true, true) => says("Nothing that was read."),
        (true, false) => says("Unknown: the run was cut off."),
    };
    let clock = Block::Heading("Clocks".to_owned());
    let change = Block::Heading("Changed during the run".to_owned());
    let mut blocks = vec![clock, clocks(&results.clocks), change, changed];
    // A part may come back, and is then joined.
    for (part, readings) in grouped(&results.host.readings, |reading| reading.section.as_str()) {
        blocks.push(Block::Heading(format!("Before the run: {part}")));
        let value = |reading: &Reading| match (&reading.value, &reading.reason) {
            (Some(value), _) => Cell::text(value),
            (None, Some(why)) => Cell::text(format!("not available: {why}")),
            (None, None) => Cell::text("not available: no reason was stored"),
        };
        blocks.push(facts(readings.into_iter().map(|r: &Reading| (r.key.as_str(), value(r)))));
    }
    Section::of("host", blocks)
}

fn clocks(clocks: &[ClockReading]) -> Block {
    let several = clocks.iter().any(|clock| clock.runtime != clocks[0].runtime);
    let cost = |clock: &ClockReading, ns| match clock.knows_its_cost() {
        true => Cell::number(ns, Unit::Time(3)),
        false => Cell::text("not known"),
    };
    Rows::of(clocks)
        .column(words("CPU"), |clock| Cell::text(format!("CPU {}", clock.cpu)))
        .column_if(several, words("runtime"), |clock| Cell::text(clock.runtime.clone()))
        .column(words("source"), |clock| Cell::text(clock.source.clone()))
        .column(numbers("rate"), |clock| {
            Cell::sorted(Some(clock.ticks_per_second), |rate| format!("{:.3} MHz", rate / 1e6))
        })
        .column(numbers("a stamp, p50"), |clock| cost(clock, clock.stamp_p50_ns))
        .column(numbers("clock_gettime, p50"), |clock| cost(clock, clock.clock_gettime_p50_ns))
        .table()
}

fn changes(results: &Results) -> Block {
    let text = |value: &Option<String>| match value {
        Some(value) => Cell::text(value.clone()),
        None => Cell::text("not readable"),
    };
    Rows::of(&results.host_changes)
        .column(words("reading"), |change| Cell::code(change.key.clone()))
        .column(words("before"), |change| text(&change.before))
        .column(words("after"), |change| text(&change.after))
        .table()
}
