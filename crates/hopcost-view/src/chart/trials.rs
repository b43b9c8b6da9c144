//! Trials in time order: drift, and what the host did meanwhile.

use hopcost_model::results::{CaseResult, LadderGroup, LadderRow, Results, TrialPoint};

use super::model::{
    Axis, Chart, Colour, Dash, Legend, Mark, Marker, Row, Rows, Scale, Series, Style, Table, Unit,
    Vertical,
};
use crate::names::capitalised;
use crate::names::{Place, cases_at, headline, row_label, row_name};
use crate::number::{self, DIGITS_MAX, UNICODE};

/// What the edges of a row may stand for: the narrowest that holds every trial
/// is taken, and none narrower than the first, so that noise does not look like drift.
const EDGES: [(f64, &str); 7] = [
    (1.1, "×÷ 1.1"),
    (1.25, "×÷ 1.25"),
    (1.5, "×÷ 1.5"),
    (2.0, "×÷ 2"),
    (5.0, "×÷ 5"),
    (10.0, "×÷ 10"),
    (100.0, "×÷ 100"),
];

/// The host's sentinel over the run, then the trials of every group and place.
pub(crate) fn charts(results: &Results) -> Vec<Chart> {
    let mut charts: Vec<Chart> = sentinel(results).into_iter().collect();
    for (i, group) in results.ladder.iter().enumerate() {
        for place in Place::ALL {
            let mut cases = cases_at(group, place, results);
            cases.retain(|(_, case)| case.trials.iter().any(|t| t.value_ns.is_some()));
            if !cases.is_empty() {
                charts.push(chart(
                    format!("trials-{i}-{}", charts.len()),
                    group,
                    place,
                    &cases,
                    results,
                ));
            }
        }
    }
    charts
}

fn heading(group: &LadderGroup, place: Place) -> String {
    let what = if group.batched { "cost" } else { "p50" };
    let place = if group.batched { String::new() } else { format!(", {}", place.name()) };
    format!("{}{place}: {what} of each trial", capitalised(&group.title))
}

/// How a trial looks, by the state that the host was in.
fn look(trial: &TrialPoint) -> (usize, String, Style) {
    if trial.error.is_some() {
        return (999, "failed".to_owned(), Style::of(Colour::Purple, Marker::Cross, Dash::Solid));
    }
    let (colour, marker) = match trial.state {
        None => (Colour::Ink, Marker::Circle),
        Some(n) => match n % 3 {
            0 => (Colour::Blue, Marker::Diamond),
            1 => (Colour::Vermilion, Marker::Square),
            _ => (Colour::Green, Marker::Triangle),
        },
    };
    let (order, name) = match trial.state {
        None => (0, "trial".to_owned()),
        Some(n) => (1 + usize::from(n), format!("trial in host state {}", u32::from(n) + 1)),
    };
    (order, name, Style::of(colour, marker, Dash::Solid))
}

/// Sorts marks into one series a look.
fn by_look(marks: impl Iterator<Item = ((usize, String, Style), Mark)>) -> Vec<Series> {
    let mut series: Vec<(usize, Series)> = Vec::new();
    for ((order, name, style), mark) in marks {
        match series.iter_mut().find(|(o, _)| *o == order) {
            Some((_, found)) => found.marks.push(mark),
            None => series.push((
                order,
                Series {
                    name,
                    legend: Legend::Listed,
                    style,
                    line: Vec::new(),
                    band: Vec::new(),
                    marks: vec![mark],
                },
            )),
        }
    }
    series.sort_by_key(|(order, _)| *order);
    series.into_iter().map(|(_, series)| series).collect()
}

fn seconds() -> Axis {
    Axis {
        label: "since the start of the run".to_owned(),
        scale: Scale::Linear,
        unit: Unit::Seconds,
        domain: None,
        at: Vec::new(),
    }
}

/// The same seconds under every chart, so that they can be read against each other.
fn common_seconds(results: &Results) -> Axis {
    let all = results.results.iter().flat_map(|case| &case.trials).map(|t| t.at_s);
    Axis { domain: Some(super::scale::domain(Scale::Linear, all)), ..seconds() }
}

