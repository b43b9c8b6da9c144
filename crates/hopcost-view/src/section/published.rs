//! Published numbers beside what was measured here.

use hopcost_model::results::{PublishedRow, PublishedTable, Results};

use super::model::{
    Block, Cell, Medium, Rows, Scale, Section, Unit, Value, estimates, notes, numbers, words,
};
use super::words::{Numbered, index_of, sentence};
use crate::number;

pub(super) fn section(results: &Results, _: Medium) -> Option<Section> {
    let tables = &results.published;
    let mut blocks = Vec::new();
    for (at, table) in tables.iter().enumerate() {
        blocks.extend(part(table, results));
        // What several tables in a row have in common is said once, below the last.
        let own = provenance(table);
        if tables.get(at + 1).map(provenance).as_ref() != Some(&own) {
            blocks.extend(notes(own));
        }
    }
    Section::of("published", blocks)
}

fn part(table: &PublishedTable, results: &Results) -> Vec<Block> {
    let rows = &table.rows;
    // One statistic for all rows stands in the title.
    let first = rows.first().map_or("", |row| row.statistic.as_str());
    let alike = rows.iter().all(|row| row.statistic == first);
    let title = match first {
        first if alike && !first.is_empty() => format!("{} ({first})", table.title),
        _ => table.title.clone(),
    };
    let mut remarks = Numbered::default();
    let drawn = Rows::of(rows)
        .column(words("as published"), |row| {
            let note = row.note.as_ref().map(|note| format!(" ({})", remarks.number(note)));
            let case = row.case.as_ref().and_then(|id| index_of(results, id));
            Cell::text(row.label.clone() + &note.unwrap_or_default()).of(case)
        })
        .column_if(!alike, words("number"), |row| Cell::text(row.statistic.clone()))
        .column(numbers("published"), published)
        .column(estimates("here"), |row| match &row.measured {
            Some(measured) => Cell::estimate(Some(measured), Scale::Named(row.unit.clone())),
            None => Cell::text("not measured"),
        })
        .column(numbers("multiple published").fold(2), |row| {
            // No more than four digits, and no zeros that nobody wrote.
            let brief = |ratio: f64| number::plain(ratio, 4).parse().unwrap_or(ratio);
            Cell::maybe(row.published_ratio.map(brief), Unit::Spelled(String::new()))
        })
        .column(estimates("multiple here").fold(1), |row| {
            let case = row.case.as_deref().unwrap_or_default();
            Cell::ratio(row.measured_ratio.as_ref(), case)
        })
        .table();
    let heading = [Block::Heading(title), drawn];
    heading.into_iter().chain(remarks.notes()).chain(notes(orders(table))).collect()
}

fn published(row: &PublishedRow) -> Cell {
    match row.published_high {
        Some(high) if high != row.published => {
            let text = format!("{} to {high} {}", row.published, row.unit);
            Value::Sorted(text.trim_end().to_owned(), row.published).into()
        }
        _ => Cell::number(row.published, Unit::Spelled(row.unit.clone())),
    }
}

/// Joins the labels in an order that could not be told apart.
const TIE: &str = " = ";

/// Whether a measured order is the published one.
fn agreement(published: &[String], measured: &[String]) -> &'static str {
    let rank = |label: &str| measured.iter().position(|tied| tied.split(TIE).any(|l| l == label));
    let labels = published.iter().flat_map(|tied| tied.split(TIE));
    let ranks: Vec<Option<usize>> = labels.map(rank).collect();
    let unknown = ranks.iter().any(Option::is_none);
    match (ranks.is_sorted(), measured == published) {
        _ if unknown => "not the same labels",
        (true, true) => "the same",
        (true, false) => "the same where it could be told (“=”: it could not)",
        (false, _) => "another one",
    }
}

/// The two orders.
fn orders(table: &PublishedTable) -> Vec<String> {
    if table.order_published.is_empty() {
        return Vec::new();
    }
    let measured = match table.order_measured.as_slice() {
        [] => "No order measured here: not all of them were measured.".to_owned(),
        order => format!(
            "Order measured here: {}: {}.",
            order.join(" < "),
            agreement(&table.order_published, order)
        ),
    };
    vec![format!("Order as published: {}.", table.order_published.join(" < ")), measured]
}

/// What was really timed, by whom, and where.
fn provenance(table: &PublishedTable) -> Vec<String> {
    let lines = [
        ("What was really timed there", &table.timed),
        ("Source", &table.source),
        ("Machine there", &table.machine),
    ];
    let lines = lines.into_iter().filter(|(_, text)| !text.trim().is_empty());
    lines.map(|(name, text)| format!("{name}: {}", sentence(text))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tie_contradicts_no_order() {
        let all = |words: &[&str]| words.iter().map(|w| (*w).to_owned()).collect::<Vec<_>>();
        let published = all(&["a", "b", "c"]);
        let agrees = |measured: &[&str]| agreement(&published, &all(measured));
        assert_eq!(agrees(&["a", "b", "c"]), "the same");
        assert!(agrees(&["b = a", "c"]).starts_with("the same where"));
        assert_eq!(agrees(&["b", "a = c"]), "another one");
        assert_eq!(agrees(&["c", "b", "a"]), "another one");
        assert_eq!(agrees(&["a", "b"]), "not the same labels");
    }
}
