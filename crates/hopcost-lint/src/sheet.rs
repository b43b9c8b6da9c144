//! A table whose columns are known: what each holds, its numbers in base units, and from how
//! many operations they are.

use std::collections::{BTreeMap, BTreeSet};

use crate::number::Number;
use crate::read::{Cell, Document, Form, Table};
use crate::role::{self, Heading, OF_STATISTICS, Role};
use crate::tidy;
use crate::unit::{Dimension, Unit};

/// A column of numbers.
#[derive(Debug)]
pub struct Column {
    /// Its heading.
    pub head: String,
    /// What it holds, of what, and in which unit.
    pub is: Heading,
    /// Its cells.
    pub cells: Vec<Cell>,
    /// Its numbers in base units, where a cell holds one.
    pub numbers: Vec<Option<Number>>,
}

/// A table whose columns are known.
#[derive(Debug)]
pub struct Sheet {
    /// The line of text above it.
    pub title: String,
    /// How it was written.
    pub form: Form,
    /// Line of its heading.
    pub line: usize,
    /// Names of its rows.
    pub names: Vec<String>,
    /// Its columns.
    pub columns: Vec<Column>,
}

/// What a user says of a column: its heading, what it holds, and perhaps the unit.
#[derive(Debug, Clone)]
pub struct Said {
    /// The heading.
    pub head: String,
    /// What it holds.
    pub role: Role,
    /// In which unit.
    pub unit: Option<Unit>,
}

impl std::str::FromStr for Said {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let (head, said) = text.rsplit_once('=').ok_or("write NAME=ROLE or NAME=ROLE:UNIT")?;
        let (role, unit) = said.split_once(':').map_or((said, None), |(r, u)| (r, Some(u)));
        let known = |unit| Unit::of(unit).ok_or_else(|| format!("`{unit}` is no unit"));
        Ok(Self { head: head.to_owned(), role: role.parse()?, unit: unit.map(known).transpose()? })
    }
}

/// Columns above which a table is not checked: checks compare each with each.
const COLUMNS_MAX: usize = 200;

/// The tables of a document that hold numbers.
///
/// What is too wide is not among them, and said.
pub fn sheets(document: &Document, said: &[Said]) -> (Vec<Sheet>, Vec<String>) {
    let tables = merged(&document.tables).into_iter().map(|table| {
        let table = tidy::with_units(table);
        let others = [tidy::widened(&table), Some(turned(&table))];
        // Of those whose headings are understood as well, the first.
        let others = others.into_iter().flatten().map(|table| (known(&table.head, said), table));
        let first = (known(&table.head, said), table);
        others.fold(first, |best, other| if other.0 > best.0 { other } else { best }).1
    });
    let (fit, wide): (Vec<Table>, Vec<Table>) =
        tables.partition(|table| table.head.len() <= COLUMNS_MAX);
    let note = |table: &Table| {
        let (line, columns) = (table.head[0].line, table.head.len());
        format!(
            "the table of line {line} has {columns} columns, the limit is {COLUMNS_MAX}: it is not checked"
        )
    };
    let sheets = fit.iter().map(|table| sheet(table, said));
    let is_measured = |s: &Sheet| s.columns.iter().any(|column| column.is.role.is_measured());
    (sheets.filter(is_measured).collect(), wide.iter().map(note).collect())
}

/// How many headings say what their column holds.
fn known(head: &[Cell], said: &[Said]) -> usize {
    let is_known = |cell: &&Cell| {
        said.iter().any(|said| said.head == cell.text)
            || role::heading(&cell.text, None).role != Role::Other
    };
    head.iter().filter(is_known).count()
}

/// Tables with the same headings below each other, and no names in their rows, are one, named by
/// the lines above them.
fn merged(tables: &[Table]) -> Vec<Table> {
    let texts = |cells: &[Cell]| cells.iter().map(|cell| cell.text.clone()).collect::<Vec<_>>();
    let named = |row: &[Cell]| row.iter().any(|cell| Number::parse(&cell.text).is_none());
    let mut times: BTreeMap<Vec<String>, usize> = BTreeMap::new();
    tables.iter().for_each(|table| *times.entry(texts(&table.head)).or_default() += 1);
    let mut all: Vec<Table> = Vec::new();
    for table in tables {
        let mut table = table.clone();
        let alone = times.get(&texts(&table.head)).is_none_or(|times| *times < 2);
        if alone || table.rows.iter().any(|row| named(row)) {
            all.push(table);
            continue;
        }
        let before = all.last().map(|last| texts(&last.head));
        for row in std::iter::once(&mut table.head).chain(&mut table.rows) {
            let line = row.first().map_or(0, |cell| cell.line);
            let text = table.title.trim_end_matches(':').to_owned();
            row.push(Cell { text, line });
        }
        if let Some(cell) = table.head.last_mut() {
            cell.text.clear();
        }
        match all.last_mut() {
            Some(last) if before == Some(texts(&table.head)) => last.rows.append(&mut table.rows),
            _ => all.push(table),
        }
    }
    all
}

/// The table with its columns as rows.
fn turned(table: &Table) -> Table {
    let all: Vec<&Vec<Cell>> = std::iter::once(&table.head).chain(&table.rows).collect();
    let column = |at: usize| all.iter().map(|row| row[at].clone()).collect::<Vec<Cell>>();
    let rows = (1..table.head.len()).map(column).collect();
    Table { head: column(0), rows, ..table.clone() }
}

