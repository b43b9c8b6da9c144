//! How cases, places and quantiles are called in every view.

use hopcost_model::library_of;
use hopcost_read::results::{CaseResult, Estimate, LadderGroup, LadderRow, Results};

pub(crate) use hopcost_read::results::Place;

/// The cases of a row, each with its place and its index.
fn cases_of<'a>(
    row: &LadderRow,
    results: &'a Results,
) -> impl Iterator<Item = (Place, usize, &'a CaseResult)> {
    Place::ALL.into_iter().filter_map(move |place| {
        let (index, case) = case_at(results, row.at(place)?)?;
        Some((place, index, case))
    })
}

/// Those of all rows of a group, each with its row.
pub(crate) fn all_of<'g, 'a>(
    group: &'g LadderGroup,
    results: &'a Results,
) -> impl Iterator<Item = (&'g LadderRow, Place, usize, &'a CaseResult)> {
    let cases = |row| cases_of(row, results).map(move |(place, at, case)| (row, place, at, case));
    group.rows.iter().flat_map(cases)
}

/// The case at an index of the results, with that index.
pub(crate) fn case_at(results: &Results, index: u32) -> Option<(usize, &CaseResult)> {
    let index = usize::try_from(index).ok()?;
    results.results.get(index).map(|case| (index, case))
}

/// What a row of the ladder is called: its label, and the runtime of its cases where
/// they are not in Rust and the label does not say it.
pub(crate) fn row_label(row: &LadderRow, results: &Results) -> String {
    let runtime = cases_of(row, results).next().and_then(|(.., case)| foreign(case));
    let says = |runtime: &String| row.label.split([' ', '(', ')', ',']).any(|w| w == runtime);
    match runtime.filter(|runtime| !says(runtime)) {
        Some(runtime) => format!("{} ({runtime})", row.label),
        None => row.label.clone(),
    }
}

/// `pipe, process, block`
pub(crate) fn row_name(row: &LadderRow, results: &Results) -> String {
    let label = row_label(row, results);
    match &row.wait {
        Some(wait) => format!("{label}, {}, {wait}", row.boundary),
        None => label,
    }
}

/// What a case's own number is called: the cost of batches, else the median.
pub(crate) fn headline(case: &CaseResult) -> Option<(&'static str, &Estimate)> {
    let (statistic, estimate) = case.estimates.as_ref()?.headline()?;
    Some((statistic.label(), estimate))
}

/// Letters, digits and `-` of a name: it becomes an id and a part of file names.
pub(crate) fn plain_id(name: &str) -> String {
    let keep = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    let id: String = name.chars().take(80).map(keep).collect();
    let words: Vec<&str> = id.split('-').filter(|word| !word.is_empty()).collect();
    if words.is_empty() { "unnamed".to_owned() } else { words.join("-") }
}

/// `p99.9`
pub(crate) fn quantile(q: f64) -> String {
    let percent = format!("{:.4}", q * 100.0);
    format!("p{}", percent.trim_end_matches('0').trim_end_matches('.'))
}

/// With a capital letter.
pub(crate) fn capitalised(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or(String::new(), |c| c.to_uppercase().chain(chars).collect())
}

/// What the ends are written in, unless both are in Rust or of a library, whose mechanisms have names
/// of their own.
pub(crate) fn foreign(case: &CaseResult) -> Option<String> {
    let is_told = |runtime: &String| runtime != "rust" && library_of(runtime).is_none();
    Some(case.case.runtime.clone()).filter(is_told)
}
