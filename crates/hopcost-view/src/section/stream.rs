//! Streams: throughput, latency and what they cost, by field size and flows.

use hopcost_model::case::Workload;
use hopcost_model::results::{CaseResult, Results, Statistic, Status, StreamResult};

use super::model::{Block, Cell, Column, Rows, Scale, Section, Unit, Value};
use super::words::{both, estimated, grouped, missing, setting, trials, uncounted};
use crate::number;

const LEAD: &str = "Aggregate: all flows together, from the first byte of any to the last byte of \
    any, by the receivers' clock; gigabits are 10⁹ bits of message. Latency: from the sender's \
    first call for a message to its acknowledgement, by the sender's clock. CPU time, context \
    switches and system calls are per message, of the sending + the receiving end, or of both \
    together where there is one number.";

type Stream<'a> = (usize, &'a CaseResult, &'a StreamResult);

pub(super) fn section(results: &Results) -> Option<Section> {
    let cases = results.results.iter().enumerate();
    let cases: Vec<(usize, &CaseResult)> =
        cases.filter(|(_, case)| case.case.workload == Workload::Stream).collect();
    if cases.is_empty() {
        return None;
    }
    let measured: Vec<Stream<'_>> = cases
        .iter()
        .filter(|(_, case)| case.status == Status::Measured)
        .filter_map(|(index, case)| Some((*index, *case, case.stream.as_ref()?)))
        .collect();
    let mut groups = grouped(measured, |(_, case, stream)| title(case, stream));
    // Stable: sizes from small to large, whatever the order of the plan.
    groups.sort_by_key(|(_, rows)| rows.first().map(|(_, _, stream)| stream.field_bytes));
    let tables = groups.into_iter().flat_map(|(title, rows)| [Block::Heading(title), table(rows)]);
    let all = || cases.iter().map(|(_, case)| *case);
    let section = Section::new("streams", "Streams", LEAD).with(tables);
    Some(section.with(uncounted(all())).with(missing(all())))
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

fn table(mut rows: Vec<Stream<'_>>) -> Block {
    // Stable: what has one number of flows keeps the order of the plan.
    rows.sort_by_key(|(_, _, stream)| stream.flows);
    let rate = Scale::Power(0);
    Rows::of(&rows)
        .column(Column::number("flows"), |(index, _, stream)| {
            Cell::number(stream.flows, Unit::Whole).of(*index)
        })
        .column(Column::words("path"), |(.., stream)| Cell::text(stream.label.clone()))
        // Early: a page may be too narrow for all columns.
        .column(Column::words("valid?"), |(_, case, _)| Cell::grade(case.validity))
        .column(Column::estimate("aggregate").unit("Gbit/s"), |(.., stream)| {
            Cell::estimate(stream.aggregate_gbps.as_ref(), rate.clone())
        })
        .column(Column::number("per flow").unit("Gbit/s").fold(3), |(.., stream)| {
            Cell::point(stream.per_flow_gbps.as_ref(), rate.clone())
        })
        .column(Column::estimate("latency p50"), |(_, case, _)| {
            Cell::estimate(estimated(case, Statistic::P50), Scale::Time)
        })
        .column(Column::number("mean").fold(2), |(_, case, _)| {
            Cell::point(estimated(case, Statistic::Mean), Scale::Time)
        })
        .column(Column::number("p99").fold(1), |(_, case, _)| {
            Cell::point(estimated(case, Statistic::P99), Scale::Time)
        })
        .column(Column::number("CPU time").fold(8), |(_, case, _)| {
            both(case, "cpu-ns", Unit::Time(2))
        })
        .column(Column::number("switches").fold(7), |(_, case, _)| {
            match both(case, "context-switches", Unit::Count) {
                Cell { value: Value::Empty, .. } => {
                    Cell::maybe(case.switches_per_operation, Unit::Count)
                }
                counted => counted,
            }
        })
        .column(Column::number("system calls").fold(6), |(_, case, _)| {
            both(case, "system-calls", Unit::Count)
        })
        .column(Column::number("copied").fold(5), |(.., stream)| {
            Cell::maybe(stream.copied_share, Unit::Share)
        })
        .column(Column::number("messages").fold(5), |(_, case, _)| Cell::whole(case.operations))
        .column(Column::number("n").fold(4), |(_, case, _)| trials(case))
        .table()
}
