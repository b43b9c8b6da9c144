//! Trials in time order: drift, and what the host did meanwhile.

use std::collections::BTreeMap;

use hopcost_model::results::{CaseResult, LadderGroup, LadderRow, Results, TrialPoint};

use super::gutter::Gutter;
use super::model::{
    Axis, Chart, Colour, Dash, Mark, Marker, Row, Rows, Scale, Series, Style, Table, Vertical,
};
use super::scale;
use super::unit::Unit;
use crate::names::{Place, capitalised, cases_at, headline, row_name};
use crate::number;

/// What the edges of a row may stand for: the narrowest that holds every trial
/// is taken, and none narrower than the first, so that noise does not look like drift.
const EDGES: [f64; 7] = [1.1, 1.25, 1.5, 2.0, 5.0, 10.0, 100.0];

/// The machine's speed over the run, then the trials of every group and place.
pub(crate) fn charts(results: &Results) -> Vec<Chart> {
    let mut charts: Vec<Chart> =
        machine(results, &SPEED).or_else(|| machine(results, &SYSTEM_CALL)).into_iter().collect();
    let x = seconds(results);
    for (i, group) in results.ladder.iter().enumerate() {
        for place in Place::ALL {
            let mut cases = cases_at(group, place, results);
            cases.retain(|(_, case)| case.trials.iter().any(|t| t.value_ns.is_some()));
            if !cases.is_empty() {
                let id = format!("trials-{i}-{}", charts.len());
                charts.push(chart((id, &x), (group, place), &cases, results));
            }
        }
    }
    charts
}

/// A series for each state that the host was in, and one for trials that failed.
fn by_state<'a>(marks: impl Iterator<Item = (&'a TrialPoint, Mark)>) -> Vec<Series> {
    let looks = [
        (Colour::BLUE, Marker::DIAMOND),
        (Colour::VERMILION, Marker::SQUARE),
        (Colour::GREEN, Marker::TRIANGLE),
    ];
    let mut series: BTreeMap<usize, Series> = BTreeMap::new();
    for (trial, mark) in marks {
        let state = trial.state.map(usize::from);
        let (order, name, (colour, marker)) = match (&trial.error, state) {
            (Some(_), _) => (usize::MAX, "failed".into(), (Colour::PURPLE, Marker::CROSS)),
            (None, None) => (0, "trial".into(), (Colour::INK, Marker::CIRCLE)),
            (None, Some(n)) => (n + 1, format!("trial in host state {}", n + 1), looks[n % 3]),
        };
        let style = Style::of(colour, marker, Dash::SOLID);
        series.entry(order).or_insert_with(|| Series::new(name, style)).marks.push(mark);
    }
    series.into_values().collect()
}

/// The same seconds under every chart, so that they can be read against each other.
fn seconds(results: &Results) -> Axis {
    let all = results.results.iter().flat_map(|case| &case.trials).map(|t| t.at_s);
    Axis {
        domain: Some(scale::domain(Scale::Linear, all)),
        ..Axis::new("since the start of the run", Scale::Linear, Unit::Seconds)
    }
}

fn time(ns: f64) -> String {
    number::time(ns, 3)
}

fn known(ns: Option<f64>) -> String {
    ns.map_or("–".to_owned(), time)
}

/// A column of a table of trials: its heading, and what it says of one.
type Column = (&'static str, fn(&TrialPoint) -> String);

const ROUND: Column = ("round", |t| (t.round + 1).to_string());
const AT: Column = ("at, s", |t| format!("{:.1}", t.at_s));
const VALUE: Column = ("value", |t| match &t.error {
    Some(error) => format!("failed: {error}"),
    None => known(t.value_ns),
});
const P99: Column = ("p99", |t| known(t.p99_ns));
const FACTOR: Column =
    ("divided by", |t| t.factor.map_or("–".to_owned(), |factor| format!("{factor:.3}")));
const SENTINEL: Column = ("sentinel", |t| known(t.sentinel_ns));
const STATE: Column =
    ("state", |t| t.state.map_or("–".to_owned(), |n| (u32::from(n) + 1).to_string()));
const SAMPLES: Column = ("samples", |t| t.samples.to_string());

/// A row a trial of the cases of these names.
fn table<'a>(trials: impl Iterator<Item = (String, &'a TrialPoint)>, columns: &[Column]) -> Table {
    let heads = columns.iter().map(|(head, _)| (*head).to_owned());
    let row = |(name, trial): (String, &TrialPoint)| {
        std::iter::once(name).chain(columns.iter().map(|(_, cell)| cell(trial))).collect()
    };
    Table {
        columns: std::iter::once("case".to_owned()).chain(heads).collect(),
        rows: trials.map(row).collect(),
    }
}

