//! The parts of a document as markup.

use super::cells;
use crate::chart::{self, Heading, model::Chart};
use crate::markup::{Esc, put};
use crate::section::model::{Block, Cell, Fold, Form, Frame, Kind, Section, Table, Tone};

pub(super) fn section(out: &mut String, section: &Section) {
    put!(out, "<section id=\"{}\">\n<h2>{}</h2>\n", section.id, Esc(&section.title));
    blocks(out, &section.blocks, "h3");
    put!(out, "</section>\n");
}

/// Blocks whose headings are of this rank.
pub(super) fn blocks(out: &mut String, blocks: &[Block], rank: &str) {
    for block in blocks {
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
            Block::List(items) => {
                put!(out, "<ul class=\"remarks\">\n");
                items.iter().for_each(|item| put!(out, "<li>{}</li>\n", Esc(item)));
                put!(out, "</ul>\n");
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
            Block::Charts(charts, frame) => figures(out, charts, *frame),
            Block::Fold(fold) => folded(out, fold),
        }
    }
}

fn folded(out: &mut String, fold: &Fold) {
    let open = if fold.open { " open" } else { "" };
    let brief: Vec<String> =
        fold.brief.iter().map(|cell| format!("<span>{}</span>", cells::inline(cell))).collect();
    put!(
        out,
        "<details class=\"one\" id=\"{}\"{open}><summary>{}</summary>\n",
        Esc(&fold.id),
        brief.join(" ")
    );
    blocks(out, &fold.blocks, "h4");
    put!(out, "</details>\n");
}

fn figures(out: &mut String, charts: &[Chart], frame: Frame) {
    if frame == Frame::Small {
        put!(out, "<div class=\"multiples\">\n");
    }
    for chart in charts {
        let heading = if frame == Frame::Bare { Heading::Elsewhere } else { Heading::Drawn };
        put!(out, "<figure>{}", chart::element(chart, heading));
        if frame != Frame::Bare {
            numbers(out, chart);
        }
        out.push_str("</figure>\n");
    }
    if frame == Frame::Small {
        put!(out, "</div>\n");
    }
}

/// What a chart shows, as a table folded under it.
fn numbers(out: &mut String, chart: &Chart) {
    put!(
        out,
        "<details class=\"twin\"><summary>Numbers of this chart<span class=\"unseen\">: {}</span>\
         </summary><div class=\"scroll\"><table><thead><tr>",
        Esc(&chart.title)
    );
    let class = |at: usize| if at == 0 { "" } else { " class=\"n\"" };
    for (at, column) in chart.table.columns.iter().enumerate() {
        put!(out, "<th scope=\"col\"{}>{}</th>", class(at), Esc(column));
    }
    out.push_str("</tr></thead><tbody>\n");
    for row in &chart.table.rows {
        out.push_str("<tr>");
        row.iter().enumerate().for_each(|(at, text)| {
            put!(out, "<td{}>{}</td>", class(at), Esc(text));
        });
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody></table></div></details>");
}

fn table(out: &mut String, table: &Table) {
    let matrix = if table.form == Form::Matrix { " matrix" } else { "" };
    put!(out, "<div class=\"scroll\"><table class=\"sortable ladder{matrix}\"><thead><tr>");
    for column in &table.columns {
        let class = if column.kind.is_words() { "" } else { " class=\"n\"" };
        put!(out, "<th scope=\"col\"{class}>{}</th>", Esc(&column.head));
        if column.kind == Kind::Estimate {
            put!(out, "<th scope=\"col\" class=\"n nosort\">interval</th>");
        }
    }
    put!(out, "</tr></thead><tbody>\n");
    let mut above: &[Cell] = &[];
    for row in &table.rows {
        put!(out, "<tr>");
        let mut again = true;
        for (at, (cell, column)) in row.iter().zip(&table.columns).enumerate() {
            // Repeated for the sake of sorting, and quiet until then.
            again &= column.kind == Kind::Repeated
                && above.get(at).is_some_and(|above| above.says_what(cell));
            cells::cell(out, cell, column.kind, at == 0, again);
        }
        put!(out, "</tr>\n");
        above = row;
    }
    put!(out, "</tbody></table></div>\n");
}
