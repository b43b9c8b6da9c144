//! The answer: what a run found, on one screen. The conclusion in words, a table for each question,
//! and what to know of them.

mod conclusion;
mod doubt;
mod entry;
mod know;
mod pivot;
mod question;
mod runtimes;
pub(super) mod stall;
mod table;
mod tails;
mod unit;
mod wake;

use hopcost_model::group::{distinct, grouped};
use hopcost_model::results::{RankedBy, Results, Statistic};
use hopcost_model::text::count;

pub(super) use self::doubt::Doubts;
pub(crate) use self::entry::between;
use self::entry::{Entry, by_rank};
use self::question::{Question, Shape};
pub(super) use self::unit::ticks;
use super::model::{Block, Form, Medium, Scale, Section, Table, notes, says};
use super::{comparison, head, load};
use crate::names::capitalised;

/// The answer as a section, where other sections follow; that of a comparison has its own.
pub(super) fn section(results: &Results, _: Medium) -> Option<Section> {
    let (mut all, rest) = match results.comparison.is_some() {
        true => (Vec::new(), know::blocks(results, &Doubts::of(results))),
        false => blocks(results),
    };
    all.extend(rest);
    // A document has room for all columns.
    let whole = |block: Block| match block {
        Block::Table(table) => Block::Table(Table { form: Form::Columns, ..table }),
        other => other,
    };
    Section::of("answer", all.into_iter().map(whole))
}

/// The conclusion, and what stands below it.
pub(super) fn blocks(results: &Results) -> (Vec<Block>, Vec<Block>) {
    let doubts = &Doubts::of(results);
    if let Some(found) = &results.comparison {
        let mut blocks = comparison::blocks(found);
        blocks.extend(know::blocks(results, doubts));
        return (Vec::new(), blocks);
    }
    let mut questions = question::all(results);
    let concluded = question::conclude(&mut questions, results);
    let mut blocks: Vec<Block> = ticks(results).map(says).into_iter().collect();
    blocks.extend(runtimes::tables(results, doubts));
    blocks.extend(tables(&questions, results, doubts));
    blocks.extend(load::answer(results, &|case| doubts.mark(case)));
    blocks.extend(wake::notes(results));
    blocks.extend(stall::said(results));
    if !blocks.is_empty() {
        blocks.push(legend(&questions, results));
    }
    blocks.extend(know::blocks(results, doubts));
    let measured = results.results.iter().filter(|case| case.estimates.is_some()).count();
    if measured == concluded.len() {
        blocks.extend(notes(conclusion::contrasts(&concluded)));
    }
    (conclusion::blocks(&concluded), blocks)
}

/// A table for each question. The last of one place or two stands beside the calls.
fn tables(questions: &[Question<'_>], results: &Results, doubts: &Doubts) -> Vec<Block> {
    let is_placed = |of: &&Question| of.shape == Shape::Placed;
    let lines = questions.iter().find(|of| of.shape == Shape::Calls);
    let beside = questions.iter().skip(1).rfind(is_placed).filter(|_| lines.is_some());
    let table = |question: &Question| {
        let Question { title, entries, shape } = question;
        match shape {
            Shape::Placed if beside.is_some_and(|of| std::ptr::eq(of, question)) => {
                let brief = table::placed(entries, table::Extent::Brief, results, doubts);
                let title = capitalised(&entries[0].group.title);
                let left = vec![Block::Heading(title), Block::Table(brief)];
                let calls = lines.map(|of| table::listed(&of.title, &of.entries, results, doubts));
                vec![Block::Beside(left, calls.into_iter().collect())]
            }
            Shape::Placed => {
                let whole = table::placed(entries, table::Extent::Whole, results, doubts);
                vec![Block::Heading(title.clone()), Block::Table(whole)]
            }
            Shape::Swept(by) => table::swept(entries, *by, results, doubts),
            Shape::Calls if beside.is_some() => Vec::new(),
            Shape::Line | Shape::Calls => table::in_lines(title, entries, results, doubts),
        }
    };
    questions.iter().flat_map(table).collect()
}

/// The percentiles that are asked for, and what to know of the run.
pub(super) fn tails(results: &Results, asked: &[Statistic]) -> Vec<Block> {
    let mut blocks = tails::tables(results, asked);
    blocks.extend(know::blocks(results, &Doubts::of(results)));
    blocks
}

/// Each ranking in a line, with its values, the machine, the command and what to know of the run.
pub(super) fn sentences(results: &Results) -> Vec<String> {
    let date = results.about.started.split('T').next().unwrap_or_default();
    let rounds = count(results.plan.rounds_done as usize, "round");
    let mut besides = format!(
        "{}; {rounds}, nominal 95 % intervals; {date}, {}",
        head::machine(&results.host),
        results.command
    );
    let disturbed = results.disturbed.as_ref().map(|why| format!("disturbed: {why}"));
    let doubts = head::doubts(results).map(|finding| finding.evidence.clone());
    for said in disturbed.into_iter().chain(distinct(doubts)) {
        besides = format!("{besides}; {}", said.trim_end_matches('.'));
    }
    if let Some(found) = &results.comparison {
        return comparison::live_sentences(found, &besides);
    }
    let mut lines = Vec::new();
    for group in &results.ladder {
        for by in [RankedBy::Time, RankedBy::Throughput] {
            let all = entry::entries(group, by, entry::usual(&group.rows), results);
            for (place, mut of) in grouped(all, |entry| entry.place) {
                of.sort_by(|a, b| match by {
                    RankedBy::Time => a.point().total_cmp(&b.point()),
                    RankedBy::Throughput => b.point().total_cmp(&a.point()),
                });
                let (what, scale) = match by {
                    RankedBy::Time if group.batched => ("cost", Scale::Time),
                    RankedBy::Time => ("p50", Scale::Time),
                    RankedBy::Throughput => ("throughput", Scale::Named("Gbit/s".to_owned())),
                };
                let title = table::titled(group, results);
                let named = of.iter().map(|entry| (entry.rank, entry.in_words(scale.clone())));
                let said = by_rank(named);
                lines.push(format!("{title}, {}, {what}: {said} ({besides})", place.name()));
            }
        }
    }
    lines
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
