//! What a chart is, before it is drawn: axes, series and marks, in the units of
//! the data. Whoever builds one decides what is shown; `draw` decides where.

/// A chart with its text alternative and its table.
#[derive(Debug, Clone, PartialEq)]
pub struct Chart {
    /// Unique within a document; letters, digits and `-` only.
    pub id: String,
    /// Heading, drawn above the plot.
    pub title: String,
    /// What is to be seen, in a sentence or two, for those who do not see it.
    pub description: String,
    /// Width of the drawing in pixels at its natural size.
    pub width: f64,
    /// The horizontal axis; always a value axis. Cells have none.
    pub x: Axis,
    /// The vertical one.
    pub y: Vertical,
    /// What is drawn, the first lowest.
    pub series: Vec<Series>,
    /// Said under it, where it stands alone; a page says it beside the drawing.
    pub notes: Vec<String>,
    /// The same numbers as text.
    pub table: Table,
}

/// The vertical axis.
#[derive(Debug, Clone, PartialEq)]
pub enum Vertical {
    /// A value axis.
    Value {
        /// The axis.
        axis: Axis,
        /// Height of the plot in pixels.
        height: f64,
    },
    /// Named rows; the `y` of a mark is row + place within the row (0 to 1, from above).
    Rows(Rows),
    /// Named rows by named columns, one cell each, and nothing else.
    Cells(Cells),
}

/// Named rows by named columns. A cell says its number; its ground is the darker
/// (on paper) or the lighter (on a dark screen), the greater it is.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Cells {
    /// What the rows are.
    pub rows_label: String,
    /// What the columns are.
    pub columns_label: String,
    /// Names of the columns.
    pub columns: Vec<String>,
    /// The rows, from above.
    pub rows: Vec<CellRow>,
    /// What the ends of the scale of grounds stand for; none where all are alike.
    pub ends: Option<(String, String)>,
}

/// A named row of cells.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CellRow {
    /// Name.
    pub name: String,
    /// One cell a column.
    pub cells: Vec<ChartCell>,
}

/// A cell.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ChartCell {
    /// Its number, or why there is none, in a word.
    pub text: String,
    /// Its interval.
    pub small: String,
    /// Its ground, 0 to [`STEPS`] - 1; none where there is no number.
    pub step: Option<u8>,
    /// What it says when pointed at.
    pub tip: String,
}

/// Grounds that a cell may have.
pub const STEPS: u8 = 7;

/// Named rows with a gutter of text columns on the left.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Rows {
    /// Headings of the gutter's columns.
    pub columns: Vec<String>,
    /// Heading of the texts right of the plot.
    pub end: String,
    /// The rows, from above.
    pub rows: Vec<Row>,
    /// Height of a row in pixels.
    pub height: f64,
}

/// A named row.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Row {
    /// One text a column of the gutter.
    pub cells: Vec<String>,
    /// Written into the plot instead of marks (`skipped: no such device`).
    pub note: Option<String>,
    /// Written right of the plot.
    pub end: String,
}

/// A value axis.
#[derive(Debug, Clone, PartialEq)]
pub struct Axis {
    /// What is plotted, without its unit: the ticks carry it.
    pub label: String,
    /// How a value becomes a length.
    pub scale: Scale,
    /// What the values are.
    pub unit: Unit,
    /// Ends of the axis; found from the marks if absent.
    pub domain: Option<(f64, f64)>,
    /// Values that get a tick (those that were swept); found from the scale if empty.
    pub at: Vec<f64>,
}

impl Axis {
    /// An axis that finds its ends and its ticks itself.
    pub fn new(label: impl Into<String>, scale: Scale, unit: Unit) -> Self {
        Self { label: label.into(), scale, unit, domain: None, at: Vec::new() }
    }
}

/// How a value becomes a length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    /// Proportional.
    Linear,
    /// Logarithmic.
    Log,
    /// For quantiles: logarithmic in 1/(1-q), so that each further nine takes
    /// the same length.
    Nines,
}

/// What the values of an axis are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Nanoseconds.
    Ns,
    /// Seconds.
    Seconds,
    /// Quantiles, 0 to 1.
    Quantile,
    /// Bytes.
    Bytes,
    /// Gigabits (10⁹ bits) a second.
    GigabitsPerSecond,
    /// Counts, and what has a unit that only its label names.
    Number,
}

/// What belongs together and looks alike.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// Name.
    pub name: String,
    /// Whether the legend has it.
    pub legend: Legend,
    /// How it looks.
    pub style: Style,
    /// A line through these points, in order.
    pub line: Vec<(f64, f64)>,
    /// An area between two heights: x, low, high.
    pub band: Vec<(f64, f64, f64)>,
    /// Markers.
    pub marks: Vec<Mark>,
}

