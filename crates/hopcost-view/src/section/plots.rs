//! What is drawn of a run beside its tables: values along an axis, percentile curves, trials.

use hopcost_model::Workload;
use hopcost_model::group::{distinct, grouped};
use hopcost_read::results::{
    CaseResult, Estimate, LadderGroup, LadderRow, Results, Statistic, Status, TrialPoint,
};

use super::shapes::{About, Line, lines};
use super::words::{estimated, labels, rates_at_levels, unit, value, without};
use super::{answer, head};
use crate::chart::Unit;
use crate::chart::model::{Axis, Chart, Point, Scale};
use crate::names::{Place, all_of, capitalised, headline, plain_id, row_name};

/// What is drawn along an axis, by its key and its name.
const AXES: [(&str, &str); 4] = [
    ("payload", "message size"),
    ("flows", "flows"),
    ("gap", "gap before the notification"),
    ("rate", "messages a second"),
];
/// Quantiles that get a mark.
const MARKED: [f64; 5] = [0.5, 0.9, 0.99, 0.999, 0.9999];
/// Cases up to which a page draws the percentiles and the trials of each: of more they would hide
/// the rest.
const CASES_MAX: usize = 12;

/// What is drawn of each case, where there are few.
pub(super) fn of_few(results: &Results, charts: fn(&Results) -> Vec<Chart>) -> Vec<Chart> {
    let measured = results.results.iter().filter(|case| case.status == Status::Measured);
    if measured.count() > CASES_MAX { Vec::new() } else { charts(results) }
}

/// All plots of a run, each with a line of what run it is of.
pub(crate) fn of_run(results: &Results) -> Vec<Chart> {
    let mut charts = along_axes(results);
    charts.extend(answer::charts(results));
    charts.extend(curves(results));
    charts.extend(of_trials(results));
    // For a drawing that is seen by itself.
    let of = format!("Run {}: {}.", results.about.id, head::line(results));
    charts.iter_mut().for_each(|chart| chart.notes.push(of.clone()));
    charts
}

/// A chart of each workload and placement along each axis of which two values were measured.
pub(super) fn along_axes(results: &Results) -> Vec<Chart> {
    let mut charts = Vec::new();
    for (key, name) in AXES {
        let measured = results.results.iter().filter(|case| case.status == Status::Measured);
        let at = measured.filter_map(|case| Some((value(&case.id, key)?, case)));
        let at = at.filter(|(at, _)| *at > 0.0);
        let mut series = grouped(at, |(_, case)| without(&case.id, key));
        series.retain(|(_, points)| distinct(points.iter().map(|(at, _)| *at)).len() > 1);
        let all: Vec<&CaseResult> = series.iter().map(|(_, points)| points[0].1).collect();
        let of = |case: &CaseResult| (case.case.workload, case.case.placement);
        for (workload, place) in distinct(all.iter().map(|case| of(case))) {
            let own: Vec<_> =
                series.iter().filter(|(_, points)| of(points[0].1) == (workload, place)).collect();
            let cases: Vec<&CaseResult> = own.iter().map(|(_, points)| points[0].1).collect();
            let named =
                labels(&cases, key).into_iter().zip(own.iter().map(|(_, of)| of.as_slice()));
            let named: Vec<(String, &[(f64, &CaseResult)])> = named.collect();
            let is_one = all.iter().all(|case| of(case).0 != workload || of(case).1 == place);
            let place = place.filter(|_| !is_one).map(|place| place.word());
            let x = Axis::new(key, Scale::Log, unit(key));
            let called = [Some(workload.word()), Some(key), place];
            let id = plain_id(&called.into_iter().flatten().collect::<Vec<_>>().join("-"));
            let place = place.map_or(String::new(), |place| format!(" ({place})"));
            let what = workload.word().replace("roundtrip", "round trip");
            let title = format!("{} by {name}{place}", capitalised(&what));
            charts.extend(of_workload((id, title), &named, &x));
        }
    }
    charts
}

/// What is drawn of points along an axis: times, and of streams throughput and CPU time.
fn of_workload(
    (id, title): (String, String),
    named: &[(String, &[(f64, &CaseResult)])],
    x: &Axis,
) -> Vec<Chart> {
    let gbps = |case: &CaseResult| case.stream.as_ref()?.aggregate_gbps.clone();
    let cpu = |case: &CaseResult| {
        let ns = case.cpu_ns_per_message.filter(|_| case.stream.is_some());
        Some(Estimate::exact(ns?, case.n_trials))
    };
    let flow = |case: &CaseResult| case.stream.as_ref()?.per_flow_gbps.clone();
    type Value<'a> = &'a dyn Fn(&CaseResult) -> Option<Estimate>;
    let charts: [(&str, &str, Unit, Value); 5] = [
        ("", "time", Unit::Ns, &|case| headline(case).map(|(_, of)| of.clone())),
        ("-p99", "p99", Unit::Ns, &|case| estimated(case, Statistic::P99).cloned()),
        ("-throughput", "throughput of one flow", Unit::GigabitsPerSecond, &flow),
        ("-aggregate", "throughput of all flows", Unit::GigabitsPerSecond, &gbps),
        ("-cpu", "CPU time per message of both ends", Unit::Ns, &cpu),
    ];
    let chart = |(suffix, what, unit, value): (&str, &str, Unit, Value)| {
        let about = About {
            id: format!("{id}{suffix}"),
            title: if suffix.is_empty() { title.clone() } else { format!("{title}, {what}") },
            says: "A line joins the values of one case along the axis; bands are their intervals."
                .to_owned(),
        };
        let point = |(at, case): &(f64, &CaseResult)| {
            let of = value(case)?;
            let levels = match unit {
                Unit::Ns if suffix.is_empty() => case.levels,
                Unit::GigabitsPerSecond => rates_at_levels(case, &of),
                _ => None,
            };
            Point::of(*at, &of, levels)
        };
        let line = |(name, of): &(String, &[(f64, &CaseResult)])| {
            (name.clone(), of.iter().filter_map(point).collect())
        };
        let all = named.iter().map(line).collect();
        lines(&about, all, x, &Axis::new(what, Scale::Log, unit))
    };
    charts.into_iter().flat_map(chart).collect()
}

