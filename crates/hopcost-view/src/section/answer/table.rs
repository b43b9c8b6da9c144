//! Entries as tables: a column for each place, or for each value of what was swept.

use hopcost_model::group::{distinct, grouped};
use hopcost_read::results::{CaseResult, Estimate, LadderGroup, RankedBy, Ratio, Statistic};

use super::entry::{Entry, ends, usual};
use super::know::Doubts;
use crate::names::{Place, capitalised};
use crate::number;
use crate::section::model::{Block, Cell, Column, Interval, Part, Rows, Scale, numbers, words};
use crate::section::words::rates_at_levels;

/// Columns up to which all places stand in one table.
const COLUMNS_MAX: usize = 6;

/// A row: what spins, its flows, its name, and its entries.
type Row<'a> = ((bool, Option<u32>, String), Vec<&'a Entry<'a>>);

/// Entries by their row, in their order; what spins stands last.
fn rows<'a>(entries: &'a [Entry<'a>]) -> Vec<Row<'a>> {
    let key = |entry: &&Entry| (entry.row.spins, entry.flows, short(&entry.name));
    let mut rows = grouped(entries, key);
    rows.sort_by_key(|((spins, flows, _), _)| (*spins, *flows));
    rows
}

/// A name as tables have it.
pub(super) fn short(name: &str) -> String {
    name.replace(" (threads)", " (t)").replace(" (processes)", " (p)")
}

/// The first columns of a row.
fn names(rows: &[Row<'_>]) -> impl Fn(&Row<'_>) -> Vec<Part> {
    let flows = rows.iter().any(|((_, flows, _), _)| *flows != rows[0].0.1);
    move |((_, of, name), _)| {
        let flows = of.filter(|_| flows).map(|of| Cell::whole(of.into()));
        let flows = flows.map(|cell| (numbers("flows"), cell));
        std::iter::once((words(""), Cell::text(name.as_str()))).chain(flows).collect()
    }
}

/// The title of a group, with what most of its rows stand between.
pub(super) fn titled(group: &LadderGroup) -> String {
    let ends = ends(usual(&group.rows));
    capitalised(&format!("{}{ends}", group.title))
}

/// The entries of a group, a column for each place: rank and value, and of the `whole` the multiple, a
/// bar and the CPU time too.
pub(super) fn placed(entries: &[Entry<'_>], whole: bool, doubts: &Doubts) -> Block {
    let rows = rows(entries);
    let has = |place: &Place| entries.iter().any(|entry| entry.place == *place);
    let places: Vec<Place> = Place::ALL.into_iter().filter(has).collect();
    let head = if entries.iter().all(|entry| entry.group.batched) { "cost ±" } else { "p50 ±" };
    let more = |cell: Cell| if whole { cell } else { Cell::none() };
    let value = |(_, of): &Row<'_>, place: &Place| {
        let over = |column: Column| column.over(place.name());
        let Some(entry) = of.iter().find(|entry| entry.place == *place) else { return Vec::new() };
        let of_place = || entries.iter().filter(|other| other.place == *place);
        let rank = if whole { "rank" } else { "" };
        let stream = entry.case.stream.as_ref();
        let rate = stream.and_then(|stream| stream.aggregate_gbps.as_ref());
        let estimates = entry.case.estimates.as_ref();
        let per_trip = estimates.and_then(|of| of.get(Statistic::PerTrip));
        let cpu = entry.case.cpu_ns_per_message.filter(|_| places.last() == Some(place));
        let is_first = places.first() == Some(place);
        let own = value(entry, Scale::Time, doubts);
        let own = if whole { own } else { own.raw() };
        vec![
            (over(numbers(rank).fold(1)), rank_cell(entry, of_place())),
            (over(numbers(head)), own),
            (over(numbers("per trip").fold(1)), Cell::brief(per_trip, Scale::Time)),
            (over(numbers(&base(of_place())).fold(3)), more(multiple(entry))),
            (over(words("").fold(5)), if is_first { more(bar(entry)) } else { Cell::none() }),
            (over(numbers("Gbit/s").fold(1)), throughput(entry.case, rate)),
            (over(numbers("CPU/msg").fold(4)), more(Cell::sorted(cpu, |ns| number::time(ns, 2)))),
        ]
    };
    let named = Rows::of(&rows).parts(names(&rows));
    places.iter().fold(named, |table, place| table.parts(|row| value(row, place))).brief()
}

/// The mark of a row whose ends keep a CPU busy while they wait.
pub(super) const SPINS: &str = "*";

/// The rank of an entry, or the mark of what spins; digits stand below digits.
fn rank_cell<'e, 'r: 'e>(entry: &Entry, beside: impl Iterator<Item = &'e Entry<'r>>) -> Cell {
    let is_any_marked = beside.filter_map(|of| of.rank).any(|rank| rank.overlaps);
    let gap = |rank: &str| if is_any_marked && !rank.ends_with('~') { " " } else { "" };
    let cell = |rank: String, number: u32| {
        let gap = gap(&rank);
        Cell::worded(format!("{rank}{gap}"), f64::from(number))
    };
    match entry.rank {
        Some(rank) => cell(rank.to_string(), rank.number),
        None if entry.row.spins => cell(SPINS.to_owned(), u32::MAX),
        None => Cell::none(),
    }
}

/// The number of an entry with its interval, or its two levels.
fn value(entry: &Entry, scale: Scale, doubts: &Doubts) -> Cell {
    let cell = Cell::at_levels(entry.levels, Some(&entry.estimate), scale, Interval::Percent);
    cell.marked(doubts.mark(entry.case)).of(entry.index)
}

fn throughput(case: &CaseResult, rate: Option<&Estimate>) -> Cell {
    let levels = rate.and_then(|rate| rates_at_levels(case, rate));
    Cell::at_levels(levels, rate, Scale::Power(0), Interval::Relative)
}

/// Whether an entry is what multiples refer to.
pub(super) fn is_base(entry: &Entry) -> bool {
    entry.ratio.is_some_and(|ratio| ratio.baseline == entry.case.id)
}

/// `× pipe`
fn base<'e, 'r: 'e>(mut entries: impl Iterator<Item = &'e Entry<'r>>) -> String {
    let base = entries.find(|entry| is_base(entry));
    format!("× {}", base.map_or("", |base| &base.name)).trim_end().to_owned()
}

