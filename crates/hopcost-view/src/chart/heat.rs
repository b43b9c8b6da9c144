//! Caller by callee as a grid of cells, each with its number.

use hopcost_model::finding::Validity;
use hopcost_model::results::{CaseResult, Results, RuntimeCell, RuntimeHeatMap};

use super::labels::width;
use super::model::{Cell, Cells, Chart, STEPS};
use super::{cells, lines};
use crate::names::{absent, capitalised, case_at, plain_id};
use crate::number;

/// Width that a long title may ask for.
const WIDTH_MAX: f64 = 780.0;

/// One chart a heat map; `None` where nothing in it was measured.
pub(crate) fn charts(results: &Results) -> Vec<Option<Chart>> {
    let maps = results.runtimes.iter().flat_map(|runtimes| &runtimes.heat_maps);
    let mut charts: Vec<Option<Chart>> = Vec::new();
    for map in maps {
        let drawn = chart(map, results).map(|chart| Chart {
            // Two sizes of one mechanism have one name.
            id: lines::free_id(chart.id.clone(), charts.iter().flatten()),
            ..chart
        });
        charts.push(drawn);
    }
    charts
}

fn chart(map: &RuntimeHeatMap, results: &Results) -> Option<Chart> {
    let points = || map.cells.iter().flatten().filter_map(point);
    let ends = (points().reduce(f64::min)?, points().reduce(f64::max)?);
    let row = |(runtime, cells): (&String, &Vec<RuntimeCell>)| {
        let cells = map.runtimes.iter().zip(cells);
        let cell = |(callee, found)| cell([runtime, callee], found, ends, results);
        (runtime.clone(), cells.map(cell).collect())
    };
    let end = |ns| number::time(ns, 2);
    let grid = Cells {
        rows_label: "caller".to_owned(),
        columns_label: "callee".to_owned(),
        columns: map.runtimes.clone(),
        rows: map.runtimes.iter().zip(&map.cells).map(row).collect(),
        ends: (ends.1 > ends.0).then(|| (end(ends.0), end(ends.1))),
        ..Cells::default()
    };
    // Its title is not to be cut.
    let width = cells::width_of(&grid).max((width(&map.title, 15.0) + 1.0).min(WIDTH_MAX));
    let description = format!(
        "{}; the caller's runtime in the rows, the callee's in the columns. Each cell says its \
         p50; its ground is one of {STEPS} steps of a logarithmic scale from the least to the \
         greatest. The table below holds the same numbers.",
        map.title
    );
    let id = format!("plot-runtime-heat-{}", plain_id(&mechanism(map, results)));
    // The title begins with the mechanism's name, which stays as it is.
    let square = cells::square(id, map.title.clone(), description, grid);
    Some(Chart { width, notes: notes(map, results), ..square })
}

/// What is said under a drawing that stands alone.
fn notes(map: &RuntimeHeatMap, results: &Results) -> Vec<String> {
    let mut notes = vec![
        "p50 of a round trip with its interval; the caller takes the stamps. Grounds: logarithmic \
         scale."
            .to_owned(),
    ];
    let cells = map.cells.iter().flatten().filter(|cell| point(cell).is_some());
    let validity: Vec<Validity> = cells.filter_map(|cell| case(cell, results)?.validity).collect();
    for word in [Validity::Suspect, Validity::Invalid] {
        let n = validity.iter().filter(|validity| **validity == word).count();
        if n > 0 {
            notes.push(format!("{}: {n} of {} numbers.", capitalised(word.word()), validity.len()));
        }
    }
    notes
}

/// The case of a cell.
fn case<'a>(cell: &RuntimeCell, results: &'a Results) -> Option<&'a CaseResult> {
    case_at(results, cell.result?).map(|(_, case)| case)
}

/// The mechanism of the cells, which are all of one.
fn mechanism(map: &RuntimeHeatMap, results: &Results) -> String {
    let case = map.cells.iter().flatten().find_map(|cell| case(cell, results));
    case.map_or_else(|| map.title.clone(), |case| case.case.mechanism.clone())
}

fn point(cell: &RuntimeCell) -> Option<f64> {
    cell.value.as_ref()?.point.filter(|ns| ns.is_finite() && *ns > 0.0)
}

/// One of the grounds between the least number and the greatest.
pub(super) fn step(ns: f64, (low_ns, high_ns): (f64, f64)) -> u8 {
    let range = (high_ns / low_ns).ln();
    let share = if range > 0.0 { (ns / low_ns).ln() / range } else { 0.0 };
    // A share of 1 belongs to the last step.
    ((share * f64::from(STEPS)) as u8).min(STEPS - 1)
}

