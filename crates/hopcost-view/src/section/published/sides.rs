//! The numbers of published tables in rows and columns, each with what was measured here.

use hopcost_model::group::distinct;
use hopcost_model::results::{
    CaseResult, PublishedField, PublishedLayout, PublishedRow, PublishedTable, Results,
};

use crate::number;
use crate::section::answer::{Doubts, between};
use crate::section::model::{Cell, Column, Scale, Table, Value, numbers, repeated, words as texts};
use crate::section::pivot::{Make, NO_NUMBER, Pivot, pivot};
use crate::section::words::{Numbered, index_of};

/// Statistics in the order of their columns; any other goes after them as its file has it.
const STATISTICS: [&str; 11] = [
    "throughput",
    "throughput-per-flow",
    "total",
    "mean",
    "stdev",
    "min",
    "p50",
    "p95",
    "p99",
    "relative",
    "difference",
];

/// The statistic that stands with a mean in one column.
const STDEV: &str = "stdev";

/// What the number of a note begins with, which no line breaks at.
const MARK: &str = "\u{202f}(";

/// A published number in its place.
struct Entry<'a> {
    file: usize,
    table: &'a PublishedTable,
    row: &'a PublishedRow,
}

/// What tables show, and in which rows and columns.
pub(super) struct Sides<'a> {
    entries: Vec<Entry<'a>>,
    heading: Option<PublishedField>,
    rows: Vec<PublishedField>,
    columns: PublishedField,
    layout: &'a PublishedLayout,
    /// What the numbers of each file are called, where there are several.
    names: Vec<&'a str>,
    results: &'a Results,
    doubts: Doubts<'a>,
    whole: bool,
    /// Whether there is room for ratios.
    has_ratios: bool,
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

/// Columns of numbers up to which each has its ratio beside it.
const RATIOS_MAX: usize = 2;

/// An entry in a column.
type Item<'e, 'a> = (&'e Entry<'a>, Side);

