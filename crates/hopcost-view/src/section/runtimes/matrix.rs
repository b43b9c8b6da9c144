//! Mechanisms by runtimes.

use hopcost_model::results::{Results, RuntimeComparison, RuntimeMatrix};

use super::super::{Cell, Column, Detail, Form, Part, Row, Section};
use super::footnotes::Footnotes;

const LEAD: &str = "p50, or the cost in batches, with its interval; both ends are of one runtime. \
    “×”: multiple of the same in Rust, paired by round. Only numbers under one heading mean the \
    same thing.";
const ELSEWHERE: &str = " p99, CPU time and trials of these cases are in the HTML, Markdown and \
    JSON reports.";

pub(super) fn section(
    results: &Results,
    runtimes: &RuntimeComparison,
    detail: Detail,
) -> Option<Section> {
    let matrices = runtimes.matrices.iter().filter(|matrix| !matrix.rows.is_empty());
    let mut footnotes = Footnotes::default();
    let mut parts: Vec<Part> =
        matrices.map(|matrix| part(results, matrix, &mut footnotes)).collect();
    let last = parts.last_mut()?;
    last.notes = footnotes.notes();
    last.replays = footnotes.replays();
    let elsewhere = if detail == Detail::Brief { ELSEWHERE } else { "" };
    Some(Section {
        id: "runtimes",
        title: "Mechanisms by runtime",
        lead: format!("{LEAD}{elsewhere}"),
        parts,
    })
}

fn part<'a>(
    results: &'a Results,
    matrix: &'a RuntimeMatrix,
    footnotes: &mut Footnotes<'a>,
) -> Part {
    let mut columns = vec![Column::words("mechanism")];
    columns.extend(matrix.runtimes.iter().map(|runtime| Column::name(runtime)));
    let rows = matrix.rows.iter().map(|row| {
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