/// Whether the legend has a series.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Legend {
    /// It does.
    Listed,
    /// Something else tells what it is.
    Unlisted,
}

/// One marker.
#[derive(Debug, Clone, PartialEq)]
pub struct Mark {
    /// Where.
    pub x: f64,
    /// Where.
    pub y: f64,
    /// Interval along the x axis.
    pub interval: Option<(f64, f64)>,
    /// Dotted line along the x axis to another value of the same thing (from the
    /// median to a tail).
    pub tail: Option<f64>,
    /// The value is an upper bound.
    pub at_most: bool,
    /// What it says when pointed at.
    pub tip: String,
}

impl Mark {
    /// A mark with nothing but its place and its words.
    pub fn at(x: f64, y: f64, tip: impl Into<String>) -> Self {
        Self { x, y, interval: None, tail: None, at_most: false, tip: tip.into() }
    }
}

/// How a series looks. Colour never stands alone: marker and dash differ too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Style {
    /// Colour.
    pub colour: Colour,
    /// Shape of its markers.
    pub marker: Marker,
    /// Whether they are filled.
    pub fill: Fill,
    /// How its line is broken.
    pub dash: Dash,
}

impl Style {
    /// Six looks that differ in colour, marker and dash at once.
    pub const DISTINCT: [Style; 6] = [
        Style::of(Colour::Blue, Marker::Circle, Dash::Solid),
        Style::of(Colour::Vermilion, Marker::Square, Dash::Long),
        Style::of(Colour::Green, Marker::Triangle, Dash::Short),
        Style::of(Colour::Purple, Marker::Diamond, Dash::LongShort),
        Style::of(Colour::Ink, Marker::TriangleDown, Dash::Dots),
        Style::of(Colour::Amber, Marker::Cross, Dash::LongDots),
    ];

    /// A filled look.
    pub const fn of(colour: Colour, marker: Marker, dash: Dash) -> Self {
        Self { colour, marker, fill: Fill::Filled, dash }
    }
    /// Twelve looks: after the distinct ones, the same colours with open markers and
    /// another dash each.
    pub fn twelve() -> impl Iterator<Item = Style> {
        let dashes = Style::DISTINCT.map(|style| style.dash);
        let again = Style::DISTINCT
            .into_iter()
            .enumerate()
            .map(move |(i, style)| Style { dash: dashes[(i + 3) % dashes.len()], ..style.open() });
        Style::DISTINCT.into_iter().chain(again)
    }
    /// The same with open markers.
    pub const fn open(self) -> Self {
        Self { fill: Fill::Open, ..self }
    }
}

/// The colours of Okabe and Ito, as far as they stand out from paper and from a
/// dark screen; each is a CSS class whose value depends on which of the two it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "a colour is its name")]
pub enum Colour {
    Blue,
    Vermilion,
    Green,
    Purple,
    Amber,
    /// That of the text.
    Ink,
    /// For what is only context.
    Faint,
}

impl Colour {
    /// CSS class.
    pub const fn class(self) -> &'static str {
        match self {
            Colour::Blue => "c-blue",
            Colour::Vermilion => "c-vermilion",
            Colour::Green => "c-green",
            Colour::Purple => "c-purple",
            Colour::Amber => "c-amber",
            Colour::Ink => "c-ink",
            Colour::Faint => "c-faint",
        }
    }
}

/// Shape of a marker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "a shape is its name")]
pub enum Marker {
    Circle,
    Square,
    Triangle,
    TriangleDown,
    Diamond,
    Cross,
}

/// Whether a marker is filled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the two need none")]
pub enum Fill {
    Filled,
    Open,
}

/// How a line is broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "a dash is its name")]
pub enum Dash {
    Solid,
    Long,
    Short,
    LongShort,
    Dots,
    LongDots,
}

impl Dash {
    /// CSS class.
    pub const fn class(self) -> &'static str {
        match self {
            Dash::Solid => "d-solid",
            Dash::Long => "d-long",
            Dash::Short => "d-short",
            Dash::LongShort => "d-long-short",
            Dash::Dots => "d-dots",
            Dash::LongDots => "d-long-dots",
        }
    }
}

/// A table of texts.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Table {
    /// Headings.
    pub columns: Vec<String>,
    /// Leading columns that are words; the others are numbers, set right.
    pub words: usize,
    /// The rows.
    pub rows: Vec<Vec<String>>,
}
