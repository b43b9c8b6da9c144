//! Runtimes compared: what stands before the ladder where ends were written in several languages.
//! Mechanisms by runtimes, caller by callee, what a stamp costs, and the workers.

use std::collections::BTreeSet;

use hopcost_model::finding::Validity;
use hopcost_model::results::{Results, RuntimeCell, RuntimeHeatMap, StampCost, WorkerBrief};

use super::model::{
    Block, Cell, Form, Interval, Medium, Rows, Scale, Section, Table, Unit, Value, estimates,
    notes, numbers, words,
};
use super::shapes::{self, About};
use super::words::{index_of, sentence};
use crate::chart::model::Chart;
use crate::names::{absent, case_at, plain_id};
use crate::number;

/// Indices of the cases whose number stands in a table of runtimes.
pub(super) fn told(results: &Results) -> BTreeSet<u32> {
    let Some(runtimes) = &results.runtimes else { return BTreeSet::new() };
    let matrices = runtimes.matrices.iter().flat_map(|matrix| &matrix.rows);
    let heat_maps = runtimes.heat_maps.iter().flat_map(|map| &map.cells).flatten();
    let cells = matrices.flat_map(|row| &row.cells).chain(heat_maps);
    cells.filter_map(|cell: &RuntimeCell| cell.result).collect()
}

pub(super) fn mechanisms(results: &Results, _: Medium) -> Option<Section> {
    let matrices = results.runtimes.as_ref()?.matrices.iter();
    let matrices = matrices.filter(|matrix| !matrix.rows.is_empty());
    let blocks = matrices.flat_map(|matrix| {
        let rows = matrix.rows.iter().map(|row| (row.label.as_str(), row.cells.as_slice()));
        let table = grid("mechanism", &matrix.runtimes, rows, results);
        [Block::Heading(matrix.title.clone()), Block::Table(table)]
    });
    Section::of("runtimes", blocks)
}

/// Caller by callee, under its heat map where one can be drawn.
pub(super) fn pairs(results: &Results, _: Medium) -> Option<Section> {
    let maps = results.runtimes.as_ref()?.heat_maps.iter().enumerate();
    let blocks = maps.filter(|(_, map)| !map.cells.is_empty()).flat_map(|(at, map)| {
        let table = square(map, results);
        let chart = chart(at, map, &table).map(|chart| Block::Charts(vec![chart]));
        let title = Block::Heading(map.title.clone());
        [Some(title), chart, Some(Block::Table(table))].into_iter().flatten()
    });
    Section::of("pairs", blocks)
}

/// The squares of a run as charts.
pub(super) fn charts(results: &Results) -> Vec<Chart> {
    let maps = results.runtimes.iter().flat_map(|runtimes| &runtimes.heat_maps).enumerate();
    maps.filter_map(|(at, map)| chart(at, map, &square(map, results))).collect()
}

fn square(map: &RuntimeHeatMap, results: &Results) -> Table {
    let to: Vec<String> = map.runtimes.iter().map(|runtime| format!("to {runtime}")).collect();
    let rows = map.runtimes.iter().map(String::as_str).zip(map.cells.iter().map(Vec::as_slice));
    grid("caller", &to, rows, results)
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
    shapes::grid(about, &table, "callee")
}

fn grid<'a>(
    head: &str,
    columns: &[String],
    rows: impl Iterator<Item = (&'a str, &'a [RuntimeCell])>,
    results: &Results,
) -> Table {
    let row = |(name, cells): (&str, &[RuntimeCell])| {
        let shown = cells.iter().take(columns.len()).map(|of| cell(of, results));
        let mut row: Vec<Cell> = std::iter::once(Cell::text(name)).chain(shown).collect();
        row.resize(columns.len() + 1, Cell::none());
        row
    };
    let rows = rows.map(row).collect();
    let named = columns.iter().map(|name| numbers(name));
    let columns = std::iter::once(words(head)).chain(named).collect();
    Table { columns, rows, form: Form::Matrix }
}

/// The number of a case, its multiple of the same in Rust, and its validity; or why it has none.
fn cell(of: &RuntimeCell, results: &Results) -> Cell {
    let found = of.result.and_then(|index| case_at(results, index));
    let (index, case) = found.unzip();
    let Some(value) = of.value.as_ref().filter(|value| value.point.is_some()) else {
        let (word, reason) = absent(of, case);
        return Cell::text(word).hint(reason.map(str::to_owned)).of(index);
    };
    let own = |baseline: &str| case.is_some_and(|case| case.id == baseline);
    let ratio = of.ratio.as_ref().filter(|ratio| !own(&ratio.baseline));
    let validity = case.and_then(|case| case.validity).filter(|v| *v != Validity::Valid);
    let mut cells = vec![Cell::estimate(Some(value), Scale::Time).of(index)];
    cells.extend(ratio.map(|ratio| Value::Ratio(ratio.clone(), Interval::Told).into()));
    cells.extend(validity.map(Cell::grade));
    Value::Several(cells).into()
}

pub(super) fn stamps(results: &Results, _: Medium) -> Option<Section> {
    let by_rust =
        |cost: &StampCost| Cell::estimate(cost.by_rust_clock_ns.as_ref(), Scale::Difference);
    let ppm = |ppm: f64| format!("{} ppm", number::plain(ppm, 2));
    let table = Rows::of(&results.runtimes.as_ref()?.stamp_costs)
        .column(words("runtime"), |c| Cell::text(&c.runtime).of(index_of(results, &c.case)))
        .column(estimates("by Rust's clock"), by_rust)
        .column(numbers("two readings"), |c| Cell::maybe(c.own_reading_ns, Unit::Time(2)))
        .column(numbers("share"), |c| Cell::maybe(c.share, Unit::Share))
        .column(numbers("clocks differ"), |c| Cell::sorted(c.clock_disagreement_ppm, ppm))
        .column(words("found with").fold(1), |c| Cell::code(&c.case));
    Section::of("stamps", [table.table()])
}

pub(super) fn workers(results: &Results, _: Medium) -> Option<Section> {
    let workers = &results.workers;
    let library = |(name, version): (&String, &String)| format!("{name} {version}");
    let libraries =
        |worker: &WorkerBrief| worker.libraries.iter().map(library).collect::<Vec<_>>().join(", ");
    let table = Rows::of(workers)
        .column(words("runtime"), |worker| Cell::text(&worker.runtime))
        .column(words("worker"), |worker| Cell::text(&worker.version))
        .column(words("language and libraries"), |worker| Cell::text(libraries(worker)));
    let remark = |worker: &WorkerBrief| {
        let remarks: Vec<String> = worker.remarks.iter().map(|r| sentence(r)).collect();
        (!remarks.is_empty()).then(|| format!("{}: {}", worker.runtime, remarks.join(" ")))
    };
    let remarks = workers.iter().filter_map(remark);
    Section::of("workers", [table.table()].into_iter().chain(notes(remarks)))
}
