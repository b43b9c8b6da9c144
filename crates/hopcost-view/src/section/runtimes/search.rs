//! Published numbers that do not say what was timed, and what comes near here.

use hopcost_model::results::{PublishedSearch, Results, SearchCandidate};

use crate::names::case_at;
use crate::number;
use crate::section::model::{
    Block, Cell, Medium, Rows, Scale, Section, Unit, estimates, notes, numbers, says, verdicts,
    words,
};
use crate::section::words::{mechanism, payload, sentence, setting};

pub(crate) fn section(results: &Results, _: Medium) -> Option<Section> {
    let searches = &results.runtimes.as_ref()?.searches;
    Section::of("search", searches.iter().flat_map(|search| part(results, search)))
}

fn part(results: &Results, search: &PublishedSearch) -> Vec<Block> {
    let case = |candidate: &SearchCandidate| case_at(results, candidate.result);
    let table = Rows::of(&search.candidates)
        .column(words("operation here"), |candidate| match case(candidate) {
            Some((index, case)) => Cell::text(mechanism(case)).of(index),
            None => Cell::code(candidate.case.clone()),
        })
        .column(words("how").fold(1), |candidate| {
            let Some((_, case)) = case(candidate) else { return Cell::none() };
            // The title has said the runtime.
            let setting = setting(case).into_iter().filter(|word| *word != search.runtime);
            let how: Vec<String> = payload(case).into_iter().chain(setting).collect();
            Cell::text(how.join(", "))
        })
        .column(estimates("here"), |found| Cell::estimate(Some(&found.value), Scale::Time))
        .column(numbers("over the published"), |found| Cell::number(found.ratio, Unit::Times(2)))
        .column(verdicts(), |candidate| {
            case(candidate).map_or(Cell::none(), |(_, case)| Cell::validity(case.validity))
        });
    let published = number::time(search.published_ns, number::DIGITS_MAX);
    let title = format!("{}: {published} as published", named(search));
    let source = format!("Source: {}", sentence(&search.source));
    let blocks = [Block::Heading(title), says(search.conclusion.clone()), table.table()];
    blocks.into_iter().chain(notes([source])).collect()
}

/// The label, and the runtime where that does not say it.
fn named(search: &PublishedSearch) -> String {
    match search.label.to_lowercase().contains(&search.runtime) {
        true => search.label.clone(),
        false => format!("{}, {}", search.label, search.runtime),
    }
}
