//! What a report shows, before any view writes it: sections of paragraphs, tables and
//! charts. A cell holds the text and the number of its value; a view sets them in its own way.

use hopcost_model::{Code, Severity, Validity};
use hopcost_read::results::{Estimate, Ratio, Ruling};

use crate::chart::model::Chart;
use crate::number::{self, Shown};

/// Where a document is read, which decides how much of it there is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Medium {
    /// A document of text and tables: everything but charts and the details of cases.
    Document,
    /// A page with charts and parts that unfold: everything.
    Page,
}

/// A document, before any view writes it.
#[derive(Debug, Clone, Default)]
pub struct Document {
    /// What it is called; empty where somebody else says so.
    pub(crate) title: String,
    /// Its conclusion, where the title has another.
    pub(crate) banner: Vec<Block>,
    /// What stands above the first section.
    pub(crate) head: Vec<Block>,
    /// Its sections; each has something in it.
    pub(crate) sections: Vec<Section>,
}

/// A heading with what stands under it.
#[derive(Debug, Clone)]
pub(crate) struct Section {
    /// Unique within a document.
    pub id: String,
    pub title: String,
    /// What stands under it.
    pub blocks: Vec<Block>,
}

/// Title and lead of every section, by its id.
const SECTIONS: &str = include_str!("sections.txt");

impl Section {
    /// A section with its title and what it begins with; `None` without anything in it.
    pub fn of(id: &'static str, blocks: impl IntoIterator<Item = Block>) -> Option<Self> {
        let says = |block: &Block| !matches!(block, Block::Table(table) if table.rows.is_empty());
        let blocks: Vec<Block> = blocks.into_iter().filter(says).collect();
        let own = |text: &'static str| text.strip_prefix(id)?.strip_prefix("] ");
        let written = SECTIONS.trim_start_matches('[').split("\n[").find_map(own);
        let (title, lead) = written.and_then(|text| text.split_once('\n')).unwrap_or((id, ""));
        let lead = (!lead.trim().is_empty()).then(|| Block::Text(Tone::Lead, lead.trim().into()));
        (!blocks.is_empty()).then(|| Self {
            id: id.to_owned(),
            title: title.to_owned(),
            blocks: lead.into_iter().chain(blocks).collect(),
        })
    }
}

/// A part of a section.
#[derive(Debug, Clone)]
pub(crate) enum Block {
    /// What the next blocks have in common.
    Heading(String),
    Text(Tone, String),
    /// Names with their values.
    Facts(Vec<(String, Cell)>),
    /// Lines to paste, which are never broken, and what they are.
    Paste(String, Vec<String>),
    Table(Table),
    /// Two parts, side by side where there is room.
    Beside(Vec<Block>, Vec<Block>),
    /// Charts, for a view that can draw.
    Charts(Vec<Chart>),
    /// What is folded where folding is possible.
    Fold(Fold),
}

/// How a paragraph sounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tone {
    /// Says what a section is about.
    Lead,
    /// Says something of its own.
    Plain,
    /// Explains the table before it.
    Note,
    /// Must not be overlooked.
    Alert,
}

/// Something with an id, seen in brief until it is unfolded.
#[derive(Debug, Clone)]
pub(crate) struct Fold {
    /// Unique within a document.
    pub id: String,
    /// Whether it is unfolded from the beginning.
    pub open: bool,
    /// What is seen of it in any case.
    pub brief: Vec<Cell>,
    pub blocks: Vec<Block>,
}

/// A paragraph of its own.
pub(crate) fn says(text: impl Into<String>) -> Block {
    Block::Text(Tone::Plain, text.into())
}

/// A line to paste, and what it is.
pub(crate) fn paste(name: impl Into<String>, line: impl Into<String>) -> Block {
    Block::Paste(name.into(), vec![line.into()])
}

/// Names with their values, as far as there is one.
pub(crate) fn facts<'a>(facts: impl IntoIterator<Item = (&'a str, Cell)>) -> Block {
    let known = facts.into_iter().filter(|(_, cell)| !cell.is_empty());
    Block::Facts(known.map(|(name, cell)| (name.to_owned(), cell)).collect())
}

