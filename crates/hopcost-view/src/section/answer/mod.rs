//! The answer: what a run found, on one screen. Tables with one number a cell, each with
//! its ranking in words.

mod conclusion;
mod cross;
mod doubt;
mod group;
mod know;
mod order;
mod runtimes;
pub(super) mod stall;
mod tails;
mod unit;
mod wake;

use hopcost_model::case::Workload;
use hopcost_model::group::{distinct, grouped};
use hopcost_model::results::{CaseResult, LadderGroup, RankedBy, Results, Statistic, StreamResult};
use hopcost_model::text::count;

pub(super) use self::doubt::Doubts;
pub(super) use self::order::between;
pub(super) use self::unit::ticks;
use super::model::{Block, Medium, Section, says};
use super::runtimes::told;
use super::{comparison, head, load};
use crate::names::all_of;

/// Rows of round trips up to which each group has a table of its own.
const ROWS_MAX: usize = 23;

/// Rows of a stream's group up to which they stand in a line, where others have tables.
const IN_A_LINE_MAX: usize = 2;

/// The answer as a section, where other sections follow; that of a comparison has its own.
pub(super) fn section(results: &Results, _: Medium) -> Option<Section> {
    let blocks = match results.comparison.is_some() {
        true => know::blocks(results, &Doubts::of(results)),
        false => blocks(results),
    };
    Section::of("answer", blocks)
}

pub(super) fn blocks(results: &Results) -> Vec<Block> {
    let doubts = &Doubts::of(results);
    if let Some(found) = &results.comparison {
        let mut blocks = comparison::blocks(found);
        blocks.extend(know::blocks(results, doubts));
        return blocks;
    }
    let mut blocks: Vec<Block> = ticks(results).map(says).into_iter().collect();
    blocks
        .extend(concluded(results).map_or(Vec::new(), |group| conclusion::blocks(group, results)));
    blocks.extend(runtimes::tables(results, doubts));
    let told = told(results);
    let is_told = |group: &LadderGroup| {
        all_of(group, results).any(|(_, _, index, _)| told.contains(&(index as u32)))
    };
    let groups = results.ladder.iter();
    let groups: Vec<&LadderGroup> =
        groups.filter(|group| is_measured(group, results) && !is_told(group)).collect();
    // The cases of a group all do the same.
    let of = |workload: Workload| {
        let does = |case: &CaseResult| case.case.workload == workload;
        let own = |group: &&LadderGroup| all_of(group, results).next().is_some_and(|of| does(of.3));
        groups.iter().copied().filter(own).collect::<Vec<_>>()
    };
    blocks.extend(round_trips(&of(Workload::Roundtrip), results, doubts));
    let wakes = of(Workload::Wake);
    blocks.extend(match wakes.as_slice() {
        [only] => group::table(only, &[], results, doubts),
        groups => swept(groups, results, doubts),
    });
    blocks.extend(if wakes.is_empty() { Vec::new() } else { wake::notes(results) });
    blocks.extend(load::answer(results, &|case| doubts.mark(case)));
    let mut streams = grouped(of(Workload::Stream), |group| {
        stream_of(group, results).map(|stream| (stream.ack.clone(), stream.fields))
    });
    let several = streams.len() > 1;
    // Stable: what was swept goes before what was measured besides.
    streams.sort_by_key(|(_, groups)| std::cmp::Reverse(groups.len()));
    blocks.extend(streams.into_iter().flat_map(|(_, groups)| match groups.as_slice() {
        [only] if !several => group::table(only, &[], results, doubts),
        groups => swept(groups, results, doubts),
    }));
    blocks.extend(stall::said(results));
    for group in of(Workload::Call) {
        blocks.extend(group::calls(group, results, doubts));
    }
    blocks.extend(order::legend(&blocks, results));
    blocks.extend(know::blocks(results, doubts));
    blocks
}

