//! Loads: one table a mechanism and setting, one row a rate.

use hopcost_model::group::grouped;
use hopcost_model::{Code, Rate, Severity};
use hopcost_read::results::{CaseResult, LoadResult, Results, Statistic};

use super::contrasts::name;
use super::headline::{Headline, titled};
use super::model::{Block, Cell, Interval, Rows, Scale, Unit, note, numbers};
use super::words::{estimated, labels, without};
use crate::number;

/// Microseconds, as wake-ups have them.
const MICRO: Scale = Scale::Power(3);

/// The mark of a case that is worse than the run as a whole.
type Mark<'a> = dyn Fn(&CaseResult) -> &'static str + 'a;
/// A load with its case, whose index it has.
type Load<'a> = (usize, &'a CaseResult, &'a LoadResult);

/// A table for what differs in its rate alone.
pub(super) fn answer(results: &Results, mark: &Mark<'_>) -> Vec<Block> {
    let cases = results.results.iter().enumerate();
    let loads = cases.filter_map(|(index, case)| Some((index, case, case.load.as_ref()?)));
    let mut blocks = Vec::new();
    for (id, mut rows) in grouped(loads, |(_, case, _)| without(&case.id, "rate")) {
        rows.sort_by_key(|(.., load)| load.rate);
        blocks.push(Block::Heading(format!("{}; times in µs", name(&id, ""))));
        blocks.push(brief(&rows, mark));
    }
    let is_pooled = |case: &CaseResult| {
        let quantiles = [Statistic::P99, Statistic::P999];
        quantiles.into_iter().filter_map(|of| estimated(case, of)).any(|of| of.pooled)
    };
    let is_any = results.results.iter().any(|case| case.load.is_some() && is_pooled(case));
    let says = "* of the messages of all trials together: one trial has too few of them.";
    blocks.extend(is_any.then(|| note(says.to_owned())));
    let found = results.results.iter().flat_map(|case| &case.findings);
    let left_out =
        found.filter(|of| of.code == Code::GeneratorLate && of.severity == Severity::Note);
    let most = left_out.filter_map(|of| of.values.get("late_share").copied()).reduce(f64::max);
    blocks.extend(most.map(|most| {
        let most = number::share(most);
        note(format!("Up to {most} of the messages are left out: their sender was late by itself."))
    }));
    blocks
}

/// With which rates each load keeps up, and its least and its greatest p99.
pub(super) fn headline(results: &Results) -> Headline {
    let loads = results.results.iter().filter(|case| case.load.is_some());
    let of_case = |case: &&CaseResult| {
        let p99 = estimated(case, Statistic::P99)?;
        let shown = Cell::measured(Some(p99), Scale::Time, Interval::Fitting).shown;
        Some((p99.point?, format!("{shown} at {}/s", case.load.as_ref()?.rate.brief())))
    };
    let said = |cases: &[&CaseResult]| {
        let mut all: Vec<(f64, String)> = cases.iter().filter_map(of_case).collect();
        all.sort_by(|a, b| a.0.total_cmp(&b.0));
        let p99 = match all.as_slice() {
            [(_, least), .., (_, most)] => Some(format!("p99 {least} to {most}")),
            few => few.first().map(|(_, only)| format!("p99 {only}")),
        };
        kept_up(cases).into_iter().chain(p99).collect::<Vec<_>>().join(", ")
    };
    let mut groups = grouped(loads, |case| without(&case.id, "rate"));
    let by_rate = |case: &&CaseResult| case.load.as_ref().map(|load| load.rate);
    groups.iter_mut().for_each(|(_, cases)| cases.sort_by_key(by_rate));
    let names = labels(&groups.iter().map(|(_, cases)| cases[0]).collect::<Vec<_>>(), "rate");
    let facts = names.into_iter().zip(groups.iter().map(|(_, cases)| said(cases))).collect();
    let title = titled("Response at a rate, one way (p99 of messages", results);
    Headline { title, facts, ..Headline::default() }
}

/// With which of these rates, in ascending order, a load keeps up: 99 % of the messages come, and
/// none is lost.
fn kept_up(cases: &[&CaseResult]) -> Option<String> {
    let is_kept = |load: &&LoadResult| load.achieved >= Some(0.99) && load.lost_share == 0.0;
    let loads: Vec<&LoadResult> = cases.iter().filter_map(|case| case.load.as_ref()).collect();
    let rate = |load: &LoadResult| format!("{}/s", load.rate.brief());
    (loads.len() > 1).then(|| match loads.iter().rposition(is_kept).map(|at| &loads[at..]) {
        None => "keeps up with none of the rates".to_owned(),
        Some([most, next, ..]) => format!("keeps up with {}, not with {}", rate(most), rate(next)),
        Some(of) => format!("keeps up with every rate tried, up to {}", rate(of[0])),
    })
}

fn micro(ns: Option<f64>) -> Cell {
    Cell::maybe(ns.map(|ns| ns / 1e3), Unit::Plain(3))
}

fn some(share: f64) -> Cell {
    Cell::maybe(Some(share).filter(|share| *share > 0.0), Unit::Share)
}

fn brief(rows: &[Load<'_>], mark: &Mark<'_>) -> Block {
    Rows::of(rows)
        .column(numbers("rate, 1/s"), |(index, _, load)| rate(load.rate).of(*index))
        .column(numbers("response p50"), |(index, case, _)| {
            let p50 = estimated(case, Statistic::P50);
            let cell = Cell::at_levels(case.levels, p50, MICRO, Interval::Fitting);
            cell.marked(mark(case)).of(*index)
        })
        .column(numbers("p99"), |(_, case, _)| {
            Cell::measured(estimated(case, Statistic::P99), MICRO, Interval::Fitting)
        })
        .column(numbers("p99.9").fold(3), |(_, case, _)| {
            Cell::measured(estimated(case, Statistic::P999), MICRO, Interval::Untold)
        })
        .column(numbers("lag p99").fold(4), |(.., load)| micro(load.lag.p99_ns))
        .column(numbers("service p99").fold(5), |(.., load)| micro(load.service.p99_ns))
        .column(numbers("achieved").fold(6), |(.., load)| Cell::maybe(load.achieved, Unit::Share))
        .column(numbers("lost").fold(1), |(.., load)| some(load.lost_share))
        .brief()
}

/// `50k`
fn rate(rate: Rate) -> Cell {
    Cell::worded(rate.brief(), rate.per_s())
}
