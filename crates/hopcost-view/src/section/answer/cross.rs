//! Groups of the ladder that differ in one thing (the size, the gap, the flows), crossed
//! with their rows: one number a cell.

use hopcost_model::case::{Boundary, IdleKnob};
use hopcost_model::group::{distinct, grouped};
use hopcost_model::results::{
    CaseResult, Estimate, LadderGroup, LadderRow, RankedBy, RankedCase, Ranking, Results, Step,
};

use super::doubt::Doubts;
use super::order::{between, ends, first, name, ranking, sentence, usual};
use super::unit;
use crate::names::{Place, all_of, at, case_at, headline};
use crate::number;
use crate::section::model::{
    Block, Cell, Column, Form, Scale, Table, Unit, note, notes, numbers, words,
};

/// Columns up to which all places stand in one table.
const COLUMNS_MAX: usize = 6;
/// Columns up to which each has a ranking of its own.
const RANKINGS_MAX: usize = 6;

/// A case in its row and column.
struct Entry<'a> {
    row: (String, Option<u32>),
    place: Place,
    column: String,
    /// What columns are in order of.
    swept: u64,
    index: usize,
    case: &'a CaseResult,
    estimate: &'a Estimate,
}

/// One table, or one a place where that would be too wide.
pub(super) fn tables(
    groups: &[&LadderGroup],
    by: RankedBy,
    results: &Results,
    doubts: &Doubts,
) -> Vec<Block> {
    let usual = usual(groups.iter().flat_map(|group| &group.rows));
    let of_group = |group| entries(group, by, usual, results);
    let mut entries: Vec<Entry> = groups.iter().flat_map(|group| of_group(group)).collect();
    let all = entries.iter().map(|entry| entry.row.clone()).collect::<Vec<_>>();
    entries.retain(|entry| !is_alone(entry.case, &entry.row, &all));
    // Stable: rows keep the order of the ladder.
    entries.sort_by_key(|entry| (entry.place as u8, entry.swept));
    let columns = distinct(entries.iter().map(|entry| (entry.place as u8, entry.column.as_str())));
    let ends = ends(usual);
    let parts: Vec<Vec<&Entry>> = match columns.len() {
        n if n <= COLUMNS_MAX => vec![entries.iter().collect()],
        _ => grouped(&entries, |entry| entry.place as u8).into_iter().map(|(_, of)| of).collect(),
    };
    let mut blocks = Vec::new();
    for entries in parts.iter().filter(|entries| !entries.is_empty()) {
        let scale = Written::of(entries, by, results);
        let places = distinct(entries.iter().map(|entry| entry.place.name()));
        let place =
            if let [only] = places.as_slice() { format!(", {only}") } else { String::new() };
        let unit = scale.unit.map_or(String::new(), |unit| format!(", in {unit}"));
        let title = format!("{}{ends}{place}{unit}", what(entries[0].case, by));
        blocks.push(Block::Heading(title));
        blocks.push(table(entries, &scale, places.len() > 1, doubts));
        let places = distinct(entries.iter().map(|entry| entry.place));
        let rankings =
            places.iter().flat_map(|place| rankings(groups, *place, places.len() > 1, by, results));
        blocks.extend(notes(rankings));
    }
    if by == RankedBy::Time && groups.iter().any(|group| !group.rankings.is_empty()) {
        blocks.extend(knobs(groups, results));
    }
    blocks
}

/// Whether a stream was measured with one size alone: a row of a table that is all gaps.
fn is_alone(case: &CaseResult, row: &(String, Option<u32>), all: &[(String, Option<u32>)]) -> bool {
    case.stream.is_some() && all.iter().filter(|other| *other == row).count() == 1
}

/// The streams that were measured with one size alone, each group with those that were
/// measured with several.
pub(super) fn alone(groups: &[&LadderGroup], results: &Results, doubts: &Doubts) -> Vec<Block> {
    let rows = |group: &LadderGroup| entries(group, RankedBy::Time, None, results);
    let all: Vec<_> = groups.iter().flat_map(|group| rows(group)).map(|of| of.row).collect();
    let is_alone = |of: &&Entry| is_alone(of.case, &of.row, &all);
    let has = |group: &&LadderGroup| rows(group).iter().filter(is_alone).count() > 1;
    let groups = groups.iter().copied().filter(has);
    groups.flat_map(|group| super::group::table(group, &[], results, doubts)).collect()
}

/// The cases of a group, in the order of its rows.
fn entries<'a>(
    group: &LadderGroup,
    by: RankedBy,
    usual: Option<Boundary>,
    results: &'a Results,
) -> Vec<Entry<'a>> {
    let entry = |(row, place, index, case): (_, _, _, &'a CaseResult)| {
        let estimate = match by {
            RankedBy::Time => headline(case)?.1,
            RankedBy::Throughput => case.stream.as_ref()?.aggregate_gbps.as_ref()?,
        };
        let is_plain = case.case.idle_knob == IdleKnob::None;
        estimate.point.filter(|_| is_plain)?;
        let row = (told(row, case, usual, results), case.stream.as_ref().map(|of| of.flows));
        let swept = case.case.gap_ns.or(case.case.payload_bytes.map(u64::from)).unwrap_or(0);
        let column = column(group, case, results);
        Some(Entry { row, place, column, swept, index, case, estimate })
    };
    all_of(group, results).filter_map(entry).collect()
}

