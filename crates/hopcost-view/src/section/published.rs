//! Published tables in the rows and columns of their documents: beside each number what was measured
//! here, and the one as a multiple of the other.

use hopcost_model::group::{distinct, grouped};
use hopcost_read::results::{
    CaseResult, PublishedField, PublishedLayout, PublishedRow, PublishedTable, Results,
};

use super::answer::{Doubts, between};
use super::model::{
    Block, Cell, Column, Form, Medium, Scale, Section, Table, notes, numbers, repeated,
    words as texts,
};
use super::pivot::{Part, pivot};
use super::words::{index_of, sentence};
use crate::number;

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
/// Columns of numbers up to which each has its ratio beside it.
const RATIOS_MAX: usize = 2;
/// Notes up to which they stand below a table in brief.
const NOTES_MAX: usize = 3;

/// The tables of a run of their own suite, before everything else.
pub(super) fn document(results: &Results, _: Medium) -> Option<Section> {
    Section::of("document", sheets(results, true).iter().flat_map(Sheet::whole))
}

/// Those that another run has cases for.
pub(super) fn section(results: &Results, _: Medium) -> Option<Section> {
    Section::of("published", sheets(results, false).iter().flat_map(Sheet::whole))
}

/// The tables of a run of their own suite, in brief: what stands before its answer.
pub(super) fn brief(results: &Results) -> Vec<Block> {
    let mut above = String::new();
    let sheets = sheets(results, true).into_iter();
    sheets.flat_map(|sheet| sheet.brief(&mut above)).collect()
}

/// A published number in its place.
struct Entry<'a> {
    file: usize,
    table: &'a PublishedTable,
    row: &'a PublishedRow,
}

/// The numbers of files whose rows are the same, beside what was measured once.
struct Sheet<'a> {
    /// A table of each file.
    files: Vec<&'a PublishedTable>,
    entries: Vec<Entry<'a>>,
    heading: Option<PublishedField>,
    rows: Vec<PublishedField>,
    columns: PublishedField,
    results: &'a Results,
    doubts: Doubts<'a>,
    has_ratios: bool,
}

/// The sheets of a run: of its own suite, or of others.
fn sheets(results: &Results, own: bool) -> Vec<Sheet<'_>> {
    let shown = hopcost_plan::shown_by(&results.plan.suite);
    let is_own = |file: &str| shown.is_some_and(|shown| shown.publishes(file));
    let tables = results.published.iter().filter(|table| is_own(&table.file) == own);
    let placed = grouped(tables, |table| (table.file.as_str(), place(table)));
    let shown = placed.into_iter().filter(|(_, tables)| is_mostly_there(tables));
    let tables = shown.flat_map(|(_, tables)| tables);
    let files = grouped(tables, |table| table.file.as_str()).into_iter().map(|(_, tables)| tables);
    let keys = |tables: &[&PublishedTable]| {
        let rows = tables.iter().flat_map(|table| {
            table.rows.iter().map(|row| (place(table), table.group.clone(), row.label.clone()))
        });
        distinct(rows)
    };
    let same = grouped(files, |tables| keys(tables));
    same.into_iter().map(|(_, files)| Sheet::of(&files, results)).collect()
}

