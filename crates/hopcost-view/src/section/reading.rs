//! What the words and numbers of a report mean.

use hopcost_model::group::grouped;
use hopcost_model::protocol::ClockReading;
use hopcost_model::results::Results;

use super::model::{Block, Cell, Medium, Rows, Section, words};
use crate::number;

/// Terms with their meaning, in the order in which a page explains them.
const TERMS: &str = include_str!("terms.txt");

/// Every term where there is room, and what is particular to this run.
pub(super) fn section(results: &Results, medium: Medium) -> Option<Section> {
    let terms: Vec<(&str, &str)> = match medium {
        Medium::Page => TERMS.lines().filter_map(|line| line.split_once(": ")).collect(),
        _ => Vec::new(),
    };
    let table = Rows::of(&terms)
        .column(words("term"), |(term, _)| Cell::text(*term))
        .column(words("meaning"), |(_, meaning)| Cell::text(*meaning));
    let marks = (medium != Medium::Page)
        .then(|| "!: a finding casts more doubt on the row than on the run as a whole.".to_owned());
    let own = [Some(horizon(results)), levels(results), clocks(results), marks];
    let own = Block::List(own.into_iter().flatten().collect());
    Section::of("reading", [own, table.table()])
}

/// What the intervals are of.
fn horizon(results: &Results) -> String {
    let of = match results.yardsticks.is_empty() {
        false => {
            "Intervals are for the next run as long as this one on this machine: they are to hold \
             its median with a nominal 95 %, and allow for trials that depend on each other. How \
             often they did is in docs/evidence/tests.md. That of a multiple, a line or a \
             difference is of this run's rounds."
        }
        true => {
            "This file has no yardsticks: intervals, from order statistics of the trials, cover \
             this run in the states that it met, not the next run."
        }
    };
    of.to_owned()
}

/// The coverage of the intervals that occur.
fn levels(results: &Results) -> Option<String> {
    let estimates = results.results.iter().filter_map(|case| case.estimates.as_ref());
    let shown = estimates.flat_map(|estimates| estimates.intervals()).map(|(_, e)| e);
    let mut levels: Vec<f64> = shown.filter(|e| !e.pooled).filter_map(|e| e.level).collect();
    levels.sort_by(f64::total_cmp);
    let (least, most) = (*levels.first()?, *levels.last()?);
    let (least, most) = (number::percent(least), number::percent(most));
    let range = if least == most { least } else { format!("{least} to {most}") };
    Some(format!("Coverage of the intervals: {range}."))
}

/// What the clocks cost, those of each runtime together.
fn clocks(results: &Results) -> Option<String> {
    let cost = |clock: &&ClockReading| match clock.knows_its_cost() {
        true => format!("{} on CPU {}", number::time(clock.stamp_p50_ns, 2), clock.cpu),
        false => "its cost is not known (its worker does not answer `clock`)".to_owned(),
    };
    let of = |(runtime, clocks): (&str, Vec<&ClockReading>)| {
        let costs: Vec<String> = clocks.iter().map(cost).collect();
        (runtime.to_owned(), clocks[0].source.clone(), costs.join(", "))
    };
    let groups = grouped(&results.clocks, |clock| clock.runtime.as_str());
    let mut groups = groups.into_iter().map(of);
    let (_, source, costs) = groups.next()?;
    let first = format!("Clock: {source}; a stamp costs {costs}, and is not subtracted.");
    let others =
        groups.map(|(runtime, source, costs)| format!(" In {runtime}: {source}, {costs}."));
    Some(std::iter::once(first).chain(others).collect())
}
