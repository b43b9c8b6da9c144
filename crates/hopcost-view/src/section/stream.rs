//! Streams: throughput, latency and what they cost, by field size and flows.

use hopcost_model::case::Workload;
use hopcost_model::group::grouped;
use hopcost_model::results::{Results, Statistic, StreamResult};

use super::answer::stalled;
use super::model::{
    Block, Cell, Medium, Rows, Scale, Section, Unit, Value, estimates, numbers, verdicts, words,
};
use super::words::{Of, both, cases_of, setting, uncounted};
use crate::number;

const RATE: Scale = Scale::Power(0);

type Stream<'a> = Of<'a, &'a StreamResult>;

pub(super) fn section(results: &Results, _: Medium) -> Option<Section> {
    let cases = cases_of(results, Workload::Stream);
    let measured = Stream::measured(cases.iter().copied(), |case| case.stream.as_ref());
    let mut groups = grouped(measured, title);
    // Stable: sizes from small to large, whatever the order of the plan.
    groups.sort_by_key(|(_, rows)| rows.first().map(|row| row.with.field_bytes));
    let tables = groups.into_iter().flat_map(|(title, rows)| [Block::Heading(title), table(rows)]);
    let all = cases.iter().map(|(_, case)| *case);
    Section::of("streams", tables.chain(uncounted(all)))
}

/// `8 fields of 256 B (2 KiB a message), ack per-message, process, free, block`
fn title(row: &Stream<'_>) -> String {
    let stream = row.with;
    let fields = if stream.fields == 1 { "field" } else { "fields" };
    let (field, message) = (number::bytes(stream.field_bytes), number::bytes(stream.message_bytes));
    let size = format!("{} {fields} of {field} ({message} a message)", stream.fields);
    let setting = setting(row.case).join(", ");
    format!("{size}, ack {}, {setting}; throughput in Gbit/s", stream.ack)
}

fn table(mut rows: Vec<Stream<'_>>) -> Block {
    // Stable: what has one number of flows keeps the order of the plan.
    rows.sort_by_key(|row| row.with.flows);
    let switches = |row: &Stream<'_>| match both(row.case, "context-switches", Unit::Count) {
        Cell { value: Value::Empty, .. } => {
            Cell::maybe(row.case.switches_per_operation, Unit::Count)
        }
        counted => counted,
    };
    let (aggregate, flow) = (estimates("aggregate"), numbers("per flow").fold(3));
    Rows::of(&rows)
        .column(numbers("flows"), |r| Cell::number(r.with.flows, Unit::Whole).of(r.index))
        .column(words("path"), |r| Cell::text(&r.with.label))
        // Early: a page may be too narrow for all columns.
        .column(verdicts(), Stream::grade)
        .column(aggregate.unit("Gbit/s"), |r| Cell::estimate(r.with.aggregate_gbps.as_ref(), RATE))
        .column(flow.unit("Gbit/s"), |r| Cell::point(r.with.per_flow_gbps.as_ref(), RATE))
        .column(estimates("latency p50"), |r| r.estimate(Statistic::P50, Scale::Time))
        .column(numbers("mean").fold(2), |r| r.point(Statistic::Mean, Scale::Time))
        .column(numbers("p99").fold(1), |r| r.point(Statistic::P99, Scale::Time))
        .column(numbers("stalled").fold(3), |r| Cell::maybe(stalled(r.case), Unit::Share))
        .column(numbers("CPU time").fold(8), |r| both(r.case, "cpu-ns", Unit::Time(2)))
        .column(numbers("switches").fold(7), switches)
        .column(numbers("system calls").fold(6), |r| both(r.case, "system-calls", Unit::Count))
        .column(numbers("copied").fold(5), |r| Cell::maybe(r.with.copied_share, Unit::Share))
        .column(numbers("messages").fold(5), |r| Cell::whole(r.case.operations))
        .column(numbers("n").fold(4), Stream::trials)
        .table()
}
