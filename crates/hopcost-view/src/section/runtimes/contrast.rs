//! Pairs of cases that are often named in one breath, side by side in each runtime.

use hopcost_model::results::{CaseResult, Contrast, Estimate, Results, RuntimeComparison, Status};

use super::super::{Cell, Column, Detail, Part, Row, Section, grouped, missing, time};

const LEAD: &str = "A multiple says as much as its two sides have in common. The pairs here \
    are different questions and have different answers. Each multiple is of the second over the \
    first, paired by round.";

pub(super) fn section(
    results: &Results,
    runtimes: &RuntimeComparison,
    _: Detail,
) -> Option<Section> {
    let all: Vec<&Contrast> = runtimes.contrasts.iter().collect();
    let groups = grouped(all, |contrast| contrast.title.clone());
    let parts: Vec<Part> =
        groups.into_iter().map(|(title, pairs)| part(results, runtimes, title, &pairs)).collect();
    (!parts.is_empty()).then(|| Section {
        id: "contrasts",
        title: "What a multiple is of",
        lead: LEAD.to_owned(),
        parts,
    })
}

fn case(results: &Results, index: u32) -> Option<(usize, &CaseResult)> {
    let index = usize::try_from(index).ok()?;
    results.results.get(index).map(|case| (index, case))
}

/// The mechanism that all cases on one side have in common.
fn heading<'a>(cases: impl Iterator<Item = &'a CaseResult>, otherwise: &str) -> String {
    let mut names: Vec<&str> = cases.map(|case| case.case.mechanism.as_str()).collect();
    names.dedup();
    match names.as_slice() {
        [one] => format!("{one} [interval]"),
        _ => format!("{otherwise} [interval]"),
    }
}

fn part(
    results: &Results,
    runtimes: &RuntimeComparison,
    title: String,
    pairs: &[&Contrast],
) -> Part {
    let side =
        |pick: fn(&Contrast) -> u32| pairs.iter().filter_map(move |pair| case(results, pick(pair)));
    let columns = vec![
        Column::words("runtime"),
        Column::name(&heading(side(|pair| pair.first).map(|(_, case)| case), "first")).fold(2),
        Column::name(&heading(side(|pair| pair.second).map(|(_, case)| case), "second")).fold(1),
        Column::number("second over first [interval]"),
        Column::words("valid?"),
    ];
    let rows = pairs.iter().map(|pair| row(results, pair)).collect();
    let mut says: Vec<String> = pairs.iter().map(|pair| pair.meaning.clone()).collect();
    says.dedup();
    // What a table above has said already is not said again.
    let told = super::told(runtimes);
    let cases = side(|pair| pair.first).chain(side(|pair| pair.second));
    let cases = cases.filter(|(index, _)| !u32::try_from(*index).is_ok_and(|i| told.contains(&i)));
    let notes = missing(&cases.collect::<Vec<_>>());
    Part { title, says, columns, rows, notes, ..Part::default() }
}

fn row(results: &Results, pair: &Contrast) -> Row {
    let (first, second) = (case(results, pair.first), case(results, pair.second));
    let validity = [first, second].into_iter().flatten().map(|(_, case)| case.validity).max();
    let side = |value: Option<&Estimate>, case: Option<(usize, &CaseResult)>| match (
        value,
        case.map(|(_, case)| case.status),
    ) {
        (None, Some(status)) if status != Status::Measured => Cell::Text(status.word().to_owned()),
        (value, _) => Cell::estimate(value, time),
    };
    Row {
        cells: vec![
            Cell::Text(pair.runtime.clone()),
            side(pair.first_value.as_ref(), first),
            side(pair.second_value.as_ref(), second),
            Cell::ratio(pair.ratio.as_ref(), None),
            validity.filter(|_| pair.ratio.is_some()).map_or(Cell::none(), Cell::Validity),
        ],
        case: second.map(|(index, _)| index),
    }
}
