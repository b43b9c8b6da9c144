//! One group of the ladder: what may be compared, at each place.

use hopcost_model::group::grouped;
use hopcost_model::results::{
    CaseResult, LadderGroup, LadderRow, RankedBy, RankedCase, Results, Statistic,
};

use super::doubt::Doubts;
use super::order::{self, first, name, ranking, sentence, titled, usual, words};
use super::unit;
use crate::names::{Place, at, capitalised, cases_at, cases_of, headline};
use crate::number;
use crate::section::model::{
    Block, Cell, Column, Form, Rows, Scale, Table, note, notes, numbers, words as texts,
};
use crate::section::words::mechanism;

/// The table of a group and its ranking at each place.
pub(super) fn table(group: &LadderGroup, results: &Results, doubts: &Doubts) -> Vec<Block> {
    let measured = |row| cases_of(row, results).filter(|(.., case)| headline(case).is_some());
    let rows: Vec<&LadderRow> =
        group.rows.iter().filter(|row| measured(row).next().is_some()).collect();
    let usual = usual(group.rows.iter());
    let mut blocks = vec![Block::Heading(titled(group, unit::heading(results)))];
    let of = |row: &&LadderRow, place| at(row, place, results);
    let name = |row: &&LadderRow| Cell::text(name(row, usual, results));
    let mut table = Rows::of(&rows).column(texts(""), name);
    let cost = if group.batched { "cost" } else { "p50" };
    for place in Place::ALL {
        let over = |column: Column| column.over(place.name());
        table = table
            .column(over(numbers(cost)), |row| value(of(row, place), unit::scale(results), doubts))
            .column(over(numbers(&base(group, place, results)).fold(2)), |row| {
                let case = of(row, place).map(|(index, _)| index as u32);
                let ranked = ranked(group, place).find(|ranked| Some(ranked.result) == case);
                ranked.map_or(Cell::none(), |ranked| multiple(ranked, results))
            })
            .column(over(numbers("Gbit/s").fold(1)), |row| {
                let stream = of(row, place).and_then(|(_, case)| case.stream.as_ref());
                let rate = stream.and_then(|stream| stream.aggregate_gbps.as_ref());
                Cell::brief(rate, Scale::Power(0), "")
            })
            .column(over(numbers("p99").fold(4)), |row| tail(of(row, place), results));
        // Of blocking ends on one CPU it says no more than the p50.
        let last = rows.iter().flat_map(|row| measured(row)).all(|of| of.0 as u8 <= place as u8);
        table = table.column_if(last, over(numbers("CPU/msg").fold(3)), |row| {
            let cpu = of(row, place).and_then(|(_, case)| case.cpu_ns_per_message);
            Cell::sorted(cpu, |ns| number::time(ns, 2))
        });
    }
    blocks.push(table.brief());
    let by = RankedBy::Time;
    let rankings = Place::ALL.into_iter().filter_map(|place| {
        let order = sentence(group, place, by, usual, results)?;
        Some(format!("{}{}: {order}", place.name(), first(by)))
    });
    blocks.extend(notes(rankings));
    blocks
}

/// The cases of the ranking by time.
fn ranked(group: &LadderGroup, place: Place) -> impl Iterator<Item = &RankedCase> {
    ranking(group, place, RankedBy::Time).into_iter().flat_map(|ranking| &ranking.cases)
}

/// `× pipe`
fn base(group: &LadderGroup, place: Place, results: &Results) -> String {
    let base = ranked(group, place).find_map(|case| Some(case.ratio.as_ref()?.baseline.as_str()));
    let mut rows = cases_at(group, place, results).into_iter();
    let row = rows.find(|(_, case)| Some(case.id.as_str()) == base);
    row.map_or("×".to_owned(), |(row, _)| format!("× {}", row.label.replace(" 0 bytes", "")))
}

fn multiple(ranked: &RankedCase, results: &Results) -> Cell {
    let own = results.results.get(ranked.result as usize).map_or("", |case| case.id.as_str());
    Cell::brief_ratio(ranked.ratio.as_ref(), own)
}

/// The number that a case is ranked by.
pub(super) fn value(found: Option<(usize, &CaseResult)>, scale: Scale, doubts: &Doubts) -> Cell {
    let Some((index, case)) = found else { return Cell::none() };
    let estimate = headline(case).map(|(_, estimate)| estimate);
    Cell::brief(estimate, scale, doubts.mark(case)).of(index)
}

fn tail(found: Option<(usize, &CaseResult)>, results: &Results) -> Cell {
    let p99 = found.and_then(|(_, case)| case.estimates.as_ref()?.get(Statistic::P99));
    let digits = p99.map_or(2, |p99| p99.digits.clamp(2, 3));
    Cell::sorted(p99.and_then(|p99| p99.point), |ns| unit::time(ns, digits, results))
}

