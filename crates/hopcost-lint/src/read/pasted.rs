//! Text with tables in it: Markdown's, comma-separated values, columns by tabs or by alignment,
//! and lines of `name=value`.

use super::csv;
use super::table::{Document, Form, clean};
use crate::number::Number;
use crate::unit::Unit;

/// Rows without which lines with commas are prose.
const CSV_LINES_MIN: usize = 3;
/// Names with a number in one line without which it is prose.
const PAIRS_MIN: usize = 3;

/// How the lines of a table are divided.
type Divide = fn(&str) -> Vec<String>;

/// Every table of a text.
pub fn read(text: &str) -> Document {
    let lines: Vec<&str> = text.lines().collect();
    let mut document = Document::default();
    // The last line of text above.
    let mut title = String::new();
    let mut at = 0;
    while at < lines.len() {
        let found = markdown(&lines[at..]).or_else(|| block(&lines[at..]));
        if let Some((taken, rows)) = found {
            let rows = rows.into_iter().map(|(line, fields)| (at + line + 1, fields)).collect();
            document.add(&title, Form::Text, rows);
            at += taken;
            continue;
        }
        let cleaned = clean(lines[at]);
        if let Some((head, values)) = pairs(&cleaned) {
            let rows = vec![(at + 1, head), (at + 1, values)];
            document.add(&title, Form::Csv, rows);
        }
        if !cleaned.is_empty() {
            title.clone_from(&cleaned);
        }
        document.lines.push((at + 1, cleaned));
        at += 1;
    }
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

/// `clat (usec): min=41, max=30964, avg=75.25` as headings and one row of values. What stands
/// ahead of the first name gives the unit.
fn pairs(line: &str) -> Option<(Vec<String>, Vec<String>)> {
    let (ahead, list) = line.split_once("): ").unwrap_or(("", line));
    let unit = ahead.rsplit_once('(').map_or("", |(_, unit)| unit.trim());
    let unit = Unit::of(unit).map_or(String::new(), |_| format!(" ({unit})"));
    let one = |part: &str| {
        let (name, value) = part.split_once(['=', ':'])?;
        let is_name = !name.trim().is_empty() && name.split_whitespace().count() <= 2;
        (is_name && is_number(value)).then(|| (format!("{}{unit}", name.trim()), clean(value)))
    };
    let found: Vec<_> = list.split([',', ';']).filter_map(one).collect();
    (found.len() >= PAIRS_MIN).then(|| found.into_iter().unzip())
}
