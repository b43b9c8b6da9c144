//! Tables and text as they stand in a file.

use std::collections::{BTreeMap, BTreeSet};

use hopcost_model::text::csv_fields;

/// How a file is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Comma-separated values, or another output of a program.
    Csv,
    /// The same, each number with an interval of its own: no statistics of the same samples.
    Estimates,
    /// The lines that a tool prints of each distribution, which percentiles it tells included.
    Tool,
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

/// A row: cells that tell it from others, and numbers with their headings.
pub type Named = (Vec<Cell>, Vec<(String, Cell)>);

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
pub const CELLS_MAX: usize = 400_000;

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
            self.put(table);
        }
    }

    /// Adds a table that is within the limit.
    pub fn put(&mut self, table: Table) {
        self.cells += table.head.len() * (1 + table.rows.len());
        self.tables.push(table);
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
            None if is_csv(text) => Self::Csv,
            _ => Self::Text,
        }
    }
}

/// Whether the first lines of a text have as many fields each, three or more.
fn is_csv(text: &str) -> bool {
    let lines = text.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#'));
    let fields: Vec<usize> = lines.take(3).map(|line| csv_fields(line).len()).collect();
    fields.len() > 1 && fields.iter().all(|n| *n >= 3 && *n == fields[0])
}

impl Table {
    /// Of fields with their lines. Shorter rows are filled, and longer ones left out: their fields
    /// are of other headings than these.
    pub fn of(title: &str, form: Form, lines: Vec<(usize, Vec<String>)>) -> Option<Self> {
        let width = lines.first()?.1.len();
        let row = |(line, fields): (usize, Vec<String>)| -> Vec<Cell> {
            let filled = fields.into_iter().chain(std::iter::repeat(String::new())).take(width);
            filled.map(|text| Cell { text, line }).collect()
        };
        let fits = |(_, fields): &(usize, Vec<String>)| fields.len() <= width;
        let mut rows: Vec<Vec<Cell>> = lines.into_iter().filter(fits).map(row).collect();
        let head = rows.remove(0);
        (!rows.is_empty()).then(|| Self { title: title.to_owned(), form, head, rows })
    }

    /// Of rows that begin with `keys` and have numbers with their headings, of `left` cells at most.
    /// Nothing where a row has two of one heading.
    pub fn of_named(keys: Vec<Cell>, form: Form, rows: Vec<Named>, left: usize) -> Option<Self> {
        let line = keys.first().or(rows.first()?.1.first().map(|(_, cell)| cell))?.line;
        let none = |line| Cell { text: String::new(), line };
        let mut head = keys;
        let mut places: BTreeMap<String, usize> = BTreeMap::new();
        for (text, _) in rows.iter().flat_map(|(_, numbers)| numbers) {
            places.entry(text.clone()).or_insert_with(|| {
                head.push(Cell { text: text.clone(), line });
                head.len() - 1
            });
        }
        (head.len().saturating_mul(rows.len()) <= left).then_some(())?;
        let row = |(mut cells, numbers): Named| -> Option<Vec<Cell>> {
            let mut taken = BTreeSet::new();
            let line = numbers.first().map_or(line, |(_, cell)| cell.line);
            cells.resize(head.len(), none(line));
            for (text, cell) in numbers {
                let place = *places.get(&text)?;
                taken.insert(place).then(|| cells[place] = cell)?;
            }
            Some(cells)
        };
        let rows = rows.into_iter().map(row).collect::<Option<_>>()?;
        Some(Self { title: String::new(), form, head, rows })
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
