//! The sections beside the ladder, as tables.

use hopcost_model::results::Results;

use super::parts::{self, Twin};
use crate::chart::{Heading, heat};
use crate::markup::{Esc, put};
use crate::names::capitalised;
use crate::section::{Cell, Column, Compared, Form, Part, Replay, Row, Section};
use crate::style::Align;

pub(super) fn write(out: &mut String, section: &Section, results: &Results) {
    parts::section(out, section.id, section.title, &section.lead);
    let heat_maps = if section.parts.iter().any(|part| part.heat_map.is_some()) {
        heat::charts(results)
    } else {
        Vec::new()
    };
    for part in &section.parts {
        if !part.title.is_empty() {
            put!(out, "<h3>{}</h3>\n", Esc(&part.title));
        }
        for sentence in &part.says {
            put!(out, "<p class=\"says\">{}</p>\n", Esc(sentence));
        }
        let drawn = part.heat_map.and_then(|at| heat_maps.get(at)?.as_ref());
        if let Some(drawn) = drawn {
            // The table that follows says more than the chart's own.
            parts::figure(out, drawn, Heading::Elsewhere, Twin::Elsewhere);
        }
        if !part.rows.is_empty() {
            table(out, part);
        }
        for note in &part.notes {
            put!(out, "<p class=\"note\">{}</p>\n", Esc(note));
        }
        for Replay { mark, command } in &part.replays {
            put!(out, "<p class=\"label\">Replay {} by hand</p>\n", Esc(mark));
            parts::command(out, command);
        }
    }
    put!(out, "</section>\n");
}

/// A column's heading: `p50` and `n` are names, and stay as they are.
fn heading(column: &Column) -> String {
    let head = column.head.as_str();
    let short = head.len() == 1 || head.chars().nth(1).is_some_and(|c| c.is_ascii_digit());
    if short || column.is_name { head.to_owned() } else { capitalised(head) }
}

fn class(column: Option<&Column>) -> &'static str {
    match column.map(|column| column.align) {
        Some(Align::Right) => " class=\"n\"",
        _ => "",
    }
}

fn table(out: &mut String, part: &Part) {
    // A column without a single value says nothing.
    let shown: Vec<usize> = (0..part.columns.len())
        .filter(|at| part.rows.iter().any(|row| !row.cells.get(*at).is_none_or(Cell::is_empty)))
        .collect();
    let class_of =
        if part.form == Form::Matrix { "sortable ladder matrix" } else { "sortable ladder" };
    put!(out, "<div class=\"scroll\"><table class=\"{class_of}\"><thead><tr>");
    for at in &shown {
        let column = &part.columns[*at];
        put!(out, "<th scope=\"col\"{}>{}</th>", class(Some(column)), Esc(&heading(column)));
    }
    put!(out, "</tr></thead><tbody>\n");
    for row in &part.rows {
        line(out, part, row, &shown);
    }
    put!(out, "</tbody></table></div>\n");
}

fn line(out: &mut String, part: &Part, row: &Row, shown: &[usize]) {
    put!(out, "<tr>");
    for (index, at) in shown.iter().enumerate() {
        let (cell, column) = (&row.cells[*at], part.columns.get(*at));
        if index > 0 {
            put!(out, "{}", cell_markup(cell, column));
            continue;
        }
        let (text, sort) = match cell {
            Cell::Number(text, value) => (text.clone(), format!(" data-v=\"{value}\"")),
            cell => (cell.text(""), String::new()),
        };
        put!(out, "<th scope=\"row\"{}{sort}>", class(column));
        match row.case {
            Some(case) => put!(out, "<a href=\"#case-{case}\">{}</a></th>", Esc(&text)),
            None => put!(out, "{}</th>", Esc(&text)),
        }
    }
    put!(out, "</tr>\n");
}

fn cell_markup(cell: &Cell, column: Option<&Column>) -> String {
    let class = class(column);
    match cell {
        Cell::Compared(compared) => self::compared(compared),
        Cell::Missing { mark, case, why } => {
            let title = why.as_ref().map_or(String::new(), |w| format!(" title=\"{}\"", Esc(w)));
            format!("<td class=\"n none\"{title}>{}</td>", linked(mark, *case))
        }
        Cell::Text(text) if text.is_empty() => parts::NONE.to_owned(),
        Cell::Text(text) => format!("<td{class}>{}</td>", Esc(text)),
        Cell::Number(text, value) => match text.split_once(" [") {
            Some((value_text, interval)) => format!(
                "<td{class} data-v=\"{value}\">{} <span class=\"iv\">[{}</span></td>",
                Esc(value_text),
                Esc(interval)
            ),
            None => format!("<td{class} data-v=\"{value}\">{}</td>", Esc(text)),
        },
        Cell::Validity(validity) => {
            format!("<td data-v=\"{}\">{}</td>", *validity as u8, parts::validity(*validity))
        }
        Cell::Estimate(valued) => {
            let sort = valued.point.map_or(String::new(), |v| format!(" data-v=\"{v}\""));
            let why = valued.why.as_deref();
            let title = why.map_or(String::new(), |why| format!(" title=\"{}\"", Esc(why)));
            let mark =
                |on: bool, word| if on { format!("<small>{word}</small> ") } else { String::new() };
            let interval = valued.shown.interval.as_deref();
            let interval = interval
                .map_or(String::new(), |i| format!(" <span class=\"iv\">{}</span>", Esc(i)));
            format!(
                "<td{class}{sort}{title}>{}{}{}{interval}</td>",
                mark(valued.pooled, "pooled"),
                mark(valued.wide, "wide"),
                Esc(&valued.shown.amount())
            )
        }
    }
}

/// A text as a link to a case's details, where there is one.
fn linked(text: &str, case: Option<usize>) -> String {
    match case {
        Some(case) => format!("<a href=\"#case-{case}\">{}</a>", Esc(text)),
        None => Esc(text).to_string(),
    }
}

/// A number with its interval, and below it its multiple and its verdict.
fn compared(compared: &Compared) -> String {
    let value = &compared.value;
    let sort = value.point.map_or(String::new(), |v| format!(" data-v=\"{v}\""));
    let why = value.why.as_deref();
    let title = why.map_or(String::new(), |why| format!(" title=\"{}\"", Esc(why)));
    let quiet = |interval: &String| format!(" <span class=\"iv\">{}</span>", Esc(interval));
    let interval = value.shown.interval.as_ref().map_or(String::new(), quiet);
    let mark = |on: bool, word| if on { format!("<small>{word}</small> ") } else { String::new() };
    let mut below: Vec<String> = Vec::new();
    if let Some((multiple, interval)) = &compared.multiple {
        let interval = interval.as_ref().map_or(String::new(), quiet);
        below.push(format!("<span class=\"of\">{}{interval}</span>", Esc(multiple)));
    }
    below.extend(compared.validity.map(parts::validity));
    let line = if below.is_empty() { "" } else { "<br>" };
    format!(
        "<td class=\"n\"{sort}{title}>{}{}{}{interval}{line}{}</td>",
        mark(value.pooled, "pooled"),
        mark(value.wide, "wide"),
        linked(&value.shown.amount(), compared.case),
        below.join(" ")
    )
}
