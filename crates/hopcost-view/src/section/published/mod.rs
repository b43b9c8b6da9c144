//! Published tables in the shape of their documents: what was measured here beside each number.

mod sides;

use hopcost_model::group::{distinct, grouped};
use hopcost_model::results::{PublishedTable, Results};

use self::sides::{Sides, place};
use super::model::{Block, Medium, Section, notes};
use super::words::{Numbered, sentence};

/// The tables of a run of their own suite, before everything else.
pub(super) fn document(results: &Results, _: Medium) -> Option<Section> {
    let sheets = sheets(results, true);
    Section::of("document", sheets.iter().flat_map(|sheet| sheet.whole(results)))
}

/// Those that another run has cases for.
pub(super) fn section(results: &Results, _: Medium) -> Option<Section> {
    let sheets = sheets(results, false);
    Section::of("published", sheets.iter().flat_map(|sheet| sheet.whole(results)))
}

/// The tables of a run of their own suite, in brief: what stands before its answer.
pub(super) fn brief(results: &Results) -> Vec<Block> {
    let sheets = sheets(results, true);
    let own = |at: usize| at.checked_sub(1).and_then(|above| sheets.get(above)).map(Sheet::source);
    let blocks = sheets.iter().enumerate();
    blocks.flat_map(|(at, sheet)| sheet.brief(results, own(at).as_ref())).collect()
}

/// Files whose rows are the same, beside what was measured once.
struct Sheet<'a> {
    /// The tables of each file.
    files: Vec<Vec<&'a PublishedTable>>,
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
    same.into_iter().map(|(_, files)| Sheet { files }).collect()
}

/// Whether half of what a source lists was measured: with less, it would be a table of gaps.
fn is_mostly_there(tables: &[&PublishedTable]) -> bool {
    let rows = || tables.iter().flat_map(|table| table.rows.iter().map(move |row| (table, row)));
    let measured = rows().filter(|(_, row)| row.measured.is_some());
    let found = distinct(measured.map(|(table, row)| (&table.group, &row.label))).len();
    2 * found >= distinct(rows().map(|(table, row)| (&table.group, &row.label))).len()
}

/// Notes up to which they stand below the table in brief.
const NOTES_MAX: usize = 3;

impl Sheet<'_> {
    fn title(&self) -> String {
        let first = self.files.iter().filter_map(|tables| tables.first());
        distinct(first.map(|table| table.file_title.as_str())).join("; ")
    }

    /// Table, notes, and everything that is known of the source.
    fn whole(&self, results: &Results) -> Vec<Block> {
        let mut remarks = Numbered::default();
        let pivot = Sides::whole(&self.files, results);
        let table = pivot.table(Some(&mut remarks));
        let heading = Block::Heading(format!("{}{}", self.title(), pivot.setting()));
        let heading = [heading, Block::Table(table)].into_iter();
        let said = notes(pivot.legend()).chain(remarks.notes());
        let files = self.files.iter();
        let sources = files.clone().filter_map(|tables| tables.first()).flat_map(|table| {
            let lines = [
                ("What was really timed there", &table.timed),
                ("Source", &table.source),
                ("Machine there", &table.machine),
            ];
            let name = table.name.as_ref().map_or(String::new(), |name| format!("{name}: "));
            let lines = lines.into_iter().filter(|(_, text)| !text.trim().is_empty());
            lines
                .map(|(what, text)| format!("{name}{what}: {}", sentence(text)))
                .collect::<Vec<_>>()
        });
        heading.chain(said).chain(notes(sources)).collect()
    }

    fn source(&self) -> Vec<&str> {
        let first = self.files.iter().filter_map(|tables| tables.first());
        distinct(first.map(|table| table.source.as_str()))
    }

    /// Table, and in a line or two what was timed there, and by whom where that is not the
    /// source of the one above; few notes too.
    fn brief(&self, results: &Results, above: Option<&Vec<&str>>) -> Vec<Block> {
        let pivot = Sides::brief(&self.files, results);
        let mut remarks = Numbered::default();
        let mut table = pivot.table(Some(&mut remarks));
        let few = remarks.len() <= NOTES_MAX && pivot.is_whole();
        if !few {
            (table, remarks) = (pivot.table(None), Numbered::default());
        }
        let first = self.files.iter().filter_map(|tables| tables.first());
        let timed = distinct(first.map(|table| table.timed.as_str()));
        let (timed, source) = (timed.join("; "), self.source());
        let told = [("Timed there: ", timed), ("Source: ", source.join("; "))];
        let told = told.into_iter().filter(|(_, text)| !text.is_empty() && Some(&source) != above);
        let told = told.map(|(what, text)| format!("{what}{}", sentence(&text)));
        let said = pivot.legend().into_iter().chain(told).collect::<Vec<_>>().join(" ");
        let said = (!said.is_empty()).then_some(said);
        let heading = Block::Heading(format!("{}{}", self.title(), pivot.setting()));
        let said = remarks.notes().chain(notes(said));
        [heading, Block::Table(table)].into_iter().chain(said).collect()
    }
}
