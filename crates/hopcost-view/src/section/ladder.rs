//! The ladder: what may be compared, the cheapest first.

use hopcost_model::results::{CaseResult, LadderGroup, LadderRow, Results, Statistic, Status};

use super::model::{
    Block, Cell, Frame, Medium, Rows, Scale, Section, Unit, Value, bars, estimates, numbers,
    repeated, says, words,
};
use super::runtimes::told;
use super::words::{estimated, fate, missing, trials, uncounted};
use crate::chart::ladder::charts;
use crate::names::{Place, capitalised, covers, headline, row_label};
use crate::number::{self, DIGITS_MAX, DIGITS_MIN, UNICODE};

/// A case in its row.
struct Line<'a> {
    row: &'a LadderRow,
    place: Place,
    index: usize,
    case: &'a CaseResult,
}

pub(super) fn section(results: &Results, medium: Medium) -> Option<Section> {
    // A terminal is told each number once.
    let told = if medium == Medium::Terminal { told(results) } else { Default::default() };
    let is_told = |row: &LadderRow| {
        let cases = [row.one_cpu, row.two_cpus, row.free];
        !told.is_empty() && cases.into_iter().flatten().all(|case| told.contains(&case))
    };
    let mut drawn = if medium == Medium::Page { charts(results) } else { Vec::new() };
    drawn.resize(results.ladder.len(), None);
    let mut blocks = Vec::new();
    for (group, chart) in results.ladder.iter().zip(drawn) {
        let at = |row| {
            let line = move |place: Place| {
                place.of(row, results).map(|(index, case)| Line { row, place, index, case })
            };
            Place::ALL.into_iter().filter_map(line)
        };
        let rows = group.rows.iter().filter(|row| !is_told(row));
        let lines: Vec<Line<'_>> = rows.flat_map(at).collect();
        if covers(group, results) || lines.is_empty() {
            continue;
        }
        blocks.push(Block::Heading(capitalised(&group.title)));
        blocks.push(says(group.meaning.clone()));
        blocks.extend(chart.map(|chart| Block::Charts(vec![chart], Frame::Bare)));
        let cases: Vec<&CaseResult> = lines.iter().map(|line| line.case).collect();
        blocks.push(table(group, lines, results, medium));
        if is_calls(group) {
            blocks.extend(uncounted(cases.iter().copied()));
        }
        if medium != Medium::Document {
            blocks.extend(missing(cases));
        }
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
) -> Block {
    if medium != Medium::Page {
        lines.retain(|line| line.case.status == Status::Measured);
    }
    let (page, calls) = (medium == Medium::Page, is_calls(group));
    let cost = if group.batched { "cost" } else { "p50" };
    let digits = |case: &CaseResult| match headline(case) {
        Some((_, estimate)) => estimate.digits.min(DIGITS_MAX),
        None => DIGITS_MIN,
    };
    let place = |line: &Line<'_>| line.case.case.placement.map_or(line.place.name(), |p| p.word());
    let points = || lines.iter().filter_map(|line| headline(line.case)?.1.point);
    let axis = Axis::around(points());
    let ends = axis.map(|axis| axis.0.map(|ns| number::decade(ns, UNICODE)).join(" to "));
    Rows::of(&lines)
        .column(repeated("mechanism"), |line| {
            Cell::text(row_label(line.row, results)).of(line.index)
        })
        .column(repeated("boundary"), |line| Cell::text(line.row.boundary.word()))
        .column(repeated("wait"), |line| Cell::text(line.row.wait.clone().unwrap_or_default()))
        .column_if(!calls, words("placement"), |line| Cell::text(place(line)))
        .column(estimates(cost), |line| match (fate(line.case), headline(line.case)) {
            (Some((what, why)), _) if line.case.status != Status::Measured => {
                Cell::text(what).hint(Some(why.to_owned()))
            }
            (_, Some((_, estimate))) => Cell::estimate(Some(estimate), Scale::Time),
            (_, None) => Cell::text("no estimate"),
        })
        .column_if(!group.batched, estimates("p99").fold(7), |line| {
            Cell::estimate(estimated(line.case, Statistic::P99), Scale::Time)
        })
        .column(numbers("ticks").fold(4), |line| {
            Cell::maybe(line.case.cost_ticks, Unit::Plain(digits(line.case)))
        })
        .column(numbers("cycles").fold(4), |line| {
            Cell::maybe(line.case.cost_cycles, Unit::Plain(digits(line.case)))
        })
        .column(estimates("multiple").fold(3), |line| {
            Cell::ratio(line.case.ratio.as_ref(), &line.case.id)
        })
        .column(numbers(if calls { "CPU/op" } else { "CPU/msg" }).fold(6), |line| {
            Cell::maybe(line.case.cpu_ns_per_message, Unit::Time(2))
        })
        .column(numbers("n").fold(2), |line| match line.case.status {
            Status::Measured => trials(line.case),
            _ => Cell::none(),
        })
        .column_if(medium == Medium::Document, words("stamp"), |line| {
            Cell::text(line.case.stamp.map_or(String::new(), |stamp| stamp.to_string()))
        })
        .column(words("valid?"), |line| match line.case.status {
            Status::Measured => Cell::grade(line.case.validity),
            _ => Cell::none(),
        })
        .column_if(page, words("findings"), |line| findings(line.case))
        .column_if(
            medium == Medium::Terminal,
            bars(&format!("{}, log", ends.unwrap_or_default())),
            |line| {
                let point = headline(line.case).and_then(|(_, estimate)| estimate.point);
                let share = axis.zip(point).map(|(axis, ns)| axis.share(ns));
                share.map_or(Cell::none(), |share| Value::Bar(share).into())
            },
        )
        .table()
}

/// Links to the findings, one a code and severity.
fn findings(case: &CaseResult) -> Cell {
    let mut found: Vec<_> = case.findings.iter().map(|f| (f.code, f.severity)).collect();
    found.dedup();
    let cells: Vec<Cell> =
        found.into_iter().map(|(code, severity)| Value::Finding(code, severity).into()).collect();
    if cells.is_empty() { Cell::none() } else { Value::Several(cells).into() }
}

/// A logarithmic axis over whole decades.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Axis([f64; 2]);

impl Axis {
    /// The decades that hold all values; `None` without a positive one.
    fn around(values: impl Iterator<Item = f64>) -> Option<Self> {
        // What lies outside cannot be a duration.
        let values = values.filter(|ns| (1e-6..=1e30).contains(ns)).map(f64::log10);
        let (least, most) = values
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), log| {
                (least.min(log), most.max(log))
            });
        let low = least.floor() as i32;
        let high = (most.ceil() as i32).max(low.saturating_add(1));
        most.is_finite().then(|| Self([low, high].map(|power| 10f64.powi(power))))
    }

    /// Where a value stands, 0 to 1.
    fn share(self, ns: f64) -> f64 {
        let [low, high] = self.0;
        if ns > low { ((ns / low).log10() / (high / low).log10()).clamp(0.0, 1.0) } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_axis_spans_whole_decades_around_every_value() {
        let ends = |values: &[f64]| Axis::around(values.iter().copied()).map(|axis| axis.0);
        assert_eq!(ends(&[212.0, 61_420.0]), Some([100.0, 100_000.0]));
        assert_eq!(ends(&[100.0]), Some([100.0, 1_000.0]));
        assert_eq!(ends(&[1_000.0, 10.0]), Some([10.0, 1_000.0]));
        let [low, high] = ends(&[0.3, 71.0]).expect("two positive values");
        assert!((low - 0.1).abs() < 1e-9 && (high - 100.0).abs() < 1e-6);
        assert_eq!(ends(&[]), None);
        assert_eq!(ends(&[0.0, -3.0, f64::NAN, f64::MIN_POSITIVE, f64::INFINITY]), None);
        let share = |ns| Axis([1.0, 10_000.0]).share(ns);
        assert_eq!([share(100.0), share(1e9), share(0.5), share(f64::NAN)], [0.5, 1.0, 0.0, 0.0]);
    }
}
