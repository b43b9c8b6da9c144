//! What to know beside the numbers: marks of rows that are worse than most, and sentences, the gravest
//! first.

use hopcost_model::group::{distinct, grouped};
use hopcost_model::text::count;
use hopcost_model::{Code, Finding, Rate, Severity, library_of};
use hopcost_read::results::{CaseResult, KnobPrice, Results, Status};

use crate::names::{all_of, row_label};
use crate::number;
use crate::section::head;
use crate::section::model::{Block, Medium, note, notes};
use crate::section::words::{index_of, sentence};

/// How much a part of an answer weighs: what a screen has no room for goes from the last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Weight {
    Must,
    Table,
    /// A sentence on the run.
    Says,
    /// The notes of a table.
    Aside,
}

/// Blocks that stay or go together.
pub(crate) type Part = (Weight, Vec<Block>);

/// Most lines of sentences, and characters of a line.
const LINES_MAX: usize = 4;
const LINE: usize = 96;

/// As many as an answer has room for, the first in any case.
pub(super) fn blocks(all: Vec<String>) -> Vec<Block> {
    let mut lines = 0;
    let fits = |said: &String| {
        let is_first = lines == 0;
        lines += said.chars().count().div_ceil(LINE);
        is_first || lines <= LINES_MAX
    };
    notes(all.into_iter().take_while(fits)).collect()
}

/// All of them. A report has some of them above its sections.
pub(super) fn sentences(results: &Results, doubts: &Doubts, report: Option<Medium>) -> Vec<String> {
    let is_failed = |case: &CaseResult| case.status == Status::Failed || case.n_failed > 0;
    let mut all: Vec<String> = of_status(results, is_failed, "failed").into_iter().collect();
    let is_skipped = |case: &CaseResult| case.status == Status::Skipped;
    let library = |case: &CaseResult| library_of(&case.case.runtime).map(str::to_owned);
    let skipped = results.results.iter().filter(|case| is_skipped(case));
    let libraries = distinct(skipped.filter_map(library));
    all.extend((!libraries.is_empty()).then(|| {
        let why = "`hopcost worker list` says why and how to install each.";
        format!("Not measured: {}; {why}", libraries.join(", "))
    }));
    all.extend(of_status(results, |of| is_skipped(of) && library(of).is_none(), "skipped"));
    if report.is_none() {
        all.extend(results.plan.ended_early.clone());
    }
    let found = results.findings.iter().filter(|found| found.code == Code::TwoSpeeds);
    all.extend(distinct(found.map(|found| found.evidence.clone())));
    if report != Some(Medium::Page) {
        all.extend(head::doubts(results).map(|finding| sentence(&finding.evidence)));
    }
    let most = doubts.most.iter();
    all.extend(most.map(|(code, found)| {
        let means = first_sentence(code.means());
        format!("{} of {} cases: {means}", found.len(), doubts.measured)
    }));
    all.extend(of_few(results, doubts));
    // How CPUs idle stands under the wake-ups.
    let others = results.remarks.iter().skip(usize::from(idling(results).is_some()));
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
        let grouped = |rate: Rate| rate.whole().map_or(rate.to_string(), number::grouped);
        let rate = case.case.rate.map(|rate| format!(", {} a second", grouped(rate)));
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

/// What casts doubt on cases, by code.
pub(crate) struct Doubts<'a> {
    /// What is found in fewer than half of the cases that were measured: it marks them.
    pub few: Vec<(Code, Vec<&'a Finding>)>,
    /// What is found in half of them or more: it is a remark on the run.
    pub most: Vec<(Code, Vec<&'a Finding>)>,
    /// How many were measured.
    pub measured: usize,
}

impl<'a> Doubts<'a> {
    /// Of a run.
    pub fn of(results: &'a Results) -> Self {
        let measured = results.results.iter().filter(|case| case.estimates.is_some()).count();
        let found = results.findings.iter();
        let found = found.filter(|found| found.case.is_some() && found.severity > Severity::Note);
        let (most, few) = grouped(found, |finding| finding.code)
            .into_iter()
            .partition(|(_, found)| measured > 2 && 2 * found.len() >= measured);
        Self { few, most, measured }
    }

    /// The mark of a case: that its messages stall, or that it is worse than most.
    pub fn mark(&self, case: &CaseResult) -> &'static str {
        let of_case = |finding: &&Finding| finding.case.as_deref() == Some(case.id.as_str());
        let is_doubtful = || self.few.iter().any(|(_, found)| found.iter().any(of_case));
        match stalled(case) {
            Some(_) if case.stream.is_some() => STALLED,
            _ if is_doubtful() => "!",
            _ => "",
        }
    }
}

/// The mark of a case whose messages stall.
const STALLED: &str = "†";

/// The share of a case's messages that stall, where some do.
pub(crate) fn stalled(case: &CaseResult) -> Option<f64> {
    case.findings.iter().find_map(Finding::stalled_share)
}

/// What the mark means, where there is one.
pub(super) fn of_stalls(results: &Results) -> Option<Block> {
    let mut streams = results.results.iter().filter(|case| case.stream.is_some());
    streams.any(|case| stalled(case).is_some()).then(|| {
        note(format!(
            "{STALLED} messages stall for 40 ms (Nagle's algorithm and a delayed acknowledgement), which \
             is no cost of copying."
        ))
    })
}

/// What stands under the wake-ups: what keeping CPUs awake saves, and how they idle.
pub(super) fn of_wake_ups(results: &Results) -> Vec<Block> {
    notes(knobs(results).into_iter().chain(idling(results).cloned())).collect()
}

/// `Idle knobs: pipe, 1 ms: spinner saves 22 µs [11 µs, 29 µs]`, where a difference was shown.
fn knobs(results: &Results) -> Option<String> {
    let one = |price: &KnobPrice| {
        let case = results.results.get(index_of(results, &price.without)?)?;
        let saved = &price.difference_ns;
        let (point, low, high) = (saved.point?, saved.low?, saved.high?);
        let (does, ends) = match high < 0.0 {
            true => ("costs", [-point, -high, -low]),
            false => ("saves", [point, low, high]),
        };
        let [point, low, high] = ends.map(|ns| number::time(ns, 2));
        let gap = number::exact(case.wake.as_ref()?.gap_asked_ns);
        let (mechanism, knob) = (&case.case.mechanism, price.knob.word());
        let said = format!("{mechanism}, {gap}: {knob} {does} {point} [{low}, {high}]");
        (ends[1] > 0.0).then_some(said)
    };
    let list: Vec<String> = results.knobs.iter().filter_map(one).collect();
    (!list.is_empty()).then(|| format!("Idle knobs: {}", list.join("; ")))
}

/// How CPUs idle: the first remark of a run with wake-ups.
fn idling(results: &Results) -> Option<&String> {
    let is_wake = results.results.iter().any(|case| case.wake.is_some());
    results.remarks.first().filter(|_| is_wake)
}
