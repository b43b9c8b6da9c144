//! The answer to a question for programs: sentences, and tables of typed columns. JSON has all of
//! them, CSV one. A column is a field of `hopcost_model`, and its help is the field's comment.

mod questions;
mod table;

pub use questions::all;
pub use table::{Answer, Content};
use table::{Column, Table};

/// Every table of answers with its columns, as Markdown.
pub fn reference() -> String {
    let mut out = String::new();
    let mut known: Vec<&str> = Vec::new();
    for answer in all() {
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

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::stored::{RUNS, judged, results, worn};

    /// Each answer that a stored run gives.
    fn stored() -> impl Iterator<Item = Answer> {
        let runs = RUNS.iter().map(|run| results(run)).chain([worn(), judged()]);
        runs.map(|results| Answer::of_run(&results))
    }

    #[test]
    fn every_key_that_is_written_is_documented_and_every_documented_key_is_written() {
        let reference = reference();
        for answer in stored().chain(all()) {
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
        let unknown = answer.csv(Some("nothing")).unwrap_err();
        assert!(unknown.contains("no table nothing") && unknown.contains("cases"), "{unknown}");
    }

    #[test]
    fn what_json_cannot_say_is_null() {
        let mut results = worn();
        results.results[0].cpu_ns_per_message = Some(f64::NAN);
        results.results[1].switches_per_operation = Some(f64::INFINITY);
        let document: Value = serde_json::from_str(&Answer::of_run(&results).json()).expect("JSON");
        assert_eq!(document["schema"], "hopcost/2");
        assert!(document["cases"][0]["cpu_ns_per_message"].is_null());
        assert!(document["cases"][1]["switches_per_operation"].is_null());
    }
}
