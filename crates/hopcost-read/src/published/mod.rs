//! Published tables beside what was measured.
//!
//! A table is shown once for each group of its rows, and each placement and touch that the run
//! has cases for. Absolute numbers of another machine are shown and not judged; ratios
//! are paired by round like any other, and the order is that of the rows that were
//! measured here.

mod order;
mod source;
mod statistic;

use hopcost_model::case::{Case, Placement, Touch};
use hopcost_model::group::distinct;
use hopcost_model::results::{PublishedRow, PublishedTable, Ratio};
use hopcost_plan::{Published, Selector, shown};

use crate::case::{Reading, known};
use crate::ratio::{bound_share, is_exact_enough, ratio, widened};
use crate::run::Run;
use order::{Entry, order};
use source::{Row, Source};
pub use statistic::estimate;

/// The files of published/, by name.
const FILES: [(&str, &str); 6] = [
    ("threads-udp-websocket.csv", include_str!("../../../../published/threads-udp-websocket.csv")),
    ("python-and-cpp.csv", include_str!("../../../../published/python-and-cpp.csv")),
    ("microkernel.csv", include_str!("../../../../published/microkernel.csv")),
    ("wakeup-i9-9900k.csv", include_str!("../../../../published/wakeup-i9-9900k.csv")),
    ("wakeup-i5-m460.csv", include_str!("../../../../published/wakeup-i5-m460.csv")),
    ("copies.csv", include_str!("../../../../published/copies.csv")),
];

/// Every table that the run has a case for.
pub fn tables(run: &Run, readings: &[Reading]) -> Vec<PublishedTable> {
    let sources = sources(|suite, table| !table.here_only || suite == run.raw.plan.suite);
    sources.iter().flat_map(|source| of_source(readings, source)).collect()
}

/// How the machines were set up whose tables the run's own suite names, where one says so.
pub fn conditions(run: &Run, readings: &[Reading]) -> Vec<String> {
    let own = sources(|suite, _| suite == run.raw.plan.suite);
    let shown = own.into_iter().filter(|source| !of_source(readings, source).is_empty());
    shown.filter_map(|source| source.conditions).collect()
}

/// The tables that suites name, in their order. (A file that cannot be read is a mistake
/// that a test finds, and shows nothing.)
fn sources(wanted: impl Fn(&str, &Published) -> bool) -> Vec<Source> {
    let named = shown()
        .iter()
        .flat_map(|(suite, shown)| shown.published.iter().map(move |table| (*suite, table)));
    let wanted = |file: &&str| {
        named.clone().any(|(suite, table)| table.file == *file && wanted(suite, table))
    };
    let files = distinct(named.clone().map(|(_, table)| table.file.as_str())).into_iter();
    let text = |file: &str| FILES.iter().find(|(name, _)| *name == file).map(|(_, text)| *text);
    files.filter(wanted).filter_map(|file| Source::parse(text(file)?).ok()).collect()
}

/// A published number that does not say what was timed.
pub struct Search {
    /// Its label.
    pub label: String,
    /// Where it was published.
    pub source: String,
    /// The number.
    pub published_ns: f64,
    /// The runtime whose operations may be it.
    pub runtime: String,
}

/// Every number that asks for a search.
pub fn searches() -> Vec<Search> {
    let search = |source: Source| {
        let (label, runtime) = source.search?;
        let row = source.rows.into_iter().find(|row| row.label == label)?;
        Some(Search { label, source: source.source, published_ns: row.value * 1e3, runtime })
    };
    sources(|_, _| true).into_iter().filter_map(search).collect()
}

fn of_source(readings: &[Reading], source: &Source) -> Vec<PublishedTable> {
    let groups = distinct(source.rows.iter().map(|row| row.group.as_str()));
    let mut places: Vec<Option<&str>> = source.places.iter().map(|p| Some(p.as_str())).collect();
    if places.is_empty() {
        places.push(None);
    }
    let two_ends = known(readings).filter(|(case, _)| case.workload.has_two_ends());
    let mut touches = distinct(two_ends.map(|(case, _)| case.touch));
    if touches.is_empty() {
        touches.push(Touch::Verify);
    }
    let kinds = places.iter().flat_map(|place| touches.iter().map(move |touch| (*place, *touch)));
    let mut tables = Vec::new();
    for kind in kinds {
        for group in &groups {
            let rows: Vec<Beside> = source
                .rows
                .iter()
                .filter(|row| row.group == *group)
                .map(|row| Beside { row, found: find(readings, row, kind) })
                .collect();
            if rows.iter().any(|row| row.found.is_some()) {
                tables.push(table(source, group, kind, &rows));
            }
        }
    }
    tables
}

/// Where a table's cases were measured, if that is asked for, and how much of their messages
/// they touch.
type Kind<'a> = (Option<&'a str>, Touch);

/// A published row and the case that measures the same.
struct Beside<'a> {
    row: &'a Row,
    found: Option<&'a Reading<'a>>,
}

