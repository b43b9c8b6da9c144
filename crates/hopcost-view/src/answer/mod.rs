//! The answer to a question for programs: sentences, and tables of typed columns. JSON has all of
//! them, CSV one. A column is a field of `hopcost_model`, and its help is the field's comment.

mod questions;
mod rows;

use std::collections::HashMap;

use hopcost_model::{Document, Field, SCHEMA};
use serde_json::{Value, json};

use crate::csv::push_row;
use rows::{parts, value};

/// What is answered to a question.
#[derive(Debug, Clone)]
pub struct Answer {
    /// The table that CSV has where none is named.
    main: &'static str,
    /// The conclusion in words.
    says: Vec<String>,
    tables: Vec<Table>,
}

/// Rows under columns.
#[derive(Debug, Clone)]
struct Table {
    name: &'static str,
    about: &'static str,
    columns: Vec<Column>,
    /// A value for each column.
    rows: Vec<Vec<Value>>,
}

#[derive(Debug, Clone)]
struct Column {
    /// The keys of its path, joined; the `point` of an estimate has the name of the estimate.
    name: String,
    help: &'static str,
    /// Which of the parts of a row has it, and where.
    part: usize,
    path: Vec<&'static str>,
}

/// There is no such table.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no table {name} in this answer; it has {}", .known.join(", "))]
pub struct NoTable {
    name: String,
    known: Vec<&'static str>,
}

impl Answer {
    fn new(main: &'static str, says: Vec<String>) -> Self {
        Answer { main, says, tables: Vec::new() }
    }

    /// Adds a table whose rows have these parts, each with the fields of its kind.
    fn add(
        &mut self,
        name: &'static str,
        about: &'static str,
        kinds: &[&[Field]],
        rows: impl IntoIterator<Item = Vec<Value>>,
    ) {
        let mut columns = Vec::new();
        for (part, fields) in kinds.iter().enumerate() {
            add_columns(&mut columns, part, fields, &[]);
        }
        let cell = |parts: &[Value], column: &Column| {
            let of = parts.get(column.part);
            column.path.iter().fold(of, |of, key| of?.get(key)).cloned().unwrap_or_default()
        };
        let row = |parts: Vec<Value>| columns.iter().map(|column| cell(&parts, column)).collect();
        let rows = rows.into_iter().map(row).collect();
        self.tables.push(Table { name, about, columns, rows });
    }

    /// Adds a table with a row for each of these.
    fn list<'a, T: Document + 'a>(
        &mut self,
        name: &'static str,
        rows: impl IntoIterator<Item = &'a T>,
    ) {
        self.add(name, T::ABOUT, &[T::FIELDS], rows.into_iter().map(|row| vec![value(row)]));
    }

