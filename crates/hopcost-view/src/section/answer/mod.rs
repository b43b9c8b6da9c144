//! The answer: what a run found, on one screen. The conclusion in words, a table for each question,
//! and what to know of them.

mod conclusion;
mod entry;
mod know;
mod libraries;
mod question;
mod runtimes;
mod table;

use hopcost_model::text::count;
use hopcost_read::results::Results;

use self::entry::Entry;
pub(crate) use self::entry::between;
pub(super) use self::know::{Doubts, stalled};
pub(crate) use self::know::{Part, Weight};
use self::question::{Question, Shape};
use super::headline::{Headline, titled};
use super::model::{Block, Form, Medium, Section, Table, says};
use super::shapes::{About, Drawn, rows};
use super::{comparison, load};
use crate::chart::Unit;
use crate::chart::model::{Axis, Chart, Scale::Log};
use crate::names::{Place, capitalised, plain_id};

/// The answer as a section, where other sections follow; that of a comparison has its own.
pub(super) fn section(results: &Results, medium: Medium) -> Option<Section> {
    let doubts = &Doubts::of(results);
    let know = know::sentences(results, doubts, Some(medium));
    if results.comparison.is_some() {
        return Section::of("answer", know::blocks(know));
    }
    let parts = parts(results, medium).into_iter().flat_map(|(_, part)| part);
    // A document has room for all columns.
    let whole = |block: Block| match block {
        Block::Table(table) => Block::Table(Table { form: Form::Columns, ..table }),
        other => other,
    };
    Section::of("answer", parts.chain(know::blocks(know)).map(whole))
}

/// The conclusion of a run, in words.
pub(super) fn headline(results: &Results) -> Headline {
    if let Some(libraries) = libraries::headline(results) {
        return libraries;
    }
    let (questions, concluded) = question::all(results);
    let mut all = [runtimes::headline, load::headline].into_iter().map(|of| of(results));
    let absent: Vec<(String, String)> = runtimes::absent(results).collect();
    // Where runtimes are compared, the fastest of all is no answer.
    let is_of_runtimes = !results.runtimes.is_empty() && absent.is_empty();
    let ranked = (!is_of_runtimes).then(|| conclusion::headline(&concluded, results));
    let found = all.find(|of| !of.facts.is_empty()).or(ranked).unwrap_or_default();
    // Where a mechanism alone answers the first question, the others have no better place.
    let is_alone = concluded.iter().all(|entry| entry.name == concluded[0].name);
    let others = questions.iter().skip(1).filter(|_| is_alone && !found.facts.is_empty());
    let besides = others.filter_map(conclusion::beside);
    let facts: Vec<(String, String)> =
        absent.into_iter().chain(found.facts.clone()).chain(besides).collect();
    let title = match facts.is_empty() {
        true if is_of_runtimes => titled("No runtime has an interval beside rust (median", results),
        true => format!("None of {} was measured.", count(results.results.len(), "case")),
        false => found.title,
    };
    Headline { title, facts, ..found }
}

/// What stands below it on a screen.
pub(super) fn screen(results: &Results) -> Vec<Part> {
    let mut parts = match &results.comparison {
        Some(found) => vec![(Weight::Must, comparison::blocks(found))],
        None => parts(results, Medium::Document),
    };
    parts.extend(
        to_know(results)
            .into_iter()
            .enumerate()
            .map(|(at, said)| (if at == 0 { Weight::Must } else { Weight::Says }, vec![said])),
    );
    parts
}

fn parts(results: &Results, medium: Medium) -> Vec<Part> {
    let doubts = &Doubts::of(results);
    let (questions, _) = question::all(results);
    let mut parts = runtimes::tables(results, doubts);
    parts.extend(tables(&questions, doubts, medium));
    let load = load::answer(results, &|case| doubts.mark(case));
    parts.extend((!load.is_empty()).then_some((Weight::Must, load)));
    parts.extend(know::of_wake_ups(results).into_iter().map(|note| (Weight::Aside, vec![note])));
    parts.extend(know::of_stalls(results).map(|said| (Weight::Must, vec![said])));
    if !parts.is_empty() {
        parts.push((Weight::Must, vec![legend(&questions, results)]));
    }
    parts
}

