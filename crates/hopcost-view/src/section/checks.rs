//! What is told of the run's suite: which sentences of its document hold, pairs of cases side by side, and from which value of an
//! axis on one is faster than another.

use hopcost_model::group::{distinct, grouped};
use hopcost_model::results::{Faster, JudgedClaim, JudgedPart, JudgedUnit, Results};

use super::judged::{cases, parts, record};
use super::model::{Block, Cell, Medium, Rows, Section, numbers, says, words};
use super::words::index_of;
use crate::number::bytes;

pub(super) fn section(results: &Results, _: Medium) -> Option<Section> {
    let (judged, told): (Vec<&JudgedClaim>, Vec<_>) =
        results.checks.iter().partition(|claim| claim.verdict.is_some());
    let records = judged.into_iter().enumerate();
    let records =
        records.map(|(at, claim)| record(results, &format!("docket {}", claim.docket), at, claim));
    let pairs = told.into_iter().filter(|claim| crossings(claim).next().is_none());
    let told = pairs.flat_map(|claim| {
        let title = Block::Heading(claim.id.clone());
        [title, says(claim.sentence.clone()), parts(claim), cases(results, claim)]
    });
    Section::of("checks", records.chain(told).chain(crossed(results)))
}

/// The parts that are of a crossover.
fn crossings(claim: &JudgedClaim) -> impl Iterator<Item = &JudgedPart> {
    claim.parts.iter().filter(|part| part.verdict.is_none() && !part.points.is_empty())
}

/// A line a pair: `A2 against A1 NODELAY, p50: faster from 1 KiB on with flows=1 and 2`.
pub(super) fn sentences(results: &Results) -> Vec<String> {
    let line = |claim: &JudgedClaim| {
        let outcomes = grouped(crossings(claim), |part| outcome(part)).into_iter();
        let said = outcomes.map(|(outcome, of)| {
            let levels = of.iter().filter_map(|part| part.level.as_deref());
            // Of one factor, it is named once.
            let rest = |(at, level): (usize, &str)| match level.split_once('=') {
                Some((_, value)) if at > 0 && !value.contains('=') => value.to_owned(),
                _ => level.to_owned(),
            };
            match levels.enumerate().map(rest).collect::<Vec<_>>().as_slice() {
                [] => outcome,
                levels => format!("{outcome} with {}", listed(levels)),
            }
        });
        let said = said.collect::<Vec<_>>().join("; ");
        (!said.is_empty()).then(|| format!("{}, p50: {said}", claim.id))
    };
    results.checks.iter().filter_map(line).collect()
}

/// Every crossover at every value of its axis.
fn crossed(results: &Results) -> Vec<Block> {
    let all = |claim| crossings(claim).map(move |part: &JudgedPart| (claim, part));
    let rows: Vec<(&JudgedClaim, &JudgedPart)> = results.checks.iter().flat_map(all).collect();
    if rows.is_empty() {
        return Vec::new();
    }
    let mut at = distinct(rows.iter().flat_map(|(_, part)| &part.points).map(|point| point.at));
    at.sort_unstable();
    let mut table = Rows::of(&rows)
        .column(words("ways"), |(claim, _)| Cell::text(claim.id.clone()))
        .column(words("at"), |(_, part)| part.level.clone().map_or(Cell::none(), Cell::text));
    for at in at {
        let head = rows.first().map_or(String::new(), |(_, part)| value(part, at));
        table = table.column(numbers(&head), |(_, part)| {
            let point = part.points.iter().find(|point| point.at == at);
            point.map_or(Cell::none(), |point| {
                let cell = Cell::brief_ratio(point.ratio.as_ref(), "");
                Cell { case: index_of(results, &point.case), ..cell }
            })
        });
    }
    let table = table.column(words("so the first is").fold(1), |(_, of)| Cell::text(outcome(of)));
    let title = "Which way is faster: p50 of a message as a multiple of the other's";
    vec![Block::Heading(title.to_owned()), table.table()]
}

/// A value of the axis.
fn value(part: &JudgedPart, at: u64) -> String {
    match part.value.as_ref().map(|value| value.unit) {
        Some(JudgedUnit::Bytes) => bytes(u32::try_from(at).unwrap_or(u32::MAX)),
        _ => at.to_string(),
    }
}

/// How the first of a crossover stands to the other.
fn outcome(of: &JudgedPart) -> String {
    let at = |faster: Faster| {
        let points = of.points.iter().filter(move |point| point.faster == faster);
        points.map(|point| value(of, point.at)).collect::<Vec<_>>()
    };
    // In a crossover what may overtake is the second.
    let (won, lost) = (at(Faster::Second), at(Faster::First));
    let from = of.points.iter().rev().take_while(|point| point.faster == Faster::Second).last();
    match (from, of.points.as_slice()) {
        (Some(from), [first, ..]) if from.at == first.at => "faster at every size".to_owned(),
        (Some(from), _) => format!("faster from {} on", value(of, from.at)),
        (None, _) if !won.is_empty() => format!("faster at {} only", listed(&won)),
        (None, all) if lost.len() == all.len() => "slower at every size".to_owned(),
        (None, _) if lost.is_empty() => "not told apart at any size".to_owned(),
        (None, all) => {
            let last = all.last().map_or(String::new(), |last| value(of, last.at));
            format!("never faster up to {last}")
        }
    }
}

/// `1, 2 and 4`
fn listed(all: &[String]) -> String {
    match all {
        [] => String::new(),
        [only] => only.clone(),
        [before @ .., last] => format!("{} and {last}", before.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stored;

    #[test]
    fn what_is_said_of_a_pair() {
        use Faster::{First, Neither, Second};
        let mut results = stored::results("copies");
        let claim = results.checks.first().cloned().expect("A2 against A1");
        let part = |(flows, faster): &(u32, [Faster; 3])| {
            let mut part = claim.parts.first().cloned().expect("a crossover");
            part.points.truncate(3);
            part.points.iter_mut().zip(faster).for_each(|(point, faster)| point.faster = *faster);
            JudgedPart { level: Some(format!("flows={flows}")), ..part }
        };
        let mut says = |all: &[(u32, [Faster; 3])]| {
            let parts = all.iter().map(part).collect();
            results.checks = vec![JudgedClaim { parts, ..claim.clone() }];
            sentences(&results).concat()
        };
        assert_eq!(
            says(&[(1, [Second; 3]), (2, [Neither, Second, Second]), (4, [Second; 3])]),
            "A2 against A1, p50: faster at every size with flows=1 and 4; faster from 1 KiB on with \
             flows=2"
        );
        for (faster, said) in [
            ([Second, First, Second], "faster from 4 KiB on"),
            ([Second, Second, Neither], "faster at 256 B and 1 KiB only"),
            ([First; 3], "slower at every size"),
            ([Neither; 3], "not told apart at any size"),
            ([First, Neither, First], "never faster up to 4 KiB"),
        ] {
            let want = format!("A2 against A1, p50: {said} with flows=1");
            assert_eq!(says(&[(1, faster)]), want);
        }
    }
}