/// Charts, if there are any.
pub(crate) fn drawn(charts: Vec<Chart>) -> Option<Block> {
    (!charts.is_empty()).then_some(Block::Charts(charts))
}

/// A sentence below a table.
pub(crate) fn note(sentence: String) -> Block {
    Block::Text(Tone::Note, sentence)
}

/// Sentences below a table.
pub(crate) fn notes(sentences: impl IntoIterator<Item = String>) -> impl Iterator<Item = Block> {
    sentences.into_iter().map(note)
}

/// Rows under columns.
#[derive(Debug, Clone, Default)]
pub(crate) struct Table {
    pub columns: Vec<Column>,
    /// One cell a column.
    pub rows: Vec<Vec<Cell>>,
    /// How it is laid out.
    pub form: Form,
}

impl Table {
    /// Adds a column with a cell for each row, and beside it the values of the quiet machine. One without
    /// a single value says nothing, and is left out.
    pub fn push(&mut self, column: Column, cells: Vec<Cell>) {
        if cells.iter().all(Cell::is_empty) {
            return;
        }
        let (head, fold) = (QUIET.to_owned(), column.fold.max(QUIET_FOLD));
        let beside = Column { head, fold, ..column.clone() };
        let quiet = cells.iter().map(Cell::quiet).collect();
        self.columns.push(column);
        self.rows.iter_mut().zip(cells).for_each(|(row, cell)| row.push(cell));
        self.push(beside, quiet);
    }
}

/// The head of a column of values on the quiet machine.
const QUIET: &str = "quiet";
/// Where there is no room, ranks stay before these.
const QUIET_FOLD: u8 = 2;

/// How a table is laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Form {
    /// Columns that each mean something else.
    #[default]
    Columns,
    /// Columns of which those that do not fit are left out: other sections have them.
    Brief,
    /// The same, and each row is one line: words for which it has no room are cut off.
    Lines,
}

#[derive(Debug, Clone)]
pub(crate) struct Column {
    /// What it has in common with its neighbours, over their headings.
    pub over: String,
    pub head: String,
    /// What its cells are.
    pub kind: Kind,
    /// Where all columns do not fit side by side, the one with the greatest number
    /// goes below its row first; 0 never does.
    pub fold: u8,
}

/// What the cells of a column are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Words,
    /// Words; one that repeats the row above is quiet.
    Repeated,
    Number,
    /// Numbers with their intervals.
    Estimate,
}

impl Kind {
    /// Whether its cells stand left.
    pub fn is_words(self) -> bool {
        matches!(self, Kind::Words | Kind::Repeated)
    }
}

fn column(head: &str, kind: Kind) -> Column {
    Column { over: String::new(), head: head.to_owned(), kind, fold: 0 }
}

/// A column of words.
pub(crate) fn words(head: &str) -> Column {
    column(head, Kind::Words)
}

/// A column of words that belong to several rows each.
pub(crate) fn repeated(head: &str) -> Column {
    column(head, Kind::Repeated)
}

/// A column of numbers.
pub(crate) fn numbers(head: &str) -> Column {
    column(head, Kind::Number)
}

/// A column of numbers with their intervals.
pub(crate) fn estimates(head: &str) -> Column {
    column(head, Kind::Estimate)
}

impl Column {
    /// The same, folded early or late.
    pub fn fold(self, fold: u8) -> Self {
        Self { fold, ..self }
    }
    /// The same, under what it has in common with its neighbours.
    pub fn over(self, over: &str) -> Self {
        Self { over: over.to_owned(), ..self }
    }
    /// The heading with what the numbers bring along.
    pub fn heading(&self) -> String {
        match self.kind {
            Kind::Estimate => format!("{} [interval]", self.head),
            _ => self.head.clone(),
        }
    }
    /// The heading in one line.
    pub fn whole(&self) -> String {
        self.under(&self.heading())
    }
    /// The same without what the numbers bring along.
    pub fn label(&self) -> String {
        self.under(&self.head)
    }
    fn under(&self, head: &str) -> String {
        let comma = if self.over.is_empty() || head.is_empty() { "" } else { ", " };
        format!("{}{comma}{head}", self.over)
    }
}

/// A column, and the cell of one item in it.
pub(crate) type Part = (Column, Cell);

