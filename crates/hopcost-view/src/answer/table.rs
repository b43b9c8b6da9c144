//! What is shown, in every format, and the answer behind it: its sentences, and its tables as JSON and CSV.

use std::collections::HashMap;

use hopcost_model::{Field, SCHEMA};
use serde_json::{Value, json};

use crate::chart::model::Chart;
use crate::csv::push_row;
use crate::rows::{Leaf, leaves, text, value};
use crate::section::{Document, Medium};
use crate::style::TextStyle;

/// What answers a question: a run, a comparison, advice, or what doctor found.
pub trait Content {
    /// What the name of its page ends with.
    fn name(&self) -> String;

    /// Its sentences and its tables, for programs.
    fn answer(&self) -> Answer;

    /// The same for people; `whole` where there is room for all of it.
    fn document(&self, medium: Medium, whole: bool) -> Document;

    /// Its conclusions as lines to paste.
    fn sentences(&self) -> String {
        self.answer().conclusion() + "\n"
    }

    /// Its plots; their files have the names of their ids.
    fn plots(&self) -> Vec<Chart> {
        Vec::new()
    }

    /// It on a terminal: in brief, or with all details.
    fn text(&self, whole: bool, style: &TextStyle) -> String {
        self.document(Medium::Document, whole).text(style)
    }

    /// It as Markdown.
    fn markdown(&self) -> String {
        self.document(Medium::Document, true).markdown()
    }

    /// It as a page.
    fn html(&self) -> String {
        self.document(Medium::Page, true).html()
    }
}

/// What is answered to a question.
#[derive(Debug, Clone)]
pub struct Answer {
    /// The table that CSV has where none is named.
    main: &'static str,
    /// The conclusion in words.
    pub(super) says: Vec<String>,
    pub(super) tables: Vec<Table>,
}

/// Rows under columns.
#[derive(Debug, Clone)]
pub(super) struct Table {
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    pub(super) columns: Vec<Column>,
    /// The parts of each row.
    rows: Vec<Vec<Value>>,
}

impl Table {
    /// The value of a row in each column.
    fn cells<'t>(&'t self, row: &'t [Value]) -> impl Iterator<Item = &'t Value> {
        self.columns.iter().map(|column| {
            let own = row.get(column.part).and_then(|part| column.leaf.of(part));
            own.unwrap_or(&Value::Null)
        })
    }
}

#[derive(Debug, Clone)]
pub(super) struct Column {
    /// The keys of its path, joined; the `point` of an estimate has the name of the estimate.
    pub(super) name: String,
    pub(super) help: &'static str,
    /// Which of the parts of a row has it, and where.
    part: usize,
    leaf: Leaf,
}

impl Answer {
    /// An answer in words, without a table yet; `main` is the table that CSV has.
    pub fn new(main: &'static str, says: Vec<String>) -> Self {
        Answer { main, says, tables: Vec::new() }
    }

    /// Adds a table whose rows have these parts, each with the fields of its kind.
    pub(super) fn add(
        &mut self,
        name: &'static str,
        about: &'static str,
        kinds: &[&[Field]],
        rows: impl IntoIterator<Item = Vec<Value>>,
    ) {
        let column = |(part, leaf): (usize, Leaf)| {
            let named = leaf.path.iter().filter(|key| **key != "point").copied();
            let named = named.collect::<Vec<_>>().join("_");
            let name = if named.is_empty() { "point".to_owned() } else { named };
            Column { name, help: leaf.field.help.trim(), part, leaf }
        };
        let all = kinds.iter().enumerate();
        let leaves = all.flat_map(|(part, fields)| {
            leaves(fields, &[]).into_iter().map(move |leaf| (part, leaf))
        });
        let (columns, rows) = (leaves.map(column).collect(), rows.into_iter().collect());
        self.tables.push(Table { name, about, columns, rows });
    }

    /// Adds a table with a row for each of these.
    pub fn list<'a, T: hopcost_model::Document + 'a>(
        &mut self,
        name: &'static str,
        rows: impl IntoIterator<Item = &'a T>,
    ) {
        self.add(name, T::ABOUT, &[T::FIELDS], rows.into_iter().map(|row| vec![value(row)]));
    }

    /// Its first sentence.
    pub fn conclusion(&self) -> String {
        self.says.first().cloned().unwrap_or_default()
    }

    /// Whether it has such a table.
    pub fn has(&self, name: &str) -> bool {
        self.table(name).is_some()
    }

    pub(super) fn table(&self, name: &str) -> Option<&Table> {
        self.tables.iter().find(|table| table.name == name)
    }

    /// All of it as one JSON document with a line feed at its end: `schema`, `says`, and each table
    /// as an array of objects. What is not known and what is not finite is `null`.
    pub fn json(&self) -> String {
        let mut out = format!("{{\n\"schema\": {},\n\"says\": {}", json!(SCHEMA), json!(self.says));
        for table in &self.tables {
            let member = |(column, value): (&Column, &Value)| format!("{:?}: {value}", column.name);
            let object = |row: &Vec<Value>| {
                let cells = table.columns.iter().zip(table.cells(row));
                let members: Vec<String> = cells.map(member).collect();
                format!("\n  {{{}}}", members.join(", "))
            };
            let rows: Vec<String> = table.rows.iter().map(object).collect();
            out.push_str(&format!(",\n\"{}\": [{}]", table.name, rows.join(",")));
        }
        out + "\n}\n"
    }

    /// A table as CSV with a header, the main one where none is named. Rows that belong to a case
    /// have the columns of `cases` too that they do not have themselves.
    ///
    /// # Errors
    /// There is no such table.
    pub fn csv(&self, name: Option<&str>) -> Result<String, String> {
        let name = name.unwrap_or(self.main);
        let table = self.table(name).ok_or_else(|| {
            let known: Vec<&str> = self.tables.iter().map(|table| table.name).collect();
            format!("no table {name} in this answer; it has {}", known.join(", "))
        })?;
        let is_own = |name: &str| table.columns.iter().any(|column| column.name == name);
        let cases = self.table("cases").filter(|_| is_own("case"));
        let others = cases.map_or(&[][..], |cases| &cases.columns).iter().enumerate();
        let others: Vec<(usize, &Column)> =
            others.filter(|(_, column)| !is_own(&column.name)).collect();
        let at = table.columns.iter().position(|column| column.name == "case");
        let by_case: HashMap<&Value, Vec<&Value>> = cases
            .iter()
            .flat_map(|cases| cases.rows.iter().rev().map(|row| cases.cells(row).collect()))
            .map(|cells: Vec<&Value>| (cells[0], cells))
            .collect();
        let mut out = String::new();
        let names = table.columns.iter().chain(others.iter().map(|(_, column)| *column));
        push_row(&mut out, names.map(|column| column.name.clone()));
        for row in &table.rows {
            let cells: Vec<&Value> = table.cells(row).collect();
            let of = at.and_then(|at| by_case.get(cells[at]));
            let of_case = others.iter().map(|(at, _)| of.map_or(&Value::Null, |of| of[*at]));
            push_row(&mut out, cells.into_iter().chain(of_case).map(text));
        }
        Ok(out)
    }
}