/// What a row is called: a stream's path, with its boundary where most have another.
fn told(row: &LadderRow, case: &CaseResult, usual: Option<Boundary>, results: &Results) -> String {
    match &case.stream {
        None => name(row, usual, results),
        Some(stream) if usual.is_some_and(|usual| usual != row.boundary) => {
            format!("{} ({})", stream.label, between(row.boundary))
        }
        Some(stream) => stream.label.clone(),
    }
}

/// What a case of a group is swept over.
fn column(group: &LadderGroup, case: &CaseResult, results: &Results) -> String {
    if let Some(wake) = &case.wake {
        return number::exact(wake.gap_asked_ns);
    }
    if let Some(stream) = &case.stream {
        return match stream.fields {
            1 => number::bytes(stream.field_bytes),
            n => format!("{n} × {}", number::bytes(stream.field_bytes)),
        };
    }
    match case.case.payload_bytes {
        _ if group.batched => "batches".to_owned(),
        None | Some(0) => "no payload".to_owned(),
        Some(bytes) => unit::bytes(bytes, results),
    }
}

/// What the numbers are.
fn what(case: &CaseResult, by: RankedBy) -> String {
    match (&case.stream, by) {
        (Some(stream), RankedBy::Throughput) => {
            format!("Throughput of all flows, ack {}", stream.ack)
        }
        (Some(stream), RankedBy::Time) => format!("Time of a message, p50, ack {}", stream.ack),
        _ if case.wake.is_some() => "One-way wake-up after a gap, p50".to_owned(),
        _ => "Round trip, p50".to_owned(),
    }
}

/// How the numbers of a table are written: in one unit, that of their median, unless they
/// are more than a thousandfold apart.
struct Written {
    scale: Scale,
    unit: Option<&'static str>,
}

impl Written {
    fn of(entries: &[&Entry], by: RankedBy, results: &Results) -> Self {
        if by == RankedBy::Throughput {
            return Self { scale: Scale::Power(0), unit: Some("Gbit/s") };
        }
        if let scale @ Scale::Ticks { .. } = unit::scale(results) {
            return Self { scale, unit: Some("ticks") };
        }
        let mut points: Vec<f64> =
            entries.iter().filter_map(|entry| entry.estimate.point).collect();
        points.sort_by(f64::total_cmp);
        let (least, most) = (points[0], points[points.len() - 1]);
        if most > 1e3 * least {
            return Self { scale: Scale::Time, unit: None };
        }
        let (power, unit) = match points[points.len() / 2] {
            ns if ns < 500.0 => (0, "ns"),
            ns if ns < 5e5 => (3, "µs"),
            _ => (6, "ms"),
        };
        Self { scale: Scale::Power(power), unit: Some(unit) }
    }
}

fn table(entries: &[&Entry], scale: &Written, over: bool, doubts: &Doubts) -> Block {
    let key = |entry: &&Entry| (entry.place, entry.column.clone());
    let columns: Vec<(Place, String)> = distinct(entries.iter().map(key));
    let mut rows = grouped(entries.iter().copied(), |entry| entry.row.clone());
    // Stable: flows in their order, else as the ladder has them.
    rows.sort_by_key(|((_, flows), _)| *flows);
    let flows = rows.iter().any(|((_, flows), _)| *flows != rows[0].0.1);
    let mut heads: Vec<Column> = vec![words("")];
    heads.extend(flows.then(|| numbers("flows")));
    heads.extend(columns.iter().map(|(place, column)| match over {
        true => numbers(column).over(place.name()),
        false => numbers(column),
    }));
    let cell = |cells: &[&Entry], at: &(Place, String)| {
        let found = cells.iter().find(|entry| (entry.place, &entry.column) == (at.0, &at.1));
        found.map_or(Cell::none(), |entry| {
            let mark = doubts.mark(entry.case);
            Cell::brief(Some(entry.estimate), scale.scale.clone(), mark).of(entry.index)
        })
    };
    let line = |((label, of), cells): &((String, Option<u32>), Vec<&Entry>)| {
        let mut line = vec![Cell::text(label.as_str())];
        line.extend(flows.then(|| Cell::maybe(of.map(f64::from), Unit::Whole)));
        line.extend(columns.iter().map(|column| cell(cells, column)));
        line
    };
    let rows = rows.iter().map(line).collect();
    Block::Table(Table { columns: heads, rows, form: Form::Columns })
}

