//! What to know beside the numbers, in sentences, the gravest first.

use hopcost_model::finding::{Code, Finding};
use hopcost_model::group::grouped;
use hopcost_model::results::{CaseResult, Results, Status};
use hopcost_model::text::count;

use super::doubt::Doubts;
use super::wake;
use crate::names::{all_of, row_label};
use crate::number;
use crate::section::head;
use crate::section::model::{Block, notes};
use crate::section::words::sentence;

/// Most sentences, however short.
const SENTENCES_MAX: usize = 4;
/// Most lines of them, each of so many characters.
const LINES_MAX: usize = 4;
const LINE: usize = 96;

/// As much as an answer has room for.
pub(super) fn blocks(results: &Results, doubts: &Doubts) -> Vec<Block> {
    let mut all = sentences(results, doubts);
    let mut lines = 0;
    let fits = all.iter().take_while(|said| {
        lines += said.chars().count().div_ceil(LINE);
        lines <= LINES_MAX
    });
    all.truncate(fits.count().clamp(1, SENTENCES_MAX));
    notes(all).collect()
}

/// All of them.
pub(super) fn sentences(results: &Results, doubts: &Doubts) -> Vec<String> {
    let is_failed = |case: &CaseResult| case.status == Status::Failed || case.n_failed > 0;
    let mut all: Vec<String> = of_status(results, is_failed, "failed").into_iter().collect();
    all.extend(of_status(results, |case| case.status == Status::Skipped, "skipped"));
    all.extend(results.plan.ended_early.clone());
    all.extend(head::doubts(results).map(|finding| sentence(&finding.evidence)));
    let most = doubts.most.iter();
    all.extend(most.map(|(code, found)| {
        format!("{} of {} cases: {}", found.len(), doubts.measured, code.means())
    }));
    all.extend(of_few(results, doubts));
    // How CPUs idle stands under the wake-ups.
    let others = results.remarks.iter().skip(usize::from(wake::idling(results).is_some()));
    all.extend(others.map(|remark| first_sentence(remark)));
    all
}

/// What went wrong or was not measured, the first reason with its first case.
fn of_status(results: &Results, is: impl Fn(&CaseResult) -> bool, what: &str) -> Option<String> {
    let cases: Vec<&CaseResult> = results.results.iter().filter(|case| is(case)).collect();
    let reasons = grouped(cases.iter().copied(), |case| case.reason.clone());
    let (reason, first) = reasons.first()?;
    let reason = reason.as_deref().unwrap_or("no reason was given");
    let others = match reasons.len() {
        1 => String::new(),
        more => format!("; {} with --details", count(more - 1, "more reason")),
    };
    let called = called(results, &first[0].id);
    Some(sentence(&format!("{} {what}: {reason} ({called}){others}", count(cases.len(), "case"))))
}

/// Why rows are marked: the worst of each kind, and how many more there are.
fn of_few(results: &Results, doubts: &Doubts) -> Vec<String> {
    let line = |(_, found): &(Code, Vec<&Finding>)| {
        let (first, others) = found.split_first()?;
        let name = first.case.as_deref().map_or(String::new(), |id| called(results, id));
        let evidence = first_sentence(&first.evidence);
        let others = match others.len() {
            0 => String::new(),
            more => format!(" {more} more like it: --details."),
        };
        Some(format!("! {name}: {}{others}", sentence(&evidence)))
    };
    doubts.few.iter().filter_map(line).collect()
}

/// `tcp, one CPU`: as its row is called, or else its id.
fn called(results: &Results, id: &str) -> String {
    let mut cases = results.ladder.iter().flat_map(|group| all_of(group, results));
    let found = cases.find(|(.., case)| case.id == id);
    found.map_or(id.to_owned(), |(row, place, _, case)| {
        let size = case.case.payload_bytes.filter(|bytes| *bytes > 0);
        let size = size.map_or(String::new(), |bytes| format!(", {}", number::bytes(bytes)));
        let rate =
            case.case.rate.map(|rate| format!(", {} a second", number::grouped(rate.into())));
        let gap = case.case.gap_ns.map(|gap| format!(", gap {}", number::exact(gap)));
        let also = rate.or(gap).unwrap_or_default();
        let label = row_label(row, results).replace(" 0 bytes", "");
        format!("{label}{size}{also}, {}", place.name())
    })
}

/// The first sentence of a text: what it is about.
fn first_sentence(text: &str) -> String {
    let end = text
        .match_indices(". ")
        .map(|(at, _)| at + 1)
        .find(|at| text[*at..].trim_start().starts_with(|c: char| c.is_uppercase()));
    text[..end.unwrap_or(text.len())].to_owned()
}
