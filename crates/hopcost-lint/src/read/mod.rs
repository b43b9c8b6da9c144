//! A file to its tables and the text around them.

mod csv;
mod html;
mod pasted;
mod records;
mod table;

pub use records::SUMMARY;
pub use table::{CELLS_MAX, Cell, Document, Form, Named, Table};

/// Reads a file.
pub fn read(text: &str, form: Form) -> Document {
    let mut document = match form {
        Form::Csv | Form::Estimates | Form::Tool => csv::read(text),
        Form::Html => html::read(text),
        Form::Text => pasted::read(text),
    };
    if document.is_refused() {
        document.tables.clear();
    }
    document
}