fn sentinel(results: &Results) -> Option<Chart> {
    let trials = || results.results.iter().flat_map(|c| c.trials.iter().map(move |t| (c, t)));
    let marks = trials().filter(|(_, trial)| trial.error.is_none()).filter_map(|(case, trial)| {
        let sentinel = trial.sentinel_ns?;
        let tip = format!(
            "sentinel {}\nround {}, {}",
            number::time(sentinel, 3),
            trial.round + 1,
            case.id
        );
        Some((look(trial), Mark::at(trial.at_s, sentinel, tip)))
    });
    let series = by_look(marks);
    if series.is_empty() {
        return None;
    }
    let mut rows: Vec<(&CaseResult, &TrialPoint)> = trials().collect();
    rows.sort_by(|a, b| a.1.at_s.total_cmp(&b.1.at_s));
    let rows = rows.into_iter().filter_map(|(case, trial)| {
        Some(vec![
            case.id.clone(),
            (trial.round + 1).to_string(),
            format!("{:.1}", trial.at_s),
            number::time(trial.sentinel_ns?, 3),
            state_word(trial),
        ])
    });
    Some(Chart {
        id: "sentinel".to_owned(),
        title: "The host during the run: one system call (sentinel) around each trial".to_owned(),
        description: "Time of one getppid call, measured right before and after each trial, over \
                      the time of the run. Steps or clusters are states of the host."
            .to_owned(),
        width: 780.0,
        x: common_seconds(results),
        y: Vertical::Value {
            axis: Axis {
                label: "time per call (log scale)".to_owned(),
                scale: Scale::Log,
                unit: Unit::Ns,
                domain: None,
                at: Vec::new(),
            },
            height: 170.0,
        },
        series,
        notes: Vec::new(),
        table: Table {
            columns: ["case", "round", "at, s", "sentinel", "state"].map(str::to_owned).to_vec(),
            words: 1,
            rows: rows.collect(),
        },
    })
}

fn state_word(trial: &TrialPoint) -> String {
    trial.state.map_or("–".to_owned(), |n| (u32::from(n) + 1).to_string())
}

fn chart(
    id: String,
    group: &LadderGroup,
    place: Place,
    cases: &[(&LadderRow, &CaseResult)],
    results: &Results,
) -> Chart {
    let x = common_seconds(results);
    let mut series = Vec::new();
    let mut marks = Vec::new();
    let mut rows = Vec::new();
    for (r, (row, case)) in cases.iter().enumerate() {
        let name = row_name(row, results);
        let Some(strip) = Strip::of(case, r) else { continue };
        series.push(strip.reference(&x, if r == 0 { Legend::Listed } else { Legend::Unlisted }));
        series.push(strip.joined(case));
        marks.extend(case.trials.iter().map(|trial| {
            (look(trial), Mark::at(trial.at_s, strip.height(trial.value_ns), tip(&name, trial)))
        }));
        rows.push(Row {
            cells: gutter(row_label(row, results), row, case),
            note: None,
            end: strip.edge_text.to_owned(),
        });
    }
    series.extend(by_look(marks.into_iter()));
    let value = if group.batched { "cost" } else { "p50" };
    let columns: &[&str] = if cases.iter().all(|(row, _)| row.wait.is_none()) {
        &["mechanism", value]
    } else {
        &["mechanism", "boundary", "wait", value]
    };
    Chart {
        id,
        title: heading(group, place),
        description: "One row a case. Each trial's own value over the time of the run, around the \
                      reported value; the edges of a row lie at the factor written beside it. A \
                      slope is drift; steps are states of the host."
            .to_owned(),
        width: 780.0,
        x,
        y: Vertical::Rows(Rows {
            columns: columns.iter().map(|c| (*c).to_owned()).collect(),
            end: "edges".to_owned(),
            rows,
            height: 40.0,
        }),
        series,
        notes: Vec::new(),
        table: table(cases, results),
    }
}

/// Mechanism, boundary, wait and reported value.
fn gutter(label: String, row: &LadderRow, case: &CaseResult) -> Vec<String> {
    let reported = headline(case)
        .map_or(String::new(), |(_, e)| number::estimate(e, DIGITS_MAX, UNICODE).amount());
    match &row.wait {
        Some(wait) => vec![label, row.boundary.to_string(), wait.clone(), reported],
        None => vec![label, reported],
    }
}

