#![forbid(unsafe_code)]
//! Published tables checked by arithmetic alone: a file's text in, what is wrong with its numbers
//! out. Nothing is measured, and nothing outside of the text is asked.

mod check;
mod finding;
mod number;
mod prose;
mod read;
mod report;
mod role;
mod sheet;
mod show;
mod tidy;
mod unit;

pub use check::{CHECKS, Check};
pub use finding::{Cited, Finding};
pub use report::{ColumnRead, Report, TableRead};
pub use role::roles;
pub use sheet::Said;
pub use show::{json, markdown, text};

use hopcost_model::text::escaped;

/// Checks a file.
pub fn lint(file: &str, text: &str, said: &[Said]) -> Report {
    let document = read::read(text, read::Form::of(file, text));
    let (sheets, wide) = sheet::sheets(&document, said);
    let prose = prose::Prose::of(&document.lines);
    let notes = [document.notes, wide, check::notes(&sheets, &prose)].concat();
    let column = |column: &sheet::Column| ColumnRead {
        name: escaped(&column.head),
        role: column.is.role.word(),
    };
    let table = |sheet: &sheet::Sheet| TableRead {
        line: sheet.line,
        rows: sheet.names.len(),
        columns: sheet.columns.iter().map(column).collect(),
    };
    Report {
        file: escaped(file),
        tables: sheets.iter().map(table).collect(),
        findings: check::all(&sheets, &prose),
        notes,
    }
}
