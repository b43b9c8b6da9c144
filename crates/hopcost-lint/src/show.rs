//! Reports as text, JSON and Markdown.

use std::collections::BTreeMap;

use hopcost_model::text::count;

use crate::finding::Finding;
use crate::report::{ColumnRead, Report, TableRead};

/// Findings of one kind that a terminal is told; JSON and Markdown have all.
const ALIKE_MAX: usize = 3;

/// For a terminal: a line for where and what, one for the arithmetic, one for the explanation.
pub fn text(reports: &[Report]) -> String {
    let mut out = String::new();
    for report in reports {
        let kind = |finding: &Finding| (finding.check, finding.explanation);
        let mut all: BTreeMap<_, usize> = BTreeMap::new();
        report.findings.iter().for_each(|finding| *all.entry(kind(finding)).or_default() += 1);
        let mut before: BTreeMap<_, usize> = BTreeMap::new();
        for finding in &report.findings {
            let told = before.entry(kind(finding)).or_default();
            *told += 1;
            match *told - 1 {
                0..ALIKE_MAX => {}
                ALIKE_MAX => {
                    let more = all[&kind(finding)] - ALIKE_MAX;
                    out += &format!(
                        "{}: {}: and {more} more with the same explanation\n",
                        report.file, finding.check
                    );
                    continue;
                }
                _ => continue,
            }
            out += &format!(
                "{}:{}: {}: {}\n    {}\n    {}\n",
                report.file,
                finding.line(),
                finding.check,
                finding.cited(),
                finding.arithmetic,
                finding.explanation
            );
        }
        for note in &report.notes {
            out += &format!("{}: note: {note}\n", report.file);
        }
        out += &format!("{}: {}\n", report.file, summary(report));
        report.tables.iter().for_each(|table| out += &format!("    {}\n", columns(table)));
    }
    out
}

/// As Markdown.
pub fn markdown(reports: &[Report]) -> String {
    let mut out = String::new();
    let cell = |text: &str| text.replace('\\', "\\\\").replace('|', "\\|").replace('<', "\\<");
    for report in reports {
        out += &format!("## {}\n\n{}\n\n", cell(&report.file), summary(report));
        report.notes.iter().for_each(|note| out += &format!("Note: {}\n\n", cell(note)));
        if !report.findings.is_empty() {
            out += "| line | check | cells | arithmetic | explanation |\n|---:|---|---|---|---|\n";
        }
        let row = |finding: &Finding| {
            let words = [finding.cited(), finding.arithmetic.clone(), finding.explanation.into()];
            let words = words.map(|text| cell(&text)).join(" | ");
            format!("| {} | {} | {words} |\n", finding.line(), finding.check)
        };
        report.findings.iter().for_each(|finding| out += &row(finding));
        out += "\n";
        report.tables.iter().for_each(|table| out += &format!("- {}\n", cell(&columns(table))));
        out += "\n";
    }
    out.trim_end().to_owned() + "\n"
}

/// As JSON.
pub fn json(reports: &[Report]) -> String {
    serde_json::to_string_pretty(reports).expect("strings and numbers") + "\n"
}

fn summary(report: &Report) -> String {
    let rows = report.tables.iter().map(|table| table.rows).sum();
    match report.tables.len() {
        0 => "no table with a cost or a throughput; --column NAME=ROLE says what a column holds"
            .into(),
        tables => format!(
            "{} in {} of {}",
            count(report.findings.len(), "finding"),
            count(tables, "table"),
            count(rows, "row")
        ),
    }
}

/// How a table was read, so that a reader sees what was not understood.
fn columns(table: &TableRead) -> String {
    let one = |column: &ColumnRead| format!("{} = {}", column.name, column.role);
    let columns: Vec<String> = table.columns.iter().map(one).collect();
    format!("table of line {}: {}", table.line, columns.join(", "))
}
