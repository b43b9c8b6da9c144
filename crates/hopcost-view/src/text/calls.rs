//! The table of calls: there is no second party, so no wait and one line a row.

use hopcost_model::case::Boundary;
use hopcost_model::results::{CaseResult, LadderGroup, LadderRow, Results, Statistic};

use super::cells::Cells;
use super::group::{Table, VALIDITY, push};
use crate::names::{Place, row_label};
use crate::number::{self, DIGITS_MAX, DIGITS_MIN};
use crate::section::counters;
use crate::style::{Align, Paint, TextStyle, pad, width_of, wrap};

const CPU: usize = 7;
/// Width of `boundary` and of every boundary of a call.
const BOUNDARY: usize = 8;
const LABEL_MAX: usize = 28;
/// Shorter bars would all look alike.
const BAR_MIN: usize = 8;
const GAP: usize = 2;

/// Whether a multiple has its interval beside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Multiple {
    WithInterval,
    Alone,
}

/// A row that was measured.
struct Line<'a> {
    row: &'a LadderRow,
    label: String,
    cells: Cells,
    /// Cost in ticks of the clock and in core cycles, where known.
    ticks: String,
    cycles: String,
}

impl<'a> Line<'a> {
    fn of(
        results: &Results,
        row: &'a LadderRow,
        digits_max: u8,
        multiple: Multiple,
        style: &TextStyle,
    ) -> Option<Self> {
        let case = Place::One.case(row, results)?;
        let mut cells = Cells::of(Some(case), digits_max, style);
        cells.validity?;
        if let Some(interval) = case.ratio.as_ref().and_then(number::ratio_interval)
            && multiple == Multiple::WithInterval
            && cells.ratio != "base"
        {
            cells.ratio = format!("{} {interval}", cells.ratio);
        }
        let (ticks, cycles) = units(case, digits_max);
        Some(Self { row, label: row_label(row, results), cells, ticks, cycles })
    }
}

/// The cost of a call in ticks and in cycles, with the digits of its estimate.
pub(crate) fn units(case: &CaseResult, digits_max: u8) -> (String, String) {
    let cost =
        case.estimates.as_ref().and_then(|e| e.get(Statistic::Cost).or(e.get(Statistic::P50)));
    let digits = cost.map_or(DIGITS_MIN, |cost| cost.digits.min(digits_max));
    let text = |value: Option<f64>| value.map_or(String::new(), |v| number::plain(v, digits));
    (text(case.cost_ticks), text(case.cost_cycles))
}

/// The rows that were measured and the widths of their columns; a width of 0 is a
/// column that is not there.
pub(super) struct Calls<'a> {
    rows: Vec<Line<'a>>,
    label: usize,
    /// Width that the longest label would like to have.
    wanted: usize,
    boundary: usize,
    value: usize,
    interval: usize,
    ticks: usize,
    cycles: usize,
    ratio: usize,
    trials: usize,
    /// Columns of the bar; `None` where too few are left for one.
    pub bar: Option<usize>,
}

impl<'a> Calls<'a> {
    /// The columns of a group of calls. What does not fit goes in this order:
    /// the bar, the boundary if it is the same in all rows, the label's length,
    /// digits, the interval of the multiple.
    pub fn of(results: &Results, group: &'a LadderGroup, style: &TextStyle) -> Self {
        let fits = |calls: &Self| calls.rest() + calls.label <= style.columns();
        let whole = |calls: &Self| fits(calls) && calls.label == calls.wanted;
        let inline = group.rows.iter().all(|row| row.boundary == Boundary::Inline);
        let boundary = if inline { 0 } else { BOUNDARY };
        let with = |digits_max, boundary, multiple| {
            Self::with(results, group, digits_max, boundary, multiple, style)
        };
        let widest = with(DIGITS_MAX, BOUNDARY, Multiple::WithInterval);
        if whole(&widest) {
            return widest;
        }
        let tries = (DIGITS_MIN..=DIGITS_MAX).rev().map(|d| (d, Multiple::WithInterval));
        let tries = tries.chain((DIGITS_MIN..=DIGITS_MAX).rev().map(|d| (d, Multiple::Alone)));
        let found = tries.map(|(digits, multiple)| with(digits, boundary, multiple)).find(fits);
        found.unwrap_or_else(|| with(DIGITS_MIN, boundary, Multiple::Alone))
    }