fn sheet(table: &Table, said: &[Said]) -> Sheet {
    let mut columns: Vec<Column> = Vec::new();
    let mut names: Vec<Vec<&str>> = vec![Vec::new(); table.rows.len()];
    for (at, head) in table.head.iter().enumerate() {
        let cells: Vec<Cell> = table.rows.iter().map(|row| row[at].clone()).collect();
        let unit = cells.iter().find_map(|cell| Number::parse(&cell.text)?.unit);
        let mut is = role::heading(&head.text, unit);
        if let Some(said) = said.iter().find(|said| said.head == head.text) {
            (is.role, is.unit) = (said.role, said.unit.or(is.unit));
            is.subject.clear();
        }
        if table.form == Form::Estimates {
            match is.role {
                Role::Mean | Role::Stdev => is.subject.insert_str(0, OF_STATISTICS),
                Role::Ratio | Role::Count => is.role = Role::Other,
                _ => {}
            }
        }
        let number = |cell: &Cell| Number::parse(&cell.text).map(|n| n.scaled(is.unit));
        let mut numbers: Vec<Option<Number>> = cells.iter().map(number).collect();
        // Beside cells that say their unit, one that says none or another is not understood.
        let of = |number: &Number| number.unit.map(|unit| unit.dimension);
        if let Some(one) = numbers.iter().flatten().find_map(of) {
            numbers
                .iter_mut()
                .for_each(|number| *number = number.take().filter(|n| of(n) == Some(one)));
        }
        let filled = cells.iter().filter(|cell| !cell.text.is_empty()).count();
        let of_numbers = 2 * numbers.iter().flatten().count() >= filled && filled > 0;
        if !of_numbers {
            names.iter_mut().zip(&table.rows).for_each(|(names, row)| names.push(&row[at].text));
        }
        // What is mostly words is a name, whatever its heading says; a counter may be refused.
        if of_numbers || matches!(is.role, Role::Counter(_)) {
            columns.push(Column { head: head.text.clone(), is, cells, numbers });
        }
    }
    one_subject(&mut columns);
    let name = |names: &Vec<&str>| {
        let said = names.iter().filter(|name| !name.is_empty()).copied();
        said.collect::<Vec<_>>().join(", ")
    };
    Sheet {
        title: table.title.clone(),
        form: table.form,
        line: table.head.first().map_or(0, |cell| cell.line),
        names: names.iter().map(name).collect(),
        columns,
    }
}

/// A column that does not say of what it is, is of what all others are, unless one of these is
/// beside it for the same.
fn one_subject(columns: &mut [Column]) {
    let typed = |column: &&mut Column| {
        !matches!(column.is.role, Role::Other | Role::Count | Role::Payload | Role::Flows)
    };
    let said = columns.iter_mut().filter(typed).map(|column| column.is.subject.clone());
    let mut said: BTreeSet<String> = said.collect();
    said.remove("");
    let twice = |column: &Column| {
        columns.iter().any(|other| other.is.role == column.is.role && other.is.subject.is_empty())
    };
    let apart = |column: &Column| column.is.subject.starts_with(OF_STATISTICS) || twice(column);
    let taken = columns.iter().any(|column| !column.is.subject.is_empty() && apart(column));
    if let (1, false, Some(one)) = (said.len(), taken, said.first()) {
        columns.iter_mut().filter(typed).for_each(|column| column.is.subject.clone_from(one));
    }
}

impl Column {
    /// What it measures.
    pub fn dimension(&self) -> Option<Dimension> {
        self.is.unit.map(|unit| unit.dimension)
    }

    /// The number of a row.
    pub fn at(&self, row: usize) -> Option<&Number> {
        self.numbers.get(row).and_then(Option::as_ref)
    }
}

impl Sheet {
    /// The columns that hold this.
    pub fn having(&self, role: impl Fn(Role) -> bool) -> impl Iterator<Item = &Column> {
        self.columns.iter().filter(move |column| role(column.is.role))
    }

    /// The only column that holds this.
    pub fn only(&self, role: impl Fn(Role) -> bool) -> Option<&Column> {
        let mut found = self.having(role);
        let first = found.next();
        if found.next().is_some() { None } else { first }
    }

    /// Rows of the table.
    pub fn rows(&self) -> std::ops::Range<usize> {
        0..self.names.len()
    }

    /// Columns of what was set.
    pub fn set(&self) -> impl Iterator<Item = &Column> {
        self.having(|role| matches!(role, Role::Payload | Role::Flows | Role::Parameter))
    }

    /// What was set for a row; rows of different names with the same are alike.
    pub fn setting(&self, row: usize) -> Vec<&str> {
        self.set().map(|column| column.cells[row].text.as_str()).collect()
    }

    /// The name of a row, with what was set.
    pub fn label(&self, row: usize) -> String {
        let name = Some(self.names[row].clone()).filter(|name| !name.is_empty());
        let set = self.set().map(|column| format!("{} {}", column.head, column.cells[row].text));
        name.into_iter().chain(set).collect::<Vec<_>>().join(", ")
    }
}
