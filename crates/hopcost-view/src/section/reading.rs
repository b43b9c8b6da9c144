//! What the words and numbers of a report mean.

use hopcost_model::case::Workload;
use hopcost_model::protocol::ClockReading;
use hopcost_model::results::{CaseResult, Estimate, Results, RuntimeComparison, Statistic};

use super::model::{Block, Cell, Column, Medium, Rows, Section};
use super::words::estimated;
use crate::number::{self, UNICODE};

const TITLE: &str = "How to read this";

/// Terms with their meaning, in the order in which a page explains them.
const TERMS: &str = include_str!("terms.txt");

/// The same, of what only comparisons of runtimes have.
const TERMS_OF_RUNTIMES: &str = include_str!("terms-runtimes.txt");

/// Every term, for a page that has room.
pub(super) fn terms(results: &Results) -> Section {
    let more = if results.runtimes.is_some() { TERMS_OF_RUNTIMES } else { "" };
    let lines = TERMS.lines().chain(more.lines());
    let terms: Vec<(&str, &str)> = lines.filter_map(|line| line.split_once(": ")).collect();
    let table = Rows::of(&terms)
        .column(Column::words("term"), |(term, _)| Cell::text(*term))
        .column(Column::words("meaning"), |(_, meaning)| Cell::text(*meaning));
    Section { id: "reading", title: TITLE.to_owned(), blocks: vec![table.table()] }
}

/// What the numbers mean and what the clock cost, a paragraph each.
pub(super) fn brief(results: &Results, medium: Medium) -> Section {
    let mut paragraphs = vec![intervals(results, medium)];
    let of = |workload| results.results.iter().filter(move |case| case.case.workload == workload);
    if of(Workload::Roundtrip).next().is_some() {
        paragraphs.push(
            "A round trip is there and back, never halved. CPU/msg is the CPU time of both ends \
             together per message; a round trip is two messages."
                .to_owned(),
        );
    }
    if of(Workload::Wake).any(|case| case.estimates.is_some()) {
        paragraphs.push(
            "Wake-ups: mean ± stdev are medians over trials of each trial's own mean and standard \
             deviation of its samples; max is the greatest of all trials."
                .to_owned(),
        );
    }
    paragraphs.extend(clock(results));
    Section { id: "reading", title: TITLE.to_owned(), blocks: vec![Block::List(paragraphs)] }
}

/// The sentence on intervals, with the levels that really occur.
fn intervals(results: &Results, medium: Medium) -> String {
    let mut shown: Vec<&Estimate> = results.results.iter().flat_map(shown).collect();
    shown.extend(results.knobs.iter().map(|price| &price.difference_ns));
    shown.extend(results.cost_models.iter().flat_map(|m| [&m.fixed_ns, &m.per_byte_ns]).flatten());
    let published = results.published.iter().flat_map(|table| &table.rows);
    shown.extend(published.filter_map(|row| row.measured.as_ref()));
    let wide = shown.iter().any(|e| number::is_wide(e));
    shown.extend(results.runtimes.iter().flat_map(of_runtimes));
    let levels = shown.iter().filter(|e| !e.pooled).filter_map(|e| e.level);
    let least = levels.clone().reduce(f64::min);
    let most = levels.reduce(f64::max);
    let level = match (least.map(number::percent), most.map(number::percent)) {
        (Some(least), Some(most)) if least == most => format!(" (exact level {least})"),
        (Some(least), Some(most)) => format!(" (exact level {least} to {most})"),
        _ => String::new(),
    };
    let any = |test: fn(&Estimate) -> bool| shown.iter().any(|e| test(e));
    let wide_mark = if medium == Medium::Terminal { "?" } else { "(wide)" };
    let sentences = [
        (
            true,
            format!(
                "p50 and p99: median over n trials of each trial's own; [a, b]: interval from \
                 order statistics of the trials{level}, in the unit of the value."
            ),
        ),
        (
            any(|e| e.pooled && e.point.is_some()),
            "*: pooled over all trials, a trial alone being too short; interval from resampling \
             whole trials (about 95 %)."
                .to_owned(),
        ),
        (
            any(|e| e.point.is_some() && e.low.is_none() && !e.at_most),
            "[–]: no interval.".to_owned(),
        ),
        (any(|e| e.at_most), "≤: not distinguishable from an empty loop.".to_owned()),
        (wide, format!("{wide_mark}: the interval spans more than a factor of 2.")),
        (
            true,
            "An interval covers this run on this host in the state it was in, not the next run."
                .to_owned(),
        ),
    ];
    let said = sentences.into_iter().filter(|(holds, _)| *holds).map(|(_, sentence)| sentence);
    said.collect::<Vec<_>>().join(" ")
}

/// The estimates of a case that the ladder and the sections show.
fn shown(result: &CaseResult) -> impl Iterator<Item = &Estimate> {
    let own: &[Statistic] = match result.case.workload {
        Workload::Wake => &[Statistic::Mean, Statistic::Min, Statistic::P95],
        _ => &[],
    };
    let shown = [Statistic::Cost, Statistic::P50, Statistic::P99].iter().chain(own);
    let estimates = shown.filter_map(|statistic| estimated(result, *statistic));
    let rates = result.stream.iter().flat_map(|s| [&s.aggregate_gbps, &s.per_flow_gbps]);
    estimates.chain(rates.flatten())
}

/// The estimates that only a comparison of runtimes has.
fn of_runtimes(runtimes: &RuntimeComparison) -> impl Iterator<Item = &Estimate> {
    let added = runtimes.added.iter().flat_map(|added| [&added.constant_ns, &added.per_byte_ns]);
    let stamps = runtimes.stamp_costs.iter().map(|cost| &cost.by_rust_clock_ns);
    added.chain(stamps).flatten()
}

fn clock(results: &Results) -> Option<String> {
    let first = results.clocks.first()?;
    let cost = |clock: &ClockReading| match clock.knows_its_cost() {
        true => format!("{} on CPU {}", number::rough(clock.stamp_p50_ns, UNICODE), clock.cpu),
        false => "its cost is not known (its worker does not answer `clock`)".to_owned(),
    };
    let of = |runtime: &str| -> String {
        let clocks = results.clocks.iter().filter(|clock| clock.runtime == runtime);
        clocks.map(cost).collect::<Vec<_>>().join(", ")
    };
    let (source, costs) = (&first.source, of(&first.runtime));
    let mut text = format!("Clock: {source}; a stamp costs {costs}, and is not subtracted.");
    let mut told = vec![first.runtime.as_str()];
    for clock in &results.clocks {
        if !told.contains(&clock.runtime.as_str()) {
            told.push(&clock.runtime);
            let costs = of(&clock.runtime);
            text.push_str(&format!(" In {}: {}, {costs}.", clock.runtime, clock.source));
        }
    }
    Some(text)
}
