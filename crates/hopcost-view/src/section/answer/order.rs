//! Rankings in words.

use std::collections::BTreeMap;

use hopcost_model::case::Boundary;
use hopcost_model::group::grouped;
use hopcost_model::results::{
    LadderGroup, LadderRow, RankedBy, RankedCase, Ranking, Results, Step,
};

use crate::names::{Place, capitalised, headline, row_label};
use crate::number;
use crate::section::model::{Block, Cell, Scale, Tone, Value, says};

/// What a row is called beside others: its label, and what it has that most of them have
/// not: another boundary, and how it waits where that is not by blocking.
pub(super) fn name(row: &LadderRow, usual: Option<Boundary>, results: &Results) -> String {
    let mut name = row_label(row, results).replace(" 0 bytes", "");
    if usual.is_some_and(|usual| usual != row.boundary) {
        name = format!("{name} ({})", between(row.boundary));
    }
    match row.wait.as_deref() {
        None | Some("block") => name,
        Some("spin") => format!("{name}, spinning"),
        Some(wait) => format!("{name}, {wait}"),
    }
}

/// The same in a table of one size, which the heading names.
pub(super) fn name_without_size(
    row: &LadderRow,
    usual: Option<Boundary>,
    bytes: Option<u32>,
    results: &Results,
) -> String {
    let size = bytes.map_or(String::new(), |bytes| format!(" {}", number::bytes(bytes)));
    name(row, usual, results).replacen(&size, "", 1)
}

/// `two threads`
pub(crate) fn between(boundary: Boundary) -> String {
    match boundary {
        Boundary::Thread => "threads".to_owned(),
        Boundary::Process => "processes".to_owned(),
        Boundary::Host => "hosts".to_owned(),
        other => other.word().to_owned(),
    }
}

/// The boundary that most rows have.
pub(super) fn usual<'a>(rows: impl Iterator<Item = &'a LadderRow>) -> Option<Boundary> {
    let groups = grouped(rows, |row| row.boundary);
    groups.into_iter().max_by_key(|(_, rows)| rows.len()).map(|(boundary, _)| boundary)
}

/// What most rows of a table stand between.
pub(super) fn ends(usual: Option<Boundary>) -> String {
    usual.map_or(String::new(), |usual| format!(", {}", between(usual)))
}

/// The title of a group, with what most of its rows stand between and the unit of its numbers.
pub(super) fn titled(group: &LadderGroup, unit: &str) -> String {
    capitalised(&format!("{}{}{unit}", group.title, ends(usual(group.rows.iter()))))
}

/// The ranks of a group at a place, by case: of those that sleep while they wait, where any do.
pub(super) struct Ranks {
    ranks: BTreeMap<u32, (u32, bool)>,
}

impl Ranks {
    pub fn of(group: &LadderGroup, place: Place, by: RankedBy) -> Self {
        let spins =
            |case: &RankedCase| group.rows.get(case.row as usize).is_some_and(|row| row.spins);
        let all = ranking(group, place, by).is_some_and(|of| of.cases.iter().all(spins));
        Self::among(group, place, by, |case| all || !spins(case))
    }

    /// The ranks among some of a group.
    pub fn among(
        group: &LadderGroup,
        place: Place,
        by: RankedBy,
        is_told: impl Fn(&RankedCase) -> bool,
    ) -> Self {
        let cases = ranking(group, place, by).map_or(&[][..], |ranking| &ranking.cases);
        Self::of_cases(&kept(cases, is_told))
    }

    /// Of cases in their order; none where it is not known.
    fn of_cases(cases: &[RankedCase]) -> Self {
        let (mut ranks, mut last) = (BTreeMap::new(), (1, false));
        for (at, case) in cases.iter().enumerate() {
            match case.step {
                None => return Self { ranks: BTreeMap::new() },
                Some(step) if at > 0 && step != Step::Tied => {
                    last = (last.0 + 1, step == Step::Between);
                }
                Some(_) => {}
            }
            ranks.insert(case.result, last);
        }
        Self { ranks }
    }

    /// The number of a case's rank.
    pub fn number(&self, case: u32) -> Option<u32> {
        self.ranks.get(&case).map(|(rank, _)| *rank)
    }