/// What has an interval: without one, a median of a few ratios may contradict the values. One of a
/// case with two levels is of no trial.
fn told<'a>(entry: &Entry<'a>) -> Option<&'a Ratio> {
    entry.ratio.filter(|ratio| ratio.low.is_some() && entry.levels.is_none())
}

fn multiple(entry: &Entry) -> Cell {
    let written = |ratio: &Ratio| number::ratio(ratio).value.replace('×', "");
    match told(entry) {
        _ if is_base(entry) => Cell::text("base"),
        Some(ratio) => Cell::worded(written(ratio), ratio.point),
        None => Cell::none(),
    }
}

/// Characters of a bar for each multiple of the baseline, and at most.
const BAR_UNIT: f64 = 3.0;
const BAR_MAX: usize = 8;

/// A bar as long as a multiple, to an eighth of a character; an arrow where it is clipped.
fn bar(entry: &Entry) -> Cell {
    let Some(ratio) = told(entry) else { return Cell::none() };
    let eighths = (ratio.point * BAR_UNIT * 8.0).round().max(1.0) as usize;
    if eighths > BAR_MAX * 8 {
        return Cell::text(format!("{}▶", "█".repeat(BAR_MAX - 1)));
    }
    let part = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"][eighths % 8];
    Cell::text(format!("{}{part}", "█".repeat(eighths / 8)))
}

