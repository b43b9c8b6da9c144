use super::model::{Block, Cell, Form, Medium, Section, Table, Tone, Value};
use super::report;
use crate::markdown;
use crate::stored::{results, worn};
use hopcost_model::results::{CaseResult, Results, RuntimeCell, Statistic, Status, ThreadResult};

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
fn a_reason_stands_once_however_many_cells_lack_a_value() {
    let mut results = results("runtimes");
    let matrices = &mut results.runtimes.as_mut().unwrap().matrices;
    matrices.truncate(1);
    let rows = &mut matrices[0].rows;
    let mut lacks = |row: usize, column: usize, status: Status, reason: &str| {
        let cell = &mut rows[row].cells[column];
        (cell.value, cell.ratio) = (None, None);
        let case = &mut results.results[cell.result.unwrap() as usize];
        (case.status, case.reason) = (status, Some(reason.to_owned()));
    };
    let (rust, java) = (0, 3);
    (0..5).for_each(|row| lacks(row, java, Status::Skipped, "java: not found"));
    lacks(1, rust, Status::Failed, "it hung up");
    let partly = &mut results.results[rows[2].cells[1].result.unwrap() as usize];
    (partly.n_trials, partly.n_failed) = (7, 2);
    partly.reason = Some("it said nothing".to_owned());
    let section = section(&results, Medium::Document, "runtimes").unwrap();
    let notes = said(&section, Tone::Note);
    assert_eq!(notes.len(), 3, "{notes:?}");
    assert_eq!(notes[..2], ["(1) skipped: java: not found", "(2) failed: it hung up"]);
    assert!(notes[2].starts_with("2 of 9 trials failed: it said nothing"), "{notes:?}");
    let cells: Vec<String> = tables(&section).into_iter().flat_map(texts).flatten().collect();
    let marks = |mark: &str| cells.iter().filter(|cell| *cell == mark).count();
    assert_eq!((marks("skipped (1)"), marks("failed (2)")), (5, 1));
    let replays: Vec<_> =
        section.blocks.iter().filter(|block| matches!(block, Block::Paste(..))).collect();
    let [Block::Paste(name, command)] = replays[..] else { panic!("{replays:?}") };
    assert!(name.ends_with("(2)") && command[0].contains("payload=64"));
}

#[test]
fn what_one_runtime_alone_has_is_a_list_without_gaps() {
    let mut results = results("runtimes");
    let runtimes = results.runtimes.as_mut().unwrap();
    runtimes.matrices.truncate(2);
    let cell = &mut runtimes.matrices[1].rows[1].cells;
    let cell = cell.iter_mut().find(|cell| cell.result.is_some()).unwrap();
    cell.value = None;
    let case = &mut results.results[cell.result.unwrap() as usize];
    (case.status, case.reason) = (Status::Skipped, Some("not found".to_owned()));
    let gap = RuntimeCell {
        result: None,
        value: None,
        ratio: None,
        missing: Some("go has no pipe".to_owned()),
    };
    runtimes.matrices[0].rows[0].cells[2] = gap;
    let of = |results: &Results| section(results, Medium::Document, "runtimes").unwrap();
    let found = of(&results);
    assert_eq!(tables(&found)[0].form, Form::Matrix);
    let notes = said(&found, Tone::Note);
    assert!(notes.contains(&"–: go has no pipe."), "only of matrices: {notes:?}");
    let list = texts(tables(&found)[1]);
    assert_eq!((list.len(), list[0].len()), (9, 5), "{list:?}");
    assert_eq!(list[0][..2], ["mp-shared-memory", "python"]);
    assert_eq!(list[1], ["mp-pipe", "python", "skipped (1)", "", ""]);
}

#[test]
fn only_hidden_threads_that_weigh_are_told() {
    let mut results = results("runtimes");
    let is_hidden = |case: &CaseResult| case.case.runtime == "python" && case.threads.len() > 3;
    let at = results.results.iter().position(is_hidden).unwrap();
    for (_, case) in results.results.iter_mut().enumerate().filter(|(index, _)| *index != at) {
        case.threads.clear();
    }
    let rows = |results: &Results| {
        section(results, Medium::Document, "threads").map(|s| texts(tables(&s)[0]))
    };
    let told = rows(&results).unwrap().len();
    assert!(told > 0);
    let threads = &mut results.results[at].threads;
    let hidden = threads.iter().find(|thread| thread.seat.is_none()).unwrap().clone();
    threads.push(ThreadResult { cpu_share: 0.003, name: "light".to_owned(), ..hidden });
    assert_eq!(rows(&results).unwrap().len(), told, "no 0.3 %");
    let threads = &mut results.results[at].threads;
    for thread in threads.iter_mut() {
        thread.cpu_share = if thread.seat.is_some() { 0.47 } else { 0.02 };
    }
    assert!(rows(&results).is_none(), "a few per cent are less than a tenth");
    results.results[at].threads.iter_mut().for_each(|thread| thread.cpu_share = 0.5);
    assert!(rows(&results).is_some());
    results.results[at].threads.iter_mut().for_each(|thread| thread.seat = None);
    assert!(rows(&results).is_none(), "which of them plays is not known");
}

/// Whatever a view writes last, no number is text before.
#[test]
fn a_cell_leads_to_its_case_and_keeps_its_value() {
    let results = worn();
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

#[test]
fn free_placement_says_where_the_ends_were() {
    let results = results("copies");
    let free = section(&results, Medium::Document, "placed").unwrap();
    let rows = texts(tables(&free)[0]);
    let placed = |case: &&CaseResult| !case.placed.is_empty();
    assert_eq!(rows.len(), results.results.iter().filter(placed).count());
    assert!(rows[0][1].contains(" of 6 trials)"), "{rows:?}");
    assert!(section(&results, Medium::Page, "placed").is_none(), "in the details of each case");
    let page = crate::html::report(&results);
    let n = page.matches("Where the scheduler put the ends").count();
    assert_eq!(n, rows.len());
    assert!(section(&crate::stored::results("wakeup"), Medium::Document, "placed").is_none());
}