/// A table for each question. The last about placements stands beside the calls. A page has charts
/// instead, unless something was swept.
fn tables(questions: &[Question<'_>], doubts: &Doubts, medium: Medium) -> Vec<Part> {
    let is_page = medium == Medium::Page;
    let is_placed = |of: &&Question| of.shape == Shape::Placed;
    let lines = questions.iter().find(|of| of.shape == Shape::Calls);
    let beside = questions.iter().skip(1).rfind(is_placed);
    let beside = beside.filter(|_| lines.is_some() && !is_page);
    let table = |(at, question): (usize, &Question)| {
        let Question { title, entries, shape } = question;
        let charts = if is_page { charts_of(at, question) } else { Vec::new() };
        let blocks = match shape {
            Shape::Swept(by) => table::swept(entries, *by, doubts),
            _ if !charts.is_empty() => vec![Block::Charts(charts)],
            Shape::Placed if beside.is_some_and(|of| std::ptr::eq(of, question)) => {
                let brief = table::placed(entries, false, doubts);
                let title = capitalised(&entries[0].group.title);
                let left = vec![Block::Heading(title), brief];
                let calls = lines.map(|of| table::listed(&of.title, &of.entries, doubts));
                vec![Block::Beside(left, calls.into_iter().collect())]
            }
            Shape::Placed => {
                let whole = table::placed(entries, true, doubts);
                vec![Block::Heading(title.clone()), whole]
            }
            Shape::Calls if beside.is_some() => Vec::new(),
            Shape::Calls => vec![table::listed(title, entries, doubts)],
        };
        (if at == 0 { Weight::Must } else { Weight::Table }, blocks)
    };
    let all = questions.iter().enumerate().map(table);
    all.filter(|(_, blocks)| !blocks.is_empty()).collect()
}

/// The charts of a run's questions.
pub(crate) fn charts(results: &Results) -> Vec<Chart> {
    let (questions, _) = question::all(results);
    let all = questions.iter().enumerate();
    let placed = all.filter(|(_, of)| !matches!(of.shape, Shape::Swept(_)));
    placed.flat_map(|(at, question)| charts_of(at, question)).collect()
}

/// A chart for each place of a question: its entries with their ranks, the fastest first, and what
/// spins last.
fn charts_of(at: usize, question: &Question) -> Vec<Chart> {
    let of_place = |place: Place| {
        let mut own: Vec<&Entry> =
            question.entries.iter().filter(|entry| entry.place == place).collect();
        own.sort_by(|a, b| (a.row.spins.cmp(&b.row.spins)).then(a.point().total_cmp(&b.point())));
        let group = own.first()?.group;
        let name = |entry: &Entry| match (entry.rank, table::short(&entry.name)) {
            (Some(rank), name) => format!("{rank}: {name}"),
            (None, name) if entry.row.spins => format!("{}: {name}", table::SPINS),
            (None, name) => name,
        };
        let values = own.iter().map(|of| (name(of), &of.estimate, of.levels));
        let values: Vec<Drawn> = values.collect();
        let title = match question.shape {
            Shape::Calls => question.title.clone(),
            _ => format!("{}: {}", question.title, place.name()),
        };
        let about = About {
            id: format!("ladder-{at}-{}", plain_id(&title)),
            title,
            says: format!(
                "{} One row per case, the fastest first. The bar through a value is its interval; \
                 cases of one rank show no difference.",
                group.meaning
            ),
        };
        let what = if group.batched { "cost" } else { "p50" };
        let axis = Axis::new(format!("{what}, with its interval"), Log, Unit::Ns);
        (own.len() > 1).then(|| rows(about, "rank: mechanism", &values, &axis))?
    };
    Place::ALL.into_iter().filter_map(of_place).collect()
}

/// What to know of a run, as far as there is room.
pub(super) fn to_know(results: &Results) -> Vec<Block> {
    know::blocks(know::sentences(results, &Doubts::of(results), None))
}

/// What ranks, intervals and marks mean, as far as there are any.
fn legend(questions: &[Question<'_>], results: &Results) -> Block {
    let any = |is: &dyn Fn(&Entry) -> bool| {
        questions.iter().flat_map(|question| &question.entries).any(is)
    };
    let overlaps = match any(&|entry| entry.rank.is_some_and(|rank| rank.overlaps)) {
        true => "; ~ overlaps the rank above",
        false => "",
    };
    let rounds = results.plan.rounds_done;
    let lines = [
        any(&|entry| entry.rank.is_some()).then(|| {
            format!("rank: same number = no difference shown in {rounds} rounds (95 %){overlaps}.")
        }),
        any(&|entry| entry.row.spins && entry.rank.is_none())
            .then(|| format!("{} spins, which keeps its CPU busy: not ranked.", table::SPINS)),
        any(&|entry| entry.name.contains("(threads)")).then(|| "(t) threads.".to_owned()),
        any(&|entry| entry.name.contains("(processes)")).then(|| "(p) processes.".to_owned()),
        Some("±: 95 %.".to_owned()),
    ];
    says(lines.into_iter().flatten().collect::<Vec<_>>().join(" "))
}
