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
    /// Height of a row in pixels.
    pub height: f64,
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
    /// A line through these points, in order.
    pub line: Vec<(f64, f64)>,
    /// An area between two heights: x, low, high.
    pub band: Vec<(f64, f64, f64)>,
    pub marks: Vec<Mark>,
}

impl Series {
    /// A series with nothing in it yet.
    pub fn new(name: impl Into<String>, style: Style) -> Self {
        let (line, band, marks) = (Vec::new(), Vec::new(), Vec::new());
        Self { name: name.into(), style, line, band, marks }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Mark {
    pub x: f64,
    pub y: f64,
    /// Interval along the x axis.
    pub interval: Option<(f64, f64)>,
    /// The value is an upper bound.
    pub at_most: bool,
    /// What it says when pointed at.
    pub tip: String,
}

impl Mark {
    /// A mark with nothing but its place and its words.
    pub fn at(x: f64, y: f64, tip: impl Into<String>) -> Self {
        Self { x, y, interval: None, at_most: false, tip: tip.into() }
    }
}

/// How a series looks. Colour never stands alone: marker and dash differ too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Style {
    pub colour: Colour,
    /// Shape of its markers.
    pub marker: Marker,
    /// How its line is broken.
    pub dash: Dash,
}

impl Style {
    /// Six looks that differ in colour, marker and dash at once.
    pub const DISTINCT: [Style; 6] = [
        Style::of(Colour::BLUE, Marker::CIRCLE, Dash::SOLID),
        Style::of(Colour::VERMILION, Marker::SQUARE, Dash::LONG),
        Style::of(Colour::GREEN, Marker::TRIANGLE, Dash::SHORT),
        Style::of(Colour::PURPLE, Marker::DIAMOND, Dash::LONG_SHORT),
        Style::of(Colour::INK, Marker::TRIANGLE_DOWN, Dash::DOTS),
        Style::of(Colour::AMBER, Marker::CROSS, Dash::LONG_DOTS),
    ];

    /// A look.
    pub const fn of(colour: Colour, marker: Marker, dash: Dash) -> Self {
        Self { colour, marker, dash }
    }
}

/// A colour of Okabe and Ito, as far as they stand out from paper and from a dark
/// screen: a CSS class whose value depends on which of the two it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Colour(pub(super) &'static str);

impl Colour {
    pub const BLUE: Self = Self("c-blue");
    pub const VERMILION: Self = Self("c-vermilion");
    pub const GREEN: Self = Self("c-green");
    pub const PURPLE: Self = Self("c-purple");
    pub const AMBER: Self = Self("c-amber");
    /// That of the text.
    pub const INK: Self = Self("c-ink");
}

/// Shape of a marker, as an SVG path from its middle, in relative steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Marker(pub(super) &'static str);

impl Marker {
    pub const CIRCLE: Self = Self("m-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0z");
    pub const SQUARE: Self = Self("m-3.5-3.5h7v7h-7z");
    pub const TRIANGLE: Self = Self("m0-4.6l4.4 7.8h-8.8z");
    pub const TRIANGLE_DOWN: Self = Self("m0 4.6l4.4-7.8h-8.8z");
    pub const DIAMOND: Self = Self("m0-5l5 5l-5 5l-5-5z");
    pub const CROSS: Self = Self("m-4-4l8 8m-8 0l8-8");
    /// A bar from the left end of the axis; this is what the legend shows of it.
    pub const BAR: Self = Self("m-6-5h12v10h-12z");
}

/// How a line is broken: a CSS class.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dash(pub(super) &'static str);

impl Dash {
    pub const SOLID: Self = Self("d-solid");
    pub const LONG: Self = Self("d-long");
    pub const SHORT: Self = Self("d-short");
    pub const LONG_SHORT: Self = Self("d-long-short");
    pub const DOTS: Self = Self("d-dots");
    pub const LONG_DOTS: Self = Self("d-long-dots");
}