/// A table in the making: columns are added with what they say of each item.
pub(crate) struct Rows<'a, T> {
    pub items: &'a [T],
    pub table: Table,
}

impl<'a, T> Rows<'a, T> {
    /// One row an item.
    pub fn of(items: &'a [T]) -> Self {
        let rows = items.iter().map(|_| Vec::new()).collect();
        Self { items, table: Table { rows, ..Table::default() } }
    }

    /// Adds a column, if a cell of it has a value.
    pub fn column(mut self, column: Column, cell: impl FnMut(&'a T) -> Cell) -> Self {
        self.table.push(column, self.items.iter().map(cell).collect());
        self
    }

    /// Adds the columns that the items bring along: each as many, or none where it has no value.
    pub fn parts(mut self, of: impl Fn(&'a T) -> Vec<Part>) -> Self {
        let all: Vec<Vec<Part>> = self.items.iter().map(of).collect();
        for at in 0..all.iter().map(Vec::len).max().unwrap_or(0) {
            let mut parts = all.iter().filter_map(|own| own.get(at));
            let Some((head, _)) = parts.find(|(_, cell)| !cell.is_empty()) else { continue };
            let cell = |own: &Vec<Part>| own.get(at).map_or(Cell::none(), |of| of.1.clone());
            self.table.push(head.clone(), all.iter().map(cell).collect());
        }
        self
    }

    pub fn table(self) -> Block {
        Block::Table(self.table)
    }

    /// The table, with as many of its columns as fit.
    pub fn brief(self) -> Block {
        Block::Table(Table { form: Form::Brief, ..self.table })
    }

    /// The table, a line a row.
    pub fn lines(self) -> Block {
        Block::Table(Table { form: Form::Lines, ..self.table })
    }
}

/// What stands in one place of a table. Texts may use any character; a view that cannot show it
/// finds another spelling.
#[derive(Debug, Clone, Default)]
pub(crate) struct Cell {
    pub what: What,
    /// As it is written.
    pub shown: Shown,
    /// What it is sorted by, where that is a number.
    pub key: Option<f64>,
    /// Whether it was computed from the samples of all trials together.
    is_pooled: bool,
    /// What is wrong with its case, where that is worse than the run as a whole.
    mark: &'static str,
    /// The same on the quiet machine.
    quiet: Option<Box<Cell>>,
    /// Index of the case whose details it leads to.
    pub case: Option<usize>,
}

/// What a cell holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum What {
    /// Nothing to say.
    #[default]
    Empty,
    Words,
    /// What is spelled exactly so: a case, a key, a command.
    Code,
    Number,
    /// A word, and how bad that is, if it is not good.
    Verdict(Option<Severity>),
    /// The code of what was found.
    Finding(Severity),
}

/// How a number is written.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Unit {
    /// Nanoseconds, in a fitting unit with so many digits.
    Time(u8),
    /// Nanoseconds, exactly.
    Exact,
    /// A share, as per cent.
    Share,
    /// A whole number.
    Whole,
    /// So many digits.
    Plain(u8),
}

impl Unit {
    pub fn shown(self, value: f64) -> Shown {
        Shown::words(match self {
            Unit::Time(digits) => return number::quantity(value, digits),
            Unit::Exact => number::exact(value as u64),
            Unit::Share => number::share(value),
            Unit::Whole => number::grouped(value as u64),
            Unit::Plain(digits) => number::plain(value, digits),
        })
    }
}

/// In which unit an estimate is written.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Scale {
    /// Nanoseconds, in a fitting unit.
    Time,
    /// The same of differences, whose interval may hold 0.
    Difference,
    /// In 10^this of its own unit, which the column names.
    Power(i32),
    /// In this unit, as it is.
    Named(&'static str),
}

/// How an interval is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Interval {
    /// By its ends.
    Told,
    /// By the farther end's distance, in per cent of the value.
    Relative,
    /// The same without its sign, which the heading has.
    Percent,
    /// By its ends where they are farther away than 99 %, else in per cent.
    Fitting,
    Untold,
}