/// The ranking of each column, equal ones together; of many columns, who is first how often.
fn rankings(
    groups: &[&LadderGroup],
    place: Place,
    places: bool,
    by: RankedBy,
    results: &Results,
) -> Vec<String> {
    let usual = usual(groups.iter().flat_map(|group| &group.rows));
    let told = |group: &&LadderGroup| {
        let case = group.rows.iter().find_map(|row| at(row, place, results))?.1;
        let column = column(group, case, results);
        Some((column, sentence(group, place, by, usual, results)?))
    };
    let all: Vec<(String, String)> = groups.iter().filter_map(told).collect();
    if all.len() > RANKINGS_MAX {
        return wins(groups, place, by, results).into_iter().collect();
    }
    let line = |(order, of): (String, Vec<&(String, String)>)| {
        let columns: Vec<&str> = of.iter().map(|(column, _)| column.as_str()).collect();
        let place = if places { format!("{}, ", place.name()) } else { String::new() };
        format!("{place}{}{}: {order}", columns.join(" and "), first(by))
    };
    grouped(&all, |(_, order)| order.clone()).into_iter().map(line).collect()
}

/// `fastest: tcp-sendmsg alone in 9 of 16 columns, tied in 3; …`
fn wins(groups: &[&LadderGroup], place: Place, by: RankedBy, results: &Results) -> Option<String> {
    let told = groups.iter().filter_map(|group| Some((*group, ranking(group, place, by)?)));
    let told: Vec<(&LadderGroup, &Ranking)> =
        told.filter(|(_, of)| of.cases.iter().all(|case| case.step.is_some())).collect();
    let best = told.iter().flat_map(|(group, of)| {
        let rest = of.cases.iter().skip(1);
        let tied = 1 + rest.take_while(|case| case.step == Some(Step::Tied)).count();
        of.cases[..tied].iter().map(move |case| (label(group, case, results), tied == 1))
    });
    let count = |(name, seen): (String, Vec<(String, bool)>)| {
        let alone = seen.iter().filter(|(_, alone)| *alone).count();
        (alone, seen.len() - alone, name)
    };
    let mut counts: Vec<(usize, usize, String)> =
        grouped(best, |(name, _)| name.clone()).into_iter().map(count).collect();
    // What was measured in one combination alone is told where it stands.
    counts.retain(|(alone, tied, _)| alone + tied > 1 || told.len() == 1);
    counts.sort_by_key(|(alone, tied, _)| std::cmp::Reverse((*alone, *tied)));
    let one = |(alone, tied, name): &(usize, usize, String)| match (alone, tied) {
        (0, tied) => format!("{name} tied in {tied}"),
        (alone, 0) => format!("{name} alone in {alone}"),
        (alone, tied) => format!("{name} alone in {alone}, tied in {tied}"),
    };
    let list: Vec<String> = counts.iter().map(one).collect();
    let what = match by {
        RankedBy::Time => "Fastest",
        RankedBy::Throughput => "Highest throughput",
    };
    (!list.is_empty()).then(|| {
        format!("{what} of the {} combinations of size and flows: {}", told.len(), list.join("; "))
    })
}

fn label(group: &LadderGroup, case: &RankedCase, results: &Results) -> String {
    let found = group.rows.get(case.row as usize).zip(case_at(results, case.result));
    let usual = usual(group.rows.iter());
    found.map_or(String::new(), |(row, (_, case))| told(row, case, usual, results))
}

/// What idle knobs change: `Idle knobs: pipe, 1 ms: spinner saves 22 µs ±31%`.
fn knobs(groups: &[&LadderGroup], results: &Results) -> Option<Block> {
    let here = || groups.iter().flat_map(|group| all_of(group, results));
    let is_here = |index: usize| here().any(|(_, _, at, _)| at == index);
    let one = |price: &hopcost_model::results::KnobPrice| {
        let index = crate::section::words::index_of(results, &price.without)?;
        let case = results.results.get(index).filter(|_| is_here(index))?;
        let saved = &price.difference_ns;
        let ends = [saved.point?, saved.low?, saved.high?];
        let gap = case.wake.as_ref().map_or(String::new(), |wake| number::exact(wake.gap_asked_ns));
        let [point, low, high] = ends.map(|ns| number::time(ns, 2));
        let knob = price.knob.word();
        Some(format!("{}, {gap}: {knob} saves {point} [{low}, {high}]", case.case.mechanism))
    };
    let list: Vec<String> = results.knobs.iter().filter_map(one).collect();
    let text = format!("Idle knobs: {}", list.join("; "));
    (!list.is_empty()).then(|| note(text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stored;

    #[test]
    fn the_same_way_across_another_boundary_is_counted_by_itself() {
        let mut results = stored::results("copies");
        let mut groups = results.ladder.clone();
        groups.retain(|group| group.title.contains("1 flow, acknowledged per message"));
        for ranking in groups.iter_mut().flat_map(|group| &mut group.rankings) {
            ranking.cases.iter_mut().for_each(|case| case.step = Some(Step::Tied));
        }
        results.ladder = groups;
        let groups: Vec<&LadderGroup> = results.ladder.iter().collect();
        let said = wins(&groups, Place::Free, RankedBy::Throughput, &results).unwrap();
        assert!(said.contains("of the 4 combinations"), "{said}");
        assert!(said.contains("A2 tcp-sendmsg tied in 4;"), "{said}");
    }
}
