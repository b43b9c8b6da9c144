//! What a report of a run shows: one document, made of what the results hold. Views
//! write it; which sections there are, in which order, and what stands in them is
//! decided here alone.

pub(crate) mod along;
mod answer;
mod cases;
mod checks;
pub(crate) mod compared_runs;
pub(crate) mod comparison;
mod counted;
mod explanation;
mod findings;
mod head;
mod host;
mod idling;
mod judged;
mod ladder;
mod load;
pub(crate) mod model;
mod models;
mod pivot;
pub(crate) mod plots;
mod published;
mod reading;
pub(crate) mod shapes;
pub(crate) mod runtimes;
mod stream;
#[cfg(test)]
mod tests;
mod wake;
pub(crate) mod words;
mod yardsticks;

use hopcost_model::results::{Results, Statistic};

pub(crate) use answer::between;
pub(crate) use findings::finding_id;
pub use head::Stored;
pub(crate) use head::{doubts, machine};
use model::{Block, Document, Medium, Section};

/// A section, if the results have something to put into it.
type Make = fn(&Results, Medium) -> Option<Section>;

const DOCUMENT: &[Medium] = &[Medium::Document];
const PAGE: &[Medium] = &[Medium::Page];
const ALL: &[Medium] = &[Medium::Document, Medium::Page];

/// The sections of a report in their order, and where each is shown.
const SECTIONS: &[(&[Medium], Make)] = &[
    (ALL, comparison::section),
    (ALL, explanation::section),
    (ALL, published::document),
    (ALL, answer::section),
    (ALL, head::remarks),
    (ALL, runtimes::matrix::mechanisms),
    (ALL, runtimes::matrix::pairs),
    (ALL, runtimes::threads::section),
    (ALL, runtimes::stamp::section),
    (ALL, runtimes::stamp::workers),
    (ALL, ladder::section),
    (ALL, wake::section),
    (ALL, idling::knobs),
    (ALL, idling::variance),
    (ALL, load::section),
    (ALL, stream::section),
    (ALL, checks::section),
    (ALL, counted::section),
    (ALL, models::section),
    (ALL, published::section),
    (PAGE, plots::swept),
    (PAGE, plots::percentiles),
    (PAGE, plots::trials),
    (DOCUMENT, cases::free),
    (DOCUMENT, cases::missing),
    (ALL, findings::section),
    (ALL, yardsticks::section),
    (ALL, host::section),
    (PAGE, cases::details),
    (ALL, reading::section),
];

/// The answer of a run, on one screen, and where the rest is.
pub(crate) fn answer(results: &Results, stored: Option<Stored<'_>>) -> Document {
    screen(results, stored).with_quiet()
}

fn screen(results: &Results, stored: Option<Stored<'_>>) -> Document {
    let mut head = head::alerts(results);
    if let Some(judged) = &results.judged {
        head.extend(judged::blocks(judged));
        head.extend(stored.map(head::more));
        return Document { title: head::line(results), head, ..Document::default() };
    }
    if let Some(found) = &results.explanation {
        head.extend(explanation::screen(results, found));
        head.extend(stored.map(head::more));
        return Document { title: head::line(results), head, ..Document::default() };
    }
    head = head::warnings(results);
    let (published, (conclusion, rest)) = (published::brief(results), answer::blocks(results));
    let apart = !published.is_empty() && matches!(rest.first(), Some(Block::Text(..)));
    head.extend(conclusion);
    head.extend(published);
    head.extend(apart.then(|| Block::Heading("All that was measured".to_owned())));
    head.extend(rest);
    head.extend(stored.map(head::more));
    Document { title: head::line(results), head, ..Document::default() }
}

/// The percentiles of a run that are asked for.
pub(crate) fn percentiles(results: &Results, asked: &[Statistic]) -> Document {
    let tails = head::slowed(results).into_iter().chain(answer::tails(results, asked));
    let document =
        Document { title: head::line(results), head: tails.collect(), ..Document::default() };
    document.with_quiet()
}

/// Each ranking of a run as a line of its own.
pub(crate) fn sentences(results: &Results) -> Vec<String> {
    match (&results.judged, &results.explanation) {
        (Some(judged), _) => judged::sentences(judged),
        (_, Some(found)) => explanation::sentences(found),
        _ => answer::sentences(results),
    }
}

/// The report of a run, as far as the medium can show it.
pub(crate) fn report(results: &Results, medium: Medium, stored: Option<Stored<'_>>) -> Document {
    let shown = SECTIONS.iter().filter(|(media, _)| media.contains(&medium));
    let title = match &results.judged {
        Some(judged) => judged::title(judged),
        None => format!("hopcost: suite {}", results.plan.suite),
    };
    let document = Document {
        title: format!("{title}{}", head::disturbed(results)),
        head: head::blocks(results),
        sections: judged::sections(results)
            .into_iter()
            .chain(shown.filter_map(|(_, section)| section(results, medium)))
            .collect(),
        rest: stored.map_or(Vec::new(), head::rest),
    };
    document.with_quiet()
}