/// Trials of all cases in time order, each with its case, that a column says something of.
fn known_by(
    results: &Results,
    of: fn(&TrialPoint) -> Option<f64>,
) -> Vec<(&CaseResult, &TrialPoint, f64)> {
    let all = results.results.iter().flat_map(|case| case.trials.iter().map(move |t| (case, t)));
    let mut trials: Vec<_> =
        all.filter_map(|(case, trial)| Some((case, trial, of(trial)?))).collect();
    trials.sort_by(|a, b| a.1.at_s.total_cmp(&b.1.at_s));
    trials
}

/// A number beside each trial that tells of the machine.
struct Beside {
    id: &'static str,
    title: &'static str,
    description: &'static str,
    axis: (&'static str, Unit),
    of: fn(&TrialPoint) -> Option<f64>,
    tip: fn(f64) -> String,
    columns: &'static [Column],
}

/// How much slower than at its reference speed the machine was.
const SPEED: Beside = Beside {
    id: "speed",
    title: "The machine during the run: how much slower than at its reference speed",
    description: "Level of the yardstick of each trial's class, read right before and after \
                  it, over its reference, over the time of the run. The trial's times were \
                  divided by it.",
    axis: ("times slower", Unit::Named(String::new())),
    of: |trial| trial.factor,
    tip: |factor| format!("× {factor:.3}"),
    columns: &[ROUND, AT, FACTOR],
};

/// The same in files that have no yardsticks.
const SYSTEM_CALL: Beside = Beside {
    id: "sentinel",
    title: "The host during the run: one system call (sentinel) around each trial",
    description: "Time of one getppid call, measured right before and after each trial, over \
                  the time of the run. Steps or clusters are states of the host.",
    axis: ("time per call", Unit::Ns),
    of: |trial| trial.sentinel_ns,
    tip: |ns| format!("sentinel {}", time(ns)),
    columns: &[ROUND, AT, SENTINEL, STATE],
};

/// Over the time of the run, where it is known of any trial.
fn machine(results: &Results, beside: &Beside) -> Option<Chart> {
    let trials = known_by(results, beside.of);
    let measured = trials.iter().filter(|(_, trial, _)| trial.error.is_none());
    let marks = measured.map(|(case, trial, value)| {
        let tip = format!("{}\nround {}, {}", (beside.tip)(*value), trial.round + 1, case.id);
        (*trial, Mark::at(trial.at_s, *value, tip))
    });
    let series = by_state(marks);
    if series.is_empty() {
        return None;
    }
    let named = trials.iter().map(|(case, trial, _)| (case.id.clone(), *trial));
    let (label, unit) = &beside.axis;
    Some(Chart {
        id: beside.id.to_owned(),
        title: beside.title.to_owned(),
        description: beside.description.to_owned(),
        width: 780.0,
        x: seconds(results),
        y: Vertical::Value(Axis::new(*label, Scale::Log, unit.clone()), 170.0),
        series,
        notes: Vec::new(),
        table: table(named, beside.columns),
    })
}

fn chart(
    (id, x): (String, &Axis),
    (group, place): (&LadderGroup, Place),
    cases: &[(&LadderRow, &CaseResult)],
    results: &Results,
) -> Chart {
    let gutter = Gutter::of(cases.iter().map(|(row, _)| *row));
    let (mut series, mut marks, mut rows) = (Vec::new(), Vec::new(), Vec::new());
    for (row, case) in cases {
        let name = row_name(row, results);
        let Some(strip) = Strip::of(case, rows.len()) else { continue };
        // One entry in the legend is enough for the lines that are alike.
        let reported = if rows.is_empty() { "reported value" } else { "" };
        let (start, end) = x.domain.unwrap_or((0.0, 1.0));
        let middle = strip.row + 0.5;
        series.push(line(reported, Dash::DOTS, vec![(start, middle), (end, middle)]));
        series.push(line("", Dash::SOLID, strip.joined(case)));
        marks.extend(case.trials.iter().map(|trial| {
            (trial, Mark::at(trial.at_s, strip.height(trial.value_ns), tip(&name, trial)))
        }));
        let mut cells = gutter.cells(row, results);
        let reported = |e| number::estimate(e).amount();
        cells.push(headline(case).map_or(String::new(), |(_, e)| reported(e)));
        rows.push(Row { cells, note: None, end: format!("×÷ {}", strip.edge) });
    }
    series.extend(by_state(marks.into_iter()));
    let (value, at) = match group.batched {
        true => ("cost", String::new()),
        false => ("p50", format!(", {}", place.name())),
    };
    let columns = gutter.heads().into_iter().chain([value.to_owned()]).collect();
    let trials = cases
        .iter()
        .flat_map(|(row, case)| case.trials.iter().map(|trial| (row_name(row, results), trial)));
    Chart {
        id,
        title: format!("{}{at}: {value} of each trial", capitalised(&group.title)),
        description: "One row a case. Each trial's own value over the time of the run, around the \
                      reported value; the edges of a row lie at the factor written beside it. A \
                      slope is drift; steps are states of the host."
            .to_owned(),
        width: 780.0,
        x: x.clone(),
        y: Vertical::Rows(Rows {
            columns,
            end: "edges".to_owned(),
            rows,
            height: 40.0,
            ..Rows::default()
        }),
        series,
        notes: Vec::new(),
        table: table(trials, &[ROUND, AT, VALUE, P99, FACTOR, SENTINEL, STATE, SAMPLES]),
    }
}

/// A row of the chart: how its values become heights.
struct Strip {
    row: f64,
    /// Drawn in the middle.
    reference_ns: f64,
    /// Factor at the edges.
    edge: f64,
}

impl Strip {
    fn of(case: &CaseResult, row: usize) -> Option<Self> {
        let values = || case.trials.iter().filter_map(|t| t.value_ns).filter(|v| *v > 0.0);
        let reported = headline(case).and_then(|(_, e)| e.point).filter(|v| *v > 0.0);
        let reference_ns = reported.or_else(|| values().next())?;
        let farthest =
            values().map(|v| (v / reference_ns).max(reference_ns / v)).fold(1.0, f64::max);
        let edge = EDGES.into_iter().find(|edge| farthest <= *edge).unwrap_or(EDGES[6]);
        Some(Self { row: row as f64, reference_ns, edge })
    }

