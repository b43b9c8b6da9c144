//! Published tables in the rows and columns of their documents: beside each number what was measured
//! here, and the one as a multiple of the other.

use hopcost_model::group::{distinct, grouped};
use hopcost_read::results::{
    CaseResult, PublishedField as Field, PublishedRow, PublishedTable, Results,
};

use super::answer::{Doubts, between};
use super::model::{
    Block, Cell, Column, Form, Interval, Medium, Part, Rows, Scale, Section, Table, notes, numbers,
    repeated, words as texts,
};
use super::words::{index_of, sentence};
use crate::number;

/// Statistics in the order of their columns; any other goes after them as its file has it.
const STATISTICS: &str =
    "throughput throughput-per-flow total mean stdev min p50 p95 p99 relative difference";
/// Columns of numbers up to which each has its ratio beside it.
const RATIOS_MAX: usize = 2;
/// Notes up to which they stand below a table in brief.
const NOTES_MAX: usize = 3;

/// The tables of a run of their own suite.
pub(super) fn section(results: &Results, _: Medium) -> Option<Section> {
    Section::of("document", sheets(results).iter().flat_map(Sheet::whole))
}

/// The same in brief: what stands before its answer.
pub(super) fn brief(results: &Results) -> Vec<Block> {
    sheets(results).into_iter().flat_map(Sheet::brief).collect()
}

/// A published number in its place.
struct Entry<'a> {
    file: usize,
    table: &'a PublishedTable,
    row: &'a PublishedRow,
}

impl<'a> Entry<'a> {
    /// One of its names.
    fn value(&self, field: Field) -> &'a str {
        match field {
            Field::Group => &self.table.group,
            Field::Label => &self.row.label,
            Field::Statistic => &self.row.statistic,
        }
    }
}

/// The numbers of files whose rows are the same, beside what was measured once.
struct Sheet<'a> {
    /// A table of each file.
    files: Vec<&'a PublishedTable>,
    entries: Vec<Entry<'a>>,
    rows: &'a [Field],
    columns: Field,
    is_brief: bool,
    results: &'a Results,
    doubts: Doubts<'a>,
}

/// The sheets of a run: those of its suite.
fn sheets(results: &Results) -> Vec<Sheet<'_>> {
    let shown = hopcost_plan::shown_by(&results.plan.suite);
    let is_own = |file: &str| shown.is_some_and(|shown| shown.publishes(file));
    let tables = results.published.iter().filter(|table| is_own(&table.file));
    let placed = grouped(tables, |table| (table.file.as_str(), place(table)));
    let shown = placed.into_iter().filter(|(_, tables)| is_mostly_there(tables));
    let tables = shown.flat_map(|(_, tables)| tables);
    let files = grouped(tables, |table| table.file.as_str()).into_iter().map(|(_, tables)| tables);
    let same = grouped(files, |tables| {
        let rows = rows(tables).map(|(table, row)| (place(table), &table.group, &row.label));
        distinct(rows)
    });
    same.into_iter().map(|(_, files)| Sheet::of(&files, results)).collect()
}

/// The rows of tables, each with its table.
fn rows<'a>(
    tables: &[&'a PublishedTable],
) -> impl Iterator<Item = (&'a PublishedTable, &'a PublishedRow)> {
    tables.iter().flat_map(|table| table.rows.iter().map(|row| (*table, row)))
}

/// Whether half of what a source lists was measured: with less, it would be a table of gaps.
fn is_mostly_there(tables: &[&PublishedTable]) -> bool {
    let measured = rows(tables).filter(|(_, row)| row.measured.is_some());
    let found = distinct(measured.map(|(table, row)| (&table.group, &row.label))).len();
    2 * found >= distinct(rows(tables).map(|(table, row)| (&table.group, &row.label))).len()
}

/// Which number of an entry a column shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Here,
    /// As this file has it.
    Published(usize),
    /// The one as a multiple of the other.
    Ratio,
}