    /// `2`, or `2~` where it is not apart from all of the rank before.
    pub fn word(&self, case: u32) -> Option<String> {
        let (rank, overlaps) = self.ranks.get(&case)?;
        Some(format!("{rank}{}", if *overlaps { "~" } else { "" }))
    }

    /// The rank of a row's case, or the mark of what spins.
    pub fn cell(&self, case: u32, row: &LadderRow) -> Cell {
        match self.ranks.get(&case) {
            Some((rank, overlaps)) => {
                let gap = if *overlaps { "~" } else { " " };
                Value::Sorted(format!("{rank}{gap}"), f64::from(*rank)).into()
            }
            None if row.spins => Cell::text(format!("{SPINS} ")),
            None => Cell::none(),
        }
    }
}

/// The mark of a row whose ends keep a CPU busy while they wait.
pub(super) const SPINS: &str = "*";

/// The ranking of a group at a place.
pub(super) fn ranking(group: &LadderGroup, place: Place, by: RankedBy) -> Option<&Ranking> {
    group.rankings.iter().find(|ranking| ranking.place == place && ranking.by == by)
}

/// `fastest first: pipe = posix-mq < udp`; rows are called as in their table, where the boundary
/// that most have is `usual`.
pub(super) fn sentence(
    group: &LadderGroup,
    place: Place,
    by: RankedBy,
    usual: Option<Boundary>,
    results: &Results,
) -> Option<String> {
    let name = |case: &RankedCase| {
        let row = group.rows.get(case.row as usize);
        row.map_or(String::new(), |row| name(row, usual, results))
    };
    words(&ranking(group, place, by)?.cases, name)
}

/// A line for each ranking of a group, with its values; where nothing is ranked, with the
/// values alone.
pub(super) fn sentences(group: &LadderGroup, results: &Results) -> Vec<String> {
    let lines = Place::ALL.into_iter().flat_map(|place| {
        let of_place = group.rankings.iter().filter(move |of| of.place == place);
        let ranked: Vec<String> = of_place
            .filter_map(|of| with_values(group, place, of.by, &of.cases, results))
            .collect();
        let unranked = || {
            let rows = (0..).zip(&group.rows);
            let cases = rows.filter_map(|(row, of)| {
                Some(RankedCase { row, result: of.at(place)?, step: None, ratio: None })
            });
            with_values(group, place, RankedBy::Time, &cases.collect::<Vec<_>>(), results)
        };
        if ranked.is_empty() { unranked().into_iter().collect() } else { ranked }
    });
    lines.collect()
}

/// `Round trip, 64 bytes each way, one CPU, p50, fastest first: pipe 2.13 µs ±1% < tcp …`
fn with_values(
    group: &LadderGroup,
    place: Place,
    by: RankedBy,
    cases: &[RankedCase],
    results: &Results,
) -> Option<String> {
    let usual = usual(group.rows.iter());
    let name = |case: &RankedCase| {
        let row = group.rows.get(case.row as usize);
        let name = row.map_or(String::new(), |row| name(row, usual, results));
        let result = results.results.get(case.result as usize);
        let value = result.map_or(Cell::none(), |case| match by {
            RankedBy::Time => Cell::brief(headline(case).map(|(_, e)| e), Scale::Time, ""),
            RankedBy::Throughput => {
                let rate = case.stream.as_ref().and_then(|stream| stream.aggregate_gbps.as_ref());
                Cell::brief(rate, Scale::Named("Gbit/s".to_owned()), "")
            }
        });
        let value =
            value.in_words().map_or(" not measured".to_owned(), |shown| format!(" {shown}"));
        format!("{name}{value}")
    };
    let of = match by {
        RankedBy::Time if group.batched => "cost",
        RankedBy::Time => "p50",
        RankedBy::Throughput => "throughput",
    };
    let title = titled(group, "");
    let ranked = words(cases, name);
    let order = match (&ranked, by) {
        (None, _) => "",
        (_, RankedBy::Time) => ", by rank, fastest first",
        (_, RankedBy::Throughput) => ", by rank, highest first",
    };
    let listed = || cases.iter().map(name).collect::<Vec<_>>().join(", ");
    let text = ranked.clone().unwrap_or_else(listed);
    (!text.is_empty()).then(|| format!("{title}, {}, {of}{order}: {text}", place.name()))
}