/// A row of the chart: how its values become heights.
struct Strip {
    row: f64,
    /// Drawn in the middle.
    reference_ns: f64,
    /// Factor at the edges.
    edge: f64,
    edge_text: &'static str,
}

impl Strip {
    fn of(case: &CaseResult, row: usize) -> Option<Self> {
        let values = || case.trials.iter().filter_map(|t| t.value_ns).filter(|v| *v > 0.0);
        let reported = headline(case).and_then(|(_, e)| e.point).filter(|v| *v > 0.0);
        let reference_ns = reported.or_else(|| values().next())?;
        let farthest =
            values().map(|v| (v / reference_ns).max(reference_ns / v)).fold(1.0, f64::max);
        let (edge, edge_text) = EDGES.into_iter().find(|(e, _)| farthest <= *e).unwrap_or(EDGES[6]);
        Some(Self { row: row as f64, reference_ns, edge, edge_text })
    }

    /// A failed trial has no value: its mark stands on the floor of the row.
    fn height(&self, value_ns: Option<f64>) -> f64 {
        let Some(value) = value_ns.filter(|v| *v > 0.0) else { return self.row + 0.86 };
        let share = (value / self.reference_ns).ln() / self.edge.ln();
        self.row + 0.5 - 0.38 * share.clamp(-1.0, 1.0)
    }

    fn reference(&self, x: &Axis, legend: Legend) -> Series {
        let (start, end) = x.domain.unwrap_or((0.0, 1.0));
        let y = self.row + 0.5;
        Series {
            name: "reported value".to_owned(),
            legend,
            style: Style::of(Colour::Faint, Marker::Circle, Dash::Dots),
            line: vec![(start, y), (end, y)],
            band: Vec::new(),
            marks: Vec::new(),
        }
    }

    fn joined(&self, case: &CaseResult) -> Series {
        let point = |t: &TrialPoint| Some((t.at_s, self.height(Some(t.value_ns?))));
        let mut line: Vec<(f64, f64)> = case.trials.iter().filter_map(point).collect();
        line.sort_by(|a, b| a.0.total_cmp(&b.0));
        Series {
            name: case.id.clone(),
            legend: Legend::Unlisted,
            style: Style::of(Colour::Faint, Marker::Circle, Dash::Solid),
            line,
            band: Vec::new(),
            marks: Vec::new(),
        }
    }
}

fn tip(name: &str, trial: &TrialPoint) -> String {
    let mut tip = format!("{name}\nround {}, at {:.1} s", trial.round + 1, trial.at_s);
    if let Some(value) = trial.value_ns {
        tip.push_str(&format!("\n{}", number::time(value, 3)));
    }
    if let Some(p99) = trial.p99_ns {
        tip.push_str(&format!(", p99 {}", number::time(p99, 3)));
    }
    if let Some(sentinel) = trial.sentinel_ns {
        tip.push_str(&format!("\nsentinel {}", number::time(sentinel, 3)));
    }
    if let Some(error) = &trial.error {
        tip.push_str(&format!("\nfailed: {error}"));
    }
    tip
}

fn table(cases: &[(&LadderRow, &CaseResult)], results: &Results) -> Table {
    let columns = ["case", "round", "at, s", "value", "p99", "sentinel", "state", "samples"];
    let time = |ns: Option<f64>| ns.map_or("–".to_owned(), |ns| number::time(ns, 3));
    let rows = cases.iter().flat_map(|(row, case)| {
        case.trials.iter().map(move |trial| {
            vec![
                row_name(row, results),
                (trial.round + 1).to_string(),
                format!("{:.1}", trial.at_s),
                trial
                    .error
                    .as_ref()
                    .map_or_else(|| time(trial.value_ns), |e| format!("failed: {e}")),
                time(trial.p99_ns),
                time(trial.sentinel_ns),
                state_word(trial),
                trial.samples.to_string(),
            ]
        })
    });
    Table { columns: columns.map(str::to_owned).to_vec(), words: 1, rows: rows.collect() }
}
