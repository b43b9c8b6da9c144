//! Stored runs compared with others: a document of its own.

use hopcost_model::results::{Compared, ComparedRun, ComparedRuns, RunComparison, Verdict};
use hopcost_model::text::count;

use super::along;
use super::comparison::{beside, difference, out_of_reach, sentences, shifts};
use super::model::{
    Block, Cell, Document, Frame, Medium, Rows, Section, Tone, Unit, notes, numbers, words,
};
use crate::chart::model::Chart;
use crate::number;

/// Runs a side from which there is an interval.
const RUNS_MIN: u32 = 4;
/// Names that a line lists.
const NAMED_MAX: usize = 4;

pub(crate) fn document(found: &RunComparison, medium: Medium) -> Document {
    let mut head = Vec::new();
    if found.compared.is_empty() {
        let none = "No case was measured on both sides.".to_owned();
        head.push(Block::Text(Tone::Alert, none));
    }
    match &found.along {
        Some(along) => head.extend(along::blocks(found, along)),
        None => {
            head.push(table(found));
            head.extend(notes(said(found)));
        }
    }
    let charts = if medium == Medium::Page { charts(found) } else { Vec::new() };
    let charts = (!charts.is_empty()).then_some(Block::Charts(charts, Frame::Small));
    let charts = charts.and_then(|charts| Section::of("shifts", [charts]));
    Document {
        title: title(found),
        head,
        sections: charts.into_iter().collect(),
        ..Document::default()
    }
}

/// Each case in a line to paste.
pub(crate) fn lines(found: &RunComparison) -> Vec<String> {
    if let Some(along) = &found.along {
        return vec![along::sentence(found, along)];
    }
    let besides = format!("{}; {}", against(found).trim_end_matches('.'), margin(found));
    sentences(&found.compared, &besides)
}

/// The ratio along an axis, or the shift of each decile.
pub(crate) fn charts(found: &RunComparison) -> Vec<Chart> {
    match &found.along {
        Some(along) => along::charts(found, along),
        None => shifts(&found.compared),
    }
}

fn title(found: &RunComparison) -> String {
    if let Some(along) = &found.along {
        let (first, second) = along::names(found, along);
        let along = &along.axis;
        return format!("hopcost · {first} and {second} along {along} · {}", margin(found));
    }
    if let Some(hosts) = &found.hosts {
        let hosts = count(hosts.n_hosts as usize, "host");
        return format!("hopcost · comparison · {hosts} before and after · {}", margin(found));
    }
    let (other, baseline) = (found.other.len(), found.baseline.len());
    format!("hopcost · comparison · {} against {baseline} · {}", count(other, "run"), margin(found))
}

fn margin(found: &RunComparison) -> String {
    format!("margin {} %", number::plain(found.margin * 100.0, 2))
}

fn table(found: &RunComparison) -> Block {
    let mut compared: Vec<&Compared> = found.compared.iter().collect();
    // What has changed goes first.
    compared.sort_by_key(|of| match of.verdict {
        Verdict::Slower => 0,
        Verdict::Faster => 1,
        Verdict::Inconclusive => 2,
        Verdict::Equivalent => 3,
    });
    let shared = shared(found).join("&");
    let runs = |of: &Compared| of.runs.clone();
    Rows::of(&compared)
        .column(words("verdict"), |of| Cell::text(of.word()))
        .column(numbers("difference [interval]"), |of| difference(of))
        .column_if(
            found.compared.iter().any(|of| of.again.is_some()),
            numbers("measured again"),
            |of| of.again.as_ref().map_or(Cell::none(), |again| difference(again)),
        )
        .column(numbers("met"), move |of| {
            let met = runs(of).and_then(|runs| runs.met_ratio);
            met.map_or(Cell::none(), |ratio| Cell::text(format!("{:+.1} %", (ratio - 1.0) * 100.0)))
        })
        .column(words("of"), |of| Cell::code(beside(&of.case, &format!("?{shared}"))))
        .column(numbers("baseline").fold(2), move |of| {
            Cell::maybe(runs(of).and_then(|runs| runs.baseline_ns), Unit::Time(3))
        })
        .column(numbers("time").fold(1), |of| Cell::maybe(of.value_ns, Unit::Time(3)))
        .column_if(found.hosts.is_some(), numbers("hosts").fold(3), |of| {
            Cell::number(of.n_blocks, Unit::Whole)
        })
        .column_if(found.hosts.is_none(), words("runs").fold(3), move |of| match runs(of) {
            Some(runs) => Cell::text(format!("{} and {}", runs.n_baseline, runs.n_other)),
            None => Cell::none(),
        })
        .table()
}

