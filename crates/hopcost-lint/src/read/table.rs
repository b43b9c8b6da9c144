//! Tables and text as they stand in a file.

/// How a file is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Comma-separated values, one table.
    Csv,
    /// HTML.
    Html,
    /// Markdown, or text with tables pasted into it.
    Text,
}

/// A cell, and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cell {
    /// Its text, without markup.
    pub text: String,
    /// Line of the file, from 1.
    pub line: usize,
    /// Column of the table, from 1.
    pub column: usize,
}

/// A table as it stands there.
#[derive(Debug, Clone)]
pub struct Table {
    /// The line of text above it.
    pub title: String,
    /// Whether a program wrote it, with all digits that it had.
    pub form: Form,
    /// Headings of its columns.
    pub head: Vec<Cell>,
    /// Rows, each as long as the headings.
    pub rows: Vec<Vec<Cell>>,
}

/// What a file holds.
#[derive(Debug, Default)]
pub struct Document {
    /// Its tables, in order.
    pub tables: Vec<Table>,
    /// Lines that are not of a table, with their number.
    pub lines: Vec<(usize, String)>,
    /// What of it is not read, and why.
    pub notes: Vec<String>,
    /// Cells of its tables.
    cells: usize,
}

/// Cells of all tables of a file above which nothing of it is checked: a few bytes may stand for
/// any number of them.
pub const CELLS_MAX: usize = 200_000;

impl Document {
    /// How many cells more it may have.
    pub fn left(&self) -> usize {
        CELLS_MAX.saturating_sub(self.cells)
    }

    /// Adds a table of fields with their lines, within the limit.
    pub fn add(&mut self, title: &str, form: Form, lines: Vec<(usize, Vec<String>)>) {
        let width = lines.first().map_or(0, |(_, fields)| fields.len());
        let cells = width.saturating_mul(lines.len());
        if cells > self.left() {
            return self.refuse();
        }
        if let Some(table) = Table::of(title, form, lines) {
            self.cells += cells;
            self.tables.push(table);
        }
    }

    /// Takes no more tables, and says so.
    pub fn refuse(&mut self) {
        if self.cells <= CELLS_MAX {
            self.notes.push(format!(
                "its tables have more than {CELLS_MAX} cells, which is the limit: none is checked"
            ));
        }
        self.cells = CELLS_MAX + 1;
    }

    /// Whether its tables have more cells than are checked.
    pub fn is_refused(&self) -> bool {
        self.cells > CELLS_MAX
    }
}

impl Form {
    /// By the ending of the file's name, or else by how the text begins.
    pub fn of(name: &str, text: &str) -> Self {
        let name = name.to_lowercase();
        let begins = text.trim_start().get(..5).unwrap_or_default().to_lowercase();
        match name.rsplit_once('.').map(|(_, ending)| ending) {
            Some("csv") => Self::Csv,
            Some("html" | "htm" | "xhtml") => Self::Html,
            _ if ["<!doc", "<html", "<tabl"].contains(&begins.as_str()) => Self::Html,
            _ => Self::Text,
        }
    }
}

impl Table {
    /// Of fields with their lines. Shorter rows are filled, and longer ones left out: their fields
    /// are of other headings than these.
    pub fn of(title: &str, form: Form, lines: Vec<(usize, Vec<String>)>) -> Option<Self> {
        let width = lines.first()?.1.len();
        let row = |(line, fields): (usize, Vec<String>)| -> Vec<Cell> {
            let filled = fields.into_iter().chain(std::iter::repeat(String::new())).take(width);
            let cell = |(at, text): (usize, String)| Cell { text, line, column: at + 1 };
            filled.enumerate().map(cell).collect()
        };
        let fits = |(_, fields): &(usize, Vec<String>)| fields.len() <= width;
        let mut rows: Vec<Vec<Cell>> = lines.into_iter().filter(fits).map(row).collect();
        let head = rows.remove(0);
        (!rows.is_empty()).then(|| Self { title: title.to_owned(), form, head, rows })
    }
}

/// A text without the markup of Markdown and LaTeX, which stands around numbers and units.
pub fn clean(text: &str) -> String {
    const MARKUP: [(&str, &str); 13] = [
        ("$", ""),
        ("\\mu", "µ"),
        ("\\sim", "~"),
        ("\\times", "×"),
        ("\\approx", "≈"),
        ("\\pm", "±"),
        ("\\%", "%"),
        ("\\_", "_"),
        ("**", ""),
        ("`", ""),
        ("µ s", "µs"),
        ("μ s", "μs"),
        ("± ", "±"),
    ];
    let text = MARKUP.iter().fold(text.to_owned(), |text, (from, to)| text.replace(from, to));
    text.trim().to_owned()
}