/// The first case of the best selector, one that was measured before one that was not.
fn find<'a>(readings: &'a [Reading<'a>], row: &Row, kind: Kind) -> Option<&'a Reading<'a>> {
    let of = |measured: bool| {
        row.cases.iter().find_map(|selector| {
            known(readings)
                .filter(|(_, reading)| !measured || reading.is_measured())
                .find(|(case, _)| fits_at(selector, case, kind))
                .map(|(_, reading)| reading)
        })
    };
    of(true).or_else(|| of(false))
}

/// Whether a case is selected and has this touch, and this placement where one is asked for
/// (`cross`: any two CPUs). A call has neither and fits any. Without a runtime, both ends must be
/// in Rust.
fn fits_at(selector: &Selector, case: &Case, (place, touch): Kind) -> bool {
    let is_there = |of: Placement| match place {
        None => true,
        Some("cross") => of.is_two_cpu(),
        Some(place) => of.word() == place,
    };
    (selector.says_runtime() || case.runtimes.are_rust())
        && case.placement.is_none_or(is_there)
        && (case.touch == touch || !case.workload.has_two_ends())
        && selector.fits(case)
}

fn table(source: &Source, group: &str, kind: Kind, rows: &[Beside]) -> PublishedTable {
    let mut title = source.title.clone();
    let (place, touch) = kind;
    let untouched = match touch {
        Touch::Verify => String::new(),
        touch => format!("beside touch={touch} here"),
    };
    for part in [group, place.map_or("", here), &untouched] {
        if !part.is_empty() {
            title.push_str(&format!(", {part}"));
        }
    }
    let shown: Vec<PublishedRow> =
        rows.iter().map(|beside| published_row(beside, base(source, rows, beside.row))).collect();
    let ordered = || shown.iter().filter(|row| source.order.as_ref() == Some(&row.statistic));
    let measured = |row: &&PublishedRow| point(row).is_some();
    // Only what was measured can be put in both orders; if nothing was, the published
    // one stands alone.
    let any = ordered().any(|row| measured(&row));
    let published = ordered().filter(|row| !any || measured(row)).map(|row| Entry {
        label: row.label.clone(),
        point: row.published,
        interval: row.published_high.map(|high| (row.published, high)),
    });
    let here = ordered().filter_map(|row| {
        let estimate = row.measured.as_ref()?;
        Some(Entry {
            label: row.label.clone(),
            point: point(row)?,
            interval: estimate.low.zip(estimate.high),
        })
    });
    PublishedTable {
        title,
        source: source.source.clone(),
        machine: source.machine.clone(),
        timed: source.timed.clone(),
        order_published: several(order(published.collect())),
        order_measured: several(order(here.collect())),
        rows: shown,
    }
}

fn point(row: &PublishedRow) -> Option<f64> {
    row.measured.as_ref()?.point
}

/// One label is no order.
fn several(labels: Vec<String>) -> Vec<String> {
    let one = labels.len() == 1 && !labels[0].contains(" = ");
    if one { Vec::new() } else { labels }
}

/// Where it was measured here, in words.
fn here(place: &str) -> &'static str {
    match place {
        "free" => "beside ends that were not pinned here",
        "same-cpu" => "beside ends on one CPU here",
        _ => "beside ends on two CPUs here",
    }
}

/// The row that a row's ratio refers to: the baseline's of the same statistic.
fn base<'a>(source: &Source, rows: &'a [Beside], row: &Row) -> Option<&'a Beside<'a>> {
    let label = source.baseline.as_ref()?;
    rows.iter().find(|of| of.row.label == *label && of.row.statistic == row.statistic)
}

fn published_row(beside: &Beside, base: Option<&Beside>) -> PublishedRow {
    let row = beside.row;
    let of_published = base
        .map(|base| row.value / base.row.value)
        .filter(|ratio| ratio.is_finite() && *ratio > 0.0);
    PublishedRow {
        label: row.label.clone(),
        statistic: row.statistic.clone(),
        unit: row.unit.clone(),
        published: row.value,
        published_high: row.high,
        published_ratio: row.ratio.or(of_published),
        case: beside.found.map(|reading| reading.result.id.clone()),
        measured: beside
            .found
            .and_then(|reading| statistic::estimate(reading, &row.statistic, &row.unit)),
        measured_ratio: base.and_then(|base| measured_ratio(beside, base)),
        note: row.note.clone(),
    }
}

fn measured_ratio(beside: &Beside, base: &Beside) -> Option<Ratio> {
    let (found, base) = (beside.found?, base.found?);
    if !is_exact_enough(found) || !is_exact_enough(base) {
        return None;
    }
    let by_round = |of: &Reading| statistic::by_round(of, &beside.row.statistic);
    let ratio = ratio(&base.result.id, &by_round(found), &by_round(base))?;
    Some(widened(ratio, bound_share(found), bound_share(base)))
}

#[cfg(test)]
mod tests;