impl Interval {
    /// The ends of the interval of a number, which are `exact` in its unit.
    fn written(
        self,
        point: f64,
        ends: Option<(f64, f64)>,
        exact: Option<String>,
    ) -> Option<String> {
        let relative = || ends.and_then(|(low, high)| relative(low, point, high));
        match self {
            Interval::Told => Some(exact.unwrap_or_else(|| "[–]".to_owned())),
            Interval::Relative => relative(),
            Interval::Fitting => relative().filter(|text| text != BEYOND).or(exact),
            Interval::Percent => relative().map(|text| text.replace('±', "")),
            Interval::Untold => None,
        }
    }
}

/// A farther end that is not within 99 %.
const BEYOND: &str = "±>99%";

/// `±3%`: how far the farther end of an interval is.
fn relative(low: f64, point: f64, high: f64) -> Option<String> {
    let far = ((high - point).max(point - low) / point.abs()).max(0.0);
    far.is_finite().then(|| match far * 100.0 {
        percent if percent < 0.95 => format!("±{:.1}%", (percent * 10.0).ceil().max(1.0) / 10.0),
        percent if percent <= 99.0 => format!("±{:.0}%", percent.ceil()),
        _ => BEYOND.to_owned(),
    })
}

impl Cell {
    /// No value.
    pub fn none() -> Self {
        Self::default()
    }

    /// Whether it says nothing.
    pub fn is_empty(&self) -> bool {
        self.what == What::Empty
    }

    fn spelled(what: What, text: impl Into<String>) -> Self {
        let shown = Shown::words(text);
        if shown.value.is_empty() { Self::none() } else { Self { what, shown, ..Self::default() } }
    }

    /// Words; nothing where there are none.
    pub fn text(text: impl Into<String>) -> Self {
        Self::spelled(What::Words, text)
    }

    /// What is spelled exactly so; nothing where there is nothing.
    pub fn code(text: impl Into<String>) -> Self {
        Self::spelled(What::Code, text)
    }

    /// A number as it is shown, and what it is sorted by.
    fn keyed(shown: Shown, key: impl Into<Option<f64>>) -> Self {
        Self { what: What::Number, shown, key: key.into(), ..Self::default() }
    }

    /// A number that needs words, and what it is sorted by.
    pub fn worded(text: impl Into<String>, key: f64) -> Self {
        Self::keyed(Shown::words(text), key)
    }

    pub fn number(value: impl Into<f64>, unit: Unit) -> Self {
        let value = value.into();
        Self::keyed(unit.shown(value), value)
    }

    /// A whole number.
    pub fn whole(value: u64) -> Self {
        Self::number(value as f64, Unit::Whole)
    }

    /// A number that may be missing.
    pub fn maybe(value: Option<f64>, unit: Unit) -> Self {
        value.map_or(Self::none(), |value| Self::number(value, unit))
    }

    /// A value that may be missing, with the words that it is written in.
    pub fn sorted(value: Option<f64>, text: impl Fn(f64) -> String) -> Self {
        value.map_or(Self::none(), |value| Self::worded(text(value), value))
    }

    /// An estimate with its interval told so.
    pub fn measured(estimate: Option<&Estimate>, scale: Scale, interval: Interval) -> Self {
        estimate.map_or(Self::none(), |estimate| Self::of_estimate(estimate, scale, interval))
    }

    fn of_estimate(estimate: &Estimate, scale: Scale, interval: Interval) -> Self {
        let mut shown = match scale {
            Scale::Time => number::estimate(estimate),
            Scale::Difference => number::difference(estimate),
            Scale::Power(power) => number::scaled(estimate, power, ""),
            Scale::Named(unit) => number::scaled(estimate, 0, unit),
        };
        let ends = estimate.low.zip(estimate.high);
        // An upper bound has none.
        let point = estimate.point.filter(|_| !estimate.at_most);
        shown.interval = point.and_then(|point| interval.written(point, ends, shown.interval));
        let is_brief = !matches!(interval, Interval::Told | Interval::Untold);
        let quiet = estimate.quietly();
        Self {
            is_pooled: !is_brief && estimate.pooled && estimate.point.is_some(),
            quiet: quiet.map(|of| Box::new(Self::of_estimate(&of, scale, interval))),
            ..Self::keyed(shown, estimate.point)
        }
    }