/// A row: its place where there are several, the fields that name it, and its entries.
type Row<'s, 'a> = ((String, Vec<&'a str>), Vec<&'s Entry<'a>>);

impl<'a> Sheet<'a> {
    fn of(files: &[Vec<&'a PublishedTable>], results: &'a Results) -> Self {
        // `grouped` has a table in each file, and a file in each sheet.
        let layout = &files[0][0].layout;
        let of = |(file, tables): (usize, &Vec<&'a PublishedTable>)| {
            rows(tables).map(|(table, row)| Entry { file, table, row }).collect::<Vec<_>>()
        };
        Self {
            files: files.iter().map(|tables| tables[0]).collect(),
            entries: files.iter().enumerate().flat_map(of).collect(),
            rows: &layout.rows,
            columns: layout.columns,
            is_brief: false,
            results,
            doubts: Doubts::of(results),
        }
    }

    /// Different texts of the files.
    fn told(&self, text: impl Fn(&'a PublishedTable) -> &'a str) -> String {
        distinct(self.files.iter().map(|table| text(table))).join("; ")
    }

    /// Table, notes, and everything that is known of the sources.
    fn whole(&self) -> Vec<Block> {
        let sources = self.files.iter().flat_map(|table| {
            let lines = [
                ("What was really timed there", &table.timed),
                ("Source", &table.source),
                ("Machine there", &table.machine),
            ];
            let name = table.name.as_ref().map_or(String::new(), |name| format!("{name}: "));
            let lines = lines.into_iter().filter(|(_, text)| !text.trim().is_empty());
            lines.map(move |(what, text)| format!("{name}{what}: {}", sentence(text)))
        });
        let said = notes(self.legend().into_iter().chain(self.remarks()).chain(sources));
        let head = [Block::Heading(self.title()), Block::Table(self.table())];
        head.into_iter().chain(said).collect()
    }

    /// Table, and in a line or two what was timed there, and by whom; few notes too.
    fn brief(mut self) -> Vec<Block> {
        let brief = self.files[0].layout.brief.as_ref();
        if let Some(brief) = brief {
            self.entries.retain(|entry| entry.row.statistic == brief.statistic);
            (self.columns, self.rows) = (brief.columns, &brief.rows);
        }
        self.is_brief = true;
        let mut remarks = self.remarks();
        if remarks.len() > NOTES_MAX || brief.is_some() {
            remarks.clear();
        }
        let (timed, source) = (self.told(|table| &table.timed), self.told(|table| &table.source));
        let told = [("Timed there: ", timed), ("Source: ", source)].into_iter();
        let told = told.filter(|(_, text)| !text.is_empty());
        let told = told.map(|(what, text)| format!("{what}{}", sentence(&text)));
        let said = self.legend().into_iter().chain(told).collect::<Vec<_>>().join(" ");
        remarks.extend(Some(said).filter(|said| !said.is_empty()));
        let table = Table { form: Form::Brief, ..self.table() };
        let head = [Block::Heading(self.title()), Block::Table(table)];
        head.into_iter().chain(notes(remarks)).collect()
    }

    /// What it shows, and what all of its rows have in common.
    fn title(&self) -> String {
        let places = distinct(self.entries.iter().map(|entry| place(entry.table)));
        let statistics = distinct(self.entries.iter().map(|entry| entry.row.statistic.as_str()));
        let cases = self.entries.iter().filter_map(|entry| self.case(&[entry]));
        let runtimes = distinct(cases.map(|case| case.case.runtime.as_str()));
        let other = runtimes.first().filter(|other| runtimes.len() == 1 && **other != "rust");
        let one = statistics.first().filter(|_| statistics.len() == 1);
        let parts = [
            other.map(|other| format!("here in {other}")),
            one.map(|statistic| named(statistic, None)),
            places.first().filter(|_| places.len() == 1).cloned(),
            self.unit().map(|unit| format!("in {unit}")),
        ];
        let files = self.told(|table| &table.file_title);
        joined([Some(files)].into_iter().chain(parts).flatten())
    }

    /// The legend of the columns.
    fn legend(&self) -> Option<String> {
        let is_multiple =
            |entry: &Entry| entry.row.statistic == "relative" && entry.row.measured_ratio.is_some();
        let said = "relative: trimmed mean of the ratios in one round.";
        self.entries.iter().any(is_multiple).then(|| said.to_owned())
    }

    /// The unit of all numbers that have one, if it is the same.
    fn unit(&self) -> Option<&'a str> {
        let units = self.entries.iter().map(|entry| entry.row.unit.as_str());
        match distinct(units.filter(|unit| !unit.is_empty())).as_slice() {
            [unit] => Some(unit),
            _ => None,
        }
    }

    fn table(&self) -> Table {
        let several = distinct(self.entries.iter().map(|entry| place(entry.table))).len() > 1;
        let key = |entry: &&Entry<'a>| {
            let place = if several { place(entry.table) } else { String::new() };
            (place, self.rows.iter().map(|field| entry.value(*field)).collect())
        };
        let mut rows: Vec<Row> = grouped(&self.entries, key);
        let first = |((place, names), _): &Row<'_, 'a>| (place.clone(), names.first().copied());
        let firsts = distinct(rows.iter().map(first));
        rows.sort_by_key(|row| firsts.iter().position(|of| *of == first(row)));
        let keys = self.column_keys();
        let cell = |(_, entries): &Row<'_, 'a>, key: &str, side: Side| {
            let is_here = |entry: &&&Entry| match side {
                Side::Published(file) if entry.file != file => false,
                _ => entry.value(self.columns) == key,
            };
            let entries: Vec<&Entry<'a>> = entries.iter().filter(is_here).copied().collect();
            self.cell(&entries, side)
        };
        let named = Rows::of(&rows)
            .column(repeated("place"), |((place, _), _)| Cell::text(place.as_str()))
            .parts(|(_, entries)| self.named(entries));
        let all = self.sides(&keys).into_iter().fold(named, |table, (key, side)| {
            table.column(self.column(key, side, keys.len()), |row| cell(row, key, side))
        });
        all.table
    }

    /// The notes, each with the labels of its rows.
    fn remarks(&self) -> Vec<String> {
        let noted = self.entries.iter().filter_map(|entry| Some((entry.row.note.as_ref()?, entry)));
        let said = grouped(noted, |(note, _)| *note).into_iter().map(|(note, entries)| {
            let labels = entries
                .into_iter()
                .map(|(_, entry)| joined([entry.table.group.clone(), entry.row.label.clone()]));
            format!("{}: {note}", distinct(labels).join("; "))
        });
        said.collect()
    }

    /// The columns that name a row: its fields, and what its case is where cases differ.
    fn named(&self, entries: &[&Entry<'a>]) -> Vec<Part> {
        let layout = &self.files[0].layout;
        let mut parts: Vec<Part> = Vec::new();
        for (at, field) in self.rows.iter().enumerate() {
            let value = entries[0].value(*field);
            let statistic = named(value, entries[0].table.operations);
            let own: Vec<(&str, &str)> = match field {
                Field::Statistic => vec![("number", &statistic)],
                Field::Label if layout.label.is_empty() => vec![("as published", value)],
                Field::Label => vec![(&layout.label, value)],
                Field::Group => {
                    let heads = layout.group.iter().map(String::as_str).chain([""]);
                    heads.zip(value.splitn(layout.group.len().max(1), ", ")).collect()
                }
            };
            let is_last = at + 1 == self.rows.len();
            let head = |head: &str| if is_last { texts(head) } else { repeated(head) };
            parts.extend(own.into_iter().map(|(of, text)| (head(of), Cell::text(text))));
        }
        let cases = self.entries.iter().filter_map(|entry| self.case(&[entry]));
        let told = distinct(cases.map(|case| (ends(case), case.case.runtime.clone())));
        if self.rows.contains(&Field::Label) && told.len() > 1 {
            let case = self.case(entries);
            let case = case.map(|case| format!("{}, {}", case.case.runtime, ends(case)));
            parts.push((texts("here"), Cell::text(case.unwrap_or("not measured".to_owned()))));
        }
        parts
    }

    fn column_keys(&self) -> Vec<&'a str> {
        let mut keys = distinct(self.entries.iter().map(|entry| entry.value(self.columns)));
        if self.columns == Field::Statistic {
            let place = |key: &&str| STATISTICS.split(' ').position(|known| known == *key);
            keys.sort_by_key(|key| place(key).unwrap_or(usize::MAX));
        }
        keys
    }

    /// The columns in their order: beside each number measured here the published ones and their
    /// ratio.
    fn sides(&self, keys: &[&'a str]) -> Vec<(&'a str, Side)> {
        let published = (0..self.files.len()).map(Side::Published);
        let mut sides: Vec<Side> = std::iter::once(Side::Here).chain(published).collect();
        if !self.is_brief && keys.len() <= RATIOS_MAX && self.files.len() == 1 {
            sides.push(Side::Ratio);
        }
        keys.iter().flat_map(|key| sides.iter().map(|side| (*key, *side))).collect()
    }

    fn column(&self, key: &str, side: Side, keys: usize) -> Column {
        let of = self.entries.iter().find(|entry| entry.row.statistic == key);
        let name = match (self.columns, of) {
            (Field::Statistic, Some(of)) => {
                let is_told = self.unit().is_some();
                let unit = if is_told { String::new() } else { of.row.unit.clone() };
                joined([named(key, of.table.operations), unit])
            }
            _ => key.to_owned(),
        };
        let side = match side {
            Side::Here => "here",
            Side::Published(file) if self.files.len() > 1 => {
                self.files[file].name.as_deref().unwrap_or("published")
            }
            Side::Published(_) => "published",
            Side::Ratio => "ratio",
        };
        let mut own = self.entries.iter().filter(|entry| entry.value(self.columns) == key);
        let is_measured =
            |entry: &Entry| entry.row.measured.is_some() || entry.row.measured_ratio.is_some();
        let column = if keys == 1 { numbers(side) } else { numbers(side).over(&name) };
        column.fold(u8::from(!own.any(is_measured)))
    }

    fn cell(&self, entries: &[&Entry<'a>], side: Side) -> Cell {
        match (side, entries.first()) {
            (Side::Here, _) => self.here(entries),
            (_, None) => Cell::none(),
            (Side::Ratio, Some(entry)) => ratio(entry.row),
            (Side::Published(_), Some(entry)) => {
                Cell::sorted(entry.row.published, |_| entry.row.written.clone())
            }
        }
    }

    fn case(&self, entries: &[&Entry]) -> Option<&'a CaseResult> {
        let id = entries.iter().find_map(|entry| entry.row.case.as_deref())?;
        self.results.results.get(index_of(self.results, id)?)
    }

    /// What was measured here: of several sources' rows the first that has it.
    fn here(&self, entries: &[&Entry<'a>]) -> Cell {
        let is_found = |row: &&PublishedRow| match &row.measured {
            Some(measured) => measured.point.is_some(),
            None => row.measured_ratio.is_some(),
        };
        let Some(row) = entries.iter().map(|entry| entry.row).find(is_found) else {
            return Cell::none();
        };
        let own = row.case.as_deref().unwrap_or_default();
        let index = index_of(self.results, own);
        let mark = index.map_or("", |index| self.doubts.mark(&self.results.results[index]));
        let cell = match (&row.measured, &row.measured_ratio) {
            (Some(of), _) if self.files.len() == 1 => {
                Cell::brief(Some(of), Scale::Power(0)).marked(mark)
            }
            (Some(of), _) => Cell::sorted(of.point, |value| narrow(value, of.digits)),
            (None, Some(ratio)) if ratio.baseline == own => Cell::worded("1", 1.0),
            // Without an interval, a median of a few ratios may contradict the values.
            (None, Some(ratio)) if ratio.low.is_some() => Cell::multiple(ratio, Interval::Relative),
            (None, _) => Cell::none(),
        };
        cell.of(index)
    }
}

/// What was measured here as a multiple of what is published. A range has none, and neither has a
/// multiple.
fn ratio(row: &PublishedRow) -> Cell {
    let published = row.published.filter(|of| row.published_high.is_none() && *of > 0.0);
    let here = row.measured.as_ref().and_then(|measured| measured.point);
    let found = here.zip(published).map(|(here, published)| here / published);
    Cell::sorted(found, |ratio| format!("×{}", number::plain(ratio, 2)))
}

/// What runs at the two sides of a case.
fn ends(case: &CaseResult) -> String {
    match case.case.placement {
        None => "one thread".to_owned(),
        Some(_) => between(case.case.boundary),
    }
}

/// A statistic in words.
fn named(statistic: &str, operations: Option<u64>) -> String {
    match (statistic, operations) {
        ("total", Some(operations)) => format!("total of {}", number::grouped(operations)),
        ("p50", _) => "median".to_owned(),
        ("throughput-per-flow", _) => "throughput of a flow".to_owned(),
        (statistic, _) => statistic.replace('-', " "),
    }
}

/// Where a table's cases were measured, in words.
fn place(table: &PublishedTable) -> String {
    table.place.map_or(String::new(), |place| place.name().to_owned())
}

/// The parts that are not empty.
fn joined(parts: impl IntoIterator<Item = String>) -> String {
    let parts = parts.into_iter().filter(|part| !part.is_empty());
    parts.collect::<Vec<_>>().join(", ")
}

/// A number where many stand side by side.
fn narrow(value: f64, digits: u8) -> String {
    number::plain(value, digits.clamp(2, if value < 1.0 { 2 } else { 3 }))
}
