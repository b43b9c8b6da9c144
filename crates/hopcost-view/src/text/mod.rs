//! Documents for the terminal.

mod table;

use hopcost_model::results::Results;

use crate::section;
use crate::section::model::{Block, Cell, Document, Fold, Medium, Section, Tone, Value};
use crate::style::{Align, Paint, pad, width_of, wrap};

pub use crate::section::Stored;
pub use crate::style::{Charset, Color, TextStyle};

/// Longest name of a fact that its value stands beside.
const NAMES_MAX: usize = 24;

/// The report of a run, as far as a terminal has room for it.
pub fn report(results: &Results, stored: Option<Stored<'_>>, style: &TextStyle) -> String {
    document(&section::report(results, Medium::Terminal, stored), style)
}

/// A document as text.
pub(crate) fn document(document: &Document, style: &TextStyle) -> String {
    let mut text = Text { out: String::new(), style };
    if !document.title.is_empty() {
        text.bold("", &document.title);
    }
    text.blocks(&document.head, "");
    for section in &document.sections {
        text.section(section);
    }
    if !document.rest.is_empty() {
        text.out.push('\n');
    }
    text.blocks(&document.rest, "");
    text.out
}

struct Text<'a> {
    out: String,
    style: &'a TextStyle,
}

impl Text<'_> {
    fn section(&mut self, section: &Section) {
        if !self.out.is_empty() {
            self.out.push('\n');
        }
        self.bold("", &section.title);
        self.blocks(&section.blocks, "  ");
    }

    fn bold(&mut self, indent: &str, text: &str) {
        for line in wrap(&self.style.clean(text), self.style.columns() - indent.len()) {
            self.push(&format!("{indent}{}", self.style.paint(Paint::Bold, &line)));
        }
    }

    /// A line without the blanks at its end.
    fn push(&mut self, line: &str) {
        self.out.push_str(line.trim_end());
        self.out.push('\n');
    }

    fn blocks(&mut self, blocks: &[Block], indent: &str) {
        for block in blocks {
            self.block(block, indent);
        }
    }

    fn block(&mut self, block: &Block, indent: &str) {
        let style = self.style;
        let hanging = format!("{indent}  ");
        match block {
            Block::Heading(text) => {
                self.out.push('\n');
                self.bold(indent, text);
            }
            Block::Text(tone, text) => {
                let rest = if *tone == Tone::Note { &hanging } else { indent };
                let paint = if *tone == Tone::Alert { Paint::Yellow } else { Paint::Plain };
                self.paragraph(indent, rest, text, paint);
            }
            Block::List(items) => {
                let (first, rest) = (format!("{indent}- "), &hanging);
                items.iter().for_each(|item| style.paragraph(&mut self.out, &first, rest, item));
            }
            Block::Facts(facts) => self.facts(facts, indent),
            Block::Paste(name, lines) if !name.is_empty() => {
                self.push(&format!("{indent}{name}: {}", style.clean(&lines.join(" "))));
            }
            Block::Paste(_, lines) => {
                lines.iter().for_each(|line| self.push(&format!("{hanging}{}", style.clean(line))));
            }
            Block::Table(table) => table::write(&mut self.out, table, style),
            Block::Charts(..) => {}
            Block::Fold(fold) => self.fold(fold, indent),
        }
    }

    fn paragraph(&mut self, first: &str, rest: &str, text: &str, paint: Paint) {
        let mut lines = String::new();
        self.style.paragraph(&mut lines, first, rest, text);
        for line in lines.lines() {
            self.push(&self.style.paint(paint, line));
        }
    }

    fn facts(&mut self, facts: &[(String, Cell)], indent: &str) {
        let names = facts.iter().map(|(name, _)| width_of(&self.style.clean(name)));
        let width = names.max().unwrap_or(0).min(NAMES_MAX);
        for (name, cell) in facts {
            let name = pad(&self.style.clean(name), width, Align::Left);
            let rest = format!("{indent}{}", " ".repeat(width + 2));
            let mut lines = String::new();
            self.style.paragraph(&mut lines, &format!("{indent}{name}  "), &rest, &plain(cell));
            self.out.push_str(&lines);
        }
    }

    /// In brief and then the rest: nothing folds on a terminal.
    fn fold(&mut self, fold: &Fold, indent: &str) {
        let brief: Vec<String> = fold.brief.iter().map(plain).collect();
        let hanging = format!("{indent}  ");
        let mut lines = String::new();
        self.style.paragraph(&mut lines, indent, &hanging, &brief.join(", "));
        // The verdict, where it comes first, has its colour.
        let grade = fold.brief.first().and_then(|cell| match cell.value {
            Value::Grade(grade) => Some((grade.word(), table::paint_of(grade))),
            _ => None,
        });
        if let Some((word, paint)) = grade {
            lines = lines.replacen(word, &self.style.paint(paint, word), 1);
        }
        self.out.push_str(&lines);
        self.blocks(&fold.blocks, &hanging);
    }
}

/// A cell in one line.
fn plain(cell: &Cell) -> String {
    table::Piece::of(cell).joined()
}
