//! Published numbers that do not say what was timed, and what comes near here.

use hopcost_model::results::{PublishedSearch, Results, RuntimeComparison, SearchCandidate};

use crate::number;
use crate::section::model::{Block, Cell, Column, Medium, Rows, Scale, Section, Unit, notes, says};
use crate::section::words::{case_at, mechanism, more, payload, sentence, setting};

const LEAD: &str = "The source does not say which operation it timed. These are the operations \
    measured here that come nearest, the nearest first.";

/// Candidates that a terminal is told.
const CANDIDATES_MAX: usize = 6;

pub(super) fn section(
    results: &Results,
    runtimes: &RuntimeComparison,
    medium: Medium,
) -> Option<Section> {
    let parts = runtimes.searches.iter().flat_map(|search| part(results, search, medium));
    let blocks: Vec<Block> = parts.collect();
    let section = Section::new("search", "Which operation was published", LEAD);
    (!blocks.is_empty()).then(|| section.with(blocks))
}

fn part(results: &Results, search: &PublishedSearch, medium: Medium) -> Vec<Block> {
    let all = search.candidates.len();
    let candidates = &search.candidates[..all.min(medium.room(CANDIDATES_MAX))];
    let case = |candidate: &SearchCandidate| case_at(results, candidate.result);
    let table = Rows::of(candidates)
        .column(Column::words("operation here"), |candidate| match case(candidate) {
            Some((index, case)) => Cell::text(mechanism(case)).of(index),
            None => Cell::code(candidate.case.clone()),
        })
        .column(Column::words("how").fold(1), |candidate| {
            let Some((_, case)) = case(candidate) else { return Cell::none() };
            // The title has said the runtime.
            let setting = setting(case).into_iter().filter(|word| *word != search.runtime);
            let how: Vec<String> = payload(case).into_iter().chain(setting).collect();
            Cell::text(how.join(", "))
        })
        .column(Column::estimate("here"), |found| Cell::estimate(Some(&found.value), Scale::Time))
        .column(Column::number("over the published"), |found| {
            Cell::number(found.ratio, Unit::Times(2))
        })
        .column(Column::words("valid?"), |candidate| {
            case(candidate).map_or(Cell::none(), |(_, case)| Cell::grade(case.validity))
        });
    let published = number::time(search.published_ns, number::DIGITS_MAX);
    let title = format!("{}: {published} as published", named(search));
    let left_out = more(medium, all, CANDIDATES_MAX, "candidates, farther away, are");
    let source = format!("Source: {}", sentence(&search.source));
    let blocks = [Block::Heading(title), says(search.conclusion.clone()), table.table()];
    blocks.into_iter().chain(notes(left_out.into_iter().chain([source]))).collect()
}

/// The label, and the runtime where that does not say it.
fn named(search: &PublishedSearch) -> String {
    match search.label.to_lowercase().contains(&search.runtime) {
        true => search.label.clone(),
        false => format!("{}, {}", search.label, search.runtime),
    }
}