    /// A failed trial has no value: its mark stands on the floor of the row.
    fn height(&self, value_ns: Option<f64>) -> f64 {
        let Some(value) = value_ns.filter(|v| *v > 0.0) else { return self.row + 0.86 };
        let share = (value / self.reference_ns).ln() / self.edge.ln();
        self.row + 0.5 - 0.38 * share.clamp(-1.0, 1.0)
    }

    /// The places of the values, in order of time.
    fn joined(&self, case: &CaseResult) -> Vec<(f64, f64)> {
        let point = |t: &TrialPoint| Some((t.at_s, self.height(Some(t.value_ns?))));
        let mut line: Vec<(f64, f64)> = case.trials.iter().filter_map(point).collect();
        line.sort_by(|a, b| a.0.total_cmp(&b.0));
        line
    }
}

/// A line that is only context.
fn line(name: &str, dash: Dash, line: Vec<(f64, f64)>) -> Series {
    Series { line, ..Series::new(name, Style::of(Colour::FAINT, Marker::CIRCLE, dash)) }
}

fn tip(name: &str, trial: &TrialPoint) -> String {
    let mut tip = format!("{name}\nround {}, at {:.1} s", trial.round + 1, trial.at_s);
    let numbers =
        [("\n", trial.value_ns), (", p99 ", trial.p99_ns), ("\nsentinel ", trial.sentinel_ns)];
    for (before, ns) in numbers {
        tip.extend(ns.map(|ns| format!("{before}{}", time(ns))));
    }
    tip.extend(trial.error.as_ref().map(|error| format!("\nfailed: {error}")));
    tip
}
