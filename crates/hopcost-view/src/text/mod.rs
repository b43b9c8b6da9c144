//! Documents for the terminal.

mod table;

use self::table::plain;
pub(crate) use self::table::side_by_side;
use crate::section::model::{Block, Cell, Document, Fold, Table, Tone, What};
use crate::style::{Align, Paint, pad, width_of, wrap};

pub use crate::section::Stored;
pub use crate::style::{Charset, Color, TextStyle};

/// Longest name of a fact whose value is on the same line.
const NAMES_MAX: usize = 24;

/// Sentences, a line each.
pub(crate) fn pasted(sentences: Vec<String>) -> String {
    let clean = |line: String| TextStyle::plain(usize::MAX).clean(&line) + "\n";
    sentences.into_iter().map(clean).collect()
}

impl Document {
    /// For a terminal.
    pub fn text(&self, style: &TextStyle) -> String {
        let mut text = Text { out: String::new(), style };
        if !self.title.is_empty() {
            text.paragraph("", "", &self.title, Paint::Bold);
        }
        text.blocks(&self.banner, "");
        text.blocks(&self.head, "");
        for section in &self.sections {
            if !text.out.is_empty() {
                text.out.push('\n');
            }
            text.paragraph("", "", &section.title, Paint::Bold);
            text.blocks(&section.blocks, "  ");
        }
        text.out
    }
}

struct Text<'a> {
    out: String,
    style: &'a TextStyle,
}

impl Text<'_> {
    /// A line without the blanks at its end.
    fn push(&mut self, line: &str) {
        self.out.push_str(line.trim_end());
        self.out.push('\n');
    }

    /// Wrapped text, every line after `first` or `rest`.
    fn paragraph(&mut self, first: &str, rest: &str, text: &str, paint: Paint) {
        let room = self.style.width.saturating_sub(width_of(first).max(width_of(rest)));
        for (index, line) in wrap(&self.style.clean(text), room).iter().enumerate() {
            let before = if index == 0 { first } else { rest };
            self.push(&format!("{before}{}", self.style.paint(paint, line)));
        }
    }

    fn blocks(&mut self, blocks: &[Block], indent: &str) {
        let style = self.style;
        let hanging = format!("{indent}  ");
        let mut blocks = blocks.iter().peekable();
        while let Some(block) = blocks.next() {
            match block {
                Block::Heading(text) => {
                    self.out.push('\n');
                    match cornered(text, blocks.peek()) {
                        Some(table) => {
                            blocks.next();
                            table::write(&mut self.out, &table, style);
                        }
                        None => self.paragraph(indent, indent, text, Paint::Bold),
                    }
                }
                Block::Text(tone, text) => {
                    let rest = if *tone == Tone::Note { &hanging } else { indent };
                    let paint = if *tone == Tone::Alert { Paint::Yellow } else { Paint::Plain };
                    self.paragraph(indent, rest, text, paint);
                }
                Block::Facts(facts) => self.facts(facts, indent),
                Block::Paste(name, lines) if !name.is_empty() => {
                    self.push(&format!("{indent}{name}: {}", style.clean(&lines.join(" "))));
                }
                Block::Paste(_, lines) => {
                    let line =
                        |line: &String| self.push(&format!("{hanging}{}", style.clean(line)));
                    lines.iter().for_each(line);
                }
                Block::Table(table) => table::write(&mut self.out, table, style),
                Block::Beside(left, right) => self.beside(left, right, indent),
                Block::Charts(_) => {}
                Block::Fold(fold) => self.fold(fold, indent),
            }
        }
    }

    /// Two parts side by side, or below each other where there is no room.
    fn beside(&mut self, left: &[Block], right: &[Block], indent: &str) {
        const BETWEEN: usize = 3;
        let written = |blocks: &[Block], color| {
            let style = TextStyle { color, ..*self.style };
            let mut text = Text { out: String::new(), style: &style };
            text.blocks(blocks, indent);
            text.out.trim_matches('\n').lines().map(str::to_owned).collect::<Vec<_>>()
        };
        let plain = [left, right].map(|blocks| written(blocks, Color::Plain));
        let widest = plain.each_ref().map(|all| all.iter().map(|line| width_of(line)).max());
        let [widest, other] = widest.map(Option::unwrap_or_default);
        if widest + BETWEEN + other > self.style.width {
            self.blocks(left, indent);
            self.out.push('\n');
            self.blocks(right, indent);
            return;
        }
        let [left, right] = [left, right].map(|blocks| written(blocks, self.style.color));
        self.out.push('\n');
        for at in 0..left.len().max(right.len()) {
            let line = |of: &[String]| of.get(at).cloned().unwrap_or_default();
            let blanks = widest + BETWEEN - width_of(&line(&plain[0]));
            self.push(&format!("{}{}{}", line(&left), " ".repeat(blanks), line(&right)));
        }
    }

    fn facts(&mut self, facts: &[(String, Cell)], indent: &str) {
        let names = facts.iter().map(|(name, _)| width_of(&self.style.clean(name)));
        let width = names.max().unwrap_or(0).min(NAMES_MAX);
        let rest = format!("{indent}{}", " ".repeat(width + 2));
        for (name, cell) in facts {
            let name = pad(&self.style.clean(name), width, Align::Left);
            self.paragraph(&format!("{indent}{name}  "), &rest, &plain(cell), Paint::Plain);
        }
    }

    /// In brief and then the rest: nothing folds on a terminal.
    fn fold(&mut self, fold: &Fold, indent: &str) {
        let brief: Vec<String> = fold.brief.iter().map(plain).collect();
        let hanging = format!("{indent}  ");
        let paint = match fold.brief.first().map(|cell| cell.what) {
            Some(What::Verdict(bad)) => {
                self.out.push('\n');
                table::paint_of(bad)
            }
            _ => Paint::Plain,
        };
        self.paragraph(indent, &hanging, &brief.join(", "), paint);
        self.blocks(&fold.blocks, &hanging);
    }
}

/// A table with its heading above its first column, where that takes the lines of the columns' own
/// headings and makes it hardly wider.
fn cornered(heading: &str, block: Option<&&Block>) -> Option<Table> {
    const WIDER_MAX: usize = 6;
    let Some(Block::Table(table)) = block else { return None };
    let is_free = table.columns.first().is_some_and(|column| column.head.is_empty());
    let is_high = table.columns.iter().any(|column| !column.over.is_empty());
    let names = table.rows.iter().filter_map(|row| row.first());
    let names = names.map(|cell| width_of(&plain(cell))).max().unwrap_or(0);
    let blanks = heading.match_indices(' ').map(|(at, _)| heading.split_at(at));
    let (over, head) = blanks.min_by_key(|(over, head)| width_of(over).max(width_of(head)))?;
    let width = width_of(over).max(width_of(head.trim()));
    if !is_free || !is_high || width > names + WIDER_MAX {
        return None;
    }
    let mut table = table.clone();
    let first = table.columns.first_mut()?;
    first.over = over.trim_end_matches(',').to_owned();
    first.head = head.trim().to_owned();
    Some(table)
}
