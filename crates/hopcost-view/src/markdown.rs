//! Documents as Markdown (GitHub's tables).

use hopcost_model::text::is_plain;

use crate::section::model::{Block, Cell, Document, Table, Tone, What};

impl Document {
    /// As Markdown.
    pub fn markdown(&self) -> String {
        let mut out = String::new();
        if !self.title.is_empty() {
            out.push_str(&format!("# {}\n\n", escape(&self.title)));
        }
        blocks(&mut out, &self.banner);
        blocks(&mut out, &self.head);
        for section in &self.sections {
            out.push_str(&format!("## {}\n\n", escape(&section.title)));
            blocks(&mut out, &section.blocks);
        }
        out.truncate(out.trim_end().len());
        out.push('\n');
        out
    }
}

fn blocks(out: &mut String, blocks: &[Block]) {
    for (at, block) in blocks.iter().enumerate() {
        let is_item = |block: Option<&Block>| {
            matches!(block, Some(Block::Paste(..) | Block::Text(Tone::Note, _)))
        };
        match block {
            Block::Heading(text) => out.push_str(&format!("### {}\n\n", escape(text))),
            Block::Text(Tone::Note, text) => out.push_str(&format!("- {}\n", escape(text))),
            Block::Text(Tone::Alert, text) => out.push_str(&format!("**{}**\n\n", escape(text))),
            Block::Text(_, text) => out.push_str(&format!("{}\n\n", escape(text))),
            Block::Facts(facts) => {
                for (name, value) in facts {
                    out.push_str(&format!("- **{}:** {}\n", escape(name), cell(value)));
                }
                out.push('\n');
            }
            Block::Paste(name, lines) => {
                let lines: Vec<String> = lines.iter().map(|line| code(line)).collect();
                out.push_str(&format!("- {}: {}\n", escape(name), lines.join(", ")));
            }
            Block::Table(table) => self::table(out, table),
            Block::Beside(left, right) => {
                self::blocks(out, left);
                self::blocks(out, right);
            }
            Block::Charts(_) => {}
            Block::Fold(fold) => {
                let brief: Vec<String> = fold.brief.iter().map(cell).collect();
                out.push_str(&format!("### {}\n\n", brief.join(", ")));
                self::blocks(out, &fold.blocks);
            }
        }
        // What stands one below the other is one list.
        if is_item(Some(block)) && !is_item(blocks.get(at + 1)) {
            out.push('\n');
        }
    }
}

fn table(out: &mut String, table: &Table) {
    if table.rows.is_empty() {
        return;
    }
    row(out, table.columns.iter().map(|column| escape(&column.whole())));
    let rule = |words| if words { "---".to_owned() } else { "---:".to_owned() };
    row(out, table.columns.iter().map(|column| rule(column.kind.is_words())));
    for cells in &table.rows {
        row(out, cells.iter().map(cell));
    }
    out.push('\n');
}

fn row(out: &mut String, cells: impl Iterator<Item = String>) {
    out.push_str(&format!("| {} |\n", cells.collect::<Vec<_>>().join(" | ")));
}

/// A cell in a line.
pub(crate) fn cell(cell: &Cell) -> String {
    let text = cell.shown.to_string() + cell.mark("*");
    match cell.what {
        What::Words if text.starts_with("https://") => format!("<{text}>"),
        What::Code => code(&text),
        What::Verdict(_) | What::Finding(_) => text,
        _ => escape(&text),
    }
}

/// Text that means only itself, also within a table.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            c if !is_plain(c) => out.push(' '),
            '<' => out.push_str("&lt;"),
            '&' => out.push_str("&amp;"),
            '|' | '*' | '_' | '`' | '\\' | '#' => {
                out.push('\\');
                out.push(c);
            }
            c => out.push(c),
        }
    }
    out
}

/// Text as code, also within a table.
fn code(text: &str) -> String {
    let text: String = text.chars().map(|c| if is_plain(c) { c } else { ' ' }).collect();
    let fence = if text.contains('`') { "``" } else { "`" };
    let blank = if text.contains('`') { " " } else { "" };
    format!("{fence}{blank}{}{blank}{fence}", text.replace('|', "\\|"))
}
