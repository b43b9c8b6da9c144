//! The ladder: what may be compared, the cheapest first.

use hopcost_model::results::{
    CaseResult, LadderGroup, LadderRow, Results, Statistic, Status, TimeUnit,
};

use super::answer::ticks;
use super::model::{
    Block, Cell, Frame, Medium, Rows, Scale, Section, Table, Unit, Value, estimates, numbers,
    repeated, says, verdicts, words,
};
use super::shapes::{About, Named, rows};
use super::words::{Of, fate, missing, uncounted};
use crate::chart::model::{Axis, Chart, Scale::Log};
use crate::chart::unit::Unit as ChartUnit;
use crate::names::{Place, capitalised, covers, headline, plain_id, row_label};
use crate::number::{DIGITS_MAX, DIGITS_MIN};

type Line<'a> = Of<'a, (&'a LadderRow, Place)>;

/// A chart of each group that has several rows, from its table.
pub(super) fn charts(results: &Results) -> Vec<Option<Chart>> {
    let groups = results.ladder.iter().enumerate();
    groups
        .map(|(at, group)| {
            let lines = Line::rows(group, results);
            let is_shown = !covers(group, results) && lines.len() > 1;
            is_shown.then(|| chart(at, group, &table(group, lines, results, Medium::Page)))?
        })
        .collect()
}

fn chart(at: usize, group: &LadderGroup, table: &Table) -> Option<Chart> {
    let about = About {
        id: format!("ladder-{at}-{}", plain_id(&group.title)),
        title: capitalised(&group.title),
        says: format!(
            "{} One row per case. A filled marker is the median or the cost of one operation, an \
             open one the 99th percentile; the bar through a marker is its interval.",
            group.meaning
        ),
    };
    let per = if group.batched { "operation" } else { "round trip" };
    let of = Named {
        names: &["mechanism", "boundary", "wait", "placement"],
        values: if group.batched { &["cost"][..] } else { &["p50", "p99"][..] },
        axis: Axis::new(format!("time per {per}"), Log, ChartUnit::Ns),
        lane: None,
        from: None,
    };
    rows(about, table, of)
}

pub(super) fn section(results: &Results, medium: Medium) -> Option<Section> {
    let mut drawn = if medium == Medium::Page { charts(results) } else { Vec::new() };
    drawn.resize(results.ladder.len(), None);
    let mut blocks = Vec::new();
    for (group, chart) in results.ladder.iter().zip(drawn) {
        let lines = Line::rows(group, results);
        if covers(group, results) || lines.is_empty() {
            continue;
        }
        blocks.push(Block::Heading(capitalised(&group.title)));
        blocks.push(says(&group.meaning));
        blocks.extend(chart.map(|chart| Block::Charts(vec![chart], Frame::Bare)));
        let cases: Vec<&CaseResult> = lines.iter().map(|line| line.case).collect();
        blocks.push(Block::Table(table(group, lines, results, medium)));
        if is_calls(group) {
            blocks.extend(uncounted(cases.iter().copied()));
        }
        if medium != Medium::Document {
            blocks.extend(missing(cases));
        }
    }
    if !blocks.is_empty() {
        blocks.splice(..0, ticks(results).map(says));
    }
    Section::of("ladder", blocks)
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
) -> Table {
    if medium != Medium::Page {
        lines.retain(|line| line.case.status == Status::Measured);
    }
    let cost = if group.batched { "cost" } else { "p50" };
    let cpu = if is_calls(group) { "CPU/op" } else { "CPU/msg" };
    let digits = |case: &CaseResult| {
        Unit::Plain(headline(case).map_or(DIGITS_MIN, |(_, e)| e.digits.min(DIGITS_MAX)))
    };
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
        .column(numbers("n").fold(2), Line::trials)
        .column_if(medium == Medium::Document, words("stamp"), |l| Cell::text(stamp(l)))
        .column(verdicts(), Line::grade)
        .column_if(medium == Medium::Page, words("findings"), findings)
        .into_table()
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

/// Links to the findings, one a code and severity.
fn findings(line: &Line<'_>) -> Cell {
    let mut found: Vec<_> = line.case.findings.iter().map(|f| (f.code, f.severity)).collect();
    found.dedup();
    let link = |(code, severity)| Value::Finding(code, severity).into();
    Cell::several(found.into_iter().map(link).collect())
}
