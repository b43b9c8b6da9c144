//! What is wrong with a table, and the cells that show it.

use hopcost_model::text::escaped;
use serde::Serialize;

use crate::sheet::{Column, Sheet};

/// A cell that shows what is wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Cited {
    /// Name of its row; nothing where it is a sentence.
    pub row: String,
    /// Heading of its column; nothing where it is a sentence.
    pub column: String,
    /// Line of the file, from 1.
    pub line: usize,
    /// What stands there.
    pub text: String,
}

/// What is wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// Name of the check.
    pub check: &'static str,
    /// The cells that show it, the first where one looks for it.
    pub cells: Vec<Cited>,
    /// The arithmetic.
    pub arithmetic: String,
    /// What would explain it.
    pub explanation: &'static str,
}

/// Cells that are told of a finding that has many.
const CITED_MAX: usize = 4;

/// Characters of a name or a sentence that are told.
const CHARS_MAX: usize = 120;
/// Characters of the arithmetic that are told: it may hold several of these.
const ARITHMETIC_CHARS_MAX: usize = 600;

/// The beginning of a text, harmless in a terminal.
fn told(text: &str, chars_max: usize) -> String {
    let mut told = escaped(&text.chars().take(chars_max).collect::<String>());
    if text.chars().nth(chars_max).is_some() {
        told.push('…');
    }
    told
}

impl Cited {
    /// A cell of a table.
    pub fn cell(sheet: &Sheet, column: &Column, row: usize) -> Self {
        let cell = &column.cells[row];
        Self {
            row: told(&sheet.label(row), CHARS_MAX),
            column: told(&column.head, CHARS_MAX),
            line: cell.line,
            text: told(&cell.text, CHARS_MAX),
        }
    }

    /// A sentence.
    pub fn sentence(line: usize, text: &str) -> Self {
        Self { row: String::new(), column: String::new(), line, text: told(text, CHARS_MAX) }
    }
}

impl Finding {
    /// With arithmetic that is harmless in a terminal, since it quotes cells and headings as they stand there.
    pub fn harmless(self) -> Self {
        Self { arithmetic: told(&self.arithmetic, ARITHMETIC_CHARS_MAX), ..self }
    }

    /// Where one looks for it.
    pub fn line(&self) -> usize {
        self.cells.first().map_or(0, |cell| cell.line)
    }

    /// The cells in a line: the row is named once.
    pub fn cited(&self) -> String {
        let mut row = "";
        let one = |cell: &Cited| {
            let name = if cell.row == row { "" } else { &cell.row };
            row = self.cells.iter().find(|c| c.row == cell.row).map_or("", |c| &c.row);
            let parts = [name, &cell.column, &cell.text];
            parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(": ")
        };
        let told: Vec<String> = self.cells.iter().take(CITED_MAX).map(one).collect();
        let more = self.cells.len().saturating_sub(CITED_MAX);
        let more = if more > 0 { format!("; and {more} more") } else { String::new() };
        told.join("; ") + &more
    }
}

/// A quotient with at most four significant digits.
pub fn rounded(value: f64) -> String {
    shown(format!("{value:.3e}").parse().unwrap_or(value))
}

/// A number with at most six significant digits.
pub fn shown(value: f64) -> String {
    let whole = format!("{:.0}", value.abs()).len() as i32;
    let small = (0..12).take_while(|zeros| value.abs() * 10f64.powi(*zeros) < 1.0).count() as i32;
    let decimals = if value.abs() < 1.0 { 4 + small } else { 6 - whole };
    let text = format!("{value:.*}", decimals.clamp(0, 12) as usize);
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn six_digits_at_most() {
        for (value, text) in [
            (43.0262, "43.0262"),
            (22.0, "22"),
            (0.000_43, "0.00043"),
            (1_234_567.8, "1234568"),
            (0.0, "0"),
            (115.064_5, "115.064"),
        ] {
            assert_eq!(super::shown(value), text);
        }
    }
}
