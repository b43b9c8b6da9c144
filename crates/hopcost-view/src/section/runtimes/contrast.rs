//! Pairs of cases that are often named in one breath, side by side in each runtime.

use std::collections::BTreeSet;

use hopcost_model::group::grouped;
use hopcost_model::results::{CaseResult, Contrast, Estimate, Results, Status};

use super::told;
use crate::names::case_at;
use crate::section::model::{
    Block, Cell, Medium, Rows, Scale, Section, estimates, says, verdicts, words,
};
use crate::section::words::missing;

/// The section; what happened to the cases that were told already is not told again.
pub(crate) fn section(results: &Results, _: Medium) -> Option<Section> {
    let runtimes = results.runtimes.as_ref()?;
    let told = told(results);
    let groups = grouped(&runtimes.contrasts, |contrast| contrast.title.clone());
    let parts = groups.into_iter().flat_map(|(title, pairs)| part(results, &told, title, &pairs));
    Section::of("contrasts", parts)
}

/// The mechanism that all cases on one side have in common.
fn heading<'a>(cases: impl Iterator<Item = &'a CaseResult>, otherwise: &str) -> String {
    let mut names: Vec<&str> = cases.map(|case| case.case.mechanism.as_str()).collect();
    names.dedup();
    match names.as_slice() {
        [one] => (*one).to_owned(),
        _ => otherwise.to_owned(),
    }
}

fn part(results: &Results, told: &BTreeSet<u32>, title: String, pairs: &[&Contrast]) -> Vec<Block> {
    let case = |index| case_at(results, index).map(|(_, case)| case);
    let side = |pick: fn(&Contrast) -> u32| pairs.iter().filter_map(move |pair| case(pick(pair)));
    let first = estimates(&heading(side(|pair| pair.first), "first")).fold(2);
    let second = estimates(&heading(side(|pair| pair.second), "second")).fold(1);
    let value = |value: Option<&Estimate>, index| match (value, case(index)) {
        (None, Some(case)) if case.status != Status::Measured => Cell::text(case.status.word()),
        (value, _) => Cell::estimate(value, Scale::Time),
    };
    let table = Rows::of(pairs)
        .column(words("runtime"), |pair| {
            Cell::text(pair.runtime.clone()).of(case_at(results, pair.second).map(|(i, _)| i))
        })
        .column(first, |pair| value(pair.first_value.as_ref(), pair.first))
        .column(second, |pair| value(pair.second_value.as_ref(), pair.second))
        .column(estimates("second over first"), |pair| Cell::ratio(pair.ratio.as_ref(), ""))
        .column(verdicts(), |pair| {
            let cases = [pair.first, pair.second].into_iter().filter_map(case);
            let worst =
                cases.filter_map(|case| case.validity).max().filter(|_| pair.ratio.is_some());
            worst.map_or(Cell::none(), Cell::grade)
        });
    let mut meanings: Vec<&String> = pairs.iter().map(|pair| &pair.meaning).collect();
    meanings.dedup();
    let untold = pairs.iter().flat_map(|pair| [pair.first, pair.second]);
    let untold = missing(untold.filter(|index| !told.contains(index)).filter_map(case));
    let says = meanings.into_iter().map(|meaning| says(meaning.clone()));
    [Block::Heading(title)].into_iter().chain(says).chain([table.table()]).chain(untold).collect()
}
