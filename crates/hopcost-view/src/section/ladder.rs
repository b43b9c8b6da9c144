//! The ladder: what may be compared, the cheapest first.

use hopcost_model::results::{
    CaseResult, LadderGroup, LadderRow, Results, Statistic, Status, TimeUnit,
};

use super::answer::ticks;
use super::model::{
    Block, Cell, Medium, Rows, Scale, Section, Unit, estimates, numbers, repeated, says, verdicts,
    words,
};
use super::words::{Of, fate, sum, uncounted};
use crate::names::{Place, capitalised, covers, headline, row_label};
use crate::number::{DIGITS_MAX, DIGITS_MIN};

type Line<'a> = Of<'a, (&'a LadderRow, Place)>;

pub(super) fn section(results: &Results, medium: Medium) -> Option<Section> {
    let mut blocks = Vec::new();
    for group in &results.ladder {
        let lines = Line::rows(group, results);
        if covers(group, results) || lines.is_empty() {
            continue;
        }
        blocks.push(Block::Heading(capitalised(&group.title)));
        blocks.push(says(&group.meaning));
        let cases: Vec<&CaseResult> = lines.iter().map(|line| line.case).collect();
        blocks.push(table(group, lines, results, medium));
        if is_calls(group) || cases.iter().any(|case| system_calls(case).is_some()) {
            blocks.extend(uncounted(cases.iter().copied()));
        }
    }
    if !blocks.is_empty() {
        blocks.splice(..0, ticks(results).map(says));
    }
    Section::of("ladder", blocks)
}

/// System calls of an operation, of both ends together.
fn system_calls(case: &CaseResult) -> Option<f64> {
    sum(case, "system-calls", |counter| counter.per_operation)
}

/// Whether a group has but calls: no second party, and so no message.
fn is_calls(group: &LadderGroup) -> bool {
    group.rows.iter().all(|row| row.wait.is_none() && row.two_cpus.is_none() && row.free.is_none())
}

fn table(
    group: &LadderGroup,
    mut lines: Vec<Line<'_>>,
    results: &Results,
    medium: Medium,
) -> Block {
    if medium != Medium::Page {
        lines.retain(|line| line.case.status == Status::Measured);
    }
    let cost = if group.batched { "cost" } else { "p50" };
    let cpu = if is_calls(group) { "CPU/op" } else { "CPU/msg" };
    let digits = |case: &CaseResult| {
        Unit::Plain(headline(case).map_or(DIGITS_MIN, |(_, e)| e.digits.min(DIGITS_MAX)))
    };
    let is_counted = lines.iter().any(|line| system_calls(line.case).is_some());
    let stamp = |line: &Line<'_>| line.case.stamp.map_or(String::new(), |stamp| stamp.to_string());
    Rows::of(&lines)
        .column(repeated("mechanism"), |l| Cell::text(row_label(l.with.0, results)).of(l.index))
        .column(repeated("boundary"), |l| Cell::text(l.with.0.boundary.word()))
        .column(repeated("wait"), |l| Cell::text(l.with.0.wait.as_deref().unwrap_or_default()))
        .column_if(!is_calls(group), words("placement"), placement)
        .column(estimates(cost), first)
        .column_if(!group.batched, estimates("p99").fold(7), |l| {
            l.estimate(Statistic::P99, Scale::Time)
        })
        .column(numbers("ticks").fold(4), |l| {
            // Of round trips where the suite tells ticks; the time alone says as much elsewhere.
            let single = l.case.p50_ticks.filter(|_| results.plan.unit == TimeUnit::Ticks);
            Cell::maybe(l.case.cost_ticks.or(single), digits(l.case))
        })
        .column(numbers("cycles").fold(4), |l| Cell::maybe(l.case.cost_cycles, digits(l.case)))
        .column(estimates("multiple").fold(3), |l| Cell::ratio(l.case.ratio.as_ref(), &l.case.id))
        .column(numbers(cpu).fold(6), |l| Cell::maybe(l.case.cpu_ns_per_message, Unit::Time(2)))
        .column(numbers("system calls").fold(5), |l| Cell::maybe(system_calls(l.case), Unit::Count))
        .column_if(is_counted, numbers("switches").fold(5), |l| {
            Cell::maybe(l.case.switches_per_operation, Unit::Count)
        })
        .column(numbers("lost").fold(8), |l| match l.case.lost {
            0 => Cell::none(),
            lost => Cell::whole(lost),
        })
        .column(numbers("n").fold(2), Line::trials)
        .column_if(medium == Medium::Document, words("stamp"), |l| Cell::text(stamp(l)))
        .column(verdicts(), Line::grade)
        .table()
}

fn placement(line: &Line<'_>) -> Cell {
    let place = line.case.case.placement.map(|placement| placement.word());
    Cell::text(place.unwrap_or(line.with.1.name()))
}

/// The number that a row is ranked by, or why there is none.
fn first(line: &Line<'_>) -> Cell {
    match (fate(line.case), headline(line.case)) {
        (Some((what, why)), _) if line.case.status != Status::Measured => {
            Cell::text(what).hint(Some(why.to_owned()))
        }
        (_, Some((_, estimate))) => Cell::estimate(Some(estimate), Scale::Time),
        (_, None) => Cell::text("no estimate"),
    }
}