/// Those of a ranking that are told. What is left out between two of them takes its steps
/// along: two on either side of a step are apart whoever else stands between.
pub(super) fn kept(cases: &[RankedCase], is_told: impl Fn(&RankedCase) -> bool) -> Vec<RankedCase> {
    let farther = |a: Option<Step>, b: Option<Step>| match (a?, b?) {
        (Step::Apart, _) | (_, Step::Apart) => Some(Step::Apart),
        (Step::Between, _) | (_, Step::Between) => Some(Step::Between),
        _ => Some(Step::Tied),
    };
    let mut left_out = Some(Step::Tied);
    let mut kept = Vec::new();
    for case in cases {
        left_out = farther(left_out, case.step);
        if is_told(case) {
            kept.push(RankedCase { step: left_out, ..case.clone() });
            left_out = Some(Step::Tied);
        }
    }
    kept
}

/// `1. pipe, fifo; 2~. udp`: cases by rank; `None` where there are no ranks.
pub(super) fn words(cases: &[RankedCase], name: impl Fn(&RankedCase) -> String) -> Option<String> {
    let ranks = Ranks::of_cases(cases);
    let ties = grouped(cases, |case| ranks.word(case.result));
    let tie = |(rank, of): (Option<String>, Vec<&RankedCase>)| {
        let names: Vec<String> = of.into_iter().map(&name).collect();
        Some(format!("{}. {}", rank?, names.join(", ")))
    };
    let ties: Vec<String> = ties.into_iter().map(tie).collect::<Option<_>>()?;
    (cases.len() > 1).then(|| ties.join("; "))
}

/// What a ranking by this begins with, after what it is of; the legend says that of times.
pub(super) fn first(by: RankedBy) -> &'static str {
    match by {
        RankedBy::Time => "",
        RankedBy::Throughput => ", highest throughput first",
    }
}

/// What ranks, intervals and marks mean, as far as there are any.
pub(super) fn legend(blocks: &[Block], results: &Results) -> Vec<Block> {
    let cells = || {
        let tables = blocks.iter().filter_map(|block| match block {
            Block::Table(table) => Some(table),
            _ => None,
        });
        tables.flat_map(|table| table.rows.iter().flatten())
    };
    let has = |mark: &str| {
        cells().any(|cell| match &cell.value {
            Value::Sorted(text, _) | Value::Words(text) => text.trim_end().ends_with(mark),
            _ => false,
        })
    };
    let ranked = blocks.iter().any(|block| match block {
        Block::Table(table) => table.columns.iter().any(|column| column.head == "rank"),
        Block::Text(Tone::Note, text) => text.contains("1. "),
        _ => false,
    });
    let mut lines = Vec::new();
    if ranked {
        let rounds = results.plan.rounds_done;
        let overlaps = if has("~") { "; ~ overlaps the rank above" } else { "" };
        lines.push(format!(
            "rank: same number = no difference shown in {rounds} rounds (95 %){overlaps}."
        ));
    }
    if has(SPINS) {
        lines.push(format!(
            "{SPINS} spins, which keeps its CPU busy: not ranked with those that sleep."
        ));
    }
    if !blocks.is_empty() {
        lines.push("±: 95 %.".to_owned());
    }
    vec![says(lines.join(" "))].into_iter().filter(|_| !lines.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_out_of_a_ranking_takes_its_steps_along() {
        let case = |(result, step)| RankedCase { row: 0, result, step: Some(step), ratio: None };
        let steps = [Step::Tied, Step::Apart, Step::Tied, Step::Between, Step::Tied];
        let cases: Vec<RankedCase> = (0..).zip(steps).map(case).collect();
        let told = |results: &[u32]| {
            words(&kept(&cases, |of| results.contains(&of.result)), |of| of.result.to_string())
        };
        assert_eq!(told(&[0, 1, 2, 3, 4]).unwrap(), "1. 0; 2. 1, 2; 3~. 3, 4");
        // 1.9 ns and 13.8 ns were equal once, because those between had been left out.
        assert_eq!(told(&[0, 2, 4]).unwrap(), "1. 0; 2. 2; 3~. 4");
        assert_eq!(told(&[0, 4]).unwrap(), "1. 0; 2. 4");
    }
}
