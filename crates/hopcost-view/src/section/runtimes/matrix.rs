//! Mechanisms by runtimes, and caller by callee: one number a pair.

use hopcost_model::results::{Results, RuntimeCell, RuntimeHeatMap, RuntimeMatrix, RuntimeRow};

use super::footnotes::Footnotes;
use crate::chart::model::Chart;
use crate::names::{case_at, plain_id};
use crate::section::model::{
    Block, Cell, Form, Frame, Medium, Rows, Section, Table, Value, estimates, numbers, verdicts,
    words,
};
use crate::section::shapes::{self, About};
use crate::section::words::trials;

pub(crate) fn mechanisms(results: &Results, _: Medium) -> Option<Section> {
    let runtimes = results.runtimes.as_ref()?;
    let mut footnotes = Footnotes::default();
    let mut blocks: Vec<Block> = Vec::new();
    for matrix in runtimes.matrices.iter().filter(|matrix| !matrix.rows.is_empty()) {
        blocks.push(Block::Heading(matrix.title.clone()));
        blocks.push(match is_list(matrix) {
            true => list(results, matrix, &mut footnotes),
            false => {
                let rows = matrix.rows.iter();
                let named = rows.map(|row| (row.label.as_str(), row.cells.as_slice()));
                Block::Table(grid("mechanism", &matrix.runtimes, named, results, &mut footnotes))
            }
        });
    }
    Section::of("runtimes", blocks.into_iter().chain(footnotes.blocks()))
}

/// Caller by callee, under its heat map where one can be drawn.
pub(crate) fn pairs(results: &Results, _: Medium) -> Option<Section> {
    let runtimes = results.runtimes.as_ref()?;
    let mut footnotes = Footnotes::default();
    let mut blocks = Vec::new();
    for (at, map) in runtimes.heat_maps.iter().enumerate().filter(|(_, map)| !map.cells.is_empty())
    {
        let table = square(map, results, &mut footnotes);
        let chart = chart(at, map, &table);
        blocks.push(Block::Heading(map.title.clone()));
        blocks.extend(chart.map(|chart| Block::Charts(vec![chart], Frame::Bare)));
        blocks.push(Block::Table(table));
    }
    Section::of("pairs", blocks.into_iter().chain(footnotes.blocks()))
}

/// The squares of a run as charts.
pub(crate) fn charts(results: &Results) -> Vec<Option<Chart>> {
    let maps = results.runtimes.iter().flat_map(|runtimes| &runtimes.heat_maps).enumerate();
    let drawn = |(at, map)| chart(at, map, &square(map, results, &mut Footnotes::default()));
    maps.map(drawn).collect()
}

fn square<'a>(
    map: &'a RuntimeHeatMap,
    results: &'a Results,
    footnotes: &mut Footnotes<'a>,
) -> Table {
    let to: Vec<String> = map.runtimes.iter().map(|runtime| format!("to {runtime}")).collect();
    let rows = map.runtimes.iter().map(String::as_str).zip(map.cells.iter().map(Vec::as_slice));
    grid("caller", &to, rows, results, footnotes)
}

fn chart(at: usize, map: &RuntimeHeatMap, table: &Table) -> Option<Chart> {
    let about = About {
        id: format!("plot-runtime-heat-{at}-{}", plain_id(&map.title)),
        title: map.title.clone(),
        says:
            "p50 of a round trip: the caller's runtime in the rows, the callee's in the columns. \
               The caller takes the stamps."
                .to_owned(),
    };
    let mut table = table.clone();
    for column in &mut table.columns {
        column.head = column.head.trim_start_matches("to ").to_owned();
    }
    shapes::grid(about, &table, "callee", false)
}

fn grid<'a>(
    head: &str,
    columns: &[String],
    rows: impl Iterator<Item = (&'a str, &'a [RuntimeCell])>,
    results: &'a Results,
    footnotes: &mut Footnotes<'a>,
) -> Table {
    let row = |(name, cells): (&str, &'a [RuntimeCell])| {
        let shown = cells.iter().take(columns.len()).map(|cell| footnotes.cell(results, cell));
        let mut row: Vec<Cell> = std::iter::once(Cell::text(name)).chain(shown).collect();
        row.resize(columns.len() + 1, Cell::none());
        row
    };
    let rows = rows.map(row).collect();
    let named = columns.iter().map(|name| numbers(name));
    let columns = std::iter::once(words(head)).chain(named).collect();
    Table { columns, rows, form: Form::Matrix }
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
    footnotes: &mut Footnotes<'a>,
) -> Block {
    let found = matrix.rows.iter().filter_map(|row| {
        let mut cells = matrix.runtimes.iter().zip(&row.cells);
        let (runtime, cell) = cells.find(|(_, cell)| cell.result.is_some())?;
        // Its verdict has a column of its own.
        let value = match footnotes.cell(results, cell) {
            Cell { value: Value::Several(cells), .. } => cells.into_iter().next()?,
            missing => missing,
        };
        let case = case_at(results, cell.result?).map(|(_, case)| case);
        let measured = case.filter(|_| value.value.key().is_some());
        Some((row.label.as_str(), runtime.as_str(), value, measured))
    });
    let found: Vec<_> = found.collect();
    Rows::of(&found)
        .column(words("mechanism"), |(label, _, value, _)| Cell::text(*label).of(value.case))
        .column(words("runtime"), |(_, runtime, ..)| Cell::text(*runtime))
        .column(estimates("p50 or cost"), |(.., value, _)| value.clone())
        .column(numbers("n"), |(.., case)| case.map_or(Cell::none(), trials))
        .column(verdicts(), |(.., case)| {
            case.map_or(Cell::none(), |case| Cell::validity(case.validity))
        })
        .table()
}
