//! What a report of a run shows: one document, made of what the results hold. Views
//! write it; which sections there are, in which order, and what stands in them is
//! decided here alone.

mod cases;
mod counted;
mod findings;
mod head;
mod host;
mod idling;
mod ladder;
pub(crate) mod model;
mod models;
mod plots;
mod published;
mod reading;
pub(crate) mod runtimes;
mod stream;
#[cfg(test)]
mod tests;
mod wake;
pub(crate) mod words;

use hopcost_model::results::Results;

pub(crate) use findings::finding_id;
pub use head::Stored;
use model::{Document, Medium, Section};

/// The report of a run, as far as the medium has room for it.
pub(crate) fn report(results: &Results, medium: Medium, stored: Option<Stored<'_>>) -> Document {
    let on = |media: &[Medium]| media.contains(&medium);
    let page = on(&[Medium::Page]);
    let mut sections: Vec<Section> = head::remarks(results).into_iter().collect();
    sections.extend(runtimes::all(results, medium));
    let more = [
        ladder::section(results, medium),
        wake::section(results),
        idling::knobs(results),
        idling::variance(results),
        stream::section(results),
        counted::section(results),
        models::section(results),
        published::section(results, medium),
        page.then(|| plots::swept(results)).flatten(),
        page.then(|| plots::percentiles(results)),
        page.then(|| plots::trials(results)),
        on(&[Medium::Document]).then(|| cases::missing(results)).flatten(),
        Some(findings::section(results, medium)),
        on(&[Medium::Document, Medium::Page]).then(|| host::section(results)),
        page.then(|| cases::details(results)),
        Some(if page { reading::terms(results) } else { reading::brief(results, medium) }),
    ];
    sections.extend(more.into_iter().flatten());
    Document {
        title: format!("hopcost: suite {}", results.plan.suite),
        head: head::blocks(results, medium),
        sections,
        rest: if on(&[Medium::Terminal]) { head::rest(results, stored) } else { Vec::new() },
    }
}