impl<'a> Sides<'a> {
    /// As the document has it.
    pub fn whole(files: &[Vec<&'a PublishedTable>], results: &'a Results) -> Self {
        let of = |(file, tables): (usize, &Vec<&'a PublishedTable>)| {
            let rows = tables.iter().flat_map(|table| table.rows.iter().map(|row| (*table, row)));
            rows.map(move |(table, row)| Entry { file, table, row }).collect::<Vec<_>>()
        };
        static NONE: PublishedLayout = PublishedLayout {
            heading: None,
            rows: Vec::new(),
            columns: PublishedField::Statistic,
            group: Vec::new(),
            label: String::new(),
            brief: None,
        };
        let first = |tables: &Vec<&'a PublishedTable>| tables.first().copied();
        let layout = files.first().and_then(first).map_or(&NONE, |table| &table.layout);
        let names = files.iter().filter_map(first).filter_map(|table| table.name.as_deref());
        Self {
            entries: files.iter().enumerate().flat_map(of).collect(),
            heading: layout.heading,
            rows: layout.rows.clone(),
            columns: layout.columns,
            layout,
            names: if files.len() > 1 { names.collect() } else { Vec::new() },
            results,
            doubts: Doubts::of(results),
            whole: true,
            has_ratios: true,
        }
    }

    /// Where there is little room.
    pub fn brief(files: &[Vec<&'a PublishedTable>], results: &'a Results) -> Self {
        let whole = Self::whole(files, results);
        let Some(brief) = &whole.layout.brief else {
            return Self { has_ratios: false, ..whole };
        };
        let entries = whole.entries.into_iter();
        Self {
            entries: entries.filter(|entry| entry.row.statistic == brief.statistic).collect(),
            heading: None,
            rows: brief.rows.clone(),
            columns: brief.columns,
            whole: false,
            has_ratios: false,
            ..whole
        }
    }

    /// Whether nothing is left out.
    pub fn is_whole(&self) -> bool {
        self.whole
    }

    /// What stands behind the title: what all rows have in common.
    pub fn setting(&self) -> String {
        let places = distinct(self.entries.iter().map(|entry| place(entry.table)));
        let own = places.first().filter(|place| places.len() == 1 && !place.is_empty());
        let statistics = distinct(self.entries.iter().map(|entry| entry.row.statistic.as_str()));
        let one = statistics.first().filter(|_| statistics.len() == 1);
        let unit = self.unit().filter(|unit| !unit.is_empty());
        let cases = self.entries.iter().filter_map(|entry| self.case(&[entry]));
        let runtimes = distinct(cases.map(|case| case.case.runtime.as_str()));
        let other = runtimes.first().filter(|other| runtimes.len() == 1 && **other != "rust");
        let parts = [
            other.map(|other| format!("here in {other}")),
            one.map(|statistic| named(statistic, None)),
            own.cloned(),
            unit.map(|unit| format!("in {unit}")),
        ];
        parts.into_iter().flatten().map(|part| format!(", {part}")).collect()
    }

    /// What is to be said of the columns.
    pub fn legend(&self) -> Option<String> {
        let is_multiple =
            |entry: &Entry| entry.row.statistic == "relative" && entry.row.measured_ratio.is_some();
        let said = [
            self.has_deviation()
                .then_some("±: standard deviation of all samples, whose quantiles these are."),
            (self.entries.iter().any(is_multiple))
                .then_some("relative: trimmed mean of the ratios in one round."),
        ];
        let said = said.into_iter().flatten().collect::<Vec<_>>().join(" ");
        (!said.is_empty()).then_some(said)
    }

    /// The unit of all numbers that have one, if it is the same.
    fn unit(&self) -> Option<&'a str> {
        let units = self.entries.iter().map(|entry| entry.row.unit.as_str());
        match distinct(units.filter(|unit| !unit.is_empty())).as_slice() {
            [unit] => Some(unit),
            _ => None,
        }
    }

    /// What an entry is told by.
    fn value(&self, field: PublishedField, entry: &Entry<'a>) -> String {
        match field {
            PublishedField::Group => entry.table.group.clone(),
            PublishedField::Label => entry.row.label.clone(),
            PublishedField::Statistic => entry.row.statistic.clone(),
        }
    }

    fn heading_of(&self, entry: &Entry<'a>, several: bool) -> String {
        let place = if several { place(entry.table) } else { String::new() };
        let own = self.heading.map_or(String::new(), |field| self.value(field, entry));
        let parts = [place, own].into_iter().filter(|part| !part.is_empty());
        parts.collect::<Vec<_>>().join(", ")
    }

    fn key(&self, entry: &Entry<'a>) -> Vec<String> {
        self.rows.iter().map(|field| self.value(*field, entry)).collect()
    }

    /// The table; with a number at a row that has a note, where notes are wanted.
    pub fn table(&self, remarks: Option<&mut Numbered>) -> Table {
        let several = distinct(self.entries.iter().map(|entry| place(entry.table))).len() > 1;
        let keys = self.column_keys();
        let columns = self.sides(&keys).into_iter();
        let columns = columns.map(|(key, side)| ((key.clone(), side), self.column(&key, side)));
        let items: Vec<Item<'_, 'a>> = self.entries.iter().flat_map(|e| self.items(e)).collect();
        let mut names = self.names_of_rows();
        if let (Some(remarks), Some((_, name))) = (remarks, names.last_mut()) {
            let marks = self.marks(remarks);
            let bare = std::mem::replace(name, Box::new(|_| Cell::none()));
            *name = Box::new(move |items| {
                let mut cell = bare(items);
                let own = items.iter().filter_map(|(entry, _)| entry.row.note.as_ref());
                for note in distinct(own) {
                    let mark = marks.iter().find(|(of, _)| of == note).map(|(_, mark)| mark);
                    if let (Value::Words(text), Some(mark)) = (&mut cell.value, mark) {
                        text.push_str(mark);
                    }
                }
                cell
            });
        }
        names.extend(self.measured_where());
        let table = pivot(
            &items,
            Pivot {
                row: &|(entry, _)| (self.heading_of(entry, several), self.key(entry)),
                names,
                columns: columns.collect(),
                column: &|(entry, side)| (self.column_key(entry), *side),
                cell: Box::new(|items| self.cell(items)),
            },
        );
        if self.columns == PublishedField::Label { without_repeats(table) } else { table }
    }

    /// The entry in each column that shows a number of it.
    fn items<'e>(&self, entry: &'e Entry<'a>) -> [Item<'e, 'a>; 3] {
        [Side::Here, Side::Published(entry.file), Side::Ratio].map(|side| (entry, side))
    }

