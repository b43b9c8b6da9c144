//! Comma-separated values (RFC 4180); lines that begin with `#` say something about them.

use super::table::{Document, Form, Table, clean};

/// The one table of a file.
pub fn read(text: &str) -> Document {
    let mut document = Document::default();
    let mut records: Vec<(usize, Vec<String>)> = Vec::new();
    let (mut open, mut from) = (String::new(), 0);
    for (at, line) in text.lines().enumerate() {
        if open.is_empty() && (line.trim().is_empty() || line.starts_with('#')) {
            document.lines.push((at + 1, clean(line.trim_start_matches('#'))));
            continue;
        }
        if open.is_empty() {
            from = at + 1;
        } else {
            open.push(' ');
        }
        open.push_str(line);
        // A field between quotation marks may hold ends of lines.
        if open.matches('"').count().is_multiple_of(2) {
            records.push((from, fields(&open)));
            open.clear();
        }
    }
    document.tables.extend(Table::of("", Form::Csv, records));
    document
}

/// The fields of a record.
pub fn fields(record: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut quoted = false;
    let mut chars = record.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '"' if quoted && chars.peek() == Some(&'"') => {
                chars.next();
                fields.last_mut().expect("there is one").push('"');
            }
            '"' => quoted = !quoted,
            ',' if !quoted => fields.push(String::new()),
            c => fields.last_mut().expect("there is one").push(c),
        }
    }
    fields.iter().map(|field| clean(field)).collect()
}
