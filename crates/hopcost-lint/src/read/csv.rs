//! Comma-separated values (RFC 4180); lines that begin with `#` say something about them.

use hopcost_model::text::csv_fields;

use super::table::{Document, Form, clean};

/// The one table of a file.
pub fn read(text: &str) -> Document {
    let mut document = Document::default();
    let mut records: Vec<(usize, Vec<String>)> = Vec::new();
    let (mut open, mut from) = (String::new(), 0);
    let mut quoted = false;
    for (at, line) in text.lines().enumerate() {
        if !quoted && (line.trim().is_empty() || line.starts_with('#')) {
            document.lines.push((at + 1, clean(line.trim_start_matches('#'))));
            continue;
        }
        if !quoted {
            from = at + 1;
        } else {
            open.push(' ');
        }
        open.push_str(line);
        // A field between quotation marks may hold ends of lines.
        quoted ^= !line.matches('"').count().is_multiple_of(2);
        if !quoted {
            records.push((from, fields(&open)));
            open.clear();
        }
    }
    if quoted {
        document.notes.push(format!(
            "a quotation mark in line {from} is never closed: nothing from that line on is read"
        ));
    }
    document.add("", Form::Csv, records);
    document
}

/// The fields of a record.
pub fn fields(record: &str) -> Vec<String> {
    csv_fields(record).iter().map(|field| clean(field)).collect()
}
