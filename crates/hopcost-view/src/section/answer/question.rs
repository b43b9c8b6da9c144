//! Which entries one table shows, and which of them an answer begins with.

use hopcost_model::group::{distinct, grouped};
use hopcost_model::{IdleKnob, Workload, text};
use hopcost_read::results::{LadderGroup, RankedBy, Results, StreamResult};

use super::entry::{EMPTY_LOOP, Entry, across, entries, usual};
use super::runtimes;
use super::table::titled;
use crate::names::{all_of, capitalised};
use crate::section::words::mechanism;

/// Rows of round trips up to which each group has a table of its own.
const ROWS_MAX: usize = 23;
/// Calls of a mechanism from which on its sizes have a table of their own.
const SIZES_MIN: usize = 3;

/// Entries that one table shows.
pub(super) struct Question<'a> {
    pub title: String,
    pub entries: Vec<Entry<'a>>,
    pub shape: Shape,
}

/// How it shows them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// A column for each place.
    Placed,
    /// A column for each value of what was swept.
    Swept(RankedBy),
    /// The same of calls, or beside a table.
    Calls,
}

/// All questions of a run, in the order of the ladder, and the entries that an answer begins with.
pub(super) fn all(results: &Results) -> (Vec<Question<'_>>, Vec<Entry<'_>>) {
    let [trips, wakes, streams, calls] =
        [Workload::Roundtrip, Workload::Wake, Workload::Stream, Workload::Call]
            .map(|workload| groups(results, workload));
    let mut all = round_trips(&trips, results);
    all.extend(match wakes.as_slice() {
        [only] => vec![placed(only, &[], results)],
        [] => Vec::new(),
        all => vec![swept(all, RankedBy::Time, results)],
    });
    all.extend(of_streams(streams, results));
    all.extend(calls.into_iter().flat_map(|group| of_calls(group, results)));
    all.retain(|question| !question.entries.is_empty());
    let concluded = conclude(&mut all, results);
    (all, concluded)
}

/// The groups of a workload that were measured, but for those whose runtimes are compared. The cases
/// of a group all do the same.
fn groups(results: &Results, workload: Workload) -> Vec<&LadderGroup> {
    let told = runtimes::told(results);
    let is_own = |group: &&LadderGroup| {
        let all: Vec<_> = all_of(group, results).collect();
        all.first().is_some_and(|(.., case)| case.case.workload == workload)
            && all.iter().any(|(.., case)| case.estimates.is_some())
            && !all.iter().any(|(_, _, index, _)| told.contains(&(*index as u32)))
    };
    results.ladder.iter().filter(is_own).collect()
}

/// The entries that an answer begins with: round trips before anything else, the group with most
/// of them, whose table becomes the first. Tables of their own have their own words.
fn conclude<'a>(questions: &mut [Question<'a>], results: &'a Results) -> Vec<Entry<'a>> {
    let rank = |group: &&LadderGroup| {
        let entries = entries(group, RankedBy::Time, None, results);
        let is_trip = |of: &&Entry| of.case.case.workload == Workload::Roundtrip && !of.row.spins;
        (entries.iter().any(|of| is_trip(&of)) && !group.batched, entries.len())
    };
    // The last of equals is what `max_by_key` takes: the first stands first.
    let Some(group) = results.ladder.iter().rev().max_by_key(rank) else { return Vec::new() };
    let is_it = |question: &Question| {
        question.shape == Shape::Placed && std::ptr::eq(question.entries[0].group, group)
    };
    match questions.iter().position(is_it) {
        Some(at) => {
            questions[..=at].rotate_right(1);
            plain(questions[0].entries.clone())
        }
        None => without_size(plain(entries(group, RankedBy::Time, usual(&group.rows), results))),
    }
}

/// Without idle knobs, which are another condition, not another mechanism, and without the empty loop
/// beside calls.
fn plain(mut entries: Vec<Entry<'_>>) -> Vec<Entry<'_>> {
    let alone = entries.iter().all(|entry| entry.name == EMPTY_LOOP);
    entries.retain(|entry| {
        entry.case.case.idle_knob == IdleKnob::None && (alone || entry.name != EMPTY_LOOP)
    });
    entries
}

/// A table of a group, and of the spinning ends of its size that were timed in batches (`aside`).
fn placed<'a>(
    group: &'a LadderGroup,
    aside: &[&'a LadderGroup],
    results: &'a Results,
) -> Question<'a> {
    let usual = usual(&group.rows);
    let of = |group| entries(group, RankedBy::Time, usual, results);
    let mut own = of(group);
    let bytes = own.first().map(|entry| entry.case.case.payload_bytes.unwrap_or(0));
    let besides = aside.iter().copied().flat_map(of);
    own.extend(
        besides
            .filter(|entry| Some(entry.case.case.payload_bytes.unwrap_or(0)) == bytes)
            // They were ranked and compared among themselves.
            .map(|entry| Entry { group, rank: None, ratio: None, ..entry }),
    );
    let title = titled(group);
    Question { title, entries: without_size(own), shape: Shape::Placed }
}

