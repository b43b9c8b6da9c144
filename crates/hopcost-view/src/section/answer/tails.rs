//! Percentiles, as many as are asked for.

use hopcost_model::results::{LadderGroup, RankedBy, Results, Statistic};

use super::entry::{entries, usual};
use super::table::titled;
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
    let mut rows = entries(group, RankedBy::Time, usual(&group.rows), results);
    rows.retain(|entry| estimated(entry.case, Statistic::P50).is_some());
    if rows.is_empty() {
        return Vec::new();
    }
    let mut table = Rows::of(&rows)
        .column(words(""), |entry| Cell::text(entry.name.as_str()).of(entry.index))
        .column(words(""), |entry| Cell::text(entry.place.name()));
    for statistic in asked {
        table = table.column(numbers(statistic.label()), |entry| {
            Cell::brief(estimated(entry.case, *statistic), Scale::Time, "")
        });
    }
    vec![Block::Heading(titled(group, results)), table.table()]
}
