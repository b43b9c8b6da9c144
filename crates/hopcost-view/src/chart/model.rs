//! What a chart is, before it is drawn: axes, series and marks, in the units of
//! the data. `section::shapes` decides what is shown, `draw` decides where.

use crate::names::quantile;
use crate::number;

/// What the values of an axis are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Nanoseconds.
    Ns,
    /// Quantiles, 0 to 1.
    Quantile,
    Bytes,
    /// Gigabits (10⁹ bits) a second.
    GigabitsPerSecond,
    /// Counts and multiples.
    Count,
}

impl Unit {
    /// A value in the largest unit that keeps it at or above one, with no digit more than a tick
    /// needs.
    pub fn text(self, value: f64) -> String {
        let (value, unit) = match self {
            Unit::Bytes if value.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(&value) => {
                return number::bytes(value as u32);
            }
            Unit::Quantile => return quantile(value),
            Unit::Bytes => (value, " B"),
            Unit::Count => (value, ""),
            Unit::GigabitsPerSecond => (value, " Gbit/s"),
            Unit::Ns => match value {
                v if v >= 0.999_999_9e9 => (v / 1e9, " s"),
                v if v >= 0.999_999_9e6 => (v / 1e6, " ms"),
                v if v >= 0.999_999_9e3 => (v / 1e3, " µs"),
                v => (v, " ns"),
            },
        };
        let text = format!("{value:.3}");
        text.trim_end_matches('0').trim_end_matches('.').to_owned() + unit
    }
}

/// A chart with its text alternative and its table.
#[derive(Debug, Clone, PartialEq)]
pub struct Chart {
    /// Unique within a document; letters, digits and `-` only.
    pub id: String,
    /// Heading, drawn above the plot.
    pub title: String,
    /// What is to be seen, in a sentence or two, for those who do not see it.
    pub description: String,
    /// The horizontal axis; always a value axis.
    pub x: Axis,
    /// The vertical one.
    pub y: Vertical,
    /// What is drawn, the first lowest.
    pub series: Vec<Series>,
    /// Said under it, where it stands alone.
    pub notes: Vec<String>,
}

/// The vertical axis.
#[derive(Debug, Clone, PartialEq)]
pub enum Vertical {
    Value(Axis),
    /// Named rows; the `y` of a mark is row + place within the row (0 to 1, from above).
    Rows(Rows),
}

/// Named rows with a gutter of text columns on the left.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Rows {
    /// Headings of the gutter's columns.
    pub columns: Vec<String>,
    /// The rows, from above.
    pub rows: Vec<Row>,
}

/// A named row.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Row {
    /// One text a column of the gutter.
    pub cells: Vec<String>,
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
    /// Ends of the axis; those of its scale if absent.
    pub domain: Option<(f64, f64)>,
    /// Values that get a tick (those that were swept); found from the scale if empty.
    pub at: Vec<f64>,
}

impl Axis {
    /// An axis without ends yet, that finds its ticks itself.
    pub fn new(label: impl Into<String>, scale: Scale, unit: Unit) -> Self {
        Self { label: label.into(), scale, unit, domain: None, at: Vec::new() }
    }
    /// What is written beside it.
    pub fn title(&self) -> String {
        format!("{}{}", self.label, if self.scale == Scale::Log { " (log scale)" } else { "" })
    }
}

/// How a value becomes a length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    Linear,
    Log,
    /// For quantiles: logarithmic in 1/(1-q), so that each further nine takes
    /// the same length.
    Nines,
}

/// What belongs together and looks alike.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// Name in the legend; empty where something else tells what it is.
    pub name: String,
    /// How it looks.
    pub style: Style,
    /// A line through each of these, in order.
    pub lines: Vec<Vec<(f64, f64)>>,
    /// An area between two heights: x, low, high.
    pub band: Vec<(f64, f64, f64)>,
    pub marks: Vec<Mark>,
}

impl Series {
    /// A series with nothing in it yet.
    pub fn new(name: impl Into<String>, style: Style) -> Self {
        let (lines, band, marks) = (Vec::new(), Vec::new(), Vec::new());
        Self { name: name.into(), style, lines, band, marks }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Mark {
    pub x: f64,
    pub y: f64,
    /// Interval along the x axis.
    pub interval: Option<(f64, f64)>,
    /// The other of two levels: a second mark, to which a thin line leads.
    pub other: Option<(f64, f64)>,
    /// The value is an upper bound.
    pub at_most: bool,
    /// What it says when pointed at.
    pub tip: String,
}

impl Mark {
    /// A mark with nothing but its place and its words.
    pub fn at(x: f64, y: f64, tip: impl Into<String>) -> Self {
        Self { x, y, interval: None, other: None, at_most: false, tip: tip.into() }
    }
}

/// How a series looks: the CSS classes of its colour and of how its line is broken, and the shape of its
/// markers, as an SVG path from the middle. Colour never stands alone: marker and dash differ too.
///
/// The colours are those of Okabe and Ito that stand out from paper and from a dark screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Style {
    pub(super) colour: &'static str,
    pub(super) dash: &'static str,
    pub(super) marker: &'static str,
}

impl Style {
    /// Six looks that differ in colour, marker and dash at once.
    pub const DISTINCT: [Style; 6] = [
        Style::of("c-blue", "d-solid", "m-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0z"),
        Style::of("c-vermilion", "d-long", "m-3.5-3.5h7v7h-7z"),
        Style::of("c-green", "d-short", "m0-4.6l4.4 7.8h-8.8z"),
        Style::of("c-purple", "d-long-short", "m0-5l5 5l-5 5l-5-5z"),
        Style::of("c-ink", "d-dots", "m0 4.6l4.4-7.8h-8.8z"),
        Style::of("c-amber", "d-long-dots", "m-4-4l8 8m-8 0l8-8"),
    ];
    /// Bars from the left end of the axis; what has two levels has marks.
    pub const BARS: Self = Style { dash: "d-bars", ..Style::DISTINCT[0] };

    const fn of(colour: &'static str, dash: &'static str, marker: &'static str) -> Self {
        Self { colour, dash, marker }
    }
}
