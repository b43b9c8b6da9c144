//! Percentiles, as many as are asked for.

use hopcost_model::results::{CaseResult, LadderGroup, Results, Statistic};

use super::order::{name, titled, usual};
use crate::names::all_of;
use crate::section::model::{Block, Cell, Rows, Scale, numbers, says, words};
use crate::section::words::estimated;

/// A table for each group of the ladder whose operations were timed one by one.
pub(super) fn tables(results: &Results, asked: &[Statistic]) -> Vec<Block> {
    let mut blocks: Vec<Block> =
        results.ladder.iter().flat_map(|group| table(group, results, asked)).collect();
    let has = |statistic: &Statistic| {
        results.results.iter().any(|case| estimated(case, *statistic).is_some())
    };
    let none: Vec<&str> = asked.iter().filter(|of| !has(of)).map(|of| of.label()).collect();
    if !none.is_empty() {
        blocks.push(says(format!("No case of this run has {}.", none.join(", "))));
    }
    blocks.push(says(
        "(±: 95 %; insufficient: the samples do not support it; costs in batches have none)",
    ));
    blocks
}

fn table(group: &LadderGroup, results: &Results, asked: &[Statistic]) -> Vec<Block> {
    let usual = usual(group.rows.iter());
    let timed = |case: &CaseResult| estimated(case, Statistic::P50).is_some();
    let rows: Vec<_> = all_of(group, results).filter(|(.., case)| timed(case)).collect();
    if rows.is_empty() {
        return Vec::new();
    }
    let mut table = Rows::of(&rows)
        .column(words(""), |(row, _, index, _)| Cell::text(name(row, usual, results)).of(*index))
        .column(words(""), |(_, place, ..)| Cell::text(place.name()));
    for statistic in asked {
        table = table.column(numbers(statistic.label()), |(.., case)| {
            Cell::brief(estimated(case, *statistic), Scale::Time, "")
        });
    }
    vec![Block::Heading(titled(group, "")), table.table()]
}