    /// The notes with their marks. Where labels are columns, a note says of which it is.
    fn marks(&self, remarks: &mut Numbered) -> Vec<(String, String)> {
        let of_label = self.columns == PublishedField::Label;
        let notes = self.entries.iter().filter_map(|entry| {
            let note = entry.row.note.clone()?;
            let label = if of_label { format!("{}: ", entry.row.label) } else { String::new() };
            Some((format!("{label}{note}"), note))
        });
        let marked = distinct(notes).into_iter().map(|(says, note)| {
            let number = remarks.number(&says);
            (note, if of_label { String::new() } else { format!("{MARK}{number})") })
        });
        marked.collect()
    }

    /// The column of an entry: the standard deviation stands with its mean.
    fn column_key(&self, entry: &Entry<'a>) -> String {
        let key = self.value(self.columns, entry);
        if self.has_deviation() && key == STDEV { "mean".to_owned() } else { key }
    }

    fn cell(&self, items: &[&Item<'_, 'a>]) -> Cell {
        let Some((_, side)) = items.first() else { return Cell::none() };
        let entries: Vec<&Entry<'a>> = items.iter().map(|(entry, _)| *entry).collect();
        let spread = entries.iter().map(|entry| entry.row).find(|row| self.is_spread(row));
        let rows: Vec<&PublishedRow> =
            entries.iter().map(|entry| entry.row).filter(|row| !self.is_spread(row)).collect();
        let cell = match side {
            Side::Here => self.here(&rows, spread),
            Side::Published(_) => rows.first().map_or(Cell::none(), |row| published(row, spread)),
            Side::Ratio => rows.first().map_or(Cell::none(), |row| ratio(row)),
        };
        match cell.is_empty() && *side == Side::Here && !rows.is_empty() {
            true => Cell::text(NO_NUMBER),
            false => cell,
        }
    }

    fn is_spread(&self, row: &PublishedRow) -> bool {
        self.has_deviation() && row.statistic == STDEV
    }

    fn column_keys(&self) -> Vec<String> {
        let mut keys = distinct(self.entries.iter().map(|entry| self.value(self.columns, entry)));
        if self.columns == PublishedField::Statistic {
            let place = |key: &String| STATISTICS.iter().position(|known| known == key);
            keys.sort_by_key(|key| place(key).unwrap_or(STATISTICS.len()));
            let mean = keys.iter().any(|key| key == "mean");
            keys.retain(|key| !mean || key != STDEV);
        }
        keys
    }

    /// The columns in their order: beside each number measured here the published one and their
    /// ratio, or what was measured here and then each source.
    fn sides(&self, keys: &[String]) -> Vec<(String, Side)> {
        let of = |side| keys.iter().map(move |key| (key.clone(), side));
        if !self.names.is_empty() {
            let sources = (0..self.names.len()).flat_map(|file| of(Side::Published(file)));
            return of(Side::Here).chain(sources).collect();
        }
        let sides = [Side::Here, Side::Published(0), Side::Ratio];
        let has_ratios = self.has_ratios && keys.len() <= RATIOS_MAX;
        let sides = if has_ratios { &sides[..] } else { &sides[..2] };
        keys.iter().flat_map(|key| sides.iter().map(|side| (key.clone(), *side))).collect()
    }