/// Entries whose names leave out the size where it is that of all.
fn without_size(mut entries: Vec<Entry<'_>>) -> Vec<Entry<'_>> {
    let sizes = distinct(entries.iter().map(|entry| entry.case.case.payload_bytes));
    if let [Some(bytes)] = sizes.as_slice() {
        for entry in &mut entries {
            entry.name = entry.name.replacen(&format!(" {}", text::bytes(*bytes)), "", 1);
        }
    }
    entries
}

/// Groups that differ in what was swept. A stream is called by its path.
fn swept<'a>(groups: &[&'a LadderGroup], by: RankedBy, results: &'a Results) -> Question<'a> {
    let usual = usual(groups.iter().flat_map(|group| &group.rows));
    let all = groups.iter().copied().flat_map(|group| entries(group, by, usual, results));
    let named = |entry: Entry<'a>| match &entry.case.stream {
        Some(stream) => {
            let name = across(stream.label.clone(), entry.row.boundary, usual);
            Entry { name, ..entry }
        }
        None => entry,
    };
    let entries = plain(all.collect()).into_iter().map(named).collect();
    Question { title: String::new(), entries, shape: Shape::Swept(by) }
}

/// A table for each group, or one of all sizes where that would be too long.
fn round_trips<'a>(groups: &[&'a LadderGroup], results: &'a Results) -> Vec<Question<'a>> {
    let (aside, timed): (Vec<&LadderGroup>, Vec<&LadderGroup>) =
        groups.iter().copied().partition(|group| group.batched);
    if timed.is_empty() {
        return aside.into_iter().map(|group| placed(group, &[], results)).collect();
    }
    let rows: usize = timed.iter().map(|group| group.rows.len()).sum();
    let sizes = timed.len() > 2 && rows <= 2 * timed.len();
    match timed.len() > 1 && rows > ROWS_MAX || sizes {
        true => vec![swept(groups, RankedBy::Time, results)],
        false => timed.into_iter().map(|group| placed(group, &aside, results)).collect(),
    }
}

/// Streams with one acknowledgement: a table of what was swept, and the groups in which several were
/// measured with one size alone.
fn of_streams<'a>(groups: Vec<&'a LadderGroup>, results: &'a Results) -> Vec<Question<'a>> {
    let stream = |group: &&'a LadderGroup| -> Option<&'a StreamResult> {
        all_of(group, results).find_map(|(.., case)| case.stream.as_ref())
    };
    let mut kinds =
        grouped(groups, |group| stream(group).map(|stream| (&stream.ack, stream.fields)));
    // Stable: what was swept goes before what was measured besides.
    kinds.sort_by_key(|(_, groups)| std::cmp::Reverse(groups.len()));
    let mut all = Vec::new();
    for (_, groups) in kinds {
        if let &[only] = groups.as_slice() {
            all.push(placed(only, &[], results));
            continue;
        }
        let of_time = swept(&groups, RankedBy::Time, results).entries;
        let key = |entry: &Entry| (entry.name.clone(), entry.flows);
        let rows = grouped(&of_time, |entry| key(entry)).into_iter();
        let alone = rows.filter(|(_, entries)| entries.len() == 1);
        let alone: Vec<usize> = alone.map(|(_, entries)| entries[0].index).collect();
        let is_alone = |entry: &&Entry| alone.contains(&entry.index);
        // Where each message waits for its acknowledgement, throughput says what latency would.
        let window = groups.iter().find_map(stream).and_then(|stream| stream.window);
        let by = [RankedBy::Throughput, RankedBy::Time];
        for by in by.into_iter().take(if window == Some(1) { 1 } else { 2 }) {
            let mut question = swept(&groups, by, results);
            question.entries.retain(|entry| !is_alone(&entry));
            all.push(question);
        }
        let has_alone = |of: &Question| of.entries.iter().filter(is_alone).count() > 1;
        let placed = groups.into_iter().map(|group| placed(group, &[], results));
        all.extend(placed.filter(has_alone));
    }
    all
}

/// Calls: those of several sizes in a table, the others in a line.
fn of_calls<'a>(group: &'a LadderGroup, results: &'a Results) -> Vec<Question<'a>> {
    let entries = plain(entries(group, RankedBy::Time, usual(&group.rows), results));
    let kinds = grouped(entries, |entry| {
        let parts = &entry.case.case;
        (parts.mechanism.clone(), parts.parameters.clone(), parts.runtime.clone())
    });
    let (swept, single): (Vec<_>, Vec<_>) =
        kinds.into_iter().partition(|(_, entries)| entries.len() >= SIZES_MIN);
    let swept = swept.into_iter().flat_map(|(_, entries)| entries);
    let swept = swept.map(|entry| Entry { name: mechanism(entry.case), ..entry });
    let single = single.into_iter().flat_map(|(_, entries)| entries);
    let title = capitalised(&group.title);
    let line = Question { title: title.clone(), entries: single.collect(), shape: Shape::Calls };
    let shape = Shape::Swept(RankedBy::Time);
    vec![Question { title, entries: swept.collect(), shape }, line]
}