/// The keys that all cases have in common, where there are several.
fn shared(found: &RunComparison) -> Vec<String> {
    let keys = |of: &Compared| -> Vec<String> {
        of.case
            .split_once('?')
            .map_or(Vec::new(), |(_, keys)| keys.split('&').map(str::to_owned).collect())
    };
    let [first, rest @ ..] = found.compared.as_slice() else { return Vec::new() };
    let in_all = |key: &String| rest.iter().all(|of| keys(of).contains(key));
    keys(first).into_iter().filter(|key| !rest.is_empty() && in_all(key)).collect()
}

fn said(found: &RunComparison) -> Vec<String> {
    let mut said = vec![against(found)];
    let shared = shared(found);
    if !shared.is_empty() {
        said.push(format!("All cases: {}.", shared.join(", ")));
    }
    said.extend(found.differences.iter().map(|one| {
        let (a, b) = (one.baseline.join(", "), one.other.join(", "));
        format!("Across {}: {} was {a} and is {b}.", one.across.word(), one.what)
    }));
    said.extend(undecided(found));
    for (side, only) in
        [("the baseline", &found.only_baseline), ("the other side", &found.only_other)]
    {
        if !only.is_empty() {
            said.push(format!("Only in {side}: {}.", listed(only)));
        }
    }
    if let Some(hosts) = &found.hosts {
        for (side, only) in
            [("the baseline", &hosts.only_baseline), ("the other side", &hosts.only_other)]
        {
            if !only.is_empty() {
                let n = count(only.len(), "host");
                said.push(format!("{n} measured only in {side}: {}.", listed(only)));
            }
        }
    }
    said.extend(found.remarks.iter().cloned());
    said
}

/// A few names, and how many more.
fn listed(names: &[String]) -> String {
    let named = names.iter().take(NAMED_MAX).cloned().collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(NAMED_MAX) {
        0 => named,
        more => format!("{named} and {more} more"),
    }
}

fn against(found: &RunComparison) -> String {
    let what = if found.hosts.is_some() { "fleet" } else { "run" };
    let side = |runs: &[ComparedRun]| match runs {
        [one] => format!("{what} {}", one.id),
        [first, .., last] => format!("{}, {} to {}", count(runs.len(), "run"), first.id, last.id),
        [] => "nothing".to_owned(),
    };
    format!("Baseline: {}. Against it: {}.", side(&found.baseline), side(&found.other))
}

/// What would decide.
fn undecided(found: &RunComparison) -> Vec<String> {
    let open = found.compared.iter().filter(|of| of.verdict == Verdict::Inconclusive);
    let open: Vec<&ComparedRuns> = open.filter_map(|of| of.runs.as_ref()).collect();
    let is_few =
        |of: &&ComparedRuns| found.hosts.is_none() && of.n_baseline.min(of.n_other) < RUNS_MIN;
    let (few, open): (Vec<&ComparedRuns>, Vec<&ComparedRuns>) = open.into_iter().partition(is_few);
    let (more, never): (Vec<&ComparedRuns>, Vec<&ComparedRuns>) =
        open.into_iter().partition(|of| of.runs_to_decide.is_some());
    let enough = |of: &[&ComparedRuns]| of.iter().filter_map(|of| of.runs_to_decide).max();
    let mut said = Vec::new();
    if let Some(runs) = enough(&few) {
        said.push(format!(
            "{}: fewer than {RUNS_MIN} runs a side have no interval; measure {runs} a side.",
            inconclusive(few.len())
        ));
    }
    if let Some(runs) = enough(&more) {
        let cases = inconclusive(more.len());
        let units = if found.hosts.is_some() { "hosts" } else { "runs a side" };
        said.push(format!("{cases}: {runs} {units} probably decide."));
    }
    if !never.is_empty() {
        said.push(format!("{}: {}.", inconclusive(never.len()), out_of_reach(found.margin)));
    }
    said
}

fn inconclusive(cases: usize) -> String {
    format!("{} inconclusive", count(cases, "case"))
}