    fn with(
        results: &Results,
        group: &'a LadderGroup,
        digits_max: u8,
        boundary: usize,
        multiple: Multiple,
        style: &TextStyle,
    ) -> Self {
        let measured = |row: &'a LadderRow| Line::of(results, row, digits_max, multiple, style);
        let rows: Vec<_> = group.rows.iter().filter_map(measured).collect();
        let most = |width: fn(&Line) -> usize| rows.iter().map(width).max();
        // A column with any value is at least as wide as its heading.
        let column = |width: fn(&Line) -> usize, head: &str| match most(width) {
            None | Some(0) => 0,
            Some(width) => width.max(width_of(head)),
        };
        let mut calls = Self {
            label: most(|line| width_of(&line.label)).unwrap_or(0),
            wanted: 0,
            boundary,
            value: most(|line| line.cells.first.widths().0).unwrap_or(0),
            interval: most(|line| line.cells.first.widths().1).unwrap_or(0),
            ticks: column(|line| width_of(&line.ticks), "ticks"),
            cycles: column(|line| width_of(&line.cycles), "cycles"),
            ratio: column(|line| width_of(&line.cells.ratio), "x base"),
            trials: most(|line| width_of(&line.cells.trials)).unwrap_or(1),
            bar: None,
            rows,
        };
        calls.interval = calls.interval.max(width_of("[interval]"));
        let room = style.columns().saturating_sub(calls.rest());
        let least = width_of("mechanism");
        calls.wanted = calls.label.clamp(least, LABEL_MAX);
        calls.label = calls.wanted.min(room.max(least));
        let left = room.saturating_sub(calls.label + GAP);
        calls.bar = (left >= BAR_MIN).then_some(left);
        calls
    }

    /// Width of all columns but the label and the bar.
    fn rest(&self) -> usize {
        let optional = [self.boundary, self.ticks, self.cycles, self.ratio];
        let optional = optional.into_iter().filter(|width| *width > 0).map(|width| GAP + width);
        let amount = GAP + self.value + 1 + self.interval;
        amount + optional.sum::<usize>() + GAP + CPU + GAP + self.trials + 1 + VALIDITY
    }
}

fn join(columns: [String; 9]) -> String {
    let columns = columns.into_iter().filter(|column| !column.is_empty());
    columns.collect::<Vec<_>>().join("  ")
}

pub(super) fn write(out: &mut String, table: &Table<'_>, calls: &Calls<'_>) {
    let style = table.style;
    let table = &table.with_widths(calls.value, calls.interval, calls.trials);
    let base = if calls.ratio == 0 { "" } else { style.pick("×base", "x base") };
    let optional = |width, text: &str| match width {
        0 => String::new(),
        width => pad(text, width, Align::Right),
    };
    let head = join([
        pad("mechanism", calls.label, Align::Left),
        if calls.boundary == 0 { String::new() } else { pad("boundary", BOUNDARY, Align::Left) },
        pad("cost [interval]", calls.value + 1 + calls.interval, Align::Left),
        optional(calls.ticks, "ticks"),
        optional(calls.cycles, "cycles"),
        pad(base, calls.ratio, Align::Right),
        pad("CPU/op", CPU, Align::Right),
        format!(
            "{} {}",
            pad("n", calls.trials, Align::Right),
            pad("valid?", VALIDITY, Align::Left)
        ),
        calls.bar.map_or("", |_| "bar").to_owned(),
    ]);
    push(out, &style.paint(Paint::Dim, head.trim_end()));
    for Line { row, label, cells, ticks, cycles } in &calls.rows {
        let labels = wrap(&style.clean(label), calls.label);
        let label = labels.first().map_or("", String::as_str);
        let line = join([
            style.paint(Paint::Bold, &pad(label, calls.label, Align::Left)),
            if calls.boundary == 0 {
                String::new()
            } else {
                pad(row.boundary.word(), BOUNDARY, Align::Left)
            },
            table.amount(&cells.first, Paint::Plain),
            optional(calls.ticks, ticks),
            optional(calls.cycles, cycles),
            pad(&cells.ratio, calls.ratio, Align::Right),
            style.paint(Paint::Dim, &pad(&cells.cpu, CPU, Align::Right)),
            table.verdict(cells),
            calls.bar.map(|width| table.bar(cells, width)).unwrap_or_default(),
        ]);
        push(out, &line);
        for more in labels.iter().skip(1) {
            push(out, &style.paint(Paint::Bold, more));
        }
    }
    let cases = table.group.rows.iter().filter_map(|row| Place::One.case(row, table.results));
    for note in counters::unavailable(cases) {
        style.paragraph(out, "  ", "    ", &note);
    }
}
