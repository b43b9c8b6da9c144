//! The table of calls: there is no second party, so no wait and one line a row.

use hopcost_model::results::{LadderGroup, LadderRow, Results};

use super::cells::{Cells, Side};
use super::group::{Table, VALIDITY, push};
use crate::number::{DIGITS_MAX, DIGITS_MIN};
use crate::style::{Align, Paint, TextStyle, pad, width_of, wrap};

const CPU: usize = 7;
const BOUNDARY: usize = 8;
const LABEL_MAX: usize = 28;
/// Shorter bars would all look alike.
const BAR_MIN: usize = 8;
const GAP: usize = 2;

/// The rows that were measured and the widths of their columns.
pub(super) struct Calls<'a> {
    rows: Vec<(&'a LadderRow, Cells)>,
    label: usize,
    value: usize,
    interval: usize,
    ratio: usize,
    trials: usize,
    /// Columns of the bar; `None` where too few are left for one.
    pub bar: Option<usize>,
}

impl<'a> Calls<'a> {
    /// The columns of a group of calls. What does not fit goes in this order:
    /// the bar, the label's length, digits.
    pub fn of(results: &Results, group: &'a LadderGroup, style: &TextStyle) -> Self {
        let with = |digits_max| Self::with(results, group, digits_max, style);
        let fits = |calls: &Self| calls.rest() + calls.label <= style.columns();
        let fewer = || (DIGITS_MIN..DIGITS_MAX).rev().map(with).find(fits);
        Some(with(DIGITS_MAX)).filter(fits).or_else(fewer).unwrap_or_else(|| with(DIGITS_MIN))
    }

    fn with(results: &Results, group: &'a LadderGroup, digits_max: u8, style: &TextStyle) -> Self {
        let measured = |row: &'a LadderRow| {
            let cells = Cells::of(Some(Side::One.of(results, row)?), digits_max, style);
            cells.validity.is_some().then_some((row, cells))
        };
        let rows: Vec<_> = group.rows.iter().filter_map(measured).collect();
        let most = |width: fn(&(&LadderRow, Cells)) -> usize| rows.iter().map(width).max();
        let ratio = most(|(_, cells)| width_of(&cells.ratio)).unwrap_or(0);
        let mut calls = Self {
            label: most(|(row, _)| width_of(&row.label)).unwrap_or(0),
            value: most(|(_, cells)| cells.first.widths().0).unwrap_or(0),
            interval: most(|(_, cells)| cells.first.widths().1).unwrap_or(0),
            ratio: if ratio == 0 { 0 } else { ratio.max(width_of("x base")) },
            trials: most(|(_, cells)| width_of(&cells.trials)).unwrap_or(1),
            bar: None,
            rows,
        };
        calls.interval = calls.interval.max(width_of("[interval]"));
        let room = style.columns().saturating_sub(calls.rest());
        let least = width_of("mechanism");
        calls.label = calls.label.clamp(least, LABEL_MAX).min(room.max(least));
        let left = room.saturating_sub(calls.label + GAP);
        calls.bar = (left >= BAR_MIN).then_some(left);
        calls
    }

    /// Width of all columns but the label and the bar.
    fn rest(&self) -> usize {
        let ratio = if self.ratio == 0 { 0 } else { GAP + self.ratio };
        let amount = self.value + 1 + self.interval;
        GAP + BOUNDARY + GAP + amount + ratio + GAP + CPU + GAP + self.trials + 1 + VALIDITY
    }
}

fn join(columns: [String; 7]) -> String {
    let columns = columns.into_iter().filter(|column| !column.is_empty());
    columns.collect::<Vec<_>>().join("  ")
}

pub(super) fn write(out: &mut String, table: &Table<'_>, calls: &Calls<'_>) {
    let style = table.style;
    let table = &table.with_widths(calls.value, calls.interval, calls.trials);
    let base = if calls.ratio == 0 { "" } else { style.pick("×base", "x base") };
    let head = join([
        pad("mechanism", calls.label, Align::Left),
        pad("boundary", BOUNDARY, Align::Left),
        pad("cost [interval]", calls.value + 1 + calls.interval, Align::Left),
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
    for (row, cells) in &calls.rows {
        let labels = wrap(&style.clean(&row.label), calls.label);
        let label = labels.first().map_or("", String::as_str);
        let line = join([
            style.paint(Paint::Bold, &pad(label, calls.label, Align::Left)),
            pad(row.boundary.word(), BOUNDARY, Align::Left),
            table.amount(&cells.first, Paint::Plain),
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
}
