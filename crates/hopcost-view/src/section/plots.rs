//! What is drawn of a run beside its tables: values along an axis, percentile curves, trials.

use hopcost_model::case::Workload;
use hopcost_model::group::{distinct, grouped};
use hopcost_model::results::{
    CaseResult, Estimate, LadderGroup, LadderRow, Results, Statistic, Status, TrialPoint,
};

use super::model::{
    Block, Cell, Medium, Rows, Scale as Written, Section, Unit as Digits, Value, estimates, notes,
    numbers, words,
};
use super::shapes::{About, Named, Swept, lines, rows};
use super::words::{estimated, mechanism, trials as counted};
use super::{answer, comparison, runtimes};
use crate::chart::Unit;
use crate::chart::model::{Axis, Chart, Scale};
use crate::names::{Place, all_of, capitalised, cpus, headline, plain_id, quantile, row_name};

/// Quantiles that get a mark.
const MARKED: [f64; 5] = [0.5, 0.9, 0.99, 0.999, 0.9999];
/// Trials that are so many times the reported value, or as small a part of it, stand at the edge.
const EDGE: f64 = 4.0;
/// Cases up to which a page draws the percentiles and the trials of each: of more they would hide
/// the rest.
const CASES_MAX: usize = 12;

pub(super) fn swept(results: &Results, _: Medium) -> Option<Section> {
    let charts = along_axes(results);
    let said = distinct(charts.iter().flat_map(|chart| chart.notes.clone()));
    Section::of("plots", drawn(charts).into_iter().chain(notes(said)))
}

pub(super) fn percentiles(results: &Results, _: Medium) -> Option<Section> {
    Section::of("percentiles", drawn(of_few(results, curves)))
}

pub(super) fn trials(results: &Results, _: Medium) -> Option<Section> {
    Section::of("trials", drawn(of_few(results, of_trials)))
}

fn of_few(results: &Results, charts: fn(&Results) -> Vec<Chart>) -> Vec<Chart> {
    let measured = results.results.iter().filter(|case| case.status == Status::Measured);
    if measured.count() > CASES_MAX { Vec::new() } else { charts(results) }
}

pub(super) fn drawn(charts: Vec<Chart>) -> Option<Block> {
    (!charts.is_empty()).then_some(Block::Charts(charts))
}

/// All plots of a run, each with the name that its file has (without ending) and with a line of
/// what run it is of.
pub(crate) fn files(results: &Results) -> Vec<(String, Chart)> {
    let compared = results.comparison.iter().flat_map(|of| comparison::shifts(&of.compared));
    let mut charts: Vec<Chart> = compared.collect();
    charts.extend(along_axes(results));
    charts.extend(answer::charts(results));
    charts.extend(runtimes::charts(results));
    charts.extend(curves(results));
    charts.extend(of_trials(results));
    let of = origin(results);
    charts.iter_mut().for_each(|chart| chart.notes.push(of.clone()));
    let name = |chart: &Chart| chart.id.trim_start_matches("plot-").to_owned();
    charts.into_iter().map(|chart| (name(&chart), chart)).collect()
}

/// Run, machine and kernel, for a drawing that is seen by itself.
fn origin(results: &Results) -> String {
    let known = |key: &str, what: &str| match results.host.get(key) {
        Some(value) => value.to_owned(),
        None => format!("{what} not known"),
    };
    let of_machine = [
        Some(known("cpu.model", "CPU model")),
        Some(format!("Linux {}", known("kernel.release", "release"))),
        results.host.get("virt.hypervisor").map(str::to_owned),
        Some(cpus(&results.plan)),
    ];
    let of_machine: Vec<String> = of_machine.into_iter().flatten().collect();
    format!("Run {}: {}.", results.about.id, of_machine.join("; "))
}