/// Calls and other rows of one place, with what they are as the heading of their names.
pub(super) fn listed(title: &str, entries: &[Entry<'_>], doubts: &Doubts) -> Block {
    Rows::of(entries)
        .column(words(title), |entry| Cell::text(short(&entry.name)))
        .column(numbers(""), |entry| rank_cell(entry, entries.iter()))
        .column(numbers("cost ±"), |entry| value(entry, Scale::Time, doubts).raw())
        .brief()
}

/// What was swept, a column for each value: one table, or one a place where that would be too wide.
pub(super) fn swept(entries: &[Entry<'_>], by: RankedBy, doubts: &Doubts) -> Vec<Block> {
    let usual = usual(entries.iter().flat_map(|entry| &entry.group.rows));
    let columns = distinct(entries.iter().map(|entry| (entry.place as u8, &entry.column)));
    let mut parts = vec![entries.to_vec()];
    if columns.len() > COLUMNS_MAX {
        let places = grouped(entries, |entry| entry.place as u8).into_iter();
        parts = places.map(|(_, of)| of.into_iter().cloned().collect()).collect();
    }
    let mut blocks = Vec::new();
    for entries in parts.iter().filter(|entries| !entries.is_empty()) {
        let (scale, unit) = written(entries, by);
        let unit = unit.map_or(String::new(), |unit| format!(", in {unit}"));
        let places = distinct(entries.iter().map(|entry| entry.place.name()));
        let place = match places.as_slice() {
            [only] => format!(", {only}"),
            _ => String::new(),
        };
        let case = entries[0].case;
        let place = match case.case.placement {
            Some(_) => format!("{}{place}", ends(usual)),
            None => String::new(),
        };
        let title = format!("{}{place}{unit}", what(case, by));
        blocks.push(Block::Heading(title));
        blocks.push(crossed(entries, scale, places.len() > 1, doubts));
    }
    blocks
}

fn crossed(entries: &[Entry<'_>], scale: Scale, over: bool, doubts: &Doubts) -> Block {
    let rows = rows(entries);
    let key = |entry: &Entry| (entry.place as u8, entry.column.clone());
    let mut columns = distinct(entries.iter().map(key));
    columns.sort();
    let value = |(_, of): &Row<'_>, column: &(u8, (u64, String))| {
        let Some(entry) = of.iter().find(|entry| key(entry) == *column) else { return Vec::new() };
        let (place, value) = (entry.place.name(), &column.1.1);
        let head = if over { format!("{place}, {value}") } else { value.clone() };
        let beside = entries.iter().filter(|other| key(other) == *column);
        vec![
            (numbers("").over(&head).fold(1), rank_cell(entry, beside)),
            (numbers("").over(&head), self::value(entry, scale, doubts)),
        ]
    };
    let named = Rows::of(&rows).parts(names(&rows));
    columns.iter().fold(named, |table, column| table.parts(|row| value(row, column))).brief()
}

/// What the numbers are.
fn what(case: &CaseResult, by: RankedBy) -> String {
    match (&case.stream, by) {
        (Some(stream), RankedBy::Throughput) => {
            format!("Throughput of all flows, ack {}", stream.ack)
        }
        (Some(stream), RankedBy::Time) => format!("Time of a message, p50, ack {}", stream.ack),
        _ if case.wake.is_some() => "One-way wake-up after a gap, p50".to_owned(),
        _ if case.case.placement.is_none() => "One call, by size".to_owned(),
        _ => "Round trip, p50".to_owned(),
    }
}

/// How the numbers of a table are written: in one unit, that of their median, unless they are more
/// than a thousandfold apart.
fn written(entries: &[Entry<'_>], by: RankedBy) -> (Scale, Option<&'static str>) {
    if by == RankedBy::Throughput {
        return (Scale::Power(0), Some("Gbit/s"));
    }
    let mut points: Vec<f64> = entries.iter().filter_map(|entry| entry.estimate.point).collect();
    points.sort_by(f64::total_cmp);
    let (least, most) = (points[0], points[points.len() - 1]);
    if most > 1e3 * least {
        return (Scale::Time, None);
    }
    match points[points.len() / 2] {
        ns if ns < 500.0 => (Scale::Power(0), Some("ns")),
        ns if ns < 5e5 => (Scale::Power(3), Some("µs")),
        _ => (Scale::Power(6), Some("ms")),
    }
}
