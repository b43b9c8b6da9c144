//! A case in its place of a table: what its row and column are called, its value and its rank.

use std::collections::BTreeMap;
use std::fmt;

use hopcost_model::Boundary;
use hopcost_model::group::grouped;
use hopcost_read::results::{
    CaseResult, Estimate, LadderGroup, LadderRow, RankedBy, RankedCase, Ratio, Results, Step,
};

use crate::names::{Place, all_of, row_label};
use crate::number;
use crate::section::words::rates_at_levels;

/// A case in its place of a table.
#[derive(Clone)]
pub(super) struct Entry<'a> {
    /// What its numbers are compared within.
    pub group: &'a LadderGroup,
    pub row: &'a LadderRow,
    pub name: String,
    /// Of a stream.
    pub flows: Option<u32>,
    pub place: Place,
    /// What is swept: its value in words, and what columns are in order of.
    pub column: (u64, String),
    pub index: usize,
    pub case: &'a CaseResult,
    /// As it stands first.
    pub estimate: Estimate,
    /// Where its trials lie at two levels: the estimate lies between them.
    pub levels: Option<(f64, f64)>,
    pub rank: Option<Rank>,
    pub ratio: Option<&'a Ratio>,
}

impl Entry<'_> {
    /// The value by which it is compared.
    pub fn point(&self) -> f64 {
        self.estimate.point.unwrap_or(f64::INFINITY)
    }
}

/// The entries of a group that have a number, in the order of its rows. `usual` is the boundary that
/// names leave out.
pub(super) fn entries<'a>(
    group: &'a LadderGroup,
    by: RankedBy,
    usual: Option<Boundary>,
    results: &'a Results,
) -> Vec<Entry<'a>> {
    let ranked = ranked(group, by);
    let entry = |(row, place, index, case): (&'a LadderRow, Place, usize, &'a CaseResult)| {
        let estimate = match by {
            RankedBy::Time => case.shown()?,
            RankedBy::Throughput => case.stream.as_ref()?.aggregate_gbps.clone()?,
        };
        estimate.point?;
        let levels = match by {
            RankedBy::Time => case.levels.filter(|_| !case.has_two_speeds()),
            RankedBy::Throughput => rates_at_levels(case, &estimate),
        };
        let (rank, ratio) = ranked.get(&(index as u32)).copied().unwrap_or((None, None));
        let swept = case.case.gap_ns.or(case.case.payload_bytes.map(u64::from)).unwrap_or(0);
        Some(Entry {
            group,
            row,
            name: name(row, usual, results),
            flows: case.stream.as_ref().map(|of| of.flows),
            place,
            column: (swept, column(case)),
            index,
            case,
            estimate,
            levels,
            rank,
            ratio,
        })
    };
    all_of(group, results).filter_map(entry).collect()
}

/// What a row is called: its label, its boundary where most rows have another, and how it waits
/// unless by blocking.
fn name(row: &LadderRow, usual: Option<Boundary>, results: &Results) -> String {
    let label = row_label(row, results).replace(" 0 bytes", "");
    let label = across(label, row.boundary, usual);
    match row.wait.as_deref() {
        None | Some("block") => label,
        Some("spin") => format!("{label}, spinning"),
        Some(wait) => format!("{label}, {wait}"),
    }
}

/// A label with its boundary where most rows have another.
pub(super) fn across(label: String, boundary: Boundary, usual: Option<Boundary>) -> String {
    match boundary {
        Boundary::Namespace => format!("{label} over veth"),
        own if usual.is_some_and(|usual| usual != own) => format!("{label} ({})", between(own)),
        _ => label,
    }
}

/// What a case is swept over.
fn column(case: &CaseResult) -> String {
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
        None | Some(0) => "no payload".to_owned(),
        Some(bytes) => number::bytes(bytes),
    }
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
pub(super) fn usual<'a>(rows: impl IntoIterator<Item = &'a LadderRow>) -> Option<Boundary> {
    let groups = grouped(rows, |row| row.boundary);
    groups.into_iter().max_by_key(|(_, rows)| rows.len()).map(|(boundary, _)| boundary)
}

/// What most rows of a table stand between: `, processes`
pub(super) fn ends(usual: Option<Boundary>) -> String {
    usual.map_or(String::new(), |usual| format!(", {}", between(usual)))
}

/// A rank: those with the same number show no difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Rank {
    pub number: u32,
    /// Whether some of the rank above show none either.
    pub overlaps: bool,
}

impl fmt::Display for Rank {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.number, if self.overlaps { "~" } else { "" })
    }
}

/// What the loop around calls is called: no operation, but what each of them holds.
pub(super) const EMPTY_LOOP: &str = "empty loop";

/// Rank and multiple of each case, at every place. What spins has no rank beside what sleeps, nor
/// has the empty loop beside calls.
fn ranked(group: &LadderGroup, by: RankedBy) -> BTreeMap<u32, (Option<Rank>, Option<&Ratio>)> {
    let is_apart = |case: &RankedCase| {
        let row = group.rows.get(case.row as usize);
        row.is_some_and(|row| row.spins || row.label == EMPTY_LOOP)
    };
    let mut found = BTreeMap::new();
    for ranking in group.rankings.iter().filter(|ranking| ranking.by == by) {
        let all = ranking.cases.iter().all(is_apart);
        let ranks = ranks(&ranking.cases, |case| all || !is_apart(case));
        for case in &ranking.cases {
            let rank = ranks.get(&case.result).copied();
            found.insert(case.result, (rank, case.ratio.as_ref()));
        }
    }
    found
}

/// The ranks of some cases of a ranking; none where it is not known. Two on either side of a step
/// differ, whatever stood between them.
pub(super) fn ranks(
    cases: &[RankedCase],
    is_ranked: impl Fn(&RankedCase) -> bool,
) -> BTreeMap<u32, Rank> {
    let (mut ranks, mut last, mut step) = (BTreeMap::new(), None, Step::Tied);
    for case in cases {
        let Some(own) = case.step else { return BTreeMap::new() };
        step = if step == Step::Tied || own == Step::Apart { own } else { step };
        if !is_ranked(case) {
            continue;
        }
        let rank = match last {
            None => Rank { number: 1, overlaps: false },
            Some(rank) if step == Step::Tied => rank,
            Some(Rank { number, .. }) => {
                Rank { number: number + 1, overlaps: step == Step::Between }
            }
        };
        ranks.insert(case.result, rank);
        (last, step) = (Some(rank), Step::Tied);
    }
    ranks
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
            let ranks = ranks(&cases, |case| results.contains(&case.result));
            ranks.values().map(ToString::to_string).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(told(&[0, 1, 2, 3, 4]), "1 2 2 3~ 3~");
        // 1.9 ns and 13.8 ns were equal once, because those between had been left out.
        assert_eq!(told(&[0, 2, 4]), "1 2 3~");
        assert_eq!(told(&[0, 4]), "1 2");
    }
}
