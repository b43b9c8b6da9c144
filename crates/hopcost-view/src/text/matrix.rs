//! A table whose columns all mean the same, for the terminal: what a cell says is
//! stacked, and columns that do not fit side by side go on below.

use super::cells::{WIDE, paint_of};
use super::group::push;
use crate::section::{Cell, Compared, Part};
use crate::style::{Align, Paint, TextStyle, pad, width_of, wrap};

/// Blanks between two columns.
const GAP: usize = 2;
/// Widest column of names.
const NAMES_MAX: usize = 26;
/// Narrowest that names are broken to before columns go on below.
const NAMES_MIN: usize = 14;

/// A line of a cell.
type Line = (String, Paint);

/// The table with the texts of its cells.
struct Grid<'a> {
    style: &'a TextStyle,
    heads: Vec<String>,
    /// Name, and one stack a column.
    rows: Vec<(String, Vec<Vec<Line>>)>,
    widths: Vec<usize>,
    names: usize,
}

/// Writes a matrix.
pub(super) fn write(out: &mut String, part: &Part, style: &TextStyle) {
    let grid = Grid::of(part, style);
    for (at, columns) in grid.blocks().into_iter().enumerate() {
        if at > 0 {
            out.push('\n');
        }
        grid.block(out, columns);
    }
}

/// The lines of a cell: the number, its interval, its multiple, the interval of that, the verdict.
fn stack(cell: &Cell, style: &TextStyle) -> Vec<Line> {
    match cell {
        Cell::Compared(compared) => compared_lines(compared, style),
        cell => vec![(style.clean(&cell.text(WIDE)), Paint::Dim)],
    }
}

fn compared_lines(compared: &Compared, style: &TextStyle) -> Vec<Line> {
    let value = &compared.value;
    let interval = value.shown.interval.as_deref().unwrap_or_default();
    let mut lines = vec![
        (style.clean(&value.shown.amount()), Paint::Plain),
        (style.clean(&format!("{interval}{}", value.marks(WIDE))), Paint::Dim),
    ];
    if let Some((multiple, interval)) = &compared.multiple {
        lines.push((style.clean(multiple), Paint::Plain));
        lines.push((style.clean(interval.as_deref().unwrap_or_default()), Paint::Dim));
    }
    if let Some(validity) = compared.validity {
        lines.push((validity.word().to_owned(), paint_of(Some(validity))));
    }
    lines.retain(|(text, _)| !text.is_empty());
    lines
}

impl<'a> Grid<'a> {
    fn of(part: &Part, style: &'a TextStyle) -> Self {
        let heads: Vec<String> =
            part.columns.iter().map(|column| style.clean(&column.head)).collect();
        let rows: Vec<(String, Vec<Vec<Line>>)> = part
            .rows
            .iter()
            .filter_map(|row| row.cells.split_first())
            .map(|(name, cells)| {
                let name = style.clean(&name.text(WIDE));
                (name, cells.iter().map(|cell| stack(cell, style)).collect())
            })
            .collect();
        let width = |at: usize| {
            let lines = rows.iter().filter_map(|(_, stacks)| stacks.get(at)).flatten();
            let widest = lines.map(|(text, _)| width_of(text)).max().unwrap_or(0);
            let most = style.columns() - 2 - GAP - NAMES_MIN;
            widest.max(heads.get(at + 1).map_or(0, |head| width_of(head))).min(most)
        };
        let widths: Vec<usize> = (0..heads.len().saturating_sub(1)).map(width).collect();
        let names = rows.iter().map(|(name, _)| width_of(name));
        let names = names.chain(heads.first().map(|head| width_of(head))).max().unwrap_or(0);
        let mut grid = Self { style, heads, rows, widths, names: names.min(NAMES_MAX) };
        // Names are broken sooner than a block of columns.
        let room = style.columns().saturating_sub(2 + grid.numbers(0..grid.widths.len()));
        grid.names = if room < NAMES_MIN { grid.names } else { grid.names.min(room) };
        grid
    }

    /// Width of these columns with the blanks before each.
    fn numbers(&self, columns: std::ops::Range<usize>) -> usize {
        self.widths.get(columns).map_or(0, |widths| widths.iter().map(|width| width + GAP).sum())
    }

    /// The fewest blocks of about as many columns each that fit.
    fn blocks(&self) -> Vec<std::ops::Range<usize>> {
        let all = self.widths.len();
        let split = |parts: usize| -> Vec<std::ops::Range<usize>> {
            let size = all.div_ceil(parts);
            (0..all).step_by(size.max(1)).map(|at| at..all.min(at + size)).collect()
        };
        let room = self.style.columns().saturating_sub(2 + self.names);
        let fits = |blocks: &Vec<std::ops::Range<usize>>| {
            blocks.iter().all(|columns| self.numbers(columns.clone()) <= room)
        };
        let mut tries = (1..=all).map(split);
        tries.clone().find(fits).or_else(|| tries.next_back()).unwrap_or_default()
    }

    fn block(&self, out: &mut String, columns: std::ops::Range<usize>) {
        let heads = columns.clone().map(|at| {
            let head = self.heads.get(at + 1).map_or("", String::as_str);
            wrap(head, self.widths[at]).into_iter().map(|line| (line, Paint::Dim)).collect()
        });
        let heads: Vec<Vec<Line>> = heads.collect();
        let name = self.heads.first().map_or("", String::as_str);
        self.lines(out, (name, Paint::Dim), &heads, columns.clone());
        for (name, stacks) in &self.rows {
            let stacks = columns.clone().map(|at| {
                let lines = stacks.get(at).into_iter().flatten();
                let broken = lines.flat_map(|(text, paint)| {
                    wrap(text, self.widths[at]).into_iter().map(|line| (line, *paint))
                });
                broken.collect()
            });
            let stacks: Vec<Vec<Line>> = stacks.collect();
            self.lines(out, (name, Paint::Bold), &stacks, columns.clone());
        }
    }

    /// A row on as many lines as its name or its highest stack.
    fn lines(
        &self,
        out: &mut String,
        (name, paint): (&str, Paint),
        stacks: &[Vec<Line>],
        columns: std::ops::Range<usize>,
    ) {
        let names = wrap(name, self.names.max(1));
        let most = stacks.iter().map(Vec::len).chain([names.len()]).max().unwrap_or(0);
        for at in 0..most {
            let name = pad(names.get(at).map_or("", String::as_str), self.names, Align::Left);
            let mut line = format!("  {}", self.style.paint(paint, &name));
            for (stack, column) in stacks.iter().zip(columns.clone()) {
                let (text, paint) = stack.get(at).map_or(("", Paint::Plain), |(t, p)| (t, *p));
                let text = pad(text, self.widths[column], Align::Right);
                line.push_str(&" ".repeat(GAP));
                line.push_str(&self.style.paint(paint, &text));
            }
            push(out, &line);
        }
    }
}