fn cell(
    [caller, callee]: [&String; 2],
    found: &RuntimeCell,
    ends: (f64, f64),
    results: &Results,
) -> Cell {
    let (pair, case) = (format!("{caller} calls {callee}"), case(found, results));
    let Some((estimate, ns)) = found.value.as_ref().zip(point(found)) else {
        let (word, why) = absent(found, case);
        let tip = format!("{pair}\n{}", why.unwrap_or("not in this run"));
        return Cell { tip, text: word.to_owned(), ..Cell::default() };
    };
    let shown = number::estimate(estimate);
    let validity = case.and_then(|case| case.validity).filter(|of| *of != Validity::Valid);
    let validity = validity.map_or(String::new(), |v| format!("\n{}", v.word()));
    Cell {
        tip: format!("{pair}\np50 {}{validity}", number::estimate_text(estimate)),
        text: shown.amount(),
        small: shown.interval.unwrap_or_default(),
        step: Some(step(ns, ends)),
    }
}

#[cfg(test)]
mod tests {
    use super::super::model::Vertical;
    use super::*;
    use crate::chart::tests::well_formed;
    use crate::stored;
    use hopcost_model::results::Status;

    /// Caller and callee in three runtimes; one pair was not measured, one failed.
    fn runtimes() -> Results {
        let mut results = stored::results("runtimes");
        let map = &mut results.runtimes.as_mut().unwrap().heat_maps[0];
        map.runtimes.truncate(3);
        map.cells.truncate(3);
        map.cells.iter_mut().for_each(|cells| cells.truncate(3));
        assert!(map.cells[1][2].result.take().is_some());
        map.cells[1][2].missing = Some("cpp cannot call go".to_owned());
        let failed = map.cells[2][0].result.unwrap();
        (map.cells[1][2].value, map.cells[2][0].value) = (None, None);
        let failed = &mut results.results[failed as usize];
        (failed.status, failed.reason) = (Status::Failed, Some("it said nothing".to_owned()));
        results
    }

    fn cells(chart: &Chart) -> Vec<&Cell> {
        let Vertical::Cells(grid) = &chart.y else { panic!("no cells") };
        grid.rows.iter().flat_map(|(_, cells)| cells).collect()
    }

    #[test]
    fn every_number_stands_in_its_cell_and_greater_ones_never_on_a_lower_ground() {
        let results = runtimes();
        let map = &results.runtimes.as_ref().unwrap().heat_maps[0];
        let plots = crate::chart::plots(&results);
        let (_, chart) = plots.iter().find(|(name, _)| name == "runtime-heat-tcp").unwrap();
        let found = cells(chart);
        let drawing = crate::chart::svg(chart);
        well_formed(&drawing, &[]).unwrap();
        let mut by_value: Vec<(f64, u8)> = Vec::new();
        for (cell, shown) in map.cells.iter().flatten().zip(found) {
            match point(cell) {
                Some(ns) => {
                    by_value.push((ns, shown.step.unwrap()));
                    assert!(drawing.contains(&format!(">{}<", shown.text)), "{}", shown.text);
                }
                None => assert!(shown.step.is_none() && ["–", "failed"].contains(&&*shown.text)),
            }
        }
        by_value.sort_by(|a, b| a.0.total_cmp(&b.0));
        assert!(by_value.windows(2).all(|pair| pair[0].1 <= pair[1].1), "{by_value:?}");
        assert_eq!((by_value[0].1, by_value.last().unwrap().1), (0, STEPS - 1));
    }

    #[test]
    fn a_heat_map_is_drawn_like_this_and_says_where_and_how_far_it_is_valid() {
        let mut results = runtimes();
        let map = &results.runtimes.as_ref().unwrap().heat_maps[0];
        let pair = usize::try_from(map.cells[2][1].result.unwrap()).unwrap();
        results.results[pair].validity = Some(Validity::Invalid);
        let chart = charts(&results).remove(0).unwrap();
        let plots = crate::chart::plots(&results);
        let (_, alone) = plots.iter().find(|(name, _)| name == "runtime-heat-tcp").unwrap();
        let origin = alone.notes.last().unwrap();
        assert!(origin.contains("Xeon") && origin.contains("CPU 0"));
        assert_eq!(chart.notes[1..], ["Suspect: 6 of 7 numbers.", "Invalid: 1 of 7 numbers."]);
        assert!(cells(&chart)[7].tip.ends_with("\ninvalid"), "{:?}", cells(&chart)[7].tip);
        assert!(cells(&chart)[5].tip.ends_with("\ncpp cannot call go"));
        assert!(cells(&chart)[6].tip.ends_with("\nit said nothing"));
        let drawn = crate::chart::element(&chart, crate::chart::Heading::Drawn);
        insta::assert_snapshot!(drawn.replace("><", ">\n<"));
    }
}
