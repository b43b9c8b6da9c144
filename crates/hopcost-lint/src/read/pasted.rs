//! Text with tables in it: Markdown's, comma-separated values, columns by tabs or by alignment,
//! and what tools print line by line.

use super::csv;
use super::records::Records;
use super::table::{Document, Form, clean};
use crate::number::Number;
use crate::unit::Unit;

/// Rows without which lines with commas are prose.
const CSV_LINES_MIN: usize = 3;

/// How the lines of a table are divided.
type Divide = fn(&str) -> Vec<String>;

/// Every table of a text.
pub fn read(text: &str) -> Document {
    let lines: Vec<&str> = text.lines().collect();
    let mut document = Document::default();
    let mut records = Records::default();
    // The last line of text above.
    let mut title = String::new();
    let mut at = 0;
    while at < lines.len() {
        let cleaned = clean(lines[at]);
        if records.tool(at + 1, &cleaned, &title) {
            at += 1;
            continue;
        }
        if let Some((taken, rows)) = markdown(&lines[at..]).or_else(|| block(&lines[at..])) {
            let rows = rows.into_iter().map(|(line, fields)| (at + line + 1, fields)).collect();
            document.add(&title, Form::Text, rows);
            at += taken;
            continue;
        }
        if !records.list(at + 1, &cleaned, &title) && !cleaned.is_empty() {
            title.clone_from(&cleaned);
        }
        document.lines.push((at + 1, cleaned));
        at += 1;
    }
    records.add_to(&mut document);
    document.tables.sort_by_key(|table| table.head[0].line);
    document
}

type Rows = Vec<(usize, Vec<String>)>;

/// A table with pipes and a line of dashes below its headings: lines taken, and rows.
fn markdown(lines: &[&str]) -> Option<(usize, Rows)> {
    let rule = lines.get(1)?;
    let is_rule = rule.contains("--") && rule.chars().all(|c| "|-: \t".contains(c));
    (is_rule && lines[0].contains('|')).then_some(())?;
    let is_row = |line: &&&str| line.contains('|');
    let taken = lines.iter().take_while(is_row).count().max(2);
    let row = |(at, line): (usize, &&str)| {
        let line = line.trim().trim_start_matches('|').trim_end_matches('|');
        (at, line.split('|').map(clean).collect())
    };
    let rows = lines[..taken].iter().enumerate().filter(|(at, _)| *at != 1).map(row).collect();
    Some((taken, rows))
}

/// A heading with rows of numbers below it that are divided alike: lines taken, and rows.
fn block(lines: &[&str]) -> Option<(usize, Rows)> {
    let ways: [(Divide, usize); 4] = [(commas, CSV_LINES_MIN), (tabs, 2), (gaps, 2), (words, 2)];
    ways.into_iter().find_map(|(divide, least)| {
        let head = divide(lines.first()?);
        let numbers = |fields: &[String]| fields.iter().filter(|f| is_number(f)).count();
        (head.len() >= 2 && numbers(&head) == 0).then_some(())?;
        let row = |line: &&str| {
            let fields = joined(divide(line), head.len());
            let fits = fields.len() == head.len() && 2 * numbers(&fields) >= fields.len();
            fits.then_some(fields)
        };
        let rows = lines[1..].iter().map_while(row);
        let all: Rows = std::iter::once(head.clone()).chain(rows).enumerate().collect();
        (all.len() >= least).then_some((all.len(), all))
    })
}

fn is_number(field: &str) -> bool {
    Number::parse(field).is_some()
}

/// Words ahead of the numbers are one label.
fn joined(mut fields: Vec<String>, width: usize) -> Vec<String> {
    let extra = fields.len().saturating_sub(width);
    if extra > 0 && fields[extra + 1..].iter().all(|field| is_number(field)) {
        let label = fields.drain(..=extra).collect::<Vec<_>>().join(" ");
        fields.insert(0, label);
    }
    fields
}

fn commas(line: &str) -> Vec<String> {
    // Numbers of lines ahead of them, as editors show.
    let line = match line.split_once('|') {
        Some((number, rest)) if number.trim().parse::<u32>().is_ok() => rest,
        _ => line,
    };
    if line.contains(", ") || line.contains('=') { Vec::new() } else { csv::fields(line) }
}

fn tabs(line: &str) -> Vec<String> {
    if line.contains('\t') { line.trim_end().split('\t').map(clean).collect() } else { Vec::new() }
}

fn gaps(line: &str) -> Vec<String> {
    let fields = line.trim().split("  ").map(clean).filter(|field| !field.is_empty());
    fields.collect()
}

/// Words, each with the unit or the ± behind it.
fn words(line: &str) -> Vec<String> {
    let mut fields: Vec<String> = Vec::new();
    for word in clean(line).split_whitespace() {
        match fields.last_mut() {
            Some(last) if word.starts_with('±') || is_unit(word) => {
                last.push(' ');
                last.push_str(word);
            }
            _ => fields.push(word.to_owned()),
        }
    }
    fields
}

fn is_unit(word: &str) -> bool {
    word.chars().all(|c| !c.is_ascii_digit()) && !word.starts_with('%') && Unit::of(word).is_some()
}