/// An axis: its key, its unit, and what it is called.
const AXES: [(&str, Unit, &str); 4] = [
    ("payload", Unit::Bytes, "message size"),
    ("flows", Unit::Count, "flows"),
    ("gap", Unit::Ns, "gap before the notification"),
    ("rate", Unit::Count, "messages a second"),
];

/// A chart of each workload and placement along each axis of which two values were measured.
fn along_axes(results: &Results) -> Vec<Chart> {
    let mut charts = Vec::new();
    for (key, unit, name) in AXES {
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
            let points: Vec<(String, f64, &CaseResult)> = labels(&cases, key)
                .into_iter()
                .zip(&own)
                .flat_map(|(label, (_, points))| {
                    points.iter().map(move |(at, case)| (label.clone(), *at, *case))
                })
                .collect();
            let is_one = all.iter().all(|case| of(case).0 != workload || of(case).1 == place);
            let place = place.filter(|_| !is_one).map(|place| place.word());
            let x = Axis::new(key, Scale::Log, unit);
            let called = [Some(workload.word()), Some(key), place];
            let id = plain_id(&called.into_iter().flatten().collect::<Vec<_>>().join("-"));
            let place = place.map_or(String::new(), |place| format!(" ({place})"));
            let what = workload.word().replace("roundtrip", "round trip");
            let title = format!("{} by {name}{place}", capitalised(&what));
            charts.extend(of_workload((id, title), &points, &x));
        }
    }
    charts
}

/// What is drawn of points along an axis: times, and of streams throughput and CPU time.
fn of_workload(
    (id, title): (String, String),
    points: &[(String, f64, &CaseResult)],
    x: &Axis,
) -> Vec<Chart> {
    let gbps = |of: Option<&Estimate>| Cell::estimate(of, Written::Named("Gbit/s".to_owned()));
    let stream = |case: &CaseResult| case.stream.clone();
    let count = |event: &'static str| {
        move |(.., case): &(String, f64, &CaseResult)| {
            let own = case.counters.iter().filter(|of| of.event == event && of.role.is_some());
            let sum = own.map(|of| of.per_operation).sum::<Option<f64>>();
            Cell::maybe(sum.filter(|sum| *sum > 0.0), Digits::Count)
        }
    };
    let table = Rows::of(points)
        .column(words("case"), |(label, ..)| Cell::text(label.clone()))
        .column(numbers(&x.label), |(_, at, _)| Value::Sorted(x.unit.text(*at), *at).into())
        .column(estimates("time"), |(.., case)| {
            Cell::estimate(headline(case).map(|(_, estimate)| estimate), Written::Time)
        })
        .column(estimates("p99"), |(.., case)| {
            Cell::estimate(estimated(case, Statistic::P99), Written::Time)
        })
        .column(estimates("throughput of one flow"), |(.., case)| {
            gbps(stream(case).and_then(|of| of.per_flow_gbps).as_ref())
        })
        .column(estimates("throughput"), |(.., case)| {
            gbps(stream(case).and_then(|of| of.aggregate_gbps).as_ref())
        })
        .column(numbers("CPU time"), |(.., case)| {
            let cpu = case.cpu_ns_per_message.filter(|_| case.stream.is_some());
            Cell::maybe(cpu, Digits::Time(3))
        })
        .column(numbers("cycles"), count("cycles"))
        .column(numbers("misses"), count("llc-misses"))
        .into_table();
    let charts: [(&str, &str, &str, Unit); 7] = [
        ("", "", "time", Unit::Ns),
        ("-p99", ", p99", "p99", Unit::Ns),
        (
            "-throughput",
            ", throughput of one flow",
            "throughput of one flow",
            Unit::GigabitsPerSecond,
        ),
        ("-aggregate", ", throughput of all flows", "throughput", Unit::GigabitsPerSecond),
        ("-cpu", ", CPU time per message of both ends", "CPU time", Unit::Ns),
        ("-cycles", ", cycles per message of both ends", "cycles", Unit::Count),
        ("-llc-misses", ", last-level misses per message", "misses", Unit::Count),
    ];
    let chart = |(suffix, what, value, unit): (&str, &str, &str, Unit)| {
        let about = About {
            id: format!("plot-{id}{suffix}"),
            title: format!("{title}{what}"),
            says: "A line joins the values of one case along the axis; bands are their intervals."
                .to_owned(),
        };
        let y = Axis::new(value, Scale::Log, unit);
        lines(&about, &table, &Swept { series: "case", x: x.clone(), y, value })
    };
    charts.into_iter().flat_map(chart).collect()
}