    /// Adds a table with a row for each of these, behind what it belongs to.
    fn keyed<'a, T: Document + 'a>(
        &mut self,
        name: &'static str,
        key: &[Field],
        rows: impl IntoIterator<Item = (Value, &'a T)>,
    ) {
        let rows = rows.into_iter().map(|(key, row)| vec![key, value(row)]);
        self.add(name, T::ABOUT, &[key, T::FIELDS], rows);
    }

    fn table(&self, name: &str) -> Option<&Table> {
        self.tables.iter().find(|table| table.name == name)
    }

    /// All of it as one JSON document with a line feed at its end: `schema`, `says`, and each table
    /// as an array of objects. What is not known and what is not finite is `null`.
    pub fn json(&self) -> String {
        let mut out = format!("{{\n\"schema\": {},\n\"says\": {}", json!(SCHEMA), json!(self.says));
        for table in &self.tables {
            let member = |(column, value): (&Column, &Value)| format!("{:?}: {value}", column.name);
            let object = |row: &Vec<Value>| {
                let members: Vec<String> = table.columns.iter().zip(row).map(member).collect();
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
    pub fn csv(&self, name: Option<&str>) -> Result<String, NoTable> {
        let name = name.unwrap_or(self.main);
        let table = self.table(name).ok_or_else(|| NoTable {
            name: name.to_owned(),
            known: self.tables.iter().map(|table| table.name).collect(),
        })?;
        let is_own = |name: &str| table.columns.iter().any(|column| column.name == name);
        let cases = self.table("cases").filter(|_| is_own("case"));
        let others = cases.map_or(&[][..], |cases| &cases.columns).iter().enumerate();
        let others: Vec<(usize, &Column)> =
            others.filter(|(_, column)| !is_own(&column.name)).collect();
        let at = table.columns.iter().position(|column| column.name == "case");
        let by_case: HashMap<&Value, &Vec<Value>> = cases
            .iter()
            .flat_map(|cases| cases.rows.iter().rev())
            .map(|row| (&row[0], row))
            .collect();
        let mut out = String::new();
        let names = table.columns.iter().chain(others.iter().map(|(_, column)| *column));
        push_row(&mut out, names.map(|column| column.name.clone()));
        for row in &table.rows {
            let of = at.and_then(|at| by_case.get(&row[at]));
            let of_case = others.iter().map(|(at, _)| of.map_or(&Value::Null, |of| &of[*at]));
            push_row(&mut out, row.iter().chain(of_case).map(text));
        }
        Ok(out)
    }
}

/// Whether any answer has such a table.
pub fn is_table(name: &str) -> bool {
    questions::all().iter().any(|answer| answer.table(name).is_some())
}

/// Every table with its columns, as Markdown.
pub fn reference() -> String {
    let mut out = String::new();
    let mut known: Vec<&str> = Vec::new();
    for answer in questions::all() {
        for table in answer.tables.iter().filter(|table| !known.contains(&table.name)) {
            let Table { name, about, columns, .. } = table;
            let about = about.trim();
            out.push_str(&format!("\n## {name}\n\n{about}\n\n| column | what it holds |\n"));
            out.push_str("| --- | --- |\n");
            for Column { name, help, .. } in columns {
                out.push_str(&format!("| `{name}` | {} |\n", help.replace('|', "\\|")));
            }
        }
        known.extend(answer.tables.iter().map(|table| table.name));
    }
    out
}

/// The columns of fields, and of the fields of which these are made.
fn add_columns(columns: &mut Vec<Column>, part: usize, fields: &[Field], to: &[&'static str]) {
    for field in fields {
        let path = [to, &[field.key]].concat();
        match parts(field.kind) {
            Some(fields) => add_columns(columns, part, &fields, &path),
            None => {
                let named = path.iter().filter(|key| **key != "point").copied();
                let named = named.collect::<Vec<_>>().join("_");
                let name = if named.is_empty() { "point".to_owned() } else { named };
                columns.push(Column { name, help: field.help.trim(), part, path });
            }
        }
    }
}

/// A value as a field of CSV: what is several is joined by `;`.
pub(crate) fn text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Number(number) => match number.as_f64().filter(|_| number.is_f64()) {
            Some(float) => float.to_string(),
            None => number.to_string(),
        },
        Value::Bool(is) => is.to_string(),
        Value::Array(all) => all.iter().map(text).collect::<Vec<_>>().join(";"),
        Value::Object(all) => {
            let pairs = all.iter().map(|(key, value)| format!("{key}={}", text(value)));
            pairs.collect::<Vec<_>>().join(";")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stored::{RUNS, judged, results, worn};

    /// Each answer that a stored run gives.
    fn stored() -> impl Iterator<Item = Answer> {
        let runs = RUNS.iter().map(|run| results(run)).chain([worn(), judged()]);
        runs.map(|results| Answer::of_run(&results))
    }

    #[test]
    fn every_column_has_a_name_of_its_own_and_help() {
        for table in questions::all().iter().flat_map(|answer| &answer.tables) {
            assert!(!table.about.is_empty() && !table.columns.is_empty(), "{}", table.name);
            for (at, column) in table.columns.iter().enumerate() {
                let is_new = table.columns[..at].iter().all(|other| other.name != column.name);
                assert!(is_new && !column.help.is_empty(), "{} {}", table.name, column.name);
            }
        }
    }

    #[test]
    fn every_key_that_is_written_is_documented_and_every_documented_key_is_written() {
        let reference = reference();
        for answer in stored().chain(questions::all()) {
            let document: Value = serde_json::from_str(&answer.json()).expect("JSON");
            let Value::Object(document) = document else { panic!("{document}") };
            assert_eq!(document.len(), 2 + answer.tables.len(), "each table once");
            for (name, rows) in document.iter().filter(|(_, rows)| rows[0].is_object()) {
                let (_, section) = reference.split_once(&format!("\n## {name}\n")).expect(name);
                let section = section.split("\n## ").next().expect("a section");
                let mut keys: Vec<&str> = section
                    .lines()
                    .filter_map(|line| line.strip_prefix("| `")?.split('`').next())
                    .collect();
                keys.sort_unstable();
                for row in rows.as_array().expect("rows") {
                    let row = row.as_object().expect("a row");
                    assert_eq!(row.keys().collect::<Vec<_>>(), keys, "{name}");
                    let is_plain = |value: &Value| !value.is_array() || !value[0].is_object();
                    assert!(row.values().all(is_plain), "{name}: {row:?}");
                }
            }
        }
    }

    #[test]
    fn a_field_is_part_of_a_row_or_a_table_of_its_own_and_never_lost() {
        for answer in questions::all() {
            for column in answer.tables.iter().flat_map(|table| &table.columns) {
                assert!(!column.name.contains("row"), "an index of ours: {}", column.name);
            }
        }
        // A kind that nobody knows stays a column, as the test above would notice.
        assert!(parts("Option<f64>").is_none() && parts("Vec<String>").is_none());
        assert_eq!(parts("Vec<Finding>").map(|fields| fields.len()), Some(0));
    }

    #[test]
    fn a_table_of_cases_has_the_columns_of_its_case() {
        let answer = Answer::of_run(&results("runtimes"));
        let csv = answer.csv(None).expect("the main table");
        let header = csv.lines().next().expect("a header");
        assert!(header.starts_with("case,statistic,unit,point,low,high,"), "{header}");
        for column in ["quiet", "quiet_low", "runtime_callee", "validity", "run"] {
            assert_eq!(header.split(',').filter(|name| *name == column).count(), 1, "{column}");
        }
        let width = |line: &str| line.split(',').count();
        assert!(csv.lines().count() > 100);
        let threads = answer.csv(Some("threads")).expect("a table");
        assert!(threads.lines().skip(1).all(|line| width(line) >= width(header) / 2), "{threads}");
        let unknown = answer.csv(Some("nothing")).unwrap_err().to_string();
        assert!(unknown.contains("no table nothing") && unknown.contains("cases"), "{unknown}");
    }

    #[test]
    fn what_json_cannot_say_is_null() {
        let mut results = worn();
        results.results[0].cpu_ns_per_message = Some(f64::NAN);
        results.results[1].switches_per_operation = Some(f64::INFINITY);
        let document: Value = serde_json::from_str(&Answer::of_run(&results).json()).expect("JSON");
        assert_eq!(document["schema"], SCHEMA);
        assert!(document["cases"][0]["cpu_ns_per_message"].is_null());
        assert!(document["cases"][1]["switches_per_operation"].is_null());
    }
}
