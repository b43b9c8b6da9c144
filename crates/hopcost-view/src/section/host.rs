//! The host's fingerprint, what changed, and the clocks.

use hopcost_model::protocol::ClockReading;
use hopcost_model::results::Results;

use super::model::{Block, Cell, Column, Rows, Section, Tone, Unit, Value};
use super::words::grouped;
use crate::names::count;

const STAMPS: &str =
    "The cost of one stamp is part of every stamped sample; it is never subtracted.";

pub(super) fn section(results: &Results) -> Section {
    let changed = match (results.host_changes.is_empty(), results.plan.complete) {
        (false, _) => changes(results),
        (true, true) => Block::Text(Tone::Plain, "Nothing that was read.".to_owned()),
        (true, false) => Block::Text(Tone::Plain, "Unknown: the run was cut off.".to_owned()),
    };
    let mut blocks = vec![
        Block::Heading("Clocks".to_owned()),
        Block::Text(Tone::Plain, STAMPS.to_owned()),
        clocks(&results.clocks),
        Block::Heading("Changed during the run".to_owned()),
        changed,
    ];
    // A part may come back, and is then joined.
    let readings = results.host.readings.iter().collect();
    for (part, readings) in grouped(readings, |reading| reading.section.as_str()) {
        blocks.push(Block::Heading(format!("Before the run: {part}")));
        let fact = |reading: &hopcost_model::host::Reading| {
            let why = reading.reason.as_deref().unwrap_or("no reason was stored");
            let missing = || Cell::text(format!("not available: {why}"));
            (reading.key.clone(), reading.value.clone().map_or_else(missing, Cell::text))
        };
        blocks.push(Block::Facts(readings.into_iter().map(fact).collect()));
    }
    Section { id: "host", title: "Host and clocks".to_owned(), blocks }
}

fn clocks(clocks: &[ClockReading]) -> Block {
    let several = clocks.iter().any(|clock| clock.runtime != clocks[0].runtime);
    let cost = |clock: &ClockReading, ns| match clock.knows_its_cost() {
        true => Cell::number(ns, Unit::Time(3)),
        false => Cell::text("not known"),
    };
    let number = |text: String, key| Cell::from(Value::Sorted(text, key));
    Rows::of(clocks)
        .column(Column::words("CPU"), |clock| Cell::text(format!("CPU {}", clock.cpu)))
        .column_if(several, Column::words("runtime"), |clock| Cell::text(clock.runtime.clone()))
        .column(Column::words("source"), |clock| Cell::text(clock.source.clone()))
        .column(Column::number("rate"), |clock| {
            let rate = clock.ticks_per_second;
            number(format!("{:.3} MHz", rate / 1e6), rate)
        })
        .column(Column::number("rate spread"), |clock| {
            number(format!("{:.1} ppm", clock.rate_spread_ppm), clock.rate_spread_ppm)
        })
        .column(Column::number("resolution"), |clock| {
            let ticks = clock.resolution_ticks;
            number(count(ticks as usize, "tick", "ticks"), ticks as f64)
        })
        .column(Column::number("stamp, least"), |clock| cost(clock, clock.stamp_min_ns))
        .column(Column::number("p50"), |clock| cost(clock, clock.stamp_p50_ns))
        .column(Column::number("p99"), |clock| cost(clock, clock.stamp_p99_ns))
        .column(Column::number("clock_gettime, p50"), |clock| {
            cost(clock, clock.clock_gettime_p50_ns)
        })
        .table()
}

fn changes(results: &Results) -> Block {
    let text = |value: &Option<String>| match value {
        Some(value) => Cell::text(value.clone()),
        None => Cell::text("not readable"),
    };
    Rows::of(&results.host_changes)
        .column(Column::words("reading"), |change| Cell::code(change.key.clone()))
        .column(Column::words("before"), |change| text(&change.before))
        .column(Column::words("after"), |change| text(&change.after))
        .table()
}
