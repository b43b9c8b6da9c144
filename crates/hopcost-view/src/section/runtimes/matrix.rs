//! Mechanisms by runtimes.

use hopcost_model::results::{Results, RuntimeComparison, RuntimeMatrix, RuntimeRow};

use super::super::{Cell, Column, Detail, Form, Part, Row, Section, trials};
use super::footnotes::Footnotes;

const LEAD: &str = "p50, or the cost in batches, with its interval; both ends are of one runtime. \
    “×”: multiple of the same in Rust with its interval, paired by round. Only numbers under one heading mean the \
    same thing.";
const ELSEWHERE: &str = " p99, CPU time and trials of these cases are in the HTML, Markdown and \
    JSON reports.";

/// Rows without a number in any runtime that a terminal is shown.
const NOWHERE_MAX: usize = 4;

pub(super) fn section(
    results: &Results,
    runtimes: &RuntimeComparison,
    detail: Detail,
) -> Option<Section> {
    let matrices = runtimes.matrices.iter().filter(|matrix| !matrix.rows.is_empty());
    let mut footnotes = Footnotes::default();
    let all = || runtimes.matrices.iter().flat_map(|matrix| &matrix.rows);
    let nowhere: Vec<&RuntimeRow> = match detail {
        Detail::Brief => all().filter(|row| !has_value(row)).collect(),
        Detail::Whole => Vec::new(),
    };
    // A few are told with their reasons.
    let nowhere = if nowhere.len() > NOWHERE_MAX { nowhere } else { Vec::new() };
    let mut parts: Vec<Part> = Vec::new();
    for matrix in matrices {
        let left_out = |row: &RuntimeRow| nowhere.iter().any(|other| std::ptr::eq(*other, row));
        let rows: Vec<&RuntimeRow> = matrix.rows.iter().filter(|row| !left_out(row)).collect();
        parts.push(match is_list(matrix) {
            true => list(results, matrix, &rows, &mut footnotes),
            false => part(results, matrix, &rows, &mut footnotes),
        });
    }
    parts.retain(|part| !part.rows.is_empty());
    if parts.is_empty() && !nowhere.is_empty() {
        parts.push(Part::default());
    }
    let last = parts.last_mut()?;
    last.notes = footnotes.notes(detail);
    if !nowhere.is_empty() {
        let mut names: Vec<&str> = nowhere.iter().map(|row| row.label.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        last.notes.push(format!(
            "Measured in none of the runtimes: {}; the HTML, Markdown and JSON reports say why.",
            names.join(", ")
        ));
    }
    last.replays = footnotes.replays();
    let elsewhere = if detail == Detail::Brief { ELSEWHERE } else { "" };
    Some(Section {
        id: "runtimes",
        title: "Mechanisms by runtime",
        lead: format!("{LEAD}{elsewhere}"),
        parts,
    })
}

/// Whether it has a number in any runtime.
fn has_value(row: &RuntimeRow) -> bool {
    row.cells.iter().any(|cell| cell.value.as_ref().is_some_and(|value| value.point.is_some()))
}

fn part<'a>(
    results: &'a Results,
    matrix: &'a RuntimeMatrix,
    rows: &[&'a RuntimeRow],
    footnotes: &mut Footnotes<'a>,
) -> Part {
    let mut columns = vec![Column::words("mechanism")];
    columns.extend(matrix.runtimes.iter().map(|runtime| Column::name(runtime)));
    let rows = rows.iter().map(|row| {
        let cells = footnotes.cells(results, &row.cells, matrix.runtimes.len());
        let label = std::iter::once(Cell::Text(row.label.clone()));
        Row { cells: label.chain(cells).collect(), case: None }
    });
    Part {
        title: matrix.title.clone(),
        rows: rows.collect(),
        columns,
        form: Form::Matrix,
        ..Part::default()
    }
}

/// Whether every row has a case in one runtime alone: a matrix would be all gaps.
fn is_list(matrix: &RuntimeMatrix) -> bool {
    let cases = |row: &RuntimeRow| row.cells.iter().filter(|cell| cell.result.is_some()).count();
    matrix.runtimes.len() > 1 && matrix.rows.iter().all(|row| cases(row) == 1)
}

/// A row a case, with its runtime.
fn list<'a>(
    results: &'a Results,
    matrix: &'a RuntimeMatrix,
    rows: &[&'a RuntimeRow],
    footnotes: &mut Footnotes<'a>,
) -> Part {
    let columns = vec![
        Column::words("mechanism"),
        Column::words("runtime"),
        Column::number("p50 or cost [interval]"),
        Column::number("n"),
        Column::words("valid?"),
    ];
    let rows = rows.iter().filter_map(|row| {
        let cells = matrix.runtimes.iter().zip(&row.cells);
        let (runtime, cell) = cells.into_iter().find(|(_, cell)| cell.result.is_some())?;
        let index = usize::try_from(cell.result?).ok();
        let case = index.and_then(|index| results.results.get(index));
        let value = match footnotes.cell(results, cell) {
            Cell::Compared(compared) => Cell::Estimate(compared.value),
            missing => missing,
        };
        let measured = case.filter(|_| matches!(value, Cell::Estimate(_)));
        let cells = vec![
            Cell::Text(row.label.clone()),
            Cell::Text(runtime.clone()),
            value,
            measured.map_or(Cell::none(), trials),
            measured.map_or(Cell::none(), |case| Cell::Validity(case.validity)),
        ];
        Some(Row { cells, case: index.filter(|_| case.is_some()) })
    });
    let rows = rows.collect();
    Part { title: matrix.title.clone(), columns, rows, ..Part::default() }
}