/// Percentile curves of each group of the ladder.
pub(crate) fn curves(results: &Results) -> Vec<Chart> {
    let mut charts = Vec::new();
    for (at, group) in results.ladder.iter().enumerate() {
        let named = named(group, results);
        let holds = |q: f64| q > 0.0 && q < 1.0;
        let points = named.iter().flat_map(|(name, case)| {
            // Every third, and those that have a mark: a curve is as smooth with them.
            let is_kept = |at: usize, q: f64| at.is_multiple_of(3) || MARKED.contains(&q);
            let drawn = case.curve.iter().filter(|of| holds(of.q) && of.ns > 0.0).enumerate();
            let drawn = drawn.filter(move |(at, of)| is_kept(*at, of.q));
            drawn.map(move |(_, of)| (name, *of))
        });
        let points: Vec<_> = points.collect();
        let table = Rows::of(&points)
            .column(words("case"), |(name, _)| Cell::text((*name).clone()))
            .column(numbers("percentile"), |(_, of)| Value::Sorted(quantile(of.q), of.q).into())
            .column(estimates("time"), |(_, of)| {
                let bare = Estimate::exact(of.ns, 0, String::new());
                let estimate = Estimate { low: of.low, high: of.high, ..bare };
                Cell::estimate(Some(&estimate), Written::Time)
            });
        let table = table.into_table();
        let farthest = points.iter().map(|(_, of)| of.q).fold(0.5, f64::max);
        let x = Axis {
            at: MARKED.into_iter().filter(|q| *q <= farthest).collect(),
            ..Axis::new("percentile", Scale::Nines, Unit::Quantile)
        };
        // A wake-up waits for nothing but its gap, a load for its schedule.
        let is_open =
            |case: &CaseResult| matches!(case.case.workload, Workload::Wake | Workload::Load);
        let closed = if named.iter().any(|(_, case)| is_open(case)) { "" } else { ", closed loop" };
        let y = Axis::new(format!("time per operation{closed}"), Scale::Log, Unit::Ns);
        let about = About {
            id: format!("curve-{at}"),
            title: capitalised(&group.title),
            says: "Time of an operation over the share of operations that were at most as slow, \
                   pooled over trials; each further nine takes the same length. Bands span the \
                   trials."
                .to_owned(),
        };
        charts.extend(lines(&about, &table, &Swept { series: "case", x, y, value: "time" }));
    }
    charts
}

/// The cases of a group with their names, and their places where there are several.
fn named<'a>(group: &LadderGroup, results: &'a Results) -> Vec<(String, &'a CaseResult)> {
    let all: Vec<(&LadderRow, Place, &CaseResult)> =
        all_of(group, results).map(|(row, place, _, case)| (row, place, case)).collect();
    let several = distinct(all.iter().map(|(_, place, _)| *place)).len() > 1;
    let name = |(row, place, case): &(&LadderRow, Place, &'a CaseResult)| {
        let place = if several { format!(", {}", place.name()) } else { String::new() };
        (format!("{}{place}", row_name(row, results)), *case)
    };
    all.iter().map(name).collect()
}

