use super::model::{Block, Cell, Form, Medium, Section, Table, Tone, Value};
use super::report;
use crate::fixture::{example, example_results, example_runtimes};
use crate::markdown;
use hopcost_model::results::{Results, RuntimeCell, Statistic};

fn section(results: &Results, medium: Medium, id: &str) -> Option<Section> {
    report(results, medium, None).sections.into_iter().find(|section| section.id == id)
}

fn tables(section: &Section) -> Vec<&Table> {
    let blocks = section.blocks.iter();
    blocks.filter_map(|b| if let Block::Table(table) = b { Some(table) } else { None }).collect()
}

fn said(section: &Section, tone: Tone) -> Vec<&str> {
    let blocks = section.blocks.iter().filter_map(|block| match block {
        Block::Text(of, text) if *of == tone => Some(text.as_str()),
        _ => None,
    });
    blocks.collect()
}

fn texts(table: &Table) -> Vec<Vec<String>> {
    table.rows.iter().map(|row| row.iter().map(markdown::cell).collect()).collect()
}

#[test]
fn a_terminal_is_told_every_number_once_and_none_gets_lost() {
    assert!(section(&example_results(), Medium::Terminal, "ladder").is_some());
    let mut results = example_runtimes();
    assert!(section(&results, Medium::Terminal, "ladder").is_none(), "all are in tables");
    let runtimes = results.runtimes.as_mut().unwrap();
    let left_out = runtimes.matrices[1].rows.remove(0).cells[1].result.unwrap();
    let ladder = section(&results, Medium::Terminal, "ladder").unwrap();
    let cases: Vec<usize> =
        tables(&ladder).iter().flat_map(|t| &t.rows).filter_map(|row| row[0].case).collect();
    assert!(cases.contains(&(left_out as usize)), "{cases:?}");
    let measured = |index: &&usize| results.results[**index].n_trials > 0;
    assert_eq!(cases.iter().filter(measured).count(), cases.len());
}

#[test]
fn a_reason_stands_once_however_many_cells_lack_a_value() {
    let results = example_runtimes();
    let section = section(&results, Medium::Document, "runtimes").unwrap();
    let notes = said(&section, Tone::Note);
    assert_eq!(notes.len(), 3, "{notes:?}");
    assert!(notes[0].starts_with("(1) skipped: java"), "{notes:?}");
    assert!(notes[1].starts_with("(2) failed: "), "{notes:?}");
    assert!(notes[2].starts_with("2 of 9 trials failed"), "{notes:?}");
    let cells: Vec<String> = tables(&section).into_iter().flat_map(texts).flatten().collect();
    let marks = |mark: &str| cells.iter().filter(|cell| *cell == mark).count();
    assert_eq!((marks("skipped (1)"), marks("failed (2)")), (9, 1));
    let replays: Vec<_> =
        section.blocks.iter().filter(|block| matches!(block, Block::Command(..))).collect();
    let [Block::Command(name, command)] = replays[..] else { panic!("{replays:?}") };
    assert!(name.ends_with("(2)") && command.contains("payload=4096"));
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
    let of = |results: &Results| section(results, Medium::Document, "runtimes").unwrap();
    let found = of(&results);
    assert_eq!(tables(&found)[2].form, Form::Matrix);
    assert!(said(&found, Tone::Note).contains(&"–: go has no pipe."));
    let matrix = &mut results.runtimes.as_mut().unwrap().matrices[2];
    for (at, row) in matrix.rows.iter_mut().enumerate() {
        for (column, cell) in row.cells.iter_mut().enumerate().filter(|(c, _)| *c != at) {
            *cell = gap(&format!("{column} has no {at}"));
        }
    }
    let list = texts(tables(&of(&results))[2]);
    assert_eq!(list[0], ["pipe", "rust", "2.65 µs [2.61, 2.71]", "9", "valid"]);
    assert_eq!(list[2], ["websocket", "java", "skipped (1)", "", ""]);
    let matrices = &mut results.runtimes.as_mut().unwrap().matrices;
    *matrices = vec![matrices.clone(); 5].concat();
    let found = section(&results, Medium::Terminal, "runtimes").unwrap();
    let notes = said(&found, Tone::Note);
    assert!(notes.iter().all(|note| !note.contains("has no ")), "{notes:?}");
    let nowhere = |note: &&str| note.starts_with("Measured in none of the runtimes: websocket;");
    assert!(notes.iter().any(nowhere), "{notes:?}");
}

#[test]
fn few_sentences_and_candidates_are_for_terminals_alone() {
    let mut results = example_runtimes();
    let runtimes = results.runtimes.as_mut().unwrap();
    runtimes.added = vec![runtimes.added.clone(); 5].concat();
    let candidates = &mut runtimes.searches[0].candidates;
    *candidates = vec![candidates.clone(); 5].concat();
    let count = |medium| {
        let added = section(&results, medium, "added").unwrap();
        let search = section(&results, medium, "search").unwrap();
        let rows: usize = tables(&search).iter().map(|table| table.rows.len()).sum();
        (said(&added, Tone::Plain).len(), rows)
    };
    assert_eq!((count(Medium::Document), count(Medium::Terminal)), ((30, 15), (2, 6)));
    let added = section(&results, Medium::Terminal, "added").unwrap();
    let notes = said(&added, Tone::Note);
    assert!(notes.iter().any(|note| note.starts_with("28 more sentences")), "{notes:?}");
}

#[test]
fn only_hidden_threads_that_weigh_are_told() {
    let mut results = example_runtimes();
    let rows = |results: &Results| {
        section(results, Medium::Document, "threads").map(|s| texts(tables(&s)[0]))
    };
    let found = rows(&results).unwrap();
    assert!(found.iter().all(|row| row[1] == "recv\\_events"), "no 0.3 %: {found:?}");
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

#[test]
fn a_terminal_with_many_tables_has_one_number_a_row_and_says_what_it_lacks() {
    let mut results = example("wakeup");
    let table = results.published[0].clone();
    let all = 4 * table.rows.len();
    results.published = vec![table; 4];
    let found = |medium| section(&results, medium, "published").unwrap();
    let rows = |section: &Section| tables(section).iter().map(|t| t.rows.len()).sum::<usize>();
    assert_eq!(rows(&found(Medium::Document)), all);
    let brief = found(Medium::Terminal);
    let left = all - rows(&brief);
    assert!(left > 0 && left < all, "{left}");
    let notes = said(&brief, Tone::Note);
    let last = notes.last().unwrap();
    assert!(last.starts_with(&format!("{left} more published numbers")), "{last}");
}

/// Whatever a view writes last, no number is text before.
#[test]
fn a_cell_leads_to_its_case_and_keeps_its_value() {
    let results = example_results();
    let ladder = section(&results, Medium::Page, "ladder").unwrap();
    let rows: Vec<&Vec<Cell>> = tables(&ladder).into_iter().flat_map(|t| &t.rows).collect();
    assert_eq!(rows.len(), results.results.len());
    for row in rows {
        let case = &results.results[row[0].case.expect("a case")];
        let estimates = row.iter().filter_map(|cell| match &cell.value {
            Value::Estimate(measured) => Some(&measured.estimate),
            _ => None,
        });
        let shown = [Statistic::Cost, Statistic::P50, Statistic::P99];
        let own = case.estimates.iter().flat_map(|e| shown.into_iter().filter_map(|s| e.get(s)));
        assert!(estimates.eq(own), "{}", case.id);
    }
}
