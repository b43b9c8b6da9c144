//! What to know beside the numbers: at most five remarks, the gravest first.

use hopcost_model::finding::{Code, Finding};
use hopcost_model::group::grouped;
use hopcost_model::results::{CaseResult, PlacedShare, Results, Status};
use hopcost_model::text::count;

use super::doubt::Doubts;
use super::wake;
use crate::names::{all_of, row_label};
use crate::number;
use crate::section::cases::where_placed;
use crate::section::head;
use crate::section::model::Block;

/// Most remarks.
const REMARKS_MAX: usize = 5;
/// Fewest, however long they are.
const REMARKS_MIN: usize = 3;
/// Most lines of them beyond that, each of so many characters.
const LINES_MAX: usize = 5;
const LINE: usize = 96;

pub(super) fn blocks(results: &Results, doubts: &Doubts) -> Vec<Block> {
    let mut remarks = failed(results);
    remarks.extend(skipped(results));
    remarks.extend(of_run(results));
    remarks.extend(copied(results));
    remarks.extend(of_most(doubts));
    let before_few = remarks.len();
    remarks.extend(of_few(results, doubts));
    remarks.extend(placed(results));
    // How CPUs idle stands under the wake-ups.
    let others = results.remarks.iter().skip(usize::from(wake::idling(results).is_some()));
    remarks.extend(others.map(|remark| first_sentence(remark)));
    let mut lines = 0;
    let told = remarks.iter().take_while(|remark| {
        lines += remark.chars().count().div_ceil(LINE);
        lines <= LINES_MAX
    });
    let told = told.count();
    remarks.truncate(told.clamp(REMARKS_MIN, REMARKS_MAX));
    remarks.extend(marked_besides(doubts, remarks.len().saturating_sub(before_few)));
    match remarks.is_empty() {
        true => Vec::new(),
        false => vec![Block::Heading("What to know".to_owned()), Block::List(remarks)],
    }
}

/// What went wrong, a line a reason.
fn failed(results: &Results) -> Vec<String> {
    of_status(results, |case| case.status == Status::Failed || case.n_failed > 0, "failed")
}

/// What was not measured, in one line.
fn skipped(results: &Results) -> Option<String> {
    let lines = of_status(results, |case| case.status == Status::Skipped, "skipped");
    let others = lines.len().checked_sub(2).map_or(String::new(), |more| {
        format!("; {} with --details", count(more + 1, "more reason"))
    });
    lines.first().map(|line| format!("{line}{others}"))
}

/// That nothing was sent without a copy, which is no question of the size.
fn copied(results: &Results) -> Option<String> {
    let code = Code::ZeroCopyCopied;
    results.findings.iter().any(|finding| finding.code == code).then(|| {
        let path = match results.host.get("net.path") {
            None | Some("loopback") => "as always over loopback".to_owned(),
            Some(path) => format!("on this path ({path})"),
        };
        format!("What was to be sent without a copy was copied all the same, {path} ({code}).")
    })
}

/// Where the scheduler put the ends of the first case that was left to it.
fn placed(results: &Results) -> Option<String> {
    let case = results.results.iter().find(|case| !case.placed.is_empty())?;
    let one = |of: &PlacedShare| {
        let share = number::share(of.share);
        format!(
            "{} in {share} of the trials ({})",
            where_placed(of.placed),
            number::time(of.p50_ns, 2)
        )
    };
    let shares: Vec<String> = case.placed.iter().map(one).collect();
    Some(format!("{}, left to the scheduler: {}.", called(results, &case.id), shares.join(", ")))
}

fn of_status(results: &Results, is: impl Fn(&CaseResult) -> bool, what: &str) -> Vec<String> {
    let cases = results.results.iter().filter(|case| is(case));
    let groups = grouped(cases, |case| case.reason.clone());
    let line = |(reason, cases): (Option<String>, Vec<&CaseResult>)| {
        let reason = reason.as_deref().unwrap_or("no reason was given").to_owned();
        format!("{} {what}: {reason} ({})", count(cases.len(), "case"), cases[0].id)
    };
    groups.into_iter().map(line).collect()
}

/// What casts doubt on the run as a whole.
fn of_run(results: &Results) -> Vec<String> {
    let line = |finding: &Finding| {
        format!("{} ({}).", finding.evidence.trim_end_matches('.'), finding.code)
    };
    head::doubts(results).map(line).collect()
}

/// What most rows have, a line a code.
fn of_most(doubts: &Doubts) -> Vec<String> {
    let line = |(code, found): &(Code, Vec<&Finding>)| {
        format!("{} of {} cases: {} ({code})", found.len(), doubts.measured, code.means())
    };
    doubts.most.iter().map(line).collect()
}

/// Why rows are marked, a line a code with the worst of its cases.
fn of_few(results: &Results, doubts: &Doubts) -> Vec<String> {
    let line = |(code, found): &(Code, Vec<&Finding>)| {
        let first = found[0];
        let name = first.case.as_deref().map_or(String::new(), |id| called(results, id));
        let others = match found.len() {
            1 => String::new(),
            n => format!("; and {} more", n - 1),
        };
        let evidence = first_sentence(&first.evidence);
        let evidence = evidence.trim_end_matches('.');
        format!("! {name}: {evidence} ({code}{others}).").replace(" trials) (", ") (")
    };
    doubts.few.iter().map(line).collect()
}

/// For what rows are marked of which no line says why, after so many lines that do.
fn marked_besides(doubts: &Doubts, said: usize) -> Option<String> {
    let besides = doubts.few.iter().skip(said);
    let codes: Vec<String> =
        besides.map(|(code, found)| format!("{code} ({})", found.len())).collect();
    (!codes.is_empty()).then(|| format!("! besides: {}; --details says why.", codes.join(", ")))
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
        format!("{}{size}{also}, {}", row_label(row, results), place.name())
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
