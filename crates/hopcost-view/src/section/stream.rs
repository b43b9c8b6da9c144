//! Streams: throughput, latency and what they cost, by field size and flows.

use hopcost_model::case::Workload;
use hopcost_model::results::{CaseResult, Results, Statistic, Status, StreamResult};

use super::{Cell, Column, Part, Row, Section, counters, grouped, missing, setting, time, trials};
use crate::number::{self, DIGITS_MAX};

const LEAD: &str = "Aggregate: all flows together, from the first byte of any to the last byte of \
    any, by the receivers' clock; gigabits are 10⁹ bits of message. Latency: from the sender's \
    first call for a message to its acknowledgement, by the sender's clock. CPU time, context \
    switches and system calls are per message, of the sending + the receiving end, or of both \
    together where there is one number.";

type Measured<'a> = (usize, &'a CaseResult, &'a StreamResult);

pub(super) fn section(results: &Results) -> Option<Section> {
    let cases = results.results.iter().enumerate();
    let cases: Vec<(usize, &CaseResult)> =
        cases.filter(|(_, case)| case.case.workload == Workload::Stream).collect();
    if cases.is_empty() {
        return None;
    }
    let measured: Vec<Measured<'_>> = cases
        .iter()
        .filter(|(_, case)| case.status == Status::Measured)
        .filter_map(|(index, case)| Some((*index, *case, case.stream.as_ref()?)))
        .collect();
    let mut groups = grouped(measured, |(_, case, stream)| title(case, stream));
    // Stable: sizes from small to large, whatever the order of the plan.
    groups.sort_by_key(|(_, rows)| rows.first().map(|(_, _, stream)| stream.field_bytes));
    let mut parts: Vec<Part> = groups.into_iter().map(part).collect();
    let mut notes = counters::unavailable(cases.iter().map(|(_, case)| *case));
    notes.extend(missing(&cases));
    match parts.last_mut() {
        Some(last) => last.notes.extend(notes),
        None => parts.push(Part { notes, ..Part::default() }),
    }
    Some(Section { id: "streams", title: "Streams", lead: LEAD.to_owned(), parts })
}

/// `8 fields of 256 B (2 KiB a message), ack per-message, process, free, block`
fn title(case: &CaseResult, stream: &StreamResult) -> String {
    let fields = if stream.fields == 1 { "field" } else { "fields" };
    let (field, message) = (number::bytes(stream.field_bytes), number::bytes(stream.message_bytes));
    let mut words = vec![
        format!("{} {fields} of {field} ({message} a message)", stream.fields),
        format!("ack {}", stream.ack),
    ];
    words.extend(setting(case));
    format!("{}; throughput in Gbit/s", words.join(", "))
}

fn part((title, mut rows): (String, Vec<Measured<'_>>)) -> Part {
    // Stable: what has one number of flows keeps the order of the plan.
    rows.sort_by_key(|(_, _, stream)| stream.flows);
    let columns = vec![
        Column::number("flows"),
        Column::words("path"),
        // Early: a page may be too narrow for all columns.
        Column::words("valid?"),
        Column::of("aggregate [interval]", "Gbit/s"),
        Column::of("per flow", "Gbit/s").fold(3),
        Column::number("latency p50 [interval]"),
        Column::number("mean").fold(2),
        Column::number("p99").fold(1),
        Column::number("CPU time").fold(8),
        Column::number("switches").fold(7),
        Column::number("system calls").fold(6),
        Column::number("copied").fold(5),
        Column::number("messages").fold(5),
        Column::number("n").fold(4),
    ];
    let rows = rows.into_iter().map(row).collect();
    Part { title, columns, rows, ..Part::default() }
}

fn row((index, case, stream): Measured<'_>) -> Row {
    let estimates = case.estimates.as_ref();
    let p50 = estimates.and_then(|e| e.get(Statistic::P50));
    let p99 = estimates.and_then(|e| e.get(Statistic::P99));
    let rate = |estimate: &_| number::scaled(estimate, 0, DIGITS_MAX);
    let switches = match counters::both(case, "context-switches", counters::count) {
        Cell::Text(_) => Cell::maybe(case.switches_per_operation, counters::count),
        counted => counted,
    };
    let cells = vec![
        Cell::Number(stream.flows.to_string(), f64::from(stream.flows)),
        Cell::Text(stream.label.clone()),
        Cell::Validity(case.validity),
        Cell::estimate(stream.aggregate_gbps.as_ref(), rate),
        Cell::point(stream.per_flow_gbps.as_ref(), rate),
        Cell::estimate(p50, time),
        Cell::point(estimates.and_then(|e| e.get(Statistic::Mean)), time),
        Cell::point(p99, time),
        counters::both(case, "cpu-ns", |ns| number::rough(ns, number::UNICODE)),
        switches,
        counters::both(case, "system-calls", counters::count),
        Cell::maybe(stream.copied_share, number::share),
        Cell::Number(case.operations.to_string(), case.operations as f64),
        trials(case),
    ];
    Row { cells, case: Some(index) }
}
