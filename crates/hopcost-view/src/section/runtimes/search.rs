//! Published numbers that do not say what was timed, and what comes near here.

use hopcost_model::results::{PublishedSearch, Results, RuntimeComparison, SearchCandidate};

use super::super::{Cell, Column, Detail, Part, Row, Section, mechanism, setting, time};
use crate::number;

const LEAD: &str = "The source does not say which operation it timed. These are the operations \
    measured here that come nearest, the nearest first.";

/// Candidates that a terminal is told.
const CANDIDATES_MAX: usize = 6;

pub(super) fn section(
    results: &Results,
    runtimes: &RuntimeComparison,
    detail: Detail,
) -> Option<Section> {
    let parts: Vec<Part> =
        runtimes.searches.iter().map(|search| part(results, search, detail)).collect();
    (!parts.is_empty()).then(|| Section {
        id: "search",
        title: "Which operation was published",
        lead: LEAD.to_owned(),
        parts,
    })
}

fn part(results: &Results, search: &PublishedSearch, detail: Detail) -> Part {
    let most = if detail == Detail::Brief { CANDIDATES_MAX } else { usize::MAX };
    let columns = vec![
        Column::words("operation here"),
        Column::words("how").fold(1),
        Column::number("here [interval]"),
        Column::number("over the published"),
        Column::words("valid?"),
    ];
    let rows = search.candidates.iter().take(most).map(|found| row(results, search, found));
    let mut notes = Vec::new();
    if let Some(more) = search.candidates.len().checked_sub(most).filter(|more| *more > 0) {
        notes.push(format!("{more} more, farther away: in the HTML, Markdown and JSON reports."));
    }
    notes.push(format!("Source: {}", super::super::sentence(&search.source)));
    Part {
        title: format!(
            "{}: {} as published",
            named(search),
            number::duration(search.published_ns, number::DIGITS_MAX, number::UNICODE)
        ),
        says: vec![search.conclusion.clone()],
        columns,
        rows: rows.collect(),
        notes,
        ..Part::default()
    }
}

/// The label, and the runtime where that does not say it.
fn named(search: &PublishedSearch) -> String {
    match search.label.to_lowercase().contains(&search.runtime) {
        true => search.label.clone(),
        false => format!("{}, {}", search.label, search.runtime),
    }
}

fn row(results: &Results, search: &PublishedSearch, candidate: &SearchCandidate) -> Row {
    let index = usize::try_from(candidate.result).ok();
    let case = index.and_then(|index| results.results.get(index));
    let name = case.map_or_else(|| candidate.case.clone(), mechanism);
    let how = case.map_or_else(Vec::new, |case| {
        let bytes = case.case.payload_bytes.filter(|bytes| *bytes > 0).map(number::bytes);
        // The title has said the runtime.
        let setting = setting(case).into_iter().filter(|word| *word != search.runtime);
        bytes.into_iter().chain(setting).collect()
    });
    Row {
        cells: vec![
            Cell::Text(name),
            Cell::Text(how.join(", ")),
            Cell::estimate(Some(&candidate.value), time),
            Cell::Number(format!("×{}", number::plain(candidate.ratio, 2)), candidate.ratio),
            case.map_or(Cell::none(), |case| Cell::Validity(case.validity)),
        ],
        case: index.filter(|_| case.is_some()),
    }
}
