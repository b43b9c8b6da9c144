//! One group of the ladder: what may be compared, at each place.

use hopcost_model::group::grouped;
use hopcost_model::results::{
    CaseResult, LadderGroup, LadderRow, RankedBy, RankedCase, Ratio, Results,
};

use super::doubt::Doubts;
use super::order::{Ranks, name, name_without_size, ranking, titled, usual};
use super::unit;
use crate::names::{Place, at, capitalised, cases_at, cases_of, headline};
use crate::number;
use crate::section::model::{
    Block, Cell, Column, Form, Interval, Rows, Scale, Table, Value, note, numbers, words as texts,
};
use crate::section::words::mechanism;

/// The cases of a row that have a number.
fn measured<'a>(
    row: &LadderRow,
    results: &'a Results,
) -> impl Iterator<Item = (Place, usize, &'a CaseResult)> {
    cases_of(row, results).filter(|(.., case)| headline(case).is_some())
}

/// The table of a group, with the ranks at each place; spinning ends that were timed in
/// batches (`aside`) stand in it too.
pub(super) fn table(
    group: &LadderGroup,
    aside: &[&LadderGroup],
    results: &Results,
    doubts: &Doubts,
) -> Vec<Block> {
    let payload = |row: &LadderRow| measured(row, results).next()?.2.case.payload_bytes;
    let own = group.rows.iter().find_map(payload);
    let besides = aside.iter().flat_map(|of| &of.rows).filter(|row| payload(row) == own);
    let rows = group.rows.iter().chain(besides);
    let mut rows: Vec<&LadderRow> =
        rows.filter(|row| measured(row, results).next().is_some()).collect();
    // Stable: what spins stands last.
    rows.sort_by_key(|row| row.spins);
    let usual = usual(group.rows.iter());
    let of = |row: &&LadderRow, place| at(row, place, results);
    let title = titled(group, unit::heading(results));
    let label = |row: &&LadderRow| Cell::text(name_without_size(row, usual, own, results));
    let mut table = Rows::of(&rows).column(texts(""), label);
    let cost = if group.batched { "cost" } else { "p50" };
    let first =
        Place::ALL.into_iter().find(|place| group.rows.iter().any(|row| row.at(*place).is_some()));
    for place in Place::ALL {
        let over = |column: Column| column.over(place.name());
        let ranks = Ranks::of(group, place, RankedBy::Time);
        let case = |row: &&LadderRow| of(row, place).map(|(index, _)| index as u32);
        let ranked_as =
            |row: &&LadderRow| ranked(group, place).find(|of| Some(of.result) == case(row));
        table = table
            .column(over(numbers("rank").fold(1)), |row| {
                case(row).map_or(Cell::none(), |case| ranks.cell(case, row))
            })
            .column(over(numbers(cost)), |row| value(of(row, place), unit::scale(results), doubts))
            .column(over(numbers(&base(group, place, results)).fold(2)), |row| {
                ranked_as(row).map_or(Cell::none(), |ranked| multiple(ranked, results))
            })
            .column_if(first == Some(place), over(texts("").fold(4)), |row| {
                let ratio = ranked_as(row).and_then(|of| of.ratio.as_ref());
                ratio.filter(|ratio| ratio.low.is_some()).map_or(Cell::none(), bar)
            })
            .column(over(numbers("Gbit/s").fold(1)), |row| {
                let stream = of(row, place).and_then(|(_, case)| case.stream.as_ref());
                let rate = stream.and_then(|stream| stream.aggregate_gbps.as_ref());
                Cell::brief(rate, Scale::Power(0), "")
            });
        // Of blocking ends on one CPU it says no more than the p50.
        let last = rows.iter().flat_map(|row| measured(row, results));
        let last = last.into_iter().all(|of| of.0 as u8 <= place as u8);
        table = table.column_if(last, over(numbers("CPU/msg").fold(3)), |row| {
            let cpu = of(row, place).and_then(|(_, case)| case.cpu_ns_per_message);
            Cell::sorted(cpu, |ns| number::time(ns, 2))
        });
    }
    vec![Block::Heading(title), table.brief()]
}

/// Characters of a bar for each multiple of the baseline, and at most.
const BAR_UNIT: f64 = 4.0;
const BAR_MAX: usize = 12;

/// A bar as long as a multiple of the baseline, to an eighth of a character; an arrow where it is clipped.
fn bar(ratio: &Ratio) -> Cell {
    let eighths = (ratio.point * BAR_UNIT * 8.0).round().max(1.0) as usize;
    if eighths > BAR_MAX * 8 {
        return Cell::text(format!("{}▶", "█".repeat(BAR_MAX - 1)));
    }
    let part = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"][eighths % 8];
    Cell::text(format!("{}{part}", "█".repeat(eighths / 8)))
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
    match ranked.ratio.as_ref().filter(|ratio| ratio.low.is_some() || ratio.baseline == own) {
        Some(ratio) if ratio.baseline == own => Cell::text("base"),
        Some(ratio) => Value::Ratio(ratio.clone(), Interval::Untold).into(),
        None => Cell::none(),
    }
}

/// The number that a case is ranked by.
pub(super) fn value(found: Option<(usize, &CaseResult)>, scale: Scale, doubts: &Doubts) -> Cell {
    let Some((index, case)) = found else { return Cell::none() };
    let estimate = headline(case).map(|(_, estimate)| estimate);
    Cell::brief(estimate, scale, doubts.mark(case)).of(index)
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
        let cost = Cell::brief(Some(&cost), unit::scale(results), "").in_words()?;
        Some(format!("{} {cost}{mark}", name(row, None, results)))
    };
    let of_line = |case: &RankedCase| cases.contains(&(case.result as usize));
    let ranks = Ranks::among(group, place, RankedBy::Time, of_line);
    let rows = group.rows.iter().filter_map(|row| Some((row, row.at(place)?)));
    let told = rows.filter_map(|(row, case)| Some((ranks.word(case), name(row)?)));
    let ties = grouped(told, |(rank, _)| rank.clone()).into_iter().map(|(rank, of)| {
        let names: Vec<String> = of.into_iter().map(|(_, name)| name).collect();
        let rank = rank.map_or(String::new(), |rank| format!("{rank}. "));
        format!("{rank}{}", names.join(", "))
    });
    let text = ties.collect::<Vec<_>>().join("; ");
    let title = format!("{}{}", capitalised(&group.title), unit::heading(results));
    (!text.is_empty()).then(|| note(format!("{title}: {text}")))
}
