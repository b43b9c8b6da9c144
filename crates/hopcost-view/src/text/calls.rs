//! The table of calls: there is no second party, so no wait and one line a row.

use super::cells::{Cells, Side};
use super::group::{Table, VALIDITY, push};
use crate::number::DIGITS_MAX;
use crate::style::{Align, Paint, pad, width_of, wrap};

const CPU: usize = 7;

pub(super) fn write(out: &mut String, table: &Table<'_>) {
    let style = table.style;
    let rows: Vec<_> = table
        .group
        .rows
        .iter()
        .filter_map(|row| {
            let result = Side::One.of(table.results, row)?;
            let cells = Cells::of(Some(result), DIGITS_MAX, style);
            cells.validity.is_some().then_some((row, cells))
        })
        .collect();
    let longest = rows.iter().map(|(row, _)| width_of(&row.label)).max().unwrap_or(0);
    let label = longest.clamp(width_of("mechanism"), 28);
    let ratio = rows.iter().map(|(_, cells)| width_of(&cells.ratio)).max().unwrap_or(0);
    let ratio = if ratio == 0 { 0 } else { ratio.max(width_of("x base")) };
    let join = |columns: [String; 6]| {
        columns.into_iter().filter(|column| !column.is_empty()).collect::<Vec<_>>().join("  ")
    };
    let (value, interval) = rows
        .iter()
        .map(|(_, cells)| cells.first.widths())
        .fold((0, width_of("[interval]")), |(value, interval), (v, i)| {
            (value.max(v), interval.max(i))
        });
    let trials = rows.iter().map(|(_, cells)| width_of(&cells.trials)).max().unwrap_or(1);
    let table = &table.with_widths(value, interval, trials);
    let amount = |text: &str| pad(text, value + 1 + interval, Align::Left);
    let head = join([
        pad("mechanism", label, Align::Left),
        pad("boundary", 8, Align::Left),
        amount("cost [interval]"),
        pad(if ratio == 0 { "" } else { style.pick("×base", "x base") }, ratio, Align::Right),
        pad("CPU/op", CPU, Align::Right),
        format!("{} {}", pad("n", trials, Align::Right), pad("valid?", VALIDITY, Align::Left)),
    ]);
    let room = style.columns().saturating_sub(width_of(&head) + 2);
    push(out, &style.paint(Paint::Dim, &format!("{head}  bar")));
    for (row, cells) in &rows {
        let labels = wrap(&style.clean(&row.label), label);
        let line = join([
            style.paint(Paint::Bold, &pad(&labels[0], label, Align::Left)),
            pad(row.boundary.word(), 8, Align::Left),
            table.amount(&cells.first, Paint::Plain),
            pad(&cells.ratio, ratio, Align::Right),
            style.paint(Paint::Dim, &pad(&cells.cpu, CPU, Align::Right)),
            table.verdict(cells),
        ]);
        push(out, &format!("{line}  {}", table.bar(cells, room)));
        for more in labels.iter().skip(1) {
            push(out, &style.paint(Paint::Bold, more));
        }
    }
}
