//! Published numbers beside what was measured here.

use hopcost_model::results::{Estimate, PublishedRow, PublishedTable, Ratio, Results};

use super::{Cell, Column, Detail, Part, Row, Section, sentence};
use crate::number::{self, DIGITS_MAX};

/// Stands over every such table.
pub(crate) const NOT_JUDGED: &str = "Absolute numbers of another machine are shown beside those of \
    this one and are not judged; what can be compared are multiples and order.";

/// Tables from which on a terminal is shown one number a row of the source.
const MANY: usize = 4;

pub(super) fn section(results: &Results, detail: Detail) -> Option<Section> {
    if results.published.is_empty() {
        return None;
    }
    let brief = detail == Detail::Brief && results.published.len() >= MANY;
    let drawn = |table: &PublishedTable| match brief {
        true => part(&brief_of(table), results),
        false => part(table, results),
    };
    let mut parts: Vec<Part> = results.published.iter().map(drawn).collect();
    // What several tables in a row have in common is said once, below the last.
    for (at, table) in results.published.iter().enumerate() {
        let next = results.published.get(at + 1).map(provenance);
        let own = provenance(table);
        if next.as_ref() != Some(&own) {
            parts[at].notes.extend(own);
        }
    }
    if let (true, Some(last)) = (brief, parts.last_mut()) {
        let left_out: usize = results.published.iter().map(left_out).sum();
        last.notes.push(format!(
            "{left_out} more published numbers (of other statistics, or not measured here) are in \
             the HTML, Markdown and JSON reports."
        ));
    }
    Some(Section {
        id: "published",
        title: "Published beside measured",
        lead: NOT_JUDGED.to_owned(),
        parts,
    })
}

/// The table with the rows of one statistic alone, as far as they were measured.
fn brief_of(table: &PublishedTable) -> PublishedTable {
    PublishedTable { rows: kept(table).cloned().collect(), ..table.clone() }
}

fn left_out(table: &PublishedTable) -> usize {
    table.rows.len() - kept(table).count()
}

/// The median where the source has one, or else the mean: what orders it.
fn kept(table: &PublishedTable) -> impl Iterator<Item = &PublishedRow> {
    let has = |statistic: &str| table.rows.iter().any(|row| row.statistic == statistic);
    let one = ["p50", "mean", "cost"].into_iter().find(|statistic| has(statistic));
    table
        .rows
        .iter()
        .filter(move |row| row.measured.is_some() && one.is_none_or(|one| row.statistic == one))
}

fn part(table: &PublishedTable, results: &Results) -> Part {
    let ratios = table.rows.iter().any(|row| row.published_ratio.is_some());
    // One statistic for all rows stands in the title.
    let first = table.rows.first().map_or("", |row| row.statistic.as_str());
    let alike = table.rows.iter().all(|row| row.statistic == first);
    let title = match first {
        first if alike && !first.is_empty() => format!("{} ({first})", table.title),
        _ => table.title.clone(),
    };
    let mut columns = vec![
        Column::words("as published"),
        Column::words("number"),
        Column::number("published"),
        Column::number("here [interval]"),
    ];
    if ratios {
        columns.push(Column::number("× published").fold(2));
        columns.push(Column::number("× here [interval]").fold(1));
    }
    let mut notes: Vec<String> = Vec::new();
    let mut rows = Vec::new();
    for row in &table.rows {
        let mark = row.note.as_ref().map(|note| {
            let known = notes.iter().position(|n| n == note);
            known.unwrap_or_else(|| {
                notes.push(note.clone());
                notes.len() - 1
            }) + 1
        });
        let index = row.case.as_ref();
        let index = index.and_then(|id| results.results.iter().position(|case| case.id == *id));
        rows.push(Row { cells: cells(row, mark, alike, ratios), case: index });
    }
    let mut notes: Vec<String> =
        notes.iter().enumerate().map(|(i, note)| format!("({}) {note}", i + 1)).collect();
    notes.extend(orders(table));
    Part { title, columns, rows, notes, ..Part::default() }
}

fn cells(row: &PublishedRow, mark: Option<usize>, alike: bool, ratios: bool) -> Vec<Cell> {
    let label = match mark {
        Some(mark) => format!("{} ({mark})", row.label),
        None => row.label.clone(),
    };
    let range = match row.published_high {
        Some(high) if high != row.published => format!("{} to {high}", row.published),
        _ => row.published.to_string(),
    };
    let measured = match &row.measured {
        Some(measured) => Cell::estimate(Some(measured), |e| with_unit(e, &row.unit)),
        None => Cell::Text("not measured".to_owned()),
    };
    let mut cells = vec![
        Cell::Text(label),
        if alike { Cell::none() } else { Cell::Text(row.statistic.clone()) },
        Cell::Number(unit(range, &row.unit), row.published),
        measured,
    ];
    if ratios {
        cells.push(Cell::maybe(row.published_ratio, brief));
        cells.push(multiple(row.measured_ratio.as_ref(), row.case.as_deref()));
    }
    cells
}

fn unit(value: String, unit: &str) -> String {
    if unit.is_empty() { value } else { format!("{value} {unit}") }
}

/// `33.6 µs [33.1, 34.0]`, in the unit of the published number.
fn with_unit(estimate: &Estimate, name: &str) -> number::Shown {
    let mut shown = number::scaled(estimate, 0, DIGITS_MAX);
    if estimate.point.is_some() {
        name.clone_into(&mut shown.unit);
    }
    shown
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

/// A published multiple: no more than four digits, and no zeros that nobody wrote.
fn brief(ratio: f64) -> String {
    let text = number::plain(ratio, 4);
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

/// A multiple in a column whose heading has the sign.
fn multiple(ratio: Option<&Ratio>, own: Option<&str>) -> Cell {
    match Cell::ratio(ratio, own) {
        Cell::Number(text, value) => Cell::Number(text.trim_start_matches('×').to_owned(), value),
        cell => cell,
    }
}

/// The two orders.
fn orders(table: &PublishedTable) -> Vec<String> {
    if table.order_published.is_empty() {
        return Vec::new();
    }
    let measured = match table.order_measured.as_slice() {
        [] => "Order measured here: not known, for not all of them were measured.".to_owned(),
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
    fn a_terminal_with_many_tables_has_one_number_a_row_and_says_what_it_lacks() {
        let mut results = crate::fixture::example("wakeup");
        let table = results.published[0].clone();
        results.published = vec![table.clone(); MANY];
        let rows = |detail| {
            let section = section(&results, detail).unwrap();
            section.parts.iter().map(|part| part.rows.len()).sum::<usize>()
        };
        assert_eq!(rows(Detail::Whole), MANY * table.rows.len());
        let brief = rows(Detail::Brief);
        assert!(brief > 0 && brief < MANY * table.rows.len(), "{brief}");
        let section = section(&results, Detail::Brief).unwrap();
        let left = MANY * table.rows.len() - brief;
        let last = section.parts.last().unwrap().notes.last().unwrap();
        assert!(last.starts_with(&format!("{left} more published numbers")), "{last}");
    }

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
