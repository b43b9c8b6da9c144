//! What a report of a run shows: one document, made of what the results hold. Views
//! write it; which sections there are, in which order, and what stands in them is
//! decided here alone.

pub(crate) mod along;
mod answer;
pub(crate) mod comparison;
pub(crate) mod contrasts;
mod details;
mod explanation;
mod fields;
mod findings;
mod head;
mod headline;
mod judged;
mod ladder;
mod load;
pub(crate) mod model;
pub(crate) mod plots;
mod published;
pub(crate) mod shapes;
pub(crate) mod words;

use hopcost_model::Workload;
use hopcost_read::results::Results;

pub(crate) use answer::between;
#[cfg(test)]
pub(crate) use answer::charts;
use answer::{Part, Weight};
pub(crate) use fields::facts_of;
use fields::table;
pub(crate) use findings::finding_id;
pub use head::Stored;
pub(crate) use head::machine;
pub(crate) use headline::Headline;
use model::{Block, Section, drawn, notes, says};
pub use model::{Document, Medium};

/// A section, if the results have something to put into it.
type Make = fn(&Results, Medium) -> Option<Section>;

const PAGE: &[Medium] = &[Medium::Page];
const ALL: &[Medium] = &[Medium::Document, Medium::Page];

/// The sections of a report in their order, and where each is shown.
const SECTIONS: &[(&[Medium], Make)] = &[
    (ALL, |of, _| Section::of("comparison", comparison::blocks(of.comparison.as_ref()?))),
    (ALL, explanation::section),
    (ALL, answer::section),
    (ALL, published::section),
    (ALL, |of, _| Section::of("remarks", notes(of.remarks.iter().cloned()))),
    (ALL, |of, _| Section::of("workers", [table(&of.workers)])),
    (ALL, |of, _| ladder::section("ladder", &[Workload::Call, Workload::Roundtrip], of)),
    (ALL, |of, _| ladder::section("wake", &[Workload::Wake], of)),
    (ALL, |of, _| ladder::section("load", &[Workload::Load], of)),
    (ALL, |of, _| ladder::section("streams", &[Workload::Stream], of)),
    (ALL, details::tcp),
    (PAGE, |of, _| Section::of("plots", drawn(plots::along_axes(of)))),
    (PAGE, |of, _| Section::of("percentiles", drawn(plots::of_few(of, plots::curves)))),
    (PAGE, |of, _| Section::of("trials", drawn(plots::of_few(of, plots::of_trials)))),
    (ALL, details::missing),
    (ALL, findings::section),
    (ALL, |of, _| Section::of("yardsticks", [table(&of.yardsticks), table(&of.adjustments)])),
    (ALL, details::host),
    (PAGE, details::cases),
    (ALL, details::reading),
];

/// Lines of a screen that the least important parts of an answer give way to.
pub(crate) const SCREEN_LINES: usize = 60;

/// The answer of a run on one screen, and where the rest is. `lines` counts the lines that a document
/// takes.
pub(crate) fn answer(
    results: &Results,
    stored: Option<Stored<'_>>,
    lines: impl Fn(&Document) -> usize,
) -> Document {
    let headline = headline(results);
    let mut parts = screen(results);
    let last = std::iter::once(says(head::line(results))).chain(stored.map(head::more));
    parts.push((Weight::Must, last.collect()));
    loop {
        let rest = parts.iter().flat_map(|(_, blocks)| blocks.clone()).collect();
        let document = headline.clone().document(rest, Vec::new());
        let most = parts.iter().map(|of| of.0).max().filter(|most| *most > Weight::Must);
        let last = parts.iter().rposition(|of| Some(of.0) == most);
        match last.filter(|_| lines(&document) > SCREEN_LINES) {
            Some(last) => drop(parts.remove(last)),
            None => return document,
        }
    }
}

/// What a run answers, in words.
pub(crate) fn headline(results: &Results) -> Headline {
    match results {
        Results { judged: Some(found), .. } => judged::headline(found, results),
        Results { explanation: Some(found), .. } => explanation::headline(found, results),
        Results { comparison: Some(found), .. } => comparison::live(found, results),
        _ => answer::headline(results),
    }
}

/// What stands below it.
fn screen(results: &Results) -> Vec<Part> {
    let must = |blocks: Vec<Block>| (Weight::Must, blocks);
    if let Some(judged) = &results.judged {
        return vec![must(judged::blocks(judged)), must(head::alerts(results))];
    }
    if let Some(found) = &results.explanation {
        return vec![must(explanation::blocks(results, found)), must(head::alerts(results))];
    }
    let (published, rest) = (published::brief(results), answer::screen(results));
    let is_said = |part: &Part| matches!(part.1.first(), Some(Block::Text(..)));
    let apart = !published.is_empty() && rest.first().is_some_and(is_said);
    let apart = apart.then(|| Block::Heading("All that was measured".to_owned()));
    let first = [head::warnings(results), published, apart.into_iter().collect()];
    first.into_iter().map(must).chain(rest).collect()
}

/// The percentiles of a run that are asked for.
pub(crate) fn percentiles(results: &Results, asked: &[f64]) -> Document {
    let tables = ladder::percentiles(results, asked);
    let head = head::warnings(results).into_iter().chain(tables).chain(answer::to_know(results));
    let title = head::line(results);
    Document { title, head: head.collect(), ..Document::default() }
}

/// The conclusion of a run in a line to paste, with machine, command and what casts doubt on it; of
/// claims a line each.
pub(crate) fn sentences(results: &Results) -> Vec<String> {
    match &results.judged {
        Some(judged) => judged::sentences(judged),
        None => vec![format!("{} ({})", headline(results).in_a_line(), head::besides(results))],
    }
}

/// The report of a run, as far as the medium can show it.
pub(crate) fn report(results: &Results, medium: Medium, stored: Option<Stored<'_>>) -> Document {
    let shown = SECTIONS.iter().filter(|(media, _)| media.contains(&medium));
    Document {
        title: head::line(results),
        banner: headline(results).banner(),
        head: head::blocks(results, medium),
        sections: judged::sections(results)
            .into_iter()
            .chain(shown.filter_map(|(_, section)| section(results, medium)))
            .chain(head::about(results, stored))
            .collect(),
    }
}