    /// The same, or both levels of a case whose trials lie at two: no trial takes what lies between.
    pub fn at_levels(
        levels: Option<(f64, f64)>,
        estimate: Option<&Estimate>,
        scale: Scale,
        interval: Interval,
    ) -> Self {
        let unit = match scale {
            Scale::Time => Some(None),
            Scale::Power(power) => Some(Some(power)),
            _ => None,
        };
        let Some(((low, high), power)) = levels.zip(unit) else {
            return Self::measured(estimate, scale, interval);
        };
        let key = estimate.and_then(|of| of.point).unwrap_or(low);
        let between = estimate.filter(|_| interval == Interval::Told);
        Self::keyed(number::either(low, high, power, between), key)
    }

    /// An estimate with its interval.
    pub fn estimate(estimate: Option<&Estimate>, scale: Scale) -> Self {
        Self::measured(estimate, scale, Interval::Told)
    }

    /// An estimate with its interval in per cent.
    pub fn brief(estimate: Option<&Estimate>, scale: Scale) -> Self {
        Self::measured(estimate, scale, Interval::Relative)
    }

    /// A multiple, and how its interval is shown.
    pub fn multiple(ratio: &Ratio, interval: Interval) -> Self {
        let mut shown = number::ratio(ratio);
        shown.interval = interval.written(ratio.point, ratio.low.zip(ratio.high), shown.interval);
        Self::keyed(shown, ratio.point)
    }

    /// A multiple with its interval; the baseline itself is named so.
    pub fn ratio(ratio: Option<&Ratio>, own: &str, interval: Interval) -> Self {
        match ratio {
            Some(ratio) if own == ratio.baseline => Self::text("base"),
            Some(ratio) => Self::multiple(ratio, interval),
            None => Self::none(),
        }
    }

    fn verdict(bad: Option<Severity>, word: &str) -> Self {
        let key = bad.map_or(0.0, |bad| f64::from(bad as u8) + 1.0);
        Self { key: Some(key), ..Self::spelled(What::Verdict(bad), word) }
    }

    pub fn severity(severity: Severity) -> Self {
        Self::verdict(Some(severity), severity.word())
    }

    /// The verdict on a claim; `None` where no measurement can tell.
    pub fn ruling(ruling: Option<Ruling>) -> Self {
        let bad = match ruling {
            Some(Ruling::Holds) => None,
            Some(Ruling::Depends) => Some(Severity::Suspect),
            Some(Ruling::Fails) => Some(Severity::Invalid),
            Some(Ruling::Undecided) | None => Some(Severity::Note),
        };
        Self::verdict(bad, ruled(ruling))
    }

    /// How far a case's numbers can be trusted, if it has any.
    pub fn validity(validity: Option<Validity>) -> Self {
        let bad = match validity {
            None => return Self::none(),
            Some(Validity::Valid) => None,
            Some(Validity::Suspect) => Some(Severity::Suspect),
            Some(Validity::Invalid) => Some(Severity::Invalid),
        };
        Self::verdict(bad, validity.map_or("", Validity::word))
    }

    /// What was found, which leads to what is known of it.
    pub fn finding(code: Code, severity: Severity) -> Self {
        Self::spelled(What::Finding(severity), code.word())
    }

    /// The mark of a number: as a view spells that it was pooled, or what is wrong with its case.
    pub fn mark<'a>(&self, pooled: &'a str) -> &'a str {
        if self.is_pooled { pooled } else { self.mark }
    }

    /// The same number with the mark of its case.
    pub fn marked(self, mark: &'static str) -> Self {
        if self.what == What::Number { Self { mark, ..self } } else { self }
    }

    /// As it was measured, where there is no room for the quiet machine.
    pub fn raw(self) -> Self {
        Self { quiet: None, ..self }
    }

    /// Its value on the quiet machine, if it has one.
    fn quiet(&self) -> Self {
        let quiet = self.quiet.as_deref().cloned();
        quiet.map_or(Self::none(), |quiet| quiet.of(self.case))
    }

    /// The same, leading to the details of a case.
    pub fn of(self, case: impl Into<Option<usize>>) -> Self {
        Self { case: case.into(), ..self }
    }
}

/// The verdict on a claim in a word.
pub(crate) fn ruled(verdict: Option<Ruling>) -> &'static str {
    verdict.map_or("not testable here", Ruling::word)
}