/// The trials of each group of the ladder.
pub(crate) fn of_trials(results: &Results) -> Vec<Chart> {
    let mut charts = Vec::new();
    for (at, group) in results.ladder.iter().enumerate() {
        let named = named(group, results);
        let trials = named.iter().flat_map(|(name, case)| {
            let reported = headline(case).and_then(|(_, of)| of.point).filter(|ns| *ns > 0.0);
            let multiple = move |trial: &TrialPoint| Some(trial.value_ns? / reported?);
            case.trials.iter().map(move |trial| ((name, *case), trial, multiple(trial)))
        });
        let trials: Vec<_> = trials.collect();
        let table = Rows::of(&trials)
            .column(words("case"), |((name, _), ..)| Cell::text((*name).clone()))
            .column(numbers("trials"), |((_, case), ..)| counted(case))
            .column(numbers("round"), |(_, of, _)| Cell::whole(u64::from(of.round) + 1))
            .column(numbers("× reported"), |(_, of, multiple)| match &of.error {
                Some(error) => Cell::text(format!("failed: {error}")),
                None => Cell::maybe(*multiple, Digits::Plain(3)),
            })
            .into_table();
        let multiples = trials.iter().filter_map(|(.., multiple)| *multiple);
        let far = multiples.filter(|of| *of > 0.0).map(|of| of.max(1.0 / of)).fold(1.1, f64::max);
        let far = far.min(EDGE);
        let about = About {
            id: format!("trials-{at}"),
            title: format!("{}: trials", capitalised(&group.title)),
            says: "One row per case, its trials from above in the order of time, each as a \
                   multiple of the reported value. A slope is drift; steps are states of the host."
                .to_owned(),
        };
        let axis = Axis {
            domain: Some((1.0 / far, far)),
            ..Axis::new("trial as a multiple of the reported value", Scale::Log, Unit::Count)
        };
        let names = &["case", "trials"];
        let of = Named { names, value: "× reported", axis, lane: Some("round") };
        charts.extend(rows(about, &table, of));
    }
    charts
}

/// A case's number for a key.
fn value(id: &str, key: &str) -> Option<f64> {
    let (_, keys) = id.split_once('?')?;
    keys.split('&').find_map(|one| one.strip_prefix(key)?.strip_prefix('=')?.parse().ok())
}

/// A case without its value for a key.
fn without(id: &str, key: &str) -> String {
    let (path, keys) = id.split_once('?').unwrap_or((id, ""));
    let is_other = |one: &&str| one.split('=').next() != Some(key);
    format!("{path}?{}", keys.split('&').filter(is_other).collect::<Vec<_>>().join("&"))
}

/// What each case is called among several: its mechanism, and its settings that not all have.
fn labels(cases: &[&CaseResult], key: &str) -> Vec<String> {
    let settings = |case: &CaseResult| -> Vec<String> {
        let id = without(&case.id, key);
        let keys = id.split_once('?').map_or("", |(_, keys)| keys);
        let is_own = |one: &&str| {
            let name = one.split('=').next().unwrap_or_default();
            !one.is_empty() && !case.case.parameters.contains_key(name)
        };
        keys.split('&').filter(is_own).map(str::to_owned).collect()
    };
    let name = |case: &CaseResult| match &case.stream {
        Some(stream) => stream.label.clone(),
        None => mechanism(case),
    };
    let all: Vec<(String, Vec<String>)> =
        cases.iter().map(|case| (name(case), settings(case))).collect();
    // What a mechanism has always, such as its payload to wake, is told by its name.
    let word = |name: &str, one: &String| {
        let (key, word) = one.split_once('=')?;
        let is_word = matches!(key, "boundary" | "place" | "wait" | "runtime");
        let alike = all.iter().filter(|(of, _)| is_word || of == name);
        let is_common = alike.clone().all(|(_, settings)| settings.contains(one));
        (!is_common).then(|| if is_word { word.to_owned() } else { one.clone() })
    };
    let label = |(name, settings): &(String, Vec<String>)| {
        let own = settings.iter().filter_map(|one| word(name, one));
        std::iter::once(name.clone()).chain(own).collect::<Vec<_>>().join(", ")
    };
    all.iter().map(label).collect()
}

#[cfg(test)]
pub(crate) mod tests;
