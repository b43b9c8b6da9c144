use super::model::{Block, Cell, Medium, Section, Table, Value};
use super::report;
use crate::stored::worn;
use hopcost_model::results::{Results, Statistic};

fn section(results: &Results, medium: Medium, id: &str) -> Option<Section> {
    report(results, medium, None).sections.into_iter().find(|section| section.id == id)
}

fn tables(section: &Section) -> Vec<&Table> {
    let blocks = section.blocks.iter();
    blocks.filter_map(|b| if let Block::Table(table) = b { Some(table) } else { None }).collect()
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
        let shown = [Statistic::Cost, Statistic::P50];
        let mut own =
            case.estimates.iter().flat_map(|e| shown.into_iter().filter_map(|s| e.get(s)));
        assert!(own.all(|own| estimates.clone().any(|of| of == own)), "{}", case.id);
    }
}
