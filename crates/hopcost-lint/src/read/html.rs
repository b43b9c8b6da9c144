//! Tables of a page: its tags are looked at one by one, and what is not of a table is text.

use super::table::{Document, Form, clean};

/// A cell, and over how many columns and rows it goes.
#[derive(Clone, Default)]
struct Wide {
    text: String,
    columns: usize,
    rows: usize,
}

/// A table that is being read.
#[derive(Default)]
struct Open {
    title: String,
    rows: Vec<(usize, Vec<Wide>)>,
    /// Whether text belongs to a cell.
    in_cell: bool,
}

/// Every table of a page.
pub fn read(text: &str) -> Document {
    let mut document = Document::default();
    let mut tables: Vec<Open> = Vec::new();
    let mut hidden: Option<&str> = None;
    let (mut rest, mut line, mut words) = (text, 1, String::new());
    while !rest.is_empty() {
        let end = rest.find('<').unwrap_or(rest.len());
        let shown = if hidden.is_none() { decoded(&rest[..end]) } else { String::new() };
        match tables.last_mut().and_then(|table| Some((table.in_cell, table.rows.last_mut()?))) {
            Some((true, (_, cells))) => cells.last_mut().into_iter().for_each(|c| c.text += &shown),
            _ => words += &shown,
        }
        line += rest[..end].matches('\n').count();
        rest = &rest[end..];
        let Some(end) = rest.find('>') else { break };
        let (tag, after) = (&rest[1..end.max(1)], &rest[end + 1..]);
        let name = tag.split(|c: char| c.is_whitespace()).next().unwrap_or_default();
        let name = name.trim_end_matches('/').to_lowercase();
        match (hidden, name.as_str()) {
            (Some(until), name) if name.strip_prefix('/') == Some(until) => hidden = None,
            (Some(_), _) => {}
            (None, "script") => hidden = Some("script"),
            (None, "style") => hidden = Some("style"),
            (None, name) => {
                let said = match element(name, tag, line, &mut tables, &mut document) {
                    Breaks::Line => std::mem::take(&mut words),
                    Breaks::Nothing => String::new(),
                };
                let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
                if !said.is_empty() {
                    document.lines.push((line, clean(&said)));
                }
            }
        }
        line += rest[..=end].matches('\n').count();
        rest = after;
    }
    document
}

/// What an element does to the text around it.
enum Breaks {
    Line,
    Nothing,
}

fn element(
    name: &str,
    tag: &str,
    line: usize,
    tables: &mut Vec<Open>,
    document: &mut Document,
) -> Breaks {
    match (name, tables.last_mut()) {
        ("table", _) => {
            let title = document.lines.last().map(|(_, text)| text.clone());
            tables.push(Open { title: title.unwrap_or_default(), ..Open::default() });
        }
        ("/table", Some(_)) => {
            let Some(table) = tables.pop() else { return Breaks::Line };
            match filled(table.rows, document.left()) {
                Some(rows) => document.add(&table.title, Form::Html, rows),
                None => document.refuse(),
            }
        }
        ("tr", Some(table)) => table.rows.push((line, Vec::new())),
        ("td" | "th", Some(table)) => {
            if table.rows.is_empty() {
                table.rows.push((line, Vec::new()));
            }
            table.in_cell = true;
            let cell = Wide {
                columns: span(tag, "colspan"),
                rows: span(tag, "rowspan"),
                ..Wide::default()
            };
            table.rows.last_mut().into_iter().for_each(|(_, row)| row.push(cell.clone()));
        }
        ("/td" | "/th" | "/tr", Some(table)) => table.in_cell = false,
        ("p" | "/p" | "br" | "div" | "/div" | "li" | "/li" | "caption" | "/caption", None)
        | ("h1" | "/h1" | "h2" | "/h2" | "h3" | "/h3" | "h4" | "/h4" | "/body", None)
        | ("/caption", Some(_)) => {}
        _ => return Breaks::Nothing,
    }
    Breaks::Line
}

/// Columns or rows that a cell goes over.
fn span(tag: &str, attribute: &str) -> usize {
    const MOST: usize = 100;
    let value = tag.to_lowercase().split_once(attribute).map(|(_, value)| {
        let digits = value.trim_start_matches(['=', '"', '\'', ' ']);
        digits.split(|c: char| !c.is_ascii_digit()).next().unwrap_or_default().parse::<usize>()
    });
    value.and_then(Result::ok).unwrap_or(1).clamp(1, MOST)
}

/// Bytes of a text for which it counts as one more cell.
const CELL_BYTES: usize = 256;

/// Rows with a text in each place that a cell goes over; nothing where these are more than `left`.
fn filled(rows: Vec<(usize, Vec<Wide>)>, mut left: usize) -> Option<Vec<(usize, Vec<String>)>> {
    let mut take = |text: &str, places: usize| {
        left = left.checked_sub((1 + text.len() / CELL_BYTES) * places)?;
        Some(())
    };
    let mut above: Vec<Wide> = Vec::new();
    let mut all = Vec::new();
    for (line, cells) in rows.into_iter().filter(|(_, cells)| !cells.is_empty()) {
        let mut row: Vec<Wide> = Vec::new();
        let mut cells = cells.into_iter();
        loop {
            if let Some(from) = above.get(row.len()).filter(|cell| cell.rows > 1) {
                take(&from.text, 1)?;
                row.push(Wide { rows: from.rows - 1, ..from.clone() });
            } else if let Some(cell) = cells.next() {
                let text = clean(&cell.text.split_whitespace().collect::<Vec<_>>().join(" "));
                take(&text, cell.columns)?;
                row.extend(vec![Wide { text, ..cell.clone() }; cell.columns]);
            } else {
                break;
            }
        }
        all.push((line, row.iter().map(|cell| cell.text.clone()).collect()));
        above = row;
    }
    Some(all)
}

/// A text with the references to characters that tables have.
fn decoded(text: &str) -> String {
    const NAMED: [(&str, &str); 11] = [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&nbsp;", " "),
        ("&#160;", " "),
        ("&micro;", "µ"),
        ("&mu;", "µ"),
        ("&times;", "×"),
        ("&plusmn;", "±"),
        ("&ndash;", "–"),
        ("&quot;", "\""),
        ("&amp;", "&"),
    ];
    NAMED.iter().fold(text.to_owned(), |text, (from, to)| text.replace(from, to))
}
