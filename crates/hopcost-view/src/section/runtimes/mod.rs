//! Runtimes compared: what stands before the ladder where ends were written in
//! several languages.

mod added;
mod contrast;
mod footnotes;
mod heat;
mod matrix;
mod search;
mod stamp;
mod threads;
mod workers;

use std::collections::BTreeSet;

use hopcost_model::results::{LadderRow, Results, RuntimeCell, RuntimeComparison};

use super::{Detail, Section};
pub(crate) use threads::{Plays, name as thread_name};

/// Every section on runtimes that has something in it, in the order of the report.
pub(crate) fn all(results: &Results, detail: Detail) -> Vec<Section> {
    let compared = results.runtimes.as_ref();
    let of = |section: fn(&Results, &RuntimeComparison, Detail) -> Option<Section>| {
        compared.and_then(|runtimes| section(results, runtimes, detail))
    };
    let sections = [
        of(matrix::section),
        of(contrast::section),
        of(added::section),
        of(heat::section),
        of(search::section),
        threads::section(results, detail),
        of(stamp::section),
        workers::section(results, detail),
    ];
    sections.into_iter().flatten().collect()
}

/// The results without the rows of the ladder that a table of runtimes has: a terminal
/// is told each number once. `None` where nothing is told twice.
pub(crate) fn without_told(results: &Results) -> Option<Results> {
    let told = told(results.runtimes.as_ref()?);
    let is_told = |row: &LadderRow| {
        let cases = [row.one_cpu, row.two_cpus, row.free];
        cases.into_iter().flatten().all(|case| told.contains(&case))
    };
    let mut rest = results.clone();
    for group in &mut rest.ladder {
        group.rows.retain(|row| !is_told(row));
    }
    rest.ladder.retain(|group| !group.rows.is_empty());
    Some(rest)
}

