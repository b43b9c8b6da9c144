//! Trials in time order: drift, and what the host did meanwhile.

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
    let mut charts: Vec<Chart> = speed(results).into_iter().collect();
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

/// A series for the trials that were measured, and one for those that failed.
fn by_outcome<'a>(marks: impl Iterator<Item = (&'a TrialPoint, Mark)>) -> Vec<Series> {
    let (mut measured, mut failed) = (Vec::new(), Vec::new());
    for (trial, mark) in marks {
        if trial.error.is_none() { measured.push(mark) } else { failed.push(mark) }
    }
    let series = [
        ("trial", Colour::INK, Marker::CIRCLE, measured),
        ("failed", Colour::PURPLE, Marker::CROSS, failed),
    ];
    let series = series.into_iter().filter(|(.., marks)| !marks.is_empty());
    let of = |(name, colour, marker, marks)| Series {
        marks,
        ..Series::new(name, Style::of(colour, marker, Dash::SOLID))
    };
    series.map(of).collect()
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

/// How much slower than at its reference speed the machine was beside each trial, over the time
/// of the run.
fn speed(results: &Results) -> Option<Chart> {
    let all = results.results.iter().flat_map(|case| case.trials.iter().map(move |t| (case, t)));
    let mut trials: Vec<_> =
        all.filter_map(|(case, trial)| Some((case, trial, trial.factor?))).collect();
    trials.sort_by(|a, b| a.1.at_s.total_cmp(&b.1.at_s));
    let measured = trials.iter().filter(|(_, trial, _)| trial.error.is_none());
    let marks = measured.map(|(case, trial, factor)| {
        let tip = format!("× {factor:.3}\nround {}, {}", trial.round + 1, case.id);
        (*trial, Mark::at(trial.at_s, *factor, tip))
    });
    let series = by_outcome(marks);
    if series.is_empty() {
        return None;
    }
    let named = trials.iter().map(|(case, trial, _)| (case.id.clone(), *trial));
    let axis = Axis::new("times slower", Scale::Log, Unit::Named(String::new()));
    Some(Chart {
        id: "speed".to_owned(),
        title: "The machine during the run: how much slower than when it is quiet".to_owned(),
        description: "Level of the yardstick of each trial's class, read right before and after \
                      it, over its reference, over the time of the run. The trial's times were \
                      divided by it."
            .to_owned(),
        width: 780.0,
        x: seconds(results),
        y: Vertical::Value(axis, 170.0),
        series,
        notes: Vec::new(),
        table: table(named, &[ROUND, AT, FACTOR]),
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
    series.extend(by_outcome(marks.into_iter()));
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
        table: table(trials, &[ROUND, AT, VALUE, P99, FACTOR, SAMPLES]),
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
    for (before, ns) in [("\n", trial.value_ns), (", p99 ", trial.p99_ns)] {
        tip.extend(ns.map(|ns| format!("{before}{}", time(ns))));
    }
    tip.extend(trial.error.as_ref().map(|error| format!("\nfailed: {error}")));
    tip
}