/// Whether half of what a source lists was measured: with less, it would be a table of gaps.
fn is_mostly_there(tables: &[&PublishedTable]) -> bool {
    let rows = || tables.iter().flat_map(|table| table.rows.iter().map(move |row| (table, row)));
    let measured = rows().filter(|(_, row)| row.measured.is_some());
    let found = distinct(measured.map(|(table, row)| (&table.group, &row.label))).len();
    2 * found >= distinct(rows().map(|(table, row)| (&table.group, &row.label))).len()
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

/// A row: its heading and the fields that name it, and its entries.
type Row<'s, 'a> = ((String, Vec<String>), Vec<&'s Entry<'a>>);

impl<'a> Sheet<'a> {
    fn of(files: &[Vec<&'a PublishedTable>], results: &'a Results) -> Self {
        let of = |(file, tables): (usize, &Vec<&'a PublishedTable>)| {
            let rows = tables.iter().flat_map(|table| table.rows.iter().map(|row| (*table, row)));
            rows.map(move |(table, row)| Entry { file, table, row }).collect::<Vec<_>>()
        };
        // `grouped` has a table in each file, and a file in each sheet.
        let layout = &files[0][0].layout;
        Self {
            files: files.iter().map(|tables| tables[0]).collect(),
            entries: files.iter().enumerate().flat_map(of).collect(),
            heading: layout.heading,
            rows: layout.rows.clone(),
            columns: layout.columns,
            results,
            doubts: Doubts::of(results),
            has_ratios: true,
        }
    }

    fn layout(&self) -> &'a PublishedLayout {
        &self.files[0].layout
    }

    /// What the numbers of each file are called, where there are several.
    fn names(&self) -> Vec<&'a str> {
        let named = self.files.iter().filter(|_| self.files.len() > 1);
        named.map(|table| table.name.as_deref().unwrap_or("published")).collect()
    }

    /// Different texts of the files.
    fn told(&self, text: impl Fn(&'a PublishedTable) -> &'a str) -> String {
        distinct(self.files.iter().map(|table| text(table))).join("; ")
    }

    /// Table, notes, and everything that is known of the sources.
    fn whole(&self) -> Vec<Block> {
        let table = Table { form: Form::Columns, ..self.table() };
        let sources = self.files.iter().flat_map(|table| {
            let lines = [
                ("What was really timed there", &table.timed),
                ("Source", &table.source),
                ("Machine there", &table.machine),
            ];
            let name = table.name.as_ref().map_or(String::new(), |name| format!("{name}: "));
            let lines = lines.into_iter().filter(|(_, text)| !text.trim().is_empty());
            let told = lines.map(|(what, text)| format!("{name}{what}: {}", sentence(text)));
            told.collect::<Vec<_>>()
        });
        let said = notes(self.legend().into_iter().chain(self.remarks()).chain(sources));
        [Block::Heading(self.title()), Block::Table(table)].into_iter().chain(said).collect()
    }

    /// Table, and in a line or two what was timed there, and by whom where that is not the
    /// source of the one above; few notes too.
    fn brief(mut self, above: &mut String) -> Vec<Block> {
        let brief = self.layout().brief.as_ref();
        if let Some(brief) = brief {
            self.entries.retain(|entry| entry.row.statistic == brief.statistic);
            (self.heading, self.columns) = (None, brief.columns);
            self.rows.clone_from(&brief.rows);
        }
        self.has_ratios = false;
        let mut remarks = self.remarks();
        if remarks.len() > NOTES_MAX || brief.is_some() {
            remarks.clear();
        }
        let source = self.told(|table| &table.source);
        let told =
            [("Timed there: ", self.told(|table| &table.timed)), ("Source: ", source.clone())];
        let is_new = source != *above;
        let told = told.into_iter().filter(|(_, text)| !text.is_empty() && is_new);
        let told = told.map(|(what, text)| format!("{what}{}", sentence(&text)));
        let said = self.legend().into_iter().chain(told).collect::<Vec<_>>().join(" ");
        let said = notes(Some(said).filter(|said| !said.is_empty()));
        *above = source;
        let head = [Block::Heading(self.title()), Block::Table(self.table())].into_iter();
        head.chain(notes(remarks)).chain(said).collect()
    }

    /// What it shows, and what all of its rows have in common.
    fn title(&self) -> String {
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
        let setting = parts.into_iter().flatten().map(|part| format!(", {part}"));
        format!("{}{}", self.told(|table| &table.file_title), setting.collect::<String>())
    }

    /// The legend of the columns.
    fn legend(&self) -> Option<String> {
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

    fn table(&self) -> Table {
        let several = distinct(self.entries.iter().map(|entry| place(entry.table))).len() > 1;
        let key = |entry: &&Entry<'a>| {
            let place = if several { place(entry.table) } else { String::new() };
            let own = self.heading.map_or(String::new(), |field| value(field, entry));
            let parts = [place, own].into_iter().filter(|part| !part.is_empty());
            let heading = parts.collect::<Vec<_>>().join(", ");
            (heading, self.rows.iter().map(|field| value(*field, entry)).collect())
        };
        let mut rows: Vec<Row> = grouped(&self.entries, key);
        let headings = distinct(rows.iter().map(|((heading, _), _)| heading.clone()));
        rows.sort_by_key(|((heading, _), _)| headings.iter().position(|of| of == heading));
        let keys = self.column_keys();
        let mut table = pivot(
            &rows,
            |(_, entries)| self.named(entries),
            &self.sides(&keys),
            |(_, entries), (key, side)| {
                let is_here = |entry: &&&Entry<'a>| {
                    self.column_key(entry) == *key
                        && match side {
                            Side::Published(file) => entry.file == *file,
                            Side::Here | Side::Ratio => true,
                        }
                };
                let entries: Vec<&Entry<'a>> = entries.iter().filter(is_here).copied().collect();
                vec![(self.column(key, *side, keys.len()), self.cell(&entries, *side))]
            },
        );
        for (at, ((heading, _), _)) in rows.iter().enumerate().rev() {
            if !heading.is_empty() && (at == 0 || rows[at - 1].0.0 != *heading) {
                table.rows.insert(at, vec![Cell::text(heading.as_str())]);
            }
        }
        if self.columns == PublishedField::Label { without_repeats(table) } else { table }
    }

    /// The notes, each with the labels of its rows.
    fn remarks(&self) -> Vec<String> {
        let noted = self.entries.iter().filter_map(|entry| Some((entry.row.note.as_ref()?, entry)));
        let said = grouped(noted, |(note, _)| *note).into_iter().map(|(note, entries)| {
            let named = |(_, entry): (&String, &Entry)| {
                let group = [entry.table.group.as_str(), entry.row.label.as_str()];
                group.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
            };
            let labels = distinct(entries.into_iter().map(named)).join("; ");
            format!("{labels}: {note}")
        });
        said.collect()
    }

    /// The columns that name a row: its fields, and what its case is where cases differ.
    fn named(&self, entries: &[&Entry<'a>]) -> Vec<Part> {
        let mut parts: Vec<Part> = Vec::new();
        for (at, field) in self.rows.iter().enumerate() {
            let value = value(*field, entries[0]);
            let heads = match field {
                PublishedField::Group if !self.layout().group.is_empty() => {
                    self.layout().group.clone()
                }
                PublishedField::Group => vec![String::new()],
                PublishedField::Label if self.layout().label.is_empty() => {
                    vec!["as published".to_owned()]
                }
                PublishedField::Label => vec![self.layout().label.clone()],
                PublishedField::Statistic => vec!["number".to_owned()],
            };
            let texts_of = match field {
                PublishedField::Statistic => vec![named(&value, entries[0].table.operations)],
                PublishedField::Group if heads.len() > 1 => {
                    value.split(", ").map(str::to_owned).collect()
                }
                _ => vec![value],
            };
            let is_last = at + 1 == self.rows.len();
            let head = |head: &String| if is_last { texts(head) } else { repeated(head) };
            parts.extend(heads.iter().zip(texts_of).map(|(of, text)| (head(of), Cell::text(text))));
        }
        let is_named = self.rows.contains(&PublishedField::Label);
        let cases = self.entries.iter().filter_map(|entry| self.case(&[entry]));
        let told = distinct(cases.map(|case| (ends(case), case.case.runtime.clone())));
        if is_named && told.len() > 1 {
            let case = self.case(entries);
            let case = case.map(|case| format!("{}, {}", case.case.runtime, ends(case)));
            parts.push((texts("here"), Cell::text(case.unwrap_or("not measured".to_owned()))));
        }
        parts
    }

    /// The column of an entry: the standard deviation stands with its mean.
    fn column_key(&self, entry: &Entry<'a>) -> String {
        let key = value(self.columns, entry);
        if self.has_deviation() && key == STDEV { "mean".to_owned() } else { key }
    }

    fn column_keys(&self) -> Vec<String> {
        let mut keys = distinct(self.entries.iter().map(|entry| value(self.columns, entry)));
        if self.columns == PublishedField::Statistic {
            let place = |key: &String| STATISTICS.iter().position(|known| known == key);
            keys.sort_by_key(|key| place(key).unwrap_or(STATISTICS.len()));
            let mean = keys.iter().any(|key| key == "mean");
            keys.retain(|key| !mean || key != STDEV);
        }
        keys
    }

    /// The columns in their order: beside each number measured here the published ones and their
    /// ratio; or of several statistics what was measured here, and then each source.
    fn sides(&self, keys: &[String]) -> Vec<(String, Side)> {
        let published = (0..self.files.len()).map(Side::Published);
        let mut sides: Vec<Side> = std::iter::once(Side::Here).chain(published).collect();
        if self.has_ratios && keys.len() <= RATIOS_MAX && self.files.len() == 1 {
            sides.push(Side::Ratio);
        }
        let of = |side: &Side| keys.iter().map(|key| (key.clone(), *side)).collect::<Vec<_>>();
        match self.is_by_source() {
            true => sides.iter().flat_map(of).collect(),
            false => {
                keys.iter().flat_map(|key| sides.iter().map(|side| (key.clone(), *side))).collect()
            }
        }
    }

    /// Whether the statistics of one source stand together.
    fn is_by_source(&self) -> bool {
        self.files.len() > 1 && self.columns == PublishedField::Statistic
    }

    fn column(&self, key: &str, side: Side, keys: usize) -> Column {
        let name = match self.columns {
            PublishedField::Statistic if key == "mean" && self.has_deviation() => "mean ±".into(),
            PublishedField::Statistic => {
                let of = self.entries.iter().find(|entry| entry.row.statistic == key);
                let unit = of.map_or("", |entry| entry.row.unit.as_str());
                let unit = if self.unit().is_some() { "" } else { unit };
                let comma = if unit.is_empty() { "" } else { ", " };
                let operations = of.and_then(|entry| entry.table.operations);
                let name = match key {
                    "p50" if self.files.len() > 1 => key.to_owned(),
                    key => named(key, operations),
                };
                format!("{name}{comma}{unit}")
            }
            _ => key.to_owned(),
        };
        let side = match side {
            Side::Here => "here",
            Side::Published(file) => self.names().get(file).copied().unwrap_or("published"),
            Side::Ratio => "ratio",
        };
        let own = self.entries.iter().filter(|entry| self.column_key(entry) == *key);
        let is_measured =
            |entry: &Entry| entry.row.measured.is_some() || entry.row.measured_ratio.is_some();
        let column = match self.is_by_source() {
            true => numbers(&name).over(side),
            false if keys == 1 => numbers(side),
            false => numbers(side).over(&name),
        };
        column.fold(u8::from(!own.into_iter().any(is_measured)))
    }

    fn cell(&self, entries: &[&Entry<'a>], side: Side) -> Cell {
        let is_spread = |row: &&PublishedRow| self.has_deviation() && row.statistic == STDEV;
        let (spread, rows): (Vec<&PublishedRow>, Vec<&PublishedRow>) =
            entries.iter().map(|entry| entry.row).partition(is_spread);
        let first = rows.first().map_or(Cell::none(), |row| match side {
            Side::Ratio => ratio(row),
            _ => published(row, spread.first()),
        });
        if side == Side::Here { self.here(&rows, spread.first().copied()) } else { first }
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
            (Some(measured), None) if self.files.len() == 1 => {
                Cell::brief(Some(measured), Scale::Power(0), mark)
            }
            (Some(measured), None) => {
                Cell::sorted(measured.point, |value| narrow(value, measured.digits))
            }
        };
        // With the ends of its interval as a tooltip.
        let told = match &row.measured {
            Some(measured) => Cell::estimate(Some(measured), Scale::Power(0)),
            None => Cell::ratio(row.measured_ratio.as_ref(), ""),
        };
        cell.of(index).hint(told.value.shown().map(|shown| shown.to_string()))
    }
}

/// The names of an entry.
fn value(field: PublishedField, entry: &Entry<'_>) -> String {
    match field {
        PublishedField::Group => entry.table.group.clone(),
        PublishedField::Label => entry.row.label.clone(),
        PublishedField::Statistic => entry.row.statistic.clone(),
    }
}

/// A published number with its standard deviation, as the source writes them.
fn published(row: &PublishedRow, spread: Option<&&PublishedRow>) -> Cell {
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
fn place(table: &PublishedTable) -> String {
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