/// What the loop around calls is called: no operation, but what each of them holds.
const EMPTY_LOOP: &str = "empty loop";

/// Calls of a mechanism from which on its sizes have a table of their own.
const SIZES_MIN: usize = 3;

/// Calls: those of several sizes in a table, the others in a line, cheapest first.
pub(super) fn calls(group: &LadderGroup, results: &Results, doubts: &Doubts) -> Vec<Block> {
    let rows = group.rows.iter().filter_map(|row| Some((row, at(row, Place::One, results)?)));
    let alone = group.rows.iter().all(|row| row.label == EMPTY_LOOP);
    let is_told = |row: &LadderRow, case: &CaseResult| {
        headline(case).is_some() && (alone || row.label != EMPTY_LOOP)
    };
    let rows = rows.filter(|(row, (_, case))| is_told(row, case));
    let kinds = grouped(rows, |(_, (_, case))| {
        (case.case.mechanism.clone(), case.case.parameters.clone(), case.case.runtime.clone())
    });
    let (swept, single): (Vec<_>, Vec<_>) =
        kinds.into_iter().partition(|(_, rows)| rows.len() >= SIZES_MIN);
    let mut blocks = Vec::new();
    if !swept.is_empty() {
        let title = format!("{}, by size{}", group.title, unit::heading(results));
        blocks.push(Block::Heading(capitalised(&title)));
        let kinds = swept.into_iter().map(|(_, rows)| rows.into_iter().map(|(_, of)| of).collect());
        blocks.push(by_size(&kinds.collect::<Vec<_>>(), results, doubts));
    }
    let alone: Vec<usize> =
        single.iter().flat_map(|(_, rows)| rows.iter().map(|(_, (index, _))| *index)).collect();
    blocks.extend(in_a_line(group, Place::One, &alone, results, doubts));
    blocks
}

/// Cases that differ in their size alone, a row a kind.
fn by_size(kinds: &[Vec<(usize, &CaseResult)>], results: &Results, doubts: &Doubts) -> Block {
    let size = |case: &CaseResult| case.case.payload_bytes.unwrap_or(0);
    let mut sizes: Vec<u32> = kinds.iter().flatten().map(|(_, case)| size(case)).collect();
    sizes.sort_unstable();
    sizes.dedup();
    let line = |cases: &Vec<(usize, &CaseResult)>| {
        let name = cases.first().map_or(String::new(), |(_, case)| mechanism(case));
        let cell = |bytes: &u32| {
            let found = cases.iter().find(|(_, case)| size(case) == *bytes);
            value(found.copied(), unit::scale(results), doubts)
        };
        std::iter::once(Cell::text(name)).chain(sizes.iter().map(cell)).collect()
    };
    let heads = sizes.iter().map(|bytes| numbers(&unit::bytes(*bytes, results)));
    let columns = std::iter::once(texts("")).chain(heads).collect();
    let rows = kinds.iter().map(line).collect();
    Block::Table(Table { columns, rows, form: Form::Columns })
}

/// A group in a line a place, best first.
pub(super) fn in_lines(group: &LadderGroup, results: &Results, doubts: &Doubts) -> Vec<Block> {
    let line = |place| {
        let cases = group.rows.iter().filter_map(|row| Some(row.at(place)? as usize));
        in_a_line(group, place, &cases.collect::<Vec<_>>(), results, doubts)
    };
    Place::ALL.into_iter().filter_map(line).collect()
}

fn in_a_line(
    group: &LadderGroup,
    place: Place,
    cases: &[usize],
    results: &Results,
    doubts: &Doubts,
) -> Option<Block> {
    let name = |row: &LadderRow| {
        let (index, case) = at(row, place, results)?;
        let (_, cost) = headline(case).filter(|_| cases.contains(&index))?;
        let mark = doubts.mark(case);
        let mut cost = cost.clone();
        cost.digits = cost.digits.min(3);
        let cost = Cell::brief(Some(&cost), unit::scale(results), "").value.shown()?;
        Some(format!("{} {cost}{mark}", name(row, None, results)))
    };
    let of_place = ranking(group, place, RankedBy::Time);
    let of_line = |case: &RankedCase| cases.contains(&(case.result as usize));
    let whole = of_place.map(|ranking| order::kept(&ranking.cases, of_line));
    let whole = whole.filter(|ranked: &Vec<RankedCase>| ranked.len() == cases.len());
    let order = whole.and_then(|ranked| {
        words(&ranked, |case| group.rows.get(case.row as usize).and_then(&name).unwrap_or_default())
    });
    let listed = || group.rows.iter().filter_map(&name).collect::<Vec<_>>().join(", ");
    let text = order.unwrap_or_else(listed);
    let title = format!("{}{}", capitalised(&group.title), unit::heading(results));
    (!text.is_empty()).then(|| note(format!("{title}: {text}")))
}
