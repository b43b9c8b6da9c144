//! The sections beside the ladder, for the terminal: tables that fold where they
//! are too wide.

use super::cells::{WIDE, paint_of};
use super::group::push;
use crate::section::{Cell, Column, Form, Part, Replay, Row, Section};
use crate::style::{Align, Paint, TextStyle, pad, width_of, wrap};

/// Blanks between two columns.
const GAP: usize = 2;
/// Longest text of a column of words; what is longer is wrapped.
const WORDS_MAX: usize = 40;
/// Shortest.
const WORDS_MIN: usize = 12;

/// Writes a section: heading, sentence, tables with their notes.
pub(super) fn write(out: &mut String, section: &Section, style: &TextStyle) {
    out.push('\n');
    push(out, &style.paint(Paint::Bold, section.title));
    style.paragraph(out, "  ", "  ", &section.lead);
    for part in &section.parts {
        out.push('\n');
        if !part.title.is_empty() {
            for line in wrap(&style.clean(&part.title), style.columns() - 2) {
                push(out, &format!("  {}", style.paint(Paint::Bold, &line)));
            }
        }
        for sentence in &part.says {
            style.paragraph(out, "  ", "    ", sentence);
        }
        match part.form {
            _ if part.rows.is_empty() => {}
            Form::Table => table(out, part, style),
            Form::Matrix => super::matrix::write(out, part, style),
        }
        for note in &part.notes {
            style.paragraph(out, "  ", "    ", note);
        }
        for Replay { mark, command } in &part.replays {
            replay(out, mark, command, style);
        }
    }
}

/// A command that replays a trial. Never broken, so that it can be pasted; the
/// terminal wraps it.
pub(super) fn replay(out: &mut String, mark: &str, command: &str, style: &TextStyle) {
    let mark = if mark.is_empty() { String::new() } else { format!(" {mark}") };
    push(out, &format!("      Replay{mark}: {}", style.clean(command)));
}

/// A table and the widths of the columns that stand side by side.
struct Grid<'a> {
    part: &'a Part,
    /// Width of a column; `None` for one that goes below its row.
    widths: Vec<Option<usize>>,
    style: &'a TextStyle,
}

fn table(out: &mut String, part: &Part, style: &TextStyle) {
    let mut texts: Vec<Vec<String>> = part
        .rows
        .iter()
        .map(|row| row.cells.iter().map(|cell| style.clean(&cell.text(WIDE))).collect())
        .collect();
    for at in 0..part.columns.len() {
        line_up(texts.iter_mut().filter_map(|row| row.get_mut(at)).collect());
    }
    let filled = |at: usize| texts.iter().any(|row| row.get(at).is_some_and(|t| !t.is_empty()));
    let widths = part.columns.iter().enumerate().map(|(at, column)| {
        let cells = texts.iter().filter_map(|row| row.get(at));
        let widest = cells.map(|text| width_of(text)).max().unwrap_or(0);
        let head = width_of(&style.clean(&column.head));
        // A column without a single value says nothing.
        filled(at).then_some(widest.max(head))
    });
    let mut grid = Grid { part, widths: widths.collect(), style };
    grid.fit();
    grid.head(out);
    for (row, texts) in part.rows.iter().zip(&texts) {
        grid.row(out, row, texts);
    }
}

/// Pads values that have an interval, so that in their column values end and
/// intervals begin below each other.
fn line_up(column: Vec<&mut String>) {
    let split = |text: &str| text.split_once(" [").map(|(a, b)| (width_of(a), 1 + width_of(b)));
    let parts = column.iter().filter_map(|text| split(text));
    let (value, interval) = parts.fold((0, 0), |(v, i), part| (v.max(part.0), i.max(part.1)));
    for text in column {
        if let Some((a, b)) = text.split_once(" [") {
            let (a, b) = (pad(a, value, Align::Right), format!("[{b}"));
            *text = format!("{a} {}", pad(&b, interval, Align::Left));
        } else if interval > 0 && !text.is_empty() && width_of(text) <= value {
            *text = format!("{text}{}", " ".repeat(1 + interval));
        }
    }
}