/// The cases of a group of the ladder, each with its name, and its place where there are several.
type Named<'a> = [(String, &'a CaseResult)];

/// What is drawn of each group of the ladder: the points of each case, and the axes of all.
fn of_groups<'a>(
    results: &'a Results,
    (id, title, says): (&str, &str, &str),
    points: impl Fn(&'a CaseResult) -> Vec<Point>,
    axes: impl Fn(&Named, &[Line]) -> [Axis; 2],
) -> Vec<Chart> {
    let chart = |(at, group): (usize, &LadderGroup)| {
        let several = distinct(all_of(group, results).map(|(_, place, ..)| place)).len() > 1;
        let name = |(row, place, _, case): (&LadderRow, Place, usize, &'a CaseResult)| {
            let place = if several { format!(", {}", place.name()) } else { String::new() };
            (format!("{}{place}", row_name(row, results)), case)
        };
        let named: Vec<(String, &CaseResult)> = all_of(group, results).map(name).collect();
        let all = named.iter().map(|(line, case)| (line.clone(), points(case)));
        let all: Vec<Line> = all.collect();
        let title = format!("{}{title}", capitalised(&group.title));
        let [x, y] = axes(&named, &all);
        lines(&About { id: format!("{id}-{at}"), title, says: says.to_owned() }, all, &x, &y)
    };
    results.ladder.iter().enumerate().flat_map(chart).collect()
}

/// Percentile curves of each group of the ladder.
pub(crate) fn curves(results: &Results) -> Vec<Chart> {
    let says = "Time of an operation over the share of operations that were at most as slow, \
                pooled over trials; each further nine takes the same length. Bands span the \
                trials.";
    let points = |case: &CaseResult| {
        // Every third, and those that have a mark: a curve is as smooth with them.
        let is_kept = |at: usize, q: f64| at.is_multiple_of(3) || MARKED.contains(&q);
        let drawn = case.curve.iter().filter(|of| of.q > 0.0 && of.q < 1.0).enumerate();
        let drawn = drawn.filter(|(at, of)| is_kept(*at, of.q));
        drawn.map(|(_, of)| Point::new(of.q, of.ns, of.low.zip(of.high))).collect()
    };
    let axes = |named: &Named, all: &[Line]| {
        let farthest = all.iter().flat_map(|(_, of)| of).map(|of| of.at).fold(0.5, f64::max);
        let at = MARKED.into_iter().filter(|q| *q <= farthest).collect();
        // A wake-up waits for nothing but its gap, a load for its schedule.
        let is_open =
            |case: &CaseResult| matches!(case.case.workload, Workload::Wake | Workload::Load);
        let closed = if named.iter().any(|(_, case)| is_open(case)) { "" } else { ", closed loop" };
        let y = Axis::new(format!("time per operation{closed}"), Scale::Log, Unit::Ns);
        [Axis { at, ..Axis::new("percentile", Scale::Nines, Unit::Quantile) }, y]
    };
    of_groups(results, ("curve", "", says), points, axes)
}

/// The trials of each group of the ladder.
pub(crate) fn of_trials(results: &Results) -> Vec<Chart> {
    let says = "A line per case: its trials in the order of time, each as a multiple of the \
                reported value; of a case with two levels, of the lower. A slope is drift; steps \
                are states of the host.";
    let points = |case: &CaseResult| {
        let reported = headline(case).and_then(|(_, of)| of.point);
        let reported = case.levels.map(|(low, _)| low).or(reported);
        let point = |of: &TrialPoint| {
            Some(Point::new(f64::from(of.round) + 1.0, of.value_ns? / reported?, None))
        };
        case.trials.iter().filter_map(point).collect()
    };
    let y = "trial as a multiple of the reported value";
    let axes = [("round", Scale::Linear), (y, Scale::Log)];
    let axes = |_: &Named, _: &[Line]| axes.map(|(of, scale)| Axis::new(of, scale, Unit::Count));
    of_groups(results, ("trials", ": trials", says), points, axes)
}

#[cfg(test)]
pub(crate) mod tests;
