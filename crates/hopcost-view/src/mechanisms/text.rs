//! Mechanisms for the terminal.

use hopcost_model::mechanism::Facts;

use super::{boundaries, counts, families, kind, operation, payload, prose, reasons, waits};
use crate::style::{Align, Paint, TextStyle, pad, width_of};

pub(super) fn list(mechanisms: &[&Facts], style: &TextStyle) -> String {
    let mut out = String::new();
    let name = mechanisms.iter().map(|facts| width_of(facts.name)).max().unwrap_or(0);
    for (family, members) in families(mechanisms) {
        if !out.is_empty() {
            out.push('\n');
        }
        out.push_str(&style.paint(Paint::Bold, &style.clean(family)));
        out.push('\n');
        for facts in members {
            let indent = " ".repeat(name + 4);
            let mut text = String::new();
            style.paragraph(&mut text, &indent, &indent, facts.about);
            let label = pad(facts.name, name, Align::Left);
            out.push_str(&format!("  {}  ", style.paint(Paint::Cyan, &label)));
            out.push_str(text.trim_start());
            details(&mut out, facts, &indent, style);
        }
    }
    let here = mechanisms.iter().filter(|facts| (facts.available)().is_ok()).count();
    let all = mechanisms.len();
    out.push('\n');
    out.push_str(&match here == all {
        true => format!("{all} mechanisms, all available here.\n"),
        false => format!(
            "{all} mechanisms, {here} available here, the others not for the reasons given.\n"
        ),
    });
    out
}

/// The lines below a mechanism's name.
fn details(out: &mut String, facts: &Facts, indent: &str, style: &TextStyle) {
    let mut parts = vec![facts.shape.word().to_owned(), boundaries(facts)];
    parts.push(waits(facts));
    parts.push(format!("payload {}", payload(facts)));
    parts.retain(|part| !part.is_empty());
    let mut text = String::new();
    style.paragraph(&mut text, indent, indent, &parts.join("; "));
    for line in text.lines() {
        out.push_str(&style.paint(Paint::Dim, line));
        out.push('\n');
    }
    if let Err(reason) = (facts.available)() {
        let mut text = String::new();
        style.paragraph(&mut text, indent, indent, &format!("not available here: {reason}"));
        for line in text.lines() {
            out.push_str(&style.paint(Paint::Yellow, line));
            out.push('\n');
        }
    }
}

/// Columns of the headings.
const HEADING: usize = 20;

pub(super) fn show(facts: &Facts, style: &TextStyle) -> String {
    let mut out = style.paint(Paint::Bold, facts.name);
    out.push_str(&format!(" ({})\n", style.clean(&kind(facts))));
    style.paragraph(&mut out, "", "", facts.about);
    let (paint, here) = match (facts.available)() {
        Ok(()) => (Paint::Green, "available here".to_owned()),
        Err(reason) => (Paint::Yellow, format!("not available here: {reason}")),
    };
    for line in crate::style::wrap(&style.clean(&here), style.columns()) {
        out.push_str(&style.paint(paint, &line));
        out.push('\n');
    }
    out.push('\n');
    for (heading, text) in prose(facts) {
        entry(&mut out, heading, &text, style);
    }
    table(&mut out, facts, style);
    if !facts.sources.is_empty() {
        out.push('\n');
        entry(&mut out, "See", &facts.sources.join(", "), style);
    }
    out
}

fn entry(out: &mut String, heading: &str, text: &str, style: &TextStyle) {
    let indent = " ".repeat(HEADING);
    let mut lines = String::new();
    style.paragraph(&mut lines, &indent, &indent, text);
    out.push_str(&style.paint(Paint::Bold, &pad(heading, HEADING, Align::Left)));
    out.push_str(lines.trim_start());
}

fn table(out: &mut String, facts: &Facts, style: &TextStyle) {
    let rows = counts(facts);
    if rows.is_empty() {
        return;
    }
    let title =
        format!("In one {}, both ends together and both waiting this way:", operation(facts));
    out.push('\n');
    style.paragraph(out, "", "", &title);
    let head =
        ["wait", "system calls", "switches, one CPU", "switches, two CPUs"].map(str::to_owned);
    let all: Vec<&[String; 4]> = std::iter::once(&head).chain(&rows).collect();
    let widths: Vec<usize> =
        (0..4).map(|at| all.iter().map(|row| width_of(&row[at])).max().unwrap_or(0)).collect();
    for (index, row) in all.iter().enumerate() {
        let cells: Vec<String> = row
            .iter()
            .zip(&widths)
            .enumerate()
            .map(|(at, (cell, &width))| {
                pad(cell, width, if at == 0 { Align::Left } else { Align::Right })
            })
            .collect();
        let line = format!("  {}", cells.join("  "));
        let paint = if index == 0 { Paint::Dim } else { Paint::Plain };
        out.push_str(&style.paint(paint, line.trim_end()));
        out.push('\n');
    }
    for reason in reasons(facts) {
        style.paragraph(out, "  - ", "    ", &reason);
    }
}