/// Indices of the cases whose number stands in a table of runtimes.
fn told(runtimes: &RuntimeComparison) -> BTreeSet<u32> {
    let matrices = runtimes.matrices.iter().flat_map(|matrix| &matrix.rows);
    let heat_maps = runtimes.heat_maps.iter().flat_map(|map| &map.cells).flatten();
    let cells = matrices.flat_map(|row| &row.cells).chain(heat_maps);
    cells.filter_map(|cell: &RuntimeCell| cell.result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{example_results, example_runtimes};
    use crate::section::{Form, Part};

    fn parts(results: &Results, detail: Detail, id: &str) -> Vec<Part> {
        let found = all(results, detail).into_iter().find(|section| section.id == id);
        found.map_or(Vec::new(), |section| section.parts)
    }

    #[test]
    fn a_terminal_is_told_every_number_once_and_none_gets_lost() {
        let mut results = example_runtimes();
        assert!(without_told(&example_results()).is_none());
        assert!(without_told(&results).unwrap().ladder.is_empty(), "all are in tables");
        let runtimes = results.runtimes.as_mut().unwrap();
        let left_out = runtimes.matrices[1].rows.remove(0).cells[1].result.unwrap();
        let ladder = without_told(&results).unwrap().ladder;
        let rows: Vec<u32> =
            ladder.iter().flat_map(|g| &g.rows).filter_map(|r| r.one_cpu).collect();
        assert!(rows.contains(&left_out) && rows.len() == 4, "{rows:?}");
    }

    #[test]
    fn a_reason_stands_once_however_many_cells_lack_a_value() {
        let results = example_runtimes();
        let parts = parts(&results, Detail::Whole, "runtimes");
        let notes: Vec<&String> = parts.iter().flat_map(|part| &part.notes).collect();
        assert_eq!(notes.len(), 3, "{notes:?}");
        assert!(notes[0].starts_with("(1) skipped: java"), "{notes:?}");
        assert!(notes[1].starts_with("(2) failed: "), "{notes:?}");
        assert!(notes[2].starts_with("2 of 9 trials failed"), "{notes:?}");
        let marks = |mark: &str| {
            let cells = parts.iter().flat_map(|part| &part.rows).flat_map(|row| &row.cells);
            cells.filter(|cell| cell.text("") == mark).count()
        };
        assert_eq!((marks("skipped (1)"), marks("failed (2)")), (9, 1));
        let replays: Vec<_> = parts.iter().flat_map(|part| &part.replays).collect();
        assert_eq!(replays.len(), 1);
        assert!(replays[0].mark == "(2)" && replays[0].command.contains("payload=4096"));
    }

    #[test]
    fn what_one_runtime_alone_has_is_a_list_without_gaps() {
        let mut results = example_runtimes();
        let gap = |why: &str| RuntimeCell {
            result: None,
            value: None,
            ratio: None,
            missing: Some(why.to_owned()),
        };
        let matrix = &mut results.runtimes.as_mut().unwrap().matrices[2];
        matrix.rows[0].cells[1] = gap("go has no pipe");
        let matrix_of =
            |results: &Results| parts(results, Detail::Whole, "runtimes").swap_remove(2);
        assert_eq!(matrix_of(&results).form, Form::Matrix);
        let notes = parts(&results, Detail::Whole, "runtimes").pop().unwrap().notes;
        assert!(notes.iter().any(|note| note == "–: go has no pipe."), "{notes:?}");
        let matrix = &mut results.runtimes.as_mut().unwrap().matrices[2];
        for (at, row) in matrix.rows.iter_mut().enumerate() {
            for (column, cell) in row.cells.iter_mut().enumerate().filter(|(c, _)| *c != at) {
                *cell = gap(&format!("{column} has no {at}"));
            }
        }
        let list = matrix_of(&results);
        let texts: Vec<Vec<String>> =
            list.rows.iter().map(|row| row.cells.iter().map(|c| c.text("")).collect()).collect();
        assert_eq!(texts[0], ["pipe", "rust", "2.65 µs [2.61, 2.71]", "9", "valid"]);
        assert_eq!(texts[2], ["websocket", "java", "skipped (1)", "", ""]);
        let matrices = &mut results.runtimes.as_mut().unwrap().matrices;
        *matrices = vec![matrices.clone(); 5].concat();
        let last = parts(&results, Detail::Brief, "runtimes").pop().unwrap();
        assert!(last.notes.iter().all(|note| !note.contains("has no")), "{:?}", last.notes);
        let nowhere =
            |note: &String| note.starts_with("Measured in none of the runtimes: websocket;");
        assert!(last.notes.iter().any(nowhere), "{:?}", last.notes);
    }

    #[test]
    fn few_sentences_and_candidates_are_for_terminals_alone() {
        let mut results = example_runtimes();
        let runtimes = results.runtimes.as_mut().unwrap();
        runtimes.added = vec![runtimes.added.clone(); 5].concat();
        let candidates = &mut runtimes.searches[0].candidates;
        *candidates = vec![candidates.clone(); 5].concat();
        let count = |detail| {
            let said = parts(&results, detail, "added").iter().map(|p| p.says.len()).sum::<usize>();
            let rows =
                parts(&results, detail, "search").iter().map(|p| p.rows.len()).sum::<usize>();
            (said, rows)
        };
        assert_eq!((count(Detail::Whole), count(Detail::Brief)), ((30, 15), (2, 6)));
        let last = parts(&results, Detail::Brief, "added").pop().unwrap().notes;
        assert!(last.iter().any(|note| note.starts_with("28 more sentences")), "{last:?}");
    }

    #[test]
    fn only_hidden_threads_that_weigh_are_told() {
        let mut results = example_runtimes();
        let rows =
            |results: &Results| parts(results, Detail::Whole, "threads").pop().map(|p| p.rows);
        let found = rows(&results).unwrap();
        assert!(found.iter().all(|row| row.cells[1].text("") == "recv_events"), "no 0.3 %");
        assert_eq!(found.len(), 2);
        for thread in results.results.iter_mut().flat_map(|case| &mut case.threads) {
            thread.cpu_share = if thread.seat.is_some() { 0.47 } else { 0.02 };
        }
        assert!(rows(&results).is_none(), "6 % is less than a tenth");
        for thread in results.results.iter_mut().flat_map(|case| &mut case.threads) {
            thread.seat = None;
        }
        assert!(rows(&results).is_none(), "which of them plays is not known");
    }
}
