//! What to use, in words: the first lines of an answer.

use hopcost_model::results::{LadderGroup, LadderRow, RankedBy, RankedCase, Results};

use super::order::{Ranks, ends, name_without_size, ranking, usual};
use crate::names::{Place, at, headline};
use crate::number;
use crate::section::model::{Block, Cell, facts};

/// Names that a tie lists.
const NAMES_MAX: usize = 4;
/// An interval that reaches further than this share of its value ranks nothing.
const NOISY: f64 = 0.5;

/// A case with its name and value.
struct Named {
    name: String,
    value: String,
    rank: Option<u32>,
    noisy: bool,
}

/// The conclusion of a group: a line per place, and one on what spinning takes.
pub(super) fn blocks(group: &LadderGroup, results: &Results) -> Vec<Block> {
    let usual = usual(group.rows.iter());
    let named = |row: &LadderRow, place, ranks: &Ranks| {
        let (index, case) = at(row, place, results)?;
        let estimate = headline(case)?.1;
        let (point, high) = (estimate.point?, estimate.high.or(estimate.point)?);
        let bytes = Some(case.case.payload_bytes.unwrap_or(0));
        let label = name_without_size(row, usual, bytes, results);
        let value = number::time(point, estimate.digits.clamp(2, 3));
        let noisy = high - point > NOISY * point;
        Some((point, Named { name: label, value, rank: ranks.number(index as u32), noisy }))
    };
    let of = |place, spins: bool| {
        let ranks = Ranks::of(group, place, RankedBy::Time);
        let rows = group.rows.iter().filter(|row| row.spins == spins);
        let mut all: Vec<(f64, Named)> = rows.filter_map(|row| named(row, place, &ranks)).collect();
        all.sort_by(|a, b| a.0.total_cmp(&b.0));
        all.into_iter().map(|(_, named)| named).collect::<Vec<_>>()
    };
    let mut lines: Vec<(&str, Cell)> = Vec::new();
    for place in Place::ALL {
        let ratio = ranking(group, place, RankedBy::Time).and_then(|of| times(&of.cases));
        let said = sentence(&of(place, false), ratio);
        lines.extend(said.map(|said| (place.name(), Cell::text(said))));
    }
    let spinning = Place::ALL.into_iter().filter_map(|place| {
        let best = of(place, true).into_iter().next()?;
        let noise = if best.noisy { ", too noisy to rank" } else { "" };
        let name = best.name.replace(", spinning", "");
        Some(format!("{name} takes {} on {}{noise}", best.value, place.name()))
    });
    let spinning: Vec<String> = spinning.collect();
    if !spinning.is_empty() {
        let said = format!("{}, but keeps the CPU of each end busy", spinning.join("; "));
        lines.push(("spinning", Cell::text(said)));
    }
    if lines.is_empty() {
        return Vec::new();
    }
    let what = if group.batched { "" } else { " (median)" };
    let title = format!("Fastest {}{}{what}", group.title, ends(usual));
    vec![Block::Heading(title), facts(lines)]
}

/// Of two cases, how many times as long the slower takes as the faster: the value and its least.
fn times(cases: &[RankedCase]) -> Option<(f64, f64)> {
    let [first, second] = cases else { return None };
    let ratio = |case: &RankedCase| case.ratio.clone().filter(|ratio| ratio.low.is_some());
    let (faster, slower) = (ratio(first)?, ratio(second)?);
    match faster.point == 1.0 {
        true => Some((slower.point, slower.low?)),
        false => Some((1.0 / faster.point, 1.0 / faster.high?)),
    }
}

/// `pipe is fastest, 5.2 µs; fifo and udp tie for second, 6.0 µs; slowest: tcp, 16 µs`
fn sentence(cases: &[Named], times: Option<(f64, f64)>) -> Option<String> {
    let first = cases.first()?;
    let of_rank = |rank| cases.iter().filter(|case| case.rank == Some(rank)).collect::<Vec<_>>();
    let (best, second) = (of_rank(1), of_rank(2));
    let Some(last) = cases.last().filter(|_| !best.is_empty()) else {
        return Some(match cases {
            [only] => format!("{} takes {}", only.name, only.value),
            _ => format!("{} was lowest, {}: not ranked", first.name, first.value),
        });
    };
    let mut said = match best.as_slice() {
        [only] => format!("{} is fastest, {}", only.name, only.value),
        _ => format!("{} show no difference, about {}", listed(&best), first.value),
    };
    match (second.as_slice(), times) {
        ([only], Some((point, least))) => said.push_str(&format!(
            "; {} takes {} × as long, at least {} ×",
            only.name,
            number::plain(point, 3),
            number::plain(least, 3)
        )),
        ([], _) => {}
        ([only], _) => said.push_str(&format!("; then {}, {}", only.name, only.value)),
        (tied, _) => {
            said.push_str(&format!("; then {}, about {}", listed(tied), tied[0].value));
        }
    }
    if last.rank > Some(2) {
        said.push_str(&format!("; slowest: {}, {}", last.name, last.value));
    }
    Some(said)
}

/// `pipe, fifo and 3 more`
fn listed(cases: &[&Named]) -> String {
    let mut names: Vec<String> =
        cases.iter().take(NAMES_MAX).map(|case| case.name.clone()).collect();
    if cases.len() > NAMES_MAX {
        names.truncate(NAMES_MAX - 1);
        names.push(format!("{} more", cases.len() + 1 - NAMES_MAX));
    }
    match names.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} and {last}", others.join(", ")),
        None => String::new(),
    }
}
