//! The parts of a document as markup.

use super::cells;
use crate::chart;
use crate::markup::{Esc, put};
use crate::section::model::{Block, Cell, Column, Document, Fold, Section, Table, Tone, What};
use crate::text::side_by_side;

/// What stands above the first section: the conclusion first.
pub(super) fn head(out: &mut String, document: &Document) {
    if !document.banner.is_empty() {
        put!(out, "<div class=\"banner\">\n");
        blocks(out, &document.banner, "h2");
        put!(out, "</div>\n");
    }
    blocks(out, &document.head, "h2");
}

/// A section that folds under its heading. The id is inside, so that a link to it unfolds it
/// without the script too.
pub(super) fn section(out: &mut String, section: &Section, is_open: bool) {
    let open = if is_open { " open" } else { "" };
    let (title, id) = (Esc(&section.title), &section.id);
    put!(out, "<details class=\"part\"{open}><summary><h2>{title}</h2></summary>\n");
    put!(out, "<section id=\"{id}\">\n");
    blocks(out, &section.blocks, "h3");
    put!(out, "</section></details>\n");
}

/// Blocks whose headings are of this rank.
fn blocks(out: &mut String, blocks: &[Block], rank: &str) {
    blocks.iter().for_each(|block| one(out, block, rank));
}

fn one(out: &mut String, block: &Block, rank: &str) {
    match block {
        Block::Heading(text) => put!(out, "<{rank}>{}</{rank}>\n", Esc(text)),
        Block::Text(tone, text) => {
            let class = match tone {
                Tone::Lead => " class=\"lead\"",
                Tone::Plain => "",
                Tone::Note => " class=\"note\"",
                Tone::Alert => " class=\"alert\"",
            };
            put!(out, "<p{class}>{}</p>\n", Esc(text));
        }
        Block::Facts(facts) => {
            put!(out, "<dl class=\"facts\">\n");
            for (name, cell) in facts {
                let value = cells::inline(cell);
                put!(out, "<div><dt>{}</dt><dd>{value}</dd></div>\n", Esc(name));
            }
            put!(out, "</dl>\n");
        }
        // Selecting it takes one click even without the script.
        Block::Paste(name, lines) => put!(
            out,
            "<p class=\"label\">{}</p>\n<pre class=\"command\"><code>{}</code></pre>\n",
            Esc(name),
            Esc(&lines.join("\n"))
        ),
        Block::Table(of) if of.rows.is_empty() => {}
        Block::Table(of) => table(out, of),
        Block::Beside(left, right) => left.iter().chain(right).for_each(|of| one(out, of, rank)),
        Block::Charts(charts) => {
            put!(out, "<div class=\"charts\">\n");
            charts.iter().for_each(|of| put!(out, "<figure>{}</figure>\n", chart::element(of)));
            put!(out, "</div>\n");
        }
        Block::Fold(fold) => folded(out, fold),
    }
}

fn folded(out: &mut String, fold: &Fold) {
    let open = if fold.open { " open" } else { "" };
    let brief: Vec<String> =
        fold.brief.iter().map(|cell| format!("<span>{}</span>", cells::inline(cell))).collect();
    let (id, brief) = (Esc(&fold.id), brief.join(" "));
    put!(out, "<details class=\"one\" id=\"{id}\"{open}><summary>{brief}</summary>\n");
    blocks(out, &fold.blocks, "h4");
    put!(out, "</details>\n");
}

/// Columns beyond which a row of a narrow screen is not a row any more: it becomes a card, in
/// which each cell says what it is.
const COLUMNS_MAX: usize = 2;

/// Characters of a table that a page of a laptop has room for.
const WIDTH_MAX: usize = 112;

fn table(out: &mut String, table: &Table) {
    let fits = side_by_side(table, WIDTH_MAX);
    let (shown, below): (Vec<usize>, Vec<usize>) = (0..fits.len()).partition(|at| fits[*at]);
    let columns: Vec<&Column> = shown.iter().map(|at| &table.columns[*at]).collect();
    // The spelling of a case alone is as wide as such a screen.
    let is_case = |row: &Vec<Cell>| row.first().is_some_and(|cell| cell.what == What::Code);
    let several = columns.len() > 1 && table.rows.iter().any(is_case);
    let labelled = several || columns.len() > COLUMNS_MAX;
    let cards = if labelled { " cards" } else { "" };
    put!(out, "<div class=\"scroll\"><table class=\"sortable ladder{cards}\"><thead>");
    heads(out, &columns);
    put!(out, "</thead><tbody>\n");
    for row in &table.rows {
        put!(out, "<tr>");
        let mut group = "";
        for (column, at) in columns.iter().zip(&shown) {
            let Some(cell) = row.get(*at) else { continue };
            // What a cell carries along to where the row is a card: the first says what it is if it is
            // a number, and the first of a group the heading of all.
            let label = |head: &str| format!(" data-l=\"{}\"", Esc(head));
            let label = match at {
                _ if !labelled => String::new(),
                0 if column.kind.is_words() => String::new(),
                1.. if !cell.is_empty() && column.over != group => {
                    group = &column.over;
                    label(&column.whole()) + " data-g=\"\""
                }
                _ => label(&column.head),
            };
            let below = (*at == 0).then(|| named(table, row, &below));
            cells::cell(out, cell, column.kind, &label, below);
        }
        put!(out, "</tr>\n");
    }
    put!(out, "</tbody></table></div>\n");
}

/// `p95 84.4 µs · n 6`: what has no column beside the others.
fn named(table: &Table, row: &[Cell], below: &[usize]) -> String {
    let cells = below.iter().filter_map(|at| Some((&table.columns[*at], row.get(*at)?)));
    let known = cells.filter(|(_, cell)| !cell.is_empty());
    let named = known.map(|(column, cell)| {
        let cell = cells::inline(cell);
        format!("<span>{} {cell}</span>", Esc(&column.label()))
    });
    let named = named.collect::<Vec<_>>().join(" · ");
    if named.is_empty() { named } else { format!("<small>{named}</small>") }
}

/// The heads of columns; above them what several have in common.
fn heads(out: &mut String, columns: &[&Column]) {
    if columns.iter().any(|column| !column.over.is_empty()) {
        put!(out, "<tr class=\"groups\">");
        for group in columns.chunk_by(|a, b| a.over == b.over) {
            let span = group.len();
            match group[0].over.as_str() {
                "" => put!(out, "<td colspan=\"{span}\"></td>"),
                over => put!(out, "<th scope=\"colgroup\" colspan=\"{span}\">{}</th>", Esc(over)),
            }
        }
        put!(out, "</tr>");
    }
    put!(out, "<tr>");
    for column in columns {
        let class = if column.kind.is_words() { "" } else { " class=\"n\"" };
        match column.heading().as_str() {
            "" => put!(out, "<td></td>"),
            head => put!(out, "<th scope=\"col\"{class}>{}</th>", Esc(head)),
        }
    }
    put!(out, "</tr>");
}
