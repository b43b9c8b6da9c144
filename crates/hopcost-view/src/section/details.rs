//! Details: every case, those without numbers, connections, the host, and how to read all of it.

use hopcost_model::Reading;
use hopcost_model::group::grouped;
use hopcost_read::results::{CaseResult, Results, Status, TcpResult};

use super::fields::table;
use super::model::{
    Block, Cell, Fold, Interval, Medium, Rows, Scale, Section, Tone, facts, says, words,
};
use super::words::fate;
use crate::names::headline;

/// Every case with what no other table has of it.
pub(super) fn cases(results: &Results, _: Medium) -> Option<Section> {
    let cases = results.results.iter().enumerate();
    Section::of("cases", cases.map(|(index, case)| one(index, case)))
}

fn one(index: usize, case: &CaseResult) -> Block {
    let measured = case.status == Status::Measured;
    let mut brief = vec![Cell::code(&case.id)];
    match headline(case).filter(|_| measured) {
        Some((what, estimate)) => {
            let value = Cell::at_levels(case.levels, Some(estimate), Scale::Time, Interval::Told);
            brief.extend([Cell::text(what), value]);
        }
        None => brief.push(Cell::text(case.status.word())),
    }
    brief.extend(measured.then(|| Cell::validity(case.validity)));
    let mut blocks = Vec::new();
    if let Some(reason) = &case.reason {
        let word = if measured { "failed trials" } else { case.status.word() };
        blocks.push(Block::Text(Tone::Alert, format!("{word}: {reason}")));
    }
    for (heading, table) in
        [("Threads", table(&case.threads)), ("Typical durations", table(&case.modes))]
    {
        if matches!(&table, Block::Table(table) if !table.rows.is_empty()) {
            blocks.extend([Block::Heading(heading.to_owned()), table]);
        }
    }
    let findings = case.findings.iter();
    let findings = findings.map(|of| ("finding", Cell::finding(of.code, of.severity)));
    blocks.extend((!case.findings.is_empty()).then(|| facts(findings)));
    Block::Fold(Fold { id: format!("case-{index}"), open: false, brief, blocks })
}

/// The cases that were not measured, or not in every trial.
pub(super) fn missing(results: &Results, _: Medium) -> Option<Section> {
    let missing = results.results.iter().filter_map(|case| Some((case, fate(case)?)));
    let missing: Vec<(&CaseResult, (String, &str))> = missing.collect();
    let table = Rows::of(&missing)
        .column(words("case"), |(case, _)| Cell::code(&case.id))
        .column(words("what"), |(_, (what, _))| Cell::text(what))
        .column(words("reason"), |(_, (_, why))| Cell::text(*why))
        .column(words("replay by hand"), |(case, _)| {
            Cell::code(case.replay.as_deref().unwrap_or(""))
        });
    Section::of("missing", [table.table()])
}

/// What the kernel says of the TCP connections of each end.
pub(super) fn tcp(results: &Results, _: Medium) -> Option<Section> {
    let ends = results.results.iter().flat_map(|case| case.tcp.iter().map(move |end| (case, end)));
    let ends: Vec<(&CaseResult, &TcpResult)> = ends.collect();
    let table = Rows::of(&ends)
        .column(words("case"), |(case, _)| Cell::code(&case.id))
        .fields("", |(_, end)| Some(*end));
    Section::of("tcp", [table.table()])
}

/// The host's fingerprint, and the clocks.
pub(super) fn host(results: &Results, _: Medium) -> Option<Section> {
    let clocks = Rows::of(&results.clocks)
        .column(words("CPU"), |clock| Cell::text(clock.cpu.to_string()))
        .column(words("runtime"), |clock| Cell::text(&clock.runtime))
        .column(words("source"), |clock| Cell::text(&clock.source))
        // What is not known is stored as 0.
        .fields("cpu runtime source", |clock| Some(clock).filter(|of| of.knows_its_cost()));
    let mut blocks = vec![Block::Heading("Clocks".to_owned()), clocks.table()];
    // A part may come back, and is then joined.
    for (part, readings) in grouped(&results.host.readings, |reading| reading.section.as_str()) {
        blocks.push(Block::Heading(format!("Before the run: {part}")));
        let value = |reading: &Reading| match (&reading.value, &reading.reason) {
            (Some(value), _) => Cell::text(value),
            (None, Some(why)) => Cell::text(format!("not available: {why}")),
            (None, None) => Cell::text("not available: no reason was stored"),
        };
        blocks.push(facts(readings.into_iter().map(|r: &Reading| (r.key.as_str(), value(r)))));
    }
    Section::of("host", blocks)
}

/// What is particular to the intervals of this run.
pub(super) fn reading(results: &Results, _: Medium) -> Option<Section> {
    let horizon = match results.yardsticks.is_empty() {
        false => {
            "An interval predicts the median of the next run of this length on this machine, with \
             a nominal 95 %. Intervals of multiples, lines and differences are of this run's rounds."
        }
        true => {
            "This file has no speed probes: its intervals come from order statistics of the trials \
             and describe this run, not the next."
        }
    };
    Section::of("reading", [says(horizon)])
}