    fn column(&self, key: &str, side: Side) -> Column {
        let is_mean = key == "mean" && self.has_deviation();
        let name = match self.columns {
            PublishedField::Statistic if is_mean => "mean ±".to_owned(),
            PublishedField::Statistic => {
                let of = self.entries.iter().find(|entry| entry.row.statistic == key);
                let unit = of.map_or("", |entry| entry.row.unit.as_str());
                let unit = if self.unit().is_some() { "" } else { unit };
                let comma = if unit.is_empty() { "" } else { ", " };
                let operations = of.and_then(|entry| entry.table.operations);
                let name = match key {
                    "p50" if !self.names.is_empty() => key.to_owned(),
                    key => named(key, operations),
                };
                format!("{name}{comma}{unit}")
            }
            _ => key.to_owned(),
        };
        let side = match side {
            Side::Here => "here",
            Side::Published(file) => self.names.get(file).copied().unwrap_or("published"),
            Side::Ratio => "ratio",
        };
        match self.names.is_empty() {
            true if self.column_keys().len() == 1 => numbers(side),
            true => numbers(side).over(&name),
            false => numbers(&name).over(side),
        }
    }

    /// The columns that name the rows.
    fn names_of_rows<'e>(&'e self) -> Vec<(Column, Make<'e, Item<'e, 'a>>)> {
        let mut columns: Vec<(Column, Make<'e, Item<'e, 'a>>)> = Vec::new();
        for (at, field) in self.rows.iter().enumerate() {
            let parts = match field {
                PublishedField::Group => self.layout.group.len().max(1),
                _ => 1,
            };
            for part in 0..parts {
                let name = match field {
                    PublishedField::Group => self.layout.group.get(part).map_or("", String::as_str),
                    PublishedField::Label if self.layout.label.is_empty() => "as published",
                    PublishedField::Label => &self.layout.label,
                    PublishedField::Statistic => "number",
                };
                let cell = move |items: &[&Item<'e, 'a>]| {
                    let Some((entry, _)) = items.first() else { return Cell::none() };
                    let value = self.value(*field, entry);
                    Cell::text(match field {
                        PublishedField::Group if parts > 1 => {
                            value.split(", ").nth(part).unwrap_or_default().to_owned()
                        }
                        PublishedField::Statistic => named(&value, entry.table.operations),
                        _ => value,
                    })
                };
                let column = match at + 1 < self.rows.len() {
                    true => repeated(name),
                    false => texts(name),
                };
                columns.push((column, Box::new(cell)));
            }
        }
        columns
    }

    /// What the cases of the rows are, where they differ.
    fn measured_where<'e>(&'e self) -> Option<(Column, Make<'e, Item<'e, 'a>>)> {
        let cases: Vec<&CaseResult> =
            self.entries.iter().filter_map(|entry| self.case(&[entry])).collect();
        let told = cases.iter().map(|case| (ends(case), case.case.runtime.clone()));
        if !self.rows.contains(&PublishedField::Label) || distinct(told).len() < 2 {
            return None;
        }
        let cell = move |items: &[&Item<'e, 'a>]| {
            let entries: Vec<&Entry<'a>> = items.iter().map(|(entry, _)| *entry).collect();
            let Some(case) = self.case(&entries) else { return Cell::text("not measured") };
            Cell::text(format!("{}, {}", case.case.runtime, ends(case)))
        };
        Some((texts("here"), Box::new(cell)))
    }

    fn case(&self, entries: &[&Entry]) -> Option<&'a CaseResult> {
        let id = entries.iter().find_map(|entry| entry.row.case.as_deref())?;
        self.results.results.get(index_of(self.results, id)?)
    }

    fn has_deviation(&self) -> bool {
        self.columns == PublishedField::Statistic
            && self.entries.iter().any(|entry| entry.row.statistic == STDEV)
    }

    /// What was measured here: of several sources' rows the first that has it.
    fn here(&self, rows: &[&PublishedRow], deviation: Option<&PublishedRow>) -> Cell {
        let is_found = |row: &&&PublishedRow| {
            row.measured.as_ref().is_some_and(|of| of.point.is_some())
                || row.measured.is_none() && row.measured_ratio.is_some()
        };
        let Some(row) = rows.iter().find(is_found) else { return Cell::none() };
        let index = row.case.as_ref().and_then(|id| index_of(self.results, id));
        let case = index.and_then(|index| self.results.results.get(index));
        let mark = case.map_or("", |case| self.doubts.mark(case));
        let spread = deviation.and_then(|row| row.measured.as_ref()?.point);
        let cell = match (&row.measured, spread) {
            (None, _) => {
                let own = row.case.as_deref().unwrap_or_default();
                let is_base = row.measured_ratio.as_ref().is_some_and(|r| r.baseline == own);
                match is_base {
                    true => Cell::sorted(Some(1.0), |_| "1".to_owned()),
                    false => Cell::brief_ratio(row.measured_ratio.as_ref(), own),
                }
            }
            (Some(measured), Some(spread)) => Cell::sorted(measured.point, |mean| {
                format!("{}±{}", narrow(mean, measured.digits), narrow(spread, 2))
            }),
            (Some(measured), None) if self.names.is_empty() => {
                Cell::brief(Some(measured), Scale::Power(0), mark)
            }
            (Some(measured), None) => {
                Cell::sorted(measured.point, |value| narrow(value, measured.digits))
            }
        };
        // With the ends of its interval, for whoever points at it.
        let told = match &row.measured {
            Some(measured) => Cell::estimate(Some(measured), Scale::Power(0)),
            None => Cell::ratio(row.measured_ratio.as_ref(), ""),
        };
        cell.of(index).hint(told.value.shown().map(|shown| shown.to_string()))
    }
}

