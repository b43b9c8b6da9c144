//! Caller by callee: one table a mechanism, under its heat map where there is room
//! for one.

use hopcost_model::results::{Results, RuntimeComparison, RuntimeHeatMap};

use super::super::{Cell, Column, Detail, Form, Part, Row, Section};
use super::footnotes::Footnotes;

const LEAD: &str = "p50 with its interval, the caller's runtime in the rows and the callee's in \
    the columns; the caller takes the stamps. “×”: multiple of the same between two ends in Rust, \
    paired by round.";

pub(super) fn section(
    results: &Results,
    runtimes: &RuntimeComparison,
    detail: Detail,
) -> Option<Section> {
    let mut footnotes = Footnotes::default();
    let maps = runtimes.heat_maps.iter().enumerate();
    let maps = maps.filter(|(_, map)| !map.cells.is_empty());
    let mut parts: Vec<Part> =
        maps.map(|(at, map)| part(results, at, map, &mut footnotes)).collect();
    let last = parts.last_mut()?;
    last.notes = footnotes.notes(detail);
    last.replays = footnotes.replays();
    let title = "Caller by callee";
    Some(Section { id: "pairs", title, lead: LEAD.to_owned(), parts })
}

fn part<'a>(
    results: &'a Results,
    at: usize,
    map: &'a RuntimeHeatMap,
    footnotes: &mut Footnotes<'a>,
) -> Part {
    let mut columns = vec![Column::words("caller")];
    columns.extend(map.runtimes.iter().map(|runtime| Column::name(&format!("to {runtime}"))));
    let rows = map.runtimes.iter().zip(&map.cells).map(|(runtime, cells)| {
        let cells = footnotes.cells(results, cells, map.runtimes.len());
        let caller = std::iter::once(Cell::Text(runtime.clone()));
        Row { cells: caller.chain(cells).collect(), case: None }
    });
    Part {
        title: map.title.clone(),
        rows: rows.collect(),
        columns,
        form: Form::Matrix,
        heat_map: Some(at),
        ..Part::default()
    }
}