impl Grid<'_> {
    fn width(&self) -> usize {
        let columns = self.widths.iter().flatten();
        columns.map(|width| width + GAP).sum::<usize>()
    }

    fn room(&self) -> usize {
        // Two blanks before the first column, none behind the last.
        self.style.columns() - 2 + GAP
    }

    /// Shortens the columns of words, and folds columns until the rest fits.
    fn fit(&mut self) {
        let words: Vec<usize> = (0..self.widths.len())
            .filter(|at| self.part.columns[*at].align == Align::Left)
            .collect();
        self.shorten(&words, WORDS_MAX);
        loop {
            let over = self.width().saturating_sub(self.room());
            if over == 0 {
                return;
            }
            let foldable = (0..self.widths.len())
                .filter(|at| self.widths[*at].is_some() && self.part.columns[*at].fold > 0);
            match foldable.max_by_key(|at| self.part.columns[*at].fold) {
                Some(at) => self.widths[at] = None,
                None => break,
            }
        }
        // Nothing left to fold: the words give way, the widest first.
        for limit in (WORDS_MIN..WORDS_MAX).rev() {
            self.shorten(&words, limit);
            if self.width() <= self.room() {
                return;
            }
        }
    }

    fn shorten(&mut self, columns: &[usize], limit: usize) {
        for at in columns {
            if let Some(width) = &mut self.widths[*at] {
                *width = (*width).min(limit);
            }
        }
    }

    fn head(&self, out: &mut String) {
        let heads: Vec<String> =
            self.part.columns.iter().map(|column| self.style.clean(&column.head)).collect();
        self.lines(out, &heads, |_, text| self.style.paint(Paint::Dim, text));
    }

    fn row(&self, out: &mut String, row: &Row, texts: &[String]) {
        self.lines(out, texts, |at, text| match row.cells.get(at) {
            Some(Cell::Validity(validity)) => self.style.paint(paint_of(Some(*validity)), text),
            _ => text.to_owned(),
        });
        let below: Vec<String> = self
            .part
            .columns
            .iter()
            .zip(texts)
            .zip(&self.widths)
            .filter(|((_, text), width)| width.is_none() && !text.trim().is_empty())
            .map(|((column, text), _)| self.named(column, text))
            .collect();
        if below.is_empty() {
            return;
        }
        for line in self.pack(&below) {
            push(out, &self.style.paint(Paint::Dim, &line));
        }
    }

    /// Sets items beside each other on as few lines as hold them, and breaks none
    /// that fits a line of its own.
    fn pack(&self, items: &[String]) -> Vec<String> {
        const INDENT: &str = "      ";
        let dot = self.style.pick(" · ", ", ");
        let room = self.style.columns() - INDENT.len();
        let mut lines: Vec<String> = Vec::new();
        for item in items {
            match lines.last_mut() {
                Some(line) if width_of(line) + width_of(dot) + width_of(item) <= room => {
                    line.push_str(dot);
                    line.push_str(item);
                }
                _ => lines.extend(wrap(item, room)),
            }
        }
        lines.iter().map(|line| format!("{INDENT}{line}")).collect()
    }

    /// `p95 84.4 µs`: a folded value with the name and the unit of its column.
    fn named(&self, column: &Column, text: &str) -> String {
        let text = text.trim();
        if column.align == Align::Left {
            return text.to_owned();
        }
        let head = column.head.replace(" [interval]", "");
        let is_number = text.starts_with(|c: char| c.is_ascii_digit() || c == '-');
        let unit = match column.unit {
            unit if is_number && !unit.is_empty() => format!(" {unit}"),
            _ => String::new(),
        };
        self.style.clean(&format!("{head} {text}{unit}"))
    }

    /// Sets texts into their columns, on more lines where one is too long.
    fn lines(&self, out: &mut String, texts: &[String], paint: impl Fn(usize, &str) -> String) {
        let cells: Vec<(usize, usize, Vec<String>)> = self
            .widths
            .iter()
            .enumerate()
            .filter_map(|(at, width)| {
                let text = texts.get(at).map_or("", String::as_str);
                let width = (*width)?;
                // What fits keeps the blanks that line it up.
                let fits = width_of(text) <= width;
                let lines = if fits { vec![text.to_owned()] } else { wrap(text, width) };
                Some((at, width, lines))
            })
            .collect();
        let most = cells.iter().map(|(_, _, lines)| lines.len()).max().unwrap_or(0);
        for index in 0..most {
            let mut line = String::from("  ");
            for (at, width, lines) in &cells {
                let text = lines.get(index).map_or("", String::as_str);
                let text = pad(text, *width, self.part.columns[*at].align);
                line.push_str(&paint(*at, &text));
                line.push_str(&" ".repeat(GAP));
            }
            push(out, &line);
        }
    }
}
