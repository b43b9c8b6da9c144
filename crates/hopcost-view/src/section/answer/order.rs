//! Rankings in words.

use hopcost_model::case::Boundary;
use hopcost_model::group::grouped;
use hopcost_model::results::{
    LadderGroup, LadderRow, RankedBy, RankedCase, Ranking, Results, Step,
};

use crate::names::{Place, capitalised, headline, row_label};
use crate::section::model::{Block, Cell, Scale, Tone, says};

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

/// `two threads`
pub(super) fn between(boundary: Boundary) -> String {
    match boundary {
        Boundary::Thread => "threads".to_owned(),
        Boundary::Process => "processes".to_owned(),
        other => other.word().to_owned(),
    }
}

/// The boundary that most rows have.
pub(super) fn usual<'a>(rows: impl Iterator<Item = &'a LadderRow>) -> Option<Boundary> {
    let groups = grouped(rows, |row| row.boundary);
    groups.into_iter().max_by_key(|(_, rows)| rows.len()).map(|(boundary, _)| boundary)
}

/// `fastest first: pipe = posix-mq < udp`
pub(super) fn sentence(
    group: &LadderGroup,
    place: Place,
    by: RankedBy,
    results: &Results,
) -> Option<String> {
    let found = |ranking: &&Ranking| ranking.place == place && ranking.by == by;
    let ranking = group.rankings.iter().find(found)?;
    let usual = usual(group.rows.iter());
    let name = |case: &RankedCase| {
        let row = group.rows.get(case.row as usize);
        row.map_or(String::new(), |row| name(row, usual, results))
    };
    words(&ranking.cases, name)
}

/// `Round trip, 64 bytes each way, one CPU, fastest first: pipe 2.13 µs ±1% < tcp …`
pub(super) fn with_values(
    group: &LadderGroup,
    ranking: &Ranking,
    results: &Results,
) -> Option<String> {
    let usual = usual(group.rows.iter());
    let name = |case: &RankedCase| {
        let row = group.rows.get(case.row as usize);
        let name = row.map_or(String::new(), |row| name(row, usual, results));
        let result = results.results.get(case.result as usize);
        let value = result.map_or(Cell::none(), |case| match ranking.by {
            RankedBy::Time => Cell::brief(headline(case).map(|(_, e)| e), Scale::Time, false),
            RankedBy::Throughput => {
                let rate = case.stream.as_ref().and_then(|stream| stream.aggregate_gbps.as_ref());
                Cell::brief(rate, Scale::Named("Gbit/s".to_owned()), false)
            }
        });
        let value = value.value.shown().map_or(String::new(), |shown| format!(" {shown}"));
        format!("{name}{value}")
    };
    let ends = usual.map_or(String::new(), |usual| format!(", {}", between(usual)));
    let of = if group.batched { "cost" } else { "p50" };
    let title = capitalised(&format!("{}{ends}", group.title));
    let place = ranking.place.name();
    let first = match ranking.by {
        RankedBy::Time => format!("{of}, fastest first"),
        RankedBy::Throughput => "highest throughput first".to_owned(),
    };
    Some(format!("{title}, {place}, {first}: {}", words(&ranking.cases, name)?))
}

/// Cases in their order; `None` where it cannot be told.
pub(super) fn words(cases: &[RankedCase], name: impl Fn(&RankedCase) -> String) -> Option<String> {
    let mut text = String::new();
    for (at, case) in cases.iter().enumerate() {
        let sign = match case.step? {
            _ if at == 0 => "",
            Step::Tied => " = ",
            Step::Apart => " < ",
            Step::Between => " ≤ ",
        };
        text.push_str(sign);
        text.push_str(&name(case));
    }
    (cases.len() > 1).then_some(text)
}

/// What a ranking by this begins with, after what it is of; the legend says that of times.
pub(super) fn first(by: RankedBy) -> &'static str {
    match by {
        RankedBy::Time => "",
        RankedBy::Throughput => ", highest throughput first",
    }
}

/// What the signs mean, as far as there are any.
pub(super) fn legend(blocks: &[Block]) -> Option<Block> {
    let notes = || {
        blocks.iter().filter_map(|block| match block {
            Block::Text(Tone::Note, text) => Some(text.as_str()),
            _ => None,
        })
    };
    let any = |sign: &str| notes().any(|text| text.contains(sign));
    let signs = [(" = ", "= not told apart"), (" ≤ ", "≤ told apart from some before")];
    let signs = signs.into_iter().filter(|(sign, _)| any(sign)).map(|(_, means)| means);
    let mut said: Vec<&str> = signs.collect();
    if !said.is_empty() || any(" < ") {
        said.insert(0, "fastest first");
        said.push("all pairs at once, 95 %");
    }
    said.push("±: 95 %");
    (!blocks.is_empty()).then(|| says(format!("({})", said.join("; "))))
}
