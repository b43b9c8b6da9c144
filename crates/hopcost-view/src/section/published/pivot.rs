//! The numbers of published tables in rows and columns, each with what was measured here.

use hopcost_model::group::{distinct, grouped};
use hopcost_model::results::{
    CaseResult, PublishedField, PublishedLayout, PublishedRow, PublishedTable, Results,
};

use crate::names::Place;
use crate::number;
use crate::section::answer::{Doubts, between};
use crate::section::model::{
    Cell, Column, Form, Scale, Table, Value, numbers, repeated, words as texts,
};
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
pub(super) struct Pivot<'a> {
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
}

/// A column: of which file's numbers, or of those measured here.
type Side = Option<usize>;

impl<'a> Pivot<'a> {
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
        }
    }

    /// Where there is little room.
    pub fn brief(files: &[Vec<&'a PublishedTable>], results: &'a Results) -> Self {
        let whole = Self::whole(files, results);
        let Some(brief) = &whole.layout.brief else { return whole };
        let entries = whole.entries.into_iter();
        Self {
            entries: entries.filter(|entry| entry.row.statistic == brief.statistic).collect(),
            heading: None,
            rows: brief.rows.clone(),
            columns: brief.columns,
            whole: false,
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
                .then_some("relative: median of the ratios in one round."),
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

    /// The table; with a number at what has a note, where notes are wanted.
    pub fn table(&self, mut remarks: Option<&mut Numbered>) -> Table {
        let several = distinct(self.entries.iter().map(|entry| place(entry.table))).len() > 1;
        let rows =
            distinct(self.entries.iter().map(|e| (self.heading_of(e, several), self.key(e))));
        // Those under one heading stand together.
        let rows = grouped(rows, |(heading, _)| heading.clone()).into_iter();
        let rows: Vec<(String, Vec<&Entry>)> = rows
            .flat_map(|(_, rows)| rows)
            .map(|(heading, key)| {
                let own = self.entries.iter().filter(|entry| {
                    self.key(entry) == key && self.heading_of(entry, several) == heading
                });
                let own = own.collect();
                (heading, own)
            })
            .collect();
        let keys = self.column_keys();
        let mut columns = self.row_columns(&rows);
        for (key, side) in self.sides(&keys) {
            let own = |entries: &Vec<&'_ Entry<'a>>| {
                entries
                    .iter()
                    .filter(|entry| self.value(self.columns, entry) == key)
                    .filter(|entry| side.is_none_or(|file| file == entry.file))
                    .map(|entry| entry.row)
                    .collect::<Vec<_>>()
            };
            let mut cells: Vec<Cell> = rows
                .iter()
                .map(|(_, entries)| {
                    let deviation = self.deviation(entries, &key, side);
                    let own = own(entries);
                    match side {
                        None => self.here(&own, deviation),
                        Some(_) => own
                            .first()
                            .map_or(Cell::none(), |row| self.published(row, entries, deviation)),
                    }
                })
                .collect();
            if !cells.iter().all(Cell::is_empty) {
                for (cell, (_, entries)) in cells.iter_mut().zip(&rows) {
                    if side.is_none() && cell.is_empty() && !own(entries).is_empty() {
                        *cell = Cell::text("–");
                    }
                }
                columns.push((self.column(&key, side), cells));
            }
        }
        self.without_repeats(&mut columns);
        if let Some(remarks) = &mut remarks {
            self.number(&rows, &mut columns, remarks);
        }
        assembled(&rows.iter().map(|(heading, _)| heading.as_str()).collect::<Vec<_>>(), columns)
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

    /// The columns in their order: beside each number measured here the published one, or what
    /// was measured here and then each source.
    fn sides(&self, keys: &[String]) -> Vec<(String, Side)> {
        let here = keys.iter().map(|key| (key.clone(), None));
        match self.names.len() {
            0 => here.flat_map(|(key, _)| [(key.clone(), None), (key, Some(0))]).collect(),
            files => {
                let of = |file| keys.iter().map(move |key| (key.clone(), Some(file)));
                here.chain((0..files).flat_map(of)).collect()
            }
        }
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
            None => "here",
            Some(file) => self.names.get(file).copied().unwrap_or("published"),
        };
        match self.names.is_empty() {
            true if self.column_keys().len() == 1 => numbers(side),
            true => numbers(side).over(&name),
            false => numbers(&name).over(side),
        }
    }

    /// The columns that name the rows, and what the cases of the rows are where they differ.
    fn row_columns(&self, rows: &[(String, Vec<&Entry<'a>>)]) -> Vec<(Column, Vec<Cell>)> {
        let mut columns = Vec::new();
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
                let cell = |entries: &Vec<&Entry<'a>>| {
                    let Some(entry) = entries.first() else { return Cell::none() };
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
                columns.push((column, rows.iter().map(|(_, row)| cell(row)).collect()));
            }
        }
        if self.rows.contains(&PublishedField::Label) {
            let cases: Vec<Option<&CaseResult>> =
                rows.iter().map(|(_, entries)| self.case(entries)).collect();
            let told = |case: &CaseResult| (ends(case), case.case.runtime.clone());
            if distinct(cases.iter().flatten().map(|case| told(case))).len() > 1 {
                let several =
                    distinct(cases.iter().flatten().filter_map(|case| located(case))).len() > 1
                        && self.entries.iter().all(|entry| entry.table.place.is_none());
                let cell = |case: &Option<&CaseResult>| {
                    let Some(case) = case else { return Cell::text("not measured") };
                    let located = located(case).filter(|_| several).map(str::to_owned);
                    let parts = [Some(case.case.runtime.clone()), Some(ends(case)), located];
                    Cell::text(parts.into_iter().flatten().collect::<Vec<_>>().join(", "))
                };
                columns.push((texts("here"), cases.iter().map(cell).collect()));
            }
        }
        columns
    }

    fn case(&self, entries: &[&Entry]) -> Option<&'a CaseResult> {
        let id = entries.iter().find_map(|entry| entry.row.case.as_deref())?;
        self.results.results.get(index_of(self.results, id)?)
    }

    fn has_deviation(&self) -> bool {
        self.columns == PublishedField::Statistic
            && self.entries.iter().any(|entry| entry.row.statistic == STDEV)
    }

    /// The standard deviation that stands with a mean.
    fn deviation(&self, entries: &[&Entry<'a>], key: &str, side: Side) -> Option<&'a PublishedRow> {
        let own = entries.iter().filter(|entry| side.is_none_or(|file| entry.file == file));
        let mut own = own.filter(|_| key == "mean" && self.has_deviation()).map(|entry| entry.row);
        own.find(|row| row.statistic == STDEV)
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

    /// A published number, with the decimals that the source gives its neighbours.
    fn published(
        &self,
        row: &PublishedRow,
        entries: &[&Entry<'a>],
        deviation: Option<&PublishedRow>,
    ) -> Cell {
        let group = entries.first().map_or("", |entry| entry.table.group.as_str());
        let Some(key) = row.published else { return Cell::none() };
        let written = |row: &PublishedRow, value: f64| {
            let alike = self.entries.iter().filter(|entry| {
                entry.row.statistic == row.statistic
                    && entry.table.group == group
                    && entries.iter().any(|own| own.file == entry.file)
            });
            let numbers = alike.filter_map(|entry| entry.row.published);
            let decimals = numbers.map(decimals).max().unwrap_or(0);
            let write = |value: f64| match decimals {
                0 if value >= 10_000.0 => number::grouped(value as u64),
                _ => format!("{value:.decimals$}"),
            };
            if row.statistic == "relative" && row.published_high.is_none() && value == 1.0 {
                return "1".to_owned();
            }
            let high = row.published_high.filter(|high| *high != value);
            let high = high.map_or(String::new(), |high| format!("–{}", write(high)));
            format!("{}{high}", write(value))
        };
        let spread = deviation.and_then(|row| Some(format!("±{}", written(row, row.published?))));
        let text = format!("{}{}", written(row, key), spread.unwrap_or_default());
        Value::Sorted(text, key).into()
    }

    /// What is published for two columns is shown once, with the first.
    fn without_repeats(&self, columns: &mut Vec<(Column, Vec<Cell>)>) {
        if self.columns != PublishedField::Label {
            return;
        }
        let said = |cells: &[Cell]| -> Vec<Option<String>> {
            cells.iter().map(|cell| cell.value.shown().map(|shown| shown.to_string())).collect()
        };
        let mut above = Vec::new();
        columns.retain(|(column, cells)| {
            let own = said(cells);
            let repeats = column.head == "published" && own == above;
            if column.head == "published" {
                above = own;
            }
            !repeats
        });
    }

    /// Numbers the notes: at a column that they are of, or else at their row.
    fn number(
        &self,
        rows: &[(String, Vec<&Entry<'a>>)],
        columns: &mut [(Column, Vec<Cell>)],
        remarks: &mut Numbered,
    ) {
        let names = columns.iter().filter(|(column, _)| column.kind.is_words()).count();
        let last = self.rows.iter().map(|field| match field {
            PublishedField::Group => self.layout.group.len().max(1),
            _ => 1,
        });
        let last = last.sum::<usize>().min(names).saturating_sub(1);
        for (row, (_, entries)) in rows.iter().enumerate() {
            for entry in entries {
                let Some(note) = &entry.row.note else { continue };
                let key = self.value(self.columns, entry);
                let own = || self.entries.iter().filter(|e| self.value(self.columns, e) == key);
                let of_column = self.columns == PublishedField::Label
                    || own().all(|entry| entry.row.note.as_ref() == Some(note));
                let mark = format!("{MARK}{})", remarks.number(note));
                let add = |text: &mut String| {
                    if !text.contains(&mark) {
                        text.push_str(&mark);
                    }
                };
                if of_column {
                    let side = if self.names.is_empty() { None } else { Some(entry.file) };
                    let like = self.column(&key, side);
                    let head = columns.iter_mut().map(|(column, _)| column);
                    let head = head.filter(|c| c.over.split(MARK).next() == Some(&like.over));
                    match self.names.is_empty() {
                        true => head.for_each(|column| add(&mut column.over)),
                        false => head
                            .filter(|column| column.head == like.head)
                            .for_each(|column| add(&mut column.head)),
                    }
                } else if let Some((_, cells)) = columns.get_mut(last)
                    && let Some(Cell { value: Value::Words(text), .. }) = cells.get_mut(row)
                {
                    add(text);
                }
            }
        }
    }
}

/// What runs at the two sides of a case.
fn ends(case: &CaseResult) -> String {
    match case.case.placement {
        None => "one thread".to_owned(),
        Some(_) => between(case.case.boundary),
    }
}

/// On how many CPUs.
fn located(case: &CaseResult) -> Option<&'static str> {
    let word = case.case.placement?.word();
    Some(match word {
        "free" => Place::Free.name(),
        "same-cpu" => Place::One.name(),
        _ => Place::Two.name(),
    })
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

/// Decimals that a number needs.
fn decimals(value: f64) -> usize {
    value.to_string().split_once('.').map_or(0, |(_, decimals)| decimals.len())
}

/// The table, with the headings of its rows where they change.
fn assembled(headings: &[&str], columns: Vec<(Column, Vec<Cell>)>) -> Table {
    let mut rows: Vec<Vec<Cell>> = Vec::new();
    let mut cells: Vec<_> = columns.iter().map(|(_, cells)| cells.iter()).collect();
    let mut above = "";
    for heading in headings {
        if *heading != above {
            rows.push(vec![Cell::text(*heading)]);
        }
        above = heading;
        rows.push(cells.iter_mut().filter_map(|cells| cells.next().cloned()).collect());
    }
    Table {
        columns: columns.into_iter().map(|(column, _)| column).collect(),
        rows,
        form: Form::Columns,
    }
}