/// A published number with its standard deviation, as the source writes them.
fn published(row: &PublishedRow, spread: Option<&PublishedRow>) -> Cell {
    let spread = spread.map_or(String::new(), |spread| format!("±{}", spread.written));
    Cell::sorted(row.published, |_| format!("{}{spread}", row.written))
}

/// What is published for two labels is shown once, with the first.
fn without_repeats(mut table: Table) -> Table {
    let shown = |table: &Table, at: usize| -> Vec<Option<f64>> {
        table.rows.iter().map(|row| row.get(at)?.value.key()).collect()
    };
    let published: Vec<usize> =
        (0..table.columns.len()).filter(|at| table.columns[*at].head == "published").collect();
    let repeats = |pair: &&[usize]| shown(&table, pair[0]) == shown(&table, pair[1]);
    let repeated: Vec<usize> = published.windows(2).filter(repeats).map(|pair| pair[1]).collect();
    for at in repeated.into_iter().rev() {
        table.columns.remove(at);
        table.rows.iter_mut().filter(|row| row.len() > at).for_each(|row| drop(row.remove(at)));
    }
    table
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
        ("mean", Some(_)) => "mean".to_owned(),
        (statistic, _) => statistic.replace('-', " "),
    }
}

/// Where a table's cases were measured, and what they touch, in words.
pub(super) fn place(table: &PublishedTable) -> String {
    let touch = match table.touch.as_str() {
        "verify" => String::new(),
        touch => format!("touch={touch}"),
    };
    let place = table.place.map_or("", |place| place.name());
    let parts = [place.to_owned(), touch].into_iter().filter(|part| !part.is_empty());
    parts.collect::<Vec<_>>().join(", ")
}

/// A number where many stand side by side.
fn narrow(value: f64, digits: u8) -> String {
    number::plain(value, digits.clamp(2, if value < 1.0 { 2 } else { 3 }))
}
