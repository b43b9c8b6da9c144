//! What may be compared with each other, a table for each, the cheapest first: every number of a
//! case.

use hopcost_model::group::distinct;
use hopcost_model::{Validity, Workload};
use hopcost_read::results::{CaseResult, LadderGroup, LadderRow, Results, Statistic, Status};

use super::answer::stalled;
use super::model::{
    Block, Cell, Interval, Rows, Scale, Section, Unit, estimates, numbers, repeated, says, words,
};
use super::words::{both, estimated, uncounted};
use crate::names::{Place, all_of, capitalised, headline, row_label};

/// A row with its place, the index of its case there, and the case.
type Line<'a> = (&'a LadderRow, Place, usize, &'a CaseResult);

/// What of a case stands elsewhere in its row, or in its details.
const ELSEWHERE: &str = "id case status reason stamp ratio levels validity replay p50_ticks";
/// The event that a column of its own has.
const SWITCHES: &str = "context-switches";
/// What of a stream the title of its table says.
const OF_STREAM: &str = "label message_bytes field_bytes fields flows ack window aggregate_gbps";

/// The groups whose cases are of these workloads.
pub(super) fn section(id: &'static str, of: &[Workload], results: &Results) -> Option<Section> {
    let (mut blocks, mut cases, mut meaning) = (Vec::new(), Vec::new(), "");
    for group in &results.ladder {
        let lines: Vec<Line> = all_of(group, results).collect();
        let is_own = |(.., case): &Line| of.contains(&case.case.workload);
        if !lines.first().is_some_and(is_own) {
            continue;
        }
        cases.extend(lines.iter().map(|(.., case)| *case));
        blocks.push(Block::Heading(capitalised(&group.title)));
        blocks.extend((group.meaning != meaning).then(|| says(&group.meaning)));
        blocks.push(table(group, lines, results));
        meaning = &group.meaning;
    }
    Section::of(id, blocks.into_iter().chain(uncounted(cases)))
}

/// Those that were measured: another section has the others, and why.
fn table(group: &LadderGroup, mut lines: Vec<Line<'_>>, results: &Results) -> Block {
    lines.retain(|(.., case)| case.status == Status::Measured);
    let headlines = [Statistic::Cost, Statistic::P50];
    let others = Statistic::ALL.iter().filter(|of| !headlines.contains(of));
    let counters = lines.iter().flat_map(|(.., case)| &case.counters);
    let events = distinct(counters.map(|counter| counter.event.as_str())).into_iter();
    let doubt = |validity: &Validity| *validity != Validity::Valid;
    let mut rows = named(&lines, results)
        .column(estimates(if group.batched { "cost" } else { "p50" }), first)
        .column(words("doubt"), |(.., case)| Cell::validity(case.validity.filter(doubt)))
        .column(estimates("aggregate").fold(3), |(.., case)| {
            let gbps = case.stream.as_ref().and_then(|of| of.aggregate_gbps.as_ref());
            Cell::estimate(gbps, Scale::Named("Gbit/s"))
        })
        .column(estimates("multiple").fold(5), |(.., case)| {
            Cell::ratio(case.ratio.as_ref(), &case.id, Interval::Told)
        });
    for statistic in others {
        let head = statistic.label();
        rows = rows
            .column(estimates(head).fold(6), |(.., case)| {
                Cell::estimate(estimated(case, *statistic), Scale::Time)
            })
            .column(numbers(head).fold(7), |(.., case)| {
                let exact = case.estimates.as_ref().and_then(|of| of.exact(*statistic));
                Cell::maybe(exact, Unit::Time(3))
            });
    }
    rows = rows
        .fields("gap_asked_ns", |(.., case)| case.wake.as_ref())
        .column(words("path").fold(8), |(row, .., case)| {
            let label = case.stream.as_ref().map_or("", |stream| &stream.label);
            Cell::text(if row.label == label { "" } else { label })
        })
        .fields(OF_STREAM, |(.., case)| case.stream.as_ref())
        .column(numbers("stalled").fold(8), |(.., case)| Cell::maybe(stalled(case), Unit::Share))
        .fields("rate arrivals", |(.., case)| case.load.as_ref())
        .column(words("stamp").fold(8), |(.., case)| {
            Cell::text(case.stamp.map_or(String::new(), |stamp| stamp.to_string()))
        })
        .fields(ELSEWHERE, |(.., case)| Some(*case));
    for event in events.filter(|event| *event != SWITCHES) {
        rows = rows.column(numbers(event).fold(u8::MAX), |(.., case)| both(case, event));
    }
    rows.table()
}

/// What names a case among others of its group.
fn named<'l, 'a>(lines: &'l [Line<'a>], results: &'l Results) -> Rows<'l, Line<'a>> {
    let has_places = lines.iter().any(|(.., case)| case.case.workload.has_two_ends());
    Rows::of(lines)
        .column(repeated("mechanism"), |(row, _, index, _)| {
            Cell::text(row_label(row, results)).of(*index)
        })
        .column(repeated("boundary"), |(row, ..)| Cell::text(row.boundary.word()))
        .column(repeated("wait"), |(row, ..)| Cell::text(row.wait.as_deref().unwrap_or_default()))
        .column(words("placement"), |(_, place, _, case)| {
            let own = case.case.placement.map_or(place.name(), |placement| placement.word());
            Cell::text(if has_places { own } else { "" })
        })
}

/// The percentiles that are asked for, of each group whose operations were timed one by one.
pub(super) fn percentiles(results: &Results, asked: &[f64]) -> Vec<Block> {
    let mut blocks = Vec::new();
    for group in &results.ladder {
        let mut lines: Vec<Line> = all_of(group, results).collect();
        lines.retain(|(.., case)| !case.percentiles.is_empty());
        if lines.is_empty() {
            continue;
        }
        let columns = asked.iter().fold(named(&lines, results), |rows, &percent| {
            rows.column(estimates(&format!("p{percent}")), |(.., case)| {
                let found = case.percentiles.iter().find(|(of, _)| *of == percent);
                Cell::estimate(found.map(|(_, estimate)| estimate), Scale::Time)
            })
        });
        blocks.extend([Block::Heading(capitalised(&group.title)), columns.table()]);
    }
    if blocks.is_empty() {
        blocks.push(says("No case of this run has percentiles."));
    }
    blocks.push(says(
        "(intervals: 95 %; insufficient: the samples do not support it; costs in batches have none)",
    ));
    blocks
}

/// The number that a row is ranked by.
fn first((.., case): &Line<'_>) -> Cell {
    let estimate = headline(case).map(|(_, estimate)| estimate);
    Cell::at_levels(case.levels, estimate, Scale::Time, Interval::Told)
}