/// The group that an answer begins with: round trips before anything else, the one with most
/// cases of them. Tables of their own have their own words.
fn concluded(results: &Results) -> Option<&LadderGroup> {
    if results.runtimes.is_some() || !results.loads.is_empty() {
        return None;
    }
    let rank = |group: &&LadderGroup| {
        let cases = all_of(group, results).filter(|(.., case)| case.estimates.is_some());
        let mut cases = cases.peekable();
        let is_round_trip =
            cases.peek().is_some_and(|of| of.3.case.workload == Workload::Roundtrip);
        (is_round_trip && !group.batched, cases.count())
    };
    let measured = results.ladder.iter().filter(|group| is_measured(group, results));
    // The last of equals is what `max_by_key` takes: the first stands first.
    measured.rev().max_by_key(rank)
}

/// The percentiles that are asked for.
pub(super) fn tails(results: &Results, asked: &[Statistic]) -> Vec<Block> {
    tails::tables(results, asked)
}

/// Each ranking in a line, with its values, the machine and the command.
pub(super) fn sentences(results: &Results) -> Vec<String> {
    let date = results.about.started.split('T').next().unwrap_or_default();
    let where_from = format!(
        "{}; {}, nominal 95 % intervals; {date}, {}",
        head::machine(&results.host),
        count(results.plan.rounds_done as usize, "round"),
        results.command
    );
    let doubts = distinct(head::doubts(results).map(|finding| finding.code.word()));
    let doubts = doubts.into_iter().map(|code| format!("; {code}")).collect::<String>();
    let disturbed = results.disturbed.as_ref().map(|why| format!("; disturbed: {why}"));
    let doubts = format!("{}{doubts}", disturbed.unwrap_or_default());
    if let Some(found) = &results.comparison {
        let besides = format!("{}; {date}{doubts}", head::machine(&results.host));
        return comparison::live_sentences(found, &besides);
    }
    let rankings = |group| order::sentences(group, results);
    let said = results.ladder.iter().flat_map(rankings);
    said.map(|said| format!("{said} ({where_from}{doubts})")).collect()
}

/// Round trips: a table per group, or one of all sizes where that would be too long. What a fast
/// machine times in batches stands in the table of its size.
fn round_trips(groups: &[&LadderGroup], results: &Results, doubts: &Doubts) -> Vec<Block> {
    let (aside, timed): (Vec<&LadderGroup>, Vec<&LadderGroup>) =
        groups.iter().copied().partition(|group| group.batched);
    if timed.is_empty() {
        return aside.into_iter().flat_map(|of| group::table(of, &[], results, doubts)).collect();
    }
    let rows: usize = timed.iter().map(|group| group.rows.len()).sum();
    let sizes = timed.len() > 2 && rows <= 2 * timed.len();
    match timed.len() > 1 && rows > ROWS_MAX || sizes {
        true => cross::tables(&timed, RankedBy::Time, results, doubts),
        false => {
            timed.iter().flat_map(|group| group::table(group, &aside, results, doubts)).collect()
        }
    }
}

/// What was swept: a table of its own, or crossed with what it was swept over.
fn swept(groups: &[&LadderGroup], results: &Results, doubts: &Doubts) -> Vec<Block> {
    match groups {
        [] => Vec::new(),
        [only] if only.rows.len() <= IN_A_LINE_MAX => group::in_lines(only, results, doubts),
        [only] => group::table(only, &[], results, doubts),
        all => {
            let crossed = swept_by(all, results).into_iter();
            let crossed = crossed.flat_map(|by| cross::tables(all, by, results, doubts));
            crossed.chain(cross::alone(all, results, doubts)).collect()
        }
    }
}

/// What groups are crossed by. Where each message waits for its acknowledgement, a flow's
/// throughput says what its latency would.
fn swept_by(groups: &[&LadderGroup], results: &Results) -> Vec<RankedBy> {
    let stream = groups.iter().find_map(|group| stream_of(group, results));
    match stream.map(|stream| stream.window) {
        None => vec![RankedBy::Time],
        Some(Some(1)) => vec![RankedBy::Throughput],
        Some(_) => vec![RankedBy::Throughput, RankedBy::Time],
    }
}

fn stream_of<'a>(group: &'a LadderGroup, results: &'a Results) -> Option<&'a StreamResult> {
    all_of(group, results).find_map(|(.., case)| case.stream.as_ref())
}

fn is_measured(group: &LadderGroup, results: &Results) -> bool {
    all_of(group, results).any(|(.., case)| case.estimates.is_some())
}
